"""xDSL's parser with what reading StableHLO safely needs beyond it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeAlias

from xdsl.context import Context
from xdsl.dialects.builtin import (
    AnyDenseElement,
    DenseIntOrFPElementsAttr,
    RankedStructure,
    UnregisteredAttr,
    UnregisteredOp,
)
from xdsl.ir import Attribute, AttributeInvT, Block, Operation, Region, SSAValue, TypeAttribute
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.lexer import Span
from xdsl.utils.mlir_lexer import MLIRTokenKind

from xla_dialect.mlir_text import LocatingParser
from xla_dialect.stablehlo.attributes import Bounds
from xla_dialect.stablehlo.op import StableHloOp
from xla_dialect.xdsl.creation import create
from xla_dialect.xdsl.dense_literals import parse_dense_literal
from xla_dialect.xdsl.text import MlirParser

LINE = re.compile(r'(?:%([\w$.-]+)(?::([0-9]{1,9}))? = )?(("?)([\w$.-]+)[^\n]*)\n')
"""A line with an operation: name and number of its results, the rest, a quote, its own name."""

_VALUE = re.compile(r"%([\w$.-]+)(?:#([0-9]{1,9}))?")
_BLANK = re.compile(r"(?:\s|//[^\n]*\n)*")
Values: TypeAlias = Mapping[str, tuple[SSAValue, ...]]
"""The values that are defined, by their names."""

_MAX_LENGTH = 1 << 10
"""Longer lines hold large constants, which are not repeated."""


class _Known(NamedTuple):
    """What the operations of equal lines have in common."""

    operand_types: Sequence[Attribute]
    result_count: int
    regions: Sequence[Region]
    """Those of `reduce(...) applies ...`, which stand in the line; to be copied."""
    make: Callable[..., Operation]
    """Makes one of operands and regions."""


class KnownLines:
    """
    Operations made by copying one from an equal line, as generated programs repeat themselves.

    JAX prints an operation on a line of its own. Two lines that differ only in the names of values
    are operations of one class with the same types, properties and attributes. So the first is
    parsed, and the next ones are copied, with their own operands: a tenth of the work.
    """

    def __init__(self, text: str):
        self._text = text
        self._known: dict[tuple[str, str], _Known] = {}

    def copy(self, line: re.Match[str], dialect: str, values: Values) -> Operation | None:
        """
        The operation of a line, read in the context of a dialect and of the values defined so far.

        None where no such line was read before, or where its operands are not what they were then.
        """
        text = line.group(3)
        known = self._known.get((dialect, _VALUE.sub("%", text)))
        if known is None or int(line.group(2) or line.group(1) is not None) != known.result_count:
            return None
        operands = _operands(text, values)
        types = known.operand_types
        if operands is None or any(
            value.type is not type_ and value.type != type_
            for value, type_ in zip(operands, types, strict=True)
        ):
            return None
        return known.make(operands=operands, regions=[region.clone() for region in known.regions])

    def remember(
        self, line: re.Match[str], dialect: str, values: Values, op: Operation, end: int
    ) -> None:
        """Remembers the operation that was read from a line; `end` is where the next one starts."""
        text = line.group(3)
        if len(text) > _MAX_LENGTH or op.successors:
            return
        rest = _BLANK.match(self._text, line.end())
        if rest is None or rest.end() != end or _operands(text, values) != list(op.operands):
            return
        self._known[dialect, _VALUE.sub("%", text)] = _Known(
            tuple(operand.type for operand in op.operands),
            len(op.results),
            op.regions,
            partial(
                create,
                type(op),
                result_types=tuple(result.type for result in op.results),
                properties=dict(op.properties),
                attributes=dict(op.attributes),
                location=op.location,
            ),
        )


def _operands(text: str, values: Values) -> list[SSAValue] | None:
    """The values that a line names, in order; None where one is not defined."""
    operands: list[SSAValue] = []
    for name, index in _VALUE.findall(text):
        found = values.get(name)
        place = int(index) if index else 0
        if found is None or place >= len(found):
            return None
        operands.append(found[place])
    return operands


MAX_RANK = 256
"""Arrays of more dimensions are an error: xDSL's parser takes quadratic time on them."""

MAX_REGION_DEPTH = 384
"""Regions nested deeper are an error: passes walk them by `deep_recursion`."""


