"""The test programs of the repository, with their inputs and XLA's outputs."""

import json
import runpy
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

PROGRAMS_FOLDER = Path(__file__).parents[1] / "test" / "programs"

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
