"""
Measures rows in processes that are bound to as many processors as threads are compared.

XLA makes as many threads as there are processors when it starts, so each number of threads has a
process of its own.
"""

from __future__ import annotations

import importlib
import importlib.util
import multiprocessing
import os
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import cache

from xla_dialect.diagnostics import XlaError

from ...measuring_times import bind, processors
from .contenders import Effort, Figures, Row, figures_of

GROUPS = {
    "kernels": ("tools.repository.benchmark.kernels", "KERNELS", ("jax",)),
    "models": ("tools.repository.benchmark.models", "MODELS", ("jax", "flax", "optax")),
}
"""Where the rows of each group are, and what they are written with."""


@cache
def rows_of(group: str) -> dict[str, Row]:
    """The rows of a group by name; raises XlaError without the packages that they need."""
    module, table, needed = GROUPS[group]
    for package in needed:
        if importlib.util.find_spec(package) is None:
            raise XlaError(f"{package} is not installed (pip install -e '.[peers]')")
    return {row.name: row for row in getattr(importlib.import_module(module), table)}


def measure(names: Sequence[tuple[str, str]], threads: int, effort: Effort) -> dict[str, Figures]:
    """The figures of rows, given by group and name, with so many threads."""
    found: dict[str, Figures] = {}
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), _bind, (threads,)) as worker:
        for group, name in names:
            print(f"{name} ({threads}T)", file=sys.stderr, flush=True)
            try:
                found[name] = worker.submit(_measure, group, name, threads, effort).result()
            except BrokenProcessPool as error:
                raise XlaError(f"the process that measured {name!r} ended") from error
    return found


def _bind(threads: int) -> None:
    """Before JAX starts; then compiles once, so that nothing is loaded while a row is timed."""
    if hasattr(os, "sched_setaffinity"):
        bind(processors()[:threads])
    kernels = rows_of("kernels")
    figures_of(next(iter(kernels.values())), threads, Effort(1, 1))


def _measure(group: str, name: str, threads: int, effort: Effort) -> Figures:
    return figures_of(rows_of(group)[name], threads, effort)