class StableHloParser(LocatingParser):
    """
    Parses a module of StableHLO.

    It remembers where every operation stands, takes values only after their definition (in
    StableHLO nothing else is legal), bounds nesting, and leaves splats unexpanded.
    """

    def __init__(self, context: Context, text: str, file_name: str):
        super().__init__(context, text, file_name)
        self._lines = KnownLines(text)
        self._names: list[int] = []
        self._depth = 0
        self._tensor_types: dict[str, TypeAttribute] = {}

    def parse_operation(self) -> Operation:
        """Parses an operation and remembers its place."""
        line = LINE.match(self.lexer.input.content, self.pos)
        stack = self._parser_state.dialect_stack
        dialect = stack[-1] if stack else ""
        if line is not None:
            copied = self._copied_operation(line, dialect)
            if copied is not None:
                return copied
        outer = len(self._names)
        operation = MlirParser.parse_operation(self)
        start = self._names[outer]
        if isinstance(operation, StableHloOp):
            try:
                operation.complete()
            except VerifyException as error:
                self.raise_error(f"{operation.name}: {error}", start, start)
        # More than one where a parser has gone on after an error inside.
        del self._names[outer:]
        if line is not None:
            self._lines.remember(line, dialect, self.ssa_values, operation, self.pos)
        self.locate(operation, start)
        return operation

    def _copied_operation(self, line: re.Match[str], dialect: str) -> Operation | None:
        """The operation of a line like one that was parsed before."""
        if line.group(1) in self.ssa_values:
            return None
        operation = self._lines.copy(line, dialect, self.ssa_values)
        if operation is None:
            return None
        self.locate(operation, line.start(5))
        if operation.results:
            span = Span(line.start(1) - 1, line.end(1), self.lexer.input)
            self._register_ssa_definition(line.group(1), operation.results, span)
        self._resume_from(line.end())
        return operation

    def _get_op_by_name(self, name: str) -> type[Operation]:
        start = self.lexer.input.content.rfind(name, 0, self.pos)
        self._names.append(start)
        found = self.operation_named(name)
        if found is None:
            message = f"{name}: this operation is not supported{self.hint_at_operation(name)}"
            self.raise_error(message, start, start + len(name))
        return found

    def operation_named(self, name: str) -> type[Operation] | None:
        """The class of an operation; those of MHLO that are no others are StableHLO's or CHLO's."""
        found = super().operation_named(name)
        if found is not None and not issubclass(found, UnregisteredOp):
            return found
        dialect, _, word = name.partition(".")
        others = ("stablehlo", "chlo") if dialect == "mhlo" else ()
        return next(filter(None, (self.operation_named(f"{each}.{word}") for each in others)), None)

    def _parse_dialect_type_or_attribute_body(
        self, attr_name: str, is_type: bool, is_opaque: bool, starting_opaque_pos: int | None
    ) -> Any:
        """Parses the rest of an attribute or a type; those of MHLO are StableHLO's."""
        if attr_name.startswith("mhlo."):
            same = f"stablehlo.{attr_name.removeprefix('mhlo.')}"
            find = self.ctx.get_optional_type if is_type else self.ctx.get_optional_attr
            known = find(same)
            if known is not None and not issubclass(known, UnregisteredAttr):
                attr_name = same
        if attr_name.endswith("hlo.type_extensions"):
            with self.in_angle_brackets():
                return Bounds.parse_older(self)
        return super()._parse_dialect_type_or_attribute_body(
            attr_name, is_type, is_opaque, starting_opaque_pos
        )

    def resolve_operand(
        self, operand: UnresolvedOperand, type: AttributeInvT
    ) -> SSAValue[AttributeInvT]:
        """Looks up a value that is defined before."""
        if operand.operand_name not in self.ssa_values:
            self.raise_error(f"{operand.span.text} is not defined before this use", operand.span)
        return super().resolve_operand(operand, type)

    def parse_optional_region(
        self, arguments: Iterable[Parser.Argument] | None = None
    ) -> Region | None:
        """Parses a region, if present; its depth is bounded."""
        self._depth += 1
        try:
            if self._depth > MAX_REGION_DEPTH:
                self.raise_error(f"regions are nested more than {MAX_REGION_DEPTH} deep")
            return super().parse_optional_region(arguments)
        finally:
            self._depth -= 1

    def _parse_block(self) -> Block:
        if self._current_token.kind != MLIRTokenKind.CARET_IDENT:
            self.raise_error("expected an operation, a block label or '}'")
        block = super()._parse_block()
        # As in MLIR, labels are no names: printed, one may be taken by a block around.
        block.name_hint = None
        return block

    def parse_optional_type(self) -> TypeAttribute | None:
        """Parses a type, if present; the same plain tensor type is parsed only once."""
        start = self.pos
        plain = _PLAIN_TENSOR.match(self.lexer.input.content, start)
        if plain is None:
            self._check_rank(start)
            return super().parse_optional_type()
        found = self._tensor_types.get(plain.group())
        if found is not None:
            self._resume_from(plain.end())
            return found
        self._check_rank(start)
        found = super().parse_optional_type()
        if found is not None:
            self._tensor_types[plain.group()] = found
        return found

    def _check_rank(self, start: int) -> None:
        sizes = _SIZES.match(self.lexer.input.content, start)
        if sizes is not None and sizes.group().count("x") > MAX_RANK:
            self.raise_error(f"an array has more than {MAX_RANK} dimensions", start, sizes.end())

    def parse_dense_int_or_fp_elements_attr(
        self, type: RankedStructure[AnyDenseElement] | None
    ) -> DenseIntOrFPElementsAttr[Any]:
        """Parses a dense literal; a splat keeps its one element, however large its type."""
        return parse_dense_literal(self, type).compact()


_PLAIN_TENSOR = re.compile(r"tensor<(?:[0-9]{1,18}x)*(?:[a-z][a-zA-Z0-9]*+|complex<f[0-9]++>)>")
"""A tensor type that is the same wherever it stands: no encoding, no alias."""

_SIZES = re.compile(r"tensor<(?:[0-9?]+x)*")
