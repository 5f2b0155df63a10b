"""
Every numbered rule in the docstring of an operation is broken alone by some FileCheck test.

The rules are read off the docstrings, and what is broken off the `expected-error` comments of the
`.mlir` files beside this one; few rules only a constructor can break (`test_undeclared_results`).
"""

import inspect
import re
from pathlib import Path
from types import ModuleType

import pytest

from tools.expected_diagnostics import expectations
from tools.rules import INHERITED, LABEL
from xla_dialect.op import XlaOp
from xla_dialect.ops import BY_OPCODE, FAMILIES, operations_of

FOLDER = Path(__file__).parent

# A rule that goes on to (RC1) and so on is broken by those labels.
OWN_RULE = re.compile(r"\((R[CG]\d+|C\d+(?!\)[^()]*\(R[CG]))\)")
MESSAGE = re.compile(r"(xla\.\w+): \((\w+)\) ")

CHECKED_ELSEWHERE = {
    ("xla.bitcast_convert", "C2"): "no two element types break it: all widths are powers of two",
    ("xla.dynamic_reshape", "C4"): "at run time only: test/reference",
    ("xla.infeed", "C2"): "the data is no part of the program",
    ("xla.recv", "C1"): "at run time only: test/reference/test_process_grid",
    ("xla.recv", "C4"): "at run time only: test/reference/test_process_grid",
    ("xla.recv_done", "C2"): "checked on its recv",
    ("xla.send", "C1"): "at run time only: test/reference/test_process_grid",
    ("xla.send_done", "C2"): "checked on its send",
}
"""The rules that no text breaks under their own name, with the reason."""


def rules(
    operation: type[XlaOp], family: ModuleType, pattern: re.Pattern[str]
) -> set[tuple[str, str]]:
    """The numbered rules of an operation: its own, and those C1, C2 that its family has for all."""
    text = inspect.cleandoc(operation.__doc__ or "")
    labels = {*pattern.findall(text), *re.findall(r"\((C\d+)\)", family.__doc__ or "")}
    return {(operation.name, label) for label in labels}


def inherited(operation: type[XlaOp]) -> set[tuple[str, str]]:
    """The rules of the operation that an asynchronous one begins."""
    match = INHERITED.search(operation.__doc__ or "")
    if match is None:
        return set()
    begun = BY_OPCODE[match[1].replace("_", "-")]
    return {(operation.name, label) for label in LABEL.findall(begun.__doc__ or "")}


def broken_in(path: Path) -> set[tuple[str, str]]:
    """Operation and label of every error that a file expects."""
    found = expectations(path.read_text(encoding="utf-8"))
    return {(match[1], match[2]) for error in found if (match := MESSAGE.match(error.text))}


OPERATIONS_OF = [(op, family) for family in FAMILIES for op in operations_of(family)]
STATED = {rule for op, family in OPERATIONS_OF for rule in rules(op, family, OWN_RULE)}
ALLOWED = {
    rule for op, family in OPERATIONS_OF for rule in rules(op, family, LABEL) | inherited(op)
}
BROKEN = {row for path in FOLDER.glob("*.mlir") for row in broken_in(path)}
NUMBERED = {row for row in BROKEN if LABEL.fullmatch(f"({row[1]})")}
# The rules about groups stand in `process_groups`, for all collectives.
GROUPS = {row for row in BROKEN if row[1].startswith("RG")}


def test_every_rule_is_broken() -> None:
    assert sorted(STATED - NUMBERED - CHECKED_ELSEWHERE.keys()) == []


def test_exceptions_are_needed() -> None:
    assert sorted(CHECKED_ELSEWHERE.keys() - STATED) == []
    assert sorted(CHECKED_ELSEWHERE.keys() & BROKEN) == []


def test_labels_are_stated() -> None:
    """No message has the number of a rule that the docstring does not have."""
    assert sorted(NUMBERED - GROUPS - ALLOWED) == []


@pytest.mark.parametrize("operation", BY_OPCODE.values(), ids=lambda op: op.name)
def test_every_operation_has_an_error(operation: type[XlaOp]) -> None:
    """Also an operation without rules of its own: its results at least can be declared wrongly."""
    assert any(name == operation.name for name, _ in BROKEN)
