"""`xla-run`: runs a program on an executor and checks or prints its results."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.utils.exceptions import DiagnosticException

from lowerings.backends import Where, backend_names, declared_options, options_at
from lowerings.compilation import (
    BACKENDS,
    EMULATED_BACKENDS,
    INTERPRETED_LEVELS,
    INTERPRETER,
    Options,
    arithmetic_of,
)
from lowerings.driver.context import make_context
from lowerings.driver.levels import level_of
from lowerings.driver.pass_manager import PassManager, parse_passes
from lowerings.driver.pass_options import REPORT
from lowerings.driver.program import parse_program
from lowerings.driver.source import Source
from lowerings.execution.compile_cache import CACHE_VARIABLE
from lowerings.execution.emulator import Emulation
from lowerings.execution.profile import Profile
from lowerings.partitioning.annotations import says_how_split
from lowerings.partitioning.partition_warning import no_partition_warnings
from lowerings.pipelines import LEVELS, PARTITIONING
from xla_dialect.devices.process_grid import ProcessGrid
from xla_dialect.diagnostics import LocatedError, XlaError
from xla_dialect.ops import asynchronous, collectives, operations_of, transfers
from xla_dialect.ops.collectives import process_counts
from xla_dialect.quantized_types import has_quantized_arrays
from xla_dialect.runtime.observation import Observer
from xla_dialect.self_checking import RunParallelOp
from xla_dialect.stablehlo import ArithmeticName, convert_stablehlo, takes_dynamic_arguments
from xla_dialect.types import array, spell_all

from .array_spec import RANDOM_SEED, AnyArray, snapshot_arrays
from .command_line import CommandLine, complete_passes, guarded, one_line
from .function_trials import (
    FunctionTrials,
    RunError,
    add_limit_arguments,
    add_trial_arguments,
    arrays_by_process,
    seeds,
    time_limit,
)
from .input_text import Chunk, read_input, split_chunks
from .mpi_session import ending_all_ranks, is_reporting, join_ranks
from .profile_report import add_profile_arguments, is_profiled, report_profiles


def add_emulation_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options to a command line."""
    add = parser.add_argument
    add(
        "--features",
        metavar="LIST",
        help="what an emulated processor has beyond RV64GC, as LLVM spells it: +v or +v,+zvl256b",
    )
    add(
        "--count-instructions",
        action="store_true",
        help="print how many instructions an emulated program executes (stderr)",
    )


def emulation_for(backend: str, args: argparse.Namespace) -> Emulation | None:
    """How an emulated backend runs, None for others; raises XlaError for options of the former."""
    if backend in EMULATED_BACKENDS:
        count = print_executed if args.count_instructions else None
        if args.target is None:
            return Emulation(args.features or "", on_executed=count)
        if args.features is not None:
            raise XlaError("--features and --target both say what the processor has")
        return Emulation.of_target(args.target, count)
    for option, given in (
        ("--features", args.features is not None),
        ("--count-instructions", args.count_instructions),
    ):
        if given:
            known = ", ".join(EMULATED_BACKENDS)
            raise XlaError(f"{option} is for emulated backends ({known}), not for '{backend}'")
    return None


def print_executed(count: int) -> None:
    """Reports how many instructions a call executed."""
    print(f"{count} instructions executed", file=sys.stderr)


def for_arguments(
    module: ModuleOp, arrays: Sequence[AnyArray], arithmetic: ArithmeticName
) -> ModuleOp:
    """
    The module itself if its shapes are static, else the one for arrays of these sizes.

    Element types are the declared ones. Quantized arrays become those of the integers that are
    stored, and operations on them compute as `arithmetic` says. Raises XlaError where the arrays do
    not fit.
    """
    if not takes_dynamic_arguments(module):
        if has_quantized_arrays(module):
            return convert_stablehlo(module, None, arithmetic)
        return module
    functions = [op for op in module.ops if isinstance(op, FuncOp)]
    entry = next((f for f in functions if f.sym_name.data == "main"), functions[0])
    declared = entry.function_type.inputs.data
    if len(declared) != len(arrays):
        signature = f"@{entry.sym_name.data}{spell_all(declared)}"
        raise XlaError(
            f"{len(arrays)} inputs for {len(declared)} parameters, from which the unknown sizes "
            f"follow; give each with --input:\n  {signature}"
        )
    sized = [
        array(element_type, arrays[i].shape)
        if (element_type := getattr(type_, "element_type", None))
        else type_
        for i, type_ in enumerate(declared)
    ]
    return convert_stablehlo(module, sized, arithmetic)


