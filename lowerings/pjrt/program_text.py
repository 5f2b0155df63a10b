"""
What JAX hands to a client: StableHLO as a portable artifact, and options for its compilation.

Large constants are taken from jaxlib as bytes: as text they are three times as long.
"""

from __future__ import annotations

import hashlib
import io
import itertools
import re
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from lowerings.backends import Options, compiler_options, fields_of_options
from lowerings.pjrt.c_api import ErrorCode
from lowerings.pjrt.functions import PluginError
from lowerings.pjrt.interfaces import (
    INSPECTION,
    IR,
    PARAMETERS,
    RESULTS,
    STABLEHLO,
    TOKEN_TYPE,
    XLA_CLIENT,
    attributes_of,
    main_function,
    make_context,
    operations,
)
from lowerings.pjrt.written_functions import write_functions
from xla_dialect.aliasing_attributes import ALIASING_OUTPUT, BUFFER_DONOR
from xla_dialect.diagnostics import XlaError

LEAST_BYTES = 1 << 16
"""Of a constant that is worth a name of its own."""


def take_constants(module: Any) -> dict[str, bytes]:
    """
    Writes names in the place of large constants of a module of jaxlib; returns what is under them.

    A name is the hash of its bytes, so that the text tells the program. What jaxlib has no array
    for stays: complex numbers, and floats of 8 or 16 bits but for f16; so do those of fewer bits,
    which MLIR packs in bytes.
    """
    found: dict[str, bytes] = {}
    named: dict[tuple[str, str], Any] = {}
    for op in operations(module.operation):
        elements = _elements(op) if op.name == "stablehlo.constant" else None
        if elements is not None and elements.nbytes >= LEAST_BYTES:
            data = elements.tobytes()
            key = hashlib.sha256(data).hexdigest(), str(op.results[0].type)
            if key not in named:
                named[key] = IR.Attribute.parse(f"dense_resource<constant_{key[0]}> : {key[1]}")
                name = str(named[key]).partition("<")[2].partition(">")[0]
                found[name] = data
            op.attributes["value"] = named[key]
    return found


def _elements(op: Any) -> Any:
    """
    The elements of a constant, without a copy; None where jaxlib has no array, or one value, and
    where they have a name already.
    """
    try:
        value = op.attributes["value"]
        if not isinstance(value, IR.DenseElementsAttr):
            return None
        elements = None if value.is_splat else np.asarray(value)
    except TypeError:
        return None
    return None if elements is None or elements.dtype == np.bool_ else elements


def with_constants(text: str, constants: Mapping[str, bytes]) -> str:
    """The text with the constants in the place of their names."""
    for name, data in constants.items():
        text = text.replace(f"dense_resource<{name}>", f'dense<"0x{data.hex()}">')
    return text


DEFAULT_MEMORY = "device"
"""The kind of memory in which arrays are that say nothing of it."""
_MEMORY_KIND = "mhlo.memory_kind"

_HANDED_OVER = re.compile(rb"xla_dialect\.handed_over\.(\d+)")
"""What stands in the place of a program for jaxlib's client, with its number in `_programs`."""
_programs: dict[int, Callable[[], ProgramText]] = {}
_numbers = itertools.count()


@contextmanager
def handed_over(module: Any, functions: Sequence[Callable[..., Any]]) -> Generator[Any]:
    """
    Inside, there is a module that stands for one of jaxlib and the functions that it calls.

    Jaxlib's client hands programs over without these functions, and with formulas in the place of
    some operations; it looks at no more of them than what is called takes and returns.
    """
    number, main = next(_numbers), main_function(module)
    _programs[number] = partial(ProgramText.of, bytecode(module), functions)
    with module.context, module.operation.location:
        stand_in = IR.Module.create()
        stand_in.operation.attributes["sym_name"] = module.operation.attributes["sym_name"]
        stand_in.operation.attributes["xla_dialect.program"] = IR.StringAttr.get(
            f"xla_dialect.handed_over.{number}"
        )
        attributes = {
            "sym_name": IR.StringAttr.get("main"),
            "sym_visibility": IR.StringAttr.get("private"),
            "function_type": IR.TypeAttr.get(main.type),
        }
        for side in (PARAMETERS, RESULTS):
            rows = attributes_of(main, side)
            if rows is not None:
                attributes[side] = IR.ArrayAttr.get([_without_symbols(row) for row in rows])
        IR.Operation.create(
            "func.func", attributes=attributes, regions=1, ip=IR.InsertionPoint(stand_in.body)
        )
    try:
        yield stand_in
    finally:
        _programs.pop(number, None)


