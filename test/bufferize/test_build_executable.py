"""`xla-build`: for RISC-V, and what it refuses."""

import subprocess
from pathlib import Path

import numpy as np
import pytest

from tools.xla_build import main

PRODUCT = """
ENTRY main {
  a = f32[5,17] parameter(0)
  b = f32[17,9] parameter(1)
  ROOT c = f32[5,9] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
"""


@pytest.mark.mlir_opt
@pytest.mark.full
@pytest.mark.riscv64
@pytest.mark.qemu
def test_riscv64(tmp_path: Path, mlir_opt_path: str) -> None:
    a = np.arange(85, dtype=np.float32).reshape(5, 17)
    b = np.asfortranarray(np.arange(153, dtype=np.float32).reshape(17, 9) - 70)
    np.save(tmp_path / "a.npy", a)
    np.save(tmp_path / "b.npy", b)
    (tmp_path / "product.hlo").write_text(PRODUCT)
    options = ["--target", "riscv64", "--mlir-opt", mlir_opt_path]
    assert main([str(tmp_path / "product.hlo"), "-o", str(tmp_path / "product"), *options]) == 0
    run = ["qemu-riscv64", "./product", "a.npy", "b.npy"]
    subprocess.run(run, cwd=tmp_path, check=True, timeout=60)
    np.testing.assert_array_equal(np.load(tmp_path / "main.0.npy"), a @ b)


REFUSED = {
    "tiled": (
        "HloModule m, entry_computation_layout={(f32[5]{0:T(4)})->f32[5]{0:T(4)}}\n"
        "ENTRY main { a = f32[5]{0:T(4)} parameter(0) ROOT b = f32[5]{0:T(4)} negate(a) }",
        "f32[5]{0:T(4)} is tiled, which an executable does not take",
    ),
    "dynamic": (
        "ENTRY main { a = f32[<=5] parameter(0) ROOT b = f32[<=5] negate(a) }",
        "takes no arrays of dynamic sizes",
    ),
    "custom call": (
        'ENTRY main { a = f32[5] parameter(0) ROOT b = f32[5] custom-call(a), custom_call_target="f" }',
        "program.hlo:1:43: error: xla.custom_call: an executable cannot call 'f' outside of it",
    ),
}


@pytest.mark.mlir_opt
@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(
    name: str, tmp_path: Path, mlir_opt_path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text, message = REFUSED[name]
    path = tmp_path / "program.hlo"
    path.write_text(text)
    assert main([str(path), "-o", str(tmp_path / "out"), "--mlir-opt", mlir_opt_path]) == 1
    said = capsys.readouterr().err
    assert message in said
    assert "internal error" not in said


def test_missing_tools(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "program.hlo"
    path.write_text(PRODUCT)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main([str(path), "-o", str(tmp_path / "out")]) == 1
    assert "there is no mlir-opt of LLVM 22 (apt install mlir-22-tools" in capsys.readouterr().err
    assert main([str(path), "-o", str(tmp_path / "out"), "--features", "+v"]) == 1
