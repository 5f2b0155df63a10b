"""Expansions of compound operations, on the reference and as machine code, against the reference."""

from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_programs import numbers, same, shape
from sweeps import each_or_full, few_examples
from tensors_level import lower, module_of, natively

from lowerings.expand.xla_expand_compound import XlaExpandCompoundPass
from xla_dialect.attributes import RandomAlgorithm
from xla_dialect.literals.arrays import flatten_results
from xla_dialect.op import XlaOp
from xla_dialect.ops.contraction import ScaledDotOp
from xla_dialect.ops.linear_algebra import CholeskyOp, TriangularSolveOp
from xla_dialect.ops.normalization import (
    BatchNormGradOp,
    BatchNormInferenceOp,
    BatchNormTrainingOp,
)
from xla_dialect.ops.random import RngBitGeneratorOp
from xla_dialect.reference import run
from xla_dialect.types import BY_NAME, ElementClass

AnyArray = np.ndarray[Any, np.dtype[Any]]


def expanded(build: Callable[..., XlaOp], *arguments: AnyArray) -> Sequence[AnyArray]:
    """What the reference makes of the expansion."""
    module = module_of(build, arguments)
    lower(module, (XlaExpandCompoundPass(),))
    assert not any(isinstance(op, BatchNormTrainingOp | RngBitGeneratorOp) for op in module.walk())
    return flatten_results(run(module, arguments))


# Random bits: bit for bit


def generator(algorithm: RandomAlgorithm, length: int, bits: str) -> Callable[..., XlaOp]:
    types = [shape(f"u64[{length}]"), shape(bits)]
    return lambda state: RngBitGeneratorOp(state, algorithm=algorithm, result_types=types)


def check_bits(algorithm: RandomAlgorithm, state: list[int], bits: str) -> None:
    build, given = generator(algorithm, len(state), bits), numbers("u64", state)
    expected = flatten_results(run(module_of(build, [given]), [given]))
    same(tuple(expanded(build, given)), tuple(expected))
    same(tuple(natively(build, given)), tuple(expected))


NUMBERS = st.sampled_from([0, 1, 0x123456789ABCDEF0, 2**64 - 1, 2**64 - 3])


@few_examples(8)
@given(
    st.sampled_from(RandomAlgorithm),
    st.lists(NUMBERS, min_size=2, max_size=3),
    st.sampled_from(["s2", "u4", "u8", "s16", "u32", "s32", "u64", "s64"]),
    st.lists(st.sampled_from([0, 1, 2, 3, 5, 8]), max_size=3),
)
def test_random_bits(
    algorithm: RandomAlgorithm, state: list[int], name: str, sizes: list[int]
) -> None:
    """Counters that overflow, sizes of which none is even, scalars and nothing at all."""
    if algorithm == RandomAlgorithm.THREE_FRY:
        state = state[:2]
    check_bits(algorithm, state, f"{name}[{','.join(map(str, sizes))}]")


def test_many_random_bits() -> None:
    check_bits(RandomAlgorithm.THREE_FRY, [7, 2**64 - 100], "u32[70001]")
    check_bits(RandomAlgorithm.PHILOX, [7, 2**64 - 100, 2**64 - 1], "u32[300,41]")


# Batch normalization: up to rounding


def vectors(random: np.random.Generator, count: int, features: int) -> list[AnyArray]:
    return [random.uniform(0.5, 2, features) for _ in range(count)]


def check_batch_norm(
    op_class: type[XlaOp], name: str, feature: int, arguments: Sequence[AnyArray]
) -> None:
    given = [numbers(name, argument) for argument in arguments]

    def build(*operands: Any) -> XlaOp:
        return op_class(*operands, epsilon=1e-2, feature_index=feature)

    expected = flatten_results(run(module_of(build, given), given))
    tolerance = 8 * float(ml_dtypes.finfo(given[0].dtype).eps)
    if name == "f32":
        tolerance *= 4
    for found in (expanded(build, *given), natively(build, *given)):
        for mine, theirs in zip(found, expected, strict=True):
            assert (mine.dtype, mine.shape) == (theirs.dtype, theirs.shape)
            scale = float(np.abs(theirs.astype(np.float64)).max(initial=1, where=theirs == theirs))
            np.testing.assert_allclose(
                mine.astype(np.float64),
                theirs.astype(np.float64),
                rtol=tolerance,
                atol=tolerance * scale,
            )


