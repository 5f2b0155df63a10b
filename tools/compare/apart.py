"""
Contenders measured in processes of their own, again and again in new ones.

Nothing that one does to its process - a crash, memory that it keeps - reaches another one; and
where arrays and code lie, which times depend on, differs from process to process.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from math import ceil
from typing import Any, Literal

from lowerings.dialects.schedule import ScheduleWarning
from xla_dialect.literals.arrays import Array

from ..alternating_turns import TimedCall
from .compiling import Compiled, compiled, effects_of, instructions_of
from .contender import ContenderError, ProgramVariant
from .effort import ComparisonEffort, Say
from .figures import ContenderRun, Prepared, same_code
from .other_process import OtherProcess

Question = Literal["prepare", "turn", "count"]


@dataclass
class Runner:
    """
    What answers in a process of a contender: what it is when compiled, and then, for each turn, the
    seconds of a call.
    """

    contender: ProgramVariant
    inputs: list[Array]
    effort: ComparisonEffort
    _timed: TimedCall | None = None
    _best: Compiled | None = None

    def __call__(self, question: Question) -> Prepared | float | tuple[int | None, str]:
        match question:
            case "prepare":
                return self._prepare()
            case "turn":
                assert self._timed is not None
                return self._timed.turn()
            case "count":
                return instructions_of(self.contender, self.inputs, self.effort, {})

    def _call(self) -> Sequence[Array]:
        assert self._best is not None
        return self._best.program(*self.inputs)

    def _prepare(self) -> Prepared:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", ScheduleWarning)
            effects = effects_of(self.contender)
            compiles = ceil(self.effort.compiles / self.effort.processes)
            found = [compiled(self.contender) for _ in range(compiles)]
        best = self._best = min(found, key=lambda one: one.time.seconds)
        results = [each.copy() for each in self._call()]
        self._timed = TimedCall(self._call)
        said = tuple(dict.fromkeys(str(each.message) for each in caught))
        return Prepared(best.machine_code, best.time, best.code_bytes, *effects, results, said)


def runs_apart(
    contenders: Sequence[ProgramVariant], inputs: list[Array], effort: ComparisonEffort, say: Say
) -> list[ContenderRun]:
    """Runs of contenders, each in `effort.processes` processes of its own, one after the other."""
    runs = [ContenderRun() for _ in contenders]
    left = list(range(len(contenders)))
    shuffled = random.Random(0)
    for number in range(effort.processes):
        with ExitStack() as stack:
            timed: dict[int, _Asked] = {}
            for place in left:
                process = OtherProcess(Runner(contenders[place], inputs, effort), effort.time_limit)
                each = _Asked(stack.enter_context(process), runs[place])
                say(f"{contenders[place].label}: process {number + 1} of {effort.processes}")
                _keep(each.run, each.ask("prepare"))
                if number == 0:
                    each.run.instructions = each.ask("count") or each.run.instructions
                if each.run.failure or same_code(contenders, runs)[place] is not None:
                    process.end()
                else:
                    timed[place] = each
            left = list(timed)
            order = [*timed.values()]
            for each in order:
                each.run.turns.append([])
            for _ in range(ceil(effort.turns / effort.processes)):
                shuffled.shuffle(order)
                for each in order:
                    each.run.turns[-1] += filter(None, [each.ask("turn")])
    return runs


@dataclass(frozen=True)
class _Asked:
    """A process, and what is known of its contender."""

    process: OtherProcess
    run: ContenderRun

    def ask(self, question: Question) -> Any:
        """The answer; None once there was none."""
        if not self.run.failure:
            try:
                return self.process.ask(question)
            except ContenderError as error:
                self.run.failure = str(error)
        return None


def _keep(run: ContenderRun, found: Prepared | None) -> None:
    """Keeps what the first process said, with the quickest compilation."""
    if found is None:
        return
    if run.prepared is None:
        for text in found.warnings:
            warnings.warn(text, ScheduleWarning, stacklevel=2)
        run.prepared = found
    elif found.time.seconds < run.prepared.time.seconds:
        run.prepared = replace(run.prepared, time=found.time)
