"""HLO text to its syntax: recursive descent over the tokens of the lexer, one token ahead."""

from __future__ import annotations

import re
from typing import cast

from xdsl.dialects.builtin import TupleType
from xdsl.ir import Attribute, TypeAttribute

from xla_dialect.hlo_text.errors import PartError
from xla_dialect.hlo_text.lexer import Lexer
from xla_dialect.hlo_text.shapes import parse_shape
from xla_dialect.hlo_text.syntax import (
    AttributeText,
    Computation,
    Instruction,
    Module,
    Operand,
    Signature,
    Span,
)

MAX_NESTING = 32
"""How deep tuples, and computations inside instructions, may be nested."""

STACK_FRAME_TABLES = {
    "FileNames": "string",
    "FunctionNames": "string",
    "FileLocations": "punctuation",
    "StackFrames": "punctuation",
}
"""The tables between the head of a module and its computations, in the order XLA prints them, and
the kind of token that their lines start with after the number."""

_NUMBER = re.compile(r"[0-9]{1,18}")


def parse_module(text: str, file: str) -> Module:
    """
    The syntax of a whole module.

    Raises HloSyntaxError for what is not HLO, and for names defined twice, missing parameters and
    a missing entry computation.
    """
    return _Parser(text, file).module()


def parse_type(text: str) -> Attribute:
    """
    The type that a text spells: `f32[2,3]{1,0}`, `(s32[], pred[4])`, `token[]`.

    Raises HloSyntaxError.
    """
    parser = _Parser(text, "<type>")
    type_ = parser.type()
    if parser.lexer.kind != "end":
        parser.lexer.fail_expected("the end of the type")
    return type_


