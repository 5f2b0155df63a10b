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
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import cache

from xla_dialect.diagnostics import XlaError

from ...measuring_times import bind, processors
from .contenders import Effort, Figures, Row, figures_of
from .libraries import libraries_of

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
    spawning = multiprocessing.get_context("spawn")
    with (
        _bound(processors()[:threads]),
        ProcessPoolExecutor(1, spawning, _warm_up, (threads,)) as worker,
    ):
        for group, name in names:
            print(f"{name} ({threads}T)", file=sys.stderr, flush=True)
            try:
                found[name] = worker.submit(_measure, group, name, threads, effort).result()
            except BrokenProcessPool as error:
                raise XlaError(f"the process that measured {name!r} ended") from error
    return found


@contextmanager
def _bound(chosen: Sequence[int]) -> Iterator[None]:
    """Processes that start meanwhile are bound before they load numpy, which counts processors."""
    allowed = processors()
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    bind(chosen)
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


def _warm_up(threads: int) -> None:
    """Compiles once, so that nothing is loaded while a row is timed."""
    kernels = rows_of("kernels")
    figures_of(next(iter(kernels.values())), (), threads, Effort(1, 1))


def _measure(group: str, name: str, threads: int, effort: Effort) -> Figures:
    return figures_of(rows_of(group)[name], libraries_of(name), threads, effort)
