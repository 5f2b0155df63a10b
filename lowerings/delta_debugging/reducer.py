"""
The search for the smallest module that passes a test.

Each kind of edit is tried on as many places at once as possible, then on ever smaller groups (as in
A. Zeller, R. Hildebrandt: "Simplifying and isolating failure-inducing input", 2002), until no kind
changes anything any more. The order is fixed and nothing is drawn, so that the same module and
test give the same result.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ModuleOp

from lowerings.delta_debugging import attributes, operations, types
from lowerings.delta_debugging.edits import Edit, Reduction
from lowerings.driver.collector import collector_paused
from lowerings.execution.limited import TimeIsOver
from xla_dialect.mlir_text import print_mlir
from xla_dialect.verification import verify
from xla_dialect.xdsl.traversal import operations_in

REDUCTIONS: tuple[Reduction, ...] = (
    Reduction("drop functions", operations.drop_functions),
    # What runs the program is quicker on small arrays.
    Reduction("smaller sizes", types.smaller_sizes, in_groups=False),
    Reduction("drop results", operations.drop_results),
    Reduction("cut off the end", operations.cut, in_groups=False),
    Reduction("drop results", operations.drop_results),
    Reduction("drop what is not used", operations.drop_unused),
    Reduction("inline calls", operations.inline_calls, in_groups=False),
    Reduction("operations become parameters", operations.to_parameters),
    Reduction("drop what is not used", operations.drop_unused),
    Reduction("operations become operands", operations.to_operands),
    Reduction("operations become constants", operations.to_constants),
    Reduction("drop operations", operations.drop_effects),
    Reduction("inline regions", operations.inline_regions),
    Reduction("take tuples apart", operations.flatten_tuples, in_groups=False),
    Reduction("drop loop-carried values", operations.drop_carried),
    Reduction("drop what is not used", operations.drop_unused),
    Reduction("drop parameters", operations.drop_parameters),
    Reduction("merge parameters", operations.merge_parameters),
    Reduction("smaller sizes", types.smaller_sizes, in_groups=False),
    Reduction("fewer dimensions", types.fewer_dimensions, in_groups=False),
    Reduction("simpler element types", types.simpler_elements, in_groups=False),
    Reduction("default layouts", types.default_layouts),
    Reduction("drop attributes", attributes.drop_attributes),
    Reduction("simpler numbers", attributes.simpler_numbers),
    Reduction("simpler constants", attributes.simpler_constants),
    Reduction("drop names", attributes.drop_names, in_groups=False),
)
"""Large steps first: a small module is tested quickly."""


Test = Callable[[ModuleOp], bool]
"""Whether a verified module still shows what is looked for; it may change the module."""

COLLECTED_EVERY = 64
"""Modules are made of cycles, which only the collector frees; it would run far more often alone."""


@dataclass
class Progress:
    """What a reduction has done so far."""

    operations: int = 0
    """Of the smallest module found, without functions and the module itself."""
    candidates: int = 0
    """Modules that were made, those among them that do not verify included."""
    tests: int = 0
    """Modules that were tested."""
    seconds: float = 0.0
    reduction: str = ""
    """The kind of edit that made the module smaller last."""
    is_complete: bool = False
    """Whether nothing more can be left out; else it was interrupted, or its time was over."""


@dataclass
class Reducer:
    """
    Reduces a verified module to a smaller one on which the test holds, too.

    What was found so far is in `module` at any time. A second `run` goes on from there.
    """

    module: ModuleOp
    test: Test
    seconds: float = float("inf")
    """The time that all may take."""
    report: Callable[[Progress], None] = lambda progress: None
    """Called whenever the module has become smaller."""
    reductions: Sequence[Reduction] = REDUCTIONS
    progress: Progress = field(default_factory=Progress)
    _exhausted: dict[Reduction, ModuleOp] = field(default_factory=dict[Reduction, ModuleOp])
    """The module in which no edit of a kind was of use."""
    _found: set[str] = field(default_factory=set[str])
    """The texts of all modules that were the smallest once: what edits undo is not found again."""

    def run(self) -> ModuleOp:
        """The smallest module found; Ctrl-C and the end of the time end the search only."""
        start = time.monotonic() - self.progress.seconds
        self._end = start + self.seconds
        self.progress.operations = size_of(self.module)
        self._found.add(print_mlir(self.module))
        try:
            with collector_paused():
                self._to_the_end(start)
            self.progress.is_complete = True
        except (KeyboardInterrupt, TimeIsOver):
            pass
        self.progress.seconds = time.monotonic() - start
        return self.module

    def _to_the_end(self, start: float) -> None:
        """Tries all reductions until none changes anything."""
        smallest = None
        while smallest is not self.module:
            smallest = self.module
            for reduction in self.reductions:
                before = self.module
                if self._exhausted.get(reduction) is before:
                    continue
                (self._in_groups if reduction.in_groups else self._one_by_one)(reduction)
                if self.module is before:
                    self._exhausted[reduction] = before
                else:
                    self.progress.seconds = time.monotonic() - start
                    self.progress.reduction = reduction.name
                    self.report(self.progress)

    def _in_groups(self, reduction: Reduction) -> None:
        """Edits that go together: all, then halves of them and so on; the last first."""
        count = group = len(reduction.edits(self.module))
        while group:
            end = count
            while end > 0:
                start = max(0, end - group)
                if self._try(reduction, start, end):
                    # Edits in front of the group are mostly those that were there before.
                    count = len(reduction.edits(self.module))
                    start = min(start, count)
                end = start
            group = min(group, count)
            group = 0 if group == 1 else (group + 1) // 2

    def _one_by_one(self, reduction: Reduction) -> None:
        """Edits that are alternatives, from the first on; again after each that holds."""
        number = 0
        while number < len(reduction.edits(self.module)):
            number = 0 if self._try(reduction, number, number + 1) else number + 1

    def _try(self, reduction: Reduction, start: int, end: int) -> bool:
        """Whether the module with these edits is the new one; raises TimeIsOver."""
        if time.monotonic() > self._end:
            raise TimeIsOver
        self.progress.candidates += 1
        if self.progress.candidates % COLLECTED_EVERY == 0:
            gc.collect()
        candidate = self.module.clone()
        if not edited(candidate, reduction.edits(candidate)[start:end]) or not verifies(candidate):
            return False
        self.progress.tests += 1
        if not self.test(candidate):
            return False
        # The test has used it up; few are kept, so that making it again costs less than copies.
        again = self.module.clone()
        edited(again, reduction.edits(again)[start:end])
        text = print_mlir(again)
        if text in self._found:
            return False
        self._found.add(text)
        self.module = again
        self.progress.operations = size_of(self.module)
        return True


def edited(module: ModuleOp, edits: Sequence[Edit]) -> bool:
    """Makes edits, the last first; whether something was changed and the module is one still."""
    try:
        # No `any`: each of them is to be made.
        return sum([edit() for edit in reversed(edits)]) > 0
    except Exception:
        # Half of a program may be anything: what operations of any dialect raise then is no fault.
        return False


def verifies(module: ModuleOp) -> bool:
    """Whether a module is valid."""
    try:
        verify(module)
    except Exception:
        # Verifiers of other packages raise what they like for what no reader would let through.
        return False
    return True


def size_of(module: ModuleOp) -> int:
    """The operations of a module, those in regions too; functions and terminators not."""
    return sum(
        1
        for op in operations_in(module)
        if op.name not in ("builtin.module", "func.func", "func.return", "xla.return")
    )
