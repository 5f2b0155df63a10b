"""
Parses and runs pipelines, with callbacks before and after each pass: MLIR's instrumentation.

Passes and targets with options are read as command lines have them.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import partial
from typing import TYPE_CHECKING

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass
from xdsl.utils import arg_spec
from xdsl.utils.arg_spec import ArgSpec
from xdsl.utils.exceptions import DiagnosticException, VerifyException
from xdsl.utils.target import Target

from lowerings.driver.collector import collector_paused, loading
from lowerings.driver.levels import level_of, require_taken
from lowerings.ir.target import XlaAttachTargetPass
from lowerings.pipelines import PIPELINES, Stage, stages_between
from lowerings.rewriting.failure import FailedAt
from lowerings.rewriting.levels import Level, level_given, levels_taken
from lowerings.rewriting.options import SpecError, made_from
from lowerings.rewriting.passes import FunctionPass, run_pass, run_work
from lowerings.universe import OWN, toolkit_universe, unloaded_packages
from xla_dialect.diagnostics import XlaError
from xla_dialect.verification import verify
from xla_dialect.xdsl.traversal import deep_recursion

if TYPE_CHECKING:
    from lowerings.targets.llvm.machine import Machine


_UNQUOTED = re.compile(
    r'("[^"]*")|(?<==)([+-][A-Za-z][^\s}"]*)'
    r'|(?:(?<=file=)|(?<==)(?=[A-Za-z_~./][^\s}",]*[./]))([^\s}",]+)'
)


def parse_specs(text: str) -> Sequence[ArgSpec]:
    """
    The passes or targets of a text such as `cse,riscv-asm{features=+v,+zvl256b}`.

    Features and names of files may stand without quotes, though xDSL's grammar has no word with a
    sign or a point. Raises SpecError.
    """
    quoted = _UNQUOTED.sub(lambda found: found[1] or f'"{found[2] or found[3]}"', text)
    try:
        return tuple(arg_spec.parse_pipeline(quoted))
    except BaseException as error:  # xDSL 0.74's ArgSpecParseError is a bare BaseException
        if isinstance(error, KeyboardInterrupt | SystemExit):
            raise
        raise SpecError(f"'{text}': {error}") from None


def target_of_text(text: str) -> Target:
    """The target that a text names, with its options; raises SpecError."""
    try:
        specs = parse_specs(text)
    except SpecError as error:
        raise SpecError(f"target {error}") from None
    if len(specs) != 1:
        raise SpecError(f"target '{text}': one is printed at a time")
    targets = toolkit_universe().all_targets
    (spec,) = specs
    if spec.name not in targets:
        close = get_close_matches(spec.name, targets, 3)
        hint = f"; did you mean {' or '.join(close)}?" if close else " (see --list-targets)"
        raise SpecError(f"there is no target '{spec.name}'{hint}{unloaded_packages()}")
    try:
        return made_from(targets[spec.name], spec)
    except SpecError as error:
        raise SpecError(f"target {spec.name}: {error}") from None


class PipelineError(XlaError):
    """A pipeline that names no pass, or gives a pass options that it does not have."""


class PassFailed(XlaError):
    """A pass that could not do its work on this program."""

    def __init__(self, pass_name: str, message: str):
        self.pass_name = pass_name
        super().__init__(message)


PassEvent = Callable[[ModulePass, ModuleOp], None]
"""Called before or after a pass."""


@dataclass(frozen=True)
class PipelinePass:
    """A pass and where it stands on the command line."""

    module_pass: ModulePass
    group: tuple[str, ...] = ()
    """The pipeline that it is of and the level that it leads to; empty for a pass given alone."""


@dataclass
class PassTiming:
    """Seconds that one run of a pass took."""

    name: str
    seconds: float
    verification_seconds: float = 0.0
    may_have_changed: bool = True
    """False where the pass says that the module is as it was."""


@dataclass
class PassManager:
    """Runs passes one after the other on a module."""

    ctx: Context
    verify_each: bool = True
    """Whether the module is verified after every pass."""
    before: Sequence[PassEvent] = ()
    after: Sequence[PassEvent] = ()
    verify_last: bool = True
    """Whether it is verified after the last pass."""
    timings: list[PassTiming] = field(default_factory=list[PassTiming])
    done: int = 0
    """How many passes of the last run succeeded, with their verification and events."""
    level: Level | None = None
    """The level of the module that is run, as its passes state it; None if that is unknown."""

    def run(self, module: ModuleOp, passes: Sequence[ModulePass]) -> None:
        """
        Runs the passes in order.

        Raises PassFailed if a pass fails, or if the module does not verify after it; WrongLevel if
        a pass does not take modules of this level.
        """
        self.done = 0
        self.level = None
        is_verified = False
        with deep_recursion(), collector_paused():
            for number, module_pass in enumerate(passes, 1):
                self._require_taken(module_pass, module)
                for event in self.before:
                    event(module_pass, module)
                start = time.perf_counter()
                with _failures_of(module_pass):
                    changed = run_pass(module_pass, self.ctx, module)
                self._note_level(module_pass)
                is_verified &= not changed
                seconds = time.perf_counter() - start
                timing = PassTiming(module_pass.name, seconds, may_have_changed=changed)
                self.timings.append(timing)
                is_last = self.verify_last and number == len(passes)
                if not is_verified and (self.verify_each or is_last):
                    self._verify(module, module_pass, timing)
                    is_verified = True
                for event in self.after:
                    event(module_pass, module)
                self.done = number

    def on_functions(
        self, module: ModuleOp, passes: Sequence[FunctionPass]
    ) -> Callable[[FuncOp], None]:
        """
        What runs the passes in order on a function of a module, without verification and events;
        it raises PassFailed. Raises WrongLevel as `run` does.
        """
        works: list[tuple[FunctionPass, Callable[[FuncOp], bool]]] = []
        for module_pass in passes:
            self._require_taken(module_pass, module)
            works.append((module_pass, module_pass.on_functions(module)))
            self._note_level(module_pass)

        def run(function: FuncOp) -> None:
            for module_pass, work in works:
                with _failures_of(module_pass):
                    run_work(module_pass, partial(work, function))

        return run

    def _require_taken(self, module_pass: ModulePass, module: ModuleOp) -> None:
        if levels_taken(module_pass) is not None:
            if self.level is None:
                self.level = level_of(module)
            require_taken(module_pass, module, self.level)

    def _note_level(self, module_pass: ModulePass) -> None:
        given = level_given(module_pass)
        if given is not None or levels_taken(module_pass) is None:
            self.level = given

    def _verify(self, module: ModuleOp, module_pass: ModulePass, timing: PassTiming) -> None:
        start = time.perf_counter()
        try:
            verify(module)
        except XlaError as error:
            raise PassFailed(
                module_pass.name, f"after {module_pass.name} the module does not verify: {error}"
            ) from error
        timing.verification_seconds = time.perf_counter() - start


@contextmanager
def _failures_of(module_pass: ModulePass) -> Generator[None]:
    """Has what a pass refuses be a PassFailed."""
    try:
        yield
    except VerifyException as error:
        failed = PassFailed(module_pass.name, f"{module_pass.name}: {error}")
        for note in error.__notes__:
            failed.add_note(note)
        raise failed from error
    except DiagnosticException as error:
        raise PassFailed(module_pass.name, _named(module_pass, error)) from error


def _named(module_pass: ModulePass, error: DiagnosticException) -> str:
    """What a pass says, with the place, where it is known, and the name of the pass in front."""
    if isinstance(error, FailedAt) and error.place is not None:
        return f"{error.place}: error: {module_pass.name}: {error.reason}"
    message = str(error)
    return message if message.startswith(module_pass.name) else f"{module_pass.name}: {message}"


def parse_passes(pipeline: str) -> tuple[ModulePass, ...]:
    """
    The passes of a pipeline such as `xla-inline,convert-xla-to-linalg` or `native{to=buffers}`.

    Raises PipelineError, which names the mistake and what may have been meant.

    >>> from lowerings.driver.pass_manager import parse_passes
    >>> [each.name for each in parse_passes("xla-inline,xla-simplify")]
    ['xla-inline', 'xla-simplify']
    """
    return tuple(each.module_pass for each in parse_pipeline(pipeline))


def split_at_levels(pipeline: str) -> tuple[str, str]:
    """The passes that a pipeline begins with and that are for StableHLO, and all others."""
    specs = _specs(pipeline)
    count = next((i for i, spec in enumerate(specs) if "stablehlo" not in spec.name), len(specs))
    first, rest = (",".join(map(str, part)) for part in (specs[:count], specs[count:]))
    return first, rest


def _specs(pipeline: str) -> Sequence[ArgSpec]:
    try:
        return parse_specs(pipeline)
    except SpecError as error:
        raise PipelineError(f"pipeline {error}") from None


def parse_pipeline(pipeline: str) -> tuple[PipelinePass, ...]:
    """As `parse_passes`, with the named pipeline and the level that each pass belongs to."""
    found: list[PipelinePass] = []
    with loading():
        for spec in _specs(pipeline):
            if spec.name not in PIPELINES:
                found.append(PipelinePass(_make_pass(spec)))
                continue
            stages, attaching = _stages_of(spec)
            found.extend(map(PipelinePass, attaching))
            for stage in stages:
                group = (spec.name, stage.level)
                passes = parse_passes(",".join(stage.passes))
                found.extend(PipelinePass(module_pass, group) for module_pass in passes)
    return tuple(found)


_ANCHORED = re.compile(r"\s*builtin\.module\s*\((?P<passes>.*)\)\s*", re.DOTALL)
_QUOTED = r'"[^"]*"'
_ON_FUNCTIONS = re.compile(rf"(?:func\.func|any)\s*\(((?:{_QUOTED}|[^()\"])*)\)")
_BLANKS = re.compile(rf"({_QUOTED})|\s*([,{{}}])\s*")
_LEFT = re.compile(rf"{_QUOTED}|(?P<anchor>[\w.]+)\s*\(|(?P<end>[()])")


def passes_of_module(pipeline: str) -> str:
    """
    The passes of a pipeline as mlir-opt takes it, `builtin.module(func.func(pass),pass{option=1})`.

    All passes here run on modules, those for functions on all functions of one. Raises
    PipelineError for another operation, and for parentheses that do not match.
    """
    found = _ANCHORED.fullmatch(pipeline)
    if found is None:
        raise PipelineError(f"pipeline '{pipeline}' is not of the form 'builtin.module(...)'")
    passes, count = found["passes"], 1
    while count:
        passes, count = _ON_FUNCTIONS.subn(r"\1", passes)
    for left in _LEFT.finditer(passes):
        if left["anchor"] not in (None, "func.func", "any"):
            raise PipelineError(
                f"pipeline '{pipeline}': passes run on modules and functions, not on "
                f"'{left['anchor']}'"
            )
        if left["anchor"] or left["end"]:
            raise PipelineError(f"pipeline '{pipeline}': '(' and ')' do not match")
    return _BLANKS.sub(r"\1\2", passes).strip()


_OPTIONS = ("from", "to", "target")
"""Of a named pipeline: the level that modules are at, that to stop at, the machine."""


def _stages_of(spec: ArgSpec) -> tuple[tuple[Stage, ...], tuple[ModulePass, ...]]:
    """The stages of a named pipeline with its options, and the pass for the machine in these."""
    stages = PIPELINES[spec.name]
    levels = [stage.level for stage in stages]
    given = {name: str(values[0]) if values else "" for name, values in spec.parameters.items()}
    if unknown := [name for name in given if name not in _OPTIONS]:
        known = ", ".join(_OPTIONS)
        raise PipelineError(f"pipeline {spec.name} has no option '{unknown[0]}' (it has: {known})")
    after, to = given.get("from"), given.get("to")
    for level in (after, to):
        if level is not None and level not in levels:
            raise PipelineError(
                f"pipeline {spec.name} has no level '{level}' (it has: {', '.join(levels)})"
            )
    found = stages_between(stages, after, to)
    if not found and to not in (None, after):
        raise PipelineError(f"pipeline {spec.name}: the level '{to}' is above '{after}'")
    target = given.get("target")
    if target is None:
        return found, ()
    # Only machine code needs LLVM.
    from lowerings.targets.llvm.machine import parse_machine  # noqa: PLC0415

    return found, (machine_target(parse_machine(target)),)


def _make_pass(spec: ArgSpec) -> ModulePass:
    factory = OWN.all_passes.get(spec.name) or toolkit_universe().all_passes.get(spec.name)
    if factory is None:
        available = toolkit_universe().all_passes
        close = get_close_matches(spec.name, [*available, *PIPELINES], 3)
        hint = f"; did you mean {' or '.join(close)}?" if close else ""
        raise PipelineError(f"there is no pass '{spec.name}'{hint}{unloaded_packages()}")
    try:
        return made_from(factory, spec)
    except SpecError as error:
        raise PipelineError(f"pass {spec.name}: {error}") from None


def machine_target(machine: Machine, *, flush_subnormals: bool = False) -> XlaAttachTargetPass:
    """What passes may count on; with `flush_subnormals`, subnormal numbers may be zero."""
    return XlaAttachTargetPass(
        machine.vector_bits,
        machine.multiplies_pairs,
        machine.multiplies_quads,
        machine.multiplies_bfloats,
        flush_subnormals,
        machine.estimates_roots,
        machine.scales_by_powers,
        machine.converts_halves,
    )


PLANNING = "xla-plan-schedules"
"""The pass, by name: it need not be loaded to be looked for."""
