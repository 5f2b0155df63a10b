"""Comparing what a module computes after each pass with what it computed before."""

from __future__ import annotations

import base64
import json
import time
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from math import prod
from typing import IO, cast
from zipfile import BadZipFile

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from lowerings.execution.program_shards import ProgramShards
from lowerings.execution.signature import Signature
from lowerings.expand.stablehlo_legalize_quant_to_math import StablehloLegalizeQuantToMathPass
from lowerings.pipelines import TO_ONE_DEVICE
from lowerings.rewriting.passes import differences_of
from lowerings.validation.allowances import Allowance, allowances_of
from lowerings.validation.comparing import Case, ResultComparison
from lowerings.validation.conditioning import (
    Nearby,
    Neighbours,
    rounded_otherwise,
    with_signs_of_nans,
)
from lowerings.validation.dependence import changed_functions, complex_results
from lowerings.validation.execution import (
    Execution,
    ExecutionInParts,
    Outcome,
    Results,
    entries,
    is_pure_xla,
    obstacle,
    outcome_of,
    outcomes,
    signature_before,
)
from lowerings.validation.inputs import Input, InputChoice, are_stored, made_inputs, spelled
from lowerings.validation.quantized import as_defined, quantizations, terms_of, with_other_ties
from lowerings.validation.shrinking import shrink
from xla_dialect.diagnostics import XlaError
from xla_dialect.literals.arrays import Array, check_memory
from xla_dialect.ops.contraction import ConvolutionOp, DotOp
from xla_dialect.quantized_types import Quantization
from xla_dialect.runtime.limits import TimeLimitReached
from xla_dialect.types import Array as ArrayType
from xla_dialect.types import sizes_of
from xla_dialect.xdsl.traversal import operations_in

LARGEST_INPUT = 1 << 28
"""Bytes of an array that is made up."""

MOST_PRODUCTS = 1 << 30
"""Products of a dot or convolution: one step of numpy does not look at the time that is left."""

_NOT_INTERPRETED = (
    "does not know this operation",
    "does not evaluate",
    # The symbol of a custom call, which only machine code has.
    "is not defined in this module",
)
"""Parts of messages that mean that a valid module cannot be interpreted."""

UNWRITTEN = "what it returns depends on memory that nothing is written to"

SECONDS_AFTER_A_PASS = 30.0
"""After this time no further input is tried on a pass; the first one always is."""


class MeaningChanged(XlaError):
    """A pass after which a program computes something else."""

    def __init__(self, message: str, module: ModuleOp, spec: str, inputs: str):
        """`module`: before the pass `spec`; `inputs`: what `Validator` takes to try it again."""
        super().__init__(message)
        self.module = module
        self.spec = spec
        self.inputs = inputs


@dataclass
class _Entry:
    """One function that is validated."""

    name: str
    signature: Signature
    before: Execution
    count: int = 0
    """How many results there are."""
    allowances: list[Sequence[Allowance]] = field(default_factory=list[Sequence[Allowance]])
    """
    Those of each result, of the passes since `before`, after which the module could not be run.
    """
    cases: list[Case] = field(default_factory=list[Case])
    shards: ProgramShards | None = None
    """What each device has, where the function has become that of one device."""
    local: Signature | None = None
    """That of the function of one device."""
    quantized: Sequence[Sequence[Quantization | None]] = ((), ())
    """How integers of parameters and results stand for numbers; empty where none does."""
    ties: Sequence[Execution] = ()
    """The first module, but that ties between stored integers are rounded otherwise."""

    complex: Collection[int] = ()
    """The results that depend on complex numbers in the first module."""

    def execution(self, module: ModuleOp) -> Execution:
        """What runs the function of a module, which takes what the first one did."""
        if self.shards is None or self.local is None:
            return Execution(module, self.name, self.signature)
        return ExecutionInParts(module, self.name, self.signature, self.shards, self.local)

    def neighbours(self, case: Case, module_pass: ModulePass) -> Neighbours:
        """What the function computes where a pass may round otherwise, or nearby."""
        stated = [each.where for each in differences_of(module_pass)]
        modules = rounded_otherwise(self.before.module, lambda op: any(w(op) for w in stated))
        # Of what is defined, ties say all: where there are none, numbers are exact.
        is_defined = module_pass.name == StablehloLegalizeQuantToMathPass.name
        return Neighbours(
            case.nearby,
            () if is_defined else map(self.execution, modules),
            self.ties,
            map(case.nearby.run.of, with_signs_of_nans(case.nearby.run.module)),
            [number for number, each in enumerate(self.quantized[1]) if each is not None],
        )


