"""A command as one of several ranks of MPI: rank 0 reports, and who fails ends all."""

from __future__ import annotations

import ctypes
import os
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from importlib import import_module
from threading import TIMEOUT_MAX, Thread

from lowerings.execution.rank_runs import SILENCE, Ranks, ranks_of

from .command_line import guarded

GRACE = 1.0
"""Seconds that rank 0, which fails as the others do or hears of it, has to say so and end all."""
_RANK_VARIABLES = ("PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK")
"""Where mpiexec says which rank a process is."""
WAITING = {
    "MPIR_CVAR_ENABLE_HEAVY_YIELD": "1",
    "MPIR_CVAR_POLLS_BEFORE_YIELD": "1",
}
"""What makes MPICH wait well where there are more ranks than processors."""


def join_ranks(silence: float | None) -> Ranks:
    """
    All ranks that mpiexec has started; `silence`: seconds that one may say nothing while others
    wait for it. Raises XlaError where there is no MPI.
    """
    for name, value in WAITING.items():
        os.environ.setdefault(name, value)
    _start_mpi(silence)
    return ranks_of(None, silence)


def _start_mpi(silence: float | None) -> None:
    """
    Starts MPI, which waits for all ranks; ends this process where they do not come.

    mpi4py would start it with Python's lock held, so that nothing could look at the time.
    """
    try:
        settings = import_module("mpi4py").rc
        settings.initialize, settings.finalize = False, True
        mpi = import_module("mpi4py.MPI")
    except (ImportError, RuntimeError):
        return  # `ranks_of` says it.
    if mpi.Is_initialized():
        return
    start = ctypes.CDLL(mpi.__file__).MPI_Init_thread
    level = ctypes.byref(ctypes.c_int())
    starting = Thread(target=start, args=(None, None, mpi.THREAD_MULTIPLE, level), daemon=True)
    starting.start()
    limit = SILENCE if silence is None else silence
    starting.join(min(limit, TIMEOUT_MAX))
    if starting.is_alive():
        rank = next((os.environ[name] for name in _RANK_VARIABLES if name in os.environ), "?")
        message = f"rank {rank} has started, but not all others within {limit:g} s"
        print(f"xla-run: error: {message}", file=sys.stderr, flush=True)
        os._exit(1)


_PASSING_ON = 0.2
"""How long mpiexec has to pass a message on, in seconds."""


def is_reporting(ranks: Ranks | None) -> bool:
    """Whether this process is the one that prints."""
    return ranks is None or ranks.rank == 0


@contextmanager
def ending_all_ranks(ranks: Ranks | None, tool: str) -> Generator[None]:
    """Where this rank fails, prints why, unless another one does so first, and ends all ranks."""
    try:
        yield
    except BaseException as error:
        if ranks is None or ranks.size == 1:
            raise
        if ranks.rank != 0:
            time.sleep(GRACE)
        failure = error

        def fail() -> int:
            raise failure

        guarded(tool, fail)
        sys.stdout.flush()
        sys.stderr.flush()
        # What mpiexec has not passed on yet when ranks are ended is lost.
        time.sleep(_PASSING_ON)
        ranks.abort()
