"""The elementwise operations of the dialect, by what they take."""

from typing import Any

from xla_dialect.ops import elementwise, operations_of
from xla_dialect.ops.elementwise import ComplexOp, ElementwiseBinaryOp, ElementwiseUnaryOp
from xla_dialect.types import ElementClass


def operations_taking(elements: ElementClass) -> tuple[list[Any], list[Any]]:
    """The operations of one and of two operands that take a class of element types."""
    unary, binary = (
        [
            operation
            for operation in operations_of(elementwise)
            if issubclass(operation, base) and operation.contract().elements & elements
        ]
        for base in (ElementwiseUnaryOp, ElementwiseBinaryOp)
    )
    return unary, [operation for operation in binary if operation is not ComplexOp]
