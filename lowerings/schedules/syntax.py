"""
The text of schedules.

    #schedule.nest<loops = [d1 by 128 parallel, d2 by 256,
                            pack rhs {loops = [d2, d1 by 32], vector = d1 x 16},
                            d1 by 32, d0 by 6, d2],
                   vector = d1 x 16>

Entries that say nothing are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xdsl.parser import AttrParser

from lowerings.schedules.schedule import (
    TERMS_AT_ONCE,
    Factor,
    Loop,
    LoopOrder,
    Pack,
    Schedule,
    Step,
)


def schedule_text(schedule: Schedule) -> str:
    """What stands in the angle brackets of the attribute."""
    entries = [f"collapse = {_groups_text(schedule.collapsed)}"] if schedule.collapsed else []
    if schedule.paired is not None:
        entry = next(name for name, terms in TERMS_AT_ONCE.items() if terms == schedule.at_once)
        entries.append(f"{entry} = d{schedule.paired}")
    entries += _order_entries(schedule.steps, schedule)
    if schedule.folded_fills:
        entries.append(f"fold_fills = {list(schedule.folded_fills)}")
    if schedule.odd is not None:
        entries.append(f"odd = {{{schedule_text(schedule.odd)}}}")
    return ", ".join(entries)


def _groups_text(groups: Sequence[Sequence[int]]) -> str:
    inner = (", ".join(f"d{d}" for d in group) for group in groups)
    return f"[{', '.join(f'[{group}]' for group in inner)}]"


def _order_entries(steps: Sequence[Step], order: Schedule | LoopOrder) -> list[str]:
    entries = [f"loops = [{', '.join(map(_step_text, steps))}]"]
    if order.vector is not None:
        entries.append(f"vector = d{order.vector} x {order.lanes}")
    if order.transposed is not None:
        entries.append(f"transpose = d{order.transposed}")
    return entries


def _step_text(step: Step) -> str:
    if isinstance(step, Pack):
        return f"pack {step.factor} {{{', '.join(_order_entries(step.copy.loops, step.copy))}}}"
    tile = f" by {step.tile}" if step.tile != 1 else ""
    return f"d{step.dimension}{tile}{' parallel' if step.is_parallel else ''}"


def parse_schedule(parser: AttrParser) -> Schedule:
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
        return Pack(factor, LoopOrder(**_parse_entries(parser, _ORDER_ENTRIES)))


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
_ORDER_ENTRIES: Mapping[str, tuple[str, Callable[[AttrParser], Any]]] = {
    "loops": ("loops", _list_of(_parse_loop)),
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
