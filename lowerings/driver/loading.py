"""Loading the compiler in less time."""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

from lowerings.driver.collector import collector_paused
from lowerings.driver.quick_dataclasses import quick_dataclasses

if TYPE_CHECKING:
    from xdsl.irdl import OpDef
    from xdsl.irdl.declarative_assembly_format import FormatProgram


@contextmanager
def loading() -> Generator[None]:
    """
    While modules are loaded inside, no collection, for what they make stays, and dataclasses are
    made in less time.
    """
    is_collecting, loaded = gc.isenabled(), len(sys.modules)
    with collector_paused(), quick_dataclasses():
        yield
        # Else nothing was made that stays, and what is garbage by now would stay with it.
        if is_collecting and len(sys.modules) > loaded:
            _promote()


@contextmanager
def quick_loading() -> Generator[None]:
    """
    As `loading`, for modules with operations: the declarative assembly formats of those are read
    when one is first parsed or printed.
    """
    with loading():
        from xdsl.irdl.declarative_assembly_format import FormatProgram  # noqa: PLC0415

        formats: Any = FormatProgram
        if isinstance(formats.from_str, _Deferring):
            # Whoever began ends it.
            yield
            return
        read = _reader()
        formats.from_str = staticmethod(_Deferring(threading.get_ident()))
        try:
            yield
        finally:
            formats.from_str = read


@cache
def _reader() -> Any:
    """`FormatProgram.from_str` as xDSL has it, whoever else is loading."""
    from xdsl.irdl.declarative_assembly_format import FormatProgram  # noqa: PLC0415

    return vars(FormatProgram)["from_str"]


def _promote() -> None:
    """Makes all objects of the oldest generation, as what stays would be in the end."""
    if not gc.get_freeze_count():
        gc.freeze()
        gc.unfreeze()


@dataclass(frozen=True)
class _Deferring:
    """`FormatProgram.from_str` while one thread loads modules; formats of others are read."""

    thread: int

    def __call__(self, text: str, operation: OpDef) -> Any:
        if threading.get_ident() != self.thread:
            return _reader()(text, operation)
        return _DeferredFormat(text, operation)


@dataclass(frozen=True)
class _DeferredFormat:
    """An assembly format as it is written, in the place of a `FormatProgram`."""

    text: str
    operation: OpDef

    @cached_property
    def _program(self) -> FormatProgram:
        return _reader()(self.text, self.operation)

    def parse(self, parser: Any, operation: Any) -> Any:
        return self._program.parse(parser, operation)

    def print(self, printer: Any, operation: Any) -> None:
        self._program.print(printer, operation)
