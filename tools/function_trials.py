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
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from io import StringIO
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias, cast
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
from lowerings.execution.signature import Signature
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
from .mpi_session import is_reporting
from .profile_report import is_profiled

_GRACE = 2.0
"""Seconds that a run has to end by itself after its time, before its process ends with it."""
_SIZE = re.compile(r"(\d+)([KMGT]?)(?:i?B)?", re.IGNORECASE)
_UNITS = "KMGT"
ByProcess: TypeAlias = Sequence[Sequence[AnyArray]]
"""Arrays, replica by replica."""


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


def _by_process(
    texts: Sequence[str],
    grid: ProcessGrid,
    seed: int,
    read: Callable[[str, np.random.Generator], Sequence[Any]],
) -> dict[LogicalId, list[Any]]:
    """
    The values of each process, in the order of the options.

    A text is SPEC, for every process, or `R:SPEC`, `R,P:SPEC` for a replica or one of its
    partitions; `*` stands for all. Random arrays are the same for all whom a SPEC is for. Raises
    ArraySpecError.
    """
    generator = np.random.default_rng(seed)
    found: dict[LogicalId, list[Any]] = {place: [] for place in grid.places}
    for text in texts:
        match = _PLACE.fullmatch(text)
        values = read(match["spec"] if match else text, generator)
        named = (match["replica"], match["partition"]) if match else (None, None)
        wanted = [None if number in (None, "*") else int(number) for number in named]
        for number, name in zip(wanted, ("replica", "partition"), strict=True):
            count = getattr(grid, f"{name}s")
            if number is not None and number >= count:
                raise ArraySpecError(f"'{text}': there is no {name} {number}, only {count}")
        for place, own in found.items():
            if all(number in (None, at) for number, at in zip(wanted, place, strict=True)):
                own.extend(values)
    return found


def arrays_by_process(
    texts: Sequence[str], grid: ProcessGrid, seed: int = RANDOM_SEED
) -> dict[LogicalId, list[AnyArray]]:
    """The arrays that specifications say, by process; raises ArraySpecError."""
    return _by_process(texts, grid, seed, parse_array_specs)


def _item(spec: str, generator: np.random.Generator) -> list[object]:
    """The item of an infeed: an array, or a tuple of arrays written `SPEC;SPEC`."""
    parts = map(str.strip, spec.split(";"))
    arrays = [array for part in parts for array in parse_array_specs(part, generator)]
    return [arrays[0] if len(arrays) == 1 else tuple(arrays)]


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


