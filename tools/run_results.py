"""Comparing, writing and printing the results of a run."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast
from urllib.parse import quote

import numpy as np

from lowerings.execution.signature import Signature
from xla_dialect.devices.process_grid import LogicalId, ProcessGrid
from xla_dialect.diagnostics import XlaError
from xla_dialect.element_types import spell_array
from xla_dialect.literals.arrays import Value, flatten_results

from .array_spec import RANDOM_SEED, AnyArray
from .comparison import UnexpectedResult, compare_results, largest_relative_error
from .process_specs import arrays_by_process
from .trial_arguments import error_bounds, print_times


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
