"""From what JAX hands to a client to a program of ours: StableHLO as a portable artifact."""

from __future__ import annotations

import hashlib
import itertools
import logging
import re
import warnings
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import zip_longest
from typing import Any, TypeAlias

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from lowerings.compilation import Options, compile_module, compile_source, located_error
from lowerings.compiler_options import PASSES
from lowerings.driver.context import make_context as make_pass_context
from lowerings.driver.pass_manager import PassManager, parse_passes
from lowerings.driver.program import Source
from lowerings.execution.declared_functions import CustomCalls
from lowerings.execution.ffi.targets import outside_targets
from lowerings.execution.partitioned_runs import PartitionedProgram
from lowerings.execution.processes import Runnable
from lowerings.execution.signature import ArraySpec
from lowerings.partitioning.partition_warning import PartitionWarning
from lowerings.pjrt.c_api import ErrorCode
from lowerings.pjrt.constants import take_constants, with_constants
from lowerings.pjrt.functions import Objects, PluginError
from lowerings.pjrt.inspected_shardings import forget_inspections, tell_shardings
from lowerings.pjrt.interfaces import IR, STABLEHLO, cache_folder, make_context
from lowerings.pjrt.options import CompileOptions
from lowerings.pjrt.shapes import TOKEN, Shape, shape_of
from lowerings.pjrt.shardings import (
    PARAMETERS,
    RESULTS,
    ArrayDivision,
    attributes_of,
    divisions_of,
    propagated,
    say,
)
from lowerings.pjrt.user_passes import active_passes
from xla_dialect.diagnostics import XlaError
from xla_dialect.entry.aliases import ALIASING_OUTPUT, BUFFER_DONOR
from xla_dialect.ops.custom_calls import CALLBACK

_LOG = logging.getLogger(__name__)

LOADED = Objects("loaded executable")
"""Programs on devices, by their handles."""

CALLBACKS = "xla_dialect.host_callbacks"
"""The attribute of a module with the number of its list of functions in `_lists`."""

_lists: dict[int, Sequence[Callable[..., Any]]] = {}
_numbers = itertools.count()

_TOKEN_TYPE = "!stablehlo.token"


@contextmanager
def with_host_callbacks(module: Any, functions: Sequence[Callable[..., Any]]) -> Generator[None]:
    """A module of jaxlib calls these functions, by their numbers, when it is compiled."""
    number = next(_numbers)
    _lists[number] = tuple(functions)
    attributes = module.operation.attributes
    with module.context:
        attributes[CALLBACKS] = IR.IntegerAttr.get(IR.IntegerType.get_signless(64), number)
    try:
        yield
    finally:
        del attributes[CALLBACKS]
        del _lists[number]


Order: TypeAlias = tuple[int, ...] | None
"""The order of dimensions in memory, the fastest first; None for the default."""


@dataclass(frozen=True)
class ProgramText:
    """A program as text, with what its type says that the compiled program does not."""

    name: str
    text: str
    code: bytes
    """As the client gave it: the same, with the places in the JAX source that it comes from."""
    parameters: tuple[bool, ...]
    """Of each parameter, whether it is an array; tokens are not."""
    results: tuple[bool, ...]
    callbacks: Sequence[Callable[..., Any]] = ()
    """The functions of Python that it calls, by their numbers."""
    divisions: tuple[Sequence[ArrayDivision], Sequence[ArrayDivision]] | None = None
    """How several devices share parameters and results; None for a program for one."""
    layouts: tuple[Sequence[Order], Sequence[Order]] = ((), ())
    """How parameters and results lie in memory."""
    donated: frozenset[int] = frozenset()
    """The parameters that callers do not use any more."""
    constants: Mapping[str, bytes] | None = None
    """The large constants that the text names; None once the program is compiled."""

    def all_constants(self) -> Mapping[str, bytes]:
        """The large constants that the text names, read again if they are not kept."""
        if self.constants is not None:
            return self.constants
        with _module_of(self.code) as module:
            return _taken(module, self.code)

    @property
    def complete(self) -> str:
        """The text with all of its constants."""
        return with_constants(self.text, self.all_constants())

    @staticmethod
    def of_artifact(code: bytes, devices: int, *, is_kept: bool = False) -> ProgramText:
        """
        Reads a portable artifact, or MLIR as text or bytecode, for so many devices.

        `is_kept`: it was compiled before, perhaps in a process with functions of its own.
        """
        with _module_of(code) as module:
            return ProgramText._of_module(module, code, devices, is_kept)

    def with_locations(self) -> str:
        """The text with the places in the JAX source that its operations come from."""
        with _module_of(self.code) as module:
            forget_inspections(module)
            return module.operation.get_asm(enable_debug_info=True)

    @staticmethod
    def _of_module(module: Any, code: bytes, devices: int, is_kept: bool) -> ProgramText:
        attributes = module.operation.attributes
        name = attributes["sym_name"].value
        callbacks: Sequence[Callable[..., Any]] = ()
        if CALLBACKS in attributes:
            callbacks = _lists[attributes[CALLBACKS].value]
            del attributes[CALLBACKS]
        constants = _taken(module, code)
        main = _main(module)
        inputs, outputs = main.type.inputs, main.type.results
        divisions = _divided(module, devices, is_kept) if devices > 1 else None
        return ProgramText(
            name,
            module.operation.get_asm(),
            code,
            tuple(str(each) != _TOKEN_TYPE for each in inputs),
            tuple(str(each) != _TOKEN_TYPE for each in outputs),
            callbacks,
            divisions,
            (
                [_order(_layout_mode(each)) for each in main.arg_attrs],
                _result_orders(main),
            ),
            frozenset(
                number
                for number, each in enumerate(main.arg_attrs)
                if ALIASING_OUTPUT in each or BUFFER_DONOR in each
            ),
            constants,
        )