def add_option(
    parser: argparse.ArgumentParser, name: str, *flags: str, **others: Any
) -> argparse.Action:
    """Adds a field of `Options`, by its own name unless `flags` are given."""
    (option,) = (each for each in fields(Options) if each.name == name)
    declared = declared_options()[name]
    kind = str(option.type).partition(" ")[0]
    given: dict[str, Any] = {"default": option.default, "help": declared.help}
    if kind == "bool":
        given["action"] = "store_true"
    elif declared.metavar is not None:
        given |= {"metavar": declared.metavar, "type": {"int": int}.get(kind, str)}
    flags = flags or (f"--{name.replace('_', '-')}",)
    return parser.add_argument(*flags, **(given | others))


PROCESS_OPERATIONS = frozenset(
    operation
    for family in (collectives, asynchronous, transfers)
    for operation in operations_of(family)
)
"""Operations that communicate with other processes or with the host."""


AS_SAID = (
    *("num_threads", "level", "check_bounds", "memory_limit", "flush_subnormals"),
    *options_at(Where.FILE),
)
"""Options that are what the command line says."""


def make_argument_parser() -> argparse.ArgumentParser:
    """The command line of xla-run."""
    parser = CommandLine(
        prog="xla-run",
        description="Runs an XLA program (HLO text, StableHLO or MLIR) and prints its results.",
        epilog="SPEC is 4x8xf32=[[...]], 2x2xf32=3.0 (splat), 2x2xf32=random, @file.npy, "
        "or @file.npz for all arrays of a file in order. With several processes a SPEC is for each "
        "of them, 1:SPEC for replica 1, 1,0:SPEC for its partition 0, *,0:SPEC for partition 0 of "
        "every replica.",
    )
    add = parser.add_argument
    parser.add_program()
    passes = add_option(parser, "pipeline", "-p", "--passes", dest="passes")
    passes.completer = complete_passes  # pyright: ignore[reportAttributeAccessIssue]
    add_option(parser, "target")
    add_option(parser, "entry", default=None)
    add("--all-functions", action="store_true", help="run every public function without arguments")
    add_option(parser, "backend", choices=backend_names(), default=None)
    add("--input", action="append", default=[], metavar="SPEC", help="the next argument")
    add(
        "--expected-output",
        action="append",
        default=[],
        metavar="SPEC",
        help="what the next result has to be",
    )
    add_trial_arguments(parser)
    add_process_arguments(parser)
    add_option(parser, "level", choices=INTERPRETED_LEVELS)
    add_emulation_arguments(parser)
    add_option(parser, "check_bounds")
    add_limit_arguments(parser)
    add_compilation_arguments(parser)
    add_profile_arguments(parser)
    add("--output-dir", metavar="DIR", help="write the results as DIR/<function>.<number>.npy")
    add("--probe-output-dir", metavar="DIR", help="where interpreter.probe writes")
    add("--split-input-file", action="store_true", help="run the parts between lines `// -----`")
    return parser


