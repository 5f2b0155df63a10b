"""What a module computes on several inputs: interpreted, or compiled where that takes long."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

from lowerings.execution.limited import Death, in_child
from lowerings.validation.execution import TIME_LIMIT, Execution, Results
from xla_dialect.diagnostics import XlaError
from xla_dialect.literals.arrays import Array
from xla_dialect.runtime.limits import TimeLimitReached

Outcome: TypeAlias = "Results | XlaError"

LONG = 0.5
"""Seconds of processor time that interpreting one input may take before the others are compiled."""


def outcome_of(run: Callable[[Sequence[Array]], Results], arrays: Sequence[Array]) -> Outcome:
    """The results, or why there are none."""
    try:
        return run(arrays)
    except XlaError as error:
        return error


def outcomes(
    execution: Execution,
    inputs: Sequence[Sequence[Array]],
    agrees: Callable[[int, Outcome], bool],
) -> Iterator[Outcome]:
    """
    The outcome on each input. The first is interpreted, and so are all if that does not take long.

    Else the others are run as machine code that checks its accesses to memory, in a child: what
    does not agree there with what is expected is interpreted again, so all that a pass is blamed
    for is what the interpreter says. Where that does not end in time, what agrees is taken.
    """
    start = time.process_time()
    compiled: Sequence[Outcome | None] = [None] * len(inputs)
    for number, arrays in enumerate(inputs):
        found = compiled[number]
        if found is None or not agrees(number, found):
            found = outcome_of(execution, arrays)
        if not number and time.process_time() - start > LONG:
            compiled = _compiled(execution, inputs)
            first = compiled[0]
            if isinstance(found, TimeLimitReached) and first is not None and agrees(0, first):
                found = first
        yield found


def _compiled(execution: Execution, inputs: Sequence[Sequence[Array]]) -> Sequence[Outcome | None]:
    """What machine code computes; None where there is none, or it does not come to an end."""

    def results() -> list[Results | None]:
        run = execution.compiled()
        outcomes_ = [outcome_of(run, arrays) for arrays in inputs]
        return [None if isinstance(each, XlaError) else each for each in outcomes_]

    found: Any = in_child(results, TIME_LIMIT * len(inputs))
    return [None] * len(inputs) if isinstance(found, Death) else found
