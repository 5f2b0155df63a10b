"""A run of a program: its options, its arguments, and the memory that its arrays take."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypedDict

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, SSAValue

from xla_dialect import types
from xla_dialect.diagnostics import XlaError
from xla_dialect.literals.arrays import TOKEN, Array, MemoryLimitError, Value, as_argument
from xla_dialect.runtime.custom_calls import CustomCallFunction, CustomCallLibrary
from xla_dialect.runtime.limits import physical_memory
from xla_dialect.runtime.observation import Observer


class RunOptions(TypedDict, total=False):
    """The options of a run beside its arguments; each has a default."""

    iteration_limit: int | None
    """How often the body of one loop may run; by default there is no limit."""
    memory_limit: int
    """Bytes of the largest array, and of all that a process holds at the same time; by default
    `MEMORY_LIMIT` and all that this machine has."""
    time_limit: float | None
    """Seconds that a process may take; by default there is no limit."""
    scatter_oob: str
    """What a scatter skips where a window is partly outside: the whole `window`, as XLA does, or
    the `element`, as the specification of StableHLO says."""
    seed: int
    """Seeds the random numbers of `rng`."""
    custom_calls: Mapping[str, CustomCallFunction]
    """The functions that custom calls may call, by target."""
    libraries: Sequence[CustomCallLibrary]
    """What else knows functions that custom calls may call."""
    observer: Observer
    """Where printed and probed values go."""


def entry_function(module: ModuleOp, name: str) -> FuncOp:
    """The function of a module with this name; raises XlaError that lists what there is."""
    functions = {op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp)}
    if name not in functions:
        known = ", ".join(f"@{other}" for other in functions) or "none"
        raise XlaError(f"there is no function @{name}; the module has {known}")
    return functions[name]


def checked_arguments(function: FuncOp, arguments: Sequence[object]) -> tuple[Value, ...]:
    """
    The arguments as the values of the function's parameters.

    Raises XlaError, naming the parameter, where number, element type or sizes differ.
    """
    parameters = function.function_type.inputs.data
    name = function.sym_name.data
    if len(arguments) != len(parameters):
        raise XlaError(
            f"@{name} takes {len(parameters)} arguments {types.spell_all(parameters)}, "
            f"found {len(arguments)}"
        )
    names = [_parameter_name(argument) for argument in function.body.blocks[0].args]
    return tuple(
        as_argument(argument, type_, f"@{name}: parameter {i}{hint}")
        for i, (argument, type_, hint) in enumerate(zip(arguments, parameters, names, strict=True))
    )


def nest_arguments(
    module: ModuleOp, arguments: Sequence[object], entry: str = "main"
) -> tuple[object, ...]:
    """
    Arguments for `run` from one array per leaf: those of a tuple parameter become a tuple, and a
    parameter that is a token gets one.

    Raises XlaError if there are not as many as the parameters have leaves, or no such function.
    """
    parameters = entry_function(module, entry).function_type.inputs.data
    expected = sum(not isinstance(leaf, types.TokenType) for leaf in types.flatten(parameters))
    if len(arguments) != expected:
        raise XlaError(
            f"@{entry} takes {expected} arguments {types.spell_all(parameters)}, "
            f"found {len(arguments)}"
        )
    rest = iter(arguments)
    return tuple(_nested(type_, rest) for type_ in parameters)


def _nested(type_: Attribute, leaves: Iterator[object]) -> object:
    elements = types.tuple_elements(type_)
    if isinstance(type_, types.TokenType):
        return TOKEN
    if elements is None:
        return next(leaves)
    return tuple(_nested(element, leaves) for element in elements)


def _parameter_name(value: SSAValue) -> str:
    return f" (%{value.name_hint})" if value.name_hint else ""


COUNTED_BYTES = 1 << 16
"""Smaller arrays are not counted, as their sum is negligible."""


@dataclass
class MemoryMeter:
    """The arrays that a run has made and still holds; those that share memory count once."""

    limit: int = field(default_factory=physical_memory)
    """Bytes that they may take."""
    used: int = 0
    """Bytes that they take."""
    _arrays: dict[int, weakref.ref[Array]] = field(default_factory=dict[int, "weakref.ref[Array]"])

    def require(self, size: int) -> None:
        """Raises MemoryLimitError where there is no room for so many bytes more."""
        if self.used + size > self.limit:
            raise MemoryLimitError(
                f"{size} bytes beside the {self.used} in use, the limit is {self.limit} bytes"
            )

    def keep(self, value: Value | list[Value]) -> None:
        """Counts an array, or those of a tuple or list, until nobody holds them."""
        if isinstance(value, tuple | list):
            for element in value:
                self.keep(element)
            return
        if not isinstance(value, np.ndarray):
            return
        root = value
        while isinstance(root.base, np.ndarray):
            root = root.base
        size, key = root.nbytes, id(root)
        if size >= COUNTED_BYTES and key not in self._arrays:
            self.used += size
            self._arrays[key] = weakref.ref(root, partial(self._forget, key, size))

    def _forget(self, key: int, size: int, _: Any) -> None:
        del self._arrays[key]
        self.used -= size
