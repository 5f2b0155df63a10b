"""The error allowed to passes that change where results are rounded, as their classes say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import ml_dtypes
import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from lowerings.interpreter.elements import where
from lowerings.rewriting.passes import ResultDifference, differences_of
from lowerings.universe import toolkit_universe
from lowerings.validation.dependence import dependent_results
from lowerings.validation.inputs import EVERY_INPUT, InputKind
from xla_dialect.literals.arrays import Array, DType
from xla_dialect.runtime.comparison import is_inexact
from xla_dialect.xdsl.traversal import operations_in


@dataclass(frozen=True)
class Allowance:
    """What may differ between the results before and after a pass."""

    epsilons: float = 0.0
    """
    The largest error of floats, as a multiple of the largest finite magnitude of the array and of
    the distance from 1 to the next float. Where the type has fewer bits than f32, of that of f32,
    and a unit in the last place of each element on top. 0: equal bits.
    """
    kinds: tuple[InputKind, ...] = EVERY_INPUT
    """The inputs on which results are compared."""
    complex_kinds: tuple[InputKind, ...] = EVERY_INPUT
    """The same for programs with complex numbers."""
    reason: str = ""
    """Why results may differ."""

    def differing(self, found: Array, expected: Array) -> Array:
        """Where two arrays of one shape and type differ by more; NaNs are equal."""
        if not is_inexact(expected.dtype):
            return np.asarray(found != expected)
        if expected.dtype.kind == "c":
            parts = self.differing(np.real(found), np.real(expected)) | self.differing(
                np.imag(found), np.imag(expected)
            )
            if not self.epsilons:
                return parts
            # Which part of a number is NaN depends on the formula, as rounding does.
            return np.asarray(parts & ~(np.isnan(found) & np.isnan(expected)))
        with np.errstate(all="ignore"):
            either_nan: Any = (found != found) | (expected != expected)
            both_nan: Any = (found != found) & (expected != expected)
            wide, wanted = found.astype(np.float64), expected.astype(np.float64)
            same: Any = (wide == wanted) & (np.signbit(wide) == np.signbit(wanted))
            if not self.epsilons:
                return ~where(either_nan, both_nan, same)
            error = np.abs(wide - wanted)
            close = (error <= self._bound(expected)) & np.isfinite(wide) & np.isfinite(wanted)
            return ~where(either_nan, both_nan, close | (wide == wanted))

    def _bound(self, expected: Array) -> Array:
        wanted = np.abs(expected.astype(np.float64))
        largest = float(np.max(wanted, where=np.isfinite(wanted), initial=0.0))
        info = cast(Any, ml_dtypes).finfo(expected.dtype)
        if not is_narrow(expected.dtype):
            return np.asarray(self.epsilons * float(info.eps) * largest)
        # Computed in f32, and rounded where the result is: that error is one of each element.
        units = np.maximum(wanted, float(info.tiny)) * float(info.eps)
        return np.asarray(self.epsilons * float(np.finfo(np.float32).eps) * largest + units)


def is_narrow(dtype: DType) -> bool:
    """Whether floats of a type have fewer bits than f32, in which they are computed."""
    if dtype.kind == "c" or not is_inexact(dtype):
        return False
    return float(cast(Any, ml_dtypes).finfo(dtype).eps) > float(np.finfo(np.float32).eps)


def allowance_of(module_pass: ModulePass | str) -> Allowance:
    """What a pass may change, as its class says; one that says nothing keeps every bit."""
    known: object = module_pass
    if isinstance(module_pass, str):
        found = toolkit_universe().all_passes.get(module_pass)
        known = None if found is None else found()
    return together([_as_stated(each) for each in differences_of(known)])


def allowances_of(
    module_pass: ModulePass, module: ModuleOp, entry: str, count: int
) -> list[Allowance]:
    """
    What a pass may change of each result of a function: as its class says where the result depends
    on operations of which it says so, in the module before the pass; as the classes of operations
    say that the result depends on; else nothing.
    """
    stated = [
        (_as_stated(each), dependent_results(module, entry, count, where))
        for each, where in (
            *((each, each.where) for each in differences_of(module_pass)),
            *(
                (each, partial(_is_of, kind))
                for kind in {type(op) for op in operations_in(module)}
                for each in differences_of(kind)
            ),
        )
    ]
    return [
        together([allowance for allowance, results in stated if number in results])
        for number in range(count)
    ]


def _is_of(kind: type[Operation], op: Operation) -> bool:
    return type(op) is kind


def _as_stated(difference: ResultDifference) -> Allowance:
    return Allowance(
        difference.epsilons,
        tuple(map(InputKind, difference.inputs)),
        tuple(map(InputKind, difference.complex_inputs)),
        difference.reason,
    )


def together(allowances: Sequence[Allowance]) -> Allowance:
    """What passes may change one after the other."""
    if len(allowances) == 1:
        return allowances[0]
    return Allowance(
        max((each.epsilons for each in allowances), default=0.0),
        tuple(k for k in InputKind if all(k in each.kinds for each in allowances)),
        tuple(k for k in InputKind if all(k in each.complex_kinds for each in allowances)),
        "; ".join(dict.fromkeys(each.reason for each in allowances if each.reason)),
    )
