"""The option of tools for a script of the transform dialect."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from xdsl.passes import ModulePass

from lowerings.driver.pass_manager import parse_passes
from lowerings.driver.schedule_option import PLANNING


def with_script(
    passes: Sequence[ModulePass], script: str | Path | None, *, at_the_end: bool = True
) -> tuple[ModulePass, ...]:
    """
    Passes with the one that runs a script before schedules are planned; where they are not, at the
    end or not at all.
    """
    names = [each.name for each in passes]
    if not script or not (at_the_end or PLANNING in names):
        return tuple(passes)
    place = names.index(PLANNING) if PLANNING in names else len(names)
    (interpreter,) = parse_passes("transform-interpreter")
    run = replace(cast(Any, interpreter), script=str(script))
    return (*passes[:place], run, *passes[place:])
