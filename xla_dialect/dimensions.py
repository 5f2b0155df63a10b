"""How the dimensions of an operation's operands and results relate.

An operation class declares it in `relate`, beside `infer`. The vocabulary is that of Shardy's
sharding rules: a dimension is a *factor*, or a product of factors from major to minor; dimensions
with a factor in common are walked through together. Reading them as loops, the factors are the
iteration space of a `linalg.generic`.

An operation with computations on arrays, such as a loop, declares its data-flow edges instead, as
Shardy calls them: what is true of a dimension of one value on an edge is true of that of all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property, lru_cache
from math import gcd, lcm
from typing import NamedTuple, TypeAlias

from xdsl.ir import Attribute, BlockArgument, Operation, OpResult, Region, SSAValue

from xla_dialect.shapes.size_arithmetic import Sizes
from xla_dialect.shapes.window import WindowDimension
from xla_dialect.sharding.sharding_rule import ShardingRule
from xla_dialect.xdsl.traversal import operands_of


class FactorType(Enum):
    """What it takes to compute an operation on parts along a factor; the words are Shardy's."""

    PASS_THROUGH = "pass_through"
    """Nothing: each part of the result follows from those parts of the operands."""
    REDUCTION = "reduction"
    """The results of the parts are combined by the operation's own computation."""
    NEED_REPLICATION = "need_replication"
    """All of it is needed at once."""
    PERMUTATION = "permutation"
    """Elements move within it, by a rule that does not depend on data: neighbours are needed."""


@dataclass(frozen=True)
class Slicing:
    """Element i of the result is element `start + i * stride` of the operand, below `limit`."""

    start: int
    limit: int
    stride: int


@dataclass(frozen=True)
class Padding:
    """Element i of the operand is element `low + i * (interior + 1)` of the result, if there."""

    low: int
    high: int
    interior: int


@dataclass(frozen=True)
class Concatenation:
    """Element i of operand k is element `offsets[k] + i` of the result."""

    offsets: Sizes


class Traversal(Enum):
    """How an operation goes along a factor, where no numbers are needed to say it."""

    REVERSED = "reversed"
    """Element i of the result is element `size - 1 - i` of the operand."""
    WINDOW = "window"
    """
    The elements of a window. In a dimension `(p, k)`, where p has a `WindowDimension` and k is
    this, indices are `p * stride + k * window_dilation - padding_low` in the dilated base.
    """
    INDEXED = "indexed"
    """At places that other operands say."""
    WHOLE = "whole"
    """Every element of the result depends on all elements of a line."""
    REGROUPED = "regrouped"
    """A part of a product that the other side divides in another way."""
    GENERATED = "generated"
    """The operation makes elements that differ along it."""
    PROCESSES = "processes"
    """Cut into blocks, or joined of them, by several processes."""


Along: TypeAlias = Slicing | Padding | Concatenation | WindowDimension | Traversal


@dataclass(frozen=True)
class Factor:
    """A dimension, or a part of one, of the iteration space of an operation."""

    size: int
    """
    The number of indices; dynamic ones count with their bound. Where operands and results differ:
    of the operand for slices and pads, of the result for windows and concatenations.
    """
    type: FactorType = FactorType.PASS_THROUGH
    along: Along | None = None
    """None: element i of one side belongs to element i of the other, for all i alike."""
    same_size: int | None = None
    """Another factor that always has the size of this one: the rows and columns of a square."""
    neutral: int | None = None
    """
    Of a reduction: what changes nothing in the place of elements of the operands, all of which have
    it then. None where that depends on a computation, or is not known.
    """
    blocked: bool = False
    """Whether a sharding along it is not carried on to the other side."""

    @property
    def is_parallel(self) -> bool:
        """Whether the operation does the same at each index, and nothing between indices."""
        return self.type is FactorType.PASS_THROUGH and self.along is None


RESULT = -1
"""Result 0, where a number says an operand."""


@dataclass(frozen=True)
class Numbering:
    """What a property, or a list of operands, of an operation says about dimensions."""

    listed: int | None = None
    """The array with one entry for each dimension: the number of an operand, or RESULT."""
    numbers: int | None = None
    """The array whose dimensions the entries are."""


