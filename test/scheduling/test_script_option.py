"""A script of the transform dialect as an option of everything that compiles."""

from pathlib import Path

import numpy as np
import pytest

import lowerings
from lowerings.compilation import CompilationError
from tools import xla_compare, xla_run
from xla_dialect.diagnostics import XlaError

PRODUCT = """
ENTRY main {
  a = f32[32,48] parameter(0)
  b = f32[48,64] parameter(1)
  ROOT c = f32[32,64] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
"""
SCRIPT = """
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%program: !transform.any_op {transform.readonly}) {
    %product = transform.structured.match ops{["linalg.generic"]} attributes {iterator_types = [
        #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>]}
      in %program : (!transform.any_op) -> !transform.any_op
    %tile, %loops:3 = transform.structured.tile_using_for %product tile_sizes [2, 8, 1]
      : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op, !transform.any_op)
    transform.structured.vectorize %tile : !transform.any_op
    transform.yield
  }
}
"""
NESTED = "loops = [d0 by 2, d1 by 8, d2], vector = d1 x 8"
A, B = (np.arange(n, dtype=np.float32) % 7 for n in (32 * 48, 48 * 64))
A, B = A.reshape(32, 48), B.reshape(48, 64)


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "script.mlir"
    path.write_text(SCRIPT)
    return path


@pytest.fixture
def wrong(tmp_path: Path) -> Path:
    path = tmp_path / "wrong.mlir"
    path.write_text(SCRIPT.replace("tile_sizes [2, 8, 1]", "tile_sizes [2, 8, 1, 1]"))
    return path


@pytest.mark.parametrize("level", [None, "loops"])
def test_compile(level: str | None, script: Path, wrong: Path) -> None:
    backend = "llvm" if level is None else "interpreter"
    program = lowerings.compile(PRODUCT, transform_script=script, backend=backend, level=level)
    np.testing.assert_array_equal(program(A, B)[0], A @ B)
    with pytest.raises(
        XlaError, match=r"wrong\.mlir:7:5: error: transform.structured.tile_using_for"
    ):
        lowerings.compile(PRODUCT, transform_script=wrong, backend=backend, level=level)
    with pytest.raises(CompilationError, match="'reference' runs no transform scripts"):
        lowerings.compile(PRODUCT, transform_script=script, backend="reference")


def test_a_changed_script_is_compiled_anew(script: Path, wrong: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    lowerings.compile(PRODUCT, transform_script=script, compile_cache=cache)
    script.write_text(wrong.read_text())
    with pytest.raises(XlaError, match="tile_using_for"):
        lowerings.compile(PRODUCT, transform_script=script, compile_cache=cache)


@pytest.mark.jax
def test_jit(script: Path) -> None:
    from lowerings.jax import jit  # noqa: PLC0415

    product = jit(lambda a, b: a @ b, transform_script=script, profile=True)
    assert NESTED in product.lower(A, B).as_text("schedules")
    np.testing.assert_array_equal(product(A, B), A @ B)
    (profile,) = product.profiles()
    assert sum(kernel.calls for kernel in profile.kernels) >= 1


@pytest.mark.jax
def test_fusion_of_jit(tmp_path: Path) -> None:
    from lowerings.jax import jit  # noqa: PLC0415

    with pytest.raises(CompilationError, match="'reference' fuses nothing"):
        jit(lambda a: a, fusion=tmp_path / "file", backend="reference")
    missing = jit(lambda a: a + a, fusion=tmp_path / "missing")
    with pytest.raises(XlaError, match="missing"):
        missing(A)


def test_command_lines(
    script: Path, wrong: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "product.hlo").write_text(PRODUCT)
    np.save(tmp_path / "c.npy", np.full((32, 64), 48, np.float32))
    run = [str(tmp_path / "product.hlo"), "--input", "32x48xf32=1", "--input", "48x64xf32=1"]
    run += ["--expected-output", f"@{tmp_path}/c.npy", "--transform-script"]
    assert xla_run.main([*run, str(script)]) == 0
    assert xla_run.main([*run, str(wrong)]) == 1
    assert "wrong.mlir:7:5" in capsys.readouterr().err
    contender = f"{tmp_path}/product.hlo:transform_script={script}"
    options = ["--no-instructions", "--turns", "1", "--compiles", "1", "--passes"]
    assert xla_compare.main([f"{tmp_path}/product.hlo", contender, *options]) == 0
    assert "transform-interpreter" in capsys.readouterr().out
