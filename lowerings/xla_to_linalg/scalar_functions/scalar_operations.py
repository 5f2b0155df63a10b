"""The lowering of every operation that can be applied to scalars."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Concatenate, TypeAlias, cast

from xdsl.dialects import scf, tensor
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.ir import Block, Operation, Region, SSAValue

from lowerings.ir.scalar_attributes import scalar_of
from lowerings.xla_to_linalg import (
    conversion,
    elementwise,
)
from lowerings.xla_to_linalg.scalar_functions.element_functions import (
    ElementFunction,
    NotLowered,
    elements_of,
)
from lowerings.xla_to_linalg.scalar_functions.scalars import ScalarBuilder
from xla_dialect.analysis.computations import needed_operations
from xla_dialect.op import XlaOp
from xla_dialect.ops.control_flow import OptBarrierOp, ReturnOp
from xla_dialect.ops.conversion import BitcastConvertOp, ConvertOp, ReducePrecisionOp
from xla_dialect.ops.creation import ConstantOp
from xla_dialect.ops.data_movement import (
    BroadcastOp,
    CopyOp,
    ReshapeOp,
    ReverseOp,
    TransposeOp,
)
from xla_dialect.ops.elementwise import ClampOp, CompareOp, SelectOp
from xla_dialect.types import element_class, is_scalar
from xla_dialect.xdsl.creation import create
from xla_dialect.xdsl.linking import append
from xla_dialect.xdsl.operation_table import OperationTable

ScalarOperation: TypeAlias = Callable[Concatenate[ScalarBuilder, Operation, ...], SSAValue]
"""From the builder, the operation and its operands to its result."""


def _elementwise(function: ElementFunction) -> ScalarOperation:
    def operation(s: ScalarBuilder, op: Operation, *operands: SSAValue) -> SSAValue:
        element_type = elements_of(op.operands[0])
        return function.apply(s, operands, element_class(element_type), element_type)

    return operation


def _constant(s: ScalarBuilder, op: ConstantOp) -> SSAValue:
    return s.constant_of(scalar_of(cast("DenseIntOrFPElementsAttr[Any]", op.value)))


def _same(_s: ScalarBuilder, _op: XlaOp, x: SSAValue) -> SSAValue:
    return x


def _bitcast(s: ScalarBuilder, op: BitcastConvertOp, x: SSAValue) -> SSAValue:
    return conversion.bitcast_scalar(s, x, elements_of(op.operand), elements_of(op.result))


ELEMENTWISE = (
    OperationTable[ScalarOperation](
        {
            op_class: _elementwise(function)
            for op_class, function in (
                *elementwise.UNARY.items(),
                *elementwise.BINARY.items(),
                (ClampOp, elementwise.CLAMP),
            )
        }
    )
    .add(CompareOp, elementwise.compare)
    .add(SelectOp, elementwise.select)
    .add(ConvertOp, conversion.convert)
    .add(ReducePrecisionOp, conversion.reduce_precision)
)
"""The operations whose result at an index depends on their operands at that index."""

_OF_SCALARS = (
    OperationTable[ScalarOperation](ELEMENTWISE)
    .add(BitcastConvertOp, _bitcast)
    .add(ConstantOp, _constant)
    .add((BroadcastOp, CopyOp, OptBarrierOp, ReshapeOp, ReverseOp, TransposeOp), _same)
)
"""The operations that a computation on scalars may hold."""


def inline_computation(
    s: ScalarBuilder, computation: Block, arguments: Sequence[SSAValue]
) -> Sequence[SSAValue]:
    """
    The results of a computation on scalars, made of scalar operations where it holds no others.

    Values of enclosing regions that it uses are read where they are used.
    """
    return _inline(s, computation, arguments, _returned(computation), _operations(computation))


def inline_where(
    s: ScalarBuilder,
    condition: SSAValue | None,
    computation: Block,
    arguments: Sequence[SSAValue],
    otherwise: Sequence[SSAValue],
) -> Sequence[SSAValue]:
    """
    The results of a computation where a condition holds, other scalars elsewhere.

    Loops of the computation do not run where it does not hold: they might not end there.
    """
    if condition is None:
        return inline_computation(s, computation, arguments)
    if all(map(_is_of_scalars, _operations(computation))):
        found = inline_computation(s, computation, arguments)
        return [s.select(condition, new, old) for new, old in zip(found, otherwise, strict=True)]
    s.holds_tensors = True
    chosen, other = (ScalarBuilder(Block(), s.location) for _ in range(2))
    found = inline_computation(chosen, computation, arguments)
    for branch, values in ((chosen, found), (other, otherwise)):
        branch.add(create(scf.YieldOp, operands=values))
    branches = [Region(branch.block) for branch in (chosen, other)]
    types = [value.type for value in otherwise]
    return s.add(
        create(scf.IfOp, operands=(condition,), result_types=types, regions=branches)
    ).results


def inline_value(
    s: ScalarBuilder, computation: Block, arguments: Sequence[SSAValue], wanted: SSAValue
) -> SSAValue:
    """One of the values in a computation on scalars, like `inline_computation` its results."""
    needed = needed_operations(wanted, computation)
    operations = [op for op in computation.ops if op in needed]
    return _inline(s, computation, arguments, (wanted,), operations)[0]


def _returned(computation: Block) -> Sequence[SSAValue]:
    last = computation.last_op
    if not isinstance(last, ReturnOp):
        raise NotLowered("a computation has no xla.return")
    return last.operands


def _operations(computation: Block) -> Sequence[Operation]:
    """All but the `xla.return`."""
    return list(computation.ops)[:-1]


def _is_of_scalars(op: Operation) -> bool:
    return type(op) in _OF_SCALARS and all(is_scalar(t) for t in op.result_types)


def _inline(
    s: ScalarBuilder,
    computation: Block,
    arguments: Sequence[SSAValue],
    wanted: Sequence[SSAValue],
    operations: Sequence[Operation],
) -> Sequence[SSAValue]:
    """The values that are wanted, by way of these operations."""
    if not all(map(_is_of_scalars, operations)):
        return _inline_on_tensors(s, computation, arguments, wanted, operations)
    values: dict[SSAValue, SSAValue] = dict(zip(computation.args, arguments, strict=True))

    def value(operand: SSAValue) -> SSAValue:
        found = values.get(operand)
        if found is None:
            found = values[operand] = s.read_scalar(operand)
        return found

    for op in operations:
        operands = [value(operand) for operand in op.operands]
        values[op.results[0]] = _OF_SCALARS[type(op)](s, op, *operands)
    return [value(operand) for operand in wanted]


def _inline_on_tensors(
    s: ScalarBuilder,
    computation: Block,
    arguments: Sequence[SSAValue],
    wanted: Sequence[SSAValue],
    operations: Sequence[Operation],
) -> Sequence[SSAValue]:
    """
    As `_inline`, by the operations as they are, on tensors of rank 0.

    They are converted in turn, where they stand then.
    """
    s.holds_tensors = True
    values: dict[SSAValue, SSAValue] = {
        argument: s.emit(tensor.FromElementsOp, (scalar,), argument.type)
        for argument, scalar in zip(computation.args, arguments, strict=True)
    }
    for op in operations:
        append(s.block, op.clone(values))
    return [s.read_scalar(values.get(value, value)) for value in wanted]
