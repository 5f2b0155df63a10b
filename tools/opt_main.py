"""What `xla-opt` does with its arguments: reads programs, runs passes over them, prints them."""

from __future__ import annotations

import argparse
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module
from io import BytesIO, TextIOWrapper
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import DiagnosticException
from xdsl.utils.target import Target

from lowerings.driver.collector import loading
from lowerings.driver.context import make_context
from lowerings.driver.pass_manager import (
    PassManager,
    PipelinePass,
    machine_target,
    parse_pipeline,
    passes_of_module,
    target_of_text,
)
from lowerings.driver.pass_options import (
    FUSION,
    SCHEDULES,
    with_communication_report,
    with_script,
    with_values,
)
from lowerings.driver.program import detect_format, parse_program
from lowerings.rewriting.counting import RewriteCounter
from xla_dialect.diagnostics import LocatedError, XlaError

from .command_line import write_output
from .expected_diagnostics import check_diagnostics
from .input_text import Chunk, read_input, split_chunks
from .pass_instrumentation import (
    IrPrinting,
    PrintingFlags,
    Reproducer,
    limited,
    print_counters,
    reproducing,
)
from .pass_listing import list_passes, list_targets
from .pass_reports import PassStatistics, Timer, print_timing_report

if TYPE_CHECKING:
    from lowerings.targets.llvm.machine import Machine
    from lowerings.validation import Validator

    from .explorer.exploration import Exploration
    from .memory_report import MemoryReport


def run(args: argparse.Namespace) -> int:
    """Runs xla-opt with parsed arguments."""
    total = Timer("Total")
    try:
        with total.running():
            return process_input(args, total)
    except Exception:
        if args.debug:
            traceback.print_exc()
        raise
    finally:
        if args.timing and total.parts:
            print_timing_report(total, sys.stderr)


def process_input(args: argparse.Namespace, timer: Timer) -> int:
    """Lists what is asked for, or processes all programs of the input; returns the exit code."""
    if args.list_passes:
        list_passes(sys.stdout)
        return 0
    if args.list_targets:
        list_targets(sys.stdout)
        return 0
    if args.explore_profile is not None and args.explore is None:
        raise XlaError("--explore-profile is for --explore")
    args.passes, args.pass_pipeline = passes_given(args), None
    if args.reduce is not None or args.bisect is not None:
        # Only this needs executors.
        return import_module(f"{__package__}.reduce.running").run(args, "xla-opt")
    file_name, text = read_input(args.input_file)
    if (reproducer := Reproducer.parse(text)) is not None:
        text = reproducer.module
    if args.run_reproducer:
        take_reproducer(args, reproducer, file_name)
    chunks = split_chunks(text) if args.split_input_file else [Chunk(text)]
    with timer.part("Setup").running():
        machine: Machine | None = getattr(target_of(args), "machine", None)
        pipeline = parse_pipeline(args.passes or "")
        pipeline = with_given_values(pipeline, args, machine)
        pipeline = with_script(pipeline, args.transform_script)
        if args.print_communication:
            pipeline = with_communication_report(pipeline)
        counters: dict[str, RewriteCounter] = {}
        pipeline = limited(pipeline, args, counters, sys.stderr)
    outputs: list[bytes] = []
    exit_code = 0
    for chunk in chunks:
        if args.verify_diagnostics:
            is_expected, output = check_diagnostics(
                chunk,
                file_name,
                lambda chunk=chunk: process(args, chunk, file_name, pipeline, machine, timer),
                only_expected=args.verify_diagnostics == "=only-expected",
            )
            exit_code |= not is_expected
            outputs.extend(output)
            continue
        try:
            outputs.append(process(args, chunk, file_name, pipeline, machine, timer))
        except (XlaError, DiagnosticException) as error:
            if not args.parsing_diagnostics:
                raise
            outputs.append(f"{error}\n".encode())
    if args.print_debug_counter:
        print_counters(counters, sys.stderr)
    write_output(args.output_file, b"// -----\n".join(outputs))
    return exit_code


_OPTIONS_OF_PASSES = (
    ("schedules", SCHEDULES, "file"),
    ("fusion", FUSION, "file"),
    ("print_fusion", FUSION, "print_reasons"),
    ("explain", ("xla-propagate-shardings",), "explain"),
    ("print_bufferization", ("xla-bufferize",), "print_decisions"),
)
"""Arguments that are options of passes: the argument, the passes' names, their option."""


def with_given_values(
    pipeline: Sequence[PipelinePass], args: argparse.Namespace, machine: Machine | None
) -> Sequence[PipelinePass]:
    """
    Passes with what arguments say about them, schedules for a machine, by default this one; raises
    XlaError where there is no such pass.
    """
    for argument, names, option in _OPTIONS_OF_PASSES:
        value = getattr(args, argument)
        if value is None or value is False:
            continue
        given = {option: value}
        if names is SCHEDULES:
            # Only machine code needs LLVM; here it says which processor this is.
            from lowerings.targets.llvm.machine import host  # noqa: PLC0415

            given["processor"] = (machine or host()).processor
        needed_by = f"--{argument.replace('_', '-')}"
        pipeline = with_values(pipeline, names, needed_by=needed_by, **given)
    return pipeline


def passes_given(args: argparse.Namespace) -> str | None:
    """The passes that all options name, as text; raises XlaError."""
    passes = args.passes
    if args.pass_pipeline is not None:
        if passes is not None:
            raise XlaError("--passes and --pass-pipeline both say which passes to run")
        passes = passes_of_module(args.pass_pipeline)
    if not args.pdl:
        return passes
    # Few have rules, which need xDSL's interpreter of PDL.
    of_files = import_module("lowerings.rewriting.passes_of_files")
    rules = [
        str(of_files.PdlPass(args.pdl, rule.name).spec())
        for rule in of_files.rules_of(args.pdl, make_context())
    ]
    return ",".join([passes, *rules] if passes else rules)


