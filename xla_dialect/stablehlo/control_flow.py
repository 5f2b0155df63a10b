"""Loops, branches and what ends a computation in StableHLO."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir import SSAValue
from xdsl.parser import Parser, UnresolvedOperand

from xla_dialect.ops.control_flow import ConditionalOp, OptBarrierOp, ReturnOp, WhileOp
from xla_dialect.stablehlo.conversion import Conversion, Row
from xla_dialect.stablehlo.source import SourceOp
from xla_dialect.stablehlo.syntax import each_type, form
from xla_dialect.stablehlo.tuples import elements_of, tuple_of
from xla_dialect.types import PRED, S32, is_scalar, spell
from xla_dialect.xdsl.creation import create


def parse_return(parser: Parser, op_class: type[SourceOp]) -> SourceOp:
    """Parses `stablehlo.return %0, %1 : type, type`, or just the name."""
    position = parser.pos
    operands = parser.parse_optional_undelimited_comma_separated_list(
        parser.parse_optional_unresolved_operand, parser.parse_unresolved_operand
    )
    attributes = parser.parse_optional_attr_dict()
    if operands is None:
        return create(op_class, attributes=attributes)
    parser.parse_punctuation(":")
    types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
    values = parser.resolve_operands(operands, types, position)
    return create(op_class, operands=values, attributes=attributes)


def convert_return(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.return` ends a computation."""
    return conversion.emit(ReturnOp, conversion.operands(op), ())


def parse_while(parser: Parser, op_class: type[SourceOp]) -> SourceOp:
    """
    Parses `(%iterArg = %0, ...) : type, ... attributes {...} cond { ... } do { ... }`.

    Both regions have the arguments that the parentheses name.
    """
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
    resolved = [argument.resolve(type_) for argument, type_ in zip(arguments, types, strict=True)]
    parser.parse_keyword("cond")
    condition = parser.parse_region(resolved)
    parser.parse_keyword("do")
    body = parser.parse_region(resolved)
    return create(
        op_class,
        operands=values,
        result_types=types,
        attributes={} if attributes is None else dict(attributes.data),
        regions=[condition, body],
    )


def convert_while(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.while` carries its values one by one."""
    operands = conversion.operands(op)
    regions = conversion.regions(op, [operand.type for operand in operands])
    return conversion.emit(WhileOp, operands, conversion.result_types(op), regions=regions)


def convert_if(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.if`."""
    predicate = conversion.operands(op)[0].type
    if not is_scalar(predicate, PRED):
        op.fail(f"the predicate is {spell(predicate)}, expected pred[]")
    return convert_branches(op, conversion)


def convert_case(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.case`."""
    index = conversion.operands(op)[0].type
    if not is_scalar(index, S32):
        op.fail(f"the index is {spell(index)}, expected s32[]")
    return convert_branches(op, conversion)


def convert_branches(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """Branches without arguments, which see all values."""
    return conversion.emit(
        ConditionalOp,
        conversion.operands(op),
        conversion.result_types(op),
        regions=conversion.regions(op),
    )


def convert_optimization_barrier(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`xla.opt_barrier` takes one value: several become a tuple."""
    operands = conversion.operands(op)
    if len(operands) != len(op.results):
        op.fail(f"has {len(operands)} operands and {len(op.results)} results")
    if len(operands) == 1:
        return conversion.emit(OptBarrierOp, operands, conversion.result_types(op))
    packed = tuple_of(operands, conversion)
    barrier = conversion.emit(OptBarrierOp, [packed], [packed.type])
    return elements_of(barrier[0], conversion.result_types(op), conversion)


ROWS: Mapping[str, Row] = {
    "stablehlo.while": Row(parse_while, convert_while, results=None, regions=2),
    "stablehlo.if": Row(None, convert_if, operands=1, results=None, regions=2),
    "stablehlo.case": Row(None, convert_case, operands=1, results=None, regions=None),
    "stablehlo.optimization_barrier": Row(
        form(each_type), convert_optimization_barrier, results=None
    ),
}
