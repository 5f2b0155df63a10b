"""Measures contenders by turns, and compares what they compute."""

from __future__ import annotations

import random
import statistics
import warnings
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from math import ceil
from typing import Any, Literal

import numpy as np

from lowerings.dialects.schedule import ScheduleWarning
from lowerings.execution.signature import Signature
from lowerings.targets.llvm.machine import host
from xla_dialect.diagnostics import LocatedError, XlaError
from xla_dialect.literals.arrays import Array

from ..array_spec import as_parameter, parse_array_specs, random_array
from ..comparison import UnexpectedResult, largest_relative_error
from ..measuring_times import LoadMeter, MachineLoad, TimedCall, median_interval
from ..other_process import NoAnswer, OtherProcess
from .compiling import compiled, effects_of, instructions_of, lowering_of
from .contender import ComparisonEffort, ProgramVariant, Say
from .figures import (
    PLACEMENT,
    CallTime,
    Comparison,
    ComparisonRow,
    ContenderRun,
    Prepared,
    VariantFigures,
    same_code,
    verdict_of,
)

Question = Literal["prepare", "turn", "count"]


@dataclass
class Runner:
    """
    What answers for a contender, in this process or in one of its own: what it is when compiled,
    and then, for each turn, the seconds of a call.
    """

    contender: ProgramVariant
    inputs: list[Array]
    effort: ComparisonEffort
    known: dict[str, int]
    """The instructions of modules that have been counted."""
    _timed: TimedCall | None = None

    def __call__(self, question: Question) -> Prepared | float | tuple[int | None, str]:
        match question:
            case "prepare":
                return self._prepare()
            case "turn":
                assert self._timed is not None
                return self._timed.turn()
            case "count":
                return instructions_of(self.contender, self.inputs, self.effort, self.known)

    def _prepare(self) -> Prepared:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", ScheduleWarning)
            effects = effects_of(self.contender)
            compiles = ceil(self.effort.compiles / max(1, self.effort.processes))
            found = [compiled(self.contender) for _ in range(compiles)]
        program, best = min(found, key=lambda one: one[1].seconds)
        results = [each.copy() for each in program(*self.inputs)]
        self._timed = TimedCall(lambda: program(*self.inputs))
        said = tuple(dict.fromkeys(str(each.message) for each in caught))
        return Prepared(best, *effects, results, said)


Answer = Callable[[Question], Any]


def _asked(run: ContenderRun, answer: Answer, question: Question) -> Any:
    """The answer for a contender; None once there was none."""
    if not run.failure:
        try:
            return answer(question)
        except NoAnswer as error:
            run.failure = str(error)
    return None


def runs_of(
    contenders: Sequence[ProgramVariant], inputs: list[Array], effort: ComparisonEffort, say: Say
) -> list[ContenderRun]:
    """
    Runs of contenders, all in this process, or each in `effort.processes` processes of its own, one
    after the other.
    """
    runs = [ContenderRun(each) for each in contenders]
    left = list(range(len(runs)))
    shuffled, known, rounds = random.Random(0), dict[str, int](), max(1, effort.processes)
    for number in range(rounds):
        with ExitStack() as stack:
            timed: dict[int, Answer] = {}
            for place in left:
                run = runs[place]
                say(f"{run.contender.label}, {number + 1} of {rounds}")
                answer: Answer = Runner(run.contender, inputs, effort, known)
                if effort.processes:
                    process = OtherProcess(answer, effort.time_limit)
                    stack.callback(process.end)
                    answer = process.ask
                _keep(run, _asked(run, answer, "prepare"))
                if number == 0:
                    run.instructions = _asked(run, answer, "count") or run.instructions
                if not run.failure and same_code(runs)[place] is None:
                    timed[place] = answer
                    run.turns.append([])
            left, order = list(timed), list(timed)
            say("running by turns")
            for _ in range(ceil(effort.turns / rounds)):
                shuffled.shuffle(order)
                for place in order:
                    taken = _asked(runs[place], timed[place], "turn")
                    runs[place].turns[-1] += filter(None, [taken])
    return runs


def _keep(run: ContenderRun, found: Prepared | None) -> None:
    """Keeps what was said first, with the quickest compilation."""
    if found is None:
        return
    if run.prepared is None:
        for text in found.warnings:
            warnings.warn(text, ScheduleWarning, stacklevel=2)
        run.prepared = found
    elif found.compilation.seconds < run.prepared.compilation.seconds:
        run.prepared = replace(run.prepared, compilation=found.compilation)


def _try(inputs: list[Array], time_limit: float, contender: ProgramVariant) -> None:
    effects_of(contender)
    for check_bounds in (True, False):
        compiled(contender, time_limit, check_bounds=check_bounds)[0](*inputs)


def trials(inputs: list[Array], time_limit: float) -> OtherProcess:
    """A process that compiles contenders and runs each once, in so many seconds."""
    return OtherProcess(partial(_try, inputs, time_limit), time_limit)


def failure_of(tried: OtherProcess, contender: ProgramVariant) -> str:
    """Why a contender cannot be compiled and run, in one line; nothing if it can."""
    try:
        tried.ask(contender)
    except NoAnswer as error:
        return str(error)
    return ""


