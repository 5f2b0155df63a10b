"""Functions that a compiled program only declares, as C functions that it calls."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from threading import get_ident
from typing import TYPE_CHECKING, Any

from lowerings.execution.code import functions_with_records, record_of
from lowerings.execution.declared_functions import DeclaredFunction, current_run, run_program
from lowerings.runtime import RUN_HANDLER
from xla_dialect.diagnostics import XlaError

if TYPE_CHECKING:
    from lowerings.execution.joint_runs import NativeCollectives


@dataclass
class Callbacks:
    """
    What a program calls, as C functions of one pointer for each operand and result.

    They return 0, or 1 to end the program: a Python function cannot raise through machine code, so
    its error is kept until the program has ended. Where other machine code runs the program, and
    not `run`, `failure` says so then, and `take_error` has it.
    """

    symbols: dict[str, Any] = field(default_factory=dict[str, Any])
    """By the name of the declaration; they have to live as long as the program."""
    asks_process: bool = False
    calls_python: bool = False
    """Whether any of them is a Python function, which may fail, or call the program."""
    collectives: NativeCollectives | None = None
    """The same functions for participants of joint runs; None where some cannot be."""
    failure: ctypes.c_int64 = field(default_factory=ctypes.c_int64)
    """Not 0 after a function has failed in a program that is not run by `run`."""
    _errors: dict[int, BaseException] = field(default_factory=dict[int, BaseException])
    """Those of such runs, by their threads."""
    _code: list[Any] = field(default_factory=list[Any])
    """The machine code of functions, and what it falls back on, kept as long as the program."""
    _is_running: ContextVar[bool] = field(
        default_factory=lambda: ContextVar("is_running", default=False)
    )

    @staticmethod
    def of(functions: Mapping[str, DeclaredFunction]) -> Callbacks | None:
        """Those of the functions that a module of a lower level declares; None for none."""
        if not functions:
            return None
        asks = any(function.asks_process for function in functions.values())
        callbacks = Callbacks(asks_process=asks)
        for name, function in functions.items():
            callbacks.calls_python |= function.lapack is None
            callbacks.symbols[name] = callbacks._as_c(function)
        callbacks._link_lapack(functions)
        if asks:
            # Few programs run on several devices.
            from lowerings.execution.joint_runs import NativeCollectives  # noqa: PLC0415

            callbacks.collectives = NativeCollectives.of(functions, callbacks.symbols)
        return callbacks

    def _link_lapack(self, functions: Mapping[str, DeclaredFunction]) -> None:
        """Has calls of LAPACK made without Python, but for what fails."""
        calls = {name: each.lapack for name, each in functions.items() if each.lapack is not None}
        if not calls:
            return
        counts = {name: call.record.given_count for name, call in calls.items()}
        fallbacks = dict(self.symbols)
        code = functions_with_records(counts, RUN_HANDLER, fallbacks)
        for name, call in calls.items():
            code.point(record_of(name), ctypes.addressof(call.record))
            self.symbols[name] = ctypes.c_void_p(code.address(name))
        self._code += [code, fallbacks]

    @property
    def linked(self) -> Mapping[str, Any]:
        """What the program is linked with."""
        return self.symbols if self.collectives is None else self.collectives.symbols

    def run(self, program: Callable[[], None], name: str) -> None:
        """
        Runs the program; raises the error of a function that it called, and XlaError where that
        calls the program: nothing would end it.
        """
        if not self.calls_python:
            program()
            if (error := self.take_error()) is not None:
                raise error
            return
        if self._is_running.get():
            raise XlaError(f"{name} is called by a function that it calls itself")
        token = self._is_running.set(True)
        try:
            run_program(program, self.asks_process)
        finally:
            self._is_running.reset(token)

    def take_error(self) -> BaseException | None:
        """What has ended the program that other machine code has just run in this thread."""
        return self._errors.pop(get_ident(), None)

    def _has_error(self) -> bool:
        if self._is_running.get():
            return current_run().error is not None
        return get_ident() in self._errors

    def _keep_error(self, error: BaseException) -> None:
        if self._is_running.get():
            current_run().error = error
        else:
            self._errors[get_ident()] = error
            self.failure.value = 1

    def _as_c(self, function: DeclaredFunction) -> Any:
        def run(*pointers: int | None) -> int:
            if self._has_error():
                return 1
            try:
                function.at(pointers)
            except BaseException as error:
                self._keep_error(error)
                return 1
            return 0

        pointers = [ctypes.c_void_p] * len((*function.operand_types, *function.result_types))
        return ctypes.CFUNCTYPE(ctypes.c_int32, *pointers)(run)
