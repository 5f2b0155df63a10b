"""
`lowerings.compile`: from a program to something that can be called with numpy arrays.

A `run_parallel` in a compiled program is a call of what runs the programs that it names, which are
compiled by themselves before.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import fields, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Literal, TypeAlias

from xdsl.dialects.builtin import BoolAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp

from lowerings.backends import (
    BACKENDS,
    EMULATED_BACKENDS,
    INTERPRETED_LEVELS,
    INTERPRETER,
    REFERENCE,
    Options,
    Program,
    takes_options,
)
from lowerings.driver import CompilationError, InputFormat
from lowerings.driver.collector import collector_paused
from lowerings.driver.context import make_context
from lowerings.driver.entry import reached_from
from lowerings.driver.levels import level_of
from lowerings.driver.pass_manager import PassFailed, PassManager, parse_passes, split_at_levels
from lowerings.driver.program import parse_source
from lowerings.driver.source import Source
from lowerings.execution.compile_cache import CacheOption
from lowerings.execution.program_shards import partition
from lowerings.execution.rank_runs import (
    RankProgram,
    ranks_of,
    require_one_program,
)
from lowerings.execution.runnable import PartitionedProgram, Runnable, run_as
from lowerings.executors import (
    COMPILERS,
    interpreted_program,
    level_of_name,
    native_program,
    text_at,
)
from lowerings.kept_programs import cache_entry, kept_program
from lowerings.native_lowering import Lowering, signature_in
from lowerings.pipelines import LEVELS
from lowerings.runtime import default_mode
from xla_dialect.devices.process_grid import MAX_PROCESSES, Host, Process, ProcessGrid
from xla_dialect.diagnostics import LocatedError, XlaError
from xla_dialect.literals.arrays import Array
from xla_dialect.mlir_text import print_mlir
from xla_dialect.ops.collectives import process_counts, set_process_counts
from xla_dialect.ops.custom_calls import CustomCallOp
from xla_dialect.ops.transfers import AfterAllOp
from xla_dialect.quantized_types import has_quantized_arrays
from xla_dialect.runtime.custom_calls import CustomCallFunction
from xla_dialect.runtime.runs import entry_function
from xla_dialect.self_checking import RunParallelOp
from xla_dialect.spelling import suggestion
from xla_dialect.types import TokenType
from xla_dialect.xdsl.traversal import deep_recursion, operations_in

__all__ = [
    "BACKENDS",
    "EMULATED_BACKENDS",
    "INTERPRETED_LEVELS",
    "INTERPRETER",
    "CompilationError",
    "Lowering",
    "Options",
    "Program",
    "arithmetic_of",
    "cache_entry",
    "compile",
    "compile_module",
    "compile_source",
    "interpreted_program",
    "native_program",
]


@takes_options()
def compile(
    text_or_path: str | bytes | Path | ModuleOp,
    *,
    input_format: InputFormat | None = None,
    compile_cache: bool | str | Path | None = None,
    communicator: object = None,
    **options: Any,
) -> Program:
    """
    Compiles a program, given as text, as the bytes or the path of a file, or as a module.

    `options` are the fields of `lowerings.backends.Options`. `input_format` is detected from the
    extension or the content if not given. `compile_cache` is a folder in which machine code is
    kept for other processes; True is the usual folder, False none. By default the environment
    variable `XLA_COMPILE_CACHE` decides.

    With `check_bounds`, or `XLA_CHECK_BOUNDS=1` in the environment, machine code checks each
    memory access first, and a call raises XlaError instead of an access outside of the program's
    arrays; other executors always check. With `time_limit`, a call that takes more seconds raises
    TimeLimitReached. With `memory_limit`, a call whose arrays take more bytes raises XlaError
    before they are allocated. `target` for the backend `llvm` is this machine, less some features.

    `Program.run_processes` runs `replicas`, with `partitions` of each. `communicator`, of mpi4py,
    has one rank for each of them: all ranks compile the program, and each calls it with its own
    arguments and gets its own results.

    A ScheduleWarning names each entry of `schedules` that its operation does not admit.
    Raises XlaError for a program that cannot be read, breaks a rule, or cannot be compiled.

    >>> import numpy
    >>> import lowerings
    >>> program = "ENTRY main { x = f32[2] parameter(0) ROOT y = f32[2] add(x, x) }"
    >>> double = lowerings.compile(program)
    >>> double(numpy.float32([1, 2]))
    (array([2., 4.], dtype=float32),)
    """
    known = [each.name for each in fields(Options)]
    for name in options.keys() - known:
        raise TypeError(f"compile has no option '{name}'{suggestion(name, known)}")
    made = Options(**options)
    if communicator is not None:
        made = replace(made, ranks=ranks_of(communicator, made.time_limit))
    source = Source.of(text_or_path, input_format)
    program = compile_source(source, made, compile_cache)
    program.text_at = partial(_text_at, source, made)
    return program


def _text_at(source: Source, options: Options, level: str) -> str:
    """The text of a program at a level, with the passes that come first; raises XlaError."""
    level = level_of_name(level)
    module, options = _begun(parse_source(source), options)
    return text_at(module, level, options)


@default_mode()
@deep_recursion()
@collector_paused()
def compile_source(source: Source, options: Options, compile_cache: CacheOption = None) -> Program:
    """`compile` for a text and the name of its file. What is in the cache is not even parsed."""
    cached = cache_entry(source, options, compile_cache)
    found = None if cached is None else kept_program(cached, options)
    if found is not None:
        return found
    return compile_module(parse_source(source), replace(options, cached=cached))


def located_error(error: XlaError, compile_located: Callable[[], object]) -> XlaError:
    """
    The error that a program could not be compiled with, as its text with the places says it that
    it was written in; the error itself where that says something else.
    """
    try:
        compile_located()
    except LocatedError as found:
        if isinstance(error, LocatedError) and found.message == error.message:
            return found
    except PassFailed as found:
        # Its text names places.
        if isinstance(error, PassFailed) and found.pass_name == error.pass_name:
            return found
    except XlaError:
        pass
    return error


@default_mode()
@deep_recursion()
@collector_paused()
def compile_module(module: ModuleOp, options: Options | None = None) -> Program:
    """
    Compiles one function of a verified module at the xla level; the module is used up.

    The interpreter runs modules of `INTERPRETED_LEVELS` too, where it keeps the module; its `level`
    is the one to which it brings a module of the xla level, by default the first.
    Raises XlaError where the entry is missing or cannot be compiled.
    """
    options = options or Options()
    if options.ranks is not None:
        require_one_program(options.ranks, print_mlir(module), options.decisions())
    module, options = _begun(module, options)
    entry_function(module, options.entry)
    if options.partitioned and level_of(module) == LEVELS[0]:
        return compile_parts(module, options)
    counts = _set_processes(module, options)
    calls = dict(options.custom_calls)
    if options.executor.is_compiled and level_of(module) == LEVELS[0]:
        own = replace(options, donate=(), cached=None, profile=False)
        calls |= take_parallel_runs(
            reached_from(module, options.entry),
            lambda name, replicas, partitions: compile_module(
                module.clone(), replace(own, entry=name, replicas=replicas, partitions=partitions)
            ),
        )
    cached = None if calls else options.cached
    options = replace(options, custom_calls=calls, cached=cached)
    program = _compiler(options)(module, options)
    program.process_counts = counts
    return program if options.ranks is None else RankProgram(program, options.ranks)


def _begun(module: ModuleOp, options: Options) -> tuple[ModuleOp, Options]:
    """
    A module after the passes on StableHLO and on quantized arrays, and the options without them:
    what a program takes is known once these have been run.
    """
    if options.pipeline is not None:
        first, rest = split_at_levels(options.pipeline)
        PassManager(make_context()).run(module, parse_passes(first))
        options = replace(options, pipeline=rest or None)
    if has_quantized_arrays(module):
        spec = f"stablehlo-legalize-quant-to-math{{arithmetic={arithmetic_of(options.backend)}}}"
        PassManager(make_context()).run(module, parse_passes(spec))
    return module, options


def arithmetic_of(backend: str) -> Literal["float", "integer"]:
    """With what operations on quantized arrays compute: on the reference as they are defined."""
    return "float" if backend == REFERENCE else "integer"


def compile_parts(module: ModuleOp, options: Options, *, is_propagated: bool = False) -> Program:
    """
    Compiles the program of one device, where arrays are split; `is_propagated`: the module says of
    all how. Raises XlaError.
    """
    whole = signature_in(module, options.entry)
    shards = partition(module, options.entry, is_propagated=is_propagated)
    counts = process_counts(module)
    options = replace(options, partitioned=False, partitions=options.partitions or counts[1])
    if shards is None:
        return compile_module(module, options)
    outline_equal_parts(module, options)
    local = compile_module(module, replace(options, donate=()))
    return PartitionedProgram(local, whole, shards)


def outline_equal_parts(module: ModuleOp, options: Options) -> None:
    """
    Has what devices compute again and again between their collectives compiled once, where nothing
    of the user's names operations.
    """
    if options.executor.is_compiled and not (options.names_operations or options.profile):
        passes = parse_passes("xla-expand-communication,xla-outline-equal-parts")
        PassManager(make_context(), verify_each=False, verify_last=False).run(module, passes)


def _set_processes(module: ModuleOp, options: Options) -> tuple[int, int]:
    """
    How many replicas and partitions are to run a module, by default as many as it says; the module
    says so afterwards. Raises XlaError where it is for others, and for none or too many.
    """
    own = process_counts(module)
    replicas, partitions = options.replicas, options.partitions
    if replicas is None and partitions is None:
        return own
    counts = replicas or own[0], partitions or own[1]
    ProcessGrid(
        *(n if n is not None else m for n, m in zip((replicas, partitions), own, strict=True)),
        most=MAX_PROCESSES if options.ranks is None else options.ranks.size,
    )
    # One process can run what is for several, if it does not wait for the others.
    if counts != (1, 1) and own not in ((1, 1), counts):
        raise CompilationError(
            f"the module is for {own[0]} replicas and {own[1]} partitions, "
            f"not for {counts[0]} and {counts[1]}"
        )
    if own == (1, 1) != counts:
        set_process_counts(module, *counts)
    return counts


def _compiler(options: Options) -> Callable[[ModuleOp, Options], Program]:
    compiler = COMPILERS.get(options.backend) or options.executor.compile
    assert compiler is not None
    return compiler


Compile: TypeAlias = Callable[[str, int, int], Runnable]
"""From the name of a function, and how many replicas and partitions run, to a program."""


def take_parallel_runs(
    functions: Iterable[FuncOp], compile_program: Compile
) -> dict[str, CustomCallFunction]:
    """
    Puts a custom call in the place of every `run_parallel`; gives the functions for their targets.

    Raises XlaError for programs that cannot be compiled.
    """
    found: dict[str, CustomCallFunction] = {}
    for op in [op for function in functions for op in operations_in(function)]:
        if isinstance(op, RunParallelOp):
            target = f"{op.name}.{len(found)}"
            found[target] = _function_of(op, compile_program)
            _replace(op, target)
    return found


def _replace(op: RunParallelOp, target: str) -> None:
    # Programs neither take nor give tokens once they are compiled; calls keep their order.
    token = AfterAllOp.make([], {})
    call = CustomCallOp.make(
        tuple(value for value in op.operands if not isinstance(value.type, TokenType)),
        {
            "custom_call_target": StringAttr(target),
            "custom_call_has_side_effect": BoolAttr.from_bool(True),
        },
        result_types=tuple(t for t in op.result_types if not isinstance(t, TokenType)),
    )
    token.location = call.location = op.location
    block = op.parent
    assert block is not None
    block.insert_ops_before([call, token], op)
    given = iter(call.results)
    for result in op.results:
        is_token = isinstance(result.type, TokenType)
        result.replace_all_uses_with(token.result if is_token else next(given))
    block.erase_op(op)


def _function_of(op: RunParallelOp, compile_program: Compile) -> CustomCallFunction:
    """What runs the programs; what their outfeeds write goes to the host of who runs them all."""
    rows = op.program_names
    replicas, partitions = len(rows), len(rows[0])
    names = [name for row in rows for name in row]
    programs = {name: compile_program(name, replicas, partitions) for name in dict.fromkeys(names)}
    feeds = [compile_program(name, 1, 1) for name in op.infeed_names]

    def run(_: CustomCallOp, *arrays: Array) -> object:
        infeed = deque[object](item for feed in feeds for item in feed.run_processes([()])[0])
        grid = ProcessGrid(replicas, partitions)
        hosts = [Host(infeed) for _ in names]  # the same queue for all
        given = iter(arrays)
        runs: dict[tuple[int, int], Callable[[], tuple[Array, ...]]] = {}
        for place, name, host in zip(grid.places, names, hosts, strict=True):
            program = programs[name]
            process = Process(grid, place, host, same_program=len(programs) == 1)
            own = list(islice(given, len(program.signature.parameters)))
            runs[place] = partial(run_as, process, program, own)
        results = tuple(value for values in grid.run(runs) for value in values)
        around = Process.current()
        if around is not None:
            for host in hosts:
                around.host.outfeed.extend(host.outfeed)
        return results[0] if len(results) == 1 else results

    return run