_contexts: list[tuple[Any, int]] = []
"""Contexts that nobody uses now, each with the bytes of the programs it has read."""

_MOST_BYTES = 1 << 18
"""Of the programs of one context: to make one takes 4 ms, but it keeps types and constants."""


def _taken(module: Any, code: bytes) -> Mapping[str, bytes]:
    """The large constants of a module, which gets names for them."""
    # In a context of several programs the names would not be those of the bytes alone.
    return take_constants(module) if len(code) >= _MOST_BYTES else {}


@contextmanager
def _module_of(code: bytes) -> Generator[Any]:
    """A program as jaxlib has it, in a context that nobody else uses meanwhile."""
    try:
        context, read = _contexts.pop()
    except IndexError:
        context, read = make_context(), 0
    with context, IR.Location.unknown(context):
        if b"StableHLO" in code[:64]:
            yield STABLEHLO.deserialize_portable_artifact(context, code)
        else:
            yield IR.Module.parse(code, context)
    if read + len(code) < _MOST_BYTES:
        _contexts.append((context, read + len(code)))


def _layout_mode(attributes: Any) -> str:
    """What the attributes of a parameter or result say of its layout, in JAX's words."""
    found = {each.name: each.attr for each in attributes}
    return found["mhlo.layout_mode"].value if "mhlo.layout_mode" in found else "default"


def _order(mode: str) -> Order:
    if not mode.startswith("{"):
        return None
    return tuple(int(number) for number in re.findall(r"\d+", mode.partition(":")[0]))


def _result_orders(main: Any) -> list[Order]:
    """As it is said; where any will do, what is transposed lies as what it is made of."""
    attributes = attributes_of(main, RESULTS)
    if attributes is None:
        return [None] * len(main.type.results)
    *_, last = main.entry_block.operations
    modes = map(_layout_mode, attributes)
    return [
        _order_of_transposed(value) if mode == "auto" else _order(mode)
        for mode, value in zip(modes, last.operands, strict=True)
    ]


def _order_of_transposed(value: Any) -> Order:
    """The order in which a transposed array is the bytes of a row-major one; else the default."""
    owner = value.owner
    if isinstance(owner, IR.Block) or owner.name != "stablehlo.transpose":
        return None
    permutation = list(owner.attributes["permutation"])
    return tuple(permutation.index(d) for d in reversed(range(len(permutation))))


def _main(module: Any) -> Any:
    return next(op for op in module.body.operations if _symbol(op) == "main")


def _divided(
    module: Any, devices: int, is_kept: bool
) -> tuple[Sequence[ArrayDivision], Sequence[ArrayDivision]]:
    """
    How devices share the parameters, which is as they say, and the results, as Shardy's rules
    propagate it; what is found out of these is written into the module, and told who asks.
    """
    given, found = _main(module), propagated(module)
    if not is_kept:
        tell_shardings(found, devices)
    forget_inspections(module)
    last = _main(found)
    sides: list[Sequence[ArrayDivision]] = []
    for side, types, where, function in (
        (PARAMETERS, given.type.inputs, module, given),
        (RESULTS, given.type.results, found, last),
    ):
        shapes = [_sizes(each) for each in types]
        sides.append(divisions_of(where, attributes_of(function, side), shapes, devices))
        say(module, given, side, function, sides[-1])
    return sides[0], sides[1]


def without_annotations(text: str) -> str:
    """The text of a program without Shardy's annotations, which jaxlib cannot bring to HLO."""
    if "sdy." not in text:
        return text
    with make_context() as context, IR.Location.unknown(context):
        module = IR.Module.parse(text, context)
        annotations: list[Any] = []

        def note(op: Any) -> Any:
            if op.name in ("sdy.sharding_constraint", "sdy.reshard"):
                annotations.append(op)
            return IR.WalkResult.ADVANCE

        module.operation.walk(note)
        for op in annotations:
            op.results[0].replace_all_uses_with(op.operands[0])
            op.erase()
        return module.operation.get_asm()


def _sizes(type_: Any) -> list[int]:
    return list(IR.RankedTensorType(type_).shape) if str(type_) != _TOKEN_TYPE else []


