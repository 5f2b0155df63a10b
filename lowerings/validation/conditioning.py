"""
What of a program's results says nothing of a pass: the last bits of the inputs change them by more
than it may, or they depend on signs of NaNs that nothing defines. For the latter modules are made
whose operations round otherwise, or whose NaNs have another sign.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, cast

import ml_dtypes
import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, OpResult, SSAValue

from lowerings.interpreter.elements import where
from lowerings.validation.allowances import Allowance, is_narrow
from lowerings.validation.execution import Execution, Results, Runner, is_pure_xla, outcome_of
from xla_dialect.attributes import ComparisonDirection, ComparisonDirectionAttr
from xla_dialect.diagnostics import XlaError
from xla_dialect.literals.arrays import Array, DType, bit_width, bits_of, literal_of, numpy_dtype
from xla_dialect.ops import (
    contraction,
    elementwise,
    linear_algebra,
    normalization,
    operations_of,
)
from xla_dialect.ops.creation import ConstantOp
from xla_dialect.ops.elementwise import (
    AbsOp,
    ClampOp,
    CompareOp,
    ImagOp,
    MultiplyOp,
    NegateOp,
    RealOp,
    SelectOp,
)
from xla_dialect.runtime.comparison import is_inexact
from xla_dialect.shapes.size_arithmetic import is_dynamic
from xla_dialect.types import Array as ArrayType
from xla_dialect.types import ElementClass, element_class, is_array, sizes_of
from xla_dialect.xdsl.linking import insert_before
from xla_dialect.xdsl.traversal import operations_in

TIMES = 64.0
"""How much further than on neighbouring inputs a result may be: a pass rounds more than once."""
TIMES_OF_NARROW = 4.0
"""The same of floats of fewer bits than f32, which are rounded less often."""

STEPS = 2
"""How much further an integer that stands for a number may be: several ties may meet in it."""

SCATTERED = 4
"""How many neighbours have other numbers where some were equal."""
MOST_STEPS = 2
"""How many units of the last place away these are."""
LAST_BITS = "the last bits of the inputs change results by more than the pass may"
SIGNS_OF_NANS = "they depend on the sign of a NaN that is computed, which nothing defines"
"""Why differences prove nothing."""

LEAST_BITS = 16
"""Of floats whose last bit is moved: of fewer it is a tenth of them, or more."""


def has_last_bits(dtype: DType) -> bool:
    """Whether elements are floats that are nearly the same with another last bit."""
    return is_inexact(dtype) and bit_width(dtype) >= LEAST_BITS


@dataclass(frozen=True)
class _Neighbour:
    results: Results
    keeps_ties: bool
    """Whether equal numbers have stayed equal, so that what is decided by them is the same."""


class Nearby:
    """What a function computes on inputs, and near them; run when asked for, once."""

    def __init__(self, run: Execution, arrays: Sequence[Array]):
        self.run = run
        self.arrays = arrays

    @cached_property
    def expected(self) -> Results | None:
        """The results on the inputs as they are."""
        outcome = outcome_of(self.run, self.arrays)
        return None if isinstance(outcome, XlaError) else outcome

    @cached_property
    def neighbours(self) -> list[_Neighbour]:
        """Those on inputs with other last bits."""
        scattered = [partial(_scattered, seed) for seed in range(SCATTERED)]
        return [
            each
            for change in (_above, _with_other_last_bit, _below, *scattered)
            for each in self.computed(
                [self.run],
                keeps_ties=change not in scattered,
                arrays=[_changed(array, change) for array in self.arrays],
            )
        ]

    def computed(
        self,
        runs: Iterable[Runner],
        *,
        keeps_ties: bool,
        arrays: Sequence[Array] | None = None,
    ) -> Iterator[_Neighbour]:
        """What others compute, on the same inputs or on others."""
        for run in runs:
            outcome = outcome_of(run, self.arrays if arrays is None else arrays)
            if not isinstance(outcome, XlaError):
                yield _Neighbour(outcome, keeps_ties)


class Neighbours:
    """Which results may differ, for they are ill-conditioned."""

    def __init__(
        self,
        nearby: Nearby,
        others: Iterable[Runner] = (),
        ties: Iterable[Runner] = (),
        signs: Iterable[Runner] = (),
        quantized: Collection[int] = (),
    ):
        """
        `others` compute what `nearby` does, but round otherwise, `ties` round ties between integers
        otherwise, and of `signs` the NaNs have others. `quantized`: the results that such are.
        """
        self._nearby = nearby
        self._runs = others, ties, signs
        self._quantized = quantized
        self.explained: dict[int, str] = {}
        """The numbers of the results of which differences prove nothing, and why."""

    @cached_property
    def _rounded(self) -> list[_Neighbour]:
        others, ties, _ = self._runs
        tied = self._nearby.computed(ties, keeps_ties=True)
        return [*tied, *self._nearby.computed(others, keeps_ties=False)]

    def _all(self) -> Iterator[_Neighbour]:
        """Those on other inputs first: the others need not be run where these say enough."""
        yield from self._nearby.neighbours
        yield from self._rounded

    @cached_property
    def _signed(self) -> list[_Neighbour]:
        return [*self._nearby.computed(self._runs[2], keeps_ties=True)]

    def explain(self, number: int, found: Array, wanted: Array, allowance: Allowance) -> bool:
        """
        Whether result `number` may be `found` instead of `wanted`: neighbouring inputs change it
        by more than a pass may, and by not much less than this, or so do signs of NaNs.
        """
        expected = self._nearby.expected
        if expected is None:
            return False
        own = expected[number]
        if number in self._quantized:
            return bool(allowance.epsilons) and self._is_in_reach(number, own, found, wanted)
        is_decided = not is_inexact(own.dtype)
        times = TIMES_OF_NARROW if is_narrow(own.dtype) else TIMES

        def reaches(neighbour: _Neighbour) -> bool:
            """Whether it moves the result as far."""
            moved = neighbour.results[number]
            if not (neighbour.keeps_ties or not is_decided) or not _moves(moved, own, allowance):
                return False
            # Of what is decided, as an order, there is no distance.
            return is_decided or _distance(found, wanted) <= times * _distance(moved, own)

        if allowance.epsilons and any(map(reaches, self._all())):
            self.explained[number] = LAST_BITS
        elif any(map(reaches, self._signed)):
            self.explained[number] = SIGNS_OF_NANS
        return number in self.explained

    def _is_in_reach(self, number: int, expected: Array, found: Array, wanted: Array) -> bool:
        """Whether each integer is where neighbours have it, or not much further away."""
        expected = expected.astype(np.int64)
        reach = np.zeros_like(expected)
        for each in self._all():
            moved = each.results[number]
            if moved.shape == expected.shape:
                reach = np.maximum(reach, np.abs(moved.astype(np.int64) - expected))
        distance = np.abs(found.astype(np.int64) - wanted.astype(np.int64))
        return bool(np.all(distance <= STEPS * reach))


def _moves(moved: Array, expected: Array, allowance: Allowance) -> bool:
    if moved.shape != expected.shape or moved.dtype != expected.dtype:
        return True
    return bool(allowance.differing(moved, expected).any())


def _distance(found: Array, expected: Array) -> float:
    """The largest of any element; infinite where one is no number, or infinite, and not both."""
    wide = np.complex128 if expected.dtype.kind == "c" else np.float64
    with np.errstate(all="ignore"):
        one, other = found.astype(wide), expected.astype(wide)
        is_same = (one == other) | (np.isnan(one) & np.isnan(other))
        distance = np.where(is_same, 0.0, np.abs(one - other))
    return float(np.max(np.where(np.isnan(distance), np.inf, distance), initial=0.0))


def _changed(array: Array, change: Callable[[Array], Array]) -> Array:
    """
    An array of floats with other numbers; other arrays as they are.

    Zeros stay zero, so that comparisons of them hold; but for one change, equal numbers equal.
    """
    if array.dtype.kind == "c":
        real, imaginary = (_changed(part, change) for part in (np.real(array), np.imag(array)))
        return (real + 1j * imaginary).astype(array.dtype)
    if not has_last_bits(array.dtype):
        return array
    with np.errstate(all="ignore"):
        changed = change(array)
        return where((array == 0) | ~np.isfinite(changed), array, changed)


def _above(array: Array) -> Array:
    return np.nextafter(array, np.asarray(np.inf, array.dtype))


def _below(array: Array) -> Array:
    return np.nextafter(array, np.asarray(-np.inf, array.dtype))


def _with_other_last_bit(array: Array) -> Array:
    """Some numbers grow and some shrink: ratios are not kept as by the others."""
    is_odd = (bits_of(np.ascontiguousarray(array)) & 1).astype(np.bool_).reshape(array.shape)
    return where(is_odd, _below(array), _above(array))


def _scattered(seed: int, array: Array) -> Array:
    """Equal rows are not equal any more: a matrix of them is singular, and its root may be NaN."""
    steps = np.random.default_rng(seed).integers(-MOST_STEPS, MOST_STEPS + 1, array.shape)
    for step in range(MOST_STEPS):
        array = where(steps > step, _above(array), where(steps < -step, _below(array), array))
    return array


VARIANTS = 6
"""How many such modules there are: each second one, say, has no root of a singular matrix."""

_COMPUTING_NANS = frozenset(
    op
    for family in (contraction, elementwise, linear_algebra, normalization)
    for op in operations_of(family)
    if op not in (AbsOp, ClampOp, ImagOp, NegateOp, RealOp, SelectOp)
)
"""The operations of whose NaNs nothing says the sign; others pass numbers on, bit by bit."""


def with_signs_of_nans(module: ModuleOp) -> Iterator[ModuleOp]:
    """Modules of the xla level whose operations compute NaNs of one sign; of other levels none."""
    for sign in (1.0, -1.0) if is_pure_xla(module) else ():
        copy = module.clone()
        for op in operations_in(copy):
            if type(op) in _COMPUTING_NANS:
                for result in filter(_is_of_static_floats, op.results):
                    _give_nans_a_sign(result, sign)
        yield copy


def _give_nans_a_sign(value: OpResult, sign: float) -> None:
    type_ = cast(ArrayType, value.type)
    with np.errstate(all="ignore"):
        nan = np.copysign(np.nan, sign).astype(numpy_dtype(type_.element_type))
    if not np.isnan(nan):
        return
    nans = ConstantOp.make([], {"value": literal_of(np.full(_shape(type_), nan))})
    unequal = {"direction": ComparisonDirectionAttr(ComparisonDirection.NE)}
    is_nan = CompareOp.make([value, value], unequal)
    signed = SelectOp.make([is_nan.result, nans.result, value], {}, result_types=[type_])
    ours = (is_nan, signed)
    value.replace_uses_with_if(signed.result, lambda use: use.operation not in ours)
    block = value.op.parent_block()
    assert block is not None
    block.insert_ops_after([nans, *ours], value.op)


def rounded_otherwise(module: ModuleOp, holds: Callable[[Operation], bool]) -> Iterator[ModuleOp]:
    """
    Modules of the xla level in which operations for which `holds` holds take floats whose last bits
    are others, each element for itself; of other levels none.
    """
    for seed in range(VARIANTS if is_pure_xla(module) else 0):
        generator = np.random.default_rng(seed)
        copy = module.clone()
        for op in filter(holds, operations_in(copy)):
            for number, operand in enumerate(op.operands):
                if is_of_floats(operand):
                    op.operands[number] = _rounded(operand, op, generator)
        yield copy


def is_of_floats(value: SSAValue) -> bool:
    """Whether a value is an array of floats whose sizes are known, with bits to spare."""
    return _is_of_static_floats(value) and has_last_bits(
        numpy_dtype(cast(ArrayType, value.type).element_type)
    )


def _is_of_static_floats(value: SSAValue) -> bool:
    type_ = value.type
    if not is_array(type_) or is_dynamic(sizes_of(type_)):
        return False
    return element_class(type_.element_type) == ElementClass.FLOAT


def _shape(type_: ArrayType) -> tuple[int, ...]:
    return tuple(map(int, sizes_of(type_)))


def _rounded(value: SSAValue, op: Operation, generator: np.random.Generator) -> SSAValue:
    type_ = cast(ArrayType, value.type)
    dtype = numpy_dtype(type_.element_type)
    steps = generator.integers(-1, 2, _shape(type_))
    factors = 1 + steps * float(cast(Any, ml_dtypes).finfo(dtype).eps)
    factor = ConstantOp.make([], {"value": literal_of(factors.astype(dtype))})
    product = MultiplyOp.make([value, factor.result], {}, result_types=[type_])
    insert_before(factor, op)
    return insert_before(product, op).results[0]
