"""The dimensions of `dot`, `ragged_dot` and `scaled_dot`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from xla_dialect.dimensions import Factor, FactorType, RelationsBuilder, Traversal
from xla_dialect.op import Ints
from xla_dialect.rules.constraints import require_dimensions
from xla_dialect.shapes import size_arithmetic as shapes
from xla_dialect.shapes.dynamic_size import compatible_sizes, united
from xla_dialect.violations import require


@dataclass(frozen=True)
class DotDimensions:
    """Which dimensions of both operands of a dot are batch dimensions, and which are contracted."""

    lhs_batch: Ints
    lhs_contracting: Ints
    rhs_batch: Ints
    rhs_contracting: Ints

    def require(self, sizes: Ints, others: Ints) -> None:
        """Raises Violation (C2) to (C4) if operands of these sizes have not these dimensions."""
        for name, dims, rank in (
            ("lhs dimensions", (*self.lhs_batch, *self.lhs_contracting), len(sizes)),
            ("rhs dimensions", (*self.rhs_batch, *self.rhs_contracting), len(others)),
        ):
            require_dimensions(dims, rank, name, "C4")
        for label, kind, mine, theirs in (
            ("C2", "contracting", self.lhs_contracting, self.rhs_contracting),
            ("C3", "batch", self.lhs_batch, self.rhs_batch),
        ):
            found = [sizes[d] for d in mine], [others[d] for d in theirs]
            require(compatible_sizes(*found), label, "{} sizes are {} and {}", kind, *found)

    def joined(self, sizes: Ints, others: Ints) -> Ints:
        """The sizes of lhs, whose batch dimensions are dynamic where those of rhs are."""
        found = list(sizes)
        for mine, theirs in zip(self.lhs_batch, self.rhs_batch, strict=True):
            (found[mine],) = united([found[mine]], [others[theirs]])
        return tuple(found)

    def pairs(self, lhs_rank: int, rhs_rank: int) -> Iterator[tuple[Mapping[int, int], bool]]:
        """
        The dimensions of the dot: batch, free lhs, free rhs, contracting ones.

        Each as a dimension of lhs (0), of rhs (1) or of both, and whether the result has it.
        """
        for mine, theirs in zip(self.lhs_batch, self.rhs_batch, strict=True):
            yield {0: mine, 1: theirs}, True
        for d in shapes.without(range(lhs_rank), (*self.lhs_batch, *self.lhs_contracting)):
            yield {0: d}, True
        for d in shapes.without(range(rhs_rank), (*self.rhs_batch, *self.rhs_contracting)):
            yield {1: d}, True
        for mine, theirs in zip(self.lhs_contracting, self.rhs_contracting, strict=True):
            yield {0: mine, 1: theirs}, False

    def relate(self, relations: RelationsBuilder) -> None:
        """Relates the dimensions of a dot."""
        place = 0
        for operands, is_kept in self.pairs(*map(len, relations.operands)):
            ((operand, d), *_) = operands.items()
            size = relations.operands[operand][d]
            if is_kept:
                relations.add(size, operands, {0: place})
                place += 1
            else:
                relations.add(Factor(size, FactorType.REDUCTION, neutral=0), operands)

    def relate_ragged(self, relations: RelationsBuilder, ragged: int, groups: Ints) -> None:
        """Relates the dimensions of a ragged dot: operand 2 decides the indices of groups."""
        lhs, rhs, group_sizes = relations.operands
        prefix = ragged_prefix(len(lhs), self.lhs_batch, self.lhs_contracting, ragged)
        rows = dict(zip(prefix, range(len(group_sizes) - 1), strict=False))
        relations.keep_static("groups and dynamic sizes do not go together")
        place = in_front = int(ragged in self.lhs_contracting)
        for operands, is_kept in self.pairs(len(lhs), len(rhs)):
            ((operand, d), *_) = operands.items()
            if operand == 1 and d in groups:
                continue
            factor = Factor(
                relations.operands[operand][d],
                FactorType.PASS_THROUGH if is_kept else FactorType.REDUCTION,
                Traversal.INDEXED if operands.get(0) == ragged else None,
            )
            of_groups = {2: rows[d]} if operand == 0 and d in rows else {}
            relations.add(factor, {**operands, **of_groups}, {0: place} if is_kept else {})
            place += is_kept
        of_rhs = {1: groups[0]} if groups else {}
        group = Factor(group_sizes[-1], FactorType.NEED_REPLICATION, Traversal.INDEXED)
        relations.add(group, {**of_rhs, 2: len(group_sizes) - 1}, {0: 0} if in_front else {})

    def relate_scaled(self, relations: RelationsBuilder) -> None:
        """Relates the dimensions of a scaled dot: one with a scale is split into blocks."""
        scales = relations.operands[2:]
        relations.keep_static("blocks and dynamic sizes do not go together")
        place = 0
        for operands, is_kept in self.pairs(*map(len, relations.operands[:2])):
            ((operand, d), *_) = operands.items()
            size = relations.operands[operand][d]
            blocks = {2 + i: scales[i][d] for i, d in operands.items() if scales[i]}
            counts = [1, *sorted({*blocks.values(), size} - {1})]
            along = None
            if size == 1:
                counts = [1, 1]
            elif 0 in counts or any(n % m for m, n in pairwise(counts)):
                # Neither division refines the other, such as 2 and 3 blocks of 6 elements.
                along, counts = Traversal.REGROUPED, [1, size]
            for taken, count in pairwise(counts):
                within = {i: operands[i - 2] for i, n in blocks.items() if n >= count and not along}
                factor = Factor(
                    count // taken,
                    FactorType.PASS_THROUGH if is_kept else FactorType.REDUCTION,
                    along,
                )
                relations.add(factor, {**operands, **within}, {0: place} if is_kept else {})
            place += is_kept


def ragged_prefix(rank: int, batch: Ints, contracting: Ints, ragged: int) -> Ints:
    """
    The dimensions of lhs that may have group sizes of their own.

    Those before the ragged one among the batch dimensions; or all batch dimensions and those before
    the ragged one among the contracting or the free dimensions.
    """
    if ragged in batch:
        return batch[: batch.index(ragged)]
    free = shapes.without(range(rank), (*batch, *contracting))
    own = contracting if ragged in contracting else free
    return (*batch, *own[: own.index(ragged)])
