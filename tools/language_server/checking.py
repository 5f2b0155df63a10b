"""What is wrong with a text, and the types of its values: what takes time, and is done apart."""

from __future__ import annotations

import re
import warnings
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import TensorType, TupleType
from xdsl.ir import Attribute, SSAValue

from lowerings.driver.context import make_context
from lowerings.driver.program import detect_format
from xla_dialect import hlo_text, mlir_text
from xla_dialect.diagnostics import LocatedError, XlaError
from xla_dialect.layouts.type_layouts import human_string_with_layout
from xla_dialect.stablehlo.reader import errors_of_stablehlo
from xla_dialect.types import TokenType
from xla_dialect.verification import violations
from xla_dialect.violations import place_of
from xla_dialect.xdsl.traversal import operations_in

from ..input_text import split_chunks
from ..rules import LABEL


@dataclass(frozen=True)
class TextError:
    """A diagnostic: lines and columns count from 1; 0 means that they are not known."""

    line: int
    column: int
    message: str
    severity: str = "Error"

    @property
    def rule(self) -> str | None:
        """The label of the rule that is broken."""
        label = LABEL.search(self.message)
        return None if label is None else label[1]


@dataclass
class Findings:
    """What a check of a text found."""

    problems: list[TextError] = field(default_factory=list[TextError])
    types: dict[tuple[int, int], str] = field(default_factory=dict[tuple[int, int], str])
    """The types of values by the line and column of the names that define them, without `%`."""


def check(text: str, file_name: str) -> Findings:
    """Reads and verifies all programs of a text; whatever is wrong becomes a problem."""
    findings = Findings()
    chunks = [chunk for chunk in split_chunks(text) if not chunk.is_blank]
    for chunk in chunks:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            try:
                errors = _check_program(chunk.shown, file_name, findings)
            except XlaError as error:
                errors = [error]
        for error in errors:
            if isinstance(error, LocatedError):
                found = TextError(error.line, error.column, error.message)
            else:
                found = TextError(0, 0, str(error))
            findings.problems.append(found)
        findings.problems += [
            TextError(0, 0, str(each.message), "Warning")
            for each in caught
            if issubclass(each.category, UserWarning)
        ]
    return findings


def _check_program(text: str, file_name: str, findings: Findings) -> Sequence[XlaError]:
    """What is wrong with one program; the types of its values are noted."""
    module = None
    values: dict[int, Sequence[SSAValue]] = {}
    match detect_format(text, file_name):
        case "hlo":
            module, errors = hlo_text.read_with_all_errors(text, file_name)
            for operation in () if module is None else operations_in(module):
                _note_types(operation.results, operation.location, findings)
                for argument in (a for r in operation.regions for b in r.blocks for a in b.args):
                    _note_types((argument,), argument.location, findings)
        case "stablehlo":
            errors, values = errors_of_stablehlo(text, file_name)
        case "mlir":
            module, errors, values = mlir_text.read_with_all_errors(text, make_context(), file_name)
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    for offset, group in values.items():
        line = bisect_right(starts, offset + 1)
        findings.types[line, offset + 2 - starts[line - 1]] = spell_types(group)
    return errors if module is None else [*violations(module, {file_name: text})]


def _note_types(values: Sequence[SSAValue], location: Attribute, findings: Findings) -> None:
    place = place_of(location)
    if place is not None and values:
        findings.types.setdefault(place[1:], spell_types(values))


def spell_types(values: Iterable[SSAValue]) -> str:
    """The types of values, those of HLO as HLO text spells them with their layouts."""
    return ", ".join(spell_type(value.type) for value in values)


def spell_type(type_: Attribute) -> str:
    """A type: as HLO text spells it with its layout where that can."""
    if isinstance(type_, TensorType | TupleType | TokenType):
        try:
            return human_string_with_layout(type_)
        except (ValueError, XlaError):
            pass
    return str(type_)