class Validator:
    """
    Runs every public function of a module after every pass, on the same inputs.

    To be called before the first pass and after each. A function that a pass leaves as it was is
    not run again. What cannot be checked is noted, and kept in `unchecked`.
    """

    def __init__(self, notes: IO[str], inputs: str = "", choice: InputChoice | None = None):
        """`inputs`: of `MeaningChanged`; without them they are made up, as `choice` says."""
        self._notes = notes
        self._inputs: dict[str, str] = json.loads(inputs) if inputs else {}
        self._choice = choice or InputChoice()
        self._entries: list[_Entry] | None = None
        self._before: ModuleOp | None = None
        """The module before the pass that is running."""
        self.unchecked: list[str] = []
        """What could not be checked: of which passes, on which values, and why."""

    @property
    def compares(self) -> bool:
        """Whether there is a function that it can run, on some inputs at least."""
        return any(entry.cases for entry in self._entries or ())

    def before(self, module_pass: ModulePass, module: ModuleOp) -> None:
        """Records the results of the module before the first pass that it can be compared after."""
        if self._entries is not None:
            return
        self._before = module.clone()
        try:
            as_defined(module)
        except XlaError as error:
            name = StablehloLegalizeQuantToMathPass.name
            self._note(f"nothing is compared before {name} has run: {_first_line(error)}")
            return
        self._entries = []
        for name in entries(module):
            try:
                self._entries.append(self._entry(self._before, name))
            except XlaError as error:
                self._note(f"@{name} is not validated: {_first_line(error)}")

    def after(self, module_pass: ModulePass, module: ModuleOp) -> None:
        """Raises MeaningChanged if a function computes something else now."""
        snapshot = module.clone()
        names = entries(snapshot)
        assert self._before is not None
        changed = changed_functions(self._before, snapshot)
        for entry in list(self._entries or ()):
            if entry.name not in names:
                self._note(f"after {module_pass.name} there is no @{entry.name} any more")
                assert self._entries is not None
                self._entries.remove(entry)
            elif entry.name in changed:
                self._check(entry, module_pass, snapshot)
        self._before = snapshot

    def _note(self, text: str) -> None:
        if text not in self.unchecked:
            self.unchecked.append(text)
            print(f"note: {text}", file=self._notes)

    def _entry(self, module: ModuleOp, name: str) -> _Entry:
        """A function with its results; raises XlaError for one that cannot be run."""
        if (reason := obstacle(module, name)) is not None:
            raise XlaError(reason)
        source, module = module, as_defined(module)
        signature = signature_before(module, name)
        for spec in signature.parameters:
            check_memory(spec.type, LARGEST_INPUT)
        _check_products(module)
        entry = _Entry(name, signature, Execution(module, name, signature))
        if module is not source:
            entry.quantized = quantizations(source, name)
            entry.ties = [Execution(each, name, signature) for each in with_other_ties(source)]
        inputs = self._made_inputs(entry)
        failures: list[str] = []
        for each in inputs:
            try:
                results = entry.before(each.arrays)
                if not is_pure_xla(module) and not _are_same(results, entry.before(each.arrays)):
                    # Each run finds other bytes in memory that is new.
                    failures.append(UNWRITTEN)
                    continue
                nearby = Nearby(entry.before, each.arrays)
                entry.cases.append(Case(each.kinds, each.arrays, results, nearby))
            except XlaError as error:
                failures.append(_first_line(error))
        if not entry.cases:
            raise XlaError(failures[0])
        entry.count = len(entry.cases[0].results)
        entry.complex = complex_results(module, name, entry.count)
        if failures:
            self._note(
                f"@{name} is not validated on {len(failures)} of {len(inputs)} inputs: "
                f"{failures[0]}"
            )
        return entry

    def _made_inputs(self, entry: _Entry) -> list[Input]:
        if entry.name in self._inputs:
            return [Input(frozenset(), _unpacked(self._inputs[entry.name], entry.signature))]
        if not entry.signature.parameters:
            return [Input(frozenset(), [])]
        return made_inputs(entry.signature, self._choice, entry.quantized[0])

    def _check(self, entry: _Entry, module_pass: ModulePass, module: ModuleOp) -> None:
        assert self._before is not None
        if module_pass.name == TO_ONE_DEVICE:
            entry.shards = ProgramShards.of(self._before, entry.name)
            entry.local = signature_before(module, entry.name)
        execution = entry.execution(as_defined(module))
        stated = allowances_of(module_pass, as_defined(self._before), entry.name, entry.count)
        entry.allowances.append(stated)
        comparison = ResultComparison(entry.allowances, entry.complex)
        found: list[Case] = []
        unfounded: dict[str, list[set[int]]] = defaultdict(list)
        end = time.monotonic() + SECONDS_AFTER_A_PASS

        nearby = [entry.neighbours(case, module_pass) for case in entry.cases]

        def agrees(number: int, outcome: Outcome) -> bool:
            if isinstance(outcome, XlaError):
                return False
            case = entry.cases[number]
            return comparison.wrong(outcome, case.results, case.kinds, nearby[number]) is None

        runs = outcomes(execution, [case.arrays for case in entry.cases], agrees)
        for number, case in enumerate(entry.cases):
            if time.monotonic() > end:
                self._note(
                    f"after {module_pass.name} @{entry.name} takes long: it is run on {number} "
                    f"of {len(entry.cases)} inputs"
                )
                break
            neighbours = nearby[number]
            try:
                results, wrong = _difference(next(runs), case, comparison, neighbours)
            except _NotRun as why:
                self._note(f"@{entry.name} is not run after {module_pass.name}: {why}")
                return
            if wrong is not None:
                raise self._changed(entry, module_pass, execution, case, comparison, wrong)
            for reason in {*neighbours.explained.values()}:
                of = {number for number, why in neighbours.explained.items() if why == reason}
                unfounded[reason].append(of)
            if results is not None:
                found.append(_next_case(case, execution, results))
        after = f"@{entry.name} is not compared after {module_pass.name}"
        for where, reason in comparison.left_out(entry.cases):
            self._note(f"{after} {where}: {reason}")
        for reason, found_of in unfounded.items():
            where = comparison.spelled(set[int]().union(*found_of))
            inputs = f"on {len(found_of)} of {len(entry.cases)} inputs"
            self._note(f"{after} {where}{inputs}: {reason}")
        entry.cases = found
        entry.before = execution
        entry.allowances = []

    def _changed(
        self,
        entry: _Entry,
        module_pass: ModulePass,
        execution: Execution,
        case: Case,
        comparison: ResultComparison,
        wrong: str,
    ) -> MeaningChanged:
        def found(arrays: list[Array]) -> str | None:
            if not are_stored(arrays, entry.quantized[0]):
                return None
            try:
                nearby = Nearby(case.nearby.run, arrays)
                smaller = Case(case.kinds, arrays, entry.before(arrays), nearby)
                neighbours = entry.neighbours(smaller, module_pass)
                return _difference(outcome_of(execution, arrays), smaller, comparison, neighbours)[
                    1
                ]
            except (XlaError, _NotRun):
                return None

        arrays = case.arrays if self._inputs else shrink(case.arrays, found)
        wrong = found(arrays) or wrong
        inputs = "".join(
            f"\n  {entry.signature.parameter_name(number)}: {spec} = {spelled(array)}"
            for number, (spec, array) in enumerate(
                zip(entry.signature.parameters, arrays, strict=True)
            )
        )
        assert self._before is not None
        return MeaningChanged(
            f"{module_pass.name} changes what @{entry.name} computes: {wrong}"
            + (f"\nthe smallest input found:{inputs}" if inputs else ""),
            self._before,
            str(module_pass.spec()),
            json.dumps({entry.name: _packed(entry.before, arrays)}),
        )


