"""Every numbered rule in the docstring of an operation is broken alone by some test.

The rules are read off the docstrings, and what is broken off the tables of the tests beside this
one: a test with the parameters `name, label, build` builds an operation that breaks that rule only,
and checks the label of the message.
"""

import importlib.util
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from xla_dialect.op import XlaOp
from xla_dialect.ops import BY_OPCODE, FAMILIES, operations_of

TESTS = sorted(Path(__file__).parent.glob("test_*.py"))

RULE = re.compile(r"\((C\d+|R[CG]\d+)\)")
# A rule that goes on to (RC1) and so on is broken by those labels.
OWN_RULE = re.compile(r"\((R[CG]\d+|C\d+(?!\)[^()]*\(R[CG]))\)")
INHERITED = re.compile(r"Begins an? `(\w+)`, whose rules hold")

CHECKED_ELSEWHERE = {
    ("xla.bitcast_convert", "C2"): "no two element types break it: all widths are powers of two",
    ("xla.call", "C1"): "needs the module: test/verification",
    ("xla.call", "C2"): "needs the module: test/verification",
    (
        "xla.collective_permute",
        "C2",
    ): "needs the number of processes: test/dialect/test_collectives",
    ("xla.dynamic_reshape", "C4"): "at run time only: test/reference",
    ("xla.infeed", "C2"): "the data is no part of the program",
    ("xla.recv", "C1"): "at run time only: test/reference/test_process_grid",
    ("xla.recv", "C2"): "needs the users: test/dialect/test_asynchronous",
    ("xla.recv", "C4"): "at run time only: test/reference/test_process_grid",
    ("xla.recv_done", "C2"): "checked on its recv",
    ("xla.send", "C1"): "at run time only: test/reference/test_process_grid",
    ("xla.send", "C2"): "needs the users: test/dialect/test_asynchronous",
    ("xla.send_done", "C2"): "checked on its send",
}
"""The rules that no operation alone can break, with the reason."""


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
    return {(operation.name, label) for label in RULE.findall(begun.__doc__ or "")}


def tables() -> Iterator[tuple[str, str]]:
    """Operation and label of every row of every table of broken rules."""
    for path in TESTS:
        if path != Path(__file__):
            yield from _table_rows(_module(path))


def _module(path: Path) -> ModuleType:
    specification = importlib.util.spec_from_file_location(f"tables_of_{path.stem}", path)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def _table_rows(module: ModuleType) -> Iterator[tuple[str, str]]:
    for member in vars(module).values():
        for mark in getattr(member, "pytestmark", ()):
            if mark.name == "parametrize" and mark.args[0] == ("name", "label", "build"):
                yield from ((row.values[0], row.values[1]) for row in mark.args[1])
    for opcode in getattr(module, "ALLOWED", ()):
        # Every elementwise operation meets every element type; of two operands, other sizes too.
        operation = BY_OPCODE[opcode]
        yield operation.name, "C1"
        if len(operation.get_irdl_definition().operands) > 1:
            yield operation.name, "C2"


OPERATIONS_OF = [(op, family) for family in FAMILIES for op in operations_of(family)]
STATED = {rule for op, family in OPERATIONS_OF for rule in rules(op, family, OWN_RULE)}
ALLOWED = {rule for op, family in OPERATIONS_OF for rule in rules(op, family, RULE) | inherited(op)}
BROKEN = {row for row in tables() if re.fullmatch(r"C\d+|RC\d+", row[1])}
# The rules about groups stand in `process_groups`, for all collectives.
GROUPS = {row for row in tables() if row[1].startswith("RG")}


def test_every_rule_is_broken() -> None:
    assert sorted(STATED - BROKEN - GROUPS - CHECKED_ELSEWHERE.keys()) == []


def test_exceptions_are_needed() -> None:
    assert sorted(CHECKED_ELSEWHERE.keys() - STATED) == []
    assert sorted(CHECKED_ELSEWHERE.keys() & BROKEN) == []


def test_labels_are_stated() -> None:
    """No message has the number of a rule that the docstring does not have."""
    assert sorted(BROKEN - ALLOWED) == []
