"""Options of the compiler by name, as `compiler_options` of `jax.jit` gives them."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from xla_dialect.diagnostics import XlaError

PASSES = "xdsl_passes"
"""The option with passes of the user's, as `xla-opt -p` takes them, that are run first."""

DUMP = "xla_dump_to"
"""The option with a folder for the program at all its levels."""

BY_OPERATION = ("xdsl_schedules", "xdsl_fusion", "xdsl_transform_script")
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


@dataclass(frozen=True)
class CompilerOption:
    """An option that `compiler_options` of `jax.jit` may have."""

    read: Callable[[object], Any]
    """Its value; raises ValueError that says what is expected, a type."""
    what: str
    field: str | None = None
    """The field of `Options` that it is; None for one of ours, or that says nothing of results."""


COMPILER_OPTIONS: Mapping[str, CompilerOption] = {
    PASSES: CompilerOption(str, "passes that are run on the program first, as for `xla-opt -p`"),
    "xdsl_num_threads": CompilerOption(_count, "the most threads of a kernel", "num_threads"),
    "xdsl_check_bounds": CompilerOption(_truth, "accesses to memory are checked", "check_bounds"),
    "xdsl_flush_subnormals": CompilerOption(
        _truth, "subnormal bf16 may count as zero in products", "flush_subnormals"
    ),
    "xdsl_schedules": CompilerOption(str, "a file of schedules of `xla-tune`", "schedules"),
    "xdsl_fusion": CompilerOption(str, "a file of decisions on what is fused", "fusion"),
    "xdsl_transform_script": CompilerOption(
        str, "a script of the transform dialect", "transform_script"
    ),
    DUMP: CompilerOption(str, "a folder that gets the program at all levels"),
    "xla_dump_hlo_as_text": CompilerOption(_truth, "nothing: the dump has HLO as text"),
    "xla_dump_hlo_as_proto": CompilerOption(_truth, "the dump has HLO as a proto, too"),
    "xla_embed_ir_in_executable": CompilerOption(_truth, "nothing: the program is always kept"),
    "xla_backend_optimization_level": CompilerOption(_number, "nothing: there is one level"),
    "xla_llvm_disable_expensive_passes": CompilerOption(_truth, "nothing"),
    "xla_cpu_enable_fast_math": CompilerOption(_truth, "nothing: it is never made use of"),
    "xla_cpu_enable_fast_min_max": CompilerOption(_truth, "nothing: it is never made use of"),
}
"""Those of our own, and those of XLA whose values we read, most of which mean nothing here."""


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
            found[name] = option.read(value)
        except ValueError as error:
            raise XlaError(
                f"While setting option {name}, '{value}' is not a valid {error} value."
            ) from error
    return found


def fields_of_options(named: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of `Options` that values of options are."""
    return {
        option.field: named[name]
        for name, option in COMPILER_OPTIONS.items()
        if option.field is not None and name in named
    }
