"""The result types of fft, cholesky, triangular-solve, the dots with more operands, batch norm,
reduce-precision and scan."""

from collections.abc import Sequence
from typing import Any

import pytest
from small_programs import computation, shape, tuple_of, value
from violations import accepts
from xdsl.ir import Region

from xla_dialect.op import XlaOp
from xla_dialect.ops.contraction import RaggedDotOp, ScaledDotOp
from xla_dialect.ops.control_flow import ScanOp
from xla_dialect.ops.conversion import ReducePrecisionOp
from xla_dialect.ops.elementwise import AddOp
from xla_dialect.ops.linear_algebra import CholeskyOp, FftOp, TriangularSolveOp
from xla_dialect.ops.normalization import (
    BatchNormGradOp,
    BatchNormInferenceOp,
    BatchNormTrainingOp,
)
from xla_dialect.types import spell


def fft(operand: Any, kind: str, length: Sequence[int]) -> XlaOp:
    return FftOp(value(operand), fft_type=kind, fft_length=length)


def cholesky(a: Any) -> XlaOp:
    return CholeskyOp(value(a), lower=True)


def solve(a: Any, b: Any, left_side: bool = True) -> XlaOp:
    return TriangularSolveOp(value(a), value(b), left_side=left_side, transpose_a="NO_TRANSPOSE")


def reduce_precision(operand: Any, exponent_bits: int = 5, mantissa_bits: int = 2) -> XlaOp:
    return ReducePrecisionOp(
        value(operand), exponent_bits=exponent_bits, mantissa_bits=mantissa_bits
    )


def batch_norm(op: type[XlaOp], *operands: Any, feature_index: int = 1) -> XlaOp:
    return op(*[value(x) for x in operands], epsilon=0.001, feature_index=feature_index)


def ragged_dot(
    lhs: Any = "f32[5,3]",
    rhs: Any = "f32[2,3,4]",
    group_sizes: Any = "s32[2]",
    contracting: Any = ([1], [1]),
    batch: Any = ((), ()),
    ragged: Sequence[int] = (0,),
    groups: Sequence[int] = (0,),
    result: str | None = None,
) -> XlaOp:
    return RaggedDotOp(
        value(lhs),
        value(rhs),
        value(group_sizes),
        lhs_contracting_dims=contracting[0],
        rhs_contracting_dims=contracting[1],
        lhs_batch_dims=batch[0],
        rhs_batch_dims=batch[1],
        lhs_ragged_dims=ragged,
        rhs_group_dims=groups,
        result_types=None if result is None else [shape(result)],
    )


def scaled_dot(
    lhs: Any = "f32[2,8]",
    rhs: Any = "f32[8,3]",
    lhs_scale: Any = "f32[1,4]",
    rhs_scale: Any = "f32[]",
    contracting: Any = ([1], [0]),
    batch: Any = ((), ()),
) -> XlaOp:
    return ScaledDotOp(
        *[value(x) for x in (lhs, rhs, lhs_scale, rhs_scale)],
        lhs_contracting_dims=contracting[0],
        rhs_contracting_dims=contracting[1],
        lhs_batch_dims=batch[0],
        rhs_batch_dims=batch[1],
    )


def step(*types: str) -> Region:
    """The computation (slice, carry) -> (slice + carry, slice + carry)."""

    def build(x: Any, c: Any) -> Any:
        total = AddOp(x, c)
        return [total, total]

    return computation(types or ["f32[]", "f32[]"], build)


def scan(
    arguments: Sequence[Any] = ("f32[4]", "f32[]"),
    dimension: int = 0,
    num_carries: int = 1,
    to_apply: Region | None = None,
    results: Sequence[str] | None = None,
) -> XlaOp:
    return ScanOp(
        [value(x) for x in arguments],
        dimension=dimension,
        num_carries=num_carries,
        regions=[to_apply or step()],
        result_types=None if results is None else [shape(r) for r in results],
    )


VECTORS = ["f32[3]"] * 4


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (lambda: fft("f32[16]", "RFFT", [16]), ["c64[9]"]),
        (lambda: fft("f32[17]", "RFFT", [17]), ["c64[9]"]),
        (lambda: fft("f64[2,3,4]", "RFFT", [3, 4]), ["c128[2,3,3]"]),
        (lambda: fft("c64[2,3]", "IRFFT", [5]), ["f32[2,5]"]),
        (lambda: fft("c64[0]", "IRFFT", [0]), ["f32[0]"]),
        (lambda: fft("c128[1,2,3]", "IFFT", [1, 2, 3]), ["c128[1,2,3]"]),
        (lambda: fft("f32[<=2,4]", "RFFT", [4]), ["c64[<=2,3]"]),
        (lambda: cholesky("bf16[0,2,2]"), ["bf16[0,2,2]"]),
        (lambda: solve("c64[5,2,2]", "c64[5,2,7]"), ["c64[5,2,7]"]),
        (lambda: solve("f32[2,2]", "f32[0,2]", left_side=False), ["f32[0,2]"]),
        (lambda: reduce_precision("f8e5m2[2]", 99, 0), ["f8e5m2[2]"]),
        (
            lambda: batch_norm(BatchNormTrainingOp, "f32[2,3]", *VECTORS[:2]),
            ["f32[2,3]", "f32[3]", "f32[3]"],
        ),
        (lambda: batch_norm(BatchNormInferenceOp, "f32[<=2,3]", *VECTORS), ["f32[<=2,3]"]),
        (
            lambda: batch_norm(BatchNormGradOp, "f32[2,3]", *VECTORS[:3], "f32[2,3]"),
            ["f32[2,3]", "f32[3]", "f32[3]"],
        ),
        (ragged_dot, ["f32[5,4]"]),
        (
            lambda: ragged_dot(
                "f32[5,3]", "f32[5,4]", contracting=([0], [0]), groups=[], result="f64[2,3,4]"
            ),
            ["f64[2,3,4]"],
        ),
        (
            lambda: ragged_dot(
                "f32[7,5,3]",
                "f32[2,7,3,4]",
                "s32[7,2]",
                contracting=([2], [2]),
                batch=([0], [1]),
                ragged=[1],
            ),
            ["f32[7,5,4]"],
        ),
        (scaled_dot, ["f32[2,3]"]),
        (scan, ["f32[4]", "f32[]"]),
        (
            lambda: scan(
                ["f32[2,4]", "f32[2]"],
                1,
                to_apply=computation(["f32[2]", "f32[2]"], lambda x, c: [x, x, c]),
            ),
            ["f32[2,4]", "f32[2,4]", "f32[2]"],
        ),
        (
            lambda: scan(
                ["f32[]"],
                to_apply=computation(["f32[]"], lambda c: [c, c]),
                results=["f32[7]", "f32[]"],
            ),
            ["f32[7]", "f32[]"],
        ),
    ],
)
def test_results(build: Any, expected: list[str]):
    assert [spell(result.type) for result in accepts(build).results] == expected


def test_tuple_results():
    """Where HLO has a tuple, the tuple and its elements are both legal."""
    for op in (scan(), batch_norm(BatchNormTrainingOp, "f32[2,3]", *VECTORS[:2])):
        op.set_result_types([tuple_of(*[result.type for result in op.results])])
        op.verify()
