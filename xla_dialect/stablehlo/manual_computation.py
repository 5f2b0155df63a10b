"""Computations of Shardy that see one device's part of their operands: JAX's `shard_map`.

Outside of `sdy.manual_computation` values are whole arrays. So a manual computation becomes what it
is in HLO: custom calls that go to the part that belongs to this partition, what is computed, and
custom calls that go back. Rules: docs/specification/shardings.md.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, cast

from xdsl.dialects.builtin import DictionaryAttr, StringAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.parser import Parser

from xla_dialect.ops.custom_calls import GLOBAL_TO_LOCAL, LOCAL_TO_GLOBAL, CustomCallOp
from xla_dialect.sharding.array_sharding import Sharding
from xla_dialect.sharding.axes import AxisReference
from xla_dialect.stablehlo.control_flow import convert_return, parse_return
from xla_dialect.stablehlo.conversion import Conversion, Row, sizes_of
from xla_dialect.stablehlo.parser import StableHloParser
from xla_dialect.stablehlo.sharding import axes_named_by, check_sharding, parse_spelled
from xla_dialect.stablehlo.shardy_attributes import SdyManualAxes, SdyShardingPerValue
from xla_dialect.stablehlo.source import SourceError, SourceOp
from xla_dialect.stablehlo.syntax import parse_types, same_type
from xla_dialect.types import Array, TokenType, array, as_array
from xla_dialect.xdsl.creation import create
from xla_dialect.xdsl.directives import parse_arguments


def _parse_shardings(parser: Parser) -> Attribute:
    """Parses `=[<@mesh, [{"x"}]>, ...]`."""
    parser.parse_punctuation("=")
    return parse_spelled(parser, SdyShardingPerValue)


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
    properties: dict[str, Attribute] = {}
    for name in ("in_shardings", "out_shardings"):
        parser.parse_keyword(name)
        properties[name] = _parse_shardings(parser)
    parser.parse_keyword("manual_axes")
    parser.parse_punctuation("=")
    properties["manual_axes"] = parse_spelled(parser, SdyManualAxes)
    return _parse_body_and_types(parser, op_class, operands, properties)


def parse_named_computation(parser: Parser, op_class: type[SourceOp]) -> SourceOp:
    """Parses `sdy.named_computation<"f">(%0) (%a: t) { ... } : (types) -> types`."""
    reader = cast(StableHloParser, parser)
    properties: dict[str, Attribute] = {"name": StringAttr(reader.parse_balanced_text())}
    operands = parser.parse_comma_separated_list(
        parser.Delimiter.PAREN, parser.parse_unresolved_operand
    )
    for name in ("in_shardings", "out_shardings"):
        if parser.parse_optional_keyword(name) is not None:
            properties[name] = _parse_shardings(parser)
    return _parse_body_and_types(parser, op_class, operands, properties)


def _parse_body_and_types(
    parser: Parser,
    op_class: type[SourceOp],
    operands: Sequence[Any],
    properties: Mapping[str, Attribute],
) -> SourceOp:
    region = parser.parse_region(parse_arguments(parser))
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
        axes = op.take("manual_axes")
        if not isinstance(axes, SdyManualAxes):
            op.fail(f"manual_axes is {'missing' if axes is None else axes}")
        self.axes = axes.data
        check_free(op, self.axes)

    def check_mesh(self, shardings: Iterable[Sharding]) -> None:
        """All have one mesh, of which the manual axes are axes."""
        meshes = {sharding.mesh_in(self.conversion.meshes) for sharding in shardings}
        if len(meshes) > 1:
            found = " and ".join(sorted(f"<{mesh}>" for mesh in meshes))
            self.op.fail(f"(SH21) its shardings are over several meshes, {found}")
        for mesh in filter(None, meshes):
            for name in self.axes:
                fault = AxisReference(name).fault(mesh.sizes)
                if fault is not None:
                    self.op.fail(f"manual_axes: {fault}")

    def part(self, value: SSAValue, sharding: Sharding, local: Attribute) -> SSAValue:
        """What belongs to this partition; a token has no parts."""
        self.check(value.type, sharding, local)
        if isinstance(local, TokenType):
            return value
        return self.call(GLOBAL_TO_LOCAL, "in_shardings", value, sharding, local)

    def whole(self, value: SSAValue, sharding: Sharding, declared: Attribute) -> SSAValue:
        """The array that the parts of all partitions make."""
        self.check(declared, sharding, value.type)
        if isinstance(declared, TokenType):
            return value
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
        if isinstance(whole, TokenType) and local == whole:
            return
        if as_array(whole) is None:
            self.op.fail(f"takes and returns arrays and tokens, found {whole}")
        mesh, sizes = sharding.mesh_in(self.conversion.meshes), list(sizes_of(whole))
        assert mesh is not None
        if mesh.is_maximal:
            self.op.fail(f"sharding <{sharding}>: one device has no parts")
        for d, axes in enumerate(sharding.axes):
            names = [axis.name in self.axes for axis in axes]
            if names != sorted(names, reverse=True):
                self.op.fail(
                    f"(SH21) sharding <{sharding}>: dimension {d} is split over free axes "
                    "before manual ones"
                )
            count = mesh.size(axes[: sum(names)])
            if sizes[d] % count:
                self.op.fail(f"(SH20) size {sizes[d]} of dimension {d} for {count} devices")
            sizes[d] //= count
        expected = array(cast(Array, whole).element_type, sizes)
        if local != expected:
            self.op.fail(f"(SH20) a part of {whole} is {local}, expected {expected}")


def check_free(op: SourceOp, manual_axes: Collection[str]) -> None:
    """Nothing in the region of a manual computation names its axes."""
    for inner in op.regions[0].walk():
        axes = inner.properties.get("manual_axes")
        nested = axes.data if isinstance(axes, SdyManualAxes) else ()
        for name in (*nested, *axes_named_by(inner)):
            if name in manual_axes:
                raise SourceError(inner, f"(SH10) axis {name!r} is manual in {op.name} around it")


def _take_shardings(
    op: SourceOp, name: str, types: Sequence[Attribute], conversion: Conversion
) -> Sequence[Sharding]:
    """Takes the shardings of values of these types."""
    value = op.take(name)
    if not isinstance(value, SdyShardingPerValue):
        op.fail(f"{name} is {'missing' if value is None else value}")
    if len(value.data) != len(types):
        op.fail(f"(SH9) {name} has {len(value.data)} entries for {len(types)} values")
    for sharding, type_ in zip(value.data, types, strict=True):
        check_sharding(op, "sharding", sharding, type_, conversion)
    return value.data


def _types(values: Sequence[SSAValue]) -> list[Attribute]:
    return [value.type for value in values]


def convert_manual_computation(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`sdy.manual_computation`: what it computes, between calls that cut and join."""
    manual = _Manual(op, conversion)
    block = op.regions[0].first_block
    if block is None or len(block.args) != len(op.operands):
        op.fail(f"(SH20) its body takes other than {len(op.operands)} values")
    taken = _take_shardings(op, "in_shardings", _types(op.operands), conversion)
    given = _take_shardings(op, "out_shardings", _types(op.results), conversion)
    manual.check_mesh((*taken, *given))
    conversion.shardings.update(zip(op.results, given, strict=True))
    parts: list[SSAValue] = []
    for value, sharding, argument in zip(conversion.operands(op), taken, block.args, strict=True):
        parts.append(manual.part(value, sharding, conversion.type(argument.type, op)))
        free = ([a for a in axes if a.name not in manual.axes] for axes in sharding.axes)
        conversion.shardings[argument] = Sharding.of_axes(sharding.mesh, list(free))
    returned = conversion.inline(op.regions[0], op, parts, "sdy.return")
    declared = conversion.result_types(op)
    if len(returned) != len(declared):
        op.fail(f"(SH20) its body returns {len(returned)} values for {len(declared)} results")
    return [
        manual.whole(value, sharding, type_)
        for value, sharding, type_ in zip(returned, given, declared, strict=True)
    ]


def convert_named_computation(op: SourceOp, conversion: Conversion) -> Sequence[SSAValue]:
    """`sdy.named_computation`: what it computes."""
    block = op.regions[0].first_block
    inside = op.operands if block is None else block.args
    for name, values in (("in_shardings", inside), ("out_shardings", op.results)):
        if name in op.properties:
            said = _take_shardings(op, name, _types(values), conversion)
            conversion.shardings.update(zip(values, said, strict=True))
    op.properties.clear()
    returned = conversion.inline(op.regions[0], op, conversion.operands(op), "sdy.return")
    if _types(returned) != conversion.result_types(op):
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
