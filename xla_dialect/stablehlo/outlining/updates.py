"""
Updates: what computes results of a program elementwise, as far as nothing else needs it.

An update is a connected piece of the graph of elementwise operations whose values are used in it
and by `return` only. Nothing in front of it depends on it, so it can be called where its last line
stands. It would be fused within itself and with nothing else, so the machine code is the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from math import ceil

from xla_dialect.stablehlo.outlining.body import FunctionLines, LineOperation, by_text

_MOST_USES = 8
"""A value with more uses is shared by updates, and belongs to none."""

_LARGE_BYTES, _MOST_TOGETHER = 4 << 20, 8
"""
Updates that reach less memory are called several at a time, if that many are enough: fused, they
are work that several threads are worth.
"""


def outline_updates(body: FunctionLines, functions: list[str]) -> None:
    """Has functions called, which are added to others, for the equal updates of an entry."""
    returned = set(body.returned).__contains__
    updates = [body.part(sorted(lines), returned) for lines in _connected(body)]
    for equal in by_text(updates).values():
        count = ceil(_LARGE_BYTES / max(1, equal[0].bytes))
        if 1 < count <= _MOST_TOGETHER and len(equal) >= 2 * count:
            groups = [equal[n : n + count] for n in range(0, len(equal), count)]
            lines = ([line for part in group for line in part.lines] for group in groups)
            body.call_equal([body.part(each, returned) for each in lines], functions)
        else:
            body.call_equal(equal, functions)


def _connected(body: FunctionLines) -> Sequence[list[int]]:
    """The lines of each update."""
    parts: dict[str, list[int]] = {}
    """Of an operation, its part; all of one part have the same list."""
    for number in sorted(_only_returned(body)):
        operation = body.operations[number]
        if operation.copies:
            continue
        part = parts[operation.result] = [number]
        for source in _sources(body, operation):
            other = parts.get(source, part)
            if other is not part:
                small, part = sorted((part, other), key=len)
                part += small
                parts.update((body.operations[member].result, part) for member in small)
    return list({id(part): part for part in parts.values()}.values())


def _sources(body: FunctionLines, operation: LineOperation) -> Iterator[str]:
    """The values that an operation uses, those behind what is copied instead of that."""
    for operand in operation.operands:
        source = body.computed.get(operand)
        if source is not None and source.copies:
            yield from _sources(body, source)
        else:
            yield operand


def _only_returned(body: FunctionLines) -> set[int]:
    """The lines of operations whose values reach nothing but the return, elementwise."""
    uses = Counter[str]()
    elsewhere = set[str]()
    returned = set(body.returned)
    inside = set[int]()
    for number in reversed(range(len(body.before_return))):
        operation = body.operations.get(number)
        if operation is None:
            elsewhere.update(body.values_of(number))
            continue
        result, count = operation.result, uses[operation.result]
        is_output = result in returned
        if not (count or is_output or result in elsewhere):
            continue
        if operation.copies:
            is_outside = is_output
            for operand in operation.operands:
                uses[operand] += count
        else:
            is_outside = count > _MOST_USES
            uses.update(operation.operands)
        if is_outside or result in elsewhere:
            elsewhere.update(operation.operands)
        else:
            inside.add(number)
    return inside
