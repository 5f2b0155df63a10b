"""Groups of devices that the axes of a mesh say: `#stablehlo.replica_group_mesh_axes<...>`.

    #stablehlo.replica_group_mesh_axes<
        mesh = #stablehlo.mesh<axes=[<name = "a", size = 2>, <name = "b", size = 4>]>,
        axes = [#stablehlo.axis_ref<name = "b", sub_axis_info = (1)2>]>

The mesh may also be a name, `@mesh`, of the module. A group varies in the given axes only, as
`xla_dialect.devices.replica_groups.MeshGroups` has it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, StringAttr, TensorType, i64
from xdsl.ir import Attribute, Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from xla_dialect.devices.replica_groups import MeshGroups
from xla_dialect.sharding.axes import AxisReference
from xla_dialect.sharding.mesh import Mesh
from xla_dialect.stablehlo.attributes import parse_i64
from xla_dialect.stablehlo.source import integers_of

_Fields = Mapping[str, Callable[[AttrParser], Any]]
"""By the name of a field, what parses its value."""


def _parse_fields(parser: AttrParser, fields: _Fields, required: Sequence[str]) -> dict[str, Any]:
    """Parses `<name = value, ...>`, in any order."""
    start = parser.pos
    found: dict[str, Any] = {}

    def parse_field() -> None:
        position = parser.pos
        name = parser.parse_identifier()
        if name in found or name not in fields:
            parser.raise_error(f"field {name} is unknown, or given twice", position)
        parser.parse_punctuation("=")
        found[name] = fields[name](parser)

    parser.parse_comma_separated_list(parser.Delimiter.ANGLE, parse_field)
    for name in required:
        if name not in found:
            parser.raise_error(f"field {name} is missing", start)
    return found


def _parse_name(parser: AttrParser) -> str:
    return parser.parse_str_literal()


def _parse_part(parser: AttrParser) -> tuple[int, int]:
    """Parses `(1)2`: how much of the axis lies before, and the size."""
    parser.parse_punctuation("(")
    before = parse_i64(parser)
    parser.parse_punctuation(")")
    return before, parse_i64(parser)


@irdl_attr_definition
class MeshAxis(Data[tuple[str, int]]):
    """`#stablehlo.mesh_axis<name = "a", size = 2>`"""

    name = "stablehlo.mesh_axis"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[str, int]:
        """Parses what follows the name."""
        readers = {"name": _parse_name, "size": parse_i64}
        found = _parse_fields(parser, readers, ("name", "size"))
        return found["name"], found["size"]

    def print_parameter(self, printer: Printer) -> None:
        """Prints what `parse_parameter` parses."""
        name, size = self.data
        printer.print_string(f"<name = {StringAttr(name)}, size = {size}>")


@irdl_attr_definition
class AxisRef(Data[AxisReference]):
    """`#stablehlo.axis_ref<name = "a", sub_axis_info = (1)2>`, or the whole axis."""

    name = "stablehlo.axis_ref"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> AxisReference:
        """Parses what follows the name."""
        readers: _Fields = {"name": _parse_name, "sub_axis_info": _parse_part}
        found = _parse_fields(parser, readers, ("name",))
        return AxisReference(found["name"], *found.get("sub_axis_info", ()))

    def print_parameter(self, printer: Printer) -> None:
        """Prints what `parse_parameter` parses."""
        axis = self.data
        part = "" if axis.size is None else f", sub_axis_info = ({axis.pre_size}){axis.size}"
        printer.print_string(f"<name = {StringAttr(axis.name)}{part}>")


def mesh_of(groups: MeshGroups) -> Mesh:
    """The mesh of groups whose `fault` is None."""
    if groups.iota is None:
        return Mesh(groups.axes, groups.device_ids)
    everywhere = tuple(AxisReference(name) for name, _ in groups.axes)
    (ids,) = replace(groups, chosen=everywhere).expand()
    return Mesh(groups.axes, ids)


@irdl_attr_definition
class DeviceMesh(Data[Mesh]):
    """`#stablehlo.mesh<axes=[<name = "a", size = 2>], device_ids=dense<[1, 0]> : tensor<2xi64>>`"""

    name = "stablehlo.mesh"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Mesh:
        """Parses what follows the name; axes may have theirs before them."""

        def parse_axis() -> tuple[str, int]:
            position = parser.pos
            axis = parser.parse_optional_attribute()
            if axis is None:
                return MeshAxis.parse_parameter(parser)
            if not isinstance(axis, MeshAxis):
                parser.raise_error(f"expected an axis of a mesh, found {axis}", position)
            return axis.data

        def parse_axes(_: AttrParser) -> tuple[tuple[str, int], ...]:
            return tuple(parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parse_axis))

        def parse_ids(_: AttrParser) -> tuple[int, ...]:
            position = parser.pos
            ids = integers_of(parser.parse_attribute())
            if ids is None:
                parser.raise_error("expected dense<...> with the ids of devices", position)
            return ids

        found = _parse_fields(parser, {"axes": parse_axes, "device_ids": parse_ids}, ("axes",))
        return Mesh(found["axes"], found.get("device_ids", ()))

    def print_parameter(self, printer: Printer) -> None:
        """Prints what `parse_parameter` parses."""
        axes = ", ".join(
            str(MeshAxis(axis)).removeprefix(f"#{MeshAxis.name}") for axis in self.data.axes
        )
        ids = ""
        if self.data.device_ids:
            type_ = TensorType(i64, (len(self.data.device_ids),))
            ids = f", device_ids={DenseIntOrFPElementsAttr.from_list(type_, self.data.device_ids)}"
        printer.print_string(f"<axes=[{axes}]{ids}>")


@dataclass(frozen=True)
class Chosen:
    """A mesh, or its name in the module, and the axes that groups vary in."""

    mesh: Mesh | str
    axes: tuple[AxisReference, ...]


@irdl_attr_definition
class MeshAxes(Data[Chosen]):
    """`#stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<...>]>`"""

    name = "stablehlo.replica_group_mesh_axes"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Chosen:
        """Parses what follows the name."""

        def parse_mesh(_: AttrParser) -> Mesh | str:
            name = parser.parse_optional_symbol_name()
            if name is not None:
                return name.data
            position = parser.pos
            mesh = parser.parse_attribute()
            if not isinstance(mesh, DeviceMesh):
                parser.raise_error(f"expected a mesh or its name, found {mesh}", position)
            return mesh.data

        def parse_axis() -> AxisReference:
            position = parser.pos
            axis = parser.parse_attribute()
            if not isinstance(axis, AxisRef):
                parser.raise_error(f"expected #stablehlo.axis_ref<...>, found {axis}", position)
            return axis.data

        def parse_axes(_: AttrParser) -> tuple[AxisReference, ...]:
            return tuple(parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parse_axis))

        readers: _Fields = {"mesh": parse_mesh, "axes": parse_axes}
        found = _parse_fields(parser, readers, tuple(readers))
        return Chosen(found["mesh"], found["axes"])

    def print_parameter(self, printer: Printer) -> None:
        """Prints what `parse_parameter` parses."""
        mesh = self.data.mesh
        with printer.in_angle_brackets():
            printer.print_string("mesh = ")
            if isinstance(mesh, str):
                printer.print_symbol_name(mesh)
            else:
                printer.print_attribute(DeviceMesh(mesh))
            axes = ", ".join(str(AxisRef(axis)) for axis in self.data.axes)
            printer.print_string(f", axes = [{axes}]")


ATTRIBUTES: tuple[type[Attribute], ...] = (MeshAxis, AxisRef, DeviceMesh, MeshAxes)
"""What the `stablehlo` dialect registers of this."""
