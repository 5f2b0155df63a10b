"""
The mesh of a program in the parts that no sharding cuts further: its *atoms*.

An axis of size 8 falls apart into three atoms of 2, from major to minor, whichever sub-axes a
program names; so sharding, resharding and dividing axes among factors are matters of lists of
numbers. A device's place in the mesh is one coordinate for each atom.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from itertools import pairwise
from math import prod
from typing import TypeAlias, cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp, TensorType, TupleType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, OpResult, SSAValue

from lowerings.ir.functions import defined_functions
from xla_dialect.analysis.manual_borders import all_shardings
from xla_dialect.devices.replica_groups import MeshGroups
from xla_dialect.diagnostics import XlaError
from xla_dialect.op import XlaOp
from xla_dialect.shapes.size_arithmetic import ceil_div
from xla_dialect.sharding.array_sharding import Sharding
from xla_dialect.sharding.attributes import (
    meshes_of,
    parameter_shardings,
    result_shardings,
)
from xla_dialect.sharding.mesh import AxisReference, Mesh, in_mesh_order, merged_axes
from xla_dialect.types import Array
from xla_dialect.xdsl.traversal import operations_in

Atoms: TypeAlias = tuple[int, ...]


@dataclass(frozen=True)
class Spread:
    """How an array is spread over atoms."""

    dimensions: tuple[Atoms, ...]
    unreduced: frozenset[int] = frozenset()
    """Atoms along which devices have terms of the array, whose fold it is."""

    def with_dimension(self, d: int, atoms: Atoms) -> Spread:
        """The same with other atoms of one dimension."""
        dimensions = (*self.dimensions[:d], atoms, *self.dimensions[d + 1 :])
        return replace(self, dimensions=dimensions)

    def blocks(self, sizes: Sequence[int], mesh: MeshAtoms) -> tuple[int, ...]:
        """The sizes of a device's block of an array, padding included."""
        parts = map(mesh.parts, self.dimensions)
        return tuple(ceil_div(n, count) for n, count in zip(sizes, parts, strict=True))

    @property
    def used(self) -> frozenset[int]:
        """The atoms that something depends on."""
        return self.unreduced.union(*self.dimensions)


