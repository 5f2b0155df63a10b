"""Files of `jax.export`: `inputs/export.py` has made them with JAX."""

from pathlib import Path

import numpy as np
import pytest

import lowerings
from lowerings.driver.program import load_program
from tools import xla_opt, xla_run
from xla_dialect.binary import BinaryError, read_binary, read_export
from xla_dialect.literals.arrays import flatten_results
from xla_dialect.reference import run

INPUTS = Path(__file__).parent / "inputs"
X = np.linspace(-1, 1, 32, dtype=np.float32).reshape(4, 8)
Y = np.linspace(0, 2, 16, dtype=np.float32).reshape(8, 2)


def file(name: str) -> Path:
    return INPUTS / f"{name}.jaxexport"


def test_an_export_runs_from_its_path_and_its_bytes() -> None:
    for source in (str(file("plain")), file("plain").read_bytes()):
        products, total, scaled = lowerings.compile(source)(X, Y)
        np.testing.assert_allclose(products, np.tanh(X) @ Y, rtol=1e-5)
        np.testing.assert_allclose(total, 16, rtol=1e-6)
        np.testing.assert_allclose(scaled, 3 * X)


def test_symbolic_sizes_are_those_of_the_arguments() -> None:
    _, _, scaled = flatten_results(run(load_program(file("plain")), [X, Y]))
    assert scaled.shape == (4, 8)
    assert "tensor<?x8xf32>" in str(read_binary(file("symbolic").read_bytes()))
    assert not xla_run.main([str(file("symbolic")), "--input", "3x8xf32=1", "--input", "8x2xf32=1"])


def test_the_signature_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    signature = read_export(file("symbolic").read_bytes()).signature
    assert signature.parameters == ["float32[n,8]", "float32[8,2]"]
    assert signature.results == ["float32[n,2]", "float32[]", "float32[n,8]"]
    assert read_export(file("platforms").read_bytes()).signature.platforms == ["cpu", "tpu"]
    assert not xla_opt.main([str(file("sharded"))])
    printed = capsys.readouterr().out
    assert "devices = 4 : i64" in printed
    assert (
        r'parameter_shardings = ["mesh<[\22x\22=2, \22y\22=2]>, [{\22x\22}, {\22y\22}]"]' in printed
    )


def test_a_damaged_export_is_an_error_with_the_offset() -> None:
    data = file("plain").read_bytes()
    for size in range(len(data) - 200, len(data), 40):
        with pytest.raises(BinaryError, match=r"^f: error: offset \d+: "):
            read_export(data[:size], "f")
