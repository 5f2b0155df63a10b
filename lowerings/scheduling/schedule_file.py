"""
Files of schedules: which operation runs how on which processor.

    // Comments, and lines between entries, are as in MLIR.
    schedules for "x86_64 skylake-avx512" {
      "5f3a91c2e0b7d441" = #schedule.nest<loops = [d1 by 32, d0 by 8, d2], vector = d1 x 16>
        note "contraction of 61x97xf32, 97x53xf32: 9.1 us, by default 12.3 us"
    }

The note of an entry, if it has one, is for people. Entries of `schedules { ... }` are for every
processor that has none of its own. The key of an entry, made by `operation_key`, is the same in
every process and program. It tells apart what a schedule may depend on: what is computed, on which
types, shapes and strides. Names, locations, offsets into buffers, and where the operation stands
do not matter.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import cast

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.parser import AttrParser

from lowerings.dialects.schedule import SCHEDULE, Schedule, ScheduleAttr
from xla_dialect.diagnostics import LocatedError, XlaError, read_text
from xla_dialect.mlir_text import parser_of
from xla_dialect.runtime.whole_files import replace_file

KEY_CHARACTERS = 16
"""Of a key, in hexadecimal; of a million operations two have the same once in 10^7 times."""


def operation_key(op: Operation) -> str:
    """The key of an operation; what it carries besides its properties does not count."""
    text = "\n".join(_lines(op))
    return hashlib.sha256(text.encode()).hexdigest()[:KEY_CHARACTERS]


def _lines(op: Operation) -> Iterator[str]:
    yield op.name
    yield from _properties(op.properties)
    yield from (_type_text(operand.type) for operand in op.operands)
    numbers: dict[SSAValue, int] = {}
    for region in op.regions:
        for block in region.blocks:
            yield from _block_lines(block, numbers)


def _block_lines(block: Block, numbers: dict[SSAValue, int]) -> Iterator[str]:
    for argument in block.args:
        numbers[argument] = len(numbers)
    yield f"block {', '.join(str(argument.type) for argument in block.args)}"
    for op in block.ops:
        operands = " ".join(_value_text(operand, numbers) for operand in op.operands)
        yield f"{op.name} {operands}"
        yield from _properties(op.properties)
        for result in op.results:
            numbers[result] = len(numbers)
            yield f"-> {result.type}"
        for region in op.regions:
            for inner in region.blocks:
                yield from _block_lines(inner, numbers)
        yield "end"


def _value_text(value: SSAValue, numbers: Mapping[SSAValue, int]) -> str:
    """A value of the body by its number, one from outside by what it is."""
    if value in numbers:
        return f"%{numbers[value]}"
    if isinstance(value.owner, arith.ConstantOp):
        return str(value.owner.value)
    return _type_text(value.type)


def _properties(properties: Mapping[str, Attribute]) -> Iterator[str]:
    return (f"{name} = {value}" for name, value in sorted(properties.items()))


def _type_text(type_: Attribute) -> str:
    if not isinstance(type_, MemRefType):
        return str(type_)
    memref = cast("MemRefType[Attribute]", type_)
    return f"memref {memref.shape} {memref.element_type} {_strides(memref)} {memref.memory_space}"


def _strides(memref: MemRefType[Attribute]) -> str:
    strides = memref.get_strides()
    if strides is None:
        return str(memref.layout)
    return " ".join("?" if stride is None else str(stride) for stride in strides)


@dataclass(frozen=True)
class ScheduleEntry:
    """How one operation runs on one processor."""

    key: str
    schedule: Schedule
    note: str = ""
    processor: str | None = None
    """None for all that have no entry of their own."""
    place: str = ""
    """Where it was read, `file:line:column`."""


class ScheduleFile:
    """Entries by processor and key."""

    def __init__(self, entries: Iterable[ScheduleEntry] = ()):
        self._entries = {(entry.processor, entry.key): entry for entry in entries}

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def entries(self) -> tuple[ScheduleEntry, ...]:
        """In the order in which they were read or added."""
        return tuple(self._entries.values())

    def entry(self, key: str, processor: str | None) -> ScheduleEntry | None:
        """The entry of an operation for a processor, else the one for all."""
        return self._entries.get((processor, key)) or self._entries.get((None, key))

    def updated(self, entries: Iterable[ScheduleEntry]) -> ScheduleFile:
        """With some entries in the place of those with their processor and key."""
        return ScheduleFile((*self.entries, *entries))

    def without(self, key: str, processor: str) -> ScheduleFile:
        """Without the entry of an operation for a processor, if there is one."""
        return ScheduleFile(e for e in self.entries if (e.key, e.processor) != (key, processor))

    def __str__(self) -> str:
        sections: dict[str | None, list[ScheduleEntry]] = {}
        for entry in self.entries:
            sections.setdefault(entry.processor, []).append(entry)
        return "\n".join(_section_text(name, own) for name, own in sections.items())

    def write(self, path: str | Path) -> None:
        """
        Writes the file beside its place and then puts it there: nobody sees a part of it.

        Raises XlaError where that is not possible.
        """
        try:
            replace_file(Path(path), str(self).encode())
        except OSError as error:
            raise XlaError(f"{path}: error: {error.strerror}") from None


def _section_text(processor: str | None, entries: Iterable[ScheduleEntry]) -> str:
    head = "schedules" if processor is None else f"schedules for {_quoted(processor)}"
    lines = [f"{head} {{"]
    for entry in entries:
        lines.append(f"  {_quoted(entry.key)} = {ScheduleAttr(entry.schedule)}")
        if entry.note:
            lines.append(f"    note {_quoted(entry.note)}")
    return "\n".join([*lines, "}\n"])


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def read_schedule_file(path: str | Path) -> ScheduleFile:
    """The schedules of a file; raises XlaError with the place of what is wrong."""
    return parse_schedule_file(read_text(path), str(path))


# A program is compiled again and again by the same file: 1000 entries take 0.2 s to parse.
@lru_cache(maxsize=8)
def parse_schedule_file(text: str, file_name: str = "<schedules>") -> ScheduleFile:
    """The schedules that a text has; raises LocatedError."""
    ctx = Context()
    ctx.load_dialect(SCHEDULE)
    found: dict[tuple[str | None, str], ScheduleEntry] = {}
    with parser_of(text, ctx, file_name) as parser:
        while parser.parse_optional_keyword("schedules"):
            processor = parser.parse_str_literal() if parser.parse_optional_keyword("for") else None
            parser.parse_characters("{")
            while not parser.parse_optional_characters("}"):
                start = parser.pos
                entry = replace(_parse_entry(parser), processor=processor)
                if (processor, entry.key) in found:
                    parser.raise_error(f"a second entry {entry.key!r}", start, parser.pos)
                at = LocatedError.at_offset("", file_name, text, start)
                place = f"{file_name}:{at.line}:{at.column}"
                found[processor, entry.key] = replace(entry, place=place)
        if parser.pos < len(text):
            parser.raise_error("expected 'schedules'")
    return ScheduleFile(found.values())


def _parse_entry(parser: AttrParser) -> ScheduleEntry:
    key = parser.parse_str_literal(" of an operation's key, or '}'")
    parser.parse_characters("=")
    start = parser.pos
    attribute = parser.parse_attribute()
    if not isinstance(attribute, ScheduleAttr):
        parser.raise_error(f"expected #{ScheduleAttr.name}<...>", start, parser.pos)
    note = parser.parse_str_literal() if parser.parse_optional_keyword("note") else ""
    return ScheduleEntry(key, attribute.data, note)
