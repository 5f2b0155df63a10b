"""Dataclasses that are made in less time, for modules that have hundreds of them."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from functools import cache, partial
from reprlib import recursive_repr
from types import FunctionType
from typing import Any, Final

_PLAIN: Final[Any] = dataclasses.dataclass


@contextmanager
def quick_dataclasses() -> Generator[None]:
    """
    While modules are loaded inside, `dataclass` compiles fewer functions.

    Each function that it makes is a text that it compiles, and on the way to buffers there are 490
    such classes. Those that compare and hash differ in the names of fields only: one is compiled
    for each number of fields, and the others get their names put in. One that shows an object is
    called rarely, so it looks the names up. Classes of other threads are left alone. Without this a
    start takes 4 to 8 % more processor time, a cold compile 5 to 8 % (2026-11-27).
    """
    module: Any = dataclasses
    if module.dataclass is _dataclass:
        # Whoever began ends it; in another thread classes are made in more time then.
        yield
        return
    module.dataclass = _dataclass
    _thread.is_loading = True
    try:
        yield
    finally:
        _thread.is_loading = False
        module.dataclass = _PLAIN


class _Thread(threading.local):
    is_loading = False


_thread = _Thread()


def _dataclass(cls: type | None = None, /, **options: Any) -> Any:
    """`dataclass` of the standard library, with its options; modules that are loaded keep it."""
    if cls is None:
        return partial(_dataclass, **options)
    if not _thread.is_loading:
        return _PLAIN(cls, **options)
    if options.get("order") or options.get("unsafe_hash"):
        return _PLAIN(cls, **options)
    own = vars(cls)
    has_repr, has_eq = "__repr__" in own, "__eq__" in own
    # Python gives a class that says how it compares, and no more, a hash that is None.
    has_hash = own.get("__hash__") is not None
    made: Any = _PLAIN(cls, **(options | {"repr": False, "eq": False}))
    fields = dataclasses.fields(made)
    if options.get("repr", True) and not has_repr:
        made.__repr__ = _showing([each.name for each in fields if each.repr])
    if options.get("eq", True):
        if not has_eq:
            made.__eq__ = _named("__eq__", [each.name for each in fields if each.compare])
        if not has_hash:
            hashed = [e.name for e in fields if (e.compare if e.hash is None else e.hash)]
            made.__hash__ = _named("__hash__", hashed) if options.get("frozen") else None
    return made


def _named(function: str, fields: Sequence[str]) -> FunctionType:
    """The function of a dataclass with these fields."""
    template = vars(_template(len(fields)))[function]
    renamed = dict(zip(_placeholders(len(fields)), fields, strict=True))
    names = tuple(renamed.get(name, name) for name in template.__code__.co_names)
    code = template.__code__.replace(co_names=names)
    return FunctionType(code, template.__globals__, function)


@cache
def _template(count: int) -> type:
    """A dataclass that compares and hashes so many fields."""
    made = dataclasses.make_dataclass("_", _placeholders(count), init=False, unsafe_hash=True)
    return made


def _placeholders(count: int) -> list[str]:
    return [f"field_{number}" for number in range(count)]


def _showing(names: Sequence[str]) -> Callable[[Any], str]:
    @recursive_repr()
    def __repr__(self: Any) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{type(self).__qualname__}({shown})"

    return __repr__
