"""Scans on the tensors level and as machine code, against the reference."""

from typing import Any

import numpy as np
import pytest
from small_programs import computation, numbers, shape
from tensors_level import check, check_natively

from xla_dialect.op import XlaOp
from xla_dialect.ops.control_flow import ScanOp
from xla_dialect.ops.elementwise import AddOp, MultiplyOp, NegateOp


def running_sums(name: str, sizes: list[int], dimension: int, reverse: bool) -> Any:
    """Stacks the sums and the inputs negated; carries a sum and what the steps do to 3."""
    kept = [size for d, size in enumerate(sizes) if d != dimension]
    row = f"{name}[{','.join(map(str, kept))}]"
    whole = f"{name}[{','.join(map(str, sizes))}]"

    def step(x: Any, total: Any, number: Any) -> list[Any]:
        sums = AddOp(total, x)
        return [sums, NegateOp(x), sums, MultiplyOp(number, number)]

    def build(x: Any, total: Any, number: Any) -> XlaOp:
        return ScanOp(
            [x, total, number],
            dimension=dimension,
            num_carries=2,
            is_reverse=reverse,
            regions=[computation([row, row, f"{name}[]"], step)],
            result_types=[shape(whole), shape(whole), shape(row), shape(f"{name}[]")],
        )

    return build


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(
    ("sizes", "dimension"),
    [([5], 0), ([4, 3], 0), ([4, 3], 1), ([2, 3, 20], 1), ([0, 3], 0), ([3, 0], 0), ([1, 2], 0)],
)
def test_running_sums(sizes: list[int], dimension: int, reverse: bool) -> None:
    for name in ("s32", "u8", "f32"):
        build = running_sums(name, sizes, dimension, reverse)
        arguments = (
            numbers(name, np.arange(np.prod(sizes)).reshape(sizes)),
            numbers(name, np.ones([size for d, size in enumerate(sizes) if d != dimension])),
            numbers(name, 3),
        )
        check(build, *arguments)
        check_natively(build, *arguments)


def test_without_inputs_or_outputs() -> None:
    def powers(number: Any) -> XlaOp:
        def step(x: Any) -> list[Any]:
            return [x, AddOp(x, x)]

        return ScanOp(
            [number],
            dimension=0,
            num_carries=1,
            regions=[computation(["s32[]"], step)],
            result_types=[shape("s32[6]"), shape("s32[]")],
        )

    def last_total(x: Any, total: Any) -> XlaOp:
        return ScanOp(
            [x, total],
            dimension=0,
            num_carries=1,
            regions=[computation(["s32[]", "s32[]"], AddOp)],
            result_types=[shape("s32[]")],
        )

    check(powers, numbers("s32", 1))
    check_natively(powers, numbers("s32", 1))
    check(last_total, numbers("s32", [3, 4, 5]), numbers("s32", 1))
    check_natively(last_total, numbers("s32", [3, 4, 5]), numbers("s32", 1))
