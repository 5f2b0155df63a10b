"""The pass `mlir-opt` of our tools: literals keep their bits on the way there and back."""

from pathlib import Path

import pytest
from xdsl.transforms.mlir_opt import MLIROptPass

from lowerings.driver.context import make_context
from lowerings.driver.pass_manager import PassFailed, PassManager, parse_passes
from xla_dialect.mlir_text import print_mlir, read_mlir

# Infinity and NaNs by their bits, NaN with a payload, signed zeros that are no splat, i1 elements
# enough to be printed as a string of bits.
LITERALS = f"""\
func.func @literals() -> (tensor<4xf32>, tensor<2xf64>, tensor<2xbf16>, tensor<104xi1>) {{
  %0 = arith.constant dense<[0xFF800000, 0x7FC00001, -0.0, 1.0]> : tensor<4xf32>
  %1 = arith.constant dense<[0.0, -0.0]> : tensor<2xf64>
  %2 = arith.constant dense<[0x7F80, 0xFFC1]> : tensor<2xbf16>
  %3 = arith.constant dense<[{", ".join(["true", "false"] * 52)}]> : tensor<104xi1>
  func.return %0, %1, %2, %3 : tensor<4xf32>, tensor<2xf64>, tensor<2xbf16>, tensor<104xi1>
}}
"""


def through(executable: str, arguments: str = "", text: str = LITERALS) -> str:
    ctx = make_context()
    module = read_mlir(text, ctx)
    options = f'executable="{executable}"' + (f" arguments={arguments}" if arguments else "")
    PassManager(ctx).run(module, parse_passes(f"mlir-opt{{{options}}}"))
    return print_mlir(module)


def literals_of(text: str) -> list[str]:
    return [line.partition(" = ")[2] for line in text.splitlines() if "dense<" in line]


def test_it_stands_in_the_place_of_xdsls() -> None:
    (module_pass,) = parse_passes("mlir-opt")
    assert isinstance(module_pass, MLIROptPass)
    assert type(module_pass) is not MLIROptPass


def test_literals_keep_their_bits_without_a_change() -> None:
    # `cat` changes nothing, and leaves alone what the pass itself prints and reads.
    assert through("cat") == print_mlir(read_mlir(LITERALS, make_context()))


@pytest.mark.mlir_opt
@pytest.mark.parametrize("arguments", ["", "--mlir-print-op-generic"])
def test_literals_keep_their_bits_in_mlir(mlir_opt_path: str, arguments: str) -> None:
    given = literals_of(print_mlir(read_mlir(LITERALS, make_context())))
    assert len(given) == 4
    assert literals_of(through(mlir_opt_path, arguments)) == given


@pytest.mark.mlir_opt
def test_what_mlir_says_is_in_the_error(mlir_opt_path: str) -> None:
    with pytest.raises(PassFailed, match=r"<stdin>:2:.* unregistered dialect"):
        through(mlir_opt_path, text='"xla.after_all"() : () -> !xla.token')


def test_a_tool_that_is_missing_or_prints_something_else(tmp_path: Path) -> None:
    with pytest.raises(PassFailed, match="no-such-tool is not available"):
        through("no-such-tool")
    for name, what in (("text", "no MLIR"), ("unknown", '\\"foreign.op\\"() : () -> ()')):
        (tool := tmp_path / name).write_text(f'#!/bin/sh\ncat > /dev/null\necho "{what}"\n')
        tool.chmod(0o755)
        with pytest.raises(PassFailed, match="cannot be read"):
            through(str(tool))
