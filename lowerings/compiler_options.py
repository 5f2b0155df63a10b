"""Options of the compiler by name, as `compiler_options` of `jax.jit` gives them."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import lru_cache
from typing import Any

from lowerings.backends import Options, Where, options_at
from xla_dialect.diagnostics import XlaError

PASSES = "xdsl_passes"
"""The option with passes of the user's, as `xla-opt -p` takes them, that are run first."""

DUMP = "xla_dump_to"
"""The option with a folder for the program at all its levels."""

BY_OPERATION = tuple(f"xdsl_{name}" for name in options_at(Where.FILE))
"""Options with what is said of single operations of the program."""

_WORDS = {"true": True, "false": False}


def _truth(value: object) -> bool:
    found = _WORDS.get(str(value).lower())
    if found is None:
        raise ValueError("bool")
    return found


def _number(value: object) -> int:
    try:
        return int(str(value))
    except ValueError:
        raise ValueError("int") from None


def _count(value: object) -> int:
    number = _number(value)
    if number < 1:
        raise ValueError("positive int")
    return number


_READERS: Mapping[str, Callable[[object], Any]] = {"int": _count, "bool": _truth, "str": str}
"""By the first type that a field of `Options` has."""

_FIELDS = {
    f"xdsl_{each.name}": each for each in fields(Options) if each.name in options_at(Where.DEVICE)
}
"""Options of the compiler, by the names that the device has for them."""

COMPILER_OPTIONS: Mapping[str, Callable[[object], Any]] = {
    PASSES: str,
    **{name: _READERS[str(each.type).split(" ")[0]] for name, each in _FIELDS.items()},
    # A folder that gets the program at all levels, HLO as text, and as a proto if that is said.
    DUMP: str,
    "xla_dump_hlo_as_text": _truth,
    "xla_dump_hlo_as_proto": _truth,
    # Nothing depends on these: the program is always kept, there is one level, and fast math is
    # never made use of.
    "xla_embed_ir_in_executable": _truth,
    "xla_backend_optimization_level": _number,
    "xla_llvm_disable_expensive_passes": _truth,
    "xla_cpu_enable_fast_math": _truth,
    "xla_cpu_enable_fast_min_max": _truth,
}
"""What reads each of our own, and those of XLA whose values we read. ValueError: what it takes."""


_NOTHING = b"func.func public @main() { return }"
"""A program."""


@lru_cache(maxsize=None, typed=True)
def _refusal_of_xla(option: str, value: object) -> str | None:
    """Why XLA's client for the CPU refuses an option, in its words; None if it takes it."""
    xla: Any = importlib.import_module("jaxlib.xla_client")
    client, options = xla.make_cpu_client(), xla.CompileOptions()
    options.env_option_overrides = [(option, value)]
    devices = xla.DeviceList(tuple(client.local_devices()[:1]))
    try:
        client.compile_and_load(_NOTHING, devices, options)
    except xla.XlaRuntimeError as error:
        return str(error).removeprefix("INVALID_ARGUMENT: ")
    return None


def compiler_options(given: Mapping[str, object]) -> dict[str, Any]:
    """
    The values of `COMPILER_OPTIONS` by name; others that XLA takes mean nothing here.

    Raises XlaError for an option that is unknown or misread.
    """
    found: dict[str, Any] = {}
    for name, value in given.items():
        option = COMPILER_OPTIONS.get(name)
        if option is None:
            refusal = _refusal_of_xla(name, value)
            if refusal is not None:
                raise XlaError(f"{refusal} (ours are: {', '.join(COMPILER_OPTIONS)})")
            continue
        try:
            found[name] = option(value)
        except ValueError as error:
            raise XlaError(
                f"While setting option {name}, '{value}' is not a valid {error} value."
            ) from error
    return found


def fields_of_options(named: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of `Options` that values of options are."""
    return {each.name: named[name] for name, each in _FIELDS.items() if name in named}
