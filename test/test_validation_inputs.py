"""What `--validate-each` runs functions on, and how results are compared."""

from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from lowerings.execution.signature import ArraySpec, Signature
from lowerings.validation import execution as running
from lowerings.validation.allowances import Allowance
from lowerings.validation.execution import Execution, outcomes
from lowerings.validation.inputs import (
    MOST_INDICES,
    NUMBERS_OF_TIES,
    InputChoice,
    InputKind,
    made_inputs,
)
from xla_dialect.diagnostics import XlaError
from xla_dialect.runtime.limits import TimeLimitReached

CHOICE = InputChoice()


@pytest.mark.parametrize("element_type", ["f32", "s32", "c64"])
def test_some_plain_numbers_are_often_equal(element_type: str) -> None:
    """What goes wrong with equal keys of a sort is seen."""
    signature = Signature((ArraySpec.of(element_type, 4, 16), ArraySpec.of(element_type, 0)), ())
    inputs = made_inputs(signature, InputChoice())
    first, tied, *_ = (each.arrays for each in inputs if each.kinds == {InputKind.PLAIN})
    assert 1 < np.unique(tied[0]).size <= NUMBERS_OF_TIES < np.unique(first[0]).size
    if element_type == "s32":
        assert {*tied[0].reshape(-1)} == {*range(MOST_INDICES)}
    assert all(each.dtype == other.dtype for each, other in zip(first, tied, strict=True))
    assert [each.shape for each in tied] == [each.shape for each in first] == [(4, 16), (0,)]


def test_small_arrays_have_more_inputs() -> None:
    """What needs several numbers to meet is seen in few elements, too."""

    def count(size: int) -> int:
        signature = Signature((ArraySpec.of("f32", size),), ())
        return sum(InputKind.SPECIAL in each.kinds for each in made_inputs(signature, CHOICE))

    assert [count(size) for size in (1000, 256, 100, 2, 0)] == [2, 2, 3, 4, 4]


@pytest.mark.parametrize("sizes", [(), (2,), (3, 5), (16, 4)])
def test_every_parameter_has_every_special_number(sizes: tuple[int, ...]) -> None:
    """However few numbers it has: a lost NaN is seen beside numbers."""
    signature = Signature((ArraySpec.of("f32", *sizes),) * 3, ())
    inputs = made_inputs(signature, CHOICE)
    special = [each.arrays for each in inputs if InputKind.SPECIAL in each.kinds]
    for arrays in zip(*special, strict=True):
        sparse = [each for each in arrays if np.sum(~np.isfinite(each)) in range(1, 5)]
        assert all(has(sparse).any() for has in (np.isnan, np.isposinf, np.isneginf))


def test_floats_of_fewer_bits_may_differ_by_a_unit_each() -> None:
    """A large element does not excuse a small one: 0.5 of 8 is much, 0.5 of 2^-20 is nothing."""
    bf16 = ml_dtypes.bfloat16
    wanted = np.array([8.0, 0.5, 2.0**-130], bf16)
    near = np.array([8.03125, 0.498046875, 2.0**-130 + 2.0**-133], bf16)
    assert not Allowance(64).differing(near, wanted).any()
    for place, number in enumerate([8.125, 0.51171875, 1e-3]):
        far = wanted.copy()
        far[place] = number
        assert [*np.flatnonzero(Allowance(64).differing(far, wanted))] == [place]


def test_denormal_numbers_of_any_bits_are_inputs() -> None:
    """Their rounding shows in the middle of them."""
    signature = Signature((ArraySpec.of("f8e4m3fn", 100),), ())
    found = [each.arrays[0] for each in made_inputs(signature, CHOICE)]
    places = np.unique(np.concatenate(found).astype(np.float64) / 2.0**-9)
    assert sum(1 < abs(place) < 8 for place in places) >= 4


@pytest.mark.parametrize(("compiled", "is_seen"), [(2.0, True), (3.0, False)])
def test_machine_code_is_taken_where_the_interpreter_takes_too_long(
    compiled: float, is_seen: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where it agrees; else nothing is known of the first input."""

    class Slow(Execution):
        def __call__(self, arrays: Sequence[Any]) -> Any:
            raise TimeLimitReached("@main", 20)

        def compiled(self) -> Any:
            return lambda arrays: (np.array(compiled),)

    monkeypatch.setattr(running, "LONG", -1.0)
    execution = Slow(ModuleOp([]), "main", Signature((), ()))
    found = next(
        outcomes(execution, [[]], lambda _, each: not isinstance(each, XlaError) and each[0] == 2.0)
    )
    assert isinstance(found, TimeLimitReached) != is_seen
