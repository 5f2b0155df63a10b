"""The first of a list of passes that makes a difference, and its first rewrite that does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from lowerings.driver.context import make_context
from lowerings.driver.pass_manager import PassManager
from lowerings.execution.limited import Death, in_child
from lowerings.rewriting.counting import RewriteCounter

from ..pass_instrumentation import CountedPass, PrintingFlags, diff
from .interestingness import LONGEST, Finding, Test, Uninteresting

MOST_REWRITES = 1 << 24
"""As many are looked at."""


@dataclass(frozen=True)
class Culprit:
    """The step that makes the difference."""

    passes: Sequence[ModulePass]
    """Up to the pass that makes it, which is the last."""
    first: int
    """The number of the first pass that may be it, from 1 on; that of the last mostly."""
    finding: Finding
    """What is found after it."""
    rewrite: int | None = None
    """The number of its rewrite; None where the pass counts none, or does it all at once."""
    earlier: int = 0
    """The rewrites of earlier runs of the same pass, which `--debug-counter` counts as well."""
    diff: str = ""
    """What the rewrite changed, or else the pass."""


def bisect(test: Test, module: ModuleOp, passes: Sequence[ModulePass]) -> Culprit:
    """
    The first pass after which a test finds what it finds after all, and its first rewrite.

    Raises Uninteresting where it finds nothing after all passes, or something before the first.
    """

    def found_after(steps: Sequence[ModulePass]) -> Finding | None:
        return test.within_time(module.clone(), steps)

    if not passes:
        raise Uninteresting("--bisect is for a list of passes (see -p)")
    if (after_all := found_after(passes)) is None:
        why = test.nothing(module, passes)
        raise Uninteresting(f"after all passes the test finds nothing{why}")
    if (found := found_after(())) is not None:
        raise Uninteresting(f"the test holds before the first pass: {found.message}")

    def holds_after(count: int) -> bool | None:
        found = found_after(passes[:count])
        if found is None and test.obstacle(module.clone(), passes[:count]):
            return None
        return found is not None and test.is_same(after_all, found)

    first, last = first_that_holds(holds_after, len(passes))
    steps = passes[:last]
    finding = found_after(steps) or after_all
    rewrite = _first_rewrite(test, module, steps, finding) if first == last else None
    earlier = 0 if rewrite is None else _earlier_rewrites(module, steps)
    changes = _diff(module, passes[: first - 1], steps, rewrite)
    return Culprit(steps, first, finding, rewrite, earlier, changes)


def _earlier_rewrites(module: ModuleOp, steps: Sequence[ModulePass]) -> int:
    """How many rewrites runs of the last pass make that come before its last."""
    *before, last = steps
    if all(each.name != last.name for each in before):
        return 0
    counter = RewriteCounter()
    counted = [CountedPass(each, counter) if each.name == last.name else each for each in before]
    PassManager(make_context()).run(module.clone(), counted)
    return counter.done


def first_that_holds(holds: Callable[[int], bool | None], last: int) -> tuple[int, int]:
    """
    A number from 1 on that a property holds of, and not of the one before it.

    It holds of `last` and not of 0. Where it is not known (None) of some numbers, the answer is the
    first and the last of those among which it changes.
    """
    below, above = 0, last
    unknown: set[int] = set()
    while known := [n for n in range(below + 1, above) if n not in unknown]:
        middle = min(known, key=lambda n: abs(2 * n - below - above))
        match holds(middle):
            case None:
                unknown.add(middle)
            case True:
                above = middle
            case False:
                below = middle
    return below + 1, above


def _first_rewrite(
    test: Test, module: ModuleOp, steps: Sequence[ModulePass], finding: Finding
) -> int | None:
    """The number of the first rewrite of the last pass that makes the difference."""

    def holds_after(count: int) -> bool:
        limited = CountedPass(steps[-1], RewriteCounter(count))
        found = test.within_time(module.clone(), [*steps[:-1], limited])
        return found is not None and test.is_same(finding, found)

    if holds_after(0):
        return None
    count = 1
    while not holds_after(count):
        count *= 2
        if count > MOST_REWRITES:
            return None
    return first_that_holds(lambda n: n > count // 2 and holds_after(n), count)[1]


def _diff(
    module: ModuleOp, before: Sequence[ModulePass], steps: Sequence[ModulePass], rewrite: int | None
) -> str:
    """What a step changed; nothing where it ends the process."""
    printer = PrintingFlags().steady_printer()
    texts: list[str] = []
    name = steps[-1].name

    def run() -> list[str]:
        changed = module.clone()
        manager = PassManager(make_context(), verify_each=False, verify_last=False)
        manager.run(changed, before)
        texts.append(printer.text(changed))
        last: Sequence[ModulePass] = steps[len(before) :]
        if rewrite is not None:
            counter = RewriteCounter(rewrite, after=lambda n: texts.append(printer.text(changed)))
            last = [*last[:-1], CountedPass(last[-1], counter)]
        try:
            manager.run(changed, last)
        except Exception:
            # What fails is what is looked for.
            pass
        if rewrite is None:
            texts.append(printer.text(changed))
        return texts

    found = in_child(run, LONGEST)
    if isinstance(found, Death) or len(found) < 2:
        return ""
    what = f"rewrite {rewrite} of {name}" if rewrite is not None else name
    return diff(found[-2], found[-1], f"before {what}", f"after {what}")
