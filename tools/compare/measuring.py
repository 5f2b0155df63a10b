"""Measures contenders by turns, and compares what they compute."""

from __future__ import annotations

import random
import statistics
import warnings
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from math import ceil
from typing import Any, Literal

import numpy as np

from lowerings.dialects.schedule import ScheduleWarning
from lowerings.execution.signature import Signature
from lowerings.targets.llvm.machine import host
from xla_dialect.diagnostics import LocatedError
from xla_dialect.literals.arrays import Array

from ..array_spec import as_parameter, parse_array_specs, random_array
from ..comparison import UnexpectedResult, largest_relative_error
from ..measuring_times import LoadMeter, MachineLoad, TimedCall, alternate, median_interval
from ..other_process import NoAnswer, OtherProcess
from .compiling import Compiled, compiled, effects_of, instructions_of, lowering_of
from .contender import ComparisonEffort, ContenderError, ProgramVariant, Say
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
                stack.callback(process.end)
                each = _Asked(process, runs[place])
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
            except NoAnswer as error:
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


@dataclass(frozen=True)
class _Trial:
    inputs: list[Array]
    time_limit: float

    def __call__(self, contender: ProgramVariant) -> None:
        effects_of(contender)
        for check_bounds in (True, False):
            compiled(contender, self.time_limit, check_bounds=check_bounds).program(*self.inputs)


def trials(inputs: list[Array], time_limit: float) -> OtherProcess:
    """A process that compiles contenders and runs each once, in so many seconds."""
    return OtherProcess(_Trial(inputs, time_limit), time_limit)


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
                    raise ContenderError(f"{each.label}: {failure}")
                failures |= {number: failure} if failure else {}
    left = [each for number, each in enumerate(everyone) if number not in failures]
    meter = LoadMeter.started()
    runs = (runs_apart if effort.processes else _runs_here)(left, inputs, effort, say)
    load = meter.read()
    measured = iter(_rows(left, runs, load))
    rows = (
        ComparisonRow(each, failure=failures[number]) if number in failures else next(measured)
        for number, each in enumerate(everyone)
    )
    return Comparison(
        tuple(rows),
        str(signature),
        host().processor,
        effort.seed,
        effort.features,
        effort.tolerance,
        load,
    )


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
        raise ContenderError(
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
        raise ContenderError(f"{len(given)} inputs for {wanted} parameters: {signature}")
    return [
        as_parameter(value, each.type)
        for value, each in zip(given, signature.parameters, strict=True)
    ]


def _runs_here(
    contenders: Sequence[ProgramVariant], inputs: list[Array], effort: ComparisonEffort, say: Say
) -> list[ContenderRun]:
    """Runs of contenders, all in this process."""
    say("passes")
    effects = [effects_of(each) for each in contenders]
    best: list[Compiled] = []
    with _warned_once():
        for number in range(effort.compiles):
            say(f"compiling, {number + 1} of {effort.compiles}")
            found = [compiled(each) for each in contenders]
            pairs = zip(best or found, found, strict=True)
            best = [min(pair, key=lambda one: one.time.seconds) for pair in pairs]
    runs: list[ContenderRun] = []
    for one, own in zip(best, effects, strict=True):
        results = [each.copy() for each in one.program(*inputs)]
        runs.append(
            ContenderRun(Prepared(one.machine_code, one.time, one.code_bytes, *own, results))
        )
    say("running by turns")
    timed = [number for number, first in enumerate(same_code(contenders, runs)) if first is None]
    calls = [lambda p=best[number].program: p(*inputs) for number in timed]
    for number, turns in zip(timed, alternate(calls, effort.turns), strict=True):
        runs[number].turns = [turns]
    known: dict[str, int] = {}
    with _warned_once():
        for contender, run in zip(contenders, runs, strict=True):
            say(f"counting instructions of {contender.label}")
            run.instructions = instructions_of(contender, inputs, effort, known)
    return runs


def _rows(
    contenders: Sequence[ProgramVariant], runs: Sequence[ContenderRun], load: MachineLoad
) -> list[ComparisonRow]:
    """What came out; raises ContenderError where the first contender has failed."""
    first, same = runs[0], same_code(contenders, runs)
    if first.failure:
        raise ContenderError(f"{contenders[0].label}: {first.failure}")
    assert first.prepared is not None
    rows: list[ComparisonRow] = []
    for number, (contender, run) in enumerate(zip(contenders, runs, strict=True)):
        if run.failure or run.prepared is None:
            rows.append(ComparisonRow(contender, failure=run.failure))
            continue
        own, other = run.prepared, same[number]
        figures = VariantFigures(
            call_time(run.turns if other is None else runs[other].turns, first.turns, load),
            None if other is None else contenders[other].label,
            own.time,
            own.passes,
            own.memory,
            own.code_bytes,
            _difference(contender, own.results, contenders[0], first.prepared.results),
            *run.instructions,
        )
        rows.append(ComparisonRow(contender, figures))
    return rows


@contextmanager
def _warned_once() -> Generator[None]:
    """Without the warnings of schedules: the first run of the passes has shown them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ScheduleWarning)
        yield


def _difference(
    contender: ProgramVariant,
    own: Sequence[Array],
    first: ProgramVariant,
    expected: Sequence[Array],
) -> float:
    """The largest difference of a contender's results from those of the first."""
    if len(own) != len(expected):
        raise UnexpectedResult(
            f"{contender.label} has {len(own)} results, {first.label} has {len(expected)}"
        )
    try:
        return max(map(largest_relative_error, own, expected), default=0.0)
    except UnexpectedResult as error:
        raise UnexpectedResult(f"a result of {contender.label} is {error}") from None


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
