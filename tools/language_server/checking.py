"""What is wrong with a text, and the types of its values: what takes time, and is done apart."""

from __future__ import annotations

import json
import re
import sys
import warnings
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field

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

LABEL = re.compile(r"\(((?:[AB]\.)?C\d+|R[CG]\d+)\)")
"""The label of a rule in a message."""


@dataclass(frozen=True)
class TextError:
    """A diagnostic: lines and columns count from 1; 0 means that they are not known."""

    line: int
    column: int
    message: str
    severity: str = "error"
    rule: str = ""
    """The label of the rule that is broken."""


@dataclass
class Findings:
    """What a check of a text found."""

    problems: list[TextError] = field(default_factory=list[TextError])
    types: dict[str, str] = field(default_factory=dict[str, str])
    """The types of values by `line:column` of the names that define them."""


def check(text: str, file_name: str) -> Findings:
    """Reads and verifies all programs of a text; whatever is wrong becomes a problem."""
    findings = Findings()
    chunks = [chunk for chunk in split_chunks(text) if not chunk.is_blank]
    for chunk in chunks:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            try:
                _check_program(chunk.shown, file_name, findings)
            except LocatedError as error:
                findings.problems.append(_problem(error))
            except XlaError as error:
                findings.problems.append(TextError(0, 0, str(error)))
        findings.problems += [
            TextError(0, 0, str(each.message), "warning")
            for each in caught
            if issubclass(each.category, UserWarning)
        ]
    return findings


def _check_program(text: str, file_name: str, findings: Findings) -> None:
    values: dict[int, Sequence[SSAValue]] = {}
    module = None
    sources = {file_name: text}
    match detect_format(text, file_name):
        case "hlo":
            module, errors = hlo_text.read_with_all_errors(text, file_name)
            if module is not None:
                for operation in operations_in(module):
                    blocks = (block for region in operation.regions for block in region.blocks)
                    _note_types(operation.results, place_of(operation.location), findings)
                    for argument in (a for block in blocks for a in block.args):
                        _note_types((argument,), place_of(argument.location), findings)
        case "stablehlo":
            errors, values = errors_of_stablehlo(text, file_name)
        case "mlir":
            module, errors, values = mlir_text.read_with_all_errors(text, make_context(), file_name)
    if module is not None:
        errors = list(violations(module, sources))
    findings.problems += map(_problem, errors)
    places = _Places(text)
    for offset, group in values.items():
        findings.types["{}:{}".format(*places.of(offset + 1))] = spell_types(group)


def _note_types(
    values: Sequence[SSAValue], place: tuple[str, int, int] | None, findings: Findings
) -> None:
    if place is not None and values:
        findings.types.setdefault(f"{place[1]}:{place[2]}", spell_types(values))


def spell_types(values: Iterable[SSAValue]) -> str:
    """The types of values, those of HLO as HLO text spells them with their layouts."""
    return ", ".join(spell_type(value.type) for value in values)


def spell_type(type_: Attribute) -> str:
    """A type: as HLO text spells it with its layout where that can."""
    if isinstance(type_, TensorType | TupleType | TokenType):
        try:
            return human_string_with_layout(type_)
        except (ValueError, XlaError):
            return str(type_)
    return str(type_)


def _problem(error: LocatedError) -> TextError:
    label = LABEL.search(error.message)
    return TextError(
        error.line, error.column, error.message, rule="" if label is None else label[1]
    )


class _Places:
    """Lines and columns, from 1, of offsets that come in any order."""

    def __init__(self, text: str):
        self.starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def of(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self.starts, offset)
        return line, offset - self.starts[line - 1] + 1


_WARM_UP = {
    "warm_up.hlo": "HloModule m\nENTRY e {\n  ROOT p = f32[] parameter(0)\n}\n",
    "stablehlo.mlir": "func.func @f(%x: tensor<f32>) {\n  %0 = stablehlo.abs %x : tensor<f32>\n"
    "  return\n}\n",
    "warm_up.mlir": "func.func @f(%x: f32) {\n  %0 = arith.negf %x : f32\n  func.return\n}\n",
}
"""Programs that are checked before any other: what that loads, the first of an editor needs not."""


def main() -> int:
    """Checks what stdin asks for, until it ends; returns the exit code."""
    replies = sys.stdout
    # Whatever else is printed would be taken for a reply.
    sys.stdout = sys.stderr
    for name, program in _WARM_UP.items():
        check(program, name)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            findings = check(request["text"], request["file"])
            problems, types = list(map(asdict, findings.problems)), findings.types
        except Exception as error:  # a bug of ours, which must not end the process
            message = f"internal error while checking: {type(error).__name__}: {error}"
            problems, types = [asdict(TextError(0, 0, message))], {}
        print(json.dumps({"problems": problems, "types": types}), file=replies, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
