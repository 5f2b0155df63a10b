"""What becomes of programs in a child: loaded once the passes are what they are to be there."""

import copy
import dis
import gc
import hashlib
import io
import sys
from collections import defaultdict
from collections.abc import Collection, Container, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from random import Random
from types import CodeType, FrameType
from typing import Any, TypeVar, cast

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from lowerings.driver.context import make_context
from lowerings.driver.pass_manager import PassManager, parse_passes
from lowerings.driver.program import parse_program
from lowerings.execution.limited import Death, TimeIsOver, in_child, time_limit
from lowerings.validation import MeaningChanged, Validator, validator
from lowerings.validation.execution import Execution, entries, obstacle, outcomes, signature_before
from lowerings.validation.inputs import InputChoice, made_inputs
from mutation.changing import change_functions
from mutation.operators import FOLDERS, ROOT, Mutation, all_mutations, in_turns
from mutation.results import Results, difference
from xla_dialect.diagnostics import XlaError

SECONDS_OF_A_PASS = 20.0
SECONDS_OF_A_TRIAL = 120.0
OTHER_INPUTS = InputChoice(11, 3)
"""On which what a mutation makes of a program is compared with what it was."""
MOST_TABLES = 3
"""How many mutations of tables are drawn for a program: all is loaded again for each."""

T = TypeVar("T")
Job = dict[str, Any]
Outcome = dict[str, Any]


class Coverage:
    """The lines of the passes that run."""

    def __init__(self) -> None:
        self._folders = tuple(str(ROOT / "lowerings" / name) + "/" for name in FOLDERS)
        self._left: dict[CodeType, set[int]] = {}
        self.lines: dict[str, set[int]] = defaultdict(set)

    def __enter__(self) -> "Coverage":
        sys.settrace(self._call)
        return self

    def __exit__(self, *error: object) -> None:
        sys.settrace(None)

    def _call(self, frame: FrameType, event: str, arg: Any) -> Any:
        code = frame.f_code
        left = self._left.get(code)
        if left is None:
            is_ours = code.co_filename.startswith(self._folders)
            left = {line for _, line in dis.findlinestarts(code) if line} if is_ours else set[int]()
            self._left[code] = left
        if not left:
            return None
        lines = self.lines[code.co_filename]

        def note(frame: FrameType, event: str, arg: Any) -> Any:
            lines.add(frame.f_lineno)
            left.discard(frame.f_lineno)
            return note

        return note(frame, event, arg)


def made(program: dict[str, str]) -> ModuleOp:
    """The module of a program."""
    return parse_program(program["text"], program["name"], cast(Any, program["format"]))


def run(module_pass: ModulePass, module: ModuleOp) -> None:
    """Runs one pass; raises what it raises, and where the module does not verify then."""
    try:
        with time_limit(SECONDS_OF_A_PASS):
            PassManager(make_context()).run(module, [module_pass])
    except TimeIsOver:
        raise XlaError(f"{module_pass.name} takes too long") from None


def digest_of(module: ModuleOp) -> str:
    return hashlib.sha256(str(module).encode()).hexdigest()


def _module_of(file: str) -> str:
    return file.removeprefix(f"{ROOT}/").removesuffix(".py").replace("/", ".")


class ResumedValidator(Validator):
    """A validator that can go on from any pass."""

    def runs(self) -> bool:
        """Whether there is a function that it runs."""
        return bool(self._entries)

    def resumed(self) -> "ResumedValidator":
        """One that has seen the same passes."""
        other = copy.copy(self)
        other.unchecked = list(self.unchecked)
        other._entries = [
            replace(entry, allowances=list(entry.allowances)) for entry in self._entries or ()
        ]
        return other


class NothingToRun(Exception):
    """Of a program in which no function can be run twice."""


class Steps:
    """A program at every step of the pipeline, each with a validator that has seen it so far."""

    def __init__(self, program: dict[str, str]) -> None:
        self.program = program
        self.passes = parse_passes("native")
        self.modules = [made(program)]
        self.places: dict[tuple[str, int], list[int]] = defaultdict(list)
        """For a module and a line the passes that run it, by their place in the pipeline."""
        self.validators = [ResumedValidator(io.StringIO())]
        self.validators[0].before(self.passes[0], self.modules[0])
        if not self.validators[0].runs():
            raise NothingToRun
        for number, module_pass in enumerate(self.passes):
            module = self.modules[-1].clone()
            with Coverage() as coverage:
                run(module_pass, module)
            for file, lines in coverage.lines.items():
                # What stands in tables may be for any program that uses the module.
                for line in (0, *lines):
                    self.places[_module_of(file), line].append(number)
            after = self.validators[-1].resumed()
            after.after(module_pass, module)
            self.modules.append(module)
            self.validators.append(after)
        self.digests = [digest_of(module) for module in self.modules[1:]]
        self.expected, self.results = results_of(self.modules[0]), self.computed(self.modules[-1])

    def computed(self, last: ModuleOp) -> Results:
        return results_of(self.modules[0], last)

    def trial(self, passes: Iterable[int]) -> Outcome:
        """What becomes of the program; `passes` may leave something else than they did."""
        for number in passes:
            outcome = self._from(number)
            if outcome["status"] != "same":
                return outcome
        return {"status": "same"}

    def _from(self, number: int) -> Outcome:
        module = self.modules[number].clone()
        first, *others = self.passes[number:]
        where = {"first": first.name}
        if (wrong := failure(first, module)) is not None:
            return {**wrong, **where}
        if digest_of(module) == self.digests[number]:
            return {"status": "same"}
        checking = self.validators[number].resumed()
        if (wrong := named(checking, first, module)) is not None:
            return {**wrong, **where}
        # What changes no result at last need not be validated after every pass.
        changed = [module]
        for module_pass in others:
            changed.append(changed[-1].clone())
            if (wrong := failure(module_pass, changed[-1])) is not None:
                return {**wrong, **where}
        at_last = difference(self.computed(changed[-1]), self.results, self.expected)
        if at_last["status"] != "equivalent":
            for module_pass, each in zip(others, changed[1:], strict=True):
                if (wrong := named(checking, module_pass, each)) is not None:
                    return {**wrong, **where}
        return {**at_last, **where}


