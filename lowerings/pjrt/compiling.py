"""Programs of JAX on their way through the compiler."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from lowerings.backends import PASSES, Options
from lowerings.compilation import compile_module, compile_source, located_error
from lowerings.driver.context import make_context as make_pass_context
from lowerings.driver.pass_manager import PassManager, parse_passes
from lowerings.driver.program import parse_source
from lowerings.driver.source import Source
from lowerings.execution.declared_functions import CustomCalls, outside_targets
from lowerings.execution.runnable import PartitionedProgram, Runnable
from lowerings.partitioning.partition_warning import no_partition_warnings
from lowerings.pjrt.interfaces import compile_cache
from lowerings.pjrt.program_text import CompileOptions, ProgramText, module_of
from lowerings.pjrt.shardings import forget_inspections
from lowerings.pjrt.user_passes import active_passes
from xla_dialect.diagnostics import XlaError
from xla_dialect.ops.custom_calls import CALLBACK

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


def _is_outlined(options: CompileOptions, passes: Sequence[ModulePass]) -> bool:
    """Whether equal parts are compiled once: where nothing of the user's names operations."""
    return options.device_count == 1 and not passes and not options.compilation().names_operations


def _source(text: ProgramText, outlined: bool = False) -> Source:
    source = Source(text.text, text.name, "stablehlo", text.constants, outlined)
    if "@CustomSPMDPartitioning(" not in text.text:
        return source
    # It loads passes of the partitioner.
    from lowerings.pjrt.custom_calls import with_custom_partitioning  # noqa: PLC0415

    return with_custom_partitioning(source)


def _passes(options: CompileOptions) -> tuple[ModulePass, ...]:
    """Those of the user: that are switched on, and of this program."""
    return (*active_passes(), *parse_passes(options.named.get(PASSES, "")))


def _with_passes(source: Source, passes: Sequence[ModulePass]) -> ModuleOp:
    module = parse_source(source)
    PassManager(make_pass_context()).run(module, passes)
    return module


def _compiled(source: Source, options: Options, passes: Sequence[ModulePass]) -> Runnable:
    """The program ready to run; the compile cache has those without passes of the user's."""
    if not passes:
        return compile_source(source, options, compile_cache())
    return compile_module(_with_passes(source, passes), options)


def _custom_calls(text: ProgramText) -> CustomCalls:
    targets = outside_targets(text.text)
    if not targets:
        return {}
    # It loads passes of the partitioner.
    from lowerings.pjrt.custom_calls import ffi_handlers, host_callbacks  # noqa: PLC0415

    return {**ffi_handlers(targets), **host_callbacks(text.callbacks)}


def compile_program(text: ProgramText, options: CompileOptions, **others: Any) -> Runnable:
    """
    What runs a program; `others` are fields of `Options`. Raises XlaError with the operation and
    its place in JAX's source.
    """
    compile_options = options.compilation(custom_calls=_custom_calls(text), **others)
    passes = _passes(options)
    together = bool(_TOGETHER.search(text.text))
    # Of other functions of Python, one device calls for all.
    calls_whole = bool(text.callbacks) and f"@{CALLBACK}(" in text.text
    if options.partitions > 1 and options.replicas == 1 and not calls_whole:
        found = _compile_parts(
            text, replace(compile_options, partitioned=True, partitions=options.partitions), passes
        )
        if found is not None:
            return found
    together = together and options.device_count > 1
    compile_options = replace(
        compile_options,
        replicas=options.replicas if together else 1,
        partitions=options.partitions if together else 1,
    )
    try:
        # Equal parts that are one have one place.
        is_outlined = not compile_options.profile and _is_outlined(options, passes)
        return _compiled(_source(text, is_outlined), compile_options, passes)
    except XlaError as error:
        located = Source(_with_locations(text), text.name, "stablehlo", text.constants)
        raise located_error(error, lambda: _compiled(located, compile_options, passes)) from error


def _compile_parts(
    text: ProgramText, options: Options, passes: Sequence[ModulePass]
) -> PartitionedProgram | None:
    """
    The program of one device, as the partitioner makes it; None where nothing is split, or it has
    no program: devices then compute with whole arrays, and the log says why.
    """
    # Of those that write programs, nobody can tell the partitioner anything.
    with no_partition_warnings():
        try:
            found = _compiled(_source(text), options, passes)
        except XlaError as error:
            _LOG.debug("%s: not partitioned: %s", text.name, error)
            return None
    if not isinstance(found, PartitionedProgram):
        return None
    assert text.divisions is not None
    local = found.local.signature
    for specs, wholes, divisions, are_arrays in (
        (local.parameters, found.signature.parameters, text.divisions[0], text.parameters),
        (local.results, found.signature.results, text.divisions[1], text.results),
    ):
        of_arrays = [each for each, is_array in zip(divisions, are_arrays, strict=True) if is_array]
        for spec, whole, division in zip(specs, wholes, of_arrays, strict=True):
            expected = division.shards.local_sizes(whole.shape)
            if tuple(spec.shape) != expected:
                _LOG.debug("%s: not partitioned: %s, not %s", text.name, spec, expected)
                return None
    return found


def _with_locations(text: ProgramText) -> str:
    """The text with the places in the JAX source that its operations come from."""
    with module_of(text.code) as module:
        forget_inspections(module)
        return module.operation.get_asm(enable_debug_info=True)
