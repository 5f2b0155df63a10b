"""From what JAX hands to a client to a program of ours: StableHLO as a portable artifact."""

from __future__ import annotations

import hashlib
import itertools
import re
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from typing import Any, TypeAlias

from lowerings.compilation import Options, compile_source
from lowerings.driver.program import Source
from lowerings.execution.processes import Runnable
from lowerings.execution.signature import ArraySpec
from lowerings.jax.host_callbacks import host_callbacks
from lowerings.pjrt.c_api import ErrorCode
from lowerings.pjrt.functions import PluginError
from lowerings.pjrt.interfaces import IR, STABLEHLO, XLA_CLIENT, make_context
from lowerings.pjrt.shapes import TOKEN, Shape, shape_of
from lowerings.pjrt.shardings import propagated, shards_of
from xla_dialect.diagnostics import LocatedError, XlaError
from xla_dialect.sharding.shards import Shards

CALLBACKS = "xla_dialect.host_callbacks"
"""The attribute of a module with the number of its list of functions in `_lists`."""

_lists: dict[int, Sequence[Callable[..., Any]]] = {}
_numbers = itertools.count()

_TOKEN_TYPE = "!stablehlo.token"
_DEVICES_OF_PARTITION = re.compile(r"Computation\d+\{([\d ,]*)\}")


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


@dataclass(frozen=True)
class CompileOptions:
    """What of XLA's options says how a program runs."""

    serialized: bytes
    replicas: int
    partitions: int
    devices: tuple[int, ...]
    """The ids of the devices, replica by replica; none where any device will do."""

    @property
    def device_count(self) -> int:
        """How many devices run it."""
        return self.replicas * self.partitions

    @staticmethod
    def parse(serialized: bytes) -> CompileOptions:
        """Reads them as XLA writes them; raises PluginError for options that are not ours."""
        found = XLA_CLIENT.CompileOptions.ParseFromString(serialized)
        unknown = [name for name, _ in found.env_option_overrides or ()]
        if unknown:
            raise PluginError(
                ErrorCode.INVALID_ARGUMENT, f"there is no compiler option '{unknown[0]}'"
            )
        assignment = found.device_assignment
        devices: tuple[int, ...] = ()
        if assignment is not None and not found.compile_portable_executable:
            partitions = [
                [int(number) for number in re.findall(r"\d+", each)]
                for each in _DEVICES_OF_PARTITION.findall(str(assignment))
            ]
            devices = tuple(
                number for replica in zip(*partitions, strict=True) for number in replica
            )
        return CompileOptions(serialized, found.num_replicas, found.num_partitions, devices)


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
    shardings: tuple[Sequence[Shards], Sequence[Shards]] | None = None
    """How several devices share parameters and results; None for a program for one."""
    layouts: tuple[Sequence[Order], Sequence[Order]] = ((), ())
    """How parameters and results lie in memory."""

    @staticmethod
    def of_artifact(code: bytes, devices: int) -> ProgramText:
        """Reads a portable artifact, or MLIR as text or bytecode, for so many devices."""
        with _module_of(code) as module:
            return ProgramText._of_module(module, code, devices)

    def with_locations(self) -> str:
        """The text with the places in the JAX source that its operations come from."""
        with _module_of(self.code) as module:
            return module.operation.get_asm(enable_debug_info=True)

    @staticmethod
    def _of_module(module: Any, code: bytes, devices: int) -> ProgramText:
        attributes = module.operation.attributes
        name = attributes["sym_name"].value
        callbacks: Sequence[Callable[..., Any]] = ()
        if CALLBACKS in attributes:
            callbacks = _lists[attributes[CALLBACKS].value]
            del attributes[CALLBACKS]
        main = _main(module)
        inputs, outputs = main.type.inputs, main.type.results
        shardings = _shardings(module, devices) if devices > 1 else None
        return ProgramText(
            name,
            module.operation.get_asm(),
            code,
            tuple(str(each) != _TOKEN_TYPE for each in inputs),
            tuple(str(each) != _TOKEN_TYPE for each in outputs),
            callbacks,
            shardings,
            (
                [_order(each) for each in main.arg_attrs],
                [_order(each) for each in _result_attributes(main) or [None] * len(outputs)],
            ),
        )


@contextmanager
def _module_of(code: bytes) -> Generator[Any]:
    """A program as jaxlib has it, in a context of its own."""
    with make_context() as context, IR.Location.unknown(context):
        if b"StableHLO" in code[:64]:
            yield STABLEHLO.deserialize_portable_artifact(context, code)
        else:
            yield IR.Module.parse(code, context)


