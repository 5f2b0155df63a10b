"""Programs that other frameworks make: read, run, and of their values."""

import subprocess
from pathlib import Path

import numpy as np
import pytest
from peers import producer

import lowerings
from xla_dialect.diagnostics import XlaError

BACKENDS = {".mlir": "llvm", ".hlo": "reference"}
"""What runs a program, by the form that it is in."""


def fault(program: Path) -> str | None:
    """What is wrong with the results of a program, if anything is."""
    with np.load(program.with_suffix(".npz")) as file:
        arrays = dict(file)
    given = [array for name, array in arrays.items() if name.startswith("argument")]
    expected = [array for name, array in arrays.items() if name.startswith("result")]
    try:
        compiled = lowerings.compile(program, backend=BACKENDS[program.suffix])
        for found, right in zip(compiled(*given), expected, strict=True):
            assert found.dtype == right.dtype
            np.testing.assert_allclose(found, right, rtol=1e-5, atol=1e-5)
    except (XlaError, AssertionError, ValueError) as error:
        return f"{program.name}: {error}"
    return None


@pytest.mark.parametrize(
    ("name", "count"),
    [
        pytest.param("tensorflow", 2 * 34, marks=pytest.mark.tensorflow),
        pytest.param("torch", 25, marks=pytest.mark.torch),
    ],
)
def test_programs(name: str, count: int, tmp_path: Path) -> None:
    script = Path(__file__).with_name(f"{name}_programs.py")
    command = [producer(name), "-W", "ignore", str(script), str(tmp_path)]
    made = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert made.returncode == 0, made.stderr[-4000:]
    programs = [path for path in sorted(tmp_path.iterdir()) if path.suffix in BACKENDS]
    assert len(programs) == count
    assert [found for program in programs if (found := fault(program)) is not None] == []
