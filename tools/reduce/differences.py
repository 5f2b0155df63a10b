"""What a program computes, beside what it computes on another executor or after passes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from lowerings.compilation import BACKENDS, INTERPRETER, Options, compile_module
from lowerings.driver.context import make_context
from lowerings.driver.levels import level_of
from lowerings.driver.pass_manager import PassManager
from lowerings.execution.limited import Death, in_child
from lowerings.execution.signature import Signature
from lowerings.interpreter.elements import is_of_undefined_behavior
from lowerings.pipelines import LEVELS
from lowerings.validation.allowances import Allowance, allowances_of, together
from lowerings.validation.comparing import ResultComparison
from lowerings.validation.dependence import complex_results
from lowerings.validation.execution import Execution, entries, obstacle, signature_before
from lowerings.validation.inputs import EVERY_INPUT, Input, InputChoice, InputKind, made_inputs
from lowerings.validation.shrinking import shrink
from xla_dialect.diagnostics import XlaError
from xla_dialect.entry import ENTRY_SYMBOL
from xla_dialect.literals.arrays import Array, check_memory

from ..comparison import mismatches
from .interestingness import Finding, Test
from .xla_cpu import run_on_xla_cpu

XLA_CPU = "xla-cpu"
"""The executor that is JAX's own, where jaxlib is installed."""
EXECUTORS = (*BACKENDS, XLA_CPU)
LARGEST_INPUT = 1 << 28
"""Bytes of an array that is made up."""

OF_MACHINE_CODE = Allowance(4096, (InputKind.PLAIN,), (InputKind.PLAIN,))
"""It is compared by a tolerance, so on inputs of moderate size only."""


@dataclass(frozen=True)
class FoundDifference:
    """A difference, with the input that shows it."""

    message: str
    kinds: frozenset[InputKind]
    """What the numbers of the input are like."""
    entry: str
    arrays: Sequence[Array]
    expected: Sequence[Array]