def take_reproducer(
    args: argparse.Namespace, reproducer: Reproducer | None, file_name: str
) -> None:
    """Makes the passes of a crash reproducer those of the command line."""
    if reproducer is None:
        raise XlaError(f"{file_name}: error: no crash reproducer: there is no `mlir_reproducer`")
    if args.passes:
        raise XlaError("--run-reproducer takes the passes from the reproducer, not from --passes")
    args.passes = reproducer.pipeline
    args.validation_inputs = reproducer.inputs
    args.disable_verify |= not reproducer.verify_each


def process(
    args: argparse.Namespace,
    chunk: Chunk,
    file_name: str,
    pipeline: Sequence[PipelinePass],
    machine: Machine | None,
    timer: Timer,
) -> bytes:
    """Reads, verifies, transforms and prints one program."""
    with timer.part("Setup").running():
        ctx = make_context()
    ctx.allow_unregistered = args.allow_unregistered_dialect
    exploration = (
        None if args.explore is None else new_exploration(args, chunk, file_name, pipeline)
    )
    places = None if exploration is None else exploration.places

    def read(verified: bool = False) -> ModuleOp:
        return parse_program(
            chunk.text, file_name, args.frontend, ctx, verified=verified, places=places
        )

    with timer.part("Parser").running(), loading():
        module = read(verified=not args.disable_verify)
    if machine is not None:
        # Passes before machine code plan for where it runs.
        machine_target(machine).attach(module)
    flags = PrintingFlags(args.print_op_generic, args.print_debuginfo)
    printing = IrPrinting(args, flags, sys.stderr)
    memory = memory_report(pipeline, module) if args.print_memory else None
    validation = validator(args)
    recording = exploration.start(module) if exploration else None
    statistics = PassStatistics(module) if args.pass_statistics else None
    manager = PassManager(
        ctx,
        verify_each=not args.disable_verify,
        # Locations are marked while a pass runs, and what else there is sees none of it.
        before=[each.before for each in (printing, validation, recording) if each],
        after=[
            each.after for each in (recording, printing, memory, statistics, validation) if each
        ],
        verify_last=not args.disable_verify,
        timings=recording.timings if recording else [],
    )
    passes = [each.module_pass for each in pipeline]
    try:
        with reproducing(manager, passes, read, args.pass_pipeline_crash_reproducer):
            manager.run(module, passes)
        if args.validate_strict and validation and validation.unchecked:
            times = len(validation.unchecked)
            raise XlaError(f"--validate-strict: {times} times something was not checked")
    finally:
        timer.add_passes(pipeline, manager.timings)
        if memory:
            memory.print(sys.stderr)
        if statistics:
            statistics.print(sys.stderr)
        if exploration:
            # Also if a pass has failed: then it is about those before.
            with timer.part("Explorer").running():
                page = exploration.page(module, manager, target_of(args))
                write_output(str(args.explore), page)
    if exploration and args.output_file == "-":
        return b""
    with timer.part("Output").running():
        target = target_of(args)
        if target is None:
            return flags.text(module).encode()
        return emitted(args, target, module, manager, chunk, file_name)


def emitted(
    args: argparse.Namespace,
    target: Target,
    module: ModuleOp,
    manager: PassManager,
    chunk: Chunk,
    file_name: str,
) -> bytes:
    """The module as a target prints it; errors quote the program."""
    if getattr(target, "is_binary", False) and (args.output_file == "-" or args.split_input_file):
        raise XlaError(
            f"target '{target.name}': it is no text: one program goes to a file, -o FILE"
        )
    output = TextIOWrapper(content := BytesIO(), encoding="utf-8", newline="\n")
    try:
        target.emit(manager.ctx, module, output)
    except LocatedError as error:
        raise error.quoting(file_name, chunk.text) from None
    output.flush()
    return content.getvalue()


def new_exploration(
    args: argparse.Namespace, chunk: Chunk, file_name: str, pipeline: Sequence[PipelinePass]
) -> Exploration:
    """What becomes the page of `--explore`; its module is loaded on use, for it needs much."""
    if args.split_input_file:
        raise XlaError("--explore is for one program, not with --split-input-file")
    if not args.explore:
        raise XlaError("--explore takes the name of a file")
    exploration = import_module(f"{__package__}.explorer.exploration").Exploration
    input_format = args.frontend or detect_format(chunk.text, file_name)
    return exploration(pipeline, file_name, chunk.text, input_format, profile=args.explore_profile)


def memory_report(pipeline: Sequence[PipelinePass], module: ModuleOp) -> MemoryReport:
    """A report of memory that begins with a module; loaded on use, for it needs much."""
    report = import_module(f"{__package__}.memory_report").MemoryReport(pipeline)
    report.note("reading", module)
    return report


def validator(args: argparse.Namespace) -> Validator | None:
    """The validation of every pass, if asked for; its module is loaded on use: it needs much."""
    if not (args.validate_each or args.validate_strict):
        if args.validate_seed is not None or args.validate_inputs is not None:
            raise XlaError("--validate-seed and --validate-inputs are for --validate-each")
        return None
    given = {"seed": args.validate_seed, "count": args.validate_inputs}
    choice = import_module("lowerings.validation.inputs").InputChoice(
        **{name: value for name, value in given.items() if value is not None}
    )
    inputs = getattr(args, "validation_inputs", "")
    return import_module("lowerings.validation").Validator(sys.stderr, inputs, choice)


def target_of(args: argparse.Namespace) -> Target | None:
    """The target that is asked for, None for MLIR itself; raises XlaError."""
    return None if args.target in (None, "mlir") else target_of_text(args.target)