def _next_case(case: Case, execution: Execution, results: Results) -> Case:
    """
    The case after a pass. What is below the xla level computes the same bit by bit, or nearly, and
    takes ten times as long: so what the reference ran last shows what the last bits do.
    """
    is_fast = is_pure_xla(execution.module)
    nearby = Nearby(execution, case.arrays) if is_fast else case.nearby
    return Case(case.kinds, case.arrays, results, nearby)


class _NotRun(Exception):
    """A module that nothing here can run, and why."""


def _difference(
    outcome: Outcome, case: Case, comparison: ResultComparison, neighbours: Neighbours
) -> tuple[Results | None, str | None]:
    """The results, and what is wrong with them; raises _NotRun."""
    if not isinstance(outcome, XlaError):
        return outcome, comparison.wrong(outcome, case.results, case.kinds, neighbours)
    text = str(outcome)
    if isinstance(outcome, TimeLimitReached):
        raise _NotRun(text)
    if any(words in text for words in _NOT_INTERPRETED):
        raise _NotRun(_first_line(outcome))
    return None, text if comparison.is_whole(case.kinds) else None


def _are_same(first: Results, second: Results) -> bool:
    """Whether results are, bit by bit."""
    return [each.tobytes() for each in first] == [each.tobytes() for each in second]


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0]


def _packed(before: Execution, arrays: Sequence[Array]) -> str:
    """Arrays, in the order of memory where the module before the pass has it."""
    data = BytesIO()
    np.savez_compressed(data, *before.own_arguments(arrays))
    return base64.b64encode(data.getvalue()).decode("ascii")


def _unpacked(text: str, signature: Signature) -> list[Array]:
    """The arrays for a signature; raises XlaError if they are not what it takes."""
    try:
        found = [*np.load(BytesIO(base64.b64decode(text))).values()]
        if len(found) != len(signature.parameters):
            raise ValueError(f"they are {len(found)} arrays")
        # Numpy does not know types of other packages.
        arrays = [a.view(s.dtype) for a, s in zip(found, signature.parameters, strict=True)]
        for spec, array in zip(signature.parameters, arrays, strict=True):
            if not spec.admits(array.shape):
                raise ValueError(f"sizes {list(array.shape)} for {spec}")
    except (ValueError, EOFError, BadZipFile) as error:
        raise XlaError(f"the inputs are not those of {signature}: {error}") from None
    return arrays


def _check_products(module: ModuleOp) -> None:
    """Raises XlaError for a dot or convolution of more than MOST_PRODUCTS."""
    for op in operations_in(module):
        if not isinstance(op, DotOp | ConvolutionOp):
            continue
        products = terms_of(op) * prod(sizes_of(cast(ArrayType, op.results[0].type)))
        if products > MOST_PRODUCTS:
            raise XlaError(f"{op.name} takes {products} products, the limit is {MOST_PRODUCTS}")
