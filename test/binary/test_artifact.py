"""Portable artifacts that we write: jaxlib reads them as the program, and so do we."""

import re
from pathlib import Path

import numpy as np
import pytest
from binary.test_bytecode import FILES, QUICK, check_same, programs
from stablehlo_oracle import artifact_of, text_of_artifact
from sweeps import each_or_full

import lowerings
from lowerings.driver.program import load_program
from tools import xla_opt
from xla_dialect.binary import read_binary, write_artifact
from xla_dialect.diagnostics import LocatedError, XlaError
from xla_dialect.stablehlo.parser import StableHloParser
from xla_dialect.stablehlo.reader import make_reading_context
from xla_dialect.stablehlo.writing import stablehlo_module

VERSIONS = {"1.0.0": (1, 0, 0), "1.7.0": (1, 7, 0), "1.17.0": (1, 17, 0)}
PROGRAM = (
    "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{\n%0 = {}\nreturn %0 : tensor<4xf32>\n}}"
)


def written(text: str, version: tuple[int, int, int]) -> bytes:
    """The portable artifact of a program in StableHLO."""
    parser = StableHloParser(make_reading_context(), text, "<text>")
    return write_artifact(parser.parse_module(), version)


@pytest.mark.jax
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", each_or_full(FILES, QUICK))
def test_jaxlib_reads_what_is_written(name: str, version: str) -> None:
    count = 0
    for program in programs(name):
        text = "\n".join(line for line in program.split("\n") if "check.expect" not in line)
        expected = artifact_of(text, version)
        try:
            artifact = written(text, VERSIONS[version])
        except XlaError:
            continue  # CHLO, Shardy and operations of our own are not written, nor what is newer.
        count += 1
        if expected is not None:
            assert text_of_artifact(artifact) == text_of_artifact(expected)
        check_same(artifact, text)
    assert count or name not in WRITTEN or version == "1.0.0"


WRITTEN = ("stablehlo/collectives.mlir", "run/gather.mlir", "run/reduce_window.mlir")


def test_a_program_runs_from_what_xla_opt_writes(tmp_path: Path) -> None:
    source, path = tmp_path / "program.mlir", tmp_path / "program.mlirbc"
    source.write_text(PROGRAM.format("stablehlo.tanh %x : tensor<4xf32>"))
    assert not xla_opt.main([str(source), "-t", "stablehlo-bytecode", "-o", str(path)])
    assert path.read_bytes()[5:].startswith(b"StableHLO_v1.7.0\0")
    x = np.linspace(-2, 2, 4, dtype=np.float32)
    (found,) = lowerings.compile(path)(x)
    np.testing.assert_allclose(found, np.tanh(x), rtol=1e-5)


@pytest.mark.parametrize(
    ("operation", "version", "message"),
    [
        ("stablehlo.tan %x : tensor<4xf32>", (1, 0, 0), "stablehlo.tan is not in StableHLO 1.0.0"),
        (
            "stablehlo.tanh %x {result_accuracy = #stablehlo.result_accuracy<ulps = 1, "
            "mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<4xf32>",
            (1, 7, 0),
            "which is in StableHLO from 1.10.0 on, not in 1.7.0",
        ),
        ("stablehlo.tanh %x : tensor<4xf32>", (0, 9, 0), "StableHLO 0.9.0 is not written"),
        ("chlo.erf %x : tensor<4xf32> -> tensor<4xf32>", (1, 7, 0), "chlo.erf is no operation"),
    ],
)
def test_what_a_version_does_not_have(
    operation: str, version: tuple[int, int, int], message: str
) -> None:
    with pytest.raises(XlaError, match=message):
        written(PROGRAM.format(operation), version)


def test_a_broken_rule_is_an_error_at_the_offset_of_its_operation() -> None:
    text = """func.func @main(%x: tensor<4xf32>) -> tensor<5xf32> {
      %0 = "stablehlo.tanh"(%x) : (tensor<4xf32>) -> tensor<5xf32> loc("model.py":7:3)
      return %0 : tensor<5xf32>
    }"""
    artifact = written(text, (1, 7, 0))
    found = re.compile(r"f\.mlirbc: error: offset (\d+): xla\.tanh: .*f32\[5\]")
    with pytest.raises(LocatedError, match=found) as raised:
        read_binary(artifact, "f.mlirbc")
    # Behind the name of an operation bits say what it has: here results and operands.
    assert artifact[raised.value.column + 1] == 2 | 4


def test_shardings_of_hlo_are_texts() -> None:
    spread = "sharding={devices=[2]<=[2]}"
    program = (
        f"ENTRY main {{ x = f32[4] parameter(0), {spread} ROOT y = f32[4] tanh(x), {spread} }}"
    )
    module = stablehlo_module(load_program(f"HloModule m, num_partitions=2\n{program}"))
    artifact = write_artifact(module, (1, 7, 0))
    assert b"{devices=[2]<=[2]}\0" in artifact
    assert b"hlo_sharding" not in artifact
