"""Programs of the buffers and loops levels as functions that change numpy arrays in place."""

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
from loops_level import context, parse
from sweeps import PROFILE
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from lowerings.execution.code import LoadedCode, placed
from lowerings.execution.executable import ThreadCount
from lowerings.loops.expand_small_floats import ExpandSmallFloatsPass
from lowerings.rewriting.passes import run_pass
from lowerings.runtime import parallel_functions
from lowerings.targets.llvm.interface import THREADS
from lowerings.targets.llvm.machine import host
from lowerings.targets.llvm.module import emit_module
from xla_dialect.mlir_text import print_mlir

AnyArray = np.ndarray[Any, np.dtype[Any]]


def lower(text: str, passes: Sequence[ModulePass]) -> ModuleOp:
    """
    The module of a text after some passes, verified.

    With `make test-full` it is equal when it is printed and read; else `test_programs.py` sees to that.
    """
    module = parse(text)
    for each in passes:
        each.apply(context(), module)
        module.verify()
    if PROFILE == "full":
        printed = print_mlir(module)
        assert print_mlir(parse(printed)) == printed
    return module


class MachineCode:
    """The entries of a module, compiled."""

    def __init__(self, module: ModuleOp, threads: ThreadCount | None = None):
        """With `threads` its parallel loops run on so many."""
        machine = host()
        run_pass(ExpandSmallFloatsPass(), context(), module)
        emitted = emit_module(
            module,
            machine,
            threads=threads is not None,
        )
        code = machine.object_code(emitted.text)
        self.has_tasks = emitted.has_tasks
        self._threads = threads
        shared = threads is not None and emitted.has_tasks
        functions = parallel_functions() if shared else {}
        pointers = {THREADS: threads.address} if threads is not None and shared else {}
        self._entries = {
            name: LoadedCode((code,), name, placed(emitted.constants), functions, pointers=pointers)
            for name in emitted.entries
        }

    def run(self, entry: str, arrays: Sequence[AnyArray]) -> None:
        """Calls an entry with the addresses of arrays, which must have the shapes it expects."""
        addresses = (ctypes.c_void_p * max(1, len(arrays)))(*(a.ctypes.data for a in arrays))
        self._entries[entry].function(ctypes.addressof(addresses))
