"""Vectors of complex numbers: both parts in turn, taken apart and put together by shuffles."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from small_programs import type_of
from tensors_level import module_of, within
from xdsl.ir import SSAValue

from lowerings.compilation import Options, compile_module
from xla_dialect.literals.arrays import flatten_results
from xla_dialect.op import XlaOp
from xla_dialect.ops.data_movement import BroadcastOp, ReverseOp, SliceOp, TransposeOp
from xla_dialect.ops.elementwise import ComplexOp, ImagOp, MultiplyOp, NegateOp, RealOp, SelectOp
from xla_dialect.reference import run

AnyArray = np.ndarray[Any, np.dtype[Any]]

EXECUTORS = [("llvm", None), ("interpreter", "loops")]


def numbers(*sizes: int, wide: bool = False) -> AnyArray:
    random = np.random.default_rng(sum(sizes))
    x = random.standard_normal(sizes) + 1j * random.standard_normal(sizes)
    return x.astype(np.complex128 if wide else np.complex64)


def check(build: Callable[..., XlaOp], *arguments: AnyArray) -> None:
    expected = flatten_results(run(module_of(build, arguments), arguments))
    for backend, level in EXECUTORS:
        found = compile_module(module_of(build, arguments), Options(backend=backend, level=level))(
            *arguments
        )
        for mine, theirs in zip(found, expected, strict=True):
            within(mine, theirs, 4)


@pytest.mark.parametrize("length", [1, 2, 15, 16, 37, 64])
@pytest.mark.parametrize("wide", [False, True])
def test_products_and_their_parts(length: int, wide: bool) -> None:
    x, y = numbers(length, wide=wide), numbers(length, wide=wide)[::-1].copy()
    check(MultiplyOp, x, y)
    check(lambda a: ComplexOp(ImagOp(a).result, NegateOp(RealOp(a).result).result), x)


@pytest.mark.parametrize("sizes", [(3, 37), (37, 3), (2, 5, 18)])
def test_numbers_in_another_order(sizes: tuple[int, ...]) -> None:
    x = numbers(*sizes)
    last = len(sizes) - 1
    check(lambda a: MultiplyOp(ReverseOp(a, dimensions=[last]).result, a), x)
    check(lambda a: NegateOp(TransposeOp(a, dimensions=[last, *range(last)]).result), x)
    starts, limits, ones = [1] * len(sizes), list(sizes), [1] * len(sizes)

    def inner(a: Any, strides: list[int]) -> SSAValue:
        return SliceOp(a, start_indices=starts, limit_indices=limits, strides=strides).result

    check(lambda a: MultiplyOp(inner(a, ones), inner(a, ones)), x)
    check(lambda a: NegateOp(inner(a, [*ones[1:], 2])), x)


def test_numbers_that_are_the_same_in_all_lanes() -> None:
    x = numbers(37)
    check(lambda a, c: SelectOp(c, a, NegateOp(a).result), x, np.real(x) > 0)
    one = np.array(2 - 1j, np.complex64)
    wide = {"dimensions": [], "result_types": [type_of(x)]}
    check(lambda a, b: MultiplyOp(a, BroadcastOp(b, **wide).result), x, one)
    check(lambda b: BroadcastOp(b, **wide), one)
