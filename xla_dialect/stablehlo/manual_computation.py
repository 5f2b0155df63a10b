"""Computations of Shardy that see one device's part of their operands: JAX's `shard_map`.

Outside of `sdy.manual_computation` values are whole arrays. So a manual computation becomes what it
is in HLO: custom calls that go to the part that belongs to this partition, what is computed, and
custom calls that go back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from xdsl.dialects.builtin import DictionaryAttr, StringAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.parser import Parser

from xla_dialect.attributes import SpellingError
from xla_dialect.ops.custom_calls import GLOBAL_TO_LOCAL, LOCAL_TO_GLOBAL, CustomCallOp
from xla_dialect.sharding.array_sharding import Sharding, axis_names
from xla_dialect.sharding.axes import AxisReference
from xla_dialect.sharding.mesh import Mesh
from xla_dialect.stablehlo.control_flow import convert_return, parse_return
from xla_dialect.stablehlo.conversion import Conversion, Row, sizes_of
from xla_dialect.stablehlo.parser import StableHloParser
from xla_dialect.stablehlo.shardy_attributes import SdyShardingPerValue
from xla_dialect.stablehlo.source import SourceOp
from xla_dialect.stablehlo.syntax import parse_types, same_type
from xla_dialect.types import Array, array, as_array
from xla_dialect.xdsl.creation import create


def _lists_of_shardings(parser: Parser, keyword: str) -> Attribute:
    parser.parse_keyword(keyword)
    parser.parse_punctuation("=")
    return StringAttr(cast(StableHloParser, parser).parse_balanced_text())


def parse_manual_computation(parser: Parser, op_class: type[SourceOp]) -> SourceOp:
    """
    Parses

        (%0, %1) in_shardings=[...] out_shardings=[...] manual_axes={"x"} (%a: t, %b: u) {
          ...
        } : (types) -> types
    """
    operands = parser.parse_comma_separated_list(
        parser.Delimiter.PAREN, parser.parse_unresolved_operand
    )
    names = ("in_shardings", "out_shardings", "manual_axes")
    properties = {name: _lists_of_shardings(parser, name) for name in names}
    return _parse_body_and_types(parser, op_class, operands, properties)


def parse_named_computation(parser: Parser, op_class: type[SourceOp]) -> SourceOp:
    """Parses `sdy.named_computation<"f">(%0) (%a: t) { ... } : (types) -> types`."""
    reader = cast(StableHloParser, parser)
    properties: dict[str, Attribute] = {"name": StringAttr(reader.parse_balanced_text())}
    operands = parser.parse_comma_separated_list(
        parser.Delimiter.PAREN, parser.parse_unresolved_operand
    )
    properties["shardings"] = StringAttr(" ".join(reader.parse_keywords_with_text()))
    return _parse_body_and_types(parser, op_class, operands, properties)


def _parse_body_and_types(
    parser: Parser,
    op_class: type[SourceOp],
    operands: Sequence[Any],
    properties: Mapping[str, Attribute],
) -> SourceOp:
    arguments = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_argument)
    region = parser.parse_region(arguments)
    attributes = parser.parse_optional_attr_dict()
    parser.parse_punctuation(":")
    position = parser.pos
    types, results = parse_types(parser, same_type, len(operands))
    return create(
        op_class,
        operands=parser.resolve_operands(operands, types, position),
        result_types=results,
        properties=properties,
        attributes=attributes,
        regions=[region],
    )


class _Manual:
    """The conversion of one manual computation."""

    def __init__(self, op: SourceOp, conversion: Conversion):
        self.op = op
        self.conversion = conversion
        self.axes = _manual_axes(op)

    def shardings(self, name: str, count: int) -> Sequence[Sharding]:
        """Takes the shardings of operands or results."""
        value = self.op.take(name)
        try:
            match value:
                case SdyShardingPerValue():
                    found = value.data
                case StringAttr():
                    found = Sharding.read_list(value.data)
                case _:
                    self.op.fail(f"{name} is {value}, not a list of shardings")
        except SpellingError as error:
            self.op.fail(str(error))
        if len(found) != count:
            self.op.fail(f"{name} has {len(found)} entries for {count} values")
        return found

    def mesh(self, sharding: Sharding) -> Mesh:
        """The mesh of a sharding."""
        mesh = sharding.mesh_in(self.conversion.meshes)
        if mesh is None:
            self.op.fail(f"there is no mesh @{sharding.mesh}")
        return mesh

    def spread(self, sharding: Sharding, dimension: int) -> list[AxisReference]:
        """The manual axes that a dimension is spread over."""
        axes = sharding.axes[dimension] if dimension < sharding.rank else ()
        return [axis for axis in axes if axis.name in self.axes]

    def part(self, value: SSAValue, sharding: Sharding, local: Attribute) -> SSAValue:
        """What belongs to this partition."""
        self.check(value.type, sharding, local)
        return self.call(GLOBAL_TO_LOCAL, "in_shardings", value, sharding, local)

    def whole(self, value: SSAValue, sharding: Sharding, declared: Attribute) -> SSAValue:
        """The array that the parts of all partitions make."""
        self.check(declared, sharding, value.type)
        return self.call(LOCAL_TO_GLOBAL, "out_shardings", value, sharding, declared)

    def call(
        self, target: str, name: str, value: SSAValue, sharding: Sharding, result: Attribute
    ) -> SSAValue:
        """The custom call that XLA has for this in HLO."""
        axes = ", ".join(f'"{axis}"' for axis in self.axes)
        entries = {
            f"xla.sdy.{name}": StringAttr(f"#sdy.sharding_per_value<[<{sharding}>]>"),
            "xla.sdy.manual_axes": StringAttr(f"#sdy<manual_axes{{{axes}}}>"),
        }
        (found,) = self.conversion.emit(
            CustomCallOp, [value], [result], {"custom_call_target": StringAttr(target)}
        )
        cast(Operation, found.owner).attributes["mhlo.frontend_attributes"] = DictionaryAttr(
            entries
        )
        return found

    def check(self, whole: Attribute, sharding: Sharding, local: Attribute) -> None:
        """The sizes of a part follow from those of the whole."""
        if as_array(whole) is None or as_array(local) is None:
            self.op.fail(f"takes and returns arrays, found {whole}")
        mesh, sizes = self.mesh(sharding), list(sizes_of(whole))
        fault = sharding.fault(mesh, len(sizes))
        if fault is not None:
            self.op.fail(f"sharding <{sharding}>: {fault}")
        for d in range(len(sizes)):
            axes = self.spread(sharding, d)
            count = mesh.size(axes)
            if sizes[d] % count:
                self.op.fail(f"size {sizes[d]} of dimension {d} for {count} devices")
            sizes[d] //= count
        expected = array(cast(Array, whole).element_type, sizes)
        if local != expected:
            self.op.fail(f"a part of {whole} is {local}, expected {expected}")


def _text(op: SourceOp, name: str) -> str:
    """Takes the text of an attribute, which the generic form has as an attribute of Shardy."""
    value = op.take(name)
    if value is None:
        op.fail(f"{name} is missing")
    return value.data if isinstance(value, StringAttr) else str(value)


def _manual_axes(op: SourceOp) -> list[str]:
    """Takes `{"x", "y"}`, in the generic form `#sdy<manual_axes{"x", "y"}>`."""
    try:
        return axis_names(_text(op, "manual_axes"))
    except SpellingError as error:
        op.fail(f"manual_axes: {error}")


def convert_manual_computation(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`sdy.manual_computation`: what it computes, between calls that cut and join."""
    manual = _Manual(op, conversion)
    block = op.regions[0].first_block
    if block is None or len(block.args) != len(op.operands):
        op.fail(f"its body takes other than {len(op.operands)} values")
    shardings = manual.shardings("in_shardings", len(op.operands))
    parts = [
        manual.part(value, sharding, conversion.type(argument.type, op))
        for value, sharding, argument in zip(
            conversion.operands(op), shardings, block.args, strict=True
        )
    ]
    returned = conversion.inline(op.regions[0], op, parts, "sdy.return")
    declared = conversion.result_types(op)
    if len(returned) != len(declared):
        op.fail(f"its body returns {len(returned)} values for {len(declared)} results")
    shardings = manual.shardings("out_shardings", len(declared))
    return [
        manual.whole(value, sharding, type_)
        for value, sharding, type_ in zip(returned, shardings, declared, strict=True)
    ]


def convert_named_computation(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`sdy.named_computation`: what it computes."""
    op.properties.clear()
    returned = conversion.inline(op.regions[0], op, conversion.operands(op), "sdy.return")
    if [value.type for value in returned] != conversion.result_types(op):
        op.fail("its body returns other types than declared")
    return returned


ROWS: Mapping[str, Row] = {
    "sdy.manual_computation": Row(
        parse_manual_computation, convert_manual_computation, results=None, regions=1
    ),
    "sdy.named_computation": Row(
        parse_named_computation, convert_named_computation, results=None, regions=1
    ),
    "sdy.return": Row(parse_return, convert_return, results=0),
}
