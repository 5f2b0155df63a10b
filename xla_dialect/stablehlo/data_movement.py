"""Operations of StableHLO that move elements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from xdsl.ir import Attribute, SSAValue
from xdsl.parser import Parser

from xla_dialect.ops import data_movement as xla
from xla_dialect.shapes.dynamic_size import compatible
from xla_dialect.stablehlo import attributes
from xla_dialect.stablehlo.attributes import parse_i64
from xla_dialect.stablehlo.conversion import Conversion, Row, dimension_list, sizes_of
from xla_dialect.stablehlo.correspondence import integer, integers, named, one_to_one, same
from xla_dialect.stablehlo.source import SourceOp
from xla_dialect.stablehlo.syntax import (
    form,
    integer_clause,
    integers_clause,
    parse_attributes_and_types,
    same_type,
)
from xla_dialect.types import Array, array, as_array, fits, is_unbounded, spell
from xla_dialect.xdsl.creation import create


def parse_slice(parser: Parser, op_class: type[SourceOp]) -> SourceOp:
    """Parses `stablehlo.slice %0 [start:limit:stride, start:limit] : (a) -> b`."""
    operand = parser.parse_unresolved_operand()
    starts: list[int] = []
    limits: list[int] = []
    strides: list[int] = []

    def parse_range() -> None:
        starts.append(parse_i64(parser))
        parser.parse_punctuation(":")
        limits.append(parse_i64(parser))
        has_stride = parser.parse_optional_punctuation(":") is not None
        strides.append(parse_i64(parser) if has_stride else 1)

    parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parse_range)
    properties: dict[str, Attribute] = {
        "start_indices": attributes.integers(starts),
        "limit_indices": attributes.integers(limits),
        "strides": attributes.integers(strides),
    }
    discardable, operands, results = parse_attributes_and_types(parser, [operand])
    return create(
        op_class,
        operands=operands,
        result_types=results,
        properties=properties,
        attributes=discardable,
    )


def convert_broadcast_in_dim(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """Sizes of 1 that are stretched are first dropped by a reshape: `xla.broadcast` has none."""
    return broadcast_in_dim(op, conversion, conversion.result_types(op)[0])


def broadcast_in_dim(
    op: SourceOp, conversion: Conversion, declared: Attribute
) -> Sequence[SSAValue]:
    """Emits the broadcast of the first operand to a type."""
    dimensions = op.integers("broadcast_dimensions")
    operand = conversion.operands(op)[0]
    sizes, target = sizes_of(operand.type), sizes_of(declared)
    stretched = [
        i
        for i, (size, d) in enumerate(zip(sizes, dimensions, strict=False))
        if size == 1 and 0 <= d < len(target) and not compatible(target[d], 1)
    ]
    if len(set(dimensions)) != len(dimensions):
        op.fail(f"broadcast_dimensions {list(dimensions)} have duplicates")
    if stretched and len(dimensions) == len(sizes):
        kept = [i for i in range(len(sizes)) if i not in stretched]
        element_type = cast(Array, operand.type).element_type
        reshaped = array(element_type, [sizes[i] for i in kept])
        operand = conversion.emit(xla.ReshapeOp, [operand], [reshaped])[0]
        dimensions = tuple(dimensions[i] for i in kept)
    return conversion.emit(
        xla.BroadcastOp, [operand], [declared], {"dimensions": dimension_list(dimensions)}
    )


def convert_broadcast(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`stablehlo.broadcast` puts new dimensions in front."""
    added = op.integers("broadcast_sizes")
    operand, declared = conversion.operands(op)[0], conversion.result_types(op)
    source, sizes = as_array(operand.type), (*added, *sizes_of(operand.type))
    found = None
    if source is not None and min(added, default=0) >= 0:
        found = array(source.element_type, sizes)
    if found is None or not fits(found, declared[0]):
        op.fail(f"sizes {list(added)} before {spell(operand.type)} for {spell(declared[0])}")
    if is_unbounded(declared[0]):
        declared = [found]
    dimensions = dimension_list(range(len(added), len(sizes)))
    return conversion.emit(xla.BroadcastOp, [operand], declared, {"dimensions": dimensions})


ROWS: Mapping[str, Row] = {
    "stablehlo.reshape": Row(form(), one_to_one(xla.ReshapeOp), operands=1),
    "stablehlo.broadcast": Row(
        form(sizes=integers_clause("broadcast_sizes")), convert_broadcast, operands=1
    ),
    "stablehlo.broadcast_in_dim": Row(
        form(dims=integers_clause("broadcast_dimensions")), convert_broadcast_in_dim, operands=1
    ),
    "stablehlo.transpose": Row(
        form(dims=integers_clause("permutation")),
        same(xla.TransposeOp, {"dimensions": integers("permutation")}),
        operands=1,
    ),
    "stablehlo.reverse": Row(
        form(same_type, dims=integers_clause("dimensions")),
        same(xla.ReverseOp, named(integers("dimensions"))),
        operands=1,
    ),
    "stablehlo.slice": Row(
        parse_slice,
        same(
            xla.SliceOp,
            named(*map(integers, ("start_indices", "limit_indices", "strides"))),
        ),
        operands=1,
    ),
    "stablehlo.pad": Row(
        form(
            low=integers_clause("edge_padding_low"),
            high=integers_clause("edge_padding_high"),
            interior=integers_clause("interior_padding"),
        ),
        same(
            xla.PadOp,
            named(*map(integers, ("edge_padding_low", "edge_padding_high", "interior_padding"))),
        ),
        operands=2,
    ),
    "stablehlo.concatenate": Row(
        form(dim=integer_clause("dimension")),
        same(xla.ConcatenateOp, named(integer("dimension"))),
    ),
    "stablehlo.dynamic_slice": Row(
        form(first=1, sizes=integers_clause("slice_sizes")),
        same(xla.DynamicSliceOp, {"dynamic_slice_sizes": integers("slice_sizes")}, at_least=1),
    ),
    "stablehlo.dynamic_update_slice": Row(form(), one_to_one(xla.DynamicUpdateSliceOp, at_least=2)),
}
