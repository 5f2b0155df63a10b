"""Parameters of tests that are many: a few of them in every run, all with `--full`."""

from collections.abc import Collection, Iterable
from typing import Any

import pytest


def each_or_full(values: Iterable[Any], quick: Collection[Any]) -> list[Any]:
    """All values, those that are not `quick` marked `full`."""
    return [
        pytest.param(value, marks=() if value in quick else pytest.mark.full, id=str(value))
        for value in values
    ]
