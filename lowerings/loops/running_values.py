"""The running values of a nest's outputs, and those of sums that begin anew for each block."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from xdsl.ir import SSAValue

from lowerings.ir.compensation import compensated
from lowerings.loops.builder import LoopBuilder
from lowerings.loops.evaluation import Combination
from lowerings.loops.long_sums import PairedSum
from lowerings.loops.math_functions.numbers import Number


@dataclass(frozen=True)
class PartialKey:
    """Names one running value of an output."""

    output: int
    combination: Combination
    slot: int = 0
    """Which vector of partial results: its number in the tile of the vector dimension."""
    is_excess: bool = False
    """Whether it is how much too large the sum of blocks is."""


SHORT = -1
"""The slot of the vector that is shorter than the others, at the end of the dimension."""

Running = dict[PartialKey, SSAValue]


class Block:
    """
    Running values that begin anew.

    Outside of blocks, a sum has one running value, with how much too large it is, and one more in
    the slot `SHORT` if there are vectors that are shorter; in a block it has one in each slot.
    """

    def __init__(
        self,
        totals: Mapping[PartialKey, SSAValue],
        slots: Callable[[int], Sequence[int]],
        builder: LoopBuilder,
    ):
        """`totals` are the running values outside, `slots` those of an output in a block."""
        self._totals = totals
        self._builder = builder
        self._begun: dict[PartialKey, Running] = {}
        for total, value in totals.items():
            if not total.is_excess:
                own = [
                    slot for slot in slots(total.output) if (slot == SHORT) == (total.slot == SHORT)
                ]
                neutral = builder.constants.number(-0.0, value.type)
                self._begun[total] = {replace(total, slot=slot): neutral for slot in own}

    @property
    def begun(self) -> Running:
        """The running values at the beginning."""
        return {key: value for begun in self._begun.values() for key, value in begun.items()}

    def added(self, running: Mapping[PartialKey, SSAValue]) -> Running:
        """The running values outside, with those at the end of the block added."""
        result: Running = {}
        for total, begun in self._begun.items():
            excess = replace(total, is_excess=True)
            result[total], result[excess] = self._totals[total], self._totals[excess]
            terms = PairedSum(self._builder)
            for key, neutral in begun.items():
                if running[key] is not neutral:
                    terms.add(running[key])
            if not terms.is_empty:
                parts = result[total], result[excess], terms.total()
                after = compensated(*(Number(self._builder, part) for part in parts))
                result[total], result[excess] = (number.value for number in after)
        return result