def _without_symbols(row: Any) -> Any:
    """What is said of a parameter or result, but of meshes, which a stand-in does not have."""
    return IR.DictAttr.get({each.name: each.attr for each in row if each.name != "sdy.sharding"})


Order: TypeAlias = tuple[int, ...] | None
"""The order of dimensions in memory, the fastest first; None for the default."""


@dataclass(frozen=True)
class ProgramText:
    """A program as text, with what its type says that the compiled program does not."""

    name: str
    text: str
    code: bytes
    """The same for jaxlib, with the places in the JAX source that it comes from."""
    parameters: tuple[bool, ...]
    """Of each parameter, whether it is an array; tokens are not."""
    results: tuple[bool, ...]
    callbacks: Sequence[Callable[..., Any]] = ()
    """The functions of Python that it calls, by their numbers."""
    listeners: Sequence[bytes] = ()
    """Who asks how devices share arrays, by the numbers in custom calls."""
    layouts: tuple[Sequence[Order], Sequence[Order]] = ((), ())
    """How parameters and results lie in memory."""
    memory_kinds: tuple[Sequence[str], Sequence[str]] = ((), ())
    """In which memories parameters and results are."""
    donated: Mapping[int, int | None] = field(default_factory=dict[int, int | None])
    """
    The parameters that callers do not use any more, each with the result that is to have its
    memory; None for any.
    """
    constants: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    """The large constants that the text and the code name."""

    def located(self) -> ProgramText:
        """The same, with the places in JAX's source that its operations come from."""
        with module_of(self.code, self.constants) as module:
            write_functions(module)
            _take_listeners(module)
            text = module.operation.get_asm(enable_debug_info=True)
        return replace(self, text=text, listeners=())

    @property
    def complete(self) -> str:
        """The text with all of its constants."""
        return with_constants(self.text, self.constants)

    @staticmethod
    def of_client(code: bytes) -> ProgramText:
        """A program as a client has it, or that which it stands for."""
        number = _HANDED_OVER.search(code, 0, _MOST_BYTES)
        return ProgramText.of(code) if number is None else _programs.pop(int(number[1]))()

    @staticmethod
    def of(
        code: bytes,
        callbacks: Sequence[Callable[..., Any]] = (),
        constants: Mapping[str, bytes] | None = None,
    ) -> ProgramText:
        """
        A program as a portable artifact or MLIR, the functions that it calls, and the constants
        that it only names.
        """
        named = constants or {}
        with module_of(code, named) as module:
            return ProgramText._of_module(module, code, callbacks, named)

    @staticmethod
    def _of_module(
        module: Any,
        code: bytes,
        callbacks: Sequence[Callable[..., Any]],
        named: Mapping[str, bytes],
    ) -> ProgramText:
        # The client's code may be as large as the constants in it, which are kept once.
        taken = take_constants(module) if _is_large(code, named) else {}
        code = bytecode(module) if taken else code
        write_functions(module)
        listeners = _take_listeners(module)
        main = main_function(module)
        inputs, outputs = main.type.inputs, main.type.results
        return ProgramText(
            module.operation.attributes["sym_name"].value,
            module.operation.get_asm(),
            code,
            tuple(str(each) != TOKEN_TYPE for each in inputs),
            tuple(str(each) != TOKEN_TYPE for each in outputs),
            callbacks,
            listeners,
            (
                [_order(_layout_mode(each)) for each in main.arg_attrs],
                _result_orders(main),
            ),
            (
                _memory_kinds(main, PARAMETERS, len(inputs)),
                _memory_kinds(main, RESULTS, len(outputs)),
            ),
            {
                number: each[ALIASING_OUTPUT].value if ALIASING_OUTPUT in each else None
                for number, each in enumerate(main.arg_attrs)
                if ALIASING_OUTPUT in each or BUFFER_DONOR in each
            },
            {**named, **taken},
        )


