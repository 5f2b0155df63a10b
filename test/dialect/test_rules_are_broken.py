"""
Every numbered rule in the docstring of an operation is broken alone by some FileCheck test.

The rules are read off the docstrings, and what is broken off the `expected-error` comments of the
`.mlir` files beside this one; few rules only a constructor can break (`test_undeclared_results`).
One of the programs of each rule breaks it with sizes that are not known too, by those that are.
"""

import inspect
import re
from pathlib import Path

from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp, TensorType
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import Rewriter

from lowerings.driver.program import parse_program
from tools.expected_diagnostics import expectations
from tools.input_text import split_chunks
from tools.rules import INHERITED, LABEL, own_labels, stating_bases
from xla_dialect.op import XlaOp
from xla_dialect.ops import BY_OPCODE, OPERATIONS
from xla_dialect.types import as_array
from xla_dialect.verification import violations

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
    ("xla.set_dimension_size", "C5"): "at run time only: test/execution/test_dynamic_sizes",
}
"""The rules that no text breaks under their own name, with the reason."""


def rules(operation: type[XlaOp], pattern: re.Pattern[str]) -> set[tuple[str, str]]:
    """The numbered rules of an operation: its own, and those of its bases."""
    text = inspect.cleandoc(operation.__doc__ or "")
    labels = {*pattern.findall(text)}
    for base in stating_bases(operation):
        labels |= {*own_labels(base.__doc__)}
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


STATED = {rule for op in OPERATIONS for rule in rules(op, OWN_RULE)}
ALLOWED = {rule for op in OPERATIONS for rule in rules(op, LABEL) | inherited(op)}
BROKEN = {row for path in FOLDER.glob("*.mlir") for row in broken_in(path)}
NUMBERED = {row for row in BROKEN if LABEL.fullmatch(f"({row[1]})")}
# The rules about groups stand in `ops/collectives.py`, for all collectives.
GROUPS = {row for row in BROKEN if row[1].startswith("RG")}


def test_every_rule_is_broken() -> None:
    assert sorted(STATED - NUMBERED - CHECKED_ELSEWHERE.keys()) == []


def test_exceptions_are_needed() -> None:
    assert sorted(CHECKED_ELSEWHERE.keys() - STATED) == []
    assert sorted(CHECKED_ELSEWHERE.keys() & BROKEN) == []


def test_labels_are_stated() -> None:
    """No message has the number of a rule that the docstring does not have."""
    assert sorted(NUMBERED - GROUPS - ALLOWED) == []


def test_every_operation_has_an_error() -> None:
    """Also an operation without rules of its own: its results at least can be declared wrongly."""
    assert {operation.name for operation in BY_OPCODE.values()} <= {name for name, _ in BROKEN}


def broken_rules(module: ModuleOp, has_unknown_sizes: bool = False) -> set[tuple[str, str]]:
    """Operation and label of every rule that a module breaks."""
    errors = violations(module, has_unknown_sizes=has_unknown_sizes)
    found = (MESSAGE.match(error.message) for error in errors)
    return {(match[1], match[2]) for match in found if match}


def known_dimensions(op: Operation) -> list[tuple[int, int]]:
    """Number of the operand, and dimension, of every size that an operation is given."""
    return [
        (number, dimension)
        for number, operand in enumerate(op.operands)
        if (type_ := as_array(operand.type)) is not None
        for dimension, size in enumerate(type_.get_shape())
        if size != DYNAMIC_INDEX
    ]


def with_unknown_size(value: SSAValue, dimension: int) -> SSAValue:
    """The value in the place of this one that has one size less that is known."""
    type_ = as_array(value.type)
    assert type_ is not None
    sizes = list(type_.get_shape())
    sizes[dimension] = DYNAMIC_INDEX
    opened = TensorType(type_.element_type, sizes, type_.encoding)
    return Rewriter.replace_value_with_new_type(value, opened)


def sizes_that_do_not_matter(text: str, rule: tuple[str, str]) -> int | None:
    """
    How many sizes of operands may be unknown, one after the other, with the rule still broken.

    None where there are none: no operation that breaks it has an operand with dimensions.
    """
    module = parse_program(text, input_format="mlir")
    found: int | None = None
    for op in [op for op in module.walk() if op.name == rule[0]]:
        for number, dimension in known_dimensions(op):
            found = found or 0
            value = op.operands[number]
            type_ = value.type
            opened = with_unknown_size(value, dimension)
            if rule in broken_rules(module, has_unknown_sizes=True):
                found += 1
            else:
                Rewriter.replace_value_with_new_type(opened, type_)
    return found


def test_known_sizes_decide() -> None:
    """A rule that operations with dimensions break is broken with some of their sizes unknown."""
    decided = dict[tuple[str, str], int]()
    for path in FOLDER.glob("*.mlir"):
        for chunk in split_chunks(path.read_text(encoding="utf-8")):
            for error in expectations(chunk.shown):
                match = MESSAGE.match(error.text)
                rule = ("", "") if match is None else (match[1], match[2])
                if rule in NUMBERED - {("xla.constant", "C1")}:  # a literal without a meaning
                    count = sizes_that_do_not_matter(chunk.shown, rule)
                    if count is not None:
                        decided[rule] = decided.get(rule, 0) + count
    assert len(decided) > len(NUMBERED) / 2
    assert [rule for rule, count in decided.items() if not count] == []
