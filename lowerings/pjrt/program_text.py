"""
What JAX hands to a client: StableHLO as a portable artifact, and options for its compilation.

Large constants are taken from jaxlib as bytes: as text they are three times as long.
"""

from __future__ import annotations

import hashlib
import io
import itertools
import re
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from lowerings.backends import Options, compiler_options, fields_of_options
from lowerings.pjrt.c_api import ErrorCode
from lowerings.pjrt.functions import PluginError
from lowerings.pjrt.interfaces import (
    IR,
    PARAMETERS,
    RESULTS,
    STABLEHLO,
    TOKEN_TYPE,
    XLA_CLIENT,
    attributes_of,
    main_function,
    make_context,
)
from xla_dialect.aliasing_attributes import ALIASING_OUTPUT, BUFFER_DONOR
from xla_dialect.diagnostics import XlaError

if TYPE_CHECKING:
    from lowerings.pjrt.shardings import ArrayDivision


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

    def take(op: Any) -> Any:
        elements = _elements(op) if op.name == "stablehlo.constant" else None
        if elements is not None and elements.nbytes >= LEAST_BYTES:
            data = elements.tobytes()
            key = hashlib.sha256(data).hexdigest(), str(op.results[0].type)
            if key not in named:
                named[key] = IR.Attribute.parse(f"dense_resource<constant_{key[0]}> : {key[1]}")
                name = str(named[key]).partition("<")[2].partition(">")[0]
                found[name] = data
            op.attributes["value"] = named[key]
        return IR.WalkResult.ADVANCE

    module.operation.walk(take)
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


CALLBACKS = "xla_dialect.host_callbacks"
"""The attribute of a module with the number of its list of functions in `_lists`."""

DEFAULT_MEMORY = "device"
"""The kind of memory in which arrays are that say nothing of it."""
_MEMORY_KIND = "mhlo.memory_kind"

_lists: dict[int, Sequence[Callable[..., Any]]] = {}
_numbers = itertools.count()


@contextmanager
def with_host_callbacks(module: Any, functions: Sequence[Callable[..., Any]]) -> Generator[None]:
    """A module of jaxlib calls these functions, by their numbers, when it is compiled."""
    if not functions:
        yield
        return
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
class SerializedModule:
    """A portable artifact, or MLIR as text or bytecode, which is copied where it is read."""

    size: int
    """Its bytes."""
    read: Callable[[], bytes]
    names_constants: bool = False
    """Whether it names large constants, which a context knows once only."""

    @property
    def is_large(self) -> bool:
        """Whether it gets a context of its own: those of others keep what they have read."""
        return self.names_constants or self.size >= _MOST_BYTES


@dataclass(frozen=True)
class ProgramText:
    """A program as text, with what its type says that the compiled program does not."""

    name: str
    text: str
    code: SerializedModule
    """The same for jaxlib, with the places in the JAX source that it comes from."""
    parameters: tuple[bool, ...]
    """Of each parameter, whether it is an array; tokens are not."""
    results: tuple[bool, ...]
    callbacks: Sequence[Callable[..., Any]] = ()
    """The functions of Python that it calls, by their numbers."""
    divisions: tuple[Sequence[ArrayDivision], Sequence[ArrayDivision]] | None = None
    """How several devices share parameters and results; None for a program for one."""
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

    def located(self, devices: int) -> ProgramText:
        """The same, with the places in JAX's source that its operations come from."""
        with module_of(self.code) as module:
            attributes = module.operation.attributes
            if CALLBACKS in attributes:
                del attributes[CALLBACKS]
            if devices > 1:
                _shared(module, devices, is_kept=True)
            text = module.operation.get_asm(enable_debug_info=True)
            return replace(self, text=text)

    @property
    def complete(self) -> str:
        """The text with all of its constants."""
        return with_constants(self.text, self.constants)

    @staticmethod
    def of_artifact(
        code: SerializedModule,
        devices: int,
        constants: Mapping[str, bytes] | None = None,
        *,
        is_kept: bool = False,
    ) -> ProgramText:
        """
        Reads a program for so many devices; `constants` are those that its code names.

        `is_kept`: it was compiled before, perhaps in a process with functions of its own.
        """
        with module_of(code) as module:
            return ProgramText._of_module(module, code, devices, constants or {}, is_kept)

    @staticmethod
    def of_lowered(
        module: Any, devices: int, callbacks: Sequence[Callable[..., Any]]
    ) -> ProgramText:
        """Of a module of jaxlib, which stays as it is, and the functions that it calls."""
        code = _bytecode(module)
        text = ProgramText.of_artifact(
            SerializedModule(len(code), lambda: code), devices, is_kept=True
        )
        return replace(text, callbacks=callbacks)

    @staticmethod
    def _of_module(
        module: Any, code: SerializedModule, devices: int, named: Mapping[str, bytes], is_kept: bool
    ) -> ProgramText:
        attributes = module.operation.attributes
        name = attributes["sym_name"].value
        callbacks: Sequence[Callable[..., Any]] = ()
        if CALLBACKS in attributes:
            callbacks = _lists[attributes[CALLBACKS].value]
            del attributes[CALLBACKS]
        # The client's code may be as large as the constants in it, which are kept once.
        taken = take_constants(module) if code.is_large else {}
        kept = _bytecode(module) if taken else code.read()
        main = main_function(module)
        inputs, outputs = main.type.inputs, main.type.results
        divisions = _shared(module, devices, is_kept) if devices > 1 else None
        return ProgramText(
            name,
            module.operation.get_asm(),
            SerializedModule(len(kept), lambda: kept, names_constants=bool(named or taken)),
            tuple(str(each) != TOKEN_TYPE for each in inputs),
            tuple(str(each) != TOKEN_TYPE for each in outputs),
            callbacks,
            divisions,
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


def _bytecode(module: Any) -> bytes:
    file = io.BytesIO()
    module.operation.write_bytecode(file)
    return file.getvalue()


@contextmanager
def module_of(code: SerializedModule) -> Generator[Any]:
    """A program as jaxlib has it, in a context that nobody else uses meanwhile."""
    context, bytes_read = make_context() if code.is_large else None, 0
    if context is None:
        try:
            context, bytes_read = _contexts.pop()
        except IndexError:
            context = make_context()
    with context, IR.Location.unknown(context):
        yield _parsed(code.read(), context)
    if not code.is_large and bytes_read + code.size < _MOST_BYTES:
        _contexts.append((context, bytes_read + code.size))


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


def _shared(module: Any, devices: int, is_kept: bool) -> Any:
    """How devices share parameters and results: with Shardy's attributes, loaded for several."""
    from lowerings.pjrt.shardings import divided  # noqa: PLC0415

    return divided(module, devices, is_kept)


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
