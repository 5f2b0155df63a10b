"""`xla-build --sources`: plain loops and their driver, for code generators of others."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from lowerings.driver.program import load_program
from tools import xla_build, xla_opt

PROGRAM = """
ENTRY main {
  x = f32[3,4] parameter(0)
  w = f32[4,5] parameter(1)
  p = f32[3,5] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  t = f32[5,3]{0,1} transpose(p), dimensions={1,0}
  ROOT r = (f32[3,5], f32[5,3]{0,1}) tuple(p, t)
}
"""


def test_another_code_generator(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, folder = tmp_path / "program.hlo", tmp_path / "sources"
    source.write_text(PROGRAM)
    assert xla_build.main([str(source), "--sources", str(folder)]) == 0
    operations = {op.name for op in load_program(folder / "program.mlir").walk()}
    assert "scf.for" in operations
    assert not operations & {"func.call", "memref.view", "memref.collapse_shape"}
    assert not any(name.startswith(("vector.", "linalg.")) for name in operations)
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    code, program = folder / "program.o", folder / "run"
    target = ["-t", "x86-object", "-o", str(code)]
    assert xla_opt.main([str(folder / "program.mlir"), *target]) == 0
    subprocess.run([compiler, "-o", program, folder / "driver.c", code, "-lm"], check=True)
    x, w = np.arange(12, dtype=np.float32).reshape(3, 4), np.ones((4, 5), np.float32)
    np.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "w.npy", w)
    results = tmp_path / "results"
    results.mkdir()
    files = [tmp_path / "x.npy", tmp_path / "w.npy"]
    subprocess.run([program, "-o", results, *files], check=True)
    found = [np.load(path) for path in sorted(results.glob("*.npy"))]
    for result, expected in zip(found, (x @ w, (x @ w).T), strict=True):
        np.testing.assert_array_equal(result, expected)


def test_one_thing_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "program.hlo"
    source.write_text(PROGRAM)
    assert xla_build.main([str(source)]) == 1
    assert "one of -o and --sources says what to write" in capsys.readouterr().err


def test_a_program_without_the_entry(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "empty.mlir"
    source.write_text("")
    assert xla_build.main([str(source), "--sources", str(tmp_path)]) == 1
    assert "there is no function @main; the module has none" in capsys.readouterr().err
