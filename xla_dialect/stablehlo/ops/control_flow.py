"""Loops, branches, what ends a computation, and tuples, which StableHLO has for custom calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self, cast

from xdsl.dialects.builtin import IntegerAttr, TensorType, TupleType, i32
from xdsl.ir import Attribute, Region
from xdsl.irdl import (
    IRDLOperation,
    operand_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_region_def,
    var_result_def,
)
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    ParsingState,
    PrintingState,
    irdl_custom_directive,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import RecursiveMemoryEffect
from xdsl.utils.exceptions import VerifyException

from xla_dialect.ops import control_flow as xla
from xla_dialect.ops import tuples
from xla_dialect.stablehlo.op import StableHloOp, just_as, same_as
from xla_dialect.types import PRED, S32, is_scalar, spell, spell_all
from xla_dialect.violations import check
from xla_dialect.xdsl.creation import create
from xla_dialect.xdsl.definition import op_definition
from xla_dialect.xdsl.directives import (
    Types,
    TypesDirective,
    name_alike,
    parse_i64,
    print_new_line,
    types_directive,
)

ReturnOp = same_as(
    xla.ReturnOp, StableHloOp, assembly_format="$values attr-dict (`:` type($values)^)?"
)


class BranchOp(StableHloOp):
    """Runs one of its regions, which take nothing and see all values."""

    SAME: ClassVar = xla.ConditionalOp
    HANDS_ON_TOKENS: ClassVar = True
    SELECTOR: ClassVar[tuple[str, Attribute]]
    """What its operand is called, and its element type."""

    outputs = var_result_def()
    traits = traits_def(RecursiveMemoryEffect())

    def xla_operand_types(
        self, types: Sequence[Attribute], regions: Sequence[Region]
    ) -> Sequence[Attribute]:
        """The same types; raises VerifyException for another selector, as HLO has both."""
        name, element_type = self.SELECTOR
        check(
            is_scalar(types[0], element_type),
            "the {} is {}, expected {}",
            name,
            spell(types[0]),
            spell(TensorType(element_type, ())),
        )
        return types


@op_definition
class IfOp(BranchOp):
    """Runs one region if the predicate holds, else the other."""

    name = "stablehlo.if"
    SELECTOR: ClassVar = "predicate", PRED
    pred = operand_def()
    true_branch = region_def()
    false_branch = region_def()


@op_definition
class CaseOp(BranchOp):
    """Runs the region of this index, the last one for an index out of bounds."""

    name = "stablehlo.case"
    SELECTOR: ClassVar = "index", S32
    index = operand_def()
    branches = var_region_def()


@just_as(xla.WhileOp)
class WhileOp(StableHloOp):
    """
    Carries values through `body` while `cond` holds. It is written as

        stablehlo.while(%x = %0, %y = %1) : type, type cond { ... } do { ... }
    """

    HANDS_ON_TOKENS: ClassVar = True
    operand = var_operand_def()
    cond = region_def()
    body = region_def()

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Parses the bindings, whose names both regions have for their arguments."""
        arguments: list[Parser.UnresolvedArgument] = []
        operands: list[UnresolvedOperand] = []

        def parse_binding() -> None:
            arguments.append(parser.parse_argument(expect_type=False))
            parser.parse_punctuation("=")
            operands.append(parser.parse_unresolved_operand())

        parser.parse_comma_separated_list(parser.Delimiter.PAREN, parse_binding)
        position = parser.pos
        types = []
        if parser.parse_optional_punctuation(":") is not None:
            position = parser.pos
            types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        values = parser.resolve_operands(operands, types, position)
        attributes = parser.parse_optional_attr_dict_with_keyword()
        resolved = [
            argument.resolve(type_) for argument, type_ in zip(arguments, types, strict=True)
        ]
        parser.parse_keyword("cond")
        condition = parser.parse_region(resolved)
        parser.parse_keyword("do")
        body = parser.parse_region(resolved)
        return create(
            cls,
            operands=values,
            result_types=types,
            attributes={} if attributes is None else dict(attributes.data),
            regions=[condition, body],
        )

    def print(self, printer: Printer) -> None:
        """Prints what `parse` parses."""
        condition, body = self.cond.block, self.body.block
        for argument, same in zip(condition.args, body.args, strict=True):
            argument.name_hint = argument.name_hint or "iterArg"
            name_alike(printer, argument, same)

        def print_binding(number: int) -> None:
            printer.print_ssa_value(condition.args[number])
            printer.print_string(" = ")
            printer.print_ssa_value(self.operand[number])

        with printer.in_parens():
            printer.print_list(range(len(condition.args)), print_binding)
        if self.operand:
            printer.print_string(" : ")
            printer.print_list(self.operand.types, printer.print_attribute)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        for word, region in (("cond ", self.cond), (" do ", self.body)):
            if region is self.cond:
                print_new_line(printer)
            printer.print_string(word)
            printer.print_region(region, print_entry_block_args=False)


@op_definition
class OptimizationBarrierOp(StableHloOp):
    """The operands; nothing that needs one result is computed before all operands are."""

    name = "stablehlo.optimization_barrier"
    operand = var_operand_def()
    result = var_result_def()
    assembly_format = "attr-dict operands `:` custom<EachType>(type(operands), type(results))"

    def verify_types(self, operands: Sequence[Attribute], declared: Sequence[Attribute]) -> None:
        """Results have the types of the operands, unknown sizes included."""
        _require_types(declared, operands)


def _require_types(declared: Sequence[Attribute], operands: Sequence[Attribute]) -> None:
    """Types are those of the operands, unknown sizes included; raises VerifyException."""
    check(
        list(declared) == list(operands),
        "declared {}, the operands are {}",
        spell_all(declared),
        spell_all(operands),
    )


@types_directive
class ElementTypes(TypesDirective):
    """The tuple that is the result; its elements are the types of the operands."""

    def full(self, types: Types, count: int) -> tuple[Types, Types] | None:
        """The operands have the types of the elements."""
        if len(types) != 1 or not isinstance(types[0], TupleType):
            return None
        return types[0].types.data, types

    def short(self, operands: Types, results: Types) -> Types | None:
        """The type of the result."""
        return results


@just_as(tuples.TupleOp)
class TupleOp(StableHloOp):
    """The tuple of the operands."""

    assembly_format = "$elements attr-dict `:` custom<ElementTypes>(type(operands), type(results))"

    def xla_operand_types(
        self, types: Sequence[Attribute], regions: Sequence[Region]
    ) -> Sequence[Attribute]:
        """The same types; raises VerifyException for a result that is no tuple, as HLO has it."""
        (whole,) = self.result_types
        if not isinstance(whole, TupleType):
            raise VerifyException(f"the result is {whole}, not a tuple")
        return types

    def verify_types(self, operands: Sequence[Attribute], declared: Sequence[Attribute]) -> None:
        """The elements have the types of the operands, unknown sizes included."""
        super().verify_types(operands, declared)
        _require_types(cast(TupleType, declared[0]).types.data, operands)


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


GetTupleElementOp = same_as(
    tuples.GetTupleElementOp,
    StableHloOp,
    index=prop_def(IntegerAttr.constr(i32)),
    assembly_format=(
        "$operand custom<ElementNumber>($index) attr-dict `:` functional-type(operands, results)"
    ),
)
