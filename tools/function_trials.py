"""Running one function of a program: on its inputs, repeatedly, beside a second executor."""

from __future__ import annotations

import argparse
import math
import os
import re
import statistics
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from io import StringIO
from pathlib import Path
from typing import cast
from urllib.parse import quote

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from lowerings.backends import backend_names
from lowerings.compilation import (
    EMULATED_BACKENDS,
    Options,
    Program,
    cache_entry,
    compile_module,
)
from lowerings.driver.levels import level_of
from lowerings.driver.source import Source
from lowerings.execution.emulator import Emulation
from lowerings.execution.function_signature import signature_of
from lowerings.execution.profile import Profile
from lowerings.execution.signature import ArraySpec, Signature
from lowerings.interpreter.program import signature_below
from lowerings.ir.functions import functions_of
from lowerings.pipelines import LEVELS
from xla_dialect.devices.process_grid import Host, LogicalId, ProcessGrid
from xla_dialect.diagnostics import XlaError
from xla_dialect.element_types import spell_array
from xla_dialect.literals.arrays import Value, check_memory, flatten_results
from xla_dialect.runtime.observation import Observer

from .array_spec import (
    RANDOM_SEED,
    AnyArray,
    ArraySpecError,
    as_parameter,
    parse_array_specs,
    random_array,
    random_spec,
)
from .command_line import positive_seconds, whole_number
from .comparison import (
    DEFAULT_TOLERANCE,
    ErrorBounds,
    UnexpectedResult,
    compare_results,
    largest_relative_error,
)
from .profile_report import is_profiled

_GRACE = 2.0
"""Seconds that a run has to end by itself after its time, before its process ends with it."""
_SIZE = re.compile(r"(\d+)([KMGT]?)(?:i?B)?", re.IGNORECASE)
_UNITS = "KMGT"


def add_limit_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options to a command line."""
    add = parser.add_argument
    add(
        "--timeout",
        type=positive_seconds,
        metavar="SECONDS",
        help="how long a call of the program may take",
    )
    add(
        "--memory-limit",
        type=_bytes,
        metavar="SIZE",
        help="bytes that its arrays may take, e.g. 512M or 2G; default: all that this machine has",
    )


def _bytes(text: str) -> int:
    found = _SIZE.fullmatch(text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text} is no size such as 4096, 512M or 2G")
    number, unit = found.groups()
    return int(number) << 10 * (_UNITS.index(unit.upper()) + 1 if unit else 0)


def time_limit(args: argparse.Namespace) -> float:
    """Seconds that a call may take; infinite ones are watched too, so that Ctrl-C ends it."""
    return math.inf if args.timeout is None else args.timeout


@contextmanager
def ending_the_process(args: argparse.Namespace) -> Iterator[None]:
    """
    Ends this process, if it is that of the command, if a run exceeds its time limit by `_GRACE`.

    That is for code that cannot be interrupted: one long step of numpy, a custom call.
    """
    if args.timeout is None or not args.is_own_process or args.timeout == math.inf:
        yield
        return

    def end() -> None:
        message = f"xla-run: error: the program did not end within {args.timeout:g} s"
        print(message, file=sys.stderr, flush=True)
        sys.stdout.flush()
        os._exit(1)

    timer = threading.Timer(min(args.timeout + _GRACE, threading.TIMEOUT_MAX), end)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


_PLACE = re.compile(r"(?P<replica>\d+|\*)(?:,(?P<partition>\d+|\*))?:(?P<spec>.+)", re.S)


@dataclass(frozen=True)
class _PlacedSpec:
    """One specification, and its replica and partition; None stands for all."""

    text: str
    spec: str
    replica: int | None = None
    partition: int | None = None

    @staticmethod
    def of(text: str) -> _PlacedSpec:
        match = _PLACE.fullmatch(text)
        if match is None:
            return _PlacedSpec(text, text)
        replica, partition = (
            None if number in (None, "*") else int(number)
            for number in (match["replica"], match["partition"])
        )
        return _PlacedSpec(text, match["spec"], replica, partition)

    def places(self, grid: ProcessGrid) -> Iterator[LogicalId]:
        """The processes it is for; raises ArraySpecError if it names one that there is not."""
        for number, count, name in (
            (self.replica, grid.replicas, "replica"),
            (self.partition, grid.partitions, "partition"),
        ):
            if number is not None and number >= count:
                raise ArraySpecError(f"'{self.text}': there is no {name} {number}, only {count}")
        for replica, partition in grid.places:
            if self.replica in (None, replica) and self.partition in (None, partition):
                yield replica, partition


def arrays_by_process(
    texts: Sequence[str], grid: ProcessGrid, seed: int = RANDOM_SEED
) -> dict[LogicalId, list[AnyArray]]:
    """
    The arrays of each process, in the order of the options.

    A text is SPEC, for every process, or `R:SPEC`, `R,P:SPEC` for a replica or one of its
    partitions; `*` stands for all. Random arrays are the same for all whom a SPEC is for. Raises
    ArraySpecError.
    """
    generator = np.random.default_rng(seed)
    found: dict[LogicalId, list[AnyArray]] = {place: [] for place in grid.places}
    for placed in map(_PlacedSpec.of, texts):
        arrays = parse_array_specs(placed.spec, generator)
        for place in placed.places(grid):
            found[place].extend(arrays)
    return found


def items_by_process(
    texts: Sequence[str], grid: ProcessGrid, seed: int = RANDOM_SEED
) -> dict[LogicalId, list[object]]:
    """
    The items that each process reads from its infeed, in the order of the options.

    Every option is one item: an array, or a tuple of arrays written `SPEC;SPEC`. Whom it is for is
    written as for `arrays_by_process`. Raises ArraySpecError.
    """
    generator = np.random.default_rng(seed)
    found: dict[LogicalId, list[object]] = {place: [] for place in grid.places}
    for placed in map(_PlacedSpec.of, texts):
        specs = placed.spec.split(";")
        arrays = [array for spec in specs for array in parse_array_specs(spec.strip(), generator)]
        item = arrays[0] if len(arrays) == 1 else tuple(arrays)
        for place in placed.places(grid):
            found[place].append(item)
    return found


ONE_INPUT = ("expected_output", "output_dir")
"""Options about the results of one input."""


def add_trial_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options to a command line."""
    add = parser.add_argument
    add(
        "--reference",
        choices=backend_names(),
        metavar="EXECUTOR",
        help="run the program, before any passes, on a second executor too, and compare results "
        "instead of printing them; parameters without an --input are random",
    )
    add(
        "--seed",
        type=whole_number(0),
        metavar="N",
        help="what random arrays are made from; makes parameters without an --input random "
        f"(default {RANDOM_SEED})",
    )
    add(
        "--iterations",
        type=whole_number(1),
        default=1,
        metavar="N",
        help="run it on N inputs, whose random arrays are those of the seed and the next ones",
    )
    add(
        "--repeat",
        type=whole_number(1),
        metavar="N",
        help="run it N times more on each input, and report the median of the times (stderr)",
    )
    add(
        "--tolerance",
        type=_bound,
        help="largest error of floats, relative to the largest expected magnitude "
        f"(default {DEFAULT_TOLERANCE} without the two others; with --reference "
        "two epsilons of the element type if that is more)",
    )
    for kind, what in (("abs", "an element"), ("rel", "an element, relative to its magnitude")):
        add(
            f"--{kind}-error-bound",
            type=_bound,
            default=0.0,
            metavar="BOUND",
            help=f"largest error of {what}; added to what the others allow",
        )