def _bound(text: str) -> float:
    """What an option says, as the bound of an error: 0 or more, and finite."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"{text} is no tolerance: a finite number from 0 on")
    return value


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
        _by_process(args.infeed, grid, RANDOM_SEED, _item)
        cached = None if source is None else cache_entry(source, options, args.compile_cache)
        reference = (
            None
            if args.reference is None
            else compile_module(module.clone(), _reference_options(options, args))
        )
        program = compile_module(module.clone(), replace(options, cached=cached))
        return FunctionTrials(name, signature, grid, program, reference, args)

    def run(self, seed: int) -> None:
        """
        One iteration, with the random arrays of a seed: checks, stores or prints the results, as
        the command line says; raises XlaError.
        """
        args = self.args
        arguments = _arguments_by_process(self.signature, self.grid, args, seed)
        results, outfeeds, _ = self._call(self.program, arguments, seed)
        repeat = args.repeat or 0
        times = [self._call(self.program, arguments, seed)[2] * 1e6 for _ in range(repeat)]
        expected = self._call(self.reference, arguments, seed)[0] if self.reference else None
        if not is_reporting(args.ranks):
            return
        if times:
            first, median, last = (
                f"{each:.4g} us" for each in (min(times), statistics.median(times), max(times))
            )
            said = f"median {median}, from {first} to {last}, in {len(times)} calls"
            print(f"{self.name}: {said}", file=sys.stderr)
        if expected is not None:
            try:
                self._compare(results, expected)
            except UnexpectedResult as error:
                message = f"{self.name}: seed {seed}: not as on {args.reference}: {error}"
                raise UnexpectedResult(message) from None
            if not args.split_input_file:
                pairs = zip(chain(*results), chain(*expected), strict=True)
                error = max((largest_relative_error(*pair) for pair in pairs), default=0.0)
                near = (
                    f"largest error {error:.2g} of the largest magnitude" if error else "all equal"
                )
                print(f"{self.name}: seed {seed}: as on {args.reference}, {near}")
        if args.expected_output:
            wanted = arrays_by_process(args.expected_output, self.grid, seed)
            self._compare(results, list(wanted.values()))
        if args.output_dir is not None:
            self._store(results, Path(args.output_dir))
        elif not args.expected_output and expected is None and not args.split_input_file:
            self._show(results, outfeeds)

    def _process_name(self, place: LogicalId) -> str:
        """The process as messages name it; nothing if there is only one."""
        return f"{self.grid.name(place)}: " if len(self.grid.places) > 1 else ""

    def _compare(self, found: ByProcess, expected: ByProcess) -> None:
        """Compares results with what is expected; raises UnexpectedResult for the first fault."""
        for place, results, wanted in zip(self.grid.places, found, expected, strict=True):
            try:
                compare_results(results, wanted, self.program.signature, error_bounds(self.args))
            except UnexpectedResult as error:
                raise UnexpectedResult(f"{self._process_name(place)}{error}") from None

    def _show(self, results: ByProcess, outfeeds: Sequence[Sequence[object]]) -> None:
        """Prints the results of every process, and what its outfeeds have written."""
        for place, own in zip(self.grid.places, results, strict=True):
            for value in own:
                print(f"{self._process_name(place)}{spelled(value)}")
        for place, items in zip(self.grid.places, outfeeds, strict=False):
            for item in items:
                arrays = flatten_results([cast(Value, item)])
                text = ", ".join(spelled(np.asarray(array)) for array in arrays)
                print(f"{self._process_name(place)}outfeed: {text}")

    def _store(self, results: ByProcess, folder: Path) -> None:
        """
        Writes every result as a file, `main.0.npy` or `main.replica1.partition0.0.npy`; raises
        XlaError if that fails.
        """
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for (replica, partition), own in zip(self.grid.places, results, strict=True):
                # The name of a function may be any string, and lead out of the folder.
                stem = quote(self.name, safe="")
                stem += f".replica{replica}" if self.grid.replicas > 1 else ""
                stem += f".partition{partition}" if self.grid.partitions > 1 else ""
                for number, value in enumerate(own):
                    np.save(folder / f"{stem}.{number}.npy", value, allow_pickle=False)
        except OSError as error:
            raise XlaError(f"{folder}: error: {error.strerror}") from None

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
        self, program: Program, arguments: ByProcess, seed: int
    ) -> tuple[ByProcess, list[list[object]], float]:
        """The results and outfeeds by process, and the seconds of the call."""
        items = _by_process(self.args.infeed, self.grid, seed, _item)
        hosts = [Host.of(items[place]) for place in self.grid.places]
        with ending_the_process(self.args):
            start = time.perf_counter()
            results = program.run_processes(arguments, hosts=hosts)
            seconds = time.perf_counter() - start
        return results, [host.outfeed for host in hosts], seconds


def spelled(value: AnyArray) -> str:
    """Type and elements of an array; numpy leaves out the middle of a large one."""
    return f"{spell_array(value)} {np.array2string(value, separator=', ')}"


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
) -> ByProcess:
    """
    The arguments of every process, replica by replica; ranks have their own only. Raises RunError
    with the signature if some are missing.
    """
    given = arrays_by_process(args.input, grid, seed)
    own_rank = args.ranks.rank if args.ranks is not None and len(grid.places) > 1 else None
    found: list[list[AnyArray]] = []
    for number, place in enumerate(grid.places):
        arrays = given[place]
        if own_rank not in (None, number):
            found.append([])
            continue
        missing = signature.parameters[len(arrays) :]
        if args.reference is not None or args.seed is not None:
            generator = np.random.default_rng([seed, *place])
            for spec in missing:
                check_memory(spec.type)
            arrays += [random_array(spec.type, generator) for spec in missing]
        if len(arrays) != (wanted := len(signature.parameters)):
            whose = f"{grid.name(place)}: " if len(grid.places) > 1 else ""
            hint = ""
            if missing:
                spec = random_spec(missing[0].type)
                hint = f"\n--input {spec} gives random numbers, --seed 0 to all that are missing"
            raise RunError(
                f"{whose}{len(arrays)} inputs for {wanted} parameters; give each with --input:\n"
                f"  {signature}{hint}"
            )
        pairs = zip(arrays, signature.parameters, strict=True)
        found.append([as_parameter(value, parameter.type) for value, parameter in pairs])
    return found
