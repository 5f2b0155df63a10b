"""Groups of devices that the axes of a mesh say: `#stablehlo.replica_group_mesh_axes<...>`.

    #stablehlo.replica_group_mesh_axes<
        mesh = #stablehlo.mesh<axes=[<name = "a", size = 2>, <name = "b", size = 4>]>,
        axes = [#stablehlo.axis_ref<name = "b", sub_axis_info = (1)2>]>

The mesh may also be a name, `@mesh`, of the module. A group varies in the given axes only, as
`xla_dialect.devices.replica_groups.MeshGroups` has it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from xdsl.ir import Attribute
from xdsl.irdl import irdl_attr_definition
from xdsl.printer import Printer

from xla_dialect.devices.replica_groups import MeshGroups
from xla_dialect.sharding.attributes import TokensAttribute
from xla_dialect.sharding.mesh import AxisReference, Mesh
from xla_dialect.spelling import Tokens, symbol_text


@irdl_attr_definition
class MeshAxis(TokensAttribute[tuple[str, int]]):
    """`#stablehlo.mesh_axis<name = "a", size = 2>`"""

    name = "stablehlo.mesh_axis"

    @classmethod
    def parse(cls, tokens: Tokens) -> tuple[str, int]:
        """Reads `<name = "a", size = 2>`."""
        found = tokens.fields({"name": tokens.quoted, "size": tokens.number})
        return found["name"], found["size"]

    def print_parameter(self, printer: Printer) -> None:
        """Prints what `parse_parameter` parses."""
        printer.print_string('<name = "{}", size = {}>'.format(*self.data))


@irdl_attr_definition
class AxisRef(TokensAttribute[AxisReference]):
    """`#stablehlo.axis_ref<name = "a", sub_axis_info = (1)2>`, or the whole axis."""

    name = "stablehlo.axis_ref"

    @classmethod
    def parse(cls, tokens: Tokens) -> AxisReference:
        """Reads `<name = "a", sub_axis_info = (1)2>`."""

        def part() -> tuple[int, int]:
            tokens.expect("(")
            before = tokens.number()
            tokens.expect(")")
            return before, tokens.number()

        found = tokens.fields({"name": tokens.quoted, "sub_axis_info": part}, ("sub_axis_info",))
        return AxisReference(found["name"], *found.get("sub_axis_info", ()))

    def print_parameter(self, printer: Printer) -> None:
        """Prints what `parse_parameter` parses."""
        axis = self.data
        part = "" if axis.size is None else f", sub_axis_info = ({axis.pre_size}){axis.size}"
        printer.print_string(f'<name = "{axis.name}"{part}>')


def mesh_of(groups: MeshGroups) -> Mesh:
    """The mesh of groups whose `fault` is None."""
    if groups.iota is None:
        return Mesh(groups.axes, groups.device_ids)
    everywhere = tuple(AxisReference(name) for name, _ in groups.axes)
    (ids,) = replace(groups, chosen=everywhere).expand()
    return Mesh(groups.axes, ids)


@irdl_attr_definition
class DeviceMesh(TokensAttribute[Mesh]):
    """`#stablehlo.mesh<axes=[<name = "a", size = 2>], device_ids=dense<[1, 0]> : tensor<2xi64>>`"""

    name = "stablehlo.mesh"

    @classmethod
    def parse(cls, tokens: Tokens) -> Mesh:
        """Reads `<axes=[...], device_ids=dense<...> : tensor<2xi64>>`."""

        def axes() -> tuple[tuple[str, int], ...]:
            return tokens.contents(MeshAxis.name, MeshAxis.parse)

        def ids() -> tuple[int, ...]:
            tokens.expect("dense", "<")
            found = tokens.numbers("[", "]") if tokens.at("[") else (tokens.number(),)
            tokens.expect(">", ":", "tensor", "<", str(len(found)), "xi64", ">")
            return found

        found = tokens.fields({"axes": axes, "device_ids": ids}, ("device_ids",))
        return Mesh(found["axes"], found.get("device_ids", ()))

    def print_parameter(self, printer: Printer) -> None:
        """Prints what `parse_parameter` parses."""
        axes = ", ".join('<name = "{}", size = {}>'.format(*axis) for axis in self.data.axes)
        listed = list(self.data.device_ids)
        numbers = listed if len(listed) > 1 else sum(listed)
        ids = f", device_ids=dense<{numbers}> : tensor<{len(listed)}xi64>" if listed else ""
        printer.print_string(f"<axes=[{axes}]{ids}>")


@dataclass(frozen=True)
class Chosen:
    """A mesh, or its name in the module, and the axes that groups vary in."""

    mesh: Mesh | str
    axes: tuple[AxisReference, ...]


@irdl_attr_definition
class MeshAxes(TokensAttribute[Chosen]):
    """`#stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<...>]>`"""

    name = "stablehlo.replica_group_mesh_axes"

    @classmethod
    def parse(cls, tokens: Tokens) -> Chosen:
        """Reads `<mesh = @mesh, axes = [...]>`."""

        def mesh() -> Mesh | str:
            return tokens.symbol() if tokens.at("@") else DeviceMesh.parse_element(tokens)

        def axes() -> tuple[AxisReference, ...]:
            return tokens.contents(AxisRef.name, AxisRef.parse)

        return Chosen(**tokens.fields({"mesh": mesh, "axes": axes}))

    def print_parameter(self, printer: Printer) -> None:
        """Prints what `parse_parameter` parses."""
        mesh = self.data.mesh
        shown = symbol_text(mesh) if isinstance(mesh, str) else str(DeviceMesh(mesh))
        axes = ", ".join(str(AxisRef(axis)) for axis in self.data.axes)
        printer.print_string(f"<mesh = {shown}, axes = [{axes}]>")


ATTRIBUTES: tuple[type[Attribute], ...] = (MeshAxis, AxisRef, DeviceMesh, MeshAxes)
"""What the `stablehlo` dialect registers of this."""