class _Parser:
    def __init__(self, text: str, file: str):
        self.lexer = Lexer(text, file)
        self.types: dict[str, Attribute] = {}
        """Every spelling of a type met so far."""
        self.equal_types: dict[Attribute, Attribute] = {}
        """One object for all equal types, so that comparing them mostly ends at identity."""
        self.line = 1
        self.line_start = 0
        self.counted = 0
        """The offset up to which lines are counted."""

    def module(self) -> Module:
        lexer = self.lexer
        if lexer.token != "HloModule":
            lexer.fail_expected("'HloModule'")
        lexer.advance()
        name = self.name("the name of the module")
        attributes = self.attributes()
        layout_text = attributes.get("entry_computation_layout")
        layout = None if layout_text is None else self.entry_layout(layout_text.value)
        tables = self.tables()
        computations: dict[str, Computation] = {}
        entry: Computation | None = None
        while lexer.kind != "end":
            computation = self.computation()
            if computation.name in computations:
                lexer.fail(f"computation '{computation.name}' is defined twice", computation.start)
            computations[computation.name] = computation
            if computation.is_entry:
                if entry is not None:
                    lexer.fail("second ENTRY computation", computation.start)
                entry = computation
        if entry is None:
            if len(computations) != 1:
                lexer.fail("module has no ENTRY computation")
            (entry,) = computations.values()
        return Module(lexer.text, lexer.file, name, attributes, tables, computations, entry, layout)

    def name(self, what: str) -> str:
        """Steps over a name and returns it without `%`."""
        lexer = self.lexer
        if lexer.kind != "name":
            lexer.fail_expected(what)
        name = lexer.token
        if name[0] == "%":
            name = name[1:]
        lexer.advance()
        return name

    def attributes(self) -> dict[str, AttributeText]:
        """Steps over `, name=value` as often as it stands here."""
        lexer = self.lexer
        found: dict[str, AttributeText] = {}
        while lexer.token == ",":
            lexer.advance()
            if lexer.kind != "attribute":
                lexer.fail_expected("an attribute, 'name=' without a blank")
            name = lexer.token[:-1]
            start = lexer.start
            if name in found:
                lexer.fail(f"attribute '{name}' is given twice")
            found[name] = AttributeText(start, Span(*lexer.value()))
        return found

    def tables(self) -> dict[str, list[str]]:
        """Steps over the stack frame tables; their lines are numbered 1, 2, and so on."""
        lexer = self.lexer
        tables: dict[str, list[str]] = {}
        while (name := lexer.token) in STACK_FRAME_TABLES:
            if name in tables:
                lexer.fail(f"second table '{name}'")
            lexer.advance()
            tables[name] = self.table_lines(name)
        return tables

    def table_lines(self, table: str) -> list[str]:
        """Steps over `1 "..."` or `1 {...}`, and so on; returns what stands inside."""
        lexer = self.lexer
        lines: list[str] = []
        while (number := lexer.token).isdecimal():
            if number != str(len(lines) + 1):
                lexer.fail_expected(f"'{len(lines) + 1}', the number of the next line")
            lexer.advance()
            start, end = lexer.start, lexer.end
            if lexer.kind != STACK_FRAME_TABLES[table]:
                lexer.fail_expected(f"a line of '{table}'")
            if lexer.kind == "punctuation":
                lexer.expect("{")
                end = lexer.skip_group(start)
            lines.append(lexer.text[start + 1 : end - 1])
            lexer.advance_to(end)
        return lines

    def computation(self) -> Computation:
        lexer = self.lexer
        is_entry = lexer.token == "ENTRY"
        if is_entry:
            lexer.advance()
        start = lexer.start
        name = self.name("a computation")
        signature = self.signature() if lexer.token == "(" else None
        computation = Computation(start, name, is_entry, signature)
        lexer.expect("{")
        self.instructions(computation)
        lexer.expect("}")
        computation.attributes = self.attributes()
        return computation

    def signature(self) -> Signature:
        """Steps over `(name: type, ...) -> type`; the names are those of the instructions."""
        lexer = self.lexer
        start = lexer.start
        lexer.expect("(")
        parameters: list[Attribute] = []
        while not lexer.accept(")"):
            if parameters:
                lexer.expect(",")
            self.name("a parameter")
            lexer.expect(":")
            parameters.append(self.type())
        lexer.expect("->")
        return Signature(start, parameters, lexer.start, self.type())

    def entry_layout(self, value: Span) -> Signature:
        """Reads `{(type, ...)->type}`; the current token stays."""
        lexer = self.lexer
        resume_at = lexer.start
        lexer.advance_to(value.start)
        lexer.expect("{")
        lexer.expect("(")
        parameters: list[Attribute] = []
        while not lexer.accept(")"):
            if parameters:
                lexer.expect(",")
            parameters.append(self.type())
        lexer.expect("->")
        layout = Signature(value.start, parameters, lexer.start, self.type())
        if lexer.token != "}":
            lexer.fail_expected("'}'")
        lexer.advance_to(resume_at)
        return layout

    def instructions(self, computation: Computation) -> None:
        """Fills in the instructions, up to the closing brace."""
        lexer = self.lexer
        names: set[str] = set()
        numbered: dict[int, Instruction] = {}
        instructions = computation.instructions
        marked: Instruction | None = None
        while lexer.token != "}":
            is_root = lexer.token == "ROOT"
            if is_root:
                if marked is not None:
                    lexer.fail("second ROOT instruction")
                lexer.advance()
            instruction = self.instruction()
            if is_root:
                marked = instruction
            if instruction.name in names:
                lexer.fail(
                    f"'{instruction.name}' is defined twice in '{computation.name}'",
                    instruction.start,
                )
            names.add(instruction.name)
            if instruction.opcode == "parameter":
                if instruction.number in numbered:
                    lexer.fail(f"second parameter {instruction.number}", instruction.opcode_start)
                numbered[instruction.number] = instruction
            instructions.append(instruction)
        if not instructions:
            lexer.fail(f"computation '{computation.name}' has no instructions")
        computation.root = marked or instructions[-1]
        for number in range(len(numbered)):
            if number not in numbered:
                lexer.fail(
                    f"parameter {number} is missing in computation '{computation.name}', "
                    f"which has parameter {max(numbered)}",
                    computation.start,
                )
            computation.parameters.append(numbered[number])

    def instruction(self) -> Instruction:
        lexer = self.lexer
        start = lexer.start
        line, column = self.place(start)
        name = self.name("an instruction")
        lexer.expect("=")
        type_start = lexer.start
        type_ = self.type() if lexer.kind == "shape" or lexer.token == "(" else None
        opcode, opcode_start = lexer.token, lexer.start
        if lexer.kind != "name":
            lexer.fail_expected("an opcode" if type_ is not None else "a shape or an opcode")
        lexer.advance()
        if lexer.token == "[":
            lexer.fail(f"the shape '{opcode}[' is never closed")
        argument_start = lexer.end
        operands: list[Operand] = []
        number = -1
        if opcode == "constant":
            if lexer.token != "(":
                lexer.fail_expected("'(' after the opcode 'constant'")
            end = lexer.skip_group(lexer.start)
            lexer.advance_to(end)
        else:
            if not lexer.accept("("):
                lexer.fail_expected(f"'(' after the opcode '{opcode}'")
            if opcode == "parameter":
                number = self.parameter_number()
            elif lexer.token != ")":
                self.operands(operands)
            end = lexer.end
            lexer.expect(")")
        return Instruction(
            start,
            name,
            line,
            column,
            type_,
            type_start,
            opcode,
            opcode_start,
            operands,
            Span(argument_start, end - 1),
            self.attributes(),
            number,
        )

    def operands(self, operands: list[Operand]) -> None:
        """Fills in the operands, up to the closing parenthesis."""
        lexer = self.lexer
        while True:
            type_ = None
            start = lexer.start
            if lexer.kind != "name":
                if lexer.kind == "shape" or lexer.token == "(":
                    type_ = self.type()
                if lexer.kind != "name":
                    lexer.fail_expected("an operand")
            name = lexer.token
            if name[0] == "%":
                name = name[1:]
            operands.append(Operand(start, name, type_))
            lexer.advance()
            if lexer.token != ",":
                return
            lexer.advance()

    def parameter_number(self) -> int:
        lexer = self.lexer
        if _NUMBER.fullmatch(lexer.token) is None:
            lexer.fail_expected("the number of the parameter")
        number = int(lexer.token)
        lexer.advance()
        return number

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset that is not before that of the last call."""
        text = self.lexer.text
        newlines = text.count("\n", self.counted, offset)
        if newlines:
            self.line += newlines
            self.line_start = text.rfind("\n", self.counted, offset) + 1
        self.counted = offset
        return self.line, offset - self.line_start + 1

    def type(self) -> Attribute:
        """Steps over a shape and returns its type."""
        lexer = self.lexer
        if lexer.kind == "shape":
            type_ = self.types.get(lexer.token)
            if type_ is None:
                type_ = self.new_type(self.array(lexer.token, lexer.start))
            lexer.advance()
            return type_
        if lexer.token != "(":
            lexer.fail_expected("a shape")
        start = lexer.start
        end = lexer.skip_group(start)
        text = lexer.text[start:end]
        type_ = self.types.get(text)
        if type_ is None:
            type_ = self.types[text] = self.tuple()
        else:
            lexer.advance_to(end)
        return type_

    def array(self, text: str, start: int) -> Attribute:
        try:
            return parse_shape(text)
        except PartError as error:
            self.lexer.fail(str(error), start + error.position)

    def new_type(self, type_: Attribute) -> Attribute:
        """The object that stands for this type from now on, under the current token."""
        type_ = self.types[self.lexer.token] = self.equal_types.setdefault(type_, type_)
        return type_

    def tuple(self) -> Attribute:
        """Steps over a tuple shape, without recursion."""
        lexer = self.lexer
        open_tuples: list[list[Attribute]] = []
        while True:
            start = lexer.start
            if lexer.accept("("):
                if len(open_tuples) == MAX_NESTING:
                    lexer.fail(f"tuples are nested deeper than {MAX_NESTING}", start)
                open_tuples.append([])
                if lexer.token != ")":
                    continue
            else:
                open_tuples[-1].append(self.type())
            while lexer.accept(")"):
                elements = cast("list[TypeAttribute]", open_tuples.pop())
                type_: Attribute = TupleType(tuple(elements))
                type_ = self.equal_types.setdefault(type_, type_)
                if not open_tuples:
                    return type_
                open_tuples[-1].append(type_)
            lexer.expect(",")
