"""
Runs of operations on scalars that repeat themselves, as loops of Python that JAX has unrolled.

No memory would be saved by fusing them with others, so a call costs next to nothing.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence

from xla_dialect.stablehlo.outlining.body import FunctionLines, OutlinedPart

_FEWEST, _MOST = 8, 256
"""How many operations a period has, counted as what they become, and how many at the most."""


def outline_scalar_runs(body: FunctionLines, functions: list[str]) -> None:
    """Has functions called, which are added to others, for the equal periods of runs."""
    for run in _runs(body):
        kinds = _numbered([body.operations[number].kind for number in run])
        period = _period(kinds)
        weight = sum(body.operations[number].weight for number in run[:period])
        if _FEWEST <= weight <= _MOST:
            last_uses = _last_uses(body, run)
            for start, end in _periodic(kinds, period):
                parts = list(_parts(body, run, period, range(start, end), last_uses))
                body.call_equal([part for part in parts if part.results], functions)


def _parts(
    body: FunctionLines,
    run: Sequence[int],
    period: int,
    places: range,
    last_uses: Mapping[str, int],
) -> Iterator[OutlinedPart]:
    """The periods of a part of a run, cut where the fewest values are alive."""
    defined = [body.operations[run[place]].result for place in places]
    lives = list(zip(places, map(last_uses.__getitem__, defined), strict=True))
    first = places.start + _narrowest(lives[: 2 * period], places.start + period, period)
    for end in range(first + period, places.stop + 1, period):
        yield body.part(run[end - period : end], _used_behind(end, last_uses))


def _used_behind(end: int, last_uses: Mapping[str, int]) -> Callable[[str], bool]:
    """Whether values are used at a place of a run, or behind it."""
    return lambda value: last_uses[value] >= end


def _runs(body: FunctionLines) -> Iterator[list[int]]:
    """Lines of operations on scalars between which only constants and duplicates stand."""
    run: list[int] = []
    for number in range(len(body.before_return)):
        operation = body.operations.get(number)
        if operation is not None and (
            operation.result in body.duplicates
            or number in body.gone
            or (operation.copies and not operation.operands)
        ):
            continue
        if operation is not None and operation.is_scalar and not operation.copies:
            run.append(number)
        elif run:
            yield run
            run = []
    if run:
        yield run


def _last_uses(body: FunctionLines, run: Sequence[int]) -> Mapping[str, int]:
    """By value, the last place in a run that uses it; behind all of them where others do."""
    places = {number: place for place, number in enumerate(run)}
    found = defaultdict[str, int](int)
    for number in range(run[0], len(body.before_return)):
        operation = body.operations.get(number)
        if operation is not None and operation.result in body.duplicates:
            continue
        used = body.values_of(number) if operation is None else operation.operands
        found.update(dict.fromkeys(used, places.get(number, len(run))))
    found.update(dict.fromkeys(body.returned, len(run)))
    return found


def _numbered(kinds: Sequence[tuple[str, str, str]]) -> list[int]:
    numbers: dict[tuple[str, str, str], int] = {}
    return [numbers.setdefault(kind, len(numbers)) for kind in kinds]


def _period(kinds: Sequence[int]) -> int:
    """After how many operations most of a run is what it was; 0 where nothing repeats itself."""
    last: dict[int, int] = {}
    distances = Counter[int]()
    for place, kind in enumerate(kinds):
        if kind in last:
            distances[place - last[kind]] += 1
        last[kind] = place

    def repeated(period: int) -> int:
        return sum(a == b for a, b in zip(kinds, kinds[period:], strict=False))

    candidates = sorted(period for period, _ in distances.most_common(16))
    return max(candidates, key=repeated, default=0)


def _periodic(kinds: Sequence[int], period: int) -> Iterator[tuple[int, int]]:
    """From where to where a run has this period, twice at least."""
    start = 0
    for place in range(len(kinds) - period + 1):
        if place < len(kinds) - period and kinds[place] == kinds[place + period]:
            continue
        if place - start >= period:
            yield start, place + period
        start = place + 1


def _narrowest(lives: Sequence[tuple[int, int]], start: int, period: int) -> int:
    """How far behind a place, less than a period, the fewest values are alive."""

    def alive(cut: int) -> int:
        return sum(defined < cut <= last for defined, last in lives)

    return min(range(period), key=lambda offset: alive(start + offset))