def failure(module_pass: ModulePass, module: ModuleOp) -> Outcome | None:
    """What a pass ends with that does not do its work."""
    try:
        run(module_pass, module)
    except Exception as error:
        return {**stopped(error), "pass": module_pass.name}
    return None


def named(checking: Validator, module_pass: ModulePass, module: ModuleOp) -> Outcome | None:
    """What a validator says of a pass, if anything."""
    # How small the input can be made is not measured.
    validator.shrink = lambda arrays, fails: list(arrays)
    try:
        checking.after(module_pass, module)
    except MeaningChanged as error:
        message = str(error).splitlines()[0]
        return {"status": "named", "pass": module_pass.name, "message": message[:300]}
    except Exception as error:
        return {**stopped(error), "pass": module_pass.name}
    return None


def stopped(error: Exception) -> Outcome:
    message = f"{type(error).__name__}: {error}".splitlines()[0]
    return {"status": "stopped", "message": message[:300]}


def results_of(first: ModuleOp, last: ModuleOp | None = None) -> Results:
    """What a program computes, at first or at last, on other inputs than it was validated on."""
    found: Results = []
    for name in entries(first):
        if obstacle(first, name) is not None:
            continue
        try:
            signature = signature_before(first, name)
            execution = Execution(first if last is None else last, name, signature)
            inputs = made_inputs(signature, OTHER_INPUTS)
        except XlaError as error:
            found.append(str(error)[:100])
            continue
        for outcome in outcomes(execution, [each.arrays for each in inputs], lambda *_: True):
            if isinstance(outcome, XlaError):
                found.append(str(outcome)[:100])
            else:
                found.append([np.array(array) for array in outcome])
    return found


def trials(job: Job) -> Outcome:
    """What becomes of a program with each of some mutations of what it runs."""
    try:
        steps = Steps(job["program"])
    except NothingToRun:
        return {"outcomes": []}
    except Exception as error:
        return {"alarm": f"{type(error).__name__}: {error}"[:500]}

    # No collection of a child looks at what there is, whose memory it would have to copy.
    gc.freeze()

    def trial(mutation: Mutation, passes: Sequence[int]) -> Outcome:
        change_functions(mutation.module, mutation.number)
        return steps.trial(passes)

    found: list[tuple[Mutation, list[str], Outcome]] = []
    chosen = islice(drawn(steps.places, job["tried"], job["seed"]), job["count"])
    if job["only"]:
        chosen = (m for m in all_mutations() if (m.module, m.number) in job["only"])
    for mutation in chosen:
        passes = steps.places[mutation.module, mutation.place]
        outcome: Any = {}
        if not mutation.is_global:
            outcome = in_child(lambda m=mutation, p=passes: trial(m, p), SECONDS_OF_A_TRIAL)
        if isinstance(outcome, Death):
            outcome = {"status": "stopped", "message": f"the process {outcome}"}
        found.append((mutation, [steps.passes[number].name for number in passes], outcome))
    return {
        "outcomes": found,
        "digests": steps.digests,
        "expected": steps.expected,
        "results": steps.results,
    }


def drawn(
    places: Container[tuple[str, int]], tried: Container[tuple[str, int]], seed: int
) -> Iterator[Mutation]:
    """Mutations of places, as many of each kind and each module as there are."""
    groups: dict[str, dict[str, list[Mutation]]] = defaultdict(lambda: defaultdict(list))
    for mutation in all_mutations():
        if (mutation.module, mutation.number) not in tried and (
            (mutation.module, mutation.place) in places
        ):
            groups[mutation.kind][mutation.module].append(mutation)
    random = Random(seed)

    def shuffled(found: Collection[T]) -> list[T]:
        return random.sample([*found], len(found))

    tables = 0
    kinds = [list(in_turns(map(shuffled, shuffled(each.values())))) for each in groups.values()]
    for mutation in in_turns(kinds):
        tables += mutation.is_global
        if not mutation.is_global or tables <= MOST_TABLES:
            yield mutation


def at_ends(job: Job) -> Outcome:
    """What becomes of a program with the mutation that is loaded, or what it computes at last."""
    module = made(job["program"])
    first = module.clone()
    checking = Validator(io.StringIO())
    passes = parse_passes("native")
    digests: list[str] = []
    for module_pass in passes:
        if (wrong := failure(module_pass, module)) is not None:
            return wrong
        digests.append(digest_of(module))
    if digests == job["digests"]:
        return {"status": "same"}
    changes = zip(passes, digests, job["digests"], strict=True)
    where = {"first": next(each.name for each, one, other in changes if one != other)}
    module = first.clone()
    checking.before(passes[0], module)
    for module_pass in passes:
        run(module_pass, module)
        if (wrong := named(checking, module_pass, module)) is not None:
            return {**wrong, **where}
    return {"status": "survived", "results": results_of(first, module), **where}


JOBS = {"trials": trials, "at_ends": at_ends}
