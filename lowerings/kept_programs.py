"""
Programs that were compiled before, as the compile cache has them.

What finds a program loads nothing that compiles one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lowerings.backends import Options, Program
from lowerings.driver.source import Source
from lowerings.execution.compile_cache import CacheEntry, CacheOption, CompileCache
from lowerings.execution.compiled_code import CompiledCode
from lowerings.execution.executable import Executable, checks_bounds

if TYPE_CHECKING:
    from lowerings.execution.callbacks import Callbacks


def cache_entry(
    source: Source, options: Options, compile_cache: CacheOption = None
) -> CacheEntry | None:
    """
    The place in the cache of what is compiled with these options; None where it has none.

    Only machine code of this machine is kept, no program that is given functions to call, and none
    that measures itself.
    """
    if not options.executor.is_cached or options.custom_calls or options.profile:
        return None
    if options.pipeline is not None:
        # It may have passes of others, whose content is not known.
        return None
    text = source.text if isinstance(source.text, str) else source.text.hex()
    parts = [
        *(text, source.file_name, source.input_format),
        *(checks_bounds(options.check_bounds), *options.decisions().values()),
    ]
    return CacheEntry.of(CompileCache.of(compile_cache), parts)


def kept_program(cached: CacheEntry, options: Options) -> Program | None:
    """What is at a place in the cache, ready to run; None where nothing is."""
    # Of a program in parts the cache has that of one device, and all ranks look together.
    if options.ranks is not None or options.partitioned:
        return None
    found = cached.load()
    return None if found is None else loaded(found, options)


def loaded(compiled: CompiledCode, options: Options) -> Program:
    """The program for machine code from the cache, or from another process."""
    program: Program = Executable(
        compiled,
        callbacks=_callbacks(compiled, options) if compiled.outside else None,
        num_threads=options.num_threads,
        time_limit=options.time_limit,
        memory_limit=options.memory_limit,
    )
    signature = compiled.signature
    if signature.in_memory is not signature:
        # Few programs have layouts; where they do, it is operations that say how arrays are moved.
        from lowerings.execution.laid_out import LaidOutExecutable  # noqa: PLC0415

        program = LaidOutExecutable(program, signature)
    program.process_counts = compiled.process_counts
    return program


def _callbacks(compiled: CompiledCode, options: Options) -> Callbacks | None:
    # What is called is declared as operations.
    from lowerings.driver.context import make_context  # noqa: PLC0415
    from lowerings.execution.callbacks import Callbacks  # noqa: PLC0415
    from lowerings.execution.declared_functions import declared_functions  # noqa: PLC0415
    from xla_dialect.mlir_text import read_mlir  # noqa: PLC0415

    declarations = read_mlir(compiled.outside, make_context())
    return Callbacks.of(declared_functions(declarations, {}, options.observer))
