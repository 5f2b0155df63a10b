"""From what JAX hands to a client to a program of ours."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from lowerings.backends import PASSES
from lowerings.driver.collector import loading
from lowerings.driver.source import Source
from lowerings.execution.runnable import PartitionedProgram, Runnable
from lowerings.execution.signature import ArraySpec
from lowerings.kept_programs import cache_entry, kept_program
from lowerings.pjrt.buffers import TOKEN, Shape, shape_of
from lowerings.pjrt.c_api import ErrorCode
from lowerings.pjrt.client import MEMORY_KINDS
from lowerings.pjrt.functions import Objects, PluginError
from lowerings.pjrt.interfaces import compile_cache
from lowerings.pjrt.program_text import CompileOptions, Order, ProgramText
from lowerings.pjrt.user_passes import active_passes
from xla_dialect.diagnostics import XlaError

if TYPE_CHECKING:
    from lowerings.execution.profile import EventSink
    from lowerings.pjrt.shardings import ArrayDivision, Divisions


LOADED = Objects("loaded executable")
"""Programs on devices, by their handles."""


class CompiledProgram:
    """A program that clients load, and ask about."""

    def __init__(self, text: ProgramText, options: CompileOptions):
        """Compiles it; raises PluginError with the operation and its place in JAX's source."""
        self.name = text.name
        self.options = options
        kept = _kept(text, options)
        self.program, divisions = _compiled(text, options) if kept is None else (kept, None)
        """What runs it, and how several devices share its arrays."""
        self.text = text
        signature = self.program.signature
        self.whole_parameters = _with_tokens(signature.parameters, text.parameters)
        self.whole_results = _with_tokens(signature.results, text.results)
        self.parameter_divisions, self.result_divisions = divisions or (None, None)
        in_memory = _parts(self.whole_parameters, self.parameter_divisions)
        self.parameters = _laid_out(in_memory, text.layouts[0])
        """What each device has of each parameter."""
        of_devices = _parts(self.whole_results, self.result_divisions)
        self.results = _laid_out(of_devices, text.layouts[1])
        self.parameter_memories, self.result_memories = (
            tuple(map(_memory_number, kinds)) for kinds in text.memory_kinds
        )
        """The kind of memory of each, as its place in `MEMORY_KINDS`."""
        self.runs_in_place = (self.parameters, self.results) == (in_memory, of_devices)
        """Whether the arrays of devices lie as the program takes and returns them."""
        self.is_serializable = not text.callbacks
        self.kept_for_clients: dict[str, Any] = {}
        """Arrays whose addresses clients have been told."""

    def with_events(self, sink: EventSink) -> Runnable:
        """
        What runs it as well, and tells when its kernels ran; raises PluginError and XlaError.

        Operations have their places in JAX's source, but where the user has said something of some:
        they would be called otherwise.
        """
        text, options = self.text, self.options
        if not options.compilation().names_operations:
            text = text.located()
        return _compiled(text, options, profile=True, on_events=sink)[0]

    @cached_property
    def fingerprint(self) -> str:
        """What tells it from other programs, in all processes that compile it."""
        options = self.options
        # Serialized, they are in another order in each process.
        said = options.replicas, options.partitions, options.devices, sorted(options.named.items())
        return hashlib.sha256(f"{said}{self.text.text}".encode()).hexdigest()

    @cached_property
    def donors(self) -> dict[int, int]:
        """The results that take the memory of a parameter, each with that, counting tokens."""
        if isinstance(self.program, PartitionedProgram):
            return {}
        parameters = _places_of_arrays(self.parameters)
        results = _places_of_arrays(self.results)
        return {results[r]: parameters[p] for r, p in self.program.signature.aliases}

    @cached_property
    def donated(self) -> frozenset[int]:
        """
        The parameters that are gone after a call, counting tokens: those whose memory may be any
        result's only if there is one of their type, as XLA has it.
        """
        given = self.text.donated
        taken = set(given.values())
        results = _types(self.results, self.result_memories)
        parameters = _types(self.parameters, self.parameter_memories)
        left = Counter(each for n, each in enumerate(results) if n not in taken)
        found = {parameter for parameter, result in given.items() if result is not None}
        for parameter in sorted(given.keys() - found):
            if left[parameters[parameter]]:
                left[parameters[parameter]] -= 1
                found.add(parameter)
        return frozenset(found)


def _types(shapes: Sequence[Shape], memories: Sequence[int]) -> list[tuple[str, int]]:
    """What two arrays must have in common to lie in the same place."""
    return list(zip(map(str, shapes), memories, strict=True))


def _memory_number(kind: str) -> int:
    return MEMORY_KINDS.index(kind) if kind in MEMORY_KINDS else 0


def _places_of_arrays(shapes: Sequence[Shape]) -> list[int]:
    return [place for place, shape in enumerate(shapes) if shape.element_type != TOKEN]


def _kept(text: ProgramText, options: CompileOptions) -> Runnable | None:
    """
    What runs a program for one device, if it was compiled before; the compiler finds all others
    that are kept, and is loaded only where there is something to compile.
    """
    if options.device_count > 1 or "custom_call" in text.text or text.callbacks:
        return None
    if PASSES in options.named or active_passes():
        return None
    source = Source(text.text, text.name, "stablehlo")
    own = options.compilation(replicas=1, partitions=1)
    cached = cache_entry(source, own, compile_cache())
    return None if cached is None else kept_program(cached, own)


def _compiled(
    text: ProgramText, options: CompileOptions, **others: Any
) -> tuple[Runnable, Divisions | None]:
    """What the compiler makes of a program, see `compile_program`; raises PluginError."""
    with loading():
        from lowerings.driver.pass_manager import PipelineError  # noqa: PLC0415
        from lowerings.pjrt.compiling import compile_program  # noqa: PLC0415
    try:
        return compile_program(text, options, **others)
    except PipelineError as error:
        raise PluginError(ErrorCode.INVALID_ARGUMENT, f"{text.name}: {error}") from error
    except XlaError as error:
        is_memory = isinstance(error, MemoryError)
        code = ErrorCode.RESOURCE_EXHAUSTED if is_memory else ErrorCode.UNIMPLEMENTED
        raise PluginError(code, f"{text.name}: {error}") from error


def _with_tokens(specs: Sequence[ArraySpec], are_arrays: Sequence[bool]) -> tuple[Shape, ...]:
    arrays = iter(specs)
    return tuple(
        _shape(next(arrays)) if is_array else shape_of(TOKEN, ()) for is_array in are_arrays
    )


def _parts(
    shapes: tuple[Shape, ...], divisions: Sequence[ArrayDivision] | None
) -> tuple[Shape, ...]:
    """The shapes of what one device has of arrays."""
    if divisions is None:
        return shapes
    return tuple(
        shape_of(shape.element_type, division.shards.local_sizes(shape.sizes), shape.minor_to_major)
        for shape, division in zip(shapes, divisions, strict=True)
    )


def _laid_out(shapes: tuple[Shape, ...], orders: Sequence[Order]) -> tuple[Shape, ...]:
    """The shapes as callers want them to lie in memory."""
    return tuple(
        shape if order is None else shape_of(shape.element_type, shape.sizes, order)
        for shape, order in zip_longest(shapes, orders)
    )


def _shape(spec: ArraySpec) -> Shape:
    order = None if spec.order is None else tuple(reversed(spec.order.major_to_minor))
    return shape_of(spec.element_type, spec.shape, order)