def _symbol(operation: Any) -> str | None:
    attributes = operation.attributes
    return attributes["sym_name"].value if "sym_name" in attributes else None


class CompiledProgram:
    """A program that clients load, and ask about."""

    def __init__(self, text: ProgramText, options: CompileOptions):
        """Compiles it; raises PluginError with the operation and its place in JAX's source."""
        self.name = text.name
        self.options = options
        self.program = _compile(text, options)
        """What runs it."""
        self.text = replace(text, constants=None)
        signature = self.program.signature
        self.whole_parameters = _with_tokens(signature.parameters, text.parameters)
        self.whole_results = _with_tokens(signature.results, text.results)
        self.parameter_divisions, self.result_divisions = text.divisions or (None, None)
        in_memory = _parts(self.whole_parameters, self.parameter_divisions)
        self.parameters = _laid_out(in_memory, text.layouts[0])
        """What each device has of each parameter."""
        of_devices = _parts(self.whole_results, self.result_divisions)
        self.results = _laid_out(of_devices, text.layouts[1])
        self.runs_in_place = (self.parameters, self.results) == (in_memory, of_devices)
        """Whether the arrays of devices lie as the program takes and returns them."""
        self.is_serializable = not text.callbacks
        self.kept_for_clients: dict[str, Any] = {}
        """Arrays whose addresses clients have been told."""

    @cached_property
    def fingerprint(self) -> str:
        """What tells it from other programs."""
        text = hashlib.sha256(self.text.text.encode())
        text.update(self.options.serialized)
        return text.hexdigest()

    @cached_property
    def donors(self) -> dict[int, int]:
        """The results that take the memory of a parameter, each with that, counting tokens."""
        if isinstance(self.program, PartitionedProgram):
            return {}
        parameters = _places_of_arrays(self.parameters)
        results = _places_of_arrays(self.results)
        return {results[r]: parameters[p] for r, p in self.program.signature.aliases}


def _places_of_arrays(shapes: Sequence[Shape]) -> list[int]:
    return [place for place, shape in enumerate(shapes) if shape.element_type != TOKEN]


_TOGETHER = re.compile(
    r"sdy\.manual_computation|stablehlo\.(?:all_|collective_|reduce_scatter|partition_id|replica_id)"
)
"""What devices compute each for itself, or together; of other programs all compute the same."""


def parsed(text: ProgramText, options: CompileOptions) -> ModuleOp:
    """The program at the xla level, behind the user's passes. Raises XlaError."""
    return _with_passes(_source(text), _passes(options))


def _source(text: ProgramText) -> Source:
    source = Source(text.text, text.name, "stablehlo", text.all_constants())
    if "@CustomSPMDPartitioning(" not in text.text:
        return source
    # Its package loads all of `lowerings.jax.jit`.
    from lowerings.jax.custom_partitioning import with_custom_partitioning  # noqa: PLC0415

    return with_custom_partitioning(source)


def _passes(options: CompileOptions) -> tuple[ModulePass, ...]:
    """Those of the user: that are switched on, and of this program."""
    return (*active_passes(), *parse_passes(options.named.get(PASSES, "")))


def _with_passes(source: Source, passes: Sequence[ModulePass]) -> ModuleOp:
    module = source.parse()
    PassManager(make_pass_context()).run(module, passes)
    return module


def _compiled(source: Source, options: Options, passes: Sequence[ModulePass]) -> Runnable:
    """The program ready to run; the compile cache has those without passes of the user's."""
    if not passes:
        return compile_source(source, options, cache_folder())
    return compile_module(_with_passes(source, passes), options)


def _custom_calls(text: ProgramText) -> CustomCalls:
    targets = outside_targets(text.text)
    if not targets:
        return {}
    # Their package loads all of `lowerings.jax.jit`.
    from lowerings.jax.ffi_targets import ffi_handlers  # noqa: PLC0415
    from lowerings.jax.host_callbacks import host_callbacks  # noqa: PLC0415

    return {**ffi_handlers(targets), **host_callbacks(text.callbacks)}


def _compile(text: ProgramText, options: CompileOptions) -> Runnable:
    compile_options = options.compilation(custom_calls=_custom_calls(text))
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
        return _compiled(_source(text), compile_options, passes)
    except XlaError as error:
        raise _explained(text, compile_options, error) from error


def _compile_parts(
    text: ProgramText, options: Options, passes: Sequence[ModulePass]
) -> PartitionedProgram | None:
    """
    The program of one device, as the partitioner makes it; None where nothing is split, or it has
    no program: devices then compute with whole arrays, and the log says why.
    """
    with warnings.catch_warnings():
        # Of those that write programs, nobody can tell the partitioner anything.
        warnings.simplefilter("ignore", PartitionWarning)
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


def _explained(text: ProgramText, options: Options, error: XlaError) -> PluginError:
    """The error with the place in JAX's source, which only another reading finds out."""
    located = Source(text.with_locations(), text.name, "stablehlo")
    found = located_error(error, located, options)
    return PluginError(ErrorCode.UNIMPLEMENTED, f"{text.name}: {found}")


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
