"""The micro-kernels: results beside numpy's, instructions beside LLVM's, and the command."""

import json
import re

import pytest

from tools.xla_microkernels import GOAL, KERNELS, TYPES, main, measure

on_riscv64 = pytest.mark.riscv64


@on_riscv64
@pytest.mark.parametrize("element_type", TYPES)
@pytest.mark.parametrize("name", KERNELS)
def test_goal(name: str, element_type: str) -> None:
    """Instructions are counted, not timed: the same on every machine."""
    measured = measure(KERNELS[name], element_type, 16)
    assert measured.is_right
    assert measured.ratio <= GOAL
    assert measured.own.figures["stack_accesses"] == 0


@on_riscv64
@pytest.mark.parametrize("size", [0, 1, 3, 5, 33])
@pytest.mark.parametrize("name", ["matmul", "max_pool_3x3"])
def test_sizes(name: str, size: int) -> None:
    """None, less than a tile, not a multiple of it, and a reduction that stays a loop."""
    assert measure(KERNELS[name], "f64", size).is_right


@on_riscv64
def test_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fill", "--size", "4", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["fill"]["right"]
    # Sixteen stores, the load of the value and the return, and the constants of the calling
    # convention: nothing else is left to do.
    assert (
        18 <= found["fill"]["llvm"]["instructions"] <= found["fill"]["xdsl"]["instructions"] <= 22
    )
    assert main(["fill", "sum"]) == 0
    assert re.search(r"sum\s+right\s+2x4", capsys.readouterr().out)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing"], "there is no kernel 'nothing'"),
        (["--size", "0"], "--size is at least 1"),
        (["--type", "f16"], "invalid choice"),
    ],
)
def test_bad_input(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 1
    assert message in capsys.readouterr().err
