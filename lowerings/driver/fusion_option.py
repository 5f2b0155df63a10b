"""The options of tools about fusion: those of the pass that plans it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from xdsl.passes import ModulePass

FUSION = ("linalg-plan-fusion", "linalg-fuse-producers-and-siblings")
"""The passes that plan, by name: they need not be loaded to be looked for."""


def with_fusion(
    passes: Sequence[ModulePass], file: str | Path | None, *, print_reasons: bool = False
) -> tuple[ModulePass, ...]:
    """Passes, the first of which that plans fusion takes what a file decides; and says why."""
    first = next((each for each in passes if each.name in FUSION), None)
    options = {"file": "" if file is None else str(file), "print_reasons": print_reasons}
    given = {name: value for name, value in options.items() if value}
    return tuple(replace(cast(Any, each), **given) if each is first else each for each in passes)
