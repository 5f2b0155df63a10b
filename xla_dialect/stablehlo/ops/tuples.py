"""Tuples, which StableHLO has for custom calls."""

from __future__ import annotations

from typing import Any, ClassVar, cast

from xdsl.dialects.builtin import IntegerAttr, TupleType, i32, i64
from xdsl.ir import Attribute
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    ParsingState,
    PrintingState,
    TypeDirective,
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure

from xla_dialect.op import XlaOp
from xla_dialect.ops import tuples as xla
from xla_dialect.stablehlo.op import StableHloOp
from xla_dialect.xdsl.directives import Types, TypesDirective, parse_i64


@irdl_custom_directive
class ElementTypes(TypesDirective):
    """The tuple that is the result; its elements are the types of the operands."""

    operands: TypeDirective
    results: TypeDirective

    def full(self, types: Types, count: int) -> tuple[Types, Types] | None:
        """The operands have the types of the elements."""
        if len(types) != 1 or not isinstance(types[0], TupleType):
            return None
        return types[0].types.data, types

    def short(self, operands: Types, results: Types) -> Types | None:
        """The type of the result."""
        return results


@irdl_op_definition
class TupleOp(StableHloOp):
    """The tuple of the operands."""

    name = "stablehlo.tuple"
    SAME: ClassVar = xla.TupleOp
    values = var_operand_def()
    result = result_def()
    traits = traits_def(Pure())
    custom_directives = (ElementTypes,)
    assembly_format = "$values attr-dict `:` custom<ElementTypes>(type(operands), type(results))"


@irdl_custom_directive
class ElementNumber(CustomDirective):
    """The number of an element, `[1]`, just behind the operand."""

    index: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        """Parses the number."""
        with parser.in_square_brackets():
            self.index.set(state, IntegerAttr(parse_i64(parser), i32))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        """Prints the number."""
        number = cast("IntegerAttr[Any]", self.index.get(op))
        printer.print_string(f"[{number.value.data}]")
        state.last_was_punctuation = False
        state.should_emit_space = True


@irdl_op_definition
class GetTupleElementOp(StableHloOp):
    """One element of a tuple."""

    name = "stablehlo.get_tuple_element"
    SAME: ClassVar = xla.GetTupleElementOp
    operand = operand_def()
    index = prop_def(IntegerAttr.constr(i32))
    result = result_def()
    traits = traits_def(Pure())
    custom_directives = (ElementNumber,)
    assembly_format = (
        "$operand custom<ElementNumber>($index) attr-dict `:` functional-type(operands, results)"
    )

    def xla_properties(self) -> dict[str, Attribute]:
        """The same number, of 64 bits."""
        number = cast("IntegerAttr[Any]", self.index)
        return {"index": IntegerAttr(number.value.data, i64)}

    @classmethod
    def properties_of(cls, op: XlaOp) -> dict[str, Attribute]:
        """The same number, of 32 bits."""
        assert isinstance(op, xla.GetTupleElementOp)
        return {"index": IntegerAttr(cast("IntegerAttr[Any]", op.index).value.data, i32)}
