"""Tuples."""

from __future__ import annotations

from typing import ClassVar

from xdsl.ir import Attribute
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    prop_def,
    var_operand_def,
)

from xla_dialect.attributes import INTEGER
from xla_dialect.op import PureOp, Types
from xla_dialect.types import spell, tuple_elements, tuple_of
from xla_dialect.violations import Violation, require


@irdl_op_definition
class TupleOp(PureOp):
    """The tuple of its operands, in order; none of them gives `()`."""

    name = "xla.tuple"
    UNRELATED: ClassVar = "a tuple has no dimensions"
    elements = var_operand_def()

    @staticmethod
    def infer(elements: tuple[Attribute, ...]) -> Types:
        """The tuple of the operand types."""
        return (tuple_of(elements),)


@irdl_op_definition
class GetTupleElementOp(PureOp):
    """
    Element `index` of a tuple.

    (C1) the operand is a tuple. (C2) `0 <= index < number of elements`.
    """

    name = "xla.get_tuple_element"
    UNRELATED: ClassVar = "a tuple has no dimensions"
    operand = operand_def()
    index = prop_def(INTEGER)

    @staticmethod
    def infer(operand: Attribute, *, index: int) -> Types:
        """The type of the element."""
        elements = tuple_elements(operand)
        if elements is None:
            raise Violation("C1", f"operand is {spell(operand)}, not a tuple")
        require(0 <= index < len(elements), "C2", "index {} of {} elements", index, len(elements))
        return (elements[index],)
