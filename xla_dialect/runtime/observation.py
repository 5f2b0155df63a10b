"""The output of a run: values that a program prints, and those that its probes write."""

from __future__ import annotations

import csv
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import numpy as np

from xla_dialect.diagnostics import XlaError
from xla_dialect.element_types import Array, spell_array

INDEX = "index.csv"
"""The file that lists what probes have written: the probe, the type, the file."""


@dataclass
class Observer:
    """Takes printed and probed values; one for all processes of a run."""

    output: IO[str] | None = None
    """Where printed values go; the standard output of the moment if None."""
    folder: Path | None = None
    """Where probes write; without one they are an error."""
    _written: dict[str, list[tuple[str, Path]]] = field(
        default_factory=dict[str, list[tuple[str, Path]]]
    )
    """By probe: the type and the file of each execution."""
    _count: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def show(self, where: str, value: Array) -> None:
        """Prints a value, after the location of the operation that prints it."""
        text = np.array2string(value, separator=", ")
        with self._lock:
            print(f"{where}: {spell_array(value)} {text}", file=self.output or sys.stdout)

    def write(self, probe: str, type_: str, value: Array) -> None:
        """
        Writes a value as the next one of a probe; the first of a run begins the index anew.

        Files are numbered: what a program calls its probes never becomes part of a path. Raises
        XlaError if that fails.
        """
        folder = self._folder()
        with self._lock:
            self._count += 1
            path = folder / f"probe{self._count}.npy"
            try:
                folder.mkdir(parents=True, exist_ok=True)
                np.save(path, value, allow_pickle=False)
                with open(folder / INDEX, "w" if self._count == 1 else "a", newline="") as index:
                    csv.writer(index, lineterminator="\n").writerow((probe, type_, path))
            except OSError as error:
                raise XlaError(f"{folder}: {error.strerror}") from None
            self._written.setdefault(probe, []).append((type_, path))

    def read(self, probe: str, execution: int, type_: str, like: Array) -> Array:
        """
        What a probe has written in this run; its executions count from 0.

        `like` has the dtype: numpy files know no bf16 and f8. Raises XlaError if there is none, or
        if it has another type.
        """
        with self._lock:
            written = self._written.get(probe, [])
        if execution >= len(written):
            raise XlaError(f"the probe '{probe}' was executed {len(written)} times")
        found_type, path = written[execution]
        if found_type != type_:
            raise XlaError(f"the probe '{probe}' has written {found_type}, expected {type_}")
        try:
            value = np.load(path, allow_pickle=False)
        except (OSError, ValueError, EOFError) as error:
            raise XlaError(f"{path} cannot be read: {error}") from None
        return value.view(like.dtype) if value.dtype.kind == "V" else value

    def _folder(self) -> Path:
        if self.folder is None:
            raise XlaError("there is no folder for probes (--probe-output-dir)")
        return self.folder
