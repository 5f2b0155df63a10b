"""`--print-memory`: what memory a program takes after each pass, from buffers on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import IO

from rich.table import Table
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from lowerings.bufferize.memory_usage import MemoryUsage, memory_usage
from lowerings.driver.pass_manager import PipelinePass

from .tables import console_of, table_with


@dataclass
class MemoryReport:
    """The usage of a program after each pass, as events of a pass manager."""

    pipeline: Sequence[PipelinePass] = ()
    rows: dict[str, list[tuple[str, MemoryUsage]]] = field(
        default_factory=dict[str, list[tuple[str, MemoryUsage]]]
    )
    """For each entry, what was done before, and the usage then."""

    def note(self, name: str, module: ModuleOp) -> None:
        """Adds the usage of a module, if it is at the buffers level or below."""
        for usage in memory_usage(module):
            self.rows.setdefault(usage.entry, []).append((name, usage))

    def after(self, module_pass: ModulePass, module: ModuleOp) -> None:
        """After a pass."""
        self.note(module_pass.name, module)

    def print(self, output: IO[str]) -> None:
        """Prints one table for each entry."""
        console = console_of(output)
        if not self.rows:
            print("no memory to report: the program does not get to buffers", file=output)
        levels = {each.module_pass.name: each.group[-1] for each in self.pipeline if each.group}
        for entry, rows in self.rows.items():
            console.print(_table(entry, rows, levels))


def _table(entry: str, rows: list[tuple[str, MemoryUsage]], levels: dict[str, str]) -> Table:
    last = rows[-1][1]
    aliased = f" ({last.aliased:,} of them in parameters)" if last.aliased else ""
    titles = ("buffers", "allocated", "peak", "arena", "stack", "copies", "copied")
    table = table_with(
        ("level", "after"),
        titles,
        title=f"Memory of @{entry}, in bytes",
        caption=f"parameters {last.parameters:,}, results {last.results:,}{aliased}, "
        f"constants {last.constants:,}; temporary in the end {last.temporary:,}",
    )
    shown = ""
    for name, usage in rows:
        level = levels.get(name, "")
        if shown and level != shown:
            table.add_section()
        numbers = (
            usage.allocations,
            usage.allocated,
            usage.peak,
            usage.arena,
            usage.stack,
            usage.copies,
            usage.copied,
        )
        cells = ("-" if number is None else f"{number:,}" for number in numbers)
        table.add_row("" if level == shown else level, name, *cells)
        shown = level
    return table
