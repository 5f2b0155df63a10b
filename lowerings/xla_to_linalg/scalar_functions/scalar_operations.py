"""The lowering of every operation that can be applied to scalars."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Concatenate, TypeAlias, cast

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue

from lowerings.xla_to_linalg import (
    conversion,
    elementwise_binary,
    elementwise_ternary,
    elementwise_unary,
)
from lowerings.xla_to_linalg.dense import scalar_of
from lowerings.xla_to_linalg.scalar_functions.element_functions import (
    ElementFunction,
    NotLowered,
    elements_of,
)
from lowerings.xla_to_linalg.scalar_functions.scalars import ScalarBuilder
from xla_dialect.analysis.comparators import needed_operations
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
from xla_dialect.ops.elementwise_binary import CompareOp
from xla_dialect.ops.elementwise_ternary import ClampOp, SelectOp
from xla_dialect.types import element_class, is_scalar
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
                *elementwise_unary.FUNCTIONS.items(),
                *elementwise_binary.FUNCTIONS.items(),
                (ClampOp, elementwise_ternary.CLAMP),
            )
        }
    )
    .add(CompareOp, elementwise_binary.compare)
    .add(SelectOp, elementwise_ternary.select)
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
    The results of a computation on scalars, made of scalar operations.

    Values of enclosing regions that it uses are read where they are used. Raises NotLowered for a
    computation that holds anything but operations on scalars.
    """
    last = computation.last_op
    if not isinstance(last, ReturnOp):
        raise NotLowered("a computation has no xla.return")
    return _inline(s, computation, arguments, last.operands, list(computation.ops)[:-1])


def inline_value(
    s: ScalarBuilder, computation: Block, arguments: Sequence[SSAValue], wanted: SSAValue
) -> SSAValue:
    """One of the values in a computation on scalars, like `inline_computation` its results."""
    needed = needed_operations(wanted, computation)
    operations = [op for op in computation.ops if op in needed]
    return _inline(s, computation, arguments, (wanted,), operations)[0]


def _inline(
    s: ScalarBuilder,
    computation: Block,
    arguments: Sequence[SSAValue],
    wanted: Sequence[SSAValue],
    operations: Sequence[Operation],
) -> Sequence[SSAValue]:
    """The values that are wanted, by way of these operations."""
    values: dict[SSAValue, SSAValue] = dict(zip(computation.args, arguments, strict=True))

    def value(operand: SSAValue) -> SSAValue:
        found = values.get(operand)
        if found is None:
            found = values[operand] = s.read_scalar(operand)
        return found

    for op in operations:
        operation = _OF_SCALARS.get(type(op))
        if operation is None or not all(is_scalar(t) for t in op.result_types):
            raise NotLowered(f"{op.name} of {_types(op)} in a computation is not lowered yet")
        operands = [value(operand) for operand in op.operands]
        values[op.results[0]] = operation(s, op, *operands)
    return [value(operand) for operand in wanted]


def _types(op: Operation) -> str:
    types: Sequence[Attribute] = op.operand_types
    return ", ".join(map(str, types)) or "nothing"
