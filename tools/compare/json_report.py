"""A comparison as JSON."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from typing import Any

from .contender import ProgramVariant
from .figures import Comparison, VariantFigures

VERSION = 1
"""Of what the fields mean."""


def as_json(comparison: Comparison) -> str:
    """All figures; times in seconds, sizes in bytes, `null` for what is unknown or infinite."""
    report = {
        "version": VERSION,
        "signature": comparison.signature,
        "processor": comparison.processor,
        "load": asdict(comparison.load),
        "riscv64_features": comparison.features,
        "seed": comparison.seed,
        "tolerance": comparison.tolerance,
        "contenders": [
            _contender(row.contender)
            | ({"failure": row.failure} if row.figures is None else _figures(row.figures))
            for row in comparison.rows
        ],
    }
    return json.dumps(report, indent=2, allow_nan=False) + "\n"


def _contender(contender: ProgramVariant) -> dict[str, Any]:
    own = asdict(contender)
    return {"label": own.pop("label"), "file": own.pop("source")["file_name"], **own}


def _figures(figures: VariantFigures) -> dict[str, Any]:
    memory = figures.memory
    finite = math.isfinite(figures.difference)
    return {
        "call": asdict(figures.call),
        "same_code_as": figures.same_code_as,
        "difference": figures.difference if finite else None,
        "instructions": figures.instructions,
        "no_instructions": figures.no_instructions,
        "code_bytes": figures.code_bytes,
        "compilation": {
            "seconds": figures.compilation.seconds,
            "parts": figures.compilation.parts,
        },
        "passes": [
            asdict(each) | {"seconds": taken}
            for each, taken in zip(figures.passes, figures.compilation.passes, strict=True)
        ],
        "memory": None if memory.usage is None else asdict(memory.usage),
        "kernels": memory.kernels,
        "kernel_calls": memory.kernel_calls,
        "moved_bytes": memory.moved,
        "traffic": [asdict(each) | {"moved": each.moved} for each in memory.traffic],
    }
