"""
The body of a function as lines of text, and lines of it as a function of their own: runs, updates.

Runs of operations on scalars that repeat themselves are loops of Python that JAX has unrolled. No
memory would be saved by fusing them with others, so a call costs next to nothing.

An update computes results of a program elementwise, as far as nothing else needs it: a connected
piece of the graph of elementwise operations whose values are used in it and by `return` only.
Nothing in front of it depends on it, so it can be called where its last line stands. It would be
fused within itself and with nothing else, so the machine code is the same.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import ceil, prod

from xla_dialect.aliasing_attributes import ALIASING_OUTPUT
from xla_dialect.stablehlo.ops import chlo, elementwise, operations_of

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


_FEWEST_SAVED = 64
"""So many operations have to go for a function to be made."""

_OPERATIONS_OF_FORMULA = 20
"""What an operation of CHLO counts that becomes dozens of others."""

_MOST_CHARACTERS = 1 << 10
"""Longer lines hold large constants."""

_COPIED = frozenset({"stablehlo.constant", "stablehlo.broadcast_in_dim", "stablehlo.iota"})
"""Operations that each part has for itself: they are fused into what uses them."""

_MOST_COPIED = 8
"""So many of them that use each other are copied; further ones belong to one part."""

_FORMULAS = frozenset(op.name for op in operations_of(chlo) if issubclass(op, chlo.FormulaOp))
"""Functions that become dozens of operations."""

_OPERATIONS = frozenset(
    {
        *_COPIED,
        *(op.name for op in operations_of(elementwise)),
        *(
            op.name
            for op in operations_of(chlo)
            if len(op.get_irdl_definition().operands) in (1, 2)
        ),
    }
)

_LINE = re.compile(
    r"    (%[\w$.-]+) = ((?:stablehlo|chlo)\.\w+|(?:func\.)?call @[\w$.-]+)([^\n{]*) : ([^\n{]*)"
)
_VALUE = re.compile(r"%[\w$.-]+(?:#[0-9]+)?")
_STRING_OR_VALUE = re.compile(rf'"(?:[^"\\]|\\.)*"|{_VALUE.pattern}')
"""A string is not renamed, whatever stands in it."""
_TYPE = re.compile(r"tensor<(?:[0-9]+x)*(?:[a-zA-Z0-9]+|complex<f[0-9]+>)>")
_FUNCTION = re.compile(r"  func\.func (?:public |private )?(@[\w$.-]+)\(")
_ENTRY = "  func.func public @main("
_ALIASED = re.compile(
    rf"(%[\w$.-]+): tensor<[^>]*>+ \{{[^%]*?{re.escape(ALIASING_OUTPUT)} = ([0-9]+) : i32"
)
_RETURN = re.compile(r"    (?:func\.)?return ")


class LineOperation:
    """An elementwise operation of plain arrays, one that is fused with those, or a call of such."""

    def __init__(self, match: re.Match[str], weight: int, duplicates: Mapping[str, str]):
        """Of a line; `weight`: how many operations it becomes, about."""
        self.result, self.name, self.operand_text, self.types = match.groups()
        self.weight = weight
        self.operands = _values(self.operand_text, duplicates)
        found = [each.group() for each in _TYPE.finditer(self.types)]
        self.result_type = found[-1] if found else ""
        self.operand_types = self._operand_types(found)
        """None where the types are not those of plain arrays."""
        self.copies = 0
        """How many operations are copied with this one; 0 where it is not."""

    def _operand_types(self, found: Sequence[str]) -> Sequence[str] | None:
        count = len(self.operands)
        if "->" in self.types:
            return found[:count] if len(found) == count + 1 else None
        if self.name == "stablehlo.select":
            return [found[0], found[1], found[1]] if len(found) == 2 else None
        return list(found) * count if len(found) == 1 else None

    @property
    def kind(self) -> tuple[str, str, str]:
        """What it computes, of whatever values."""
        return self.name, _VALUE.sub("%", self.operand_text), self.types

    @property
    def is_scalar(self) -> bool:
        """Whether all its types are of rank 0."""
        types = (*(self.operand_types or ()), self.result_type)
        return not any(each[len("tensor<")].isdigit() for each in types)


@dataclass(frozen=True)
class OutlinedPart:
    """Lines as a function, with what it takes and returns by the names in the program."""

    text: tuple[str, ...]
    """The function without its name: equal parts have the same."""
    lines: Sequence[int]
    parameters: Sequence[tuple[str, str]]
    results: Sequence[tuple[str, str]]
    """Values and their types."""

    @property
    def bytes(self) -> int:
        """What a call reads and writes."""
        return sum(_bytes(type_) for _, type_ in (*self.parameters, *self.results))


class FunctionLines:
    """The lines of a function between its head and its end."""

    def __init__(self, head: str, lines: Sequence[str], start: int, elementwise: Mapping[str, int]):
        """
        The lines, the last of them the return, start behind the head in a text; `elementwise` has
        the functions that may belong to parts, with the number of their operations.
        """
        self.is_entry = head.startswith(_ENTRY)
        self.start, self.end = start, start + len(lines)
        *self.before_return, self._last = lines
        self.operations: dict[int, LineOperation] = {}
        """Those that may belong to parts, by their lines."""
        self.computed: dict[str, LineOperation] = {}
        """The same, by the names of their results."""
        self.duplicates: dict[str, str] = {}
        """Values that equal an earlier one, with that."""
        self.gone = set[int]()
        """The lines of parts that are called."""
        self._aliases = {each[1]: int(each[2]) for each in _ALIASED.finditer(head)}
        self._calls: dict[int, tuple[str, Sequence[str]]] = {}
        """What stands instead of the last lines of parts, and the values it uses."""
        self._renamed: dict[str, str] = {}
        """How values are called that are among several results of a call."""
        self._read(elementwise)
        self.returned = _values(self._last, self.duplicates)

    def _read(self, elementwise: Mapping[str, int]) -> None:
        equal: dict[tuple[str, ...], str] = {}
        for number, line in enumerate(self.before_return):
            match = _LINE.fullmatch(line) if len(line) <= _MOST_CHARACTERS else None
            weight = 0 if match is None else _weight(match.group(2), elementwise)
            if match is None or not weight:
                continue
            operation = LineOperation(match, weight, self.duplicates)
            if operation.operand_types is None:
                continue
            if operation.name in _COPIED:
                sources = (self.computed.get(each) for each in operation.operands)
                copies = 1 + sum(source.copies for source in sources if source is not None)
                operation.copies = copies if copies <= _MOST_COPIED else 0
            self.operations[number] = self.computed[operation.result] = operation
            first = equal.setdefault((*operation.kind, *operation.operands), operation.result)
            if first != operation.result:
                self.duplicates[operation.result] = first

    def values_of(self, number: int) -> list[str]:
        """The values that a line names, instead of duplicates what they equal."""
        return _values(self.before_return[number], self.duplicates)

    def part(self, lines: Sequence[int], results: Callable[[str], bool]) -> OutlinedPart:
        """Lines as a function that returns the `results` among their values."""
        names: dict[str, str] = {}
        parameters: list[tuple[str, str]] = []
        body: list[str] = []

        def emit(operation: LineOperation) -> None:
            types = operation.operand_types or ()
            for operand, type_ in zip(operation.operands, types, strict=True):
                source = self.computed.get(operand)
                if operand in names:
                    continue
                if source is not None and source.copies:
                    emit(source)
                    continue
                names[operand] = f"%arg{len(parameters)}"
                parameters.append((operand, type_))
            operands = iter([names[operand] for operand in operation.operands])
            text = _VALUE.sub(lambda match: next(operands), operation.operand_text)
            names[operation.result] = name = f"%{len(body)}"
            body.append(f"    {name} = {operation.name}{text} : {operation.types}")

        for number in lines:
            emit(self.operations[number])
        members = [self.operations[number] for number in lines]
        returned = [(each.result, each.result_type) for each in members if results(each.result)]
        places = {name: place for place, (name, _) in enumerate(returned)}
        arguments = (
            f"%arg{number}: {type_}{self._alias(name, places)}"
            for number, (name, type_) in enumerate(parameters)
        )
        types = _listed(type_ for _, type_ in returned)
        head = f"({_listed(arguments)}) -> ({types}) attributes {{no_inline}} {{"
        last = f"    return {_listed(names[name] for name, _ in returned)} : {types}"
        return OutlinedPart((head, *body, last), lines, parameters, returned)

    def _alias(self, parameter: str, results: Mapping[str, int]) -> str:
        """The attribute of a parameter whose memory is for a result of the same part."""
        number = self._aliases.get(parameter, len(self.returned))
        place = results.get(self.returned[number]) if number < len(self.returned) else None
        return "" if place is None else f" {{{ALIASING_OUTPUT} = {place} : i32}}"

    def call_equal(self, parts: Iterable[OutlinedPart], functions: list[str]) -> None:
        """Has functions called, which are added to others, for parts that are equal."""
        for (head, *body), equal in by_text(parts).items():
            weight = sum(self.operations[number].weight for number in equal[0].lines)
            if (len(equal) - 1) * weight < _FEWEST_SAVED:
                continue
            name = f"@outlined_{len(functions)}"
            functions.append("\n".join((f"  func.func private {name}{head}", *body, "  }")))
            for part in equal:
                self._call(name, part)

    def _call(self, name: str, part: OutlinedPart) -> None:
        arguments = [each for each, _ in part.parameters]
        types = _listed(type_ for _, type_ in part.parameters)
        ((result, type_), *more) = part.results
        if more:
            result = f"%{name[1:]}_{len(self._calls)}"
            for number, (each, _) in enumerate(part.results):
                self._renamed[each] = f"{result}#{number}"
            result = f"{result}:{len(part.results)}"
            type_ = f"({_listed(each for _, each in part.results)})"
        call = f"    {result} = func.call {name}({_listed(arguments)}) : ({types}) -> {type_}"
        self._calls[max(part.lines)] = call, arguments
        self.gone.update(part.lines)

    def lines(self) -> list[str]:
        """
        As many lines as there were, with the calls, and nothing in what nothing uses any more: what
        is said of a line is true of that of the program.
        """
        needed = set(self.returned)
        lines = [self._last]
        for number in reversed(range(len(self.before_return))):
            if number in self._calls:
                line, used = self._calls[number]
            else:
                operation = self.operations.get(number)
                if number in self.gone or (operation and operation.result not in needed):
                    lines.append("")
                    continue
                line = self.before_return[number]
                used = self.values_of(number)
            lines.append(line)
            needed.update(used)
        return [_STRING_OR_VALUE.sub(self._name, line) for line in reversed(lines)]

    def _name(self, match: re.Match[str]) -> str:
        value = self.duplicates.get(match.group(), match.group())
        return self._renamed.get(value, value)


def bodies_of(lines: Sequence[str]) -> list[FunctionLines]:
    """The functions of a text in which each starts and ends at the margin of a module."""
    places: dict[str, tuple[int, int]] = {}
    name, start = "", 0
    for number, line in enumerate(lines):
        if line.startswith("  func") and (match := _FUNCTION.match(line)):
            name, start = match.group(1), number
        elif name and _RETURN.match(line):
            places[name] = start, number
            name = ""
    elementwise = {
        name: end - start
        for name, (start, end) in places.items()
        if all(map(_is_elementwise, lines[start + 1 : end]))
    }
    return [
        FunctionLines(lines[start], lines[start + 1 : end + 1], start + 1, elementwise)
        for start, end in places.values()
    ]


def _is_elementwise(line: str) -> bool:
    match = _LINE.fullmatch(line)
    return match is not None and match.group(2) in _OPERATIONS


def _weight(name: str, elementwise: Mapping[str, int]) -> int:
    """How many operations one becomes, about; 0 for what belongs to no part."""
    if name in _OPERATIONS:
        return _OPERATIONS_OF_FORMULA if name in _FORMULAS else 1
    return elementwise.get(name[name.find("@") :], 0)


def by_text(parts: Iterable[OutlinedPart]) -> Mapping[tuple[str, ...], list[OutlinedPart]]:
    """Equal parts together."""
    found: dict[tuple[str, ...], list[OutlinedPart]] = {}
    for each in parts:
        found.setdefault(each.text, []).append(each)
    return found


@cache
def _bytes(type_: str) -> int:
    """The bytes of an array, about: its bits are the first number in the name of an element."""
    sizes = re.findall(r"([0-9]+)x", type_)
    bits = re.search(r"[a-wyz]([0-9]+)", type_)
    return prod(map(int, sizes)) * max(1, int(bits.group(1)) // 8 if bits else 1)


def _values(text: str, duplicates: Mapping[str, str]) -> list[str]:
    """The values that a text names, instead of duplicates what they equal."""
    return [duplicates.get(each[0], each[0]) for each in _VALUE.finditer(text)]


def _listed(words: Iterable[str]) -> str:
    return ", ".join(words)