def error_bounds(args: argparse.Namespace) -> ErrorBounds:
    """How much results may differ."""
    absolute, relative = args.abs_error_bound, args.rel_error_bound
    if args.tolerance is not None:
        return ErrorBounds(args.tolerance, absolute, relative)
    if absolute or relative:
        return ErrorBounds(0.0, absolute, relative)
    return ErrorBounds(DEFAULT_TOLERANCE, least_epsilons=2 if args.reference else 0)


def seeds(args: argparse.Namespace) -> range:
    """What the random arrays of each iteration are made from; raises XlaError."""
    for name in ONE_INPUT:
        if args.iterations > 1 and getattr(args, name):
            raise XlaError(f"--iterations has several results, --{name.replace('_', '-')} is one's")
    first = RANDOM_SEED if args.seed is None else args.seed
    return range(first, first + args.iterations)


def fills_inputs(args: argparse.Namespace) -> bool:
    """Whether parameters without an `--input` are random."""
    return args.reference is not None or args.seed is not None


def print_times(name: str, times: Sequence[float]) -> None:
    """Prints the median and the extent of the seconds of calls (stderr)."""
    first, median, last = (
        f"{seconds * 1e6:.4g} us" for seconds in (min(times), statistics.median(times), max(times))
    )
    print(
        f"{name}: median {median}, from {first} to {last}, in {len(times)} calls", file=sys.stderr
    )


