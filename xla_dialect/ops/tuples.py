"""Tuples."""

from __future__ import annotations

from typing import ClassVar, cast

from xdsl.dialects.builtin import IntegerAttr, TupleType, i64
from xdsl.ir import Attribute, TypeAttribute
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import Pure

from xla_dialect.op import Types, XlaOp
from xla_dialect.types import spell, tuple_elements
from xla_dialect.violations import Violation, require


@irdl_op_definition
class TupleOp(XlaOp):
    """The tuple of its operands, in order; none of them gives `()`."""

    name = "xla.tuple"
    UNRELATED: ClassVar = "a tuple has no dimensions"
    elements = var_operand_def()
    result = result_def()
    traits = traits_def(Pure())

    @staticmethod
    def infer(elements: tuple[Attribute, ...]) -> Types:
        """The tuple of the operand types."""
        return (TupleType(cast("tuple[TypeAttribute, ...]", elements)),)


@irdl_op_definition
class GetTupleElementOp(XlaOp):
    """
    Element `index` of a tuple.

    (C1) the operand is a tuple. (C2) `0 <= index < number of elements`.
    """

    name = "xla.get_tuple_element"
    UNRELATED: ClassVar = "a tuple has no dimensions"
    operand = operand_def()
    index = prop_def(IntegerAttr.constr(type=i64))
    result = result_def()
    traits = traits_def(Pure())

    @staticmethod
    def infer(operand: Attribute, *, index: int) -> Types:
        """The type of the element."""
        elements = tuple_elements(operand)
        if elements is None:
            raise Violation("C1", f"operand is {spell(operand)}, not a tuple")
        require(0 <= index < len(elements), "C2", "index {} of {} elements", index, len(elements))
        return (elements[index],)