@dataclass(frozen=True)
class MeshAtoms:
    """A mesh, and the atoms of its axes in row-major order."""

    name: str | Mesh
    """How shardings name the mesh."""
    mesh: Mesh
    atoms: tuple[AxisReference, ...]

    @staticmethod
    def of(name: str | Mesh, mesh: Mesh, shardings: Iterable[Sharding] = ()) -> MeshAtoms:
        """
        The atoms in which all these shardings can be said.

        Raises XlaError where sub-axes of one axis do not divide each other, such as (1)2 and (1)3.
        """
        cuts = {axis: {1, size} for axis, size in mesh.axes}
        for sharding in shardings:
            for axis in sharding.used_axes:
                cuts[axis.name] |= {axis.pre_size, axis.end_in(mesh.sizes)}
        atoms: list[AxisReference] = []
        for axis, size in mesh.axes:
            for low, high in pairwise(sorted(cuts[axis])):
                if high % low:
                    raise XlaError(
                        f"axis {axis!r} of size {size} is cut after {low} and after {high}: "
                        "sub-axes that do not divide each other cannot be partitioned"
                    )
                for part in _primes(high // low):
                    whole = part == size
                    atoms.append(AxisReference(axis) if whole else AxisReference(axis, low, part))
                    low *= part
        return MeshAtoms(name, mesh, tuple(atoms))

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """The size of each atom."""
        return tuple(atom.size_in(self.mesh.sizes) for atom in self.atoms)

    def parts(self, atoms: Iterable[int]) -> int:
        """The number of blocks that atoms make."""
        return prod(self.sizes[atom] for atom in atoms)

    def of_axes(self, axes: Iterable[AxisReference]) -> Atoms:
        """The atoms of axes and sub-axes, in order."""
        sizes = self.mesh.sizes
        return tuple(
            number
            for axis in axes
            for number, atom in enumerate(self.atoms)
            if axis.contains(atom, sizes)
        )

    def axes_of(self, atoms: Iterable[int]) -> tuple[AxisReference, ...]:
        """The axes and sub-axes that atoms make."""
        return merged_axes((self.atoms[atom] for atom in atoms), self.mesh.sizes)

    @cached_property
    def spread(self) -> Callable[[Sharding | None, int], Spread]:
        """What a sharding says of an array of this rank; replicated where it says nothing."""
        return cache(self._spread)

    def spread_of(self, sharding: Sharding | None, value: SSAValue) -> Spread:
        """What a sharding says of a value: nothing of one whose sizes are dynamic."""
        return self.spread(sharding, len(static_sizes(value.type) or ()))

    def _spread(self, sharding: Sharding | None, rank: int) -> Spread:
        if sharding is None or sharding.rank != rank:
            return Spread(((),) * rank)
        dimensions = tuple(map(self.of_axes, sharding.axes))
        return Spread(dimensions, frozenset(self.of_axes(sharding.unreduced)))

    @cached_property
    def sharding(self) -> Callable[[Spread], Sharding]:
        """A spread as a closed sharding."""
        return cache(self._sharding)

    def _sharding(self, spread: Spread) -> Sharding:
        unreduced = in_mesh_order(map(self.atoms.__getitem__, spread.unreduced), self.mesh.sizes)
        axes = [self.axes_of(atoms) for atoms in spread.dimensions]
        found = Sharding.of_axes(self.name, axes)
        return Sharding(found.mesh, found.dimensions, unreduced=unreduced)

    def groups(self, atoms: Atoms) -> MeshGroups:
        """The groups of devices that differ along these atoms only, in their order."""
        return MeshGroups(self.mesh, self.axes_of(atoms))

    @cached_property
    def blocks(self) -> Callable[[Atoms], tuple[int, ...]]:
        """Which of the blocks that atoms make belongs to each device, by its id."""
        return cache(self._blocks)

    def _blocks(self, atoms: Atoms) -> tuple[int, ...]:
        axes = [self.atoms[atom] for atom in atoms]
        return tuple(self.mesh.coordinate(d, axes) for d in range(self.mesh.device_count))


def program_mesh(module: ModuleOp) -> MeshAtoms | None:
    """
    The mesh that the shardings of a program name; None where nothing is split.

    Raises XlaError for several meshes, and for one that is unknown.
    """
    # Most values share the objects that say how they are split.
    shardings = list({id(each): each for each in all_shardings(module)}.values())
    meshes = meshes_of(module)
    found: dict[Mesh, str | Mesh] = {}
    for sharding in shardings:
        mesh = sharding.mesh_in(meshes)
        if mesh is None:
            raise XlaError(f"there is no mesh @{sharding.mesh}")
        # A mesh without axes is one device, or JAX's word for none.
        if mesh.axes:
            found.setdefault(mesh, sharding.mesh)
    if len(found) > 1:
        names = " and ".join(str(mesh) for mesh in found)
        raise XlaError(f"a program is partitioned over one mesh, this one has {names}")
    for mesh, name in found.items():
        return MeshAtoms.of(name, mesh, (s for s in shardings if s.mesh_in(meshes) == mesh))
    return None


def functions_over_mesh(module: ModuleOp) -> Iterator[tuple[FuncOp, MeshAtoms]]:
    """The functions of a program that is split, with its mesh; raises XlaError for several ones."""
    mesh = program_mesh(module)
    if mesh is not None:
        for function in defined_functions(module):
            yield function, mesh


def _primes(size: int) -> list[int]:
    """The prime factors of a size, the smallest first."""
    found: list[int] = []
    factor = 2
    while size > 1:
        while size % factor == 0:
            found.append(factor)
            size //= factor
        factor = factor + 1 if factor * factor <= size else size
    return found


def whole(value: SSAValue) -> Spread:
    """Of a value that every device has all of."""
    return Spread(((),) * len(static_sizes(value.type) or ()))


@dataclass(eq=False)
class ValueShardings:
    """The spreads of the values of a function; whole where nothing is said."""

    mesh: MeshAtoms
    parameters: dict[SSAValue, Spread]
    """What is known of parameters, and has been found out of results."""

    @staticmethod
    def of(function: FuncOp, mesh: MeshAtoms) -> ValueShardings:
        """Parameters of computations have the shardings of their data-flow edges."""
        found = ValueShardings(mesh, {})
        arguments = function.body.block.args
        for argument, sharding in zip(arguments, parameter_shardings(function), strict=True):
            found.parameters[argument] = mesh.spread_of(sharding, argument)
        for op in operations_in(function):
            if isinstance(op, XlaOp) and op.forwards_values():
                for edge in op.data_flow_edges():
                    source = edge.result if edge.result is not None else edge.sources[0].value
                    for parameter in edge.parameters:
                        found.parameters[parameter] = found.spread(source)
        return found

    def spread(self, value: SSAValue) -> Spread:
        """How a value is spread."""
        found = self.parameters.get(value)
        if found is None:
            shardings = result_shardings(value.op) if isinstance(value, OpResult) else None
            sharding = None if shardings is None else shardings[cast(OpResult, value).index]
            found = self.parameters[value] = self.mesh.spread_of(sharding, value)
        return found


def static_sizes(type_: Attribute) -> tuple[int, ...] | None:
    """The sizes of an array, none for what is no array; None where some are dynamic."""
    if not isinstance(type_, TensorType):
        return None if isinstance(type_, TupleType) else ()
    sizes = cast(Array, type_).get_shape()
    return None if DYNAMIC_INDEX in sizes else sizes


def rank_of(type_: Attribute) -> int:
    """The rank of an array, 0 for what is none."""
    return len(type_.shape.data) if isinstance(type_, TensorType) else 0