FLOATS = [e.name for e in BY_NAME.values() if e.element_class == ElementClass.FLOAT]


@pytest.mark.parametrize(
    "name", each_or_full((n for n in FLOATS if BY_NAME[n].bits > 8), ("f16", "f32", "f64"))
)
@pytest.mark.parametrize("feature", [0, 2])
def test_batch_norm(name: str, feature: int) -> None:
    random = np.random.default_rng(feature)
    sizes = (3, 4, 5)
    x, result = (random.standard_normal(sizes) for _ in range(2))
    count = sizes[feature]
    check_batch_norm(BatchNormTrainingOp, name, feature, [x, *vectors(random, 2, count)])
    check_batch_norm(BatchNormInferenceOp, name, feature, [x, *vectors(random, 4, count)])
    check_batch_norm(BatchNormGradOp, name, feature, [x, *vectors(random, 3, count), result])


def test_batch_norm_without_elements() -> None:
    """Moments of nothing are NaN; without features there is nothing."""
    random = np.random.default_rng(0)
    for sizes in ((0, 2), (3, 0)):
        x = np.zeros(sizes)
        check_batch_norm(BatchNormTrainingOp, "f32", 1, [x, *vectors(random, 2, sizes[1])])
        check_batch_norm(BatchNormGradOp, "f32", 1, [x, *vectors(random, 3, sizes[1]), x])


# Factors and triangular systems: up to rounding

FIELD = ElementClass.FLOAT | ElementClass.COMPLEX
FIELDS = [e.name for e in BY_NAME.values() if e.element_class & FIELD and e.bits > 8]


def random_of(name: str, sizes: Sequence[int]) -> AnyArray:
    """Random numbers, complex ones for complex types, in double precision."""
    random = np.random.default_rng(len(sizes))
    x = random.standard_normal(sizes)
    is_complex = BY_NAME[name].element_class == ElementClass.COMPLEX
    return x + 1j * random.standard_normal(sizes) if is_complex else x


def check_solution(build: Callable[..., XlaOp], *arguments: AnyArray) -> None:
    (expected,) = flatten_results(run(module_of(build, arguments), arguments))
    wide = np.complex128 if expected.dtype.kind == "c" else np.float64
    theirs = expected.astype(wide)
    for (found,) in (expanded(build, *arguments), natively(build, *arguments)):
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        eps = float(ml_dtypes.finfo(np.real(found[..., :0]).dtype).eps)
        largest = np.abs(theirs[np.isfinite(theirs)]).max(initial=0)
        np.testing.assert_allclose(found.astype(wide), theirs, rtol=0, atol=64 * eps * largest)


@pytest.mark.parametrize("name", each_or_full(FIELDS, ("bf16", "f32", "c64")))
@pytest.mark.parametrize("lower", [True, False])
def test_cholesky(name: str, lower: bool) -> None:
    """One triangle is read; matrices that are not positive definite are NaN, others beside not."""

    def build(a: Any) -> XlaOp:
        return CholeskyOp(a, lower=lower)

    for sizes in ((5, 5), (2, 3, 4, 4), (1, 1), (2, 0, 0), (0, 3, 3)):
        x = random_of(name, sizes)
        a = x @ np.conj(np.swapaxes(x, -1, -2)) + 3 * np.eye(sizes[-1])
        unread = np.triu(np.ones(sizes[-2:]), 1) > 0
        a[..., unread if lower else unread.T] = np.nan
        if len(sizes) == 4:
            a[1, 2, 1, 1] = -1
        check_solution(build, numbers(name, a))


