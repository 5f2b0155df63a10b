"""Operations that move elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, cast

from xdsl.dialects.builtin import DenseArrayBase, i64
from xdsl.ir import Attribute
from xdsl.irdl import (
    IRDLOperation,
    operand_def,
    prop_def,
)
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    ParsingState,
    PrintingState,
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from xla_dialect.ops import data_movement as xla
from xla_dialect.shapes.size_arithmetic import compatible
from xla_dialect.stablehlo.op import PureOp, integers_of, same_as
from xla_dialect.types import array, as_array, fits, sizes_of, spell
from xla_dialect.violations import check
from xla_dialect.xdsl.definition import op_definition
from xla_dialect.xdsl.directives import parse_i64

_INTEGERS = DenseArrayBase.constr(i64)


@irdl_custom_directive
class Ranges(CustomDirective):
    """Ranges of indices, `[0:4:2, 1:3]`: start, limit, and a stride that is not 1."""

    starts: AttributeVariable
    limits: AttributeVariable
    strides: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        """Parses the ranges."""

        def parse_range() -> tuple[int, int, int]:
            start = parse_i64(parser)
            parser.parse_punctuation(":")
            limit = parse_i64(parser)
            has_stride = parser.parse_optional_punctuation(":") is not None
            return start, limit, parse_i64(parser) if has_stride else 1

        ranges = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parse_range)
        for place, variable in enumerate((self.starts, self.limits, self.strides)):
            numbers = [range_[place] for range_ in ranges]
            variable.set(state, DenseArrayBase.from_list(i64, numbers))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        """Prints the ranges."""
        state.print_whitespace(printer)
        variables = (self.starts.get(op), self.limits.get(op), self.strides.get(op))
        lists = (cast("DenseArrayBase[Any]", value).get_values() for value in variables)
        texts = (
            f"{start}:{limit}" if stride == 1 else f"{start}:{limit}:{stride}"
            for start, limit, stride in zip(*lists, strict=True)
        )
        printer.print_string(f"[{', '.join(texts)}]")


class MovementOp(PureOp):
    """An operation with one result whose elements are those of its operands."""

    assembly_format = "operands attr-dict `:` functional-type(operands, results)"


ReshapeOp = same_as(xla.ReshapeOp, MovementOp, SIZED_RESULTS=slice(1))


@op_definition
class BroadcastOp(MovementOp):
    """Repeats the operand along new dimensions in front."""

    name = "stablehlo.broadcast"
    operand = operand_def()
    broadcast_sizes = prop_def(_INTEGERS)
    assembly_format = (
        "$operand `,` `sizes` `=` custom<Integers>($broadcast_sizes) attr-dict `:` "
        "functional-type(operands, results)"
    )

    def inferred(
        self, operands: Sequence[Attribute], declared: Sequence[Attribute]
    ) -> Sequence[Attribute]:
        """The operand's type with the new sizes in front; raises VerifyException."""
        operand, added = as_array(operands[0]), integers_of(self.broadcast_sizes) or ()
        if operand is not None and min(added, default=0) >= 0:
            found = array(operand.element_type, (*added, *sizes_of(operand)))
            if fits(found, declared[0]):
                return [found]
        before = f"sizes {list(added)} before {spell(operands[0])}"
        raise VerifyException(f"{before} for {spell(declared[0])}")


@op_definition
class BroadcastInDimOp(MovementOp):
    """Dimension i of the operand is `broadcast_dimensions[i]` of the result; size 1 is repeated."""

    name = "stablehlo.broadcast_in_dim"
    SIZED_RESULTS: ClassVar = slice(1)
    operand = operand_def()
    broadcast_dimensions = prop_def(_INTEGERS)
    assembly_format = (
        "$operand `,` `dims` `=` custom<Integers>($broadcast_dimensions) attr-dict `:` "
        "functional-type(operands, results)"
    )

    def inferred(
        self, operands: Sequence[Attribute], declared: Sequence[Attribute]
    ) -> Sequence[Attribute]:
        """The declared type, by the rules of the broadcast that takes no size of 1 to stretch."""
        dimensions = integers_of(self.broadcast_dimensions) or ()
        type_, dimensions = unstretched(operands[0], declared[0], dimensions)
        properties = {"dimensions": DenseArrayBase.from_list(i64, dimensions)}
        return xla.BroadcastOp.types_of([type_], properties, (), declared)


def unstretched(
    operand: Attribute, result: Attribute, dimensions: Sequence[int]
) -> tuple[Attribute, Sequence[int]]:
    """
    The type of an operand without the sizes of 1 that a broadcast stretches, and the dimensions of
    the result that its others become: `xla.broadcast` stretches none.

    Raises VerifyException for dimensions that occur twice.
    """
    check(
        len(set(dimensions)) == len(dimensions),
        "broadcast_dimensions {} have duplicates",
        list(dimensions),
    )
    before, after = as_array(operand), as_array(result)
    if before is None or after is None or len(sizes_of(before)) != len(dimensions):
        return operand, dimensions
    sizes, target = sizes_of(before), sizes_of(after)
    kept = [
        i
        for i, d in enumerate(dimensions)
        if sizes[i] != 1 or not 0 <= d < len(target) or compatible(target[d], 1)
    ]
    if len(kept) == len(sizes):
        return operand, dimensions
    return array(before.element_type, [sizes[i] for i in kept]), [dimensions[i] for i in kept]


_END = "attr-dict `:` functional-type(operands, results)"

TransposeOp = same_as(
    xla.TransposeOp,
    MovementOp,
    NAMES={"permutation": "dimensions"},
    assembly_format=f"$operand `,` `dims` `=` custom<Integers>($permutation) {_END}",
)
ReverseOp = same_as(
    xla.ReverseOp,
    MovementOp,
    assembly_format=(
        "$operand `,` `dims` `=` custom<Integers>($dimensions) attr-dict `:` "
        "custom<SameType>(type(operands), type(results))"
    ),
)
SliceOp = same_as(
    xla.SliceOp,
    MovementOp,
    assembly_format=f"$operand custom<Ranges>($start_indices, $limit_indices, $strides) {_END}",
)
PadOp = same_as(
    xla.PadOp,
    MovementOp,
    assembly_format=(
        "$operand `,` $padding_value `,` `low` `=` custom<Integers>($edge_padding_low) `,` "
        "`high` `=` custom<Integers>($edge_padding_high) `,` "
        f"`interior` `=` custom<Integers>($interior_padding) {_END}"
    ),
)
ConcatenateOp = same_as(
    xla.ConcatenateOp,
    MovementOp,
    assembly_format=f"custom<OperandsThenComma>($inputs) `dim` `=` $dimension {_END}",
)
DynamicSliceOp = same_as(
    xla.DynamicSliceOp,
    MovementOp,
    NAMES={"slice_sizes": "dynamic_slice_sizes"},
    assembly_format=(
        "$operand `,` custom<OperandsThenComma>($start_indices) "
        f"`sizes` `=` custom<Integers>($slice_sizes) {_END}"
    ),
)
DynamicUpdateSliceOp = same_as(xla.DynamicUpdateSliceOp, MovementOp)