def _order(attributes: Any) -> Order:
    """What the attributes of a parameter or result say of its layout."""
    found = {} if attributes is None else {each.name: each.attr for each in attributes}
    mode = found.get("mhlo.layout_mode")
    if mode is None or not mode.value.startswith("{"):
        return None
    return tuple(int(number) for number in re.findall(r"\d+", mode.value.partition(":")[0]))


def _main(module: Any) -> Any:
    return next(op for op in module.body.operations if _symbol(op) == "main")


def _shardings(module: Any, devices: int) -> tuple[Sequence[Shards], Sequence[Shards]]:
    """Those of the parameters, which are as they are said to be, and of the results."""
    given, found = _main(module), propagated(module)
    parameters, results = given.type.inputs, given.type.results
    return (
        shards_of(module, given.arg_attrs, [_sizes(each) for each in parameters], devices),
        shards_of(
            found, _result_attributes(_main(found)), [_sizes(each) for each in results], devices
        ),
    )


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


def _result_attributes(function: Any) -> Any:
    return function.attributes["res_attrs"] if "res_attrs" in function.attributes else None


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
        self.text = text.text
        self.code = text.code
        self.options = options
        self.program = _compile(text, options)
        """What runs it."""
        signature = self.program.signature
        self.whole_parameters = _with_tokens(signature.parameters, text.parameters)
        self.whole_results = _with_tokens(signature.results, text.results)
        self.parameter_shardings, self.result_shardings = text.shardings or (None, None)
        in_memory = _parts(self.whole_parameters, self.parameter_shardings)
        self.parameters = _laid_out(in_memory, text.layouts[0])
        """What each device has of each parameter."""
        of_devices = _parts(self.whole_results, self.result_shardings)
        self.results = _laid_out(of_devices, text.layouts[1])
        self.runs_in_place = (self.parameters, self.results) == (in_memory, of_devices)
        """Whether the arrays of devices lie as the program takes and returns them."""
        self.is_serializable = not text.callbacks
        self.kept_for_clients: dict[str, Any] = {}
        """Arrays whose addresses clients have been told."""

    @cached_property
    def fingerprint(self) -> str:
        """What tells it from other programs."""
        text = hashlib.sha256(self.text.encode())
        text.update(self.options.serialized)
        return text.hexdigest()

    @cached_property
    def donors(self) -> dict[int, int]:
        """The results that take the memory of a parameter, each with that, counting tokens."""
        parameters = _places_of_arrays(self.parameters)
        results = _places_of_arrays(self.results)
        return {results[r]: parameters[p] for r, p in self.program.signature.aliases}


def _places_of_arrays(shapes: Sequence[Shape]) -> list[int]:
    return [place for place, shape in enumerate(shapes) if shape.element_type != TOKEN]


_TOGETHER = re.compile(
    r"sdy\.manual_computation|stablehlo\.(?:all_|collective_|reduce_scatter|partition_id|replica_id)"
)
"""What devices compute each for itself, or together; of other programs all compute the same."""


def _compile(text: ProgramText, options: CompileOptions) -> Runnable:
    together = options.device_count > 1 and _TOGETHER.search(text.text)
    compile_options = Options(
        donate="aliased",
        custom_calls=host_callbacks(text.callbacks) if text.callbacks else {},
        replicas=options.replicas if together else 1,
        partitions=options.partitions if together else 1,
    )
    try:
        return compile_source(Source(text.text, text.name, "stablehlo"), compile_options)
    except XlaError as error:
        raise _explained(text, compile_options, error) from error


def _explained(text: ProgramText, options: Options, error: XlaError) -> PluginError:
    """The error with the place in JAX's source, which only another reading finds out."""
    found: XlaError = error
    try:
        compile_source(Source(text.with_locations(), text.name, "stablehlo"), options)
    except LocatedError as located:
        if isinstance(error, LocatedError) and located.message == error.message:
            found = located
    except XlaError:
        pass
    return PluginError(ErrorCode.UNIMPLEMENTED, f"{text.name}: {found}")


def _with_tokens(specs: Sequence[ArraySpec], are_arrays: Sequence[bool]) -> tuple[Shape, ...]:
    arrays = iter(specs)
    return tuple(
        _shape(next(arrays)) if is_array else shape_of(TOKEN, ()) for is_array in are_arrays
    )


def _parts(shapes: tuple[Shape, ...], shardings: Sequence[Shards] | None) -> tuple[Shape, ...]:
    """The shapes of what one device has of arrays."""
    if shardings is None:
        return shapes
    return tuple(
        shape_of(shape.element_type, sharding.local_sizes(shape.sizes), shape.minor_to_major)
        for shape, sharding in zip(shapes, shardings, strict=True)
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
