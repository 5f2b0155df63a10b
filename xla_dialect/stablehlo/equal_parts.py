"""
Equal parts of a program as one function that is called for each, in its text.

A training step updates each of its parameters in the same way, by dozens of operations: for equal
shapes, equal lines. They are found before the text is parsed, as everything that follows, from the
parser to machine code, takes its time for each operation.

A part is what computes results of the program elementwise, as far as nothing else needs it: a
connected piece of the graph of elementwise operations whose values are used in it and by `return`
only. Nothing in front of it depends on it, so it can be called where its last line stands. It would
be fused within itself and with nothing else, so the machine code is the same.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import ceil, prod

from xla_dialect.entry.aliases import ALIASING_OUTPUT
from xla_dialect.stablehlo import chlo, elementwise

FEWEST_LINES = 256
"""Shorter programs are not looked through."""

_FEWEST_SAVED = 64
"""So many lines have to go for a function to be made."""

_MOST_USES = 8
"""A value with more uses is shared by parts, and belongs to none."""

_MOST_CHARACTERS = 1 << 10
"""Longer lines hold large constants."""

_LARGE_BYTES, _MOST_TOGETHER = 4 << 20, 8
"""
Parts that reach less memory are called several at a time, if that many are enough: fused, they are
work that several threads are worth.
"""

_COPIED = frozenset({"stablehlo.constant", "stablehlo.broadcast_in_dim", "stablehlo.iota"})
"""Operations that each part has for itself: they are fused into what uses them."""

_OPERATIONS = frozenset(
    {
        *_COPIED,
        *elementwise.ROWS,
        *(name for name, row in chlo.ROWS.items() if row.operands in (1, 2)),
    }
)

_LINE = re.compile(r"    (%[\w$.-]+) = ((?:stablehlo|chlo)\.\w+) ([^\n{]*) : ([^\n{]*)")
_VALUE = re.compile(r"%[\w$.-]+(?:#[0-9]+)?")
_TYPE = re.compile(r"tensor<(?:[0-9]+x)*(?:[a-zA-Z0-9]+|complex<f[0-9]+>)>")
_MAIN = "  func.func public @main("
_ALIASED = re.compile(
    rf"(%[\w$.-]+): tensor<[^>]*>+ \{{[^%]*?{re.escape(ALIASING_OUTPUT)} = ([0-9]+) : i32"
)
_RETURN = re.compile(r"    (?:func\.)?return ")


def outline_equal_parts(text: str) -> str:
    """
    The text of a program of StableHLO, as JAX prints it, with its equal parts as functions.

    Those are private and `no_inline`. A program without them, or printed in another way, comes
    back as it is.
    """
    lines = text.split("\n")
    if len(lines) < FEWEST_LINES:
        return text
    start = next((n for n, line in enumerate(lines) if line.startswith(_MAIN)), len(lines))
    end = next((n for n in range(start, len(lines)) if _RETURN.match(lines[n])), len(lines))
    if end == len(lines) or "@outlined_" in text:
        return text
    aliases = {each[1]: int(each[2]) for each in _ALIASED.finditer(lines[start])}
    outliner = _Outliner(lines[start + 1 : end], lines[end], aliases)
    functions = outliner.outline()
    if not functions:
        return text
    return "\n".join(
        (
            *lines[: start + 1],
            *outliner.remaining(),
            outliner.returned(),
            lines[end + 1],
            *functions,
            *lines[end + 2 :],
        )
    )


class _Operation:
    """An operation that may belong to a part."""

    def __init__(
        self,
        result: str,
        name: str,
        rest: str,
        types: str,
        operands: Sequence[str],
        printed: Sequence[str],
    ):
        """`rest`: what stands between name and types; `operands`: `printed`, or equal values."""
        self.result = result
        self.name = name
        self.rest = rest
        self.types = types
        self.operands = operands
        self.printed = printed
        self.is_copied = name in _COPIED
        found = [each.group() for each in _TYPE.finditer(types)]
        self.result_type = found[-1] if found else ""
        self.operand_types = self._operand_types(found)
        """None where the types are not those of plain arrays."""

    def _operand_types(self, found: Sequence[str]) -> Sequence[str] | None:
        count = len(self.operands)
        if "->" in self.types:
            return found[:count] if len(found) == count + 1 else None
        if self.name == "stablehlo.select":
            return [found[0], found[1], found[1]] if len(found) == 2 else None
        return list(found) * count if len(found) == 1 else None


@dataclass(frozen=True)
class _Function:
    """A part as a function, with what it takes and returns by the names in the program."""

    text: tuple[str, ...]
    """Without its name: equal parts have the same."""
    lines: Sequence[int]
    parameters: Sequence[tuple[str, str]]
    results: Sequence[tuple[str, str]]
    """Values and their types."""

    @property
    def bytes(self) -> int:
        """What a call reads and writes."""
        return sum(_bytes(type_) for _, type_ in (*self.parameters, *self.results))


def _by_text(functions: Iterable[_Function]) -> Mapping[tuple[str, ...], list[_Function]]:
    found: dict[tuple[str, ...], list[_Function]] = {}
    for each in functions:
        found.setdefault(each.text, []).append(each)
    return found


class _Outliner:
    """The body of the entry, line by line."""

    def __init__(self, body: Sequence[str], last: str, aliases: Mapping[str, int]):
        """`last`: the return; `aliases`: the results for whose memory parameters are given."""
        self._body = body
        self._last = last
        self._aliases = aliases
        self._outputs = _values(last)
        self._operations: dict[int, _Operation] = {}
        """Those that may belong to parts, by their lines."""
        self._computed: dict[str, _Operation] = {}
        """The same, by the names of their results."""
        self._calls: dict[int, str] = {}
        """What stands instead of the last lines of parts."""
        self._arguments: dict[int, Sequence[str]] = {}
        self._gone = set[int]()
        """The lines of parts."""
        self._renamed: dict[str, str] = {}
        """What is returned instead of a value."""
        self._read()

    def _read(self) -> None:
        """Finds the operations, and which of them compute what an earlier one has computed."""
        equal: dict[tuple[str, ...], str] = {}
        same: dict[str, str] = {}
        for number, line in enumerate(self._body):
            if len(line) > _MOST_CHARACTERS or (match := _LINE.fullmatch(line)) is None:
                continue
            result, name, rest, types = match.groups()
            if name not in _OPERATIONS:
                continue
            printed = _values(rest)
            operation = _Operation(
                result, name, rest, types, [same.get(each, each) for each in printed], printed
            )
            if operation.operand_types is None:
                continue
            self._operations[number] = self._computed[result] = operation
            what = (name, _VALUE.sub("%", rest), types, *operation.operands)
            if (first := equal.setdefault(what, result)) != result:
                same[result] = first

    def outline(self) -> list[str]:
        """The lines of the functions; the body is changed to call them."""
        functions: list[str] = []
        parts = [self._function(sorted(part)) for part in self._parts()]
        for equal in _by_text(parts).values():
            for (head, *body), calls in _by_text(self._together(equal)).items():
                if (len(calls) - 1) * len(calls[0].lines) < _FEWEST_SAVED:
                    continue
                name = f"@outlined_{len(functions)}"
                functions.append("\n".join((f"  func.func private {name}{head}", *body, "  }")))
                for call in calls:
                    self._call(name, call)
        return functions

    def _together(self, equal: Sequence[_Function]) -> Sequence[_Function]:
        """Equal parts, or functions for several each, where threads can share those only."""
        count = ceil(_LARGE_BYTES / max(1, equal[0].bytes))
        if count > _MOST_TOGETHER or len(equal) < 2 * count:
            return equal
        return [
            self._function([line for part in equal[n : n + count] for line in part.lines])
            for n in range(0, len(equal), count)
        ]

    def _parts(self) -> list[list[int]]:
        """Connected operations that nothing but each other and the return uses, by their lines."""
        inside = self._only_returned()
        parts: dict[str, list[int]] = {}
        """Of an operation, its part; all of one part have the same list."""
        for number in sorted(inside):
            operation = self._operations[number]
            if operation.is_copied:
                continue
            part = parts[operation.result] = [number]
            for source in self._sources(operation):
                other = parts.get(source, part)
                if other is not part:
                    small, part = sorted((part, other), key=len)
                    part += small
                    parts.update((self._operations[member].result, part) for member in small)
        return list({id(part): part for part in parts.values()}.values())

    def _sources(self, operation: _Operation) -> Iterator[str]:
        """The values that an operation uses, those behind what is copied instead of that."""
        for operand in operation.operands:
            source = self._computed.get(operand)
            if source is not None and source.is_copied:
                yield from self._sources(source)
            else:
                yield operand

    def _only_returned(self) -> set[int]:
        """The lines of operations whose values reach nothing but the return, elementwise."""
        uses = Counter[str]()
        elsewhere = set[str]()
        returned = set(self._outputs)
        inside = set[int]()
        for number in reversed(range(len(self._body))):
            operation = self._operations.get(number)
            if operation is None:
                elsewhere.update(_values(self._body[number]))
                continue
            result, count = operation.result, uses[operation.result]
            is_output = result in returned
            if not (count or is_output or result in elsewhere):
                continue
            if operation.is_copied:
                is_outside = is_output
                for operand in operation.operands:
                    uses[operand] += count
            else:
                is_outside = count > _MOST_USES
                uses.update(operation.operands)
            if is_outside or result in elsewhere:
                elsewhere.update(operation.printed)
                elsewhere.update(operation.operands)
            else:
                inside.add(number)
        return inside

    def _function(self, part: Sequence[int]) -> _Function:
        """A part as a function, its values with names of their own."""
        names: dict[str, str] = {}
        parameters: list[tuple[str, str]] = []
        body: list[str] = []

        def emit(operation: _Operation) -> None:
            for operand, type_ in zip(
                operation.operands, operation.operand_types or (), strict=True
            ):
                source = self._computed.get(operand)
                if operand in names:
                    continue
                if source is not None and source.is_copied:
                    emit(source)
                    continue
                names[operand] = f"%arg{len(parameters)}"
                parameters.append((operand, type_))
            operands = iter([names[operand] for operand in operation.operands])
            rest = _VALUE.sub(lambda match: next(operands), operation.rest)
            names[operation.result] = name = f"%{len(body)}"
            body.append(f"    {name} = {operation.name} {rest} : {operation.types}")

        for number in part:
            emit(self._operations[number])
        results = [
            (operation.result, operation.result_type)
            for number in part
            if (operation := self._operations[number]).result in self._outputs
        ]
        places = {name: place for place, (name, _) in enumerate(results)}
        arguments = [
            f"%arg{number}: {type_}{self._alias(name, places)}"
            for number, (name, type_) in enumerate(parameters)
        ]
        types = _listed(type_ for _, type_ in results)
        head = f"({', '.join(arguments)}) -> ({types}) attributes {{no_inline}} {{"
        last = f"    return {_listed(names[name] for name, _ in results)} : {types}"
        return _Function((head, *body, last), part, parameters, results)

    def _alias(self, parameter: str, results: Mapping[str, int]) -> str:
        """The attribute of a parameter whose memory is for a result of the same part."""
        number = self._aliases.get(parameter, len(self._outputs))
        place = results.get(self._outputs[number]) if number < len(self._outputs) else None
        return "" if place is None else f" {{{ALIASING_OUTPUT} = {place} : i32}}"

    def _call(self, name: str, call: _Function) -> None:
        """Has a function called where the last line of a part is."""
        place = max(call.lines)
        self._gone.update(call.lines)
        self._arguments[place] = arguments = [each for each, _ in call.parameters]
        types = _listed(type_ for _, type_ in call.parameters)
        ((result, type_), *more) = call.results
        if more:
            result = f"%outlined_{len(self._calls)}"
            for number, (each, _) in enumerate(call.results):
                self._renamed[each] = f"{result}#{number}"
            result = f"{result}:{len(call.results)}"
            type_ = f"({_listed(each for _, each in call.results)})"
        self._calls[place] = (
            f"    {result} = func.call {name}({_listed(arguments)}) : ({types}) -> {type_}"
        )

    def returned(self) -> str:
        """The line of the return."""
        return _VALUE.sub(lambda match: self._renamed.get(match.group(), match.group()), self._last)

    def remaining(self) -> list[str]:
        """The other lines of the body, with the calls, and without what nothing uses any more."""
        needed = set(self._outputs)
        lines: list[str] = []
        for number in reversed(range(len(self._body))):
            if number in self._calls:
                lines.append(self._calls[number])
                needed.update(self._arguments[number])
                continue
            operation = self._operations.get(number)
            if number in self._gone or (operation is not None and operation.result not in needed):
                continue
            line = self._body[number]
            lines.append(line)
            needed.update(_values(line))
        return lines[::-1]


@cache
def _bytes(type_: str) -> int:
    """The bytes of an array of about this type: a number of bits is what its element ends with."""
    *sizes, element = type_[len("tensor<") :].rstrip(">").split("x")
    bits = re.search(r"\d+", element)
    return prod(map(int, sizes)) * max(1, int(bits.group()) // 8 if bits else 1)


def _values(text: str) -> list[str]:
    """The values that a text names."""
    return [each.group() for each in _VALUE.finditer(text)]


def _listed(words: Iterable[str]) -> str:
    return ", ".join(words)
