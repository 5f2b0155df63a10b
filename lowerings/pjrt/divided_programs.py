"""How several devices share what a program takes and returns."""

from __future__ import annotations

import importlib
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
from lowerings.pjrt.shardings import (
    HLO_SHARDING,
    ArrayDivision,
    divisions_of,
    mesh_operations,
    propagated,
    say,
)


def divided(
    module: Any, devices: int, is_kept: bool
) -> tuple[Sequence[ArrayDivision], Sequence[ArrayDivision]]:
    """
    How devices share the parameters, which is as they say, and the results, as Shardy's rules
    propagate it; what is found out of these is written into the module, and told who asks.
    """
    given, found = main_function(module), _propagated(module)
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


def _propagated(module: Any) -> Any:
    if not mesh_operations(module) and HLO_SHARDING in (text := module.operation.get_asm()):
        # Other programs that are found on disk do without xDSL.
        by_our_passes = importlib.import_module("lowerings.pjrt.gspmd_shardings").propagated
        return by_our_passes(text, module.context)
    return propagated(module)


def _sizes(type_: Any) -> list[int]:
    return list(IR.RankedTensorType(type_).shape) if str(type_) != TOKEN_TYPE else []
