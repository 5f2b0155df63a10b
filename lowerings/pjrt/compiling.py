"""Programs of JAX on their way through the compiler."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from dataclasses import replace
from types import ModuleType
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from lowerings.backends import PASSES, Options
from lowerings.compilation import (
    compile_module,
    compile_parts,
    compile_source,
    located_error,
    outline_equal_parts,
)
from lowerings.driver.context import make_context as make_pass_context
from lowerings.driver.pass_manager import PassManager, parse_passes
from lowerings.driver.program import parse_source
from lowerings.driver.source import Source
from lowerings.execution.declared_functions import CustomCalls, outside_targets
from lowerings.execution.program_shards import partition
from lowerings.execution.runnable import PartitionedProgram, Runnable
from lowerings.kept_programs import cache_entry
from lowerings.partitioning.partition_warning import no_partition_warnings
from lowerings.pjrt.interfaces import INSPECTION, PARTITIONED, compile_cache
from lowerings.pjrt.program_text import CompileOptions, ProgramText
from lowerings.pjrt.user_passes import active_passes
from xla_dialect.diagnostics import XlaError
from xla_dialect.entry import ENTRY_SYMBOL
from xla_dialect.ops.custom_calls import CALLBACK

if TYPE_CHECKING:
    from lowerings.pjrt.shardings import Divisions

_LOG = logging.getLogger(__name__)


_TOGETHER = re.compile(
    r"sdy\.manual_computation|@SPMDFullToShardShape|@SPMDShardToFullShape"
    r"|stablehlo\.(?:all_|collective_|reduce_scatter|partition_id|replica_id)"
)
"""What devices compute each for itself, or together; of other programs all compute the same."""


def parsed(text: ProgramText, options: CompileOptions, *, outlined: bool = False) -> ModuleOp:
    """
    The program at the xla level, behind the user's passes; `outlined`: as it is compiled, with a
    function for equal parts. Raises XlaError.
    """
    passes = _passes(options)
    return _with_passes(_source(text, outlined and _is_outlined(options, passes)), passes)


def partitioned(text: ProgramText, options: CompileOptions, *, outlined: bool = False) -> ModuleOp:
    """The program of one of several devices at the xla level, as above; raises XlaError."""
    module = parsed(text, options)
    _shardings().spread(module, options.device_count)
    with no_partition_warnings():
        partition(module, ENTRY_SYMBOL, is_propagated=True)
    if outlined:
        outline_equal_parts(module, options.compilation())
    return module


def _shardings() -> ModuleType:
    """What loads passes of the partitioner, which programs for one device do without."""
    from lowerings.pjrt import shardings  # noqa: PLC0415

    return shardings


def _is_outlined(options: CompileOptions, passes: Sequence[ModulePass]) -> bool:
    """Whether equal parts are compiled once: where nothing of the user's names operations."""
    return not passes and not options.compilation().names_operations


def _source(text: ProgramText, outlined: bool = False) -> Source:
    return Source(text.text, text.name, "stablehlo", text.constants, outlined)


def _passes(options: CompileOptions) -> tuple[ModulePass, ...]:
    """Those of the user: that are switched on, and of this program."""
    return (*active_passes(), *parse_passes(options.named.get(PASSES, "")))


def _with_passes(source: Source, passes: Sequence[ModulePass]) -> ModuleOp:
    module = parse_source(source)
    PassManager(make_pass_context()).run(module, passes)
    return module


def _custom_calls(text: ProgramText) -> CustomCalls:
    targets = outside_targets(text.text)
    if not targets:
        return {}
    # It loads passes of the partitioner.
    from lowerings.pjrt.custom_calls import ffi_handlers, host_callbacks  # noqa: PLC0415

    return {**ffi_handlers(targets), **host_callbacks(text.callbacks)}


def compile_program(
    text: ProgramText, options: CompileOptions, **others: Any
) -> tuple[Runnable, Divisions | None]:
    """
    What runs a program, and how several devices share what it takes and returns; `others` are
    fields of `Options`. Raises XlaError with the operation and its place in JAX's source, and
    PluginError.
    """
    own = options.compilation(custom_calls=_custom_calls(text), **others)
    try:
        return _compiled(text, options, own)
    except XlaError as error:
        located = text.located()
        raise located_error(error, lambda: _compiled(located, options, own)) from error


def _compiled(
    text: ProgramText, options: CompileOptions, own: Options
) -> tuple[Runnable, Divisions | None]:
    passes, divisions = _passes(options), None
    # Equal parts that are one have one place.
    source = _source(text, not own.profile and _is_outlined(options, passes))
    if options.device_count > 1:
        module = _with_passes(source, passes)
        try:
            divisions = _shardings().spread(module, options.device_count, text.listeners)
        except XlaError as error:
            if _ASKS.search(text.text):
                raise
            _LOG.debug("%s: not partitioned: %s", text.name, error)
            divisions = _shardings().said(_with_passes(source, passes), options.device_count)
        else:
            if _ASKS.search(text.text):
                source, passes = Source(str(module), text.name, "mlir"), ()
            found = _compiled_parts(source, module, text, options, own)
            if found is not None:
                return found, divisions
    is_together = options.device_count > 1 and _TOGETHER.search(text.text) is not None
    own = replace(
        own,
        replicas=options.replicas if is_together else 1,
        partitions=options.partitions if is_together else 1,
    )
    # The compile cache has programs without passes of the user's.
    if not passes:
        return compile_source(source, own, compile_cache()), divisions
    return compile_module(_with_passes(source, passes), own), divisions


_ASKS = re.compile(rf"@(?:{PARTITIONED}|{INSPECTION})\(")
"""What is answered when it is known how devices share arrays."""


def _compiled_parts(
    source: Source, module: ModuleOp, text: ProgramText, options: CompileOptions, own: Options
) -> PartitionedProgram | None:
    """
    The program of one device; None where nothing is split, or it has no program: devices then
    compute with whole arrays, and the log says why.
    """
    # Of other functions of Python, one device calls for all.
    calls_whole = bool(text.callbacks) and f"@{CALLBACK}(" in text.text
    if options.partitions == 1 or options.replicas > 1 or calls_whole:
        return None
    own = replace(own, partitioned=True, partitions=options.partitions)
    cached = None if _passes(options) else cache_entry(source, own, compile_cache())
    # Of those that write programs, nobody can tell the partitioner anything.
    with no_partition_warnings():
        try:
            found = compile_parts(module, replace(own, cached=cached), is_propagated=True)
        except XlaError as error:
            _LOG.debug("%s: not partitioned: %s", text.name, error)
            return None
    return found if isinstance(found, PartitionedProgram) else None
