"""Sampling of large sweeps: a few parameters and examples by default, all in `test-full`."""

import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from itertools import product
from typing import Any

import pytest
from hypothesis import settings

PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "quick")
"""How many examples hypothesis makes of what has no limit of its own: see `conftest.py`."""


def each_or_full(values: Iterable[Any], quick: Collection[Any]) -> list[Any]:
    """All values, those that are not `quick` marked `full`."""
    return [
        pytest.param(value, marks=() if value in quick else pytest.mark.full, id=str(value))
        for value in values
    ]


def combinations(*values: Iterable[Any], step: int = 5) -> list[tuple[Any, ...]]:
    """
    Every fifth combination of values, all in full runs. Where `step` divides no number of values,
    each value has its turn, and so has each pair.
    """
    return list(product(*values))[:: step if PROFILE == "quick" else 1]


@contextmanager
def row(*values: Any) -> Iterator[None]:
    """A row of a table that a test goes through: an error says which one it is about."""
    try:
        yield
    except BaseException as error:
        error.add_note(f"row: {', '.join(map(str, values))}")
        raise


def few_examples(quick: int, full: int | None = None) -> settings:
    """So many examples in quick runs, in others `full` or as many as everywhere."""
    count = quick if PROFILE == "quick" else full
    return settings() if count is None else settings(max_examples=count)
