"""The elementwise operations of the dialect, by what they take."""

from typing import Any

from xla_dialect.ops import elementwise_binary, elementwise_unary, operations_of
from xla_dialect.ops.elementwise_binary import ElementwiseBinaryOp
from xla_dialect.ops.elementwise_unary import ElementwiseUnaryOp
from xla_dialect.types import ElementClass

COMPLEX_OF_PARTS = elementwise_binary.ComplexOp


def elementwise(elements: ElementClass) -> tuple[list[Any], list[Any]]:
    """The operations of one and of two operands that take a class of element types."""
    families = (
        (elementwise_unary, ElementwiseUnaryOp),
        (elementwise_binary, ElementwiseBinaryOp),
    )
    unary, binary = (
        [
            operation
            for operation in operations_of(family)
            if issubclass(operation, base) and operation.contract().elements & elements
        ]
        for family, base in families
    )
    return unary, [operation for operation in binary if operation is not COMPLEX_OF_PARTS]
