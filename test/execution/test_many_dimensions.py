"""Arrays of more dimensions than numpy has."""

import numpy as np
import pytest

from lowerings import compile
from xla_dialect.diagnostics import XlaError

ONES = ",".join(["1"] * 64)
PROGRAM = (
    "ENTRY main {\n  x = f32[3] parameter(0)\n"
    f"  y = f32[{ONES},3] reshape(x)\n  z = f32[{ONES},3] negate(y)\n"
    "  ROOT r = f32[3] reshape(z)\n}\n"
)


def test_compiled_code_has_them():
    (result,) = compile(PROGRAM)(np.arange(3, dtype=np.float32))
    np.testing.assert_array_equal(result, -np.arange(3, dtype=np.float32))


@pytest.mark.parametrize(
    ("backend", "level"),
    [("reference", None), *(("interpreter", level) for level in ("tensors", "buffers", "loops"))],
)
def test_other_executors_say_so(backend: str, level: str | None):
    with pytest.raises(XlaError, match="at most 64 dimensions"):
        compile(PROGRAM, backend=backend, level=level)(np.zeros(3, np.float32))


@pytest.mark.parametrize("backend", ["llvm", "reference", "interpreter"])
def test_they_are_no_results(backend: str):
    text = PROGRAM[: PROGRAM.index("  z = ")].replace("  y =", "  ROOT y =") + "}\n"
    with pytest.raises(XlaError, match="at most 64 dimensions"):
        compile(text, backend=backend)(np.zeros(3, np.float32))
