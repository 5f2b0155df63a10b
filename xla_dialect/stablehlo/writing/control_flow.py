"""Loops, branches, calls, barriers and tuples."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerAttr
from xdsl.dialects.func import CallOp as FuncCallOp
from xdsl.ir import Operation, SSAValue

from xla_dialect.analysis.calls import callee
from xla_dialect.ops.control_flow import (
    CallOp,
    ConditionalOp,
    DomainOp,
    FusionOp,
    OptBarrierOp,
    ScanOp,
    WhileOp,
)
from xla_dialect.ops.transfers import AddDependencyOp
from xla_dialect.ops.tuples import GetTupleElementOp, TupleOp
from xla_dialect.stablehlo.attribute_text import (
    dictionary_text,
    frontend_attributes,
    kept_texts,
    string_text,
    symbol_text,
)
from xla_dialect.stablehlo.inexpressible import Inexpressible
from xla_dialect.stablehlo.writing.body import BodyWriter, Write
from xla_dialect.stablehlo.writing.type_text import signature_text
from xla_dialect.types import PRED, is_scalar
from xla_dialect.xdsl.operation_table import OperationTable


def write_while(op: WhileOp, body: BodyWriter) -> None:
    """`stablehlo.while(%iterArg = %0) : type cond {...} do {...}`."""
    operands = body.leaves(op.init)
    types = body.types(value.type for value in op.init)
    names, head = body.heading(len(types), [value.name_hint for value in op.results])
    condition, step = op.condition.block, op.body.block
    parameters = body.parameters(condition, "iterArg")
    body.bind(step.args, parameters)
    bound = ", ".join(f"{p} = {o}" for p, o in zip(parameters, operands, strict=True))
    typed = f" : {', '.join(types)}" if types else ""
    kept = kept_texts(op.attributes)
    attributes = f" attributes {dictionary_text(kept)}" if kept else ""
    body.line(f"{head}stablehlo.while({bound}){typed}{attributes}")
    body.line("cond {")
    body.content(condition)
    body.line("} do {")
    body.content(step)
    body.close("}")
    body.bind(op.results, names)


def write_conditional(op: ConditionalOp, body: BodyWriter) -> None:
    """`stablehlo.if` for a pred, else `stablehlo.case`; branches see what they take."""
    index = op.branch_index
    given = list(op.branch_operands)
    for region in op.regions:
        block = region.block
        taken, given = given[: len(block.args)], given[len(block.args) :]
        for argument, operand in zip(block.args, taken, strict=True):
            body.trees[argument] = body.tree(operand)
    name = "stablehlo.if" if is_scalar(index.type, PRED) else "stablehlo.case"
    body.branches(op, name, body.operand(index), body.type_text(index.type))


def write_call(op: CallOp | FuncCallOp, body: BodyWriter) -> None:
    """`call @f(%0)`, or `stablehlo.composite` where that is kept."""
    operands = body.leaves(op.operands)
    types = body.types(value.type for value in op.operands)
    results = body.types(op.result_types)
    symbol = symbol_text(callee(op))
    if isinstance(op, CallOp) and op.is_composite.value.data:
        name, texts = _composite(op, symbol)
        shown = f" {', '.join(operands)}" if operands else ""
        text = f"stablehlo.composite {name}{shown} {dictionary_text(texts)}"
    else:
        text = f"{body.call} {symbol}({', '.join(operands)}){body.attributes(op)}"
    body.define(op, f"{text} : {signature_text(types, results)}", results)


_COMPOSITE = "composite."


def _composite(op: Operation, symbol: str) -> tuple[str, dict[str, str]]:
    """The name of a composite, and its attributes, from the frontend attributes of the call."""
    kept = op.attributes.get("xla.frontend_attributes")
    found = {} if kept is None else frontend_attributes(kept)
    name = found.pop(f"{_COMPOSITE}name", None)
    if name is None:
        raise Inexpressible("a composite without a name in its frontend attributes")
    texts = {n: t for n, t in kept_texts(op.attributes).items() if n != "mhlo.frontend_attributes"}
    texts["decomposition"] = symbol
    version = found.pop(f"{_COMPOSITE}version", "0")
    if version != "0":
        texts["version"] = f"{version} : i32"
    attributes = found.pop(f"{_COMPOSITE}attributes", "{}")
    if attributes.strip() != "{}":
        texts["composite_attributes"] = attributes
    if found:
        entries = {n: string_text(t) for n, t in found.items()}
        texts["mhlo.frontend_attributes"] = dictionary_text(entries)
    return string_text(name), texts


def write_fusion(op: FusionOp, body: BodyWriter) -> None:
    """Its operations, inlined: StableHLO leaves fusion to the compiler."""
    leaves = body.inline(op.calls.block, body.leaves(op.operands))
    body.bind(op.results, leaves)


def write_scan(op: ScanOp, body: BodyWriter) -> None:
    """`chlo.scan(%0) inits (%1) dimension=0 {...}`."""
    operands = body.leaves(op.operands)
    types = body.types(value.type for value in op.operands)
    results = body.types(op.result_types)
    carries = op.num_carries.value.data
    inputs, inits = operands[: len(operands) - carries], operands[len(operands) - carries :]
    flags = {
        name: "true"
        for name, flag in (
            ("is_associative", op.is_associative),
            ("is_reverse", op.is_reverse),
        )
        if flag.value.data
    }
    texts = kept_texts(op.attributes) | flags
    attributes = f" attributes {dictionary_text(texts)}" if texts else ""
    names, head = body.heading(len(results), [value.name_hint for value in op.results])
    body.line(
        f"{head}chlo.scan({', '.join(inputs)}) inits ({', '.join(inits)}) "
        f"dimension={op.dimension.value.data}{attributes} {{"
    )
    block = op.to_apply.block
    body.block_head(block)
    body.content(block)
    body.close(f"}} : {signature_text(types, results)}")
    body.bind(op.results, names)


def write_barrier(op: Operation, body: BodyWriter) -> None:
    """`stablehlo.optimization_barrier` of all leaves together."""
    write_barrier_of(op, body.leaves(op.operands), body.types(o.type for o in op.operands), body)


def write_barrier_of(
    op: Operation, names: Sequence[str], types: Sequence[str], body: BodyWriter
) -> None:
    """Adds a barrier of these values; the first ones are the results."""
    if not names:
        body.bind(op.results, ())
        return
    text = f"stablehlo.optimization_barrier {', '.join(names)}{body.attributes(op)}"
    found = body.named(f"{text} : {', '.join(types)}", len(names), [_hint(op.results[0])])
    body.bind(op.results, found)


def _hint(value: SSAValue) -> str | None:
    """The name of a value; of a tuple without one that of its elements."""
    elements = (use.operation for use in value.uses)
    hints = (op.results[0].name_hint for op in elements if isinstance(op, GetTupleElementOp))
    return value.name_hint or next(hints, None)


def write_add_dependency(op: Operation, body: BodyWriter) -> None:
    """A barrier of the operand and the token: the result is there after both."""
    write_barrier(op, body)


def write_operand(op: Operation, body: BodyWriter) -> None:
    """Nothing: the result is the operand."""
    body.trees[op.results[0]] = body.tree(op.operands[0])


def write_tuple(op: Operation, body: BodyWriter) -> None:
    """Nothing: the elements stand for themselves."""
    body.trees[op.results[0]] = tuple([body.tree(value) for value in op.operands])


def write_get_tuple_element(op: GetTupleElementOp, body: BodyWriter) -> None:
    """Nothing: the element stands for itself."""
    tree = body.tree(op.operands[0])
    assert isinstance(tree, tuple)
    index = op.index
    assert isinstance(index, IntegerAttr)
    body.trees[op.results[0]] = tree[index.value.data]


WRITERS = (
    OperationTable[Write]()
    .add(WhileOp, write_while)
    .add(ConditionalOp, write_conditional)
    .add(CallOp, write_call)
    .add(FuncCallOp, write_call)
    .add(FusionOp, write_fusion)
    .add(ScanOp, write_scan)
    .add(OptBarrierOp, write_barrier)
    .add(AddDependencyOp, write_add_dependency)
    .add(DomainOp, write_operand)
    .add(TupleOp, write_tuple)
    .add(GetTupleElementOp, write_get_tuple_element)
)
