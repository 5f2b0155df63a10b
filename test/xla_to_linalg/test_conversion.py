"""Conversions on the tensors level against the reference, beside those of `test/run`."""

from itertools import product

import numpy as np
import pytest
from element_values import dtype, float_values
from small_programs import numbers
from tensors_level import check

from xla_dialect.ops.conversion import BitcastConvertOp, ReducePrecisionOp, bitcast_type
from xla_dialect.types import BY_NAME, array


@pytest.mark.parametrize(("source", "target"), list(product(("c64", "c128"), repeat=2)))
def test_bitcast_convert_of_complex_numbers(source: str, target: str) -> None:
    sizes = (3, 2) if BY_NAME[source].bits < BY_NAME[target].bits else (2, 3)
    values = np.resize([0.5, -2.0, 1.0, 4.0, -0.0, 0.25], sizes)
    result = bitcast_type(array(BY_NAME[source].type, sizes), BY_NAME[target].type)
    check(lambda x: BitcastConvertOp(x, result_types=[result]), numbers(source, values))


def test_scalars() -> None:
    check(
        lambda x: BitcastConvertOp(x, result_types=[array(BY_NAME["u16"].type, (2,))]),
        numbers("f32", 1.0),
    )
    check(
        lambda x: BitcastConvertOp(x, result_types=[array(BY_NAME["f32"].type, ())]),
        numbers("u8", [0, 0, 128, 63]),
    )


@pytest.mark.parametrize("name", ["bf16", "f16", "f32", "f64"])
def test_reduce_precision(name: str) -> None:
    bits = np.random.default_rng(0).integers(0, 1 << 62, 40)
    random = np.resize(bits, 40).astype(f"u{BY_NAME[name].bits // 8}").view(dtype(name))
    near_one = numbers(name, 1 + np.arange(-20, 20) / 64)
    values = np.concatenate([float_values(name), random, near_one, -near_one])
    bits_kept = product([1, 4, 5, 8, 11, 20], [0, 1, 7, 10, 23, 60])
    check(
        lambda x: [ReducePrecisionOp(x, exponent_bits=e, mantissa_bits=m) for e, m in bits_kept],
        values,
    )