Dimension: TypeAlias = tuple[int, ...]
"""The factors of a dimension, most major first; none where nothing is related to it."""
Place: TypeAlias = tuple[int, int]
"""The number of an operand or result, and a dimension of it."""


@dataclass(frozen=True)
class DimensionRelations:
    """The factors of an operation, and for each operand and result those of its dimensions."""

    factors: tuple[Factor, ...]
    operands: tuple[tuple[Dimension, ...], ...]
    results: tuple[tuple[Dimension, ...], ...]
    ordered: Dimension = ()
    """Factors that have to be walked through in row-major order of this list: strict folds."""
    static: Mapping[Place, str] = field(default_factory=dict[Place, str], hash=False)
    """Dimensions of operands that cannot be dynamic, and why."""
    own_sizes: tuple[int, ...] = ()
    """
    Operands whose dynamic sizes are their own, along factors that other operands have as well: what
    is missing of them reads as zeros, as in a gather, or is not written, as in a scatter.
    """

    @cached_property
    def _hash(self) -> int:
        return hash((self.factors, self.operands, self.results, self.ordered))

    def __hash__(self) -> int:
        return self._hash

    def operand_places(self, factor: int) -> tuple[Place, ...]:
        """Where a factor is in operands."""
        return self._places[0][factor]

    def result_places(self, factor: int) -> tuple[Place, ...]:
        """Where a factor is in results."""
        return self._places[1][factor]

    def of_type(self, wanted: FactorType) -> Iterator[int]:
        """The factors of a type."""
        return (number for number, f in enumerate(self.factors) if f.type is wanted)

    def sized_as(self, factor: int) -> int:
        """The factor that says how many elements there are along this one."""
        same = self.factors[factor].same_size
        return factor if same is None else same

    @cached_property
    def sized_together(self) -> tuple[tuple[Place, ...], ...]:
        """
        The dimensions of operands that may be dynamic, in groups of one size.

        At run time it is the smallest that one of them has.
        """
        groups: dict[object, list[Place]] = {}
        for i, dimensions in enumerate(self.operands):
            for d, dimension in enumerate(dimensions):
                if (i, d) in self.static:
                    continue
                key: object = i in self.own_sizes, tuple(map(self.sized_as, dimension))
                ways = [self.factors[factor].along for factor in dimension]
                if not ways or any(isinstance(along, Concatenation) for along in ways):
                    key = (i, d)
                groups.setdefault(key, []).append((i, d))
        return tuple(map(tuple, groups.values()))

    @cached_property
    def _places(self) -> tuple[list[tuple[Place, ...]], list[tuple[Place, ...]]]:
        found: list[list[list[Place]]] = []
        for arrays in (self.operands, self.results):
            found.append([[] for _ in self.factors])
            for number, dimensions in enumerate(arrays):
                for d, dimension in enumerate(dimensions):
                    for factor in dimension:
                        found[-1][factor].append((number, d))
        return [tuple(p) for p in found[0]], [tuple(p) for p in found[1]]

    def __str__(self) -> str:
        """The sharding rule, as Shardy prints it: `([i, k], [k, j])->([i, j]) {i=8, ..}`."""
        return str(self.sharding_rule)

    @cached_property
    def sharding_rule(self) -> ShardingRule:
        """The same, as far as it matters to who splits what."""
        return _sharding_rule(self)


def _sharding_rule(relations: DimensionRelations) -> ShardingRule:
    """
    What a sharding rule says of the relations.

    It has no windows: a dimension `(p, k)` of a base is p there, and the window's own dimension has
    nothing to do with others. What is related to nothing is a factor of size 1.
    """
    shown = [n for n, f in enumerate(relations.factors) if f.along is not Traversal.WINDOW]
    numbers = {factor: number for number, factor in enumerate(shown)}
    sizes = [relations.factors[n].size for n in shown]

    def dimension(factors: Dimension) -> Dimension:
        found = tuple(numbers[n] for n in factors if n in numbers)
        if not found:
            found = (len(sizes),)
            sizes.append(1)
        return found

    def of_type(wanted: FactorType) -> Dimension:
        return tuple(numbers[n] for n in relations.of_type(wanted) if n in numbers)

    operands = tuple(tuple(map(dimension, dimensions)) for dimensions in relations.operands)
    results = tuple(tuple(map(dimension, dimensions)) for dimensions in relations.results)
    return ShardingRule(
        tuple(sizes),
        operands,
        results,
        of_type(FactorType.REDUCTION),
        of_type(FactorType.NEED_REPLICATION),
        of_type(FactorType.PERMUTATION),
        tuple(number for factor, number in numbers.items() if relations.factors[factor].blocked),
    )


