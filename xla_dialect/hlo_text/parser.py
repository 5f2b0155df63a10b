"""
HLO text to its syntax: recursive descent over the tokens of the lexer, one token ahead.

A text is a module, `HloModule name, attributes` and computations; or computations without that
head; or, in place of the entry computation, just its instructions. Instructions may stand in the
place of operands, and computations in the place of their names.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from xdsl.ir import Attribute

from xla_dialect.hlo_text.grammars import STACK_FRAME_TABLES
from xla_dialect.hlo_text.syntax import (
    COMPUTATION_LISTS,
    ONE_COMPUTATION,
    AttributeText,
    Computation,
    ComputationSignature,
    ComputationUse,
    HloText,
    Instruction,
    Module,
    Operand,
    Recovery,
    Span,
)
from xla_dialect.spelling import Excerpt, FreeNames, SpellingError
from xla_dialect.text.grammars import parsed
from xla_dialect.text.shapes import MAX_NESTING, TypeParser

_KEYWORDS = frozenset({"HloModule", "ENTRY", "ROOT"})
"""Names are spelled otherwise, or with `%`."""

ENTRY_NAME = "entry"
"""The entry computation, where the text has only its instructions."""

_LIST = re.compile(r"\s*+(?:[{}]|%?[\w.\-]++\s*+[,}])")
"""What follows the brace of a list of computations, and not that of a computation."""

_NUMBER = re.compile(r"[0-9]{1,18}")

_INSTRUCTION = re.compile(r"^[ \t]*(?=\}|(?:ROOT[ \t]+)?%?[\w.\-]+[ \t]+=)", re.MULTILINE)
_COMPUTATION = re.compile(r"^(?=(?:ENTRY[ \t]+)?%?[\w.\-]+[ \t]*[({])", re.MULTILINE)
"""Where a line begins an instruction, or ends a computation; where it begins a computation."""


def parse_module(text: str, file: str, recovery: Recovery | None = None) -> Module:
    """
    The syntax of a whole module.

    Raises HloSyntaxError for what is not HLO, and for names defined twice, missing parameters and
    a missing entry computation. With a `recovery`, only for what leaves no module: an instruction
    or a computation that cannot be read is stepped over.
    """
    source = HloText(text, file)
    try:
        return _Parser(source, recovery).module()
    except SpellingError as error:
        raise source.syntax_error(error) from None


@dataclass(slots=True)
class _Scope:
    """The names inside the braces of one computation."""

    computation: Computation
    makes_parameters: bool = False
    """Whether an operand that is not defined, with its shape, is a parameter of its own."""
    names: FreeNames = field(default_factory=FreeNames)
    numbered: dict[int, Instruction] = field(default_factory=dict[int, Instruction])
    """The parameters by number."""
    implicit: list[Instruction] = field(default_factory=list[Instruction])
    """The parameters that were made for operands, in the order of their use."""
    root: Instruction | None = None
    """The instruction marked ROOT."""

    elements: dict[tuple[str, int], str] = field(default_factory=dict[tuple[str, int], str])
    """The instructions that were made for `%p#1`, by the name and the number of the element."""


class _Parser(TypeParser):
    def __init__(self, source: HloText, recovery: Recovery | None):
        super().__init__(source.text)
        self.source = source
        self.recovery = recovery
        self.line = 1
        self.line_start = 0
        self.counted = 0
        """The offset up to which lines are counted."""
        self.computations: dict[str, Computation] = {}
        self.new_names = FreeNames()
        """Of computations without a name."""
        self.entry: Computation | None = None
        """The computation marked ENTRY, or the instructions outside of any."""
        self.scopes: list[_Scope] = []
        """The computations that are being read, each inside the one before."""
        self.depth = 0
        """How many operands are instructions at this place, one inside the other."""

    def module(self) -> Module:
        name, attributes = "", dict[str, AttributeText]()
        has_head = self.token == "HloModule"
        if has_head:
            self.advance()
            name = self.name("the name of the module")
            self.accept(":")
            attributes = self.attributes()
        layout_text = attributes.get("entry_computation_layout")
        layout = None if layout_text is None else self.entry_layout(layout_text.value)
        tables = self.tables()
        while self.kind != "end":
            if self.kind != "name":
                head = "" if has_head else "'HloModule', "
                self.fail_expected(f"{head}a computation or an instruction")
            if self.token == "ROOT" or self.next_character() == "=":
                self.entry_instructions()
            else:
                self.attempt(self.computation, _COMPUTATION)
        if not self.computations:
            self.fail("module has no computations")
        entry = self.entry or next(reversed(self.computations.values()))
        if not has_head:
            name = f"module_{entry.name}"
        return Module(
            *(self.source, self.text, name, attributes, tables),
            *(self.computations, entry, layout),
        )

    def name(self, what: str) -> str:
        """Steps over a name and returns it without `%`."""
        name = self.token
        if self.kind != "name" or name in _KEYWORDS:
            self.fail_expected(what)
        if name[0] == "%":
            name = name[1:]
        self.advance()
        return name

    def attributes(self) -> dict[str, AttributeText]:
        """Steps over `, name=value` as often as it stands here."""
        found: dict[str, AttributeText] = {}
        while self.token == ",":
            self.advance()
            if self.kind != "attribute":
                self.fail_expected("an attribute, 'name=' without a blank")
            name = self.token[:-1]
            start = self.start
            if name in found:
                self.fail(f"attribute '{name}' is given twice")
            if name in ONE_COMPUTATION or name in COMPUTATION_LISTS:
                found[name] = self.computations_of(name)
            else:
                found[name] = AttributeText(start, Span(*self.value()))
        return found

    def computations_of(self, attribute: str) -> AttributeText:
        """Steps over `name=%computation`, `name={ instructions }`, or `name={...}` with several."""
        start = self.start
        self.advance()
        value_start = self.start
        uses: list[ComputationUse] = []
        if attribute in ONE_COMPUTATION:
            if self.token == "{" and _LIST.match(self.text, self.end):
                self.fail(f"{attribute} takes one computation, not a list")
            uses.append(self.computation_use(attribute))
        elif self.accept("{"):
            while not self.accept("}"):
                if uses:
                    self.expect(",")
                uses.append(self.computation_use(attribute))
        else:
            self.fail_expected(f"'{{' after {attribute}=")
        return AttributeText(start, Span(value_start, self.start), tuple(uses))

    def computation_use(self, attribute: str) -> ComputationUse:
        """Steps over the name of a computation, or over its instructions in braces."""
        start = self.start
        if self.token != "{":
            return ComputationUse(self.name(f"a computation after {attribute}="), start)
        if not self.scopes:
            self.fail(f"only instructions have an attribute '{attribute}'")
        if len(self.scopes) == MAX_NESTING:
            self.fail(f"computations are nested deeper than {MAX_NESTING}")
        caller = self.scopes[-1].computation.name
        name = self.new_names.free(f"{caller}.{attribute}", self.computations)
        self.body(Computation(start, name, False, None))
        return ComputationUse(name, start)

    def tables(self) -> dict[str, list[str]]:
        """Steps over the stack frame tables, all four or none; their lines are numbered from 1."""
        tables: dict[str, list[str]] = {}
        if self.token not in STACK_FRAME_TABLES:
            return tables
        for table in STACK_FRAME_TABLES:
            if self.token != table:
                self.fail_expected(f"the table '{table}'")
            self.advance()
            tables[table] = self.table_lines(table)
        return tables

    def table_lines(self, table: str) -> list[str]:
        """Steps over `1 "..."` or `1 {...}`, and so on; returns what stands inside."""
        lines: list[str] = []
        while (number := self.token).isdecimal():
            if number != str(len(lines) + 1):
                self.fail_expected(f"'{len(lines) + 1}', the number of the next line")
            self.advance()
            start, end = self.start, self.end
            if self.token[:1] != STACK_FRAME_TABLES[table].brackets[0]:
                self.fail_expected(f"a line of '{table}'")
            if self.kind == "punctuation":
                self.expect("{")
                end = self.skip_group(start)
            with Excerpt(start):
                parsed(STACK_FRAME_TABLES[table].line, self.text[start:end])
            lines.append(self.text[start + 1 : end - 1])
            self.advance_to(end)
        return lines

    def computation(self) -> None:
        """Steps over a computation and adds it to the module."""
        is_entry = self.token == "ENTRY"
        if is_entry:
            self.advance()
        start = self.start
        name = self.name("a computation")
        signature = self.signature() if self.token == "(" else None
        computation = Computation(start, name, is_entry, signature)
        if name in self.computations:
            self.fail(f"computation '{name}' is defined twice", start)
        if is_entry:
            self.set_entry(computation)
        self.body(computation)
        computation.attributes = self.attributes()

    def set_entry(self, computation: Computation) -> None:
        """Makes it the entry computation; there can only be one."""
        if self.entry is not None:
            self.fail("second ENTRY computation", computation.start)
        self.entry = computation

    def signature(self, *, has_names: bool = True) -> ComputationSignature:
        """
        Steps over `(name: type, ...) -> type`; the names are those of the instructions.

        They have no `%` here, so `ROOT` may be one.
        """
        start = self.start
        self.expect("(")
        parameters: list[Attribute] = []
        while not self.accept(")"):
            if parameters:
                self.expect(",")
            if has_names:
                if self.kind != "name":
                    self.fail_expected("a parameter")
                self.advance()
                self.expect(":")
            parameters.append(self.type())
        self.expect("->")
        return ComputationSignature(start, parameters, self.start, self.type())

    def entry_layout(self, value: Span) -> ComputationSignature:
        """Reads `{(type, ...)->type}`; the current token stays."""
        resume_at = self.start
        self.advance_to(value.start)
        self.expect("{")
        layout = replace(self.signature(has_names=False), start=value.start)
        if self.token != "}":
            self.fail_expected("'}'")
        self.advance_to(resume_at)
        return layout

    def body(self, computation: Computation) -> None:
        """Steps over `{ instructions }` and adds the computation to the module."""
        self.expect("{")
        scope = _Scope(computation)
        self.scopes.append(scope)
        while self.token != "}":
            self.attempt(self.root_or_instruction, _INSTRUCTION)
        self.finish(scope)
        self.advance()

    def entry_instructions(self) -> None:
        """Steps over the instructions outside of any computation, up to the end of the text."""
        name = self.new_names.free(ENTRY_NAME, self.computations)
        computation = Computation(self.start, name, True, None)
        self.set_entry(computation)
        scope = _Scope(computation, makes_parameters=True)
        self.scopes.append(scope)
        while self.kind != "end":
            self.attempt(self.root_or_instruction, _INSTRUCTION)
        number = max(scope.numbered, default=-1)
        for parameter in scope.implicit:
            parameter.number = number = number + 1
            scope.numbered[number] = parameter
        self.finish(scope)

    def finish(self, scope: _Scope) -> None:
        """Completes the computation of the innermost scope and leaves it."""
        computation = scope.computation
        if not computation.instructions:
            self.fail(f"computation '{computation.name}' has no instructions")
        computation.root = scope.root or computation.instructions[-1]
        for number in range(len(scope.numbered)):
            if number not in scope.numbered:
                self.fail(
                    f"parameter {number} is missing in computation '{computation.name}', "
                    f"which has parameter {max(scope.numbered)}",
                    computation.start,
                )
            computation.parameters.append(scope.numbered[number])
        self.computations[computation.name] = computation
        self.scopes.pop()

    def attempt(self, step: Callable[[], None], resume: re.Pattern[str]) -> None:
        """Takes a step; with a recovery, an error is noted and reading goes on at a later line."""
        if self.recovery is None:
            step()
            return
        start, depth = self.start, len(self.scopes)
        try:
            step()
        except SpellingError as error:
            located = self.source.syntax_error(error)
            following = self.recovery.note(located, self.text, start, resume)
            if following is None:
                raise
            del self.scopes[depth:]
            self.depth = 0
            self.line, self.line_start, self.counted = 1, 0, 0
            self.advance_to(following)

    def root_or_instruction(self) -> None:
        """Steps over `ROOT name = ...` and adds it to the innermost computation."""
        scope = self.scopes[-1]
        is_root = self.token == "ROOT"
        if is_root:
            if scope.root is not None:
                self.fail("second ROOT instruction")
            self.advance()
        start = self.start
        name = self.name("an instruction")
        self.expect("=")
        instruction = self.instruction(scope, start, name)
        if is_root:
            scope.root = instruction

    def add(self, scope: _Scope, instruction: Instruction) -> None:
        """Adds an instruction to the computation; its name and parameter number must be new."""
        name = instruction.name
        if name in scope.names.taken:
            self.fail(f"'{name}' is defined twice in '{scope.computation.name}'", instruction.start)
        scope.names.taken.add(name)
        if instruction.opcode == "parameter" and instruction.number >= 0:
            if instruction.number in scope.numbered:
                self.fail(f"second parameter {instruction.number}", instruction.opcode_start)
            scope.numbered[instruction.number] = instruction
        scope.computation.instructions.append(instruction)

    def instruction(self, scope: _Scope, start: int, name: str) -> Instruction:
        """
        Steps over `type opcode(operands), attributes` and adds it to the computation.

        In the place of an operand, that is with the name "", there are no attributes, and the
        instruction is named after its opcode.
        """
        line, column = self.place(start)
        type_start = self.start
        type_ = self.type() if self.at_type() else None
        opcode, opcode_start = self.token, self.start
        if self.kind != "name":
            self.fail_expected("an opcode" if type_ is not None else "a shape or an opcode")
        self.advance()
        if self.token == "[":
            self.fail(f"the shape '{opcode}[' is never closed")
        argument_start = self.end
        operands: list[Operand] = []
        number = -1
        if opcode == "constant":
            if self.token != "(":
                self.fail_expected("'(' after the opcode 'constant'")
            end = self.skip_group(self.start)
            self.advance_to(end)
        else:
            if not self.accept("("):
                self.fail_expected(f"'(' after the opcode '{opcode}'")
            if opcode == "parameter":
                number = self.number("the parameter")
            elif self.token != ")":
                self.operands(scope, operands)
            end = self.end
            self.expect(")")
        instruction = Instruction(
            start,
            name or scope.names.free(f"{opcode}.anon"),
            line,
            column,
            type_,
            type_start,
            opcode,
            opcode_start,
            operands,
            Span(argument_start, end - 1),
            self.attributes() if name else {},
            number,
        )
        self.add(scope, instruction)
        return instruction

    def operands(self, scope: _Scope, operands: list[Operand]) -> None:
        """Fills in the operands, up to the closing parenthesis."""
        while True:
            type_ = None
            start = self.start
            if self.kind != "name" or self.token == "b":
                if self.at_type():
                    type_ = self.type()
                if self.kind != "name" and not (type_ is not None and scope.makes_parameters):
                    self.fail_expected("an operand")
            name = ""
            if self.kind == "name":
                name = self.token
                if name[0] == "%":
                    name = name[1:]
                self.advance()
            if self.token == "#":
                operands.append(Operand(start, self.element(scope, start, name), type_))
            elif self.token == "(":
                operands.append(self.nested_instruction(scope, start))
            elif scope.makes_parameters and name not in scope.names.taken:
                operands.append(self.implicit_parameter(scope, start, name, type_))
            else:
                operands.append(Operand(start, name, type_))
            if self.token != ",":
                return
            self.advance()

    def nested_instruction(self, scope: _Scope, start: int) -> Operand:
        """Steps over an instruction in the place of an operand, `s8[2] negate(x)`."""
        self.depth += 1
        if self.depth > MAX_NESTING:
            self.fail(f"instructions are nested deeper than {MAX_NESTING}")
        self.advance_to(start)
        instruction = self.instruction(scope, start, "")
        self.depth -= 1
        return Operand(start, instruction.name, None)

    def element(self, scope: _Scope, start: int, name: str) -> str:
        """Steps over `#1#0` after a name; the instruction that takes that element of a tuple."""
        while self.accept("#"):
            index = Span(self.start, self.end)
            whole = (name, self.number("an element"))
            known = scope.elements.get(whole)
            if known is None:
                line, column = self.place(start)
                known = scope.elements[whole] = scope.names.free("get-tuple-element")
                opcode = "get-tuple-element"
                operands = [Operand(start, name, None)]
                attributes = {"index": AttributeText(index.start, index)}
                self.add(
                    scope,
                    Instruction(
                        *(start, known, line, column, None, start, opcode, start, operands),
                        *(Span(start, start), attributes),
                    ),
                )
            name = known
        return name

    def implicit_parameter(
        self, scope: _Scope, start: int, name: str, type_: Attribute | None
    ) -> Operand:
        """Adds the parameter for an operand that no instruction defines."""
        if type_ is None:
            self.fail(
                f"'{name}' is not defined before its use; with its shape, as in 'f32[2] {name}', "
                "it would be a parameter",
                start,
            )
        line, column = self.place(start)
        name = name or scope.names.free("arg")
        parameter = Instruction(
            start, name, line, column, type_, start, "parameter", start, [], Span(start, start), {}
        )
        scope.implicit.append(parameter)
        self.add(scope, parameter)
        return Operand(start, name, type_)

    def number(self, what: str) -> int:
        """Steps over a number from 0."""
        if _NUMBER.fullmatch(self.token) is None:
            self.fail_expected(f"the number of {what}")
        number = int(self.token)
        self.advance()
        return number

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset that is not before that of the last call."""
        text = self.text
        newlines = text.count("\n", self.counted, offset)
        if newlines:
            self.line += newlines
            self.line_start = text.rfind("\n", self.counted, offset) + 1
        self.counted = offset
        return self.line, offset - self.line_start + 1
