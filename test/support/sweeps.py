"""Sampling of large sweeps: a few parameters and examples by default, all in `test-full`."""

import os
from collections.abc import Collection, Iterable
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


def few_examples(quick: int, full: int | None = None) -> settings:
    """So many examples in quick runs, in others `full` or as many as everywhere."""
    count = quick if PROFILE == "quick" else full
    return settings() if count is None else settings(max_examples=count)