_NOWHERE: Mapping[int, int] = {}


@dataclass(eq=False)
class RelationsBuilder:
    """What `relate` of an operation fills, factor by factor: their numbers are their order."""

    operands: Sequence[Sizes]
    """The sizes of every operand in order, variadic ones too; none for what is no array."""
    results: Sequence[Sizes]
    ordered: Dimension = ()
    """As in `DimensionRelations`, as are the next two."""
    static: dict[Place, str] = field(default_factory=dict[Place, str])
    own_sizes: tuple[int, ...] = ()
    factors: list[Factor] = field(default_factory=list[Factor])
    _places: tuple[list[list[Dimension]], list[list[Dimension]]] = field(init=False)

    def __post_init__(self) -> None:
        self._places = (
            [[() for _ in sizes] for sizes in self.operands],
            [[() for _ in sizes] for sizes in self.results],
        )

    def add(
        self,
        factor: Factor | int,
        operands: Mapping[int, int],
        results: Mapping[int, int] = _NOWHERE,
    ) -> int:
        """
        Adds a factor, or one of this size that passes through; returns its number.

        `operands`, `results`: the dimensions that it is in, by the number of the operand or result;
        it is more minor than what they have already.
        """
        number = len(self.factors)
        self.factors.append(Factor(factor) if isinstance(factor, int) else factor)
        for arrays, places in zip(self._places, (operands, results), strict=True):
            for array, d in places.items():
                arrays[array][d] = (*arrays[array][d], number)
        return number

    def add_each(
        self,
        factors: Iterable[Factor | int],
        operands: Sequence[int] = (0,),
        results: Sequence[int] = (0,),
    ) -> None:
        """Adds the factors of arrays whose dimensions follow each other: one for each."""
        for d, factor in enumerate(factors):
            self.add(factor, dict.fromkeys(operands, d), dict.fromkeys(results, d))

    def add_pairs(self, first: int = 0) -> None:
        """Each result, dimension by dimension, with an operand, counted from the first."""
        for i, sizes in enumerate(self.results):
            self.add_each(sizes, (first + i,), (i,))

    def add_generated(self, result: int = 0) -> None:
        """A result that the operation makes: no dimension follows an operand."""
        for d, size in enumerate(self.results[result]):
            self.add(Factor(size, along=Traversal.GENERATED), {}, {result: d})

    def add_mixed(self) -> None:
        """Operand 0 and result 0, of which no dimension is known to follow another."""
        for d, size in enumerate(self.operands[0]):
            self.add(Factor(size, along=Traversal.REGROUPED), {0: d})
        for d, size in enumerate(self.results[0]):
            self.add(Factor(size, along=Traversal.REGROUPED), {}, {0: d})

    def add_regrouping(self) -> None:
        """
        The sizes of operand 0, taken apart and put together to those of result 0, in one order.

        Where dimensions begin inside of each other, what they have in common is a factor of both;
        what is between is mixed.
        """
        if 0 in self.operands[0]:
            self.add_mixed()
            return
        for size, mine, theirs in regroupings(self.operands[0], self.results[0]):
            along = None if size == 1 or None not in (mine, theirs) else Traversal.REGROUPED
            self.add(
                Factor(size, along=along),
                {} if mine is None else {0: mine},
                {} if theirs is None else {0: theirs},
            )

    def keep_static(self, reason: str) -> None:
        """No dimension of an operand can be dynamic."""
        for i, sizes in enumerate(self.operands):
            self.static.update(((i, d), reason) for d in range(len(sizes)))

    def build(self) -> DimensionRelations:
        """The relations."""
        operands, results = (tuple(map(tuple, arrays)) for arrays in self._places)
        return DimensionRelations(
            tuple(self.factors), operands, results, self.ordered, self.static, self.own_sizes
        )


