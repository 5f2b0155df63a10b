"""What is compared: a program, the passes that lower it, and options to run it with."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lowerings.driver.pass_manager import PipelinePass, parse_pipeline
from lowerings.driver.pass_options import (
    FUSION,
    SCHEDULES,
    with_script,
    with_values,
)
from lowerings.driver.program import detect_format, parse_source
from lowerings.driver.source import Source, read_program
from lowerings.native_lowering import continuing
from lowerings.targets.llvm.machine import Machine
from xla_dialect.diagnostics import XlaError


@dataclass(frozen=True)
class ComparisonEffort:
    """How contenders are measured."""

    turns: int
    compiles: int
    seed: int
    tolerance: float
    """What results may differ by, relative to their largest magnitude."""
    counts_instructions: bool
    features: str
    """Of the emulated processor, beyond RV64GC."""
    time_limit: float
    """Seconds that one contender may take where it is tried, and where it is emulated."""
    processes: int = 0
    """How often each is measured in a process of its own; 0 for all in this one."""


Say = Callable[[str], None]
"""Told what is done next."""


_OPTION = re.compile(r":(?=[a-z_]+=)")
"""In front of an option; file names and pipelines may have colons and commas."""


@dataclass(frozen=True)
class ProgramVariant:
    """A program, the passes that lower it, and options to run it with."""

    source: Source
    label: str = ""
    pipeline: str = "native"
    without: tuple[str, ...] = ()
    """Passes that are left out of the pipeline."""
    schedules: str | None = None
    """A file of schedules to run operations by."""
    fusion: str | None = None
    """A file of decisions on what is fused."""
    transform_script: str | None = None
    """A script of the transform dialect, run before schedules are planned."""
    num_threads: int | None = None
    """None: as many as pay."""
    entry: str = "main"
    is_ablation: bool = False
    """Whether it was made from another one by leaving out a pass."""

    @property
    def is_usual(self) -> bool:
        """Whether tests know its pipeline: any other may lead to code that crashes, or to none."""
        return (self.pipeline, self.without) == ("native", ())

    def passes(self, machine: Machine) -> tuple[PipelinePass, ...]:
        """The passes for a machine; raises XlaError for a pipeline or a pass that is not there."""
        scheduled = parse_pipeline(self.pipeline)
        names = [each.module_pass.name for each in scheduled]
        if missing := [name for name in self.without if name not in names]:
            raise XlaError(
                f"{self.label}: there is no pass '{missing[0]}' to leave out "
                f"(there are: {', '.join(dict.fromkeys(names))})"
            )
        kept = [each for each in scheduled if each.module_pass.name not in self.without]
        if self.schedules is not None:
            given = {"file": self.schedules, "processor": machine.processor}
            kept = with_values(kept, SCHEDULES, needed_by=f"{self.label}: schedules", **given)
        if self.fusion is not None:
            needed_by = f"{self.label}: fusion"
            kept = with_values(kept, FUSION, needed_by=needed_by, file=self.fusion)
        return with_script(kept, self.transform_script)

    def ablations(self, machine: Machine) -> list[ProgramVariant]:
        """The same without each of its passes, one at a time."""
        names = dict.fromkeys(each.module_pass.name for each in self.passes(machine))
        return [
            replace(self, label=f"without {name}", without=(*self.without, name), is_ablation=True)
            for name in names
        ]


def parse_contenders(texts: Sequence[str]) -> list[ProgramVariant]:
    """
    The contenders of a command line, each `FILE` or `FILE:OPTION=VALUE:OPTION=VALUE`.

    The label of one that has none is what distinguishes it. Raises XlaError.
    """
    files = {_OPTION.split(text)[0] for text in texts}
    found: list[ProgramVariant] = []
    for text in texts:
        contender = _parsed(text)
        if not contender.label:
            options = text[len(_OPTION.split(text)[0]) + 1 :]
            label = (options or "default") if len(files) == 1 else text
            contender = replace(contender, label=label)
        same = [each for each in found if each.label.partition(" #")[0] == contender.label]
        if same:
            contender = replace(contender, label=f"{contender.label} #{len(same) + 1}")
        found.append(contender)
    return found


def _parsed(text: str) -> ProgramVariant:
    file, *options = _OPTION.split(text)
    given: dict[str, Any] = {"source": Source(read_program(Path(file)), file)}
    for option in options:
        name, _, value = option.partition("=")
        if name not in _OPTIONS:
            known = ", ".join(_OPTIONS)
            raise XlaError(f"{text}: there is no option '{name}' (there are: {known})")
        if not value:
            raise XlaError(f"{text}: the option '{name}' has no value")
        match name:
            case "without":
                given[name] = (*given.get(name, ()), value)
            case "num_threads" if not value.isdecimal() or int(value) < 1:
                raise XlaError(f"{file}: num_threads is {value}")
            case "num_threads":
                given[name] = int(value)
            case _:
                given[name] = value.removeprefix("@") if name == "entry" else value
    contender = ProgramVariant(**given)
    # Only MLIR has other levels than that where the pipeline begins.
    if "pipeline" not in given and detect_format(contender.source.text, file) == "mlir":
        contender = replace(contender, pipeline=continuing(parse_source(contender.source)))
    return contender


_OPTIONS = (
    *("pipeline", "without", "schedules", "fusion", "transform_script"),
    *("num_threads", "entry", "label"),
)
"""Those of a contender on the command line."""
