"""The examples of docs/examples: one program per operation, with its results."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from lowerings.driver.source import read_file
from xla_dialect.diagnostics import XlaError
from xla_dialect.ops import FAMILIES

from .array_spec import RANDOM_SEED, AnyArray, parse_array_specs
from .input_text import split_chunks

FOLDER = Path(__file__).parent.parent / "docs" / "examples"

WITHOUT_EXAMPLE: Mapping[str, str] = {}
"""The operations that no example shows, with the reason."""


class ExampleError(XlaError):
    """An example that is not written as examples are."""


@dataclass(frozen=True)
class Example:
    """
    One program that shows an operation.

    Its entry is the only public function, without arguments, named like the operation. Before the
    end of that function a comment `// 2xf32=[1.0, 2.5]` states each result, as xla-run takes it;
    tuples are taken apart.
    """

    name: str
    """Of the operation without `xla.`, and of the entry."""
    text: str
    results: tuple[str, ...]

    def expected(self) -> list[AnyArray]:
        """The stated results."""
        generator = np.random.default_rng(RANDOM_SEED)
        return [array for spec in self.results for array in parse_array_specs(spec, generator)]


_ENTRY = re.compile(r"^func\.func @(\w+)\(\)", re.M)
_RESULT = re.compile(r"^ *// *(\S+=.*)$", re.M)


@cache
def examples() -> Mapping[str, Example]:
    """
    All examples by the name of their operation, e.g. `add`.

    A family has the file of its name, in parts between lines `// -----`. Raises ExampleError.
    """
    found: dict[str, Example] = {}
    for family in FAMILIES:
        path = FOLDER / f"{family.__name__.rpartition('.')[2]}.mlir"
        for chunk in split_chunks(read_file(path)):
            example = _example(chunk.text.strip(), path)
            if example.name in found:
                raise ExampleError(f"{path}: there are two examples of {example.name}")
            found[example.name] = example
    return found


def _example(text: str, path: Path) -> Example:
    names = _ENTRY.findall(text)
    if len(names) != 1:
        raise ExampleError(f"{path}: one public function in each part, found {names}")
    return Example(names[0], text, tuple(_RESULT.findall(text)))
