"""From what JAX hands to a client to a program of ours: StableHLO as a portable artifact."""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

from lowerings.compilation import Options, compile_source
from lowerings.driver.program import Source
from lowerings.execution.processes import Runnable
from lowerings.execution.signature import ArraySpec
from lowerings.jax.host_callbacks import host_callbacks
from lowerings.pjrt.c_api import ErrorCode
from lowerings.pjrt.functions import PluginError
from lowerings.pjrt.shapes import TOKEN, Shape, shape_of
from xla_dialect.diagnostics import XlaError

_given = threading.local()
"""The functions of Python that the program which this thread compiles calls."""

_TOKEN_TYPE = "!stablehlo.token"
_DEVICES_OF_PARTITION = re.compile(r"Computation\d+\{([\d ,]*)\}")


@contextmanager
def with_host_callbacks(functions: Sequence[Callable[..., Any]]) -> Iterator[None]:
    """Programs that this thread compiles call these functions, by their numbers."""
    before = getattr(_given, "functions", ())
    _given.functions = tuple(functions)
    try:
        yield
    finally:
        _given.functions = before


@dataclass(frozen=True)
class CompileOptions:
    """What of XLA's options says how a program runs."""

    serialized: bytes
    replicas: int
    partitions: int
    devices: tuple[int, ...]
    """The ids of the devices, replica by replica; none where any device will do."""

    @staticmethod
    def parse(serialized: bytes) -> CompileOptions:
        """Reads them as XLA writes them; raises PluginError for options that are not ours."""
        from jaxlib import xla_client  # noqa: PLC0415

        found = cast(Any, xla_client).CompileOptions.ParseFromString(serialized)
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
            devices = tuple(number for replica in zip(*partitions) for number in replica)
        return CompileOptions(serialized, found.num_replicas, found.num_partitions, devices)


@dataclass(frozen=True)
class ProgramText:
    """A program as text, with what its type says that the compiled program does not."""

    name: str
    text: str
    with_locations: Callable[[], str]
    """The text with the places in the JAX source that its operations come from."""
    parameters: tuple[bool, ...]
    """Of each parameter, whether it is an array; tokens are not."""
    results: tuple[bool, ...]

    @staticmethod
    def of_artifact(code: bytes) -> ProgramText:
        """Reads a portable artifact, or MLIR as text or bytecode."""
        from jax._src.interpreters import mlir  # noqa: PLC0415
        from jaxlib.mlir import ir  # noqa: PLC0415
        from jaxlib.mlir.dialects import stablehlo  # noqa: PLC0415

        untyped = cast(Any, stablehlo)
        with cast(Any, mlir).make_ir_context() as context, ir.Location.unknown(context):
            if b"StableHLO" in code[:64]:
                module = untyped.deserialize_portable_artifact(context, code)
            else:
                module = ir.Module.parse(code, context)
            return ProgramText.of_module(module)

    @staticmethod
    def of_module(module: Any) -> ProgramText:
        """The program that jaxlib has as a module."""
        name = module.operation.attributes["sym_name"].value
        main = next(op for op in module.body.operations if _symbol(op) == "main")
        inputs, outputs = main.type.inputs, main.type.results
        located = module.operation.get_asm(enable_debug_info=True)
        return ProgramText(
            name,
            module.operation.get_asm(),
            lambda: located,
            tuple(str(each) != _TOKEN_TYPE for each in inputs),
            tuple(str(each) != _TOKEN_TYPE for each in outputs),
        )


def _symbol(operation: Any) -> str | None:
    attributes = operation.attributes
    return attributes["sym_name"].value if "sym_name" in attributes else None


class CompiledProgram:
    """A program that clients load, and ask about."""

    def __init__(self, text: ProgramText, options: CompileOptions):
        """Compiles it; raises PluginError that names the operation and its place in JAX's source."""
        self.name = text.name
        self.text = text.text
        self.options = options
        functions = getattr(_given, "functions", ())
        self.program = _compile(text, options, functions)
        """What runs it."""
        signature = self.program.signature
        self.parameters = _with_tokens(signature.parameters, text.parameters)
        self.results = _with_tokens(signature.results, text.results)
        self.is_serializable = not functions
        self.kept_for_clients: dict[str, Any] = {}
        """Arrays whose addresses clients have been told."""

    @property
    def shapes(self) -> tuple[tuple[Shape, ...], tuple[Shape, ...]]:
        """Of the parameters and of the results."""
        return self.parameters, self.results

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


def _compile(
    text: ProgramText, options: CompileOptions, functions: Sequence[Callable[..., Any]]
) -> Runnable:
    several = options.replicas * options.partitions > 1
    compile_options = Options(
        donate="aliased",
        custom_calls=host_callbacks(functions) if functions else {},
        replicas=options.replicas if several else None,
        partitions=options.partitions if several else None,
    )
    try:
        return compile_source(Source(text.text, text.name, "stablehlo"), compile_options)
    except XlaError as error:
        raise _explained(text, compile_options, error) from error


def _explained(text: ProgramText, options: Options, error: XlaError) -> PluginError:
    """The error with the place in JAX's source, which only another reading finds out."""
    found = error
    try:
        compile_source(Source(text.with_locations(), text.name, "stablehlo"), options)
    except XlaError as located:
        found = located
    return PluginError(ErrorCode.UNIMPLEMENTED, f"{text.name}: {found}")


def _with_tokens(specs: Sequence[ArraySpec], are_arrays: Sequence[bool]) -> tuple[Shape, ...]:
    arrays = iter(specs)
    return tuple(
        _shape(next(arrays)) if is_array else shape_of(TOKEN, ()) for is_array in are_arrays
    )


def _shape(spec: ArraySpec) -> Shape:
    order = None if spec.order is None else tuple(reversed(spec.order.major_to_minor))
    return shape_of(spec.element_type, spec.shape, order)
