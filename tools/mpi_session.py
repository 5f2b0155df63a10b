"""A command as one of several ranks of MPI: rank 0 reports, and who fails ends all."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager

from lowerings.execution.rank_runs import Ranks, ranks_of

from .reporting import guarded

GRACE = 1.0
"""Seconds that rank 0, which fails as the others do or hears of it, has to say so and end all."""
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
    return ranks_of(None, silence)


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
        ranks.abort()
