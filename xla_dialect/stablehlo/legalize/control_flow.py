"""Loops, branches and calls: HLO carries tuples; StableHLO has none but for custom calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects import func
from xdsl.dialects.builtin import SymbolRefAttr
from xdsl.ir import Operation, SSAValue

from xla_dialect.analysis.computations import callee
from xla_dialect.op import decode
from xla_dialect.ops import control_flow as xla
from xla_dialect.ops.transfers import AddDependencyOp
from xla_dialect.ops.tuples import GetTupleElementOp, TupleOp
from xla_dialect.stablehlo.conversion import Conversion, Legalize
from xla_dialect.stablehlo.legalize.custom_calls import composite_of_xla
from xla_dialect.stablehlo.legalize.from_xla import FromXla, LegalizeFromXla, Tree, flat
from xla_dialect.stablehlo.ops import control_flow as stablehlo
from xla_dialect.types import PRED, flatten, is_scalar
from xla_dialect.violations import check
from xla_dialect.xdsl.operation_table import OperationTable


def tuple_of_xla(op: Operation, legalization: FromXla) -> Sequence[Tree]:
    """Nothing: the elements stand for themselves."""
    return [leaf for value in op.operands for leaf in flat(legalization.tree(value))]


def element_of_xla(op: GetTupleElementOp, legalization: FromXla) -> Sequence[Tree]:
    """Nothing: the element stands for itself."""
    tree = legalization.tree(op.operand)
    assert isinstance(tree, tuple)
    return flat(tree[cast(int, decode(op.index))])


def conditional_of_xla(op: xla.ConditionalOp, legalization: FromXla) -> Sequence[SSAValue]:
    """`stablehlo.if` for a pred, else `stablehlo.case`; branches see what they take."""
    given = list(op.branch_operands)
    regions = [
        legalization.region(
            region,
            [leaf for _ in region.block.args for leaf in flat(legalization.tree(given.pop(0)))],
        )
        for region in op.regions
    ]
    is_if = is_scalar(op.branch_index.type, PRED)
    op_class = stablehlo.IfOp if is_if else stablehlo.CaseOp
    index, types = legalization.value(op.branch_index), legalization.result_types(op)
    return legalization.emit(op_class, [index], types, regions=regions).results


def call_of_xla(op: xla.CallOp | func.CallOp, legalization: FromXla) -> Sequence[Tree]:
    """`func.call`, or a composite where that is kept."""
    if isinstance(op, xla.CallOp) and op.is_composite.value.data:
        return composite_of_xla(op, legalization)
    properties = {"callee": SymbolRefAttr(callee(op))}
    return legalization.replaced(op, func.CallOp, properties)


def fusion_of_xla(op: xla.FusionOp, legalization: FromXla) -> Sequence[Tree]:
    """Its operations, in place: StableHLO leaves fusion to the compiler."""
    return legalization.inline(op.calls.block, legalization.operands(op))


def convert_barrier(
    op: stablehlo.OptimizationBarrierOp, conversion: Conversion
) -> Sequence[SSAValue]:
    """`xla.opt_barrier` takes one value: several become a tuple."""
    operands = conversion.operands(op)
    check(
        len(operands) == len(op.results),
        "has {} operands and {} results",
        len(operands),
        len(op.results),
    )
    if len(operands) == 1:
        return conversion.emit(xla.OptBarrierOp, operands, conversion.result_types(op))
    barrier = conversion.made(xla.OptBarrierOp(conversion.made(TupleOp(operands))))
    return [conversion.made(GetTupleElementOp(barrier, index=i)) for i in range(len(operands))]


def barrier_of_xla(op: Operation, legalization: FromXla) -> Sequence[SSAValue]:
    """`stablehlo.optimization_barrier` of all leaves together; the first ones are the results."""
    operands = legalization.operands(op)
    if not operands:
        return ()
    types = [value.type for value in operands]
    barrier = legalization.emit(stablehlo.OptimizationBarrierOp, operands, types)
    elements = (use.operation for use in op.results[0].uses)
    hints = (each.results[0].name_hint for each in elements if isinstance(each, GetTupleElementOp))
    hint = next(hints, None)
    for value in barrier.results:
        value.name_hint = hint
    return barrier.results[: len(flatten(op.result_types))]


def operand_of_xla(op: Operation, legalization: FromXla) -> Sequence[Tree]:
    """Nothing: the result is the operand."""
    return flat(legalization.tree(op.operands[0]))


TO_XLA = OperationTable[Legalize]().add(stablehlo.OptimizationBarrierOp, convert_barrier)


FROM_XLA = (
    OperationTable[LegalizeFromXla]()
    .add(xla.ConditionalOp, conditional_of_xla)
    .add((xla.CallOp, func.CallOp), call_of_xla)
    .add(xla.FusionOp, fusion_of_xla)
    .add((xla.OptBarrierOp, AddDependencyOp), barrier_of_xla)
    .add(xla.DomainOp, operand_of_xla)
    .add(TupleOp, tuple_of_xla)
    .add(GetTupleElementOp, element_of_xla)
)
