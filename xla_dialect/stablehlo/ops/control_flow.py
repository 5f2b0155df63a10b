"""Loops, branches and what ends a computation."""

from __future__ import annotations

from typing import ClassVar, Self

from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    region_def,
    traits_def,
    var_operand_def,
    var_region_def,
    var_result_def,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import IsTerminator, RecursiveMemoryEffect

from xla_dialect.ops import control_flow as xla
from xla_dialect.stablehlo.op import StableHloOp
from xla_dialect.xdsl.creation import create
from xla_dialect.xdsl.directives import EachType, name_alike, print_new_line


@irdl_op_definition
class ReturnOp(StableHloOp):
    """Ends a computation."""

    name = "stablehlo.return"
    SAME: ClassVar = xla.ReturnOp
    values = var_operand_def()
    traits = traits_def(IsTerminator())
    assembly_format = "$values attr-dict (`:` type($values)^)?"


class BranchOp(StableHloOp):
    """Runs one of its regions, which take nothing and see all values."""

    outputs = var_result_def()
    traits = traits_def(RecursiveMemoryEffect())


@irdl_op_definition
class IfOp(BranchOp):
    """Runs one region if the predicate holds, else the other."""

    name = "stablehlo.if"
    pred = operand_def()
    true_branch = region_def()
    false_branch = region_def()


@irdl_op_definition
class CaseOp(BranchOp):
    """Runs the region of this index, the last one for an index out of bounds."""

    name = "stablehlo.case"
    index = operand_def()
    branches = var_region_def()


@irdl_op_definition
class WhileOp(StableHloOp):
    """
    Carries values through `body` while `cond` holds. It is written as

        stablehlo.while(%x = %0, %y = %1) : type, type cond { ... } do { ... }
    """

    name = "stablehlo.while"
    SAME: ClassVar = xla.WhileOp
    operand = var_operand_def()
    outputs = var_result_def()
    cond = region_def()
    body = region_def()
    traits = traits_def(RecursiveMemoryEffect())

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


@irdl_op_definition
class OptimizationBarrierOp(StableHloOp):
    """The operands; nothing that needs one result is computed before all operands are."""

    name = "stablehlo.optimization_barrier"
    operand = var_operand_def()
    result = var_result_def()
    custom_directives = (EachType,)
    assembly_format = "attr-dict operands `:` custom<EachType>(type(operands), type(results))"
