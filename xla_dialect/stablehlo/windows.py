"""Operations of StableHLO with windows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import (
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    TensorType,
    i1,
    i64,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.parser import Parser

from xla_dialect.ops.contraction import ConvolutionOp
from xla_dialect.shapes.convolution_labels import ConvolutionLabels, ConvolutionLabelsAttr
from xla_dialect.shapes.window import Window, WindowAttr
from xla_dialect.spelling import SpellingError
from xla_dialect.stablehlo.attributes import ConvolutionNumbers, parse_i64
from xla_dialect.stablehlo.contraction import keep_precision
from xla_dialect.stablehlo.conversion import Conversion, Row, sizes_of
from xla_dialect.stablehlo.source import SourceOp, matrix
from xla_dialect.stablehlo.syntax import parse_attributes_and_types, parse_integers
from xla_dialect.types import as_array, spell
from xla_dialect.xdsl.creation import create

_CONVOLUTION = {
    "stride": "window_strides",
    "base_dilation": "lhs_dilation",
    "window_dilation": "rhs_dilation",
    "reversal": "window_reversal",
}
"""From the arguments of `Window.of` to the lists of the operation."""


def take_window(op: SourceOp, sizes: Sequence[int]) -> WindowAttr:
    """Takes the lists of a convolution, and the padding, of a window of these sizes."""
    padding = matrix(op, "padding") or ()
    if any(len(row) != 2 for row in padding):
        op.fail(f"padding is {[list(row) for row in padding]}, not pairs")
    lists: dict[str, Any] = {
        argument: op.integers(name, (), i1 if argument == "reversal" else i64)
        for argument, name in _CONVOLUTION.items()
    }
    if "reversal" in lists:
        lists["reversal"] = [flag != 0 for flag in lists["reversal"]]
    try:
        window = Window.of(sizes, padding=[(low, high) for low, high in padding], **lists)
    except SpellingError as error:
        op.fail(str(error))
    return WindowAttr(window)


_WINDOW_LISTS = {
    "stride": "window_strides",
    "pad": "padding",
    "lhs_dilate": "lhs_dilation",
    "rhs_dilate": "rhs_dilation",
    "reverse": "window_reversal",
}
"""From the words in the custom form of a convolution to the properties."""


def parse_convolution(parser: Parser, op_class: type[SourceOp]) -> SourceOp:
    """
    Parses

        (%0, %1) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0],
          window = {stride = [2], pad = [[1, 0]], lhs_dilate = [1], rhs_dilate = [1],
                    reverse = [false]} {attributes} : types
    """
    unresolved = parser.parse_comma_separated_list(
        parser.Delimiter.PAREN, parser.parse_unresolved_operand
    )
    parser.parse_keyword("dim_numbers")
    parser.parse_punctuation("=")
    properties: dict[str, Attribute] = {
        "dimension_numbers": ConvolutionNumbers(ConvolutionNumbers.parse_labels(parser))
    }
    parser.parse_punctuation(",")
    parser.parse_keyword("window")
    parser.parse_punctuation("=")

    def parse_list() -> None:
        position = parser.pos
        word = parser.parse_identifier()
        if word not in _WINDOW_LISTS or _WINDOW_LISTS[word] in properties:
            parser.raise_error(f"{op_class.name}: {word!r} is unknown here, or repeated", position)
        parser.parse_punctuation("=")
        properties[_WINDOW_LISTS[word]] = _parse_window_list(parser, word)

    parser.parse_comma_separated_list(parser.Delimiter.BRACES, parse_list)
    attributes, operands, results = parse_attributes_and_types(parser, unresolved)
    return create(
        op_class,
        operands=operands,
        result_types=results,
        properties=properties,
        attributes=attributes,
    )


def _parse_window_list(parser: Parser, word: str) -> Attribute:
    match word:
        case "reverse":
            flags = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_integer)
            return DenseArrayBase.from_list(i1, [int(flag != 0) for flag in flags])
        case "pad":
            pairs = parser.parse_comma_separated_list(
                parser.Delimiter.SQUARE, lambda: _parse_pair(parser)
            )
            type_ = TensorType(i64, (len(pairs), 2))
            return DenseIntOrFPElementsAttr.from_list(type_, [n for pair in pairs for n in pair])
        case _:
            return parse_integers(parser)


def _parse_pair(parser: Parser) -> list[int]:
    position = parser.pos
    pair = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parse_i64(parser))
    if len(pair) != 2:
        parser.raise_error("expected a pair [low, high]", position)
    return pair


def convert_convolution(
    op: SourceOp, conversion: Conversion, result: Attribute | None = None
) -> Sequence[SSAValue]:
    """
    `stablehlo.convolution`; the sizes of the window are those of the kernel.

    `result`: its type, by default the declared one.
    """
    numbers = op.take("dimension_numbers")
    if not isinstance(numbers, ConvolutionNumbers):
        op.fail(f"dimension_numbers is {numbers}, not #stablehlo.conv<...>")
    labels = ConvolutionLabels.parse(numbers.data)
    operands = conversion.operands(op)[:2]  # A dynamic convolution has its padding as third.
    kernel = sizes_of(operands[1].type)
    if len(kernel) != len(labels.rhs) or labels.faults():
        op.fail(f"dimension_numbers {numbers} for a kernel of rank {len(kernel)}")
    sizes = [kernel[d] for d in labels.rhs_order()[2:]]
    keep_precision(op)
    element_types = [array_type.element_type for v in operands if (array_type := as_array(v.type))]
    if len(set(element_types)) != 1:
        op.fail(f"lhs and rhs are {spell(operands[0].type)} and {spell(operands[1].type)}")
    properties: Mapping[str, Attribute] = {
        "window": take_window(op, sizes),
        "dim_labels": ConvolutionLabelsAttr(labels),
        "feature_group_count": IntegerAttr(op.integer("feature_group_count"), i64),
        "batch_group_count": IntegerAttr(op.integer("batch_group_count"), i64),
    }
    declared = conversion.result_types(op) if result is None else [result]
    return conversion.emit(ConvolutionOp, operands, declared, properties)


ROWS: Mapping[str, Row] = {
    "stablehlo.convolution": Row(parse_convolution, convert_convolution, operands=2),
}
