"""Which constructs of JAX a program uses that cannot run outside of JAX."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

from jax.extend import source_info_util

_CALLBACK = "calls back into Python, which an emulated program cannot"
_DEVICES = "runs on several devices, which an emulated program cannot"

ON_SEVERAL_DEVICES = frozenset({"shard_map", "xla_pmap"})
"""The primitives that say what each of several devices computes."""

REASONS = {
    "debug_callback": _CALLBACK,
    "debug_print": _CALLBACK,
    "io_callback": _CALLBACK,
    "infeed": "takes data from a device's queue",
    "outfeed": "gives data to a device's queue",
    "pallas_call": "is a kernel for an accelerator",
    **dict.fromkeys(ON_SEVERAL_DEVICES, _DEVICES),
}
"""By the name of the primitive: why it may have stopped us."""


def is_for_several_devices(jaxpr: Any) -> bool:
    """Whether a jaxpr says what each of several devices computes."""
    return any(equation.primitive.name in ON_SEVERAL_DEVICES for equation in _equations(jaxpr))


def unsupported_constructs(jaxpr: Any) -> list[str]:
    """A line for each primitive of a jaxpr that is in `REASONS`, with its place in the source."""
    lines: list[str] = []
    for equation in _equations(jaxpr):
        reason = REASONS.get(equation.primitive.name)
        if reason is not None:
            place = cast(Any, source_info_util).summarize(equation.source_info)
            lines.append(f"{place}: {equation.primitive.name} {reason}")
    return list(dict.fromkeys(lines))


def _equations(jaxpr: Any) -> Iterator[Any]:
    """The equations of a jaxpr and of those inside it."""
    waiting: list[Any] = [jaxpr]
    while waiting:
        found = waiting.pop()
        if isinstance(found, tuple | list):
            waiting.extend(cast("Sequence[Any]", found))
            continue
        inner = getattr(found, "jaxpr", found)
        for equation in getattr(inner, "eqns", ()):
            yield equation
            waiting.extend(equation.params.values())
