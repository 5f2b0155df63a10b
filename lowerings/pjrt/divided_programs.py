"""How several devices share what a program takes and returns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lowerings.pjrt.inspected_shardings import forget_inspections, tell_shardings
from lowerings.pjrt.interfaces import (
    IR,
    PARAMETERS,
    RESULTS,
    TOKEN_TYPE,
    attributes_of,
    main_function,
)
from lowerings.pjrt.shardings import ArrayDivision, divisions_of, propagated, say


def divided(
    module: Any, devices: int, is_kept: bool
) -> tuple[Sequence[ArrayDivision], Sequence[ArrayDivision]]:
    """
    How devices share the parameters, which is as they say, and the results, as Shardy's rules
    propagate it; what is found out of these is written into the module, and told who asks.
    """
    given, found = main_function(module), propagated(module)
    if not is_kept:
        tell_shardings(found, devices)
    forget_inspections(module)
    last = main_function(found)
    sides: list[Sequence[ArrayDivision]] = []
    for side, types, where, function in (
        (PARAMETERS, given.type.inputs, module, given),
        (RESULTS, given.type.results, found, last),
    ):
        shapes = [_sizes(each) for each in types]
        sides.append(divisions_of(where, attributes_of(function, side), shapes, devices))
        say(module, given, side, function, sides[-1])
    return sides[0], sides[1]


def _sizes(type_: Any) -> list[int]:
    return list(IR.RankedTensorType(type_).shape) if str(type_) != TOKEN_TYPE else []
