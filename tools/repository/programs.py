"""The programs that the repository keeps: an example of each operation, and those of the tests."""

from __future__ import annotations

import json
import re
import runpy
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xla_dialect.diagnostics import read_text
from xla_dialect.ops import FAMILIES

from ..array_spec import RANDOM_SEED, AnyArray, parse_array_specs
from ..input_text import split_chunks

FOLDER = Path(__file__).parents[2] / "docs" / "examples"
"""With one program for each operation, and its results."""


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

    A family has the file of its name, in parts between lines `// -----`.
    """
    found: dict[str, Example] = {}
    for family in FAMILIES:
        path = FOLDER / f"{family.__name__.rpartition('.')[2]}.mlir"
        for chunk in split_chunks(read_text(path)):
            text = chunk.shown.strip()
            (name,) = _ENTRY.findall(text)
            found[name] = Example(name, text, tuple(_RESULT.findall(text)))
    return found


PROGRAMS_FOLDER = Path(__file__).parents[2] / "test" / "programs"

Array = NDArray[Any]


@dataclass(frozen=True)
class StoredProgram:
    """A program of test/programs: texts, arguments, and the results of XLA CPU."""

    name: str
    summary: str

    @property
    def hlo(self) -> Path:
        """HLO text as JAX lowers to."""
        return PROGRAMS_FOLDER / f"{self.name}.hlo"

    @property
    def stablehlo(self) -> Path:
        """StableHLO as JAX prints it."""
        return PROGRAMS_FOLDER / f"{self.name}.mlir"

    @property
    def optimized_hlo(self) -> Path:
        """HLO text after XLA's own optimisation for the CPU."""
        return PROGRAMS_FOLDER / f"{self.name}_optimized.hlo"

    def inputs(self) -> list[Array]:
        """The arguments in order."""
        return _read_arrays(PROGRAMS_FOLDER / f"{self.name}.inputs.npz")

    def outputs(self) -> list[Array]:
        """What XLA CPU computes from the inputs, in order."""
        return _read_arrays(PROGRAMS_FOLDER / f"{self.name}.outputs.npz")


def _read_arrays(path: Path) -> list[Array]:
    with np.load(path, allow_pickle=False) as archive:
        return [archive[str(index)] for index in range(len(archive.files))]


def stored_programs() -> list[StoredProgram]:
    """All programs of test/programs, in the order in which they were made."""
    manifest = json.loads((PROGRAMS_FOLDER / "manifest.json").read_text(encoding="utf-8"))
    return [StoredProgram(name, entry["summary"]) for name, entry in manifest["programs"].items()]


def stored_functions() -> dict[str, Callable[..., Any]]:
    """The JAX functions that the programs were made from, by name; needs JAX."""
    makers = runpy.run_path(str(PROGRAMS_FOLDER / "make_programs.py"))["PROGRAMS"]
    return {maker.name: maker.function for maker in makers}
