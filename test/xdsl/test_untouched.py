"""xDSL stays as it is, for whoever uses it beside us."""

import subprocess
import sys
from pathlib import Path

import pytest

FOREIGN_TOOL = Path(__file__).with_name("foreign_tool.py")


def output_of(*command: str | Path, text: str = "") -> str:
    answer = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr
    return answer.stdout


def test_a_foreign_tool_does_the_same_beside_our_passes_and_targets() -> None:
    alone, beside = (output_of(sys.executable, FOREIGN_TOOL, mode) for mode in ("alone", "beside"))
    assert alone.splitlines() == beside.splitlines()
    # It reads in its own way what we read in MLIR's.
    assert "dense<[4.28657869e+09, 0.000000e+00]>" in alone


FOREIGN = """\
%0 = arith.constant dense<[0xFF800000, 0.0]> : tensor<2xf32>
%1 = arith.constant dense<[0.0, -0.0]> : tensor<2xf32>
"""
OURS = "%2 = xla.constant dense<[0xFF800000, -0.0]> : tensor<2xf32>\n"


def xdsl_opt(text: str, *arguments: str) -> list[str]:
    path = Path(sys.executable).with_name("xdsl-opt")
    return output_of(path, *arguments, text=text).splitlines()


@pytest.mark.parametrize("arguments", [(), ("-p", "xla-inline")])
def test_stock_xdsl_opt_reads_its_own_operations_in_its_own_way(arguments: tuple[str, ...]) -> None:
    alone = [line for line in xdsl_opt(FOREIGN) if "constant" in line]
    # Before and after an operation of ours.
    mixed = xdsl_opt(FOREIGN + OURS + FOREIGN.replace("%0", "%3").replace("%1", "%4"), *arguments)
    values = [line.split(" = ", 1)[1] for line in mixed if "arith.constant" in line]
    assert values == [line.split(" = ", 1)[1] for line in alone] * 2


def test_stock_xdsl_opt_reads_our_literals_as_we_do() -> None:
    (line,) = (line for line in xdsl_opt(OURS) if "constant" in line)
    assert line.endswith("xla.constant dense<[0xFF800000, -0.000000e+00]> : tensor<2xf32>")


def test_in_generic_form_literals_are_those_of_the_tool() -> None:
    # The parser reads properties before it asks the operation; xDSL's reads them as it does those
    # of its own operations.
    generic = '%0 = "{}"() <{{value = dense<[0xFF800000, -0.0]> : {}}}> : () -> {}\n'
    text = "".join(
        generic.format(f"{d}.constant", *["tensor<2xf32>"] * 2) for d in ("arith", "xla")
    )
    text = text.replace("%0", "%a", 1)
    ours, theirs = (
        [line.partition("constant")[2] for line in lines if "constant" in line]
        for lines in (
            output_of(Path(sys.executable).with_name("xla-opt"), text=text).splitlines(),
            xdsl_opt(text),
        )
    )
    assert ours == [" dense<[0xFF800000, -0.000000e+00]> : tensor<2xf32>"] * 2
    assert theirs == [" dense<[4.28657869e+09, -0.000000e+00]> : tensor<2xf32>"] * 2
