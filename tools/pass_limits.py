"""`--opt-bisect-limit` and `--debug-counter`: pipelines that stop half-way."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.arg_spec import ArgSpec

from lowerings.driver.pass_manager import PipelinePass
from lowerings.rewriting.change import ReportingPass, run_pass
from lowerings.rewriting.counting import RewriteCounter, counted_by
from lowerings.rewriting.difference import ResultDifference, differences_of
from lowerings.universe import toolkit_universe
from xla_dialect.diagnostics import XlaError

_COUNTER = re.compile(r"(?P<name>[\w.-]+)-(?P<what>count|skip)=(?P<number>\d+)")


class CountedPass(ModulePass):
    """A pass whose rewrites are counted, and that makes no more of them after some."""

    def __init__(self, module_pass: ModulePass, counter: RewriteCounter):
        """`counter`: of one run, or of all runs of the passes of a name."""
        self.inner = module_pass
        self.counter = counter
        object.__setattr__(self, "name", module_pass.name)

    @property
    def difference(self) -> tuple[ResultDifference, ...]:
        """What the pass may change."""
        return differences_of(self.inner)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """
        Does the work of the pass, as far as the counter allows.

        A pass that counts nothing and changes something does it all at once: that is one rewrite.
        """
        if self.counter.has_stopped and self._is_one_rewrite(ctx, op.clone()):
            return
        done = self.counter.done
        before = None if isinstance(self.inner, ReportingPass) else op.clone()
        with counted_by(self.counter):
            is_changed = run_pass(self.inner, ctx, op)
            if self.counter.done == done and is_changed and not _is_same(before, op):
                self.counter.attempt(lambda: None, is_made=lambda _: True)

    def _is_one_rewrite(self, ctx: Context, op: ModuleOp) -> bool:
        """Whether the pass, that this is run for once, counts no rewrites."""
        counter = RewriteCounter()
        with counted_by(counter):
            run_pass(self.inner, ctx, op)
        return counter.done == 0

    def spec(self, *, include_default: bool = False) -> ArgSpec:
        """The pass as the command line has it."""
        return self.inner.spec(include_default=include_default)


def _is_same(before: ModuleOp | None, after: ModuleOp) -> bool:
    """Whether a pass has left what was there before it, if that is known."""
    return (
        before is not None
        and before.attributes == after.attributes
        and before.body.is_structurally_equivalent(after.body)
    )


@dataclass(frozen=True)
class PassLimits:
    """After how many passes, and after how many rewrites of a pass, nothing is done any more."""

    passes: int | None
    """None or -1: all are run; with a number, those that are run are named."""
    rewrites: dict[str, int]
    """By the name of a pass."""
    counters: dict[str, RewriteCounter]
    is_printed: bool

    @staticmethod
    def of(passes: int | None, counters: Sequence[str], is_printed: bool) -> PassLimits:
        """What the options say; raises XlaError."""
        if passes is not None and passes < -1:
            raise XlaError(f"--opt-bisect-limit: {passes} is neither a number of passes nor -1")
        rewrites: dict[str, int] = {}
        for text in (part for option in counters for part in option.split(",")):
            found = _COUNTER.fullmatch(text.strip())
            if found is None:
                raise XlaError(f"--debug-counter: '{text}' is not of the form PASS-count=N")
            if found["what"] == "skip":
                raise XlaError(
                    f"--debug-counter: '{text}': rewrites are counted by making them, so that the "
                    "first cannot be skipped (there is PASS-count=N)"
                )
            if found["name"] not in toolkit_universe().all_passes:
                raise XlaError(f"--debug-counter: there is no pass '{found['name']}'")
            rewrites[found["name"]] = int(found["number"])
        return PassLimits(passes, rewrites, {}, is_printed)

    def limited(self, pipeline: Sequence[PipelinePass], output: IO[str]) -> list[PipelinePass]:
        """The passes that are run, those that have a limit stopped by it."""
        names = {each.module_pass.name for each in pipeline}
        if unused := sorted(self.rewrites.keys() - names):
            raise XlaError(f"--debug-counter: the pipeline has no pass {', '.join(unused)}")
        found: list[PipelinePass] = []
        for number, each in enumerate(pipeline, 1):
            is_run = self.passes in (None, -1) or number <= (self.passes or 0)
            if self.passes is not None:
                word = "running" if is_run else "NOT running"
                print(f"BISECT: {word} pass ({number}) {each.module_pass.name}", file=output)
            if is_run:
                found.append(replace(each, module_pass=self._counted(each.module_pass)))
        return found

    def _counted(self, module_pass: ModulePass) -> ModulePass:
        name = module_pass.name
        if name not in self.rewrites and not self.is_printed:
            return module_pass
        counter = self.counters.setdefault(name, RewriteCounter(self.rewrites.get(name)))
        return CountedPass(module_pass, counter)

    def print(self, output: IO[str]) -> None:
        """Prints how many rewrites there were, if that was asked for."""
        if not self.is_printed:
            return
        for name, counter in self.counters.items():
            limit = "" if counter.limit is None else f" of {counter.limit} at most"
            print(f"{name}: {counter.done} rewrites{limit}", file=output)
