"""What of the results after passes is compared with those before, and how."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from lowerings.validation.allowances import Allowance, together
from lowerings.validation.conditioning import Nearby, Neighbours
from lowerings.validation.execution import Results
from lowerings.validation.inputs import InputKind
from xla_dialect.literals.arrays import Array
from xla_dialect.runtime.comparison import first_mismatch


@dataclass
class Case:
    """One input with its results."""

    kinds: frozenset[InputKind]
    """What its numbers are like; none for one that is given, on which all is compared."""
    arrays: list[Array]
    results: Results
    nearby: Nearby
    """How the last bits of the numbers change what the program computes on the reference."""


class ResultComparison:
    """How results are compared, each for itself."""

    def __init__(
        self, passes: Sequence[Sequence[Allowance]], complex_results: Collection[int] = ()
    ):
        """
        `passes`: what each of them may change of each result; `complex_results` depend on complex
        numbers.
        """
        self._allowances = [together(each) for each in zip(*passes, strict=True)]
        self._kinds = [
            {*(each.complex_kinds if number in complex_results else each.kinds)}
            for number, each in enumerate(self._allowances)
        ]

    @property
    def kinds(self) -> tuple[InputKind, ...]:
        """Those on which any result is compared."""
        return tuple(k for k in InputKind if any(k in kinds for kinds in self._kinds))

    def is_whole(self, kinds: frozenset[InputKind]) -> bool:
        """Whether all results are compared on an input, so that there have to be some."""
        return all(kinds <= each for each in self._kinds)

    def wrong(
        self,
        results: Results,
        expected: Results,
        kinds: frozenset[InputKind],
        neighbours: Neighbours | None = None,
    ) -> str | None:
        """What is wrong with results on an input, but where `neighbours` explain it."""
        if len(results) != len(expected):
            return f"{len(results)} results, {len(expected)} before the pass"
        for number, (found, wanted) in enumerate(zip(results, expected, strict=True)):
            allowance = self._allowances[number]
            if not kinds <= self._kinds[number]:
                continue
            if found.shape != wanted.shape or found.dtype.itemsize != wanted.dtype.itemsize:
                one, other = (f"{each.dtype}{list(each.shape)}" for each in (found, wanted))
                return f"result {number} is {one}, was {other}"
            found = found if found.dtype == wanted.dtype else found.view(wanted.dtype)
            differing = allowance.differing(found, wanted)
            if not differing.any():
                continue
            if neighbours is None or not neighbours.explain(number, found, wanted, allowance):
                how = "differ by more than rounding" if allowance.epsilons else "differ"
                return f"result {number}: {first_mismatch(how, found, wanted, differing)}"
        return None

    def left_out(self, cases: Sequence[Case]) -> Iterator[tuple[str, str]]:
        """Of some results the kinds of inputs on which they are not compared, and why."""
        found: dict[tuple[str, str], list[int]] = defaultdict(list)
        for number, allowance in enumerate(self._allowances):
            kinds = self._kinds[number]
            left = {kind for case in cases for kind in case.kinds if not case.kinds <= kinds}
            names = " and ".join(kind.value for kind in InputKind if kind in left - kinds)
            if names:
                found[names, allowance.reason].append(number)
        for (names, reason), numbers in found.items():
            yield f"{self.spelled(numbers)}on inputs with {names} values", reason

    def spelled(self, numbers: Collection[int]) -> str:
        """The results in words; nothing where they are all."""
        if len(numbers) == len(self._allowances):
            return ""
        kind = "result" if len(numbers) == 1 else "results"
        return f"in {kind} {', '.join(map(str, sorted(numbers)))} "