_contexts: list[tuple[Any, int]] = []
"""Contexts that nobody uses now, each with the bytes of the programs it has read."""

_MOST_BYTES = 1 << 18
"""Of the programs of one context: to make one takes 4 ms, but it keeps types and constants."""


def bytecode(module: Any) -> bytes:
    """A module of jaxlib as it is."""
    file = io.BytesIO()
    module.operation.write_bytecode(file)
    return file.getvalue()


def _is_large(code: bytes, constants: Mapping[str, bytes]) -> bool:
    """
    Whether a program gets a context of its own: those of others keep what they have read, and know
    the constant of a name once only.
    """
    return bool(constants) or len(code) >= _MOST_BYTES


@contextmanager
def module_of(code: bytes, constants: Mapping[str, bytes]) -> Generator[Any]:
    """A program as jaxlib has it, in a context that nobody else uses meanwhile."""
    is_large = _is_large(code, constants)
    try:
        context, bytes_read = (make_context(), 0) if is_large else _contexts.pop()
    except IndexError:
        context, bytes_read = make_context(), 0
    with context, IR.Location.unknown(context):
        yield _parsed(code, context)
    if not is_large and bytes_read + len(code) < _MOST_BYTES:
        _contexts.append((context, bytes_read + len(code)))


def _take_listeners(module: Any) -> list[bytes]:
    """
    Writes numbers in the place of the addresses of functions that ask how devices share arrays;
    returns what is under them.
    """
    found: list[bytes] = []
    for op in operations(module.operation):
        own = op.attributes
        if op.name == "stablehlo.custom_call" and own["call_target_name"].value == INSPECTION:
            is_manual = any(each.name == "sdy.manual_computation" for each in _around(op))
            word = f"{len(found)} manual" if is_manual else str(len(found))
            found.append(own["backend_config"].value_bytes)
            own["backend_config"] = IR.StringAttr.get(word)
    return found


def _around(op: Any) -> Iterator[Any]:
    while (op := op.parent) is not None:
        yield op


def _parsed(code: bytes, context: Any) -> Any:
    if b"StableHLO" in code[:64]:
        return STABLEHLO.deserialize_portable_artifact(context, code)
    return IR.Module.parse(code, context)


def _layout_mode(attributes: Any) -> str:
    """What the attributes of a parameter or result say of its layout, in JAX's words."""
    found = {each.name: each.attr for each in attributes}
    return found["mhlo.layout_mode"].value if "mhlo.layout_mode" in found else "default"


def _memory_kinds(main: Any, side: str, count: int) -> list[str]:
    """What attributes say of the memory of each parameter or result; the default else."""
    attributes = attributes_of(main, side)
    if attributes is None:
        return [DEFAULT_MEMORY] * count
    found = ({each.name: each.attr for each in row}.get(_MEMORY_KIND) for row in attributes)
    return [DEFAULT_MEMORY if each is None else each.value for each in found]


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


_DEVICES_OF_PARTITION = re.compile(r"Computation\d+\{([\d ,]*)\}")


@dataclass(frozen=True)
class CompileOptions:
    """What of XLA's options says how a program runs."""

    serialized: bytes
    replicas: int
    partitions: int
    devices: tuple[int, ...]
    """The ids of the devices, replica by replica; none where any device will do."""
    named: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """`COMPILER_OPTIONS` that are given."""

    @property
    def device_count(self) -> int:
        """How many devices run it."""
        return self.replicas * self.partitions

    def compilation(self, **others: Any) -> Options:
        """The options of our compiler, with others."""
        fields: dict[str, Any] = {"donate": "aliased", **fields_of_options(self.named), **others}
        return Options(**fields)

    @staticmethod
    def parse(serialized: bytes) -> CompileOptions:
        """Reads them as XLA writes them; raises PluginError for options that nobody knows."""
        found = XLA_CLIENT.CompileOptions.ParseFromString(serialized)
        try:
            given: dict[str, Any] = dict(found.env_option_overrides or ())
            named = compiler_options(given)
        except XlaError as error:
            raise PluginError(ErrorCode.INVALID_ARGUMENT, str(error)) from error
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
        return CompileOptions(serialized, found.num_replicas, found.num_partitions, devices, named)
