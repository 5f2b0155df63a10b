"""Bit casts on the tensors level against the reference; `convert` is with the elementwise ones."""

import numpy as np
import pytest
from element_values import dtype, float_values
from small_programs import numbers
from tensors_level import check

from xla_dialect.ops.conversion import BitcastConvertOp, ReducePrecisionOp, bitcast_type
from xla_dialect.types import BY_NAME, ELEMENT_TYPES, ElementClass, array
from xla_dialect.violations import Violation

SIZES = [
    pytest.param(source.name, target.name, id=f"{source.name}-{target.name}")
    for source in ELEMENT_TYPES
    for target in ELEMENT_TYPES
    if (source.element_class == ElementClass.COMPLEX)
    == (target.element_class == ElementClass.COMPLEX)
    and max(source.bits, target.bits) % min(source.bits, target.bits) == 0
]


@pytest.mark.parametrize(("source", "target"), SIZES)
def test_bitcast_convert(source: str, target: str) -> None:
    old, new = BY_NAME[source], BY_NAME[target]
    sizes = (2, 3) if old.bits >= new.bits else (3, new.bits // old.bits)
    if old.element_class in (ElementClass.FLOAT, ElementClass.COMPLEX):
        # A NaN may lose its payload on the way through an evaluation in numpy.
        values = np.resize([0.5, -2.0, 1.0, 4.0, -0.0, 0.25], sizes)
    elif old.element_class == ElementClass.PRED:
        values = np.resize([True, False, True], sizes)
    else:
        values = np.random.default_rng(1).integers(0, 1 << min(old.bits, 62), sizes)
        if new.element_class in (ElementClass.FLOAT, ElementClass.COMPLEX):
            values &= 0x3F3F3F3F3F3F3F3F
    try:
        result = bitcast_type(array(old.type, sizes), new.type)
    except Violation:
        pytest.skip("the reference rejects the pair")
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
@pytest.mark.parametrize("exponent", [1, 4, 5, 8, 11, 20])
@pytest.mark.parametrize("mantissa", [0, 1, 7, 10, 23, 60])
def test_reduce_precision(name: str, exponent: int, mantissa: int) -> None:
    bits = np.random.default_rng(0).integers(0, 1 << 62, 40)
    random = np.resize(bits, 40).astype(f"u{BY_NAME[name].bits // 8}").view(dtype(name))
    near_one = numbers(name, 1 + np.arange(-20, 20) / 64)
    values = np.concatenate([float_values(name), random, near_one, -near_one])
    check(lambda x: ReducePrecisionOp(x, exponent_bits=exponent, mantissa_bits=mantissa), values)
