"""The expanded casts of small floats against ml_dtypes, bit by bit."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from small_programs import shape
from tensor_evaluator import run_module
from tensors_level import TO_TENSORS, lower, module_of
from xdsl.dialects import arith
from xdsl.dialects.builtin import Float32Type

from lowerings.tensors.expand_small_floats import ExpandSmallFloatsPass
from xla_dialect.ops.conversion import ConvertOp
from xla_dialect.reference import numpy_dtype
from xla_dialect.types import BY_NAME, ELEMENT_TYPES, ElementClass, array

SMALL = [e.name for e in ELEMENT_TYPES if e.element_class == ElementClass.FLOAT and e.bits <= 8]


def converted(values: np.ndarray, target: str) -> np.ndarray:
    """The values as another type, by the expanded cast."""
    element_type = shape(f"{target}[]").element_type

    def build(x: Any) -> ConvertOp:
        return ConvertOp(x, result_types=[array(element_type, x.type.get_shape())])

    module = module_of(build, [values])
    lower(module, (*TO_TENSORS, ExpandSmallFloatsPass()))
    casts = [op for op in module.walk() if isinstance(op, arith.ExtFOp | arith.TruncFOp)]
    assert casts == []
    return run_module(module, [values])[0]


def all_values(name: str) -> np.ndarray:
    return np.arange(1 << BY_NAME[name].bits, dtype=np.uint8).view(numpy_dtype(BY_NAME[name].type))


@pytest.mark.parametrize("name", SMALL)
def test_extension_of_all_values(name: str) -> None:
    expected = all_values(name).astype(np.float32)
    found = converted(all_values(name), "f32")
    np.testing.assert_array_equal(found, expected)
    number = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(found[number]), np.signbit(expected[number]))


def candidates(name: str) -> np.ndarray:
    """All values, those halfway between two and around them, and numbers of all magnitudes."""
    values = np.sort(
        all_values(name).astype(np.float64)[np.isfinite(all_values(name).astype(np.float64))]
    )
    halfway = ((values[:-1] + values[1:]) / 2).astype(np.float32)
    values = np.concatenate([values.astype(np.float32), halfway])
    near = [
        values,
        np.nextafter(values, np.float32(np.inf)),
        np.nextafter(values, np.float32(-np.inf)),
    ]
    random = np.random.default_rng(0).integers(0, 1 << 32, 2000, dtype=np.uint32).view(np.float32)
    bits = np.array(
        [
            0x7F800000,
            0xFF800000,
            0x7FC00000,
            0xFFC00000,
            0x7F7FFFFF,
            1,
            0x400000,
            0x600000,
            0x5FFFFF,
        ],
        np.uint32,
    )
    return np.concatenate([*near, random, bits.view(np.float32)])


@pytest.mark.parametrize("name", SMALL)
def test_rounding(name: str) -> None:
    values = candidates(name)
    if name == "f8e8m0fnu":
        # ml_dtypes 0.5 rounds up between 2^-127 and its half, where 2^-127 is nearer.
        values = values[~((values > 2.0**-127) & (values < 1.5 * 2.0**-127))]
    with np.errstate(all="ignore"):
        expected = values.astype(numpy_dtype(BY_NAME[name].type))
    found = converted(values, name)
    wide, other = expected.astype(np.float32), found.astype(np.float32)
    np.testing.assert_array_equal(other, wide)
    number = ~np.isnan(wide)
    np.testing.assert_array_equal(np.signbit(other[number]), np.signbit(wide[number]))


def test_other_casts_stay() -> None:
    values = np.array([1.5], ml_dtypes.bfloat16)
    module = module_of(lambda x: ConvertOp(x, result_types=[array(Float32Type(), (1,))]), [values])
    lower(module, (*TO_TENSORS, ExpandSmallFloatsPass()))
    assert any(isinstance(op, arith.ExtFOp) for op in module.walk())
