"""MPI as machine code calls it, in processes that `mpiexec`, `srun` or the like has started."""

from __future__ import annotations

import ctypes
import os
from importlib import import_module
from typing import Any

from lowerings.runtime.declarations import structure

_STARTED = ("PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK")
"""What is in the environment of a process that MPI has started."""
_FUNCTIONS = ("MPI_Isend", "MPI_Irecv", "MPI_Test", "MPI_Get_count", "MPI_Cancel")


class MpiRanks:
    """The ranks of `MPI.COMM_WORLD`, by a communicator of their own; to make it is collective."""

    def __init__(self, mpi: Any):
        self._communicator = mpi.COMM_WORLD.Dup()
        library = ctypes.CDLL(mpi.__file__)
        functions = (
            ctypes.cast(getattr(library, name), ctypes.c_void_p).value for name in _FUNCTIONS
        )
        handles = (mpi._handleof(each) for each in (mpi.BYTE, self._communicator))
        self._record = structure("runtime.h", "xla_mpi")(*functions, *handles)
        self.address = ctypes.addressof(self._record)
        """Of what the library in C calls."""

    @staticmethod
    def of(number: int, count: int) -> MpiRanks | None:
        """
        The ranks that are processes of these numbers; None where MPI has not started them, cannot
        be loaded, or may not be called by several threads.
        """
        if not any(name in os.environ for name in _STARTED):
            return None
        try:
            mpi = import_module("mpi4py.MPI")
        except (ImportError, RuntimeError):
            return None
        world = mpi.COMM_WORLD
        is_same = (world.Get_rank(), world.Get_size()) == (number, count)
        return MpiRanks(mpi) if is_same and mpi.Query_thread() == mpi.THREAD_MULTIPLE else None
