"""
An operation as one device computes it: on its parts of the operands.

Along most factors that is the operation itself with other sizes. What it takes where elements move
within a dimension is in the tables of `local_movement`, `local_windows` and `local_indexing`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, cast

from xdsl.dialects.builtin import DenseArrayBase, i64
from xdsl.ir import Attribute, SSAValue

from lowerings.partitioning.factor_atoms import Division, FactorAtoms, is_regular
from lowerings.partitioning.folds import fold_of, neutral_number
from lowerings.partitioning.local_blocks import BlockedDimension, moved_block
from lowerings.partitioning.local_builder import LocalBuilder, array_type, shape_of
from lowerings.partitioning.reshard_steps import Atoms
from xla_dialect.dimensions import FactorType
from xla_dialect.op import XlaOp, decode
from xla_dialect.shapes.size_arithmetic import ceil_div
from xla_dialect.sharding.attributes import SHARDING
from xla_dialect.types import Array, sizes_of

_OF_WHOLES = (SHARDING, "xla.operand_layout_constraints")
"""Attributes that say something of whole arrays."""


@dataclass(frozen=True)
class DividedOperation:
    """An operation whose factors are divided over a mesh."""

    op: XlaOp
    division: Division
    divided: FactorAtoms

    def local_sizes(self, array_: int, *, is_result: bool = False) -> tuple[int, ...]:
        """The sizes of the part of an operand or result."""
        division, relations = self.division, self.division.relations
        sizes = (division.result_sizes if is_result else division.operand_sizes)[array_]
        factors = (relations.results if is_result else relations.operands)[array_]
        spread = division.spread(factors, self.divided)
        counts = map(division.mesh.parts, spread.dimensions)
        return tuple(ceil_div(n, k) for n, k in zip(sizes, counts, strict=True))

    def factor_of(self, operand: int, d: int) -> int | None:
        """The factor along which a dimension of an operand is divided; None where it is whole."""
        dimension = self.division.relations.operands[operand][d]
        leading = self.division.leading(dimension, self.divided)
        divided = (f for f in leading if self.divided.get(f))
        return next(divided, None)

    def along(self, operand: int, d: int) -> object:
        """How the operation goes along the factor of a dimension that is divided, else None."""
        factor = self.factor_of(operand, d)
        return None if factor is None else self.division.relations.factors[factor].along

    def blocked(self, operand: int, d: int) -> BlockedDimension:
        """A dimension of an operand that one factor divides."""
        factor = self.factor_of(operand, d)
        atoms = () if factor is None else self.divided[factor]
        size = self.division.operand_sizes[operand][d]
        return BlockedDimension(d, size, atoms, self.division.mesh.parts(atoms))

    def integers(self, name: str) -> tuple[int, ...]:
        """A list property."""
        return cast("tuple[int, ...]", decode(self.op.properties.get(name)) or ())


@dataclass(frozen=True)
class RemotePart:
    """What devices need of an operand along a dimension, other than what they have."""

    operand: int
    d: int
    starts: Sequence[int]
    """For each block where in the whole array it is to begin."""
    length: int


@dataclass(frozen=True)
class LocalOperation(DividedOperation):
    """What is known where the part of an operation is built."""

    b: LocalBuilder
    operands: Sequence[SSAValue]
    """What this device has of the operands."""
    result_types: Sequence[Attribute]
    """The types of the parts of the results."""

    def moved(
        self, moves: Iterable[RemotePart], fills: Mapping[int, SSAValue] | None = None
    ) -> list[SSAValue]:
        """The operands after these moves; `fills`: what is outside of the array, by operand."""
        found = list(self.operands)
        for move in moves:
            found[move.operand] = moved_block(
                self.b,
                found[move.operand],
                self.blocked(move.operand, move.d),
                move.starts,
                move.length,
                (fills or {}).get(move.operand),
            )
        return found

    def again(
        self, operands: Sequence[SSAValue], properties: Mapping[str, Attribute] | None = None
    ) -> list[SSAValue]:
        """The operation itself on these operands; it takes the computations away from the other."""
        regions = [region.clone() for region in self.op.regions]
        attributes = {k: v for k, v in self.op.attributes.items() if k not in _OF_WHOLES}
        made = type(self.op).make(
            operands,
            {**self.op.properties, **(properties or {})},
            regions,
            self.result_types,
            attributes,
        )
        made.location = self.op.location
        for mine, old in zip(made.results, self.op.results, strict=True):
            mine.name_hint = old.name_hint
        return list(self.b.insert(made).results)


Build: TypeAlias = Callable[[LocalOperation], Sequence[SSAValue]]


@dataclass(frozen=True)
class LocalRule:
    """What the partitioner can do with an operation beyond the factors that are regular."""

    admits: Callable[[XlaOp, Division, int, Atoms], bool]
    """Whether the operation can be divided over atoms along a factor that is not regular."""
    build: Build
    moves: Callable[[DividedOperation], Iterable[RemotePart]] = lambda _: ()
    """What devices have to be sent for it."""


def integer_list(numbers: Sequence[int]) -> Attribute:
    """A list property."""
    return DenseArrayBase.from_list(i64, numbers)


def regular(local: LocalOperation) -> Sequence[SSAValue]:
    """The operation on parts; what is no element takes no part in what is folded."""
    return local.again(without_padding(local, local.operands))


def without_padding(local: LocalOperation, operands: Sequence[SSAValue]) -> list[SSAValue]:
    """Operands whose padding along folded factors is replaced by what changes nothing."""
    found = list(operands)
    relations = local.division.relations
    for factor in relations.of_type(FactorType.REDUCTION):
        atoms = local.divided.get(factor, ())
        size, parts = relations.factors[factor].size, local.division.mesh.parts(atoms)
        if not atoms or not is_regular(relations, factor) or size % parts == 0:
            continue
        block = ceil_div(size, parts)
        for i, d in relations.operand_places(factor):
            element_type = array_type(found[i]).element_type
            number = relations.factors[factor].neutral
            fold = fold_of(local.op)
            if number is None and fold is not None:
                neutral = neutral_number(fold, element_type)
                assert neutral is not None
                fill = local.b.constant(neutral)
            else:
                fill = local.b.scalar(number or 0, element_type)
            start = local.b.by_block(atoms, [q * block for q in range(parts)])
            found[i] = local.b.masked(found[i], d, start, size, fill)
    return found


def has_property_sizes(local: LocalOperation, operand: int, values: Sequence[int]) -> list[int]:
    """Sizes in a property, those of whole dimensions replaced by the sizes of parts."""
    whole = local.division.operand_sizes[operand]
    parts = shape_of(local.operands[operand])
    return [
        part if value == size else value
        for value, size, part in zip(values, whole, parts, strict=True)
    ]


def sizes_of_type(type_: Attribute) -> tuple[int, ...]:
    """The sizes of an array type."""
    return sizes_of(cast(Array, type_))
