"""Measures contenders by turns, and compares what they compute."""

from __future__ import annotations

import statistics
import warnings
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from lowerings.execution.emulator import EmulatorMissing
from lowerings.execution.signature import Signature
from lowerings.schedules.schedule import ScheduleWarning
from lowerings.targets.llvm.machine import host
from xla_dialect.diagnostics import LocatedError, XlaError
from xla_dialect.literals.arrays import Array
from xla_dialect.types import array

from ..alternating_turns import alternate
from ..array_spec import as_parameter, parse_array_specs, random_array
from ..comparison import UnexpectedResult, largest_relative_error
from ..reporting import one_line
from .compiling import Compiled, compiled, effects_of, executed_instructions, lowering_of
from .contender import ContenderError, ProgramVariant
from .figures import CallTime, Comparison, ComparisonRow, VariantFigures
from .trial import Trials


@dataclass(frozen=True)
class ComparisonEffort:
    """How contenders are measured."""

    turns: int
    compiles: int
    seed: int
    tolerance: float
    """What results may differ by, relative to their largest magnitude."""
    counts_instructions: bool
    features: str
    """Of the emulated processor, beyond RV64GC."""
    time_limit: float
    """Seconds that one contender may take where it is tried, and where it is emulated."""


Say = Callable[[str], None]
"""Told what is done next."""


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
    where a contender fails; an ablation that fails is a row that says so.
    """
    signature = _signature(contenders[0])
    for each in contenders[1:]:
        _require_same_parameters(contenders[0], signature, each)
    inputs = _arguments(signature, specs, effort.seed)
    ablations = contenders[0].ablations(host()) if with_ablations else []
    failures: dict[int, str] = {}
    everyone = [*contenders, *ablations]
    with Trials(inputs, effort.time_limit) as trials:
        for number, each in enumerate(everyone):
            if not each.is_usual:
                say(f"trying {each.label}")
                failure = trials.failure(each)
                if failure and number < len(contenders):
                    raise ContenderError(f"{each.label}: {failure}")
                failures |= {number: failure} if failure else {}
    left = [each for number, each in enumerate(everyone) if number not in failures]
    figures = iter(_measured(left, inputs, effort, say))
    rows = (
        ComparisonRow(each, failure=failures[number])
        if number in failures
        else ComparisonRow(each, next(figures))
        for number, each in enumerate(everyone)
    )
    return Comparison(
        tuple(rows),
        str(signature),
        host().processor,
        effort.seed,
        effort.features,
        effort.tolerance,
    )


def _signature(contender: ProgramVariant) -> Signature:
    try:
        contender.passes(host())
        return lowering_of(contender).signature
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
        sized = (array(each.type.element_type, each.shape) for each in signature.parameters)
        return [random_array(type_, generator) for type_ in sized]
    given = [each for spec in specs for each in parse_array_specs(spec, generator)]
    wanted = len(signature.parameters)
    if len(given) != wanted:
        raise ContenderError(f"{len(given)} inputs for {wanted} parameters: {signature}")
    return [
        as_parameter(value, each.type)
        for value, each in zip(given, signature.parameters, strict=True)
    ]


def _measured(
    contenders: Sequence[ProgramVariant], inputs: list[Array], effort: ComparisonEffort, say: Say
) -> list[VariantFigures]:
    """The figures of contenders that run."""
    say("passes")
    effects = [effects_of(each) for each in contenders]
    best: list[Compiled] = []
    with _warned_once():
        for number in range(effort.compiles):
            say(f"compiling, {number + 1} of {effort.compiles}")
            found = [compiled(each) for each in contenders]
            pairs = zip(best or found, found, strict=True)
            best = [min(pair, key=lambda one: one.time.seconds) for pair in pairs]
    differences = _differences(contenders, best, inputs)
    say("running by turns")
    same = _same_code(contenders, best)
    timed = [number for number, first in enumerate(same) if first is None]
    calls = [lambda p=best[number].program: p(*inputs) for number in timed]
    turns = dict(zip(timed, alternate(calls, effort.turns), strict=True))
    known: dict[str, int] = {}
    with _warned_once():
        counts = [_instructions(each, inputs, effort, known, say) for each in contenders]
    return [
        VariantFigures(
            _call_time(turns[number if first is None else first], turns[0]),
            None if first is None else contenders[first].label,
            each.time,
            *effects[number],
            each.code_bytes,
            differences[number],
            *counts[number],
        )
        for number, (each, first) in enumerate(zip(best, same, strict=True))
    ]


@contextmanager
def _warned_once() -> Generator[None]:
    """Without the warnings of schedules: the first run of the passes has shown them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ScheduleWarning)
        yield


def _same_code(
    contenders: Sequence[ProgramVariant], programs: Sequence[Compiled]
) -> list[int | None]:
    """
    For each contender the first one with the same machine code and threads, if it is another.

    Programs given by themselves are always run: they show how much times vary.
    """
    firsts: dict[tuple[bytes, int | None], int] = {}
    found: list[int | None] = []
    for number, (contender, program) in enumerate(zip(contenders, programs, strict=True)):
        first = firsts.setdefault((program.machine_code, contender.num_threads), number)
        found.append(None if first == number or not contender.is_ablation else first)
    return found


def _differences(
    contenders: Sequence[ProgramVariant], programs: Sequence[Compiled], inputs: list[Array]
) -> list[float]:
    """The largest difference of each contender's results from those of the first."""
    results = [tuple(each.copy() for each in one.program(*inputs)) for one in programs]
    found: list[float] = []
    for contender, own in zip(contenders, results, strict=True):
        if len(own) != len(results[0]):
            raise UnexpectedResult(
                f"{contender.label} has {len(own)} results, "
                f"{contenders[0].label} has {len(results[0])}"
            )
        try:
            errors = map(largest_relative_error, own, results[0])
            found.append(max(errors, default=0.0))
        except UnexpectedResult as error:
            raise UnexpectedResult(f"a result of {contender.label} is {error}") from None
    return found


def _call_time(own: Sequence[float], first: Sequence[float]) -> CallTime:
    ratios = [a / b for a, b in zip(own, first, strict=True)]
    low, high = (float(each) for each in np.quantile(own, (0.25, 0.75)))
    return CallTime(tuple(own), statistics.median(own), (low, high), statistics.median(ratios))


def _instructions(
    contender: ProgramVariant,
    inputs: list[Array],
    effort: ComparisonEffort,
    known: dict[str, int],
    say: Say,
) -> tuple[int | None, str]:
    """The instructions that a call takes on riscv64, or why nobody knows."""
    if not effort.counts_instructions:
        return None, "not asked for"
    say(f"counting instructions of {contender.label}")
    try:
        limit = effort.time_limit
        return executed_instructions(contender, inputs, effort.features, limit, known), ""
    except EmulatorMissing as error:
        return None, one_line(error)
    except XlaError as error:
        return None, f"on riscv64: {one_line(error)}"
