"""Loops, branches, calls, barriers and tuples."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation

from xla_dialect.analysis.computations import callee
from xla_dialect.ops.control_flow import (
    CallOp,
)
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
from xla_dialect.xdsl.operation_table import OperationTable


def write_composite(op: CallOp, body: BodyWriter) -> None:
    """`stablehlo.composite`."""
    operands = body.leaves(op.operands)
    types = body.types(value.type for value in op.operands)
    results = body.types(op.result_types)
    symbol = symbol_text(callee(op))
    name, texts = _composite(op, symbol)
    shown = f" {', '.join(operands)}" if operands else ""
    text = f"stablehlo.composite {name}{shown} {dictionary_text(texts)}"
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
    .add(CallOp, write_composite)
    .add(TupleOp, write_tuple)
    .add(GetTupleElementOp, write_get_tuple_element)
)