def _bound(text: str) -> float:
    """What an option says, as the bound of an error: 0 or more, and finite."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"{text} is no tolerance: a finite number from 0 on")
    return value


class OutputError(XlaError):
    """Results that cannot be written."""


@dataclass(frozen=True)
class FunctionRun:
    """One function that has run on every process of a grid."""

    name: str
    signature: Signature
    grid: ProcessGrid
    results: Sequence[Sequence[AnyArray]]
    """By process, replica by replica."""
    outfeeds: Sequence[Sequence[object]] = field(default_factory=list[list[object]])
    """By process, what its outfeeds have written."""
    expected: Sequence[Sequence[AnyArray]] | None = None
    """By process, the results of the executor that it is compared with."""
    seed: int = RANDOM_SEED
    """What random inputs were made from."""
    times: Sequence[float] = ()
    """The seconds of calls after the first."""

    def process_name(self, place: LogicalId) -> str:
        """The process as messages name it; nothing if there is only one."""
        return f"{self.grid.name(place)}: " if len(self.grid.places) > 1 else ""

    def file_stem(self, place: LogicalId) -> str:
        """
        How the names of a process's files begin, e.g. `main`, `main.replica1.partition0`.

        The name of a function may be any string; what could lead out of the folder is escaped.
        """
        replica, partition = place
        parts = [quote(self.name, safe="")]
        if self.grid.replicas > 1:
            parts.append(f"replica{replica}")
        if self.grid.partitions > 1:
            parts.append(f"partition{partition}")
        return ".".join(parts)


def report(run: FunctionRun, args: argparse.Namespace) -> None:
    """Checks, stores or prints the results of one function, as the command line says."""
    if run.times:
        print_times(run.name, run.times)
    if run.expected is not None:
        try:
            compare(run, run.expected, args)
        except UnexpectedResult as error:
            message = f"{run.name}: seed {run.seed}: not as on {args.reference}: {error}"
            raise UnexpectedResult(message) from None
        if not args.split_input_file:
            print(f"{run.name}: seed {run.seed}: as on {args.reference}, {largest_error(run)}")
    if args.expected_output:
        arrays = arrays_by_process(args.expected_output, run.grid, run.seed)
        compare(run, [arrays[place] for place in run.grid.places], args)
    if args.output_dir is not None:
        store(run, Path(args.output_dir))
    elif not args.expected_output and run.expected is None and not args.split_input_file:
        show(run)


def compare(
    run: FunctionRun, expected: Sequence[Sequence[AnyArray]], args: argparse.Namespace
) -> None:
    """Compares the results with what is expected; raises UnexpectedResult for the first fault."""
    for place, results, wanted in zip(run.grid.places, run.results, expected, strict=True):
        try:
            compare_results(results, wanted, run.signature, error_bounds(args))
        except UnexpectedResult as error:
            raise UnexpectedResult(f"{run.process_name(place)}{error}") from None


def largest_error(run: FunctionRun) -> str:
    """How near results that agree with those of the other executor are to them, in words."""
    pairs = [
        pair
        for results, expected in zip(run.results, run.expected or (), strict=True)
        for pair in zip(results, expected, strict=True)
    ]
    error = max((largest_relative_error(*pair) for pair in pairs), default=0.0)
    if error == 0:
        return "all equal"
    return f"largest error {error:.2g} of the largest magnitude"


def show(run: FunctionRun) -> None:
    """Prints the results of every process, and what its outfeeds have written."""
    for place, results in zip(run.grid.places, run.results, strict=True):
        for value in results:
            print(f"{run.process_name(place)}{spelled(value)}")
    for place, items in zip(run.grid.places, run.outfeeds, strict=False):
        for item in items:
            arrays = flatten_results([cast(Value, item)])
            text = ", ".join(spelled(np.asarray(array)) for array in arrays)
            print(f"{run.process_name(place)}outfeed: {text}")


def spelled(value: AnyArray) -> str:
    """Type and elements of an array; numpy leaves out the middle of a large one."""
    return f"{spell_array(value)} {np.array2string(value, separator=', ')}"


def store(run: FunctionRun, folder: Path) -> None:
    """Writes every result as a `.npy` file; raises OutputError if that fails."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for place, results in zip(run.grid.places, run.results, strict=True):
            for number, value in enumerate(results):
                path = folder / f"{run.file_stem(place)}.{number}.npy"
                np.save(path, value, allow_pickle=False)
    except OSError as error:
        raise OutputError(f"{folder}: error: {error.strerror}") from None


class RunError(XlaError):
    """A program that cannot be run as asked."""


