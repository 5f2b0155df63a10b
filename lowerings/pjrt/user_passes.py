"""Passes of the user's that run on every program that JAX compiles for our devices."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xdsl.passes import ModulePass

_active: list[tuple[ModulePass, ...]] = []


@contextmanager
def extra_passes(passes: str | ModulePass) -> Generator[None]:
    """
    Within the context, programs are compiled with these passes first: one, or several by name and
    with options, as for `xla-opt -p`.

    They see the program as JAX gave it, at the xla level. What JAX has compiled before is compiled
    anew, and once more behind the context. Raises XlaError for passes that there are not.
    """
    chosen = _parsed(passes) if isinstance(passes, str) else (passes,)
    _active.append(chosen)
    _forget_compiled()
    try:
        yield
    finally:
        _active.remove(chosen)
        _forget_compiled()


def active_passes() -> tuple[ModulePass, ...]:
    """The passes that are switched on, in their order."""
    return tuple(each for chosen in _active for each in chosen)


def _parsed(passes: str) -> tuple[ModulePass, ...]:
    # Every program asks for the passes that are switched on, which mostly are none.
    from lowerings.driver.pass_manager import parse_passes  # noqa: PLC0415

    return parse_passes(passes)


def _forget_compiled() -> None:
    import jax  # noqa: PLC0415

    jax.clear_caches()
