"""Constants and iota on the tensors level against the reference."""

import numpy as np
import pytest
from small_programs import constant, numbers
from tensors_level import check

from xla_dialect.literals.arrays import from_numpy
from xla_dialect.ops.creation import ConstantOp, IotaOp
from xla_dialect.types import BY_NAME, array


@pytest.mark.parametrize("name", ["bf16", "f16", "f32", "f64"])
def test_special_floats(name: str) -> None:
    for value in (np.inf, -np.inf, np.nan, -np.nan, -0.0):
        check(lambda v=value: [constant(name, v), constant(name, [v, v]), constant(name, [v, 1])])


def test_payloads_of_nan_survive_in_arrays() -> None:
    bits = np.array([0x7FC00001, 0xFFC00000, 0x7F800001], np.uint32)
    check(lambda: ConstantOp(value=from_numpy(bits.view(np.float32))))


def test_iota_of_many() -> None:
    result = array(BY_NAME["bf16"].type, (1000,))
    check(lambda: IotaOp(iota_dimension=0, result_types=[result]))
    narrow = array(BY_NAME["u8"].type, (1000,))
    check(lambda: IotaOp(iota_dimension=0, result_types=[narrow]))
    check(lambda: [constant("u4", numbers("u4", [[15, 8, 7], [0, 1, 2]]))])
