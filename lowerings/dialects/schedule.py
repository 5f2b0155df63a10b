"""
The `schedule` dialect: the attribute with which a linalg operation carries its schedule.

A schedule says in which order, in which tiles, in which lanes and on how many threads an operation
runs. It is made by calls,

    tiled = Schedule.plain(3).tile(1, 128).tile(2, 256)
    copy = Schedule.over(2, 1).vectorize(1, 16).unroll(1, 2)
    inner = tiled.pack("rhs", copy).interchange(1, 0, 2)
    schedule = inner.vectorize(1, 16).unroll(1, 2).unroll(0, 6).parallel(1).fold_fills(0)

and printed, without entries that say nothing, as

    #schedule.nest<loops = [d1 by 128 parallel, d2 by 256,
                            pack rhs {loops = [d2, d1 by 32], vector = d1 x 16},
                            d1 by 32, d0 by 6, d2],
                   vector = d1 x 16>

It names the dimensions of the operation, `d0` and on, by their number, and nothing of what is
computed. Calls refuse what no schedule could say; which ones an operation admits,
`lowerings.loops.schedule_rules` says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Data, Dialect, Operation
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.str_enum import StrEnum


@dataclass(frozen=True)
class Loop:
    """
    One loop over a dimension, `tile` iterations of it in each of its own.

    A later loop over the same dimension runs inside of the tile. The tile of the last one is
    unrolled.
    """

    dimension: int
    tile: int = 1
    is_parallel: bool = False
    """Whether several threads may share its iterations."""


class Factor(StrEnum):
    """A factor of the products that a contraction adds up."""

    LHS = "lhs"
    RHS = "rhs"


@dataclass(frozen=True)
class Pack:
    """
    Copies what the loops inside read of one factor of a contraction into consecutive memory.

    The copy consists of panels as wide as the next tile of the vector dimension; a panel holds one
    summed term after the other.
    """

    factor: Factor
    copy: Schedule
    """How the copy runs: its loops, vectors and transposed blocks."""


Step: TypeAlias = "Loop | Pack"


TERMS_AT_ONCE = {"pairs": 2, "quads": 4}
"""How many terms of a dimension are multiplied at a time, by the entry that names it."""


@dataclass(frozen=True)
class Schedule:
    """
    How one linalg operation runs.

    >>> from lowerings.dialects.schedule import Schedule
    >>> [(each.dimension, each.tile) for each in Schedule.plain(2).tile(1, 16).steps]
    [(1, 16), (0, 1), (1, 1)]
    """

    steps: tuple[Step, ...]
    """
    From the outside in; one loop at least over each dimension that does not have exactly one
    iteration.
    """
    vector: int | None = None
    """The dimension that runs in the lanes of vectors."""
    lanes: int = 1
    """
    The tile of the vector dimension is a multiple of them. What a tile leaves over at the end of
    its dimension is done by a smaller tile, in vectors as short as that needs.
    """
    transposed: int | None = None
    """
    A dimension in tiles of `lanes`. Inputs that have unit stride along it, and not along the
    vector dimension, are read in square blocks along it and transposed in registers.
    """
    collapsed: tuple[tuple[int, ...], ...] = ()
    """Dimensions that run as one, from the outermost in; the last one stands for all of them."""
    paired: int | None = None
    """The summed dimension whose terms, of at most 16 bits, are multiplied several at a time."""
    at_once: int = 2
    """How many of its terms: two, or four of 8 bits."""
    odd: Schedule | None = None
    """How terms that are left over are added."""
    folded_fills: tuple[int, ...] = ()
    """The outputs that start from the constant that the operation before fills them with."""

    @staticmethod
    def plain(rank: int) -> Schedule:
        """A loop over each of `rank` dimensions, in their order."""
        return Schedule.over(*range(rank))

    @staticmethod
    def over(*dimensions: int) -> Schedule:
        """Loops over some dimensions, from the outside in: what a copy by `pack` needs."""
        return Schedule(tuple(map(Loop, dimensions)))

    def tile(self, dimension: int, size: int) -> Schedule:
        """
        Adds a loop over tiles of `size` iterations, inside of the tiles and copies so far and
        outside of the loops over single iterations.

        Raises ScheduleError (SR1) for a dimension without a loop.
        """
        self._loop(dimension)
        around = outer_steps(self.steps)
        steps = (*self.steps[:around], Loop(dimension, size), *self.steps[around:])
        return replace(self, steps=steps)

    def interchange(self, *dimensions: int) -> Schedule:
        """
        Orders the loops inside of all tiles and copies, from the outside in; or all loops inside of
        copies, where of several over one dimension the outer ones stay outside.

        Raises ScheduleError (SR1) unless these are the dimensions of those loops.
        """
        inside = self.steps[outer_steps(self.steps) :]
        copies = [number for number, step in enumerate(self.steps) if isinstance(step, Pack)]
        for steps in (inside, self.steps[max(copies, default=-1) + 1 :]):
            loops = [step for step in steps if isinstance(step, Loop)]
            if sorted(dimensions) == sorted(loop.dimension for loop in loops):
                own = {d: iter([each for each in loops if each.dimension == d]) for d in dimensions}
                ordered = [next(own[dimension]) for dimension in dimensions]
                around = len(self.steps) - len(steps)
                return replace(self, steps=(*self.steps[:around], *ordered))
        names = ", ".join(sorted(f"d{step.dimension}" for step in inside if isinstance(step, Loop)))
        raise ScheduleError(f"(SR1) the loops to be interchanged are over {names}")

    def unroll(self, dimension: int, factor: int) -> Schedule:
        """
        Unrolls the innermost loop over a dimension, `factor` times as far as it is, inside of all
        other loops. Of the vector dimension these are vectors.
        """
        return self.with_tile(dimension, self._loop(dimension)[1].tile * factor)

    def vectorize(self, dimension: int, lanes: int) -> Schedule:
        """
        Runs a dimension in the lanes of vectors: each iteration of its innermost loop becomes one
        vector.

        Raises ScheduleError (SR4) where vectors lie along a dimension already.
        """
        if self.vector is not None:
            raise ScheduleError(f"(SR4) vectors lie along d{self.vector} already")
        tiled = self.with_tile(dimension, self._loop(dimension)[1].tile * lanes)
        return replace(tiled, vector=dimension, lanes=lanes)

    def transpose(self, dimension: int) -> Schedule:
        """
        Reads blocks with as many rows along a dimension as vectors have lanes, and transposes them
        in registers.
        """
        return replace(self.with_tile(dimension, self.lanes), transposed=dimension)

    def parallel(self, dimension: int, number: int = 0) -> Schedule:
        """
        Lets threads share the iterations of a loop over a dimension: the outermost one, or that
        inside of `number` others.

        Raises ScheduleError (SR1) for a dimension without that loop.
        """
        place, loop = self._loop(dimension, number)
        return self._replacing(place, replace(loop, is_parallel=True))

    def pack(self, factor: Factor | str, copy: Schedule, inside: int | None = None) -> Schedule:
        """
        Copies what the loops inside read of a factor of a contraction, `lhs` or `rhs`; `copy` says
        how, over dimensions of this schedule. It stands inside of so many loops, `inside`, or of
        all tiles.

        Raises ScheduleError (SR9) for a copy that is more than loops and vectors, and for a place
        that there is not.
        """
        if copy != Schedule(copy.loops, copy.vector, copy.lanes, copy.transposed):
            raise ScheduleError("(SR9) a copy has loops, vectors and transposed blocks only")
        around = outer_steps(self.steps) if inside is None else inside
        if not 0 <= around <= len(self.steps):
            raise ScheduleError(f"(SR9) a copy inside of {around} of {len(self.steps)} loops")
        steps = (*self.steps[:around], Pack(Factor(factor), copy), *self.steps[around:])
        return replace(self, steps=steps)

    def collapse(self, *dimensions: int) -> Schedule:
        """Runs dimensions as one, which the last of them names; the loops over the others go."""
        gone = dimensions[:-1]
        steps = (s for s in self.steps if not (isinstance(s, Loop) and s.dimension in gone))
        return replace(self, steps=tuple(steps), collapsed=(*self.collapsed, dimensions))

    def pair(self, dimension: int, odd: Schedule | None = None, at_once: int = 2) -> Schedule:
        """
        Multiplies the terms of a summed dimension two at a time, or four; `odd` is how those that
        are left over are added. Raises ScheduleError (SR10) for other numbers.
        """
        if at_once not in TERMS_AT_ONCE.values():
            raise ScheduleError(f"(SR10) terms are taken 2 or 4 at a time, not {at_once}")
        return replace(self, paired=dimension, at_once=at_once, odd=odd)

    def fold_fills(self, *outputs: int) -> Schedule:
        """Starts outputs from what the operation before fills them with, in registers."""
        return replace(self, folded_fills=outputs)

    def renamed(self, dimensions: Mapping[int, int]) -> Schedule:
        """With other numbers for dimensions of loops, vectors and transposed blocks."""
        known: dict[int | None, int | None] = {**dimensions}
        return Schedule(
            tuple(
                replace(s, dimension=dimensions.get(s.dimension, s.dimension)) for s in self.loops
            ),
            known.get(self.vector, self.vector),
            self.lanes,
            known.get(self.transposed, self.transposed),
        )

    def _loop(self, dimension: int, number: int = -1) -> tuple[int, Loop]:
        """
        The place of a loop over a dimension, and the loop: that inside of so many others, or the
        innermost one for -1. Raises ScheduleError (SR1) where there is none.
        """
        steps = enumerate(self.steps)
        own = [(n, s) for n, s in steps if isinstance(s, Loop) and s.dimension == dimension]
        if not own:
            raise ScheduleError(f"(SR1) no loop over d{dimension}")
        if not -1 <= number < len(own):
            raise ScheduleError(
                f"(SR1) {len(own)} loops over d{dimension}; none is number {number}"
            )
        return own[number]

    def with_tile(self, dimension: int, tile: int, number: int = -1) -> Schedule:
        """With another tile of a loop over a dimension: the innermost one, or as for `parallel`."""
        place, loop = self._loop(dimension, number)
        return self._replacing(place, replace(loop, tile=tile))

    def _replacing(self, number: int, step: Step) -> Schedule:
        return replace(self, steps=(*self.steps[:number], step, *self.steps[number + 1 :]))

    @cached_property
    def loops(self) -> tuple[Loop, ...]:
        """The loops, without those of copies."""
        return tuple(step for step in self.steps if isinstance(step, Loop))

    @property
    def packs(self) -> Iterator[Pack]:
        return (step for step in self.steps if isinstance(step, Pack))


def outer_steps(steps: Sequence[Step]) -> int:
    """How many steps are loops around others over the same dimension, copies, or before such."""
    seen: set[int] = set()
    for number in range(len(steps) - 1, -1, -1):
        step = steps[number]
        if isinstance(step, Pack) or step.dimension in seen:
            return number + 1
        seen.add(step.dimension)
    return 0


class ScheduleError(ValueError):
    """A schedule that its operation does not admit; the message begins with the rule."""


class ScheduleWarning(UserWarning):
    """A schedule of a file that is not used, though it is there for an operation."""


def schedule_text(schedule: Schedule) -> str:
    """What stands in the angle brackets of the attribute."""
    entries = [f"collapse = {_groups_text(schedule.collapsed)}"] if schedule.collapsed else []
    if schedule.paired is not None:
        entry = next(name for name, terms in TERMS_AT_ONCE.items() if terms == schedule.at_once)
        entries.append(f"{entry} = d{schedule.paired}")
    entries.append(f"loops = [{', '.join(map(_step_text, schedule.steps))}]")
    if schedule.vector is not None:
        entries.append(f"vector = d{schedule.vector} x {schedule.lanes}")
    if schedule.transposed is not None:
        entries.append(f"transpose = d{schedule.transposed}")
    if schedule.folded_fills:
        entries.append(f"fold_fills = {list(schedule.folded_fills)}")
    if schedule.odd is not None:
        entries.append(f"odd = {{{schedule_text(schedule.odd)}}}")
    return ", ".join(entries)


def _groups_text(groups: Sequence[Sequence[int]]) -> str:
    inner = (", ".join(f"d{d}" for d in group) for group in groups)
    return f"[{', '.join(f'[{group}]' for group in inner)}]"


def _step_text(step: Step) -> str:
    if isinstance(step, Pack):
        return f"pack {step.factor} {{{schedule_text(step.copy)}}}"
    tile = f" by {step.tile}" if step.tile != 1 else ""
    return f"d{step.dimension}{tile}{' parallel' if step.is_parallel else ''}"


def _parse_schedule(parser: AttrParser) -> Schedule:
    """Parses what stands in the angle brackets of the attribute."""
    found = _parse_entries(parser, _ENTRIES)
    return Schedule(**found)


def _parse_entries(
    parser: AttrParser, entries: Mapping[str, tuple[str, Callable[[AttrParser], Any]]]
) -> dict[str, Any]:
    """The fields that `name = value, ...` gives; each at most once, the loops at least."""
    found: dict[str, Any] = {}

    def parse_entry() -> None:
        position = parser.pos
        name = parser.parse_identifier(f"one of {', '.join(entries)}")
        if name not in entries:
            parser.raise_error(
                f"a schedule has no entry '{name}', but {', '.join(entries)}", position, parser.pos
            )
        field, parse = entries[name]
        if field in found:
            parser.raise_error(f"a second entry '{name}'", position, parser.pos)
        parser.parse_punctuation("=")
        found[field] = parse(parser)
        if name in TERMS_AT_ONCE:
            found["at_once"] = TERMS_AT_ONCE[name]

    start = parser.pos
    parser.parse_comma_separated_list(parser.Delimiter.NONE, parse_entry)
    loops = entries["loops"][0]
    if loops not in found:
        parser.raise_error("a schedule has an entry 'loops'", start, parser.pos)
    if (vector := found.get("vector")) is not None:
        found["vector"], found["lanes"] = vector
    return found


def _parse_dimension(parser: AttrParser) -> int:
    position = parser.pos
    name = parser.parse_identifier(" of a dimension, such as d0")
    if not (name.startswith("d") and name[1:].isdecimal() and name.isascii()) or len(name) > 10:
        parser.raise_error(f"expected a dimension, such as d0, found {name}", position, parser.pos)
    return int(name[1:])


def _parse_count(parser: AttrParser) -> int:
    """An integer from 0 on."""
    return parser.parse_integer(allow_boolean=False, allow_negative=False)


def _parse_loop(parser: AttrParser) -> Loop:
    dimension = _parse_dimension(parser)
    tile = _parse_count(parser) if parser.parse_optional_keyword("by") else 1
    return Loop(dimension, tile, parser.parse_optional_keyword("parallel") is not None)


def _parse_step(parser: AttrParser) -> Step:
    if not parser.parse_optional_keyword("pack"):
        return _parse_loop(parser)
    factor = parser.parse_str_enum(Factor)
    with parser.in_braces():
        return Pack(factor, Schedule(**_parse_entries(parser, _COPY_ENTRIES)))


def _parse_vector(parser: AttrParser) -> tuple[int, int]:
    dimension = _parse_dimension(parser)
    parser.parse_keyword("x")
    return dimension, _parse_count(parser)


def _list_of(parse: Callable[[AttrParser], Any]) -> Callable[[AttrParser], tuple[Any, ...]]:
    return lambda parser: tuple(
        parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parse(parser))
    )


def _parse_odd(parser: AttrParser) -> Schedule:
    entries = {name: entry for name, entry in _ENTRIES.items() if name != "odd"}
    with parser.in_braces():
        return Schedule(**_parse_entries(parser, entries))


_VECTOR_ENTRIES = {
    "vector": ("vector", _parse_vector),
    "transpose": ("transposed", _parse_dimension),
}
_COPY_ENTRIES: Mapping[str, tuple[str, Callable[[AttrParser], Any]]] = {
    "loops": ("steps", _list_of(_parse_loop)),
    **_VECTOR_ENTRIES,
}
_ENTRIES: Mapping[str, tuple[str, Callable[[AttrParser], Any]]] = {
    "collapse": ("collapsed", _list_of(_list_of(_parse_dimension))),
    **dict.fromkeys(TERMS_AT_ONCE, ("paired", _parse_dimension)),
    "loops": ("steps", _list_of(_parse_step)),
    **_VECTOR_ENTRIES,
    "fold_fills": ("folded_fills", _list_of(_parse_count)),
    "odd": ("odd", _parse_odd),
}
"""For each entry the field that it gives and how it is parsed."""


@irdl_attr_definition
class ScheduleAttr(Data[Schedule]):
    """`#schedule.nest<loops = [d0, d1 by 16], vector = d1 x 16>`: how an operation runs."""

    name = "schedule.nest"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Schedule:
        """Parses what follows the name."""
        with parser.in_angle_brackets():
            return _parse_schedule(parser)

    def print_parameter(self, printer: Printer) -> None:
        """Prints what `parse_parameter` parses."""
        printer.print_string(f"<{schedule_text(self.data)}>")


SCHEDULE = Dialect("schedule", [], [ScheduleAttr])

NEST = ScheduleAttr.name
"""The name of the attribute of a linalg operation, on memrefs or on tensors."""

PARALLEL = "schedule.parallel"
"""The attribute of an `scf.for` with independent iterations that threads are to share."""


def schedule_of(op: Operation) -> Schedule | None:
    """The schedule that an operation carries, if it does."""
    found = op.attributes.get(NEST)
    return found.data if isinstance(found, ScheduleAttr) else None


def set_schedule(op: Operation, schedule: Schedule) -> None:
    """Makes an operation carry a schedule."""
    op.attributes[NEST] = ScheduleAttr(schedule)


def make_parallel(op: Operation) -> None:
    """Says of a loop that threads are to share it."""
    op.attributes[PARALLEL] = UnitAttr()