def pointwise(relations: RelationsBuilder) -> None:
    """`relate` of elementwise operations: operands of the results' rank, all others are scalars."""
    rank = len(relations.results[0])
    operands = [i for i, sizes in enumerate(relations.operands) if len(sizes) == rank]
    relations.add_each(relations.results[0], operands, range(len(relations.results)))


@lru_cache(1024)
def regroupings(before: Sizes, after: Sizes) -> tuple[tuple[int, int | None, int | None], ...]:
    """
    The factors between which a reshape keeps the order: size, dimension before, dimension after.

    One of the dimensions is None where a factor is on one side only: of size 1, or mixed with
    others. Both have as many elements, more than 0.
    """
    found: list[tuple[int, int | None, int | None]] = []
    sides = (_Side(before), _Side(after))
    mine, theirs = sides
    while True:
        aligned = mine.taken == theirs.taken
        if aligned:
            for side in sides:
                while side.rest == 1 and side.dimension < len(side.sizes):
                    if side.sizes[side.dimension] == 1:
                        found.append(_one_sided(1, side, sides))
                    side.advance()
            if mine.dimension == len(before):
                return tuple(found)
            common = gcd(mine.rest, theirs.rest)
            if common > 1:
                found.append((common, mine.dimension, theirs.dimension))
                for side in sides:
                    side.take(common)
                continue
        side, other = (mine, theirs) if mine.taken <= theirs.taken else (theirs, mine)
        while side.rest == 1:
            if side.sizes[side.dimension] == 1:
                found.append(_one_sided(1, side, sides))
            side.advance()
        part = gcd(side.rest, lcm(side.taken, other.taken) // side.taken)
        part = side.rest if part == 1 else part
        found.append(_one_sided(part, side, sides))
        side.take(part)


@dataclass(eq=False)
class _Side:
    """How far one side of a reshape has been walked through."""

    sizes: Sizes
    dimension: int = 0
    taken: int = 1
    """The product of the factors found so far."""
    rest: int = field(init=False)
    """What is left of the size of the dimension."""

    def __post_init__(self) -> None:
        self.rest = self.sizes[0] if self.sizes else 1

    def take(self, factor: int) -> None:
        self.taken *= factor
        self.rest //= factor

    def advance(self) -> None:
        self.dimension += 1
        self.rest = self.sizes[self.dimension] if self.dimension < len(self.sizes) else 1


def _one_sided(
    size: int, side: _Side, sides: tuple[_Side, _Side]
) -> tuple[int, int | None, int | None]:
    mine, theirs = sides
    return (
        size,
        mine.dimension if side is mine else None,
        theirs.dimension if side is theirs else None,
    )


class OpOperand(NamedTuple):
    """An operand by its number: the place, not the value, as in MLIR."""

    operation: Operation
    number: int

    @property
    def value(self) -> SSAValue:
        """What it is now."""
        return operands_of(self.operation)[self.number]


class DataFlowEdge(NamedTuple):
    """Values of one shape: wherever the computations begin or end, each target is a source."""

    sources: Sequence[OpOperand]
    """Operands of the operation, and of the terminators of its computations."""
    parameters: Sequence[BlockArgument] = ()
    """Targets that are parameters of computations."""
    result: OpResult | None = None
    """The target that is a result of the operation."""

    @property
    def targets(self) -> Sequence[SSAValue]:
        """Parameters and the result."""
        return self.parameters if self.result is None else (*self.parameters, self.result)

    @property
    def types(self) -> Iterator[Attribute]:
        """The types of all sources and targets."""
        yield from (source.value.type for source in self.sources)
        yield from (target.type for target in self.targets)


def terminator(region: Region) -> Operation:
    """What ends a computation: its operands are the results."""
    last = region.block.last_op
    assert last is not None
    return last