@dataclass(frozen=True)
class Differs(Test):
    """What is computed after the passes, on an executor, is not what it was."""

    name = "differs"
    executor: str = ""
    """What runs the program after the passes; by default the interpreter where there are some, else
    machine code."""
    expected: str = "reference"
    """What runs the program before them."""
    entry: str = ""
    tolerance: float | int | None = None
    """
    The largest error of floats, relative to the largest magnitude; None: what passes and executors
    may change by the table of `--validate-each`.
    """
    seed: int = 0
    seeds: int = 1
    """How many times inputs are made, as `--validate-each` makes them."""
    inputs: tuple[str, ...] = ()
    """Their kinds; none: for each result those on which the passes keep what is computed."""
    like: frozenset[InputKind] = frozenset()
    """If there are any, only inputs with all these kinds, but that numbers may be plain."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for what, given, known in (
            ("is no executor", (self.executor or BACKENDS[0], self.expected), EXECUTORS),
            ("are no inputs", self.inputs, [kind.value for kind in InputKind]),
        ):
            for each in given:
                if each not in known:
                    there_are = ", ".join(known)
                    raise XlaError(f"test differs: there {what} '{each}' (there are: {there_are})")

    def find(self, module: ModuleOp, passes: Sequence[ModulePass]) -> Finding | None:
        found = self.first(module, passes)
        return None if found is None else Finding(found.message, "values", found.kinds)

    def narrowed(self, finding: Finding) -> Test:
        """On inputs like the one that showed the difference only."""
        return replace(self, like=finding.shown_by)

    def first(
        self, module: ModuleOp, passes: Sequence[ModulePass], *, is_small: bool = False
    ) -> FoundDifference | None:
        """
        The first difference; None where there is none, or one of both does not run.

        If `is_small`, with as few elements that are not 0 as will do.
        """
        try:
            sides = self._sides(module, passes)
        except XlaError:
            return None
        for each in sides.inputs(self):
            arrays, wrong = each.arrays, sides.wrong(each.arrays, each.kinds)
            if wrong is None:
                continue
            if is_small:
                arrays = shrink(arrays, partial(sides.wrong, kinds=each.kinds))
                wrong = sides.wrong(arrays, each.kinds) or wrong
            expected = sides.before.run(arrays)
            return FoundDifference(wrong, each.kinds, sides.before.entry, arrays, expected)
        return None

    def obstacle(self, module: ModuleOp, passes: Sequence[ModulePass]) -> str:
        """Why nothing can be said of a module; empty where it can be run before and after."""
        if (found := obstacle(module)) is not None:
            return found
        try:
            sides = self._sides(module, passes)
            arrays = sides.inputs(self)[0].arrays
            sides.before.run(arrays)
            sides.after.run(arrays)
        except XlaError as error:
            return "" if is_of_undefined_behavior(error) else str(error).splitlines()[0]
        return ""

    def scope(self, module: ModuleOp, passes: Sequence[ModulePass]) -> str:
        """On which inputs results are compared, in words; empty where none is made."""
        try:
            sides = self._sides(module, passes)
        except XlaError:
            return ""
        inputs = sides.inputs(self)
        names = [kind.value for kind in InputKind if any(kind in each.kinds for each in inputs)]
        others = "" if len(names) == len(InputKind) else " (inputs= chooses others)"
        shown = f"results are equal on inputs with {' and '.join(names)} values{others}"
        return shown if names else ""

    def _sides(self, module: ModuleOp, passes: Sequence[ModulePass]) -> _Sides:
        names = entries(module)
        wanted = self.entry.removeprefix("@") or ENTRY_SYMBOL
        if not names or (self.entry and wanted not in names):
            raise XlaError("there is no such public function")
        entry = wanted if wanted in names else names[0]
        signature = signature_before(module, entry)
        for spec in signature.parameters:
            check_memory(spec.type, LARGEST_INPUT)
        before, count = module.clone(), len(signature.results)
        complex_ones = complex_results(module, entry, count)
        stated: list[list[Allowance]] = []

        def state(module_pass: ModulePass, module: ModuleOp) -> None:
            stated.append(allowances_of(module_pass, module, entry, count))

        # A pass that fails makes no difference: `fails` is the test for that.
        PassManager(make_context(), before=[state]).run(module, passes)
        executor = self.executor or (INTERPRETER if passes else BACKENDS[0])
        if {executor, self.expected} - {"reference", INTERPRETER}:
            stated.append([OF_MACHINE_CODE] * count)
        allowances = [self._allowed(each) for each in zip(*stated, strict=True)]
        return _Sides(
            _Side(before, self.expected, entry, signature, self.seconds),
            _Side(module, executor, entry, signature, self.seconds),
            ResultComparison([allowances or [self._allowed(())] * count], complex_ones),
        )

    def _allowed(self, stated: Sequence[Allowance]) -> Allowance:
        """What may differ in a result, of what passes and executors may change."""
        found = together(stated)
        if self.tolerance is not None:
            found = _Tolerance(
                kinds=found.kinds, complex_kinds=found.complex_kinds, tolerance=self.tolerance
            )
        if self.inputs:
            found = replace(found, kinds=EVERY_INPUT, complex_kinds=EVERY_INPUT)
        return found


@dataclass(frozen=True)
class _Tolerance(Allowance):
    """What the user lets differ."""

    tolerance: float = 0.0

    def differing(self, found: Array, expected: Array) -> Array:
        """Where two arrays differ by more than the share of the largest magnitude."""
        return mismatches(found, expected, self.tolerance)


@dataclass(frozen=True)
class _Side:
    """A module with what runs it."""

    module: ModuleOp
    executor: str
    entry: str
    signature: Signature
    seconds: float

    def run(self, arrays: Sequence[Array]) -> Sequence[Array]:
        """The results; raises XlaError where the program cannot be run."""
        if self.executor == XLA_CPU:
            with np.errstate(all="ignore"):
                return run_on_xla_cpu(self.module, self.entry, arrays, self.seconds)
        if self.executor in ("reference", INTERPRETER):
            return Execution(self.module, self.entry, self.signature)(arrays)
        is_laid_out = self.signature.in_memory is not self.signature
        if is_laid_out and level_of(self.module) != LEVELS[0]:
            raise XlaError(f"'{self.executor}' takes arrays with layouts at the level {LEVELS[0]}")
        found = in_child(lambda: self._compiled(arrays), self.seconds)
        if isinstance(found, Death):
            raise XlaError(f"{self.executor}: {found}")
        if isinstance(found, str):
            raise XlaError(found)
        return found

    def _compiled(self, arrays: Sequence[Array]) -> Any:
        """Results of machine code, which may end its process; or the message of an error."""
        os.environ["OMP_NUM_THREADS"] = "1"
        options = Options(backend=self.executor, entry=self.entry, num_threads=1)
        try:
            return compile_module(self.module.clone(), options)(*arrays)
        except XlaError as error:
            return str(error)


@dataclass(frozen=True)
class _Sides:
    before: _Side
    after: _Side
    comparison: ResultComparison

    def inputs(self, wanted: Differs) -> list[Input]:
        """The inputs to compare on; a function without parameters has one."""
        signature = self.before.signature
        if not signature.parameters:
            return [Input(frozenset(), [])]
        asked = tuple(map(InputKind, wanted.inputs))
        kinds = asked or self.comparison.kinds or (InputKind.PLAIN,)
        like = wanted.like - {InputKind.PLAIN}
        return [
            each
            for seed in range(wanted.seed, wanted.seed + wanted.seeds)
            for each in made_inputs(signature, InputChoice(seed, kinds=kinds))
            if not wanted.like or each.kinds - {InputKind.PLAIN} == like
        ]

    def wrong(self, arrays: Sequence[Array], kinds: frozenset[InputKind]) -> str | None:
        """What is wrong with the results; nothing where one of both sides does not run."""
        try:
            expected = self.before.run(arrays)
        except XlaError:
            return None
        try:
            found = self.after.run(arrays)
        except XlaError as error:
            is_wrong = is_of_undefined_behavior(error) and self.comparison.is_whole(kinds)
            return str(error).splitlines()[0] if is_wrong else None
        return self.comparison.wrong(tuple(found), tuple(expected), kinds)
