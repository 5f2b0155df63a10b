"""What HLO text says, as the parser finds it: names are not resolved, attributes not interpreted.

Offsets count characters from the start of the text. Types are already those of the dialect.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple, NoReturn

from xdsl.ir import Attribute

from xla_dialect.diagnostics import LocatedError
from xla_dialect.spelling import SpellingError

ONE_COMPUTATION = frozenset(
    {
        *("body", "calls", "condition", "false_computation", "scatter", "select", "to_apply"),
        "true_computation",
    }
)
"""The attributes whose value is a computation: its name, or its instructions in braces."""

COMPUTATION_LISTS = frozenset({"branch_computations", "called_computations"})
"""The attributes whose value is a list of computations in braces."""


class HloText(NamedTuple):
    """A text as it was given, and the name of its file."""

    text: str
    file: str

    def syntax_error(self, error: SpellingError) -> HloSyntaxError:
        """The located error for what is wrong in the text."""
        return HloSyntaxError.at_offset(error.message, self.file, self.text, error.position)


class Span(NamedTuple):
    """A part of the text, from `start` up to `end`."""

    start: int
    end: int


@dataclass(slots=True)
class AttributeText:
    """An attribute as written: `name=value`."""

    start: int
    """Where the name starts."""
    value: Span
    computations: tuple[ComputationUse, ...] = ()
    """What the value names, if it is a computation or a list of computations."""


class ComputationUse(NamedTuple):
    """The name of a computation in an attribute; one written in place was given a name."""

    name: str
    start: int


@dataclass(slots=True)
class Operand:
    """A use of an instruction, `f32[2] %x`; the type is None where it is not written."""

    start: int
    name: str
    type: Attribute | None


@dataclass(slots=True)
class Instruction:
    """`ROOT name = type opcode(operands), attributes`."""

    start: int
    name: str
    line: int
    """The line of the name, from 1."""
    column: int
    """The column of the name, from 1."""
    type: Attribute | None
    type_start: int
    opcode: str
    opcode_start: int
    operands: list[Operand]
    argument: Span
    """What stands between the parentheses: the literal of a `constant`."""
    attributes: dict[str, AttributeText]
    number: int = -1
    """The number of a `parameter`."""
    callees: list[Computation] = field(default_factory=list["Computation"])
    """The computations that the attributes name; filled in by `resolve_computations`."""
    bound_later: list[Attribute] = field(default_factory=list[Attribute])
    """The types of the operands that others bind, of a `dot-start` and its like; filled in by
    `note_bound_later`."""
    result_bound_later: Attribute | None = None
    """The type of its result, where others bind it; filled in likewise."""


@dataclass(slots=True)
class ComputationSignature:
    """`(name: type, ...) -> type` in the head of a computation, or an entry layout."""

    start: int
    parameters: list[Attribute]
    result_start: int
    result: Attribute


@dataclass(slots=True)
class Computation:
    """`ENTRY name signature { instructions }, attributes`."""

    start: int
    name: str
    is_entry: bool
    signature: ComputationSignature | None
    instructions: list[Instruction] = field(default_factory=list[Instruction])
    root: Instruction | None = None
    """The instruction marked ROOT, or else the last one; None only while parsing."""
    parameters: list[Instruction] = field(default_factory=list[Instruction])
    """The `parameter` instructions by number."""
    attributes: dict[str, AttributeText] = field(default_factory=dict[str, AttributeText])
    becomes_function: bool = False
    """Whether it is more than regions of operations; filled in by `resolve_computations`."""
    is_shared: bool = False
    """Whether bodies and branches call it, for it would be copied too often; filled in likewise."""


@dataclass(slots=True)
class Module:
    """A whole text."""

    source: HloText
    text: str
    """The text of the source without comments; offsets are those of both."""
    name: str
    attributes: dict[str, AttributeText]
    tables: dict[str, list[str]]
    """The stack frame tables by name, e.g. `FileNames`; lines without numbers and brackets."""
    computations: dict[str, Computation]
    entry: Computation
    entry_layout: ComputationSignature | None
    """What `entry_computation_layout` says."""

    def fail(self, message: str, offset: int) -> NoReturn:
        """Raises HloImportError at an offset of the text."""
        raise HloImportError.at_offset(message, self.source.file, self.source.text, offset)


# What can be wrong with a module of HLO text, or with one that is to be printed as it.


class HloSyntaxError(LocatedError):
    """The text is not HLO: a token where another is expected, a bracket never closed."""


class HloImportError(LocatedError):
    """The text is HLO, but not a program: an undefined name, a shape that does not agree."""


class HloPrintError(LocatedError):
    """The module holds what HLO text cannot say: an operation or a type of another dialect."""


# Going on after an error in HLO text, so that one reading finds several.

MAX_ERRORS = 100
"""After so many, reading ends."""

_NAME = re.compile(r"(?:(?:ROOT|ENTRY)\s+)?%?([\w.\-]+)")


@dataclass
class Recovery:
    """The errors of a text so far, and what could not be read because of them."""

    errors: list[LocatedError] = field(default_factory=list[LocatedError])
    lost: set[str] = field(default_factory=set[str])
    """The names of instructions and computations that could not be read: to use them is no error of
    its own."""

    @property
    def is_full(self) -> bool:
        """Whether no more errors are looked for."""
        return len(self.errors) >= MAX_ERRORS

    def note(
        self, error: LocatedError, text: str, start: int, resume: re.Pattern[str]
    ) -> int | None:
        """
        Takes the error of what starts at an offset; returns where reading may go on.

        That is the next line that `resume` matches. None, and the error is not noted, where there
        is no such line, or there are too many errors.
        """
        line_end = text.find("\n", start)
        following = resume.search(text, line_end + 1) if line_end >= 0 else None
        if following is None or self.is_full:
            return None
        self.errors.append(error)
        name = _NAME.match(text, start)
        if name is not None:
            self.lost.add(name[1])
        return following.end()
