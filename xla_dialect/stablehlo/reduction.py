"""Reductions of StableHLO."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, TensorType
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.parser import Parser, UnresolvedOperand

from xla_dialect.ops.control_flow import ReturnOp
from xla_dialect.ops.creation import ConstantOp
from xla_dialect.ops.elementwise_binary import AddOp
from xla_dialect.ops.reduction import MapOp, ReduceOp
from xla_dialect.shapes.size_arithmetic import without
from xla_dialect.stablehlo.conversion import Conversion, Row, dimension_list, sizes_of
from xla_dialect.stablehlo.correspondence import integers, named, same
from xla_dialect.stablehlo.promotion import accumulators_of, promoted
from xla_dialect.stablehlo.source import SourceOp
from xla_dialect.stablehlo.syntax import parse_attributes_and_types, parse_integers
from xla_dialect.types import Array, ElementClass, array, element_class
from xla_dialect.xdsl.creation import create
from xla_dialect.xdsl.directives import parse_argument


def parse_reduce(parser: Parser, op_class: type[SourceOp]) -> SourceOp:
    """
    Parses one of

        (%0 init: %1) applies stablehlo.add across dimensions = [1] : types
        (%0 init: %1), (%2 init: %3) across dimensions = [1] : types
          reducer(%a: t, %b: t) (%c: u, %d: u) { ... }
    """
    inputs: list[UnresolvedOperand] = []
    inits: list[UnresolvedOperand] = []

    def parse_pair() -> None:
        with parser.in_parens():
            inputs.append(parser.parse_unresolved_operand())
            parser.parse_keyword("init")
            parser.parse_punctuation(":")
            inits.append(parser.parse_unresolved_operand())

    parser.parse_comma_separated_list(parser.Delimiter.NONE, parse_pair)
    reducer = None
    reducer_position = parser.pos
    if parser.parse_optional_keyword("applies") is not None:
        reducer_position = parser.pos
        reducer = parser.parse_identifier(": the name of an operation")
    parser.parse_keyword("across")
    parser.parse_keyword("dimensions")
    parser.parse_punctuation("=")
    properties = {"dimensions": parse_integers(parser)}
    attributes, operands, results = parse_attributes_and_types(parser, [*inputs, *inits])
    if reducer is None:
        region = parse_reducer(parser, len(inputs))
    else:
        found = parser.ctx.get_optional_op(reducer)
        if len(inputs) != 1 or found is None or not issubclass(found, SourceOp):
            parser.raise_error(f"{reducer} cannot be applied by {op_class.name}", reducer_position)
        region = apply(parser, found, operands[1].type)
    return create(
        op_class,
        operands=operands,
        result_types=results,
        properties=properties,
        attributes=attributes,
        regions=[region],
    )


def apply(parser: Parser, op_class: type[SourceOp], init: Attribute) -> Region:
    """The computation that applies one operation to the accumulator and the value."""
    element_type = cast(Array, init).element_type if isinstance(init, TensorType) else init
    scalar = TensorType(element_type, ())
    block = Block(arg_types=[scalar, scalar])
    result = create(op_class, operands=block.args, result_types=[scalar])
    returns = parser.ctx.get_op("stablehlo.return")
    block.add_ops([result, create(returns, operands=result.results)])
    return Region(block)


def parse_reducer(parser: Parser, count: int) -> Region:
    """Parses `reducer(%acc: t, %value: t) ... { ... }`: one pair for each of `count` inputs."""
    parser.parse_keyword("reducer")
    accumulators: list[Parser.Argument] = []
    values: list[Parser.Argument] = []
    for _ in range(count):
        with parser.in_parens():
            accumulators.append(parse_argument(parser))
            parser.parse_punctuation(",")
            values.append(parse_argument(parser))
    return parser.parse_region([*accumulators, *values])


def convert_reduce(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.reduce`, with as many results as inputs."""
    if len(op.operands) % 2 or not op.operands:
        op.fail(f"has {len(op.operands)} operands, expected one init value for each input")
    properties: Mapping[str, Attribute] = {"dimensions": dimension_list(op.integers("dimensions"))}
    regions = conversion.regions(op)
    return conversion.emit(
        ReduceOp,
        inputs_and_inits(op, conversion, regions[0]),
        conversion.result_types(op),
        properties,
        regions,
    )


def inputs_and_inits(op: SourceOp, conversion: Conversion, body: Region) -> list[SSAValue]:
    """The operands of a reduction, promoted to the types of the accumulators of its body."""
    operands = conversion.operands(op)
    accumulators = accumulators_of(body, len(operands) // 2)
    if not accumulators:
        return operands
    return promoted(conversion, operands, [*accumulators, *accumulators])


def sum_of_two(element_type: Attribute) -> Region:
    """The computation that adds two numbers."""
    scalar = TensorType(element_type, ())
    block = Block(arg_types=[scalar, scalar])
    total = create(AddOp, operands=block.args, result_types=[scalar])
    block.add_ops([total, create(ReturnOp, operands=total.results)])
    return Region(block)


def emit_sum(conversion: Conversion, value: SSAValue, dimensions: Sequence[int]) -> SSAValue:
    """The sum of an array over some of its dimensions."""
    type_ = cast(Array, value.type)
    is_complex = element_class(type_.element_type) == ElementClass.COMPLEX
    element = (0, 0) if is_complex else 0
    scalar = cast(Any, TensorType(type_.element_type, ()))
    literal = DenseIntOrFPElementsAttr.from_list(scalar, [cast(Any, element)])
    (zero,) = conversion.emit(ConstantOp, (), [scalar], {"value": literal})
    return conversion.emit(
        ReduceOp,
        [value, zero],
        [array(type_.element_type, without(sizes_of(type_), dimensions))],
        {"dimensions": dimension_list(dimensions)},
        [sum_of_two(type_.element_type)],
    )[0]


ROWS: Mapping[str, Row] = {
    "stablehlo.map": Row(None, same(MapOp, named(integers("dimensions"))), regions=1),
    "stablehlo.reduce": Row(parse_reduce, convert_reduce, results=None, regions=1),
}