def compare(
    contenders: Sequence[ProgramVariant],
    with_ablations: bool,
    specs: Sequence[str],
    effort: ComparisonEffort,
    say: Say,
) -> Comparison:
    """
    Measures contenders, and if asked for the first one without each of its passes.

    `specs` are the arguments as xla-run takes them; without any they are random. Raises XlaError
    where a contender fails; an ablation that fails is a row that says so, and so is any but the
    first that fails in a process of its own.
    """
    signature = _signature(contenders[0])
    for each in contenders[1:]:
        _require_same_parameters(contenders[0], signature, each)
    inputs = _arguments(signature, specs, effort.seed)
    ablations = contenders[0].ablations(host()) if with_ablations else []
    failures: dict[int, str] = {}
    everyone = [*contenders, *ablations]
    with ExitStack() as stack:
        tried = trials(inputs, effort.time_limit)
        stack.callback(tried.end)
        for number, each in enumerate(everyone):
            if not each.is_usual:
                say(f"trying {each.label}")
                failure = failure_of(tried, each)
                # What crashes in a process of its own is a row like others, but for the first.
                if failure and number < (1 if effort.processes else len(contenders)):
                    raise XlaError(f"{each.label}: {failure}")
                failures |= {number: failure} if failure else {}
    left = [each for number, each in enumerate(everyone) if number not in failures]
    meter = LoadMeter.started()
    runs = runs_of(left, inputs, effort, say)
    load = meter.read()
    measured = iter(_rows(runs, load))
    rows = (
        ComparisonRow(each, failure=failures[number]) if number in failures else next(measured)
        for number, each in enumerate(everyone)
    )
    return Comparison(tuple(rows), str(signature), host().processor, effort, load)


def _signature(contender: ProgramVariant) -> Signature:
    try:
        contender.passes(host())
        return lowering_of(contender, host()).signature
    except LocatedError as error:
        raise error.quoting(contender.source.file_name, contender.source.text) from None


def _require_same_parameters(
    first: ProgramVariant, signature: Signature, contender: ProgramVariant
) -> None:
    own = _signature(contender)
    types = [[each.type for each in side.parameters] for side in (signature, own)]
    if types[0] != types[1]:
        raise XlaError(
            f"{contender.label} takes other arguments than {first.label}: {own} and {signature}"
        )


def _arguments(signature: Signature, specs: Sequence[str], seed: int) -> list[Array]:
    generator = np.random.default_rng(seed)
    if not specs:
        sized = (replace(each, sizes=each.shape) for each in signature.parameters)
        return [random_array(each.type, generator) for each in sized]
    given = [each for spec in specs for each in parse_array_specs(spec, generator)]
    wanted = len(signature.parameters)
    if len(given) != wanted:
        raise XlaError(f"{len(given)} inputs for {wanted} parameters: {signature}")
    return [
        as_parameter(value, each.type)
        for value, each in zip(given, signature.parameters, strict=True)
    ]


def _rows(runs: Sequence[ContenderRun], load: MachineLoad) -> list[ComparisonRow]:
    """What came out; raises XlaError where the first contender has failed."""
    first = runs[0]
    if first.failure:
        raise XlaError(f"{first.contender.label}: {first.failure}")
    rows: list[ComparisonRow] = []
    for run, other in zip(runs, same_code(runs), strict=True):
        if run.failure or run.prepared is None:
            rows.append(ComparisonRow(run.contender, failure=run.failure))
            continue
        figures = VariantFigures(
            call_time((other or run).turns, first.turns, load),
            other and other.contender.label,
            run.prepared,
            _difference(run, first),
            *run.instructions,
        )
        rows.append(ComparisonRow(run.contender, figures))
    return rows


def _difference(run: ContenderRun, first: ContenderRun) -> float:
    """The largest difference of a contender's results from those of the first."""
    assert run.prepared is not None and first.prepared is not None
    own, expected, label = run.prepared.results, first.prepared.results, run.contender.label
    if len(own) != len(expected):
        raise UnexpectedResult(
            f"{label} has {len(own)} results, {first.contender.label} has {len(expected)}"
        )
    try:
        return max(map(largest_relative_error, own, expected), default=0.0)
    except UnexpectedResult as error:
        raise UnexpectedResult(f"a result of {label} is {error}") from None


def call_time(
    own: Sequence[Sequence[float]], first: Sequence[Sequence[float]], load: MachineLoad
) -> CallTime:
    """
    The figures of the turns of each process, beside those of the first contender.

    What a busy machine does to a program depends on its threads: no interval tells that.
    """
    pairs = (zip(*both, strict=True) for both in zip(own, first, strict=True))
    by_process = [[a / b for a, b in turns] for turns in pairs]
    is_alone = len(by_process) == 1
    ratios = by_process[0] if is_alone else [statistics.median(each) for each in by_process]
    interval = median_interval(ratios)
    verdict = verdict_of(None if load.is_busy else interval, PLACEMENT if is_alone else 0.0)
    turns = tuple(each for process in own for each in process)
    low, high = (float(each) for each in np.quantile(turns, (0.25, 0.75)))
    return CallTime(
        turns, statistics.median(turns), (low, high), statistics.median(ratios), interval, verdict
    )
