"""
The body of a function as lines of text, and lines of it as a function of their own: runs, updates.

Runs of operations that repeat themselves are loops of Python that JAX has unrolled. Those on
arrays, as the layers of a model, are cut in front of contractions, which take their operands from
memory anyway. No memory would be saved by fusing those on scalars with others.

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
from functools import cache, cached_property
from itertools import chain
from math import ceil, prod

from xla_dialect.aliasing_attributes import ALIASING_OUTPUT
from xla_dialect.stablehlo.op import PureOp
from xla_dialect.stablehlo.ops import chlo, elementwise, operation_named, operations_of

_FEWEST, _MOST = 8, 1 << 10
"""How many operations a period has, counted as what they become, and how many at the most."""


def outline_runs(body: FunctionLines, functions: list[str], *, scalars: bool) -> None:
    """
    Has functions called, which are added to others, for the equal periods of runs: of operations on
    `scalars`, or of any.
    """
    for run in _runs(body, scalars):
        kinds = _numbered([body.operations[number].kind for number in run])
        period = _period(kinds)
        weight = sum(body.operations[number].weight for number in run[:period])
        if _FEWEST <= weight <= _MOST:
            for start, end in _periodic(kinds, period):
                body.call_equal(_parts(body, run[start:end], period), functions)


def _parts(body: FunctionLines, run: Sequence[int], period: int) -> Iterator[OutlinedPart]:
    """
    The periods of a run, cut where the least memory is alive; without those of whose arrays one is
    used after the next period. All return what most do.
    """
    operations = [body.operations[number] for number in run]
    lasts = [body.last_uses[operation.result] for operation in operations]
    returned = set(body.sources(body.returned))

    def alive(cut: int) -> int:
        made = range(min(cut, len(run)))
        return sum(operations[n].bytes for n in made if lasts[n] > run[cut - 1])

    is_on_scalars = all(operation.is_scalar for operation in operations)
    cuts = [cut for cut in range(period) if is_on_scalars or operations[cut].is_contraction]
    first = min(cuts, key=lambda cut: alive(cut + period), default=len(run))
    periods = [range(n, n + period) for n in range(first, len(run) - period + 1, period)]
    called = {each for calls in body.calls.values() for call in calls for each in call.arguments}
    used = [
        {n - own[0] for n in own if lasts[n] > run[own[-1]] or operations[n].result in called}
        for own in periods
    ]
    counts = Counter(n for each in used for n in each)
    for own, mine in zip(periods, used, strict=True):
        lines = run[own[0] : own[-1] + 1]
        next_last = max(2 * lines[-1] - lines[0], run[min(own[-1] + period, len(run) - 1)])
        is_kept = any(lasts[n] > next_last and not operations[n].is_scalar for n in own)
        mine.update(n for n, count in counts.items() if 2 * count > len(periods))
        results = {operations[own[n]].result for n in mine} | returned
        part = body.part(lines, results.__contains__)
        if part.results and not is_kept and not body.has_copies_behind(lines):
            yield part


def _runs(body: FunctionLines, scalars: bool) -> Iterator[list[int]]:
    """Lines of operations between which only what is copied and duplicates stand."""
    run: list[int] = []
    for number in range(len(body.before_return)):
        operation = body.operations.get(number)
        if operation is not None and (
            operation.result in body.duplicates or number in body.gone or operation.copies
        ):
            continue
        if operation is not None and (operation.is_scalar or not scalars):
            run.append(number)
        elif run:
            yield run
            run = []
    if run:
        yield run


def _numbered(kinds: Sequence[tuple[str, ...]]) -> list[int]:
    numbers: dict[tuple[str, ...], int] = {}
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
        for source in body.sources(operation.operands):
            other = parts.get(source, part)
            if other is not part:
                small, part = sorted((part, other), key=len)
                part += small
                parts.update((body.operations[member].result, part) for member in small)
    return list({id(part): part for part in parts.values()}.values())


def _only_returned(body: FunctionLines) -> set[int]:
    """The lines of operations whose values reach nothing but the return, elementwise."""
    uses = Counter[str]()
    elsewhere = set[str]()
    returned = set(body.returned)
    inside = set[int]()
    for number in reversed(range(len(body.before_return))):
        operation = body.operations.get(number)
        if operation is None or not operation.is_elementwise:
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

_ELEMENTWISE = frozenset(
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

_CONTRACTIONS = frozenset({"stablehlo.convolution", "stablehlo.dot", "stablehlo.dot_general"})

_LINE = re.compile(
    r"    (%[\w$.-]+) = ((?:stablehlo|chlo)\.\w+|(?:func\.)?call @[\w$.-]+)([^\n\"]*) : ([^\n{]*)"
)
_VALUE = re.compile(r"%[\w$.-]+(?:#[0-9]+)?")
_SPLIT = re.compile(f"({_VALUE.pattern})")
_STRING_OR_VALUE = re.compile(rf'"(?:[^"\\]|\\.)*"|{_VALUE.pattern}')
"""A string is not renamed, whatever stands in it."""
_TYPE = re.compile(r"tensor<(?:[0-9]+x)*(?:[a-zA-Z0-9]+|complex<f[0-9]+>)>")
_SIZE = re.compile("<[0-9]")
_PARAMETER = re.compile(rf"(%[\w$.-]+): ({_TYPE.pattern})[,) ]")
_CONTINUED = "     "
_FUNCTION = re.compile(r"  func\.func (?:public |private )?(@[\w$.-]+)\(")
_ENTRY = "  func.func public @main("
_ALIASED = re.compile(
    rf"(%[\w$.-]+): tensor<[^>]*>+ \{{[^%]*?{re.escape(ALIASING_OUTPUT)} = ([0-9]+) : i32"
)
_RETURN = re.compile(r"    (?:func\.)?return ")


class LineOperation:
    """An operation without effects on plain arrays, or a call of a function of such."""

    copies = 0
    """How many operations are copied with this one; 0 where it is not."""
    is_constant = False
    """Whether it is copied with all that it is computed from."""

    def __init__(
        self,
        match: re.Match[str],
        weight: int,
        is_elementwise: bool,
        duplicates: Mapping[str, str],
    ):
        """Of a line; `weight`: how many operations it becomes, about."""
        self.result, self.name, text, self.types = match.groups()
        self.weight = weight
        self.is_elementwise = is_elementwise
        """Whether it is fused with elementwise operations, as these are."""
        between = _SPLIT.split(text)
        self.operands = [duplicates.get(each, each) for each in between[1::2]]
        """Instead of duplicates what they equal."""
        self.kind = self.name, self.types, *between[::2]
        """What it computes, of whatever values: what stands in front, between and behind those."""
        self.result_type = self.types.rpartition(" ")[2]
        self.bytes = _bytes(self.result_type)
        self.is_contraction = self.name in _CONTRACTIONS
        self.is_scalar = is_elementwise and not _has_sizes(self.types)
        """Whether it computes elements of arrays of rank 0."""

    def text(self, operands: Iterable[str]) -> str:
        """The operation without its result, on other operands."""
        name, types, first, *others = self.kind
        return "".join((name, first, *chain(*zip(operands, others, strict=True)), " : ", types))


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


@dataclass(frozen=True)
class _OutlinedCall:
    text: str
    arguments: Sequence[str]


class FunctionLines:
    """The lines of a function between its head and its end."""

    def __init__(self, head: str, lines: Sequence[str], start: int, known: _Operations):
        """The lines, the last of them the return, start behind the head in a text."""
        self.is_entry = head.startswith(_ENTRY)
        self.start, self.end = start, start + len(lines)
        *self.before_return, self._last = lines
        self.operations: dict[int, LineOperation] = {}
        """Those that may belong to parts, by their lines."""
        self.computed: dict[str, LineOperation] = {}
        """The same, by the names of their results."""
        self._types = dict(_PARAMETER.findall(head))
        """Those of values that parts may take."""
        self.duplicates: dict[str, str] = {}
        """Values that equal an earlier one, with that."""
        self.gone = set[int]()
        """The lines of parts that are called, and of what nothing uses."""
        self._aliases = {each[1]: int(each[2]) for each in _ALIASED.finditer(head)}
        self.calls: dict[int, list[_OutlinedCall]] = {}
        """What stands instead of the last lines of parts."""
        self._renamed: dict[str, str] = {}
        """How values are called that are among several results of a call."""
        self._read(known)
        self.returned = _values(self._last, self.duplicates)
        needed = set(self.returned)
        for number in reversed(range(len(self.before_return))):
            operation = self.operations.get(number)
            if operation is None:
                needed.update(self.values_of(number))
            elif operation.result in needed:
                needed.update(operation.operands)
            else:
                self.gone.add(number)

    def _read(self, known: _Operations) -> None:
        equal: dict[tuple[str, ...], str] = {}
        name = ""
        behind = chain(self.before_return[1:], (self._last,))
        for number, (line, next_line) in enumerate(zip(self.before_return, behind, strict=True)):
            if line.startswith("    %"):
                name = line[4 : line.index(" ", 4)]
            type_ = line[line.rfind(" ") + 1 :]
            if not line.startswith(_CONTINUED) and _is_array(type_):
                self._types[name] = type_
            match = known.match(line)
            if match is None or next_line.startswith(_CONTINUED):
                continue
            weight, is_elementwise = known.of(match.group(2))
            operation = LineOperation(match, weight, is_elementwise, self.duplicates)
            operands = operation.operands
            if not weight or not self._types.keys() >= {operation.result, *operands}:
                continue
            sources = [self.computed.get(each) for each in operands] if is_elementwise else ()
            is_constant = is_elementwise and all(each and each.is_constant for each in sources)
            if operation.name in _COPIED or is_constant:
                copies = 1 + sum(each.copies for each in sources if each is not None)
                operation.copies = copies if copies <= _MOST_COPIED else 0
                operation.is_constant = is_constant and operation.copies > 0
            self.operations[number] = self.computed[operation.result] = operation
            first = equal.setdefault((*operation.kind, *operands), operation.result)
            if first != operation.result:
                self.duplicates[operation.result] = first

    @cached_property
    def last_uses(self) -> Mapping[str, int]:
        """
        The last line before the return that uses a value, or something that is copied of it; -1
        where none does.
        """
        found = defaultdict[str, int](lambda: -1)
        for number in range(len(self.before_return)):
            operation = self.operations.get(number)
            if operation is None or not (operation.copies or operation.result in self.duplicates):
                found.update(dict.fromkeys(self._behind(self.values_of(number)), number))
        return found

    def has_copies_behind(self, lines: Sequence[int]) -> bool:
        """Whether what is copied of values of some lines stands among them and is used behind."""
        own = {self.operations[number].result for number in lines}
        between = map(self.operations.get, range(lines[0], lines[-1]))
        return any(
            each is not None
            and each.copies > 0
            and (self.last_uses[each.result] > lines[-1] or each.result in self.returned)
            and not own.isdisjoint(self.sources(each.operands))
            for each in between
        )

    def _behind(self, values: Iterable[str]) -> Iterator[str]:
        """Some values, and those that what is copied among them is computed of."""
        for value in values:
            yield value
            source = self.computed.get(value)
            if source is not None and source.copies:
                yield from self._behind(source.operands)

    def sources(self, values: Iterable[str]) -> Iterator[str]:
        """Some values, of what is copied those that it takes."""
        for value in values:
            source = self.computed.get(value)
            if source is not None and source.copies:
                yield from self.sources(source.operands)
            else:
                yield value

    def values_of(self, number: int) -> list[str]:
        """The values that a line names, instead of duplicates what they equal."""
        operation = self.operations.get(number)
        if operation is not None:
            result = operation.result
            return [self.duplicates.get(result, result), *operation.operands]
        return _values(self.before_return[number], self.duplicates)

    def part(self, lines: Sequence[int], results: Callable[[str], bool]) -> OutlinedPart:
        """Lines as a function that returns the `results` among their values."""
        names: dict[str, str] = {}
        parameters: list[tuple[str, str]] = []
        body: list[str] = []

        def emit(operation: LineOperation) -> None:
            for operand in operation.operands:
                source = self.computed.get(operand)
                if operand in names:
                    continue
                if source is not None and source.copies:
                    emit(source)
                    continue
                names[operand] = f"%arg{len(parameters)}"
                parameters.append((operand, self._types[operand]))
            text = operation.text([names[operand] for operand in operation.operands])
            names[operation.result] = name = f"%{len(body)}"
            body.append(f"    {name} = {text}")

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
            result = f"%{name[1:]}_{len(self._renamed)}"
            for number, (each, _) in enumerate(part.results):
                self._renamed[each] = f"{result}#{number}"
            result = f"{result}:{len(part.results)}"
            type_ = f"({_listed(each for _, each in part.results)})"
        call = f"    {result} = func.call {name}({_listed(arguments)}) : ({types}) -> {type_}"
        first, last = min(part.lines), max(part.lines)
        own = {each for each, _ in part.results}
        # Nothing but the return uses an update, so it can follow what it uses.
        inside = [
            number
            for number, calls in self.calls.items()
            if first < number < last and not all(own.isdisjoint(each.arguments) for each in calls)
        ]
        moved = [each for number in inside for each in self.calls.pop(number)]
        self.calls[last] = [_OutlinedCall(call, arguments), *moved]
        self.gone.update(part.lines)

    def lines(self) -> list[str]:
        """
        As many lines as there were, with the calls, and nothing in what nothing uses any more: what
        is said of a line is true of that of the program.
        """
        needed = set(self.returned)
        lines = [self._last]
        for number in reversed(range(len(self.before_return))):
            if number in self.calls:
                line = "".join(each.text for each in self.calls[number])
                used = [value for each in self.calls[number] for value in each.arguments]
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
    known = _Operations({name: lines[start + 1 : end] for name, (start, end) in places.items()})
    return [
        FunctionLines(lines[start], lines[start + 1 : end + 1], start + 1, known)
        for start, end in places.values()
    ]


class _Operations:
    """What is known of operations by the names that lines have for them."""

    def __init__(self, functions: Mapping[str, Sequence[str]]):
        self._functions = functions
        self._known = dict[str, tuple[int, bool]]()

    def match(self, line: str) -> re.Match[str] | None:
        """The operation in a line of its own."""
        return _LINE.fullmatch(line) if len(line) <= _MOST_CHARACTERS else None

    def of(self, name: str) -> tuple[int, bool]:
        """
        How many operations one becomes, about, 0 for what belongs to no part; and whether they are
        elementwise.
        """
        if name not in self._known:
            self._known[name] = 0, False
            _, is_call, callee = name.rpartition("call ")
            self._known[name] = self._of_function(callee) if is_call else _of_operation(name)
        return self._known[name]

    def _of_function(self, name: str) -> tuple[int, bool]:
        lines = self._functions.get(name, ())
        matches = list(map(self.match, lines))
        found = [(0, False) if match is None else self.of(match.group(2)) for match in matches]
        weights = [weight for weight, _ in found]
        return sum(weights) if all(weights) else 0, all(each for _, each in found)


def _of_operation(name: str) -> tuple[int, bool]:
    if name in _ELEMENTWISE:
        return _OPERATIONS_OF_FORMULA if name in _FORMULAS else 1, True
    found = operation_named(name)
    is_pure = found is not None and (issubclass(found, PureOp) or name == "stablehlo.reduce")
    return int(is_pure), False


def by_text(parts: Iterable[OutlinedPart]) -> Mapping[tuple[str, ...], list[OutlinedPart]]:
    """Equal parts together."""
    found: dict[tuple[str, ...], list[OutlinedPart]] = {}
    for each in parts:
        found.setdefault(each.text, []).append(each)
    return found


@cache
def _is_array(type_: str) -> bool:
    return _TYPE.fullmatch(type_) is not None


@cache
def _has_sizes(types: str) -> bool:
    return _SIZE.search(types) is not None


@cache
def _bytes(type_: str) -> int:
    """The bytes of an array, about: its bits are the first number in the name of an element."""
    sizes = re.findall(r"([0-9]+)x", type_)
    bits = re.search(r"[a-wyz]([0-9]+)", type_)
    return prod(map(int, sizes)) * max(1, int(bits.group(1)) // 8 if bits else 1)


def _values(text: str, duplicates: Mapping[str, str]) -> list[str]:
    """The values that a text names, instead of duplicates what they equal."""
    return [duplicates.get(each, each) for each in _VALUE.findall(text)]


def _listed(words: Iterable[str]) -> str:
    return ", ".join(words)
