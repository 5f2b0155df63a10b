"""What `lowerings.compile` takes and returns, as somebody meets it at a prompt."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

import lowerings
from lowerings.driver.program import load_program
from lowerings.executors import TARGET_LEVELS
from lowerings.pipelines import LEVELS
from tools import xla_opt
from xla_dialect.diagnostics import XlaError

PROGRAM = """\
func.func @main(%x: tensor<2x3xf32>, %y: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %0 = xla.dot %x, %y {lhs_contracting_dims = [1], rhs_contracting_dims = [0]} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %1 = xla.tanh %0 : tensor<2x4xf32>
  func.return %1 : tensor<2x4xf32>
}
"""


@pytest.mark.parametrize("package", ["lowerings", "xla_dialect.reference"])
def test_dir_shows_what_is_not_loaded_yet(package: str) -> None:
    code = f"import importlib; m = importlib.import_module({package!r}); shown = dir(m)\n"
    code += "missing = [name for name in m.__all__ if name not in shown or not getattr(m, name)]\n"
    code += "assert not missing, missing"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("backend", ["llvm", "interpreter", "reference"])
def test_repr_has_the_signature(backend: str) -> None:
    program = lowerings.compile(PROGRAM, backend=backend)
    assert repr(program) == f"<{type(program).__name__} {program.signature}>"
    assert "main(%x: f32[2,3], %y: f32[3,4]) -> (f32[2,4])" in repr(program)


def test_repr_is_short() -> None:
    arguments = ", ".join(f"%x{n}: tensor<2x3xf32>" for n in range(100))
    text = (
        f"func.func @main({arguments}) -> tensor<2x3xf32> {{ func.return %x0 : tensor<2x3xf32> }}\n"
    )
    assert len(repr(lowerings.compile(text))) < 500


@pytest.mark.parametrize("level", [*LEVELS, *TARGET_LEVELS])
def test_text_is_what_xla_opt_prints(
    level: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "program.mlir"
    path.write_text(PROGRAM)
    target = ["-t", level] if level in TARGET_LEVELS else []
    to = LEVELS[-1] if target else level
    assert xla_opt.main([str(path), "-p", f"native{{to={to} target=host}}", *target]) == 0
    expected = capsys.readouterr().out
    assert str(lowerings.compile(path).as_text(level)).rstrip() == expected.rstrip()


def test_text_after_passes_of_ones_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "program.mlir"
    path.write_text(PROGRAM)
    passes = "native{to=buffers target=host},convert-linalg-to-vector-loops"
    assert xla_opt.main([str(path), "-p", f"{passes},native{{from=schedules}}"]) == 0
    expected = capsys.readouterr().out
    found = lowerings.compile(path, pipeline=passes).as_text("loops")
    assert str(found).rstrip() == expected.rstrip()


def test_text_of_other_levels() -> None:
    program = lowerings.compile(PROGRAM)
    assert program.as_text() == program.as_text("loops") == program.as_text("scf")
    with pytest.raises(XlaError, match="there is no level 'ptx'"):
        program.as_text("ptx")


def test_modules_are_programs() -> None:
    module = load_program(PROGRAM)
    x, y = np.ones((2, 3), np.float32), np.full((3, 4), 0.25, np.float32)
    (found,) = lowerings.compile(module)(x, y)
    (expected,) = lowerings.compile(PROGRAM)(x, y)
    np.testing.assert_array_equal(found, expected)
    assert isinstance(module, ModuleOp), "and it stays as it is"
    assert str(load_program(PROGRAM)) == str(module)


@pytest.mark.parametrize("program", [lambda x: x, np.tanh, 3, None, ["ENTRY"]])
def test_what_is_no_program(program: object) -> None:
    with pytest.raises(
        XlaError, match="a program is a text, bytes, the path of a file or a module"
    ) as e:
        lowerings.compile(program)  # pyright: ignore
    assert ("lowerings.jax.jit" in str(e.value)) == callable(program)


@pytest.mark.jax
def test_functions_of_jax() -> None:
    import jax.numpy as jnp  # noqa: PLC0415

    from lowerings.jax import jit  # noqa: PLC0415

    compiled = jit(jnp.tanh).lower(np.ones(3, np.float32)).compile()
    assert "main(%" in repr(compiled)
    assert "f32[3]" in repr(compiled)
    assert compiled.as_text("loops") == compiled.as_text()
    assert "memref.store" in compiled.as_text()