def add_compilation_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options for how a program is compiled."""
    add_option(parser, "num_threads")
    parser.add_argument(
        "--compile-cache",
        metavar="FOLDER",
        help="where compiled code is kept for the next time; default: nowhere, or as "
        f"{CACHE_VARIABLE} in the environment says",
    )
    for name in (*options_at(Where.FILE), "flush_subnormals"):
        add_option(parser, name)


def add_process_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options for programs of several processes, or that talk to their host."""
    add = parser.add_argument
    add_option(parser, "replicas")
    add_option(parser, "partitions")
    add(
        "--communicator",
        choices=("mpi",),
        help="run each process on a rank of MPI, as in mpiexec -n 4 xla-run ...; default: threads",
    )
    add(
        "--print-communication",
        action="store_true",
        help="report what a device sends, computes and keeps (stderr)",
    )
    add(
        "--infeed",
        action="append",
        default=[],
        metavar="SPEC[;SPEC...]",
        help="the next item of the infeed, of several arrays if it is a tuple",
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Runs xla-run; returns the exit code: 0, or 1 for a failed check or bad input."""

    def body() -> int:
        args = make_argument_parser().parse_args(argv)
        args.is_own_process = argv is None
        args.ranks = None if args.communicator is None else join_ranks(args.timeout)
        with ending_all_ranks(args.ranks, "xla-run"):
            return run(args)

    return guarded("xla-run", body)


def run(args: argparse.Namespace) -> int:
    """Runs xla-run with parsed arguments; a chunk without a program passes."""
    file_name, text = read_input(args.input_file)
    if not args.input and snapshot_arrays(file_name):
        args.input = [f"@{file_name}"]
    if args.example is not None and not args.input and args.seed is None:
        args.seed = RANDOM_SEED
    if not args.split_input_file:
        run_chunk(args, Chunk(text), file_name)
        return 0
    failed = False
    for number, chunk in enumerate(split_chunks(text), 1):
        try:
            if not chunk.is_blank:
                run_chunk(args, chunk, file_name)
            outcome = "PASS"
        except (XlaError, DiagnosticException) as error:
            failed = True
            outcome = f"FAIL: {one_line(error)}"
        if is_reporting(args.ranks):
            print(f"chunk {number}: {outcome}")
    return int(failed)


def run_chunk(args: argparse.Namespace, chunk: Chunk, file_name: str) -> None:
    """Reads, verifies, compiles and runs one program; raises XlaError where anything fails."""
    read = parse_program(chunk.text, file_name, args.frontend, verified=True)
    partitioned = is_split(read, args)
    grid = ProcessGrid() if partitioned else process_grid(read, args)
    backend = args.backend or BACKENDS[0]
    arrays = arrays_by_process(args.input, grid)[grid.places[0]]
    module = for_arguments(read, arrays, arithmetic_of(backend))
    source = Source(chunk.text, file_name, args.frontend) if module is read else None
    if args.level is not None and backend != INTERPRETER:
        raise RunError(f"--level is for the backend '{INTERPRETER}', not '{backend}'")
    emulation = emulation_for(backend, args)
    probes = None if args.probe_output_dir is None else Path(args.probe_output_dir)
    options = Options(
        backend=backend,
        # Of several chunks each is a line of stdout.
        observer=Observer(sys.stderr if args.split_input_file else None, probes),
        emulation=emulation,
        time_limit=args.timeout if emulation else time_limit(args),
        replicas=grid.replicas,
        partitions=args.partitions if partitioned else grid.partitions,
        partitioned=partitioned,
        **{name: getattr(args, name) for name in AS_SAID},
        profile=is_profiled(args),
        ranks=args.ranks,
        pipeline=args.passes,
        target=None if emulation else args.target,
    )
    if args.print_communication and is_reporting(args.ranks):
        report_communication(module, args)
    profiles: dict[str, Profile] = {}
    for name in entries(module, args):
        try:
            trials = FunctionTrials.of(module, replace(options, entry=name), grid, source, args)
            for seed in seeds(args):
                trials.run(seed)
            profile = trials.profile(seeds(args)[-1])
        except LocatedError as error:
            raise error.quoting(file_name, chunk.text) from None
        if profile is not None and is_reporting(args.ranks):
            profiles[name] = profile
    if profiles:
        report_profiles(profiles, args, sys.stderr)


def process_grid(module: ModuleOp, args: argparse.Namespace) -> ProcessGrid:
    """The processes to run; raises XlaError if there are none or too many."""
    runs_others = any(isinstance(op, RunParallelOp) for op in module.walk())
    talks = any(type(op) in PROCESS_OPERATIONS for op in module.walk()) and not runs_others
    counts = process_counts(module) if talks else (1, 1)
    replicas, partitions = (
        count if number is None else number
        for number, count in zip((args.replicas, args.partitions), counts, strict=True)
    )
    if args.ranks is None:
        return ProcessGrid(replicas, partitions)
    return args.ranks.grid(replicas, partitions)


def is_split(module: ModuleOp, args: argparse.Namespace) -> bool:
    """Whether it is run in parts: several are asked for, and it says what each has."""
    if args.partitions in (None, 1) or level_of(module) != LEVELS[0]:
        return False
    return says_how_split(module)


def report_communication(module: ModuleOp, args: argparse.Namespace) -> None:
    """Prints what a device sends, computes and keeps (stderr); raises RunError at other levels."""
    if level_of(module) != LEVELS[0]:
        raise RunError("--print-communication is for programs of the xla level")
    passes = PARTITIONING if is_split(module, args) else ("xla-flatten-tuples",)
    # Whoever compiles it for its run warns.
    with no_partition_warnings():
        manager = PassManager(make_context(), verify_each=False)
        manager.run(module.clone(), parse_passes(",".join((*passes, REPORT))))


def entries(module: ModuleOp, args: argparse.Namespace) -> list[str]:
    """
    The functions to run; raises RunError where there is none.

    Programs and infeeds that `run_parallel` names are parts of what runs them: alone they would
    wait for each other.
    """
    public = [
        op
        for op in module.ops
        if isinstance(op, FuncOp)
        and not op.is_declaration
        and (op.sym_visibility is None or op.sym_visibility.data == "public")
    ]
    names = [op.sym_name.data for op in public]
    known = ", ".join(f"@{name}" for name in names) or "none"
    if args.entry is not None:
        entry = args.entry.removeprefix("@")
        if entry not in names:
            raise RunError(f"there is no public function @{entry} (there are: {known})")
        return [entry]
    if "main" in names and not args.all_functions:
        return ["main"]
    parts = {name for op in module.walk() if isinstance(op, RunParallelOp) for name in op.callees()}
    without_arguments = [
        op.sym_name.data
        for op in public
        if not op.function_type.inputs.data and op.sym_name.data not in parts
    ]
    if not without_arguments:
        raise RunError(
            "there is neither @main nor a public function without arguments; --entry NAME runs "
            f"another (there are: {known})"
        )
    return without_arguments


if __name__ == "__main__":
    sys.exit(main())