@dataclass(frozen=True)
class FunctionTrials:
    """A compiled function, and how often it is run on what."""

    name: str
    signature: Signature
    grid: ProcessGrid
    program: Program
    reference: Program | None
    """The same function on the executor that it is compared with."""
    args: argparse.Namespace

    @staticmethod
    def of(
        module: ModuleOp,
        options: Options,
        grid: ProcessGrid,
        source: Source | None,
        args: argparse.Namespace,
    ) -> FunctionTrials:
        """
        Compiles what the options say; raises XlaError.

        `source` is what the module was read from, if the module is that as it is.
        """
        name = options.entry
        signature = (
            signature_of(functions_of(module)[name])
            if level_of(module) == LEVELS[0]
            else signature_below(module, name)
        )
        # Bad inputs are said before anything is compiled.
        _arguments_by_process(signature, grid, args, 0)
        items_by_process(args.infeed, grid)
        cached = None if source is None else cache_entry(source, options, args.compile_cache)
        reference = (
            None
            if args.reference is None
            else compile_module(module.clone(), _reference_options(options, args))
        )
        program = compile_module(module.clone(), replace(options, cached=cached))
        return FunctionTrials(name, signature, grid, program, reference, args)

    def run(self, seed: int) -> FunctionRun:
        """One iteration, with the random arrays of a seed; raises XlaError."""
        arguments = _arguments_by_process(self.signature, self.grid, self.args, seed)
        results, outfeeds, _ = self._call(self.program, arguments, seed)
        repeat = self.args.repeat or 0
        times = [self._call(self.program, arguments, seed)[2] for _ in range(repeat)]
        expected = None
        if self.reference is not None:
            expected, _, _ = self._call(self.reference, arguments, seed)
        signature = self.program.signature
        return FunctionRun(
            self.name, signature, self.grid, results, outfeeds, expected, seed, times
        )

    def profile(self, seed: int) -> Profile | None:
        """The times of its kernels, where they are asked for; raises XlaError."""
        if not is_profiled(self.args):
            return None
        arguments = _arguments_by_process(self.signature, self.grid, self.args, seed)
        for number in range(self.args.profile_runs):
            if number == 0:
                self.program.profile(reset=True)
            self._call(self.program, arguments, seed)
        return self.program.profile()

    def _call(
        self, program: Program, arguments: Sequence[Sequence[AnyArray]], seed: int
    ) -> tuple[Sequence[Sequence[AnyArray]], list[list[object]], float]:
        """The results and outfeeds by process, and the seconds of the call."""
        items = items_by_process(self.args.infeed, self.grid, seed)
        hosts = [Host.of(items[place]) for place in self.grid.places]
        with ending_the_process(self.args):
            start = time.perf_counter()
            results = program.run_processes(arguments, hosts=hosts)
            seconds = time.perf_counter() - start
        return results, [host.outfeed for host in hosts], seconds


def _reference_options(options: Options, args: argparse.Namespace) -> Options:
    """Those of the executor to compare with: the whole program as it is, before any passes."""
    backend = args.reference
    emulation = Emulation("") if backend in EMULATED_BACKENDS else None
    folder = None if args.probe_output_dir is None else Path(args.probe_output_dir) / "reference"
    return Options(
        backend=backend,
        num_threads=options.num_threads,
        entry=options.entry,
        observer=Observer(StringIO(), folder),
        emulation=emulation,
        check_bounds=options.check_bounds,
        time_limit=args.timeout if emulation else time_limit(args),
        memory_limit=options.memory_limit,
        replicas=options.replicas,
        partitions=None if options.partitioned else options.partitions,
        ranks=options.ranks,
    )


def _arguments_by_process(
    signature: Signature, grid: ProcessGrid, args: argparse.Namespace, seed: int
) -> list[list[AnyArray]]:
    """The arguments of every process, replica by replica; ranks have their own only."""
    given = arrays_by_process(args.input, grid, seed)
    places = grid.places
    if args.ranks is not None and len(places) > 1:
        places = [places[args.ranks.rank]]
    if fills_inputs(args):
        for place in places:
            missing = signature.parameters[len(given[place]) :]
            given[place].extend(_random_arrays(missing, np.random.default_rng([seed, *place])))
    return [
        make_arguments(given[place], signature, grid, place) if place in places else []
        for place in grid.places
    ]


def _random_arrays(specs: Sequence[ArraySpec], generator: np.random.Generator) -> list[AnyArray]:
    """Arrays for parameters; raises XlaError for those that do not fit into memory."""
    for spec in specs:
        check_memory(spec.type)
    return [random_array(spec.type, generator) for spec in specs]


def make_arguments(
    arrays: Sequence[AnyArray], signature: Signature, grid: ProcessGrid, place: LogicalId
) -> list[AnyArray]:
    """The arrays for the parameters; raises RunError with the signature if some are missing."""
    wanted = len(signature.parameters)
    if len(arrays) != wanted:
        whose = f"{grid.name(place)}: " if len(grid.places) > 1 else ""
        hint = ""
        if missing := signature.parameters[len(arrays) :]:
            spec = random_spec(missing[0].type)
            hint = f"\n--input {spec} gives random numbers, --seed 0 to all that are missing"
        raise RunError(
            f"{whose}{len(arrays)} inputs for {wanted} parameters; give each with --input:\n"
            f"  {signature}{hint}"
        )
    return [
        as_parameter(value, parameter.type)
        for value, parameter in zip(arrays, signature.parameters, strict=True)
    ]
