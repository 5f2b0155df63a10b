"""`OperationTable`: what a lookup by class finds, and what type checkers refuse."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from xdsl.dialects import arith
from xdsl.ir import Operation

from xla_dialect.xdsl.operation_table import OperationTable

Name = Callable[[Operation], str]


def name(op: Operation) -> str:
    return op.name


def test_classes_are_found_exactly() -> None:
    table = OperationTable[Name]().add(arith.AddiOp, name).add((arith.SubiOp, arith.MuliOp), name)
    assert set(table) == {arith.AddiOp, arith.SubiOp, arith.MuliOp}

    class Narrow(arith.AddiOp):
        pass

    assert table.get(Narrow) is None


def test_what_is_added_last_counts() -> None:
    table = OperationTable[Name]().add(arith.AddiOp, name)
    copy = OperationTable[Name](table).add(arith.AddiOp, str)
    assert (table[arith.AddiOp], copy[arith.AddiOp]) == (name, str)


PROGRAM = """\
from collections.abc import Callable
from xdsl.dialects import arith
from xdsl.ir import Operation
from xla_dialect.xdsl.operation_table import OperationTable

def of_add(op: arith.AddiOp, count: int) -> str: ...
def of_either(op: arith.AddiOp | arith.SubiOp, count: int) -> str: ...
def after_context(count: int, op: arith.AddiOp) -> str: ...

First = OperationTable[Callable[[Operation, int], str]]
Second = OperationTable[Callable[[int, Operation], str]]
First().add(arith.AddiOp, of_add)
First().add((arith.AddiOp, arith.SubiOp), of_either)
First().add(arith.AddiOp, lambda op, count: str(op.lhs))
Second().add(arith.AddiOp, after_context)
First().add(arith.SubiOp, of_add)  # wrong
First().add((arith.AddiOp, arith.SubiOp), of_add)  # wrong
First().add(arith.AddiOp, after_context)  # wrong
First().add(arith.AddiOp, lambda op, count: str(op.input))  # wrong
Second().add(arith.SubiOp, after_context)  # wrong
First().add(arith.AddiOp, of_add)[arith.AddiOp](arith.AddiOp, 1)  # wrong
"""


def test_type_checkers_compare_function_and_class(tmp_path: Path) -> None:
    pytest.importorskip("pyright")
    path = tmp_path / "program.py"
    path.write_text(PROGRAM, encoding="utf-8")
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable]
    found = subprocess.run([*command, str(path)], capture_output=True, text=True, check=False)
    refused = {
        error["range"]["start"]["line"]
        for error in json.loads(found.stdout)["generalDiagnostics"]
        if error["severity"] == "error"
    }
    wrong = {number for number, line in enumerate(PROGRAM.splitlines()) if "# wrong" in line}
    assert refused == wrong
