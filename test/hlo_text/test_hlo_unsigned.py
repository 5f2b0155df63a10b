"""Operations of unsigned integers that XLA's parser takes, though its shape inference does not."""

from io import StringIO
from typing import Any

import numpy as np
import pytest

import lowerings
from lowerings.driver.context import make_context
from lowerings.targets.stablehlo import StableHloTarget
from xla_dialect.hlo_text import print_hlo, read_hlo


@pytest.mark.parametrize("backend", ["reference", "interpreter", "llvm", "StableHLO"])
@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_absolute_value(bits: int, backend: Any) -> None:
    """It is the operand, the sign bit as well."""
    text = f"ROOT r = u{bits}[3] abs(u{bits}[3] x)"
    printed = print_hlo(read_hlo(text))
    assert print_hlo(read_hlo(printed)) == printed
    if backend == "StableHLO":
        output = StringIO()
        StableHloTarget().emit(make_context(), read_hlo(text), output)
        assert "abs" not in output.getvalue()
        text, backend = output.getvalue(), "reference"
    x = np.array([0, 1, 2**bits - 1], f"u{bits // 8}")
    (found,) = lowerings.compile(text, backend=backend)(x)
    assert found.dtype == x.dtype
    np.testing.assert_array_equal(found, x)