@pytest.mark.parametrize("size", [128, 150, 131])
def test_cholesky_of_large_matrices(size: int) -> None:
    """Some rows at a time, where the size divides into such; beside LAPACK's in f64."""
    x = random_of("f64", (2, size, size))
    a = x @ np.swapaxes(x, -1, -2) + size * np.eye(size)
    (found,) = natively(lambda a: CholeskyOp(a, lower=True), a)
    np.testing.assert_allclose(found, np.linalg.cholesky(a), rtol=0, atol=1e-12)
    a[1, 100, 100] = -1
    (found,) = natively(lambda a: CholeskyOp(a, lower=False), a)
    expected = np.swapaxes(np.linalg.cholesky(a[:1]), -1, -2)
    np.testing.assert_allclose(found[:1], expected, rtol=0, atol=1e-12)
    assert np.isnan(found[1]).all()


@pytest.mark.parametrize("size", [128, 150, 131])
@pytest.mark.parametrize("unit", [True, False])
def test_triangular_solve_of_large_matrices(size: int, unit: bool) -> None:
    """Some rows at a time, of one triangle; beside numpy's solution of the general system in f64."""
    a = np.tril(random_of("f64", (2, size, size))) / size + 2 * np.eye(size)
    given = np.where(np.tri(size) > 0, a, np.nan)
    x = random_of("f64", (2, size, 130))
    (found,) = natively(
        lambda a, x: TriangularSolveOp(
            a, x, left_side=True, lower=True, unit_diagonal=unit, transpose_a="NO_TRANSPOSE"
        ),
        given,
        x,
    )
    read = np.tril(a, -1) + np.eye(size) if unit else a
    np.testing.assert_allclose(found, np.linalg.solve(read, x), rtol=0, atol=1e-11)


@pytest.mark.parametrize("name", each_or_full(FIELDS, ("f16", "f32", "c128")))
@pytest.mark.parametrize("transpose", ["NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"])
@pytest.mark.parametrize("left", [True, False])
def test_triangular_solve(name: str, transpose: str, left: bool) -> None:
    """Neither the other triangle is read nor, if it is known, the diagonal."""
    for is_lower, unit, batch in ((True, False, ()), (False, True, (2,)), (False, False, (0,))):
        a = random_of(name, (*batch, 4, 4)) / 4 + 2 * np.eye(4)
        unread = np.triu(np.ones((4, 4)), 0 if unit else 1) > 0
        a[..., unread if is_lower else unread.T] = np.nan
        x = random_of(name, (*batch, 4, 3) if left else (*batch, 3, 4))

        def build(a: Any, x: Any, is_lower: bool = is_lower, unit: bool = unit) -> XlaOp:
            return TriangularSolveOp(
                a, x, left_side=left, lower=is_lower, unit_diagonal=unit, transpose_a=transpose
            )

        check_solution(build, numbers(name, a), numbers(name, x))


# Scaled dots: small integers, exactly


@pytest.mark.parametrize("name", ["f8e4m3fn", "bf16", "f32", "f64"])
@pytest.mark.parametrize("blocks", [((1, 2, 2), (2, 8, 3)), ((), (1, 1, 1)), ((2, 4, 8), ())])
def test_scaled_dot(name: str, blocks: tuple[Sequence[int], Sequence[int]]) -> None:
    """Scales of blocks, of single elements and of the whole, and none."""
    random = np.random.default_rng(0)
    sizes = [(2, 4, 8), (2, 8, 3), *blocks]
    arguments = [numbers(name, random.integers(-2, 3, size)) for size in sizes]
    result = shape("f32[2,4,3]" if name != "f64" else "f64[2,4,3]")

    def build(*operands: Any) -> XlaOp:
        return ScaledDotOp(
            *operands,
            lhs_batch_dims=[0],
            rhs_batch_dims=[0],
            lhs_contracting_dims=[2],
            rhs_contracting_dims=[1],
            result_types=[result],
        )

    (expected,) = flatten_results(run(module_of(build, arguments), arguments))
    for (found,) in (expanded(build, *arguments), natively(build, *arguments)):
        np.testing.assert_array_equal(found, expected, strict=True)
