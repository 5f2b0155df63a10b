"""Running one function of a program: on its inputs, repeatedly, beside a second executor."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from io import StringIO
from pathlib import Path

import numpy as np
from xdsl.dialects.builtin import ModuleOp

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
from xla_dialect.literals.arrays import check_memory
from xla_dialect.runtime.observation import Observer

from .array_spec import AnyArray, as_parameter, random_array, random_spec
from .limit_arguments import ending_the_process, time_limit
from .process_specs import arrays_by_process, items_by_process
from .profile_report import is_profiled
from .run_results import FunctionRun
from .trial_arguments import fills_inputs


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
