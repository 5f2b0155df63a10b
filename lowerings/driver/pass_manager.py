"""Parses and runs pipelines, with callbacks before and after each pass: MLIR's instrumentation."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.arg_spec import ArgSpec, parse_pipeline
from xdsl.utils.exceptions import DiagnosticException, VerifyException

from lowerings.driver.collector import collector_paused
from lowerings.pipelines import LEVELS, PIPELINES, Stage, stages_to
from lowerings.rewriting.change import run_pass
from lowerings.universe import toolkit_universe
from xla_dialect.diagnostics import XlaError
from xla_dialect.verification.verify import verify


class PipelineError(XlaError):
    """A pipeline that names no pass, or gives a pass options that it does not have."""


class PassFailed(XlaError):
    """A pass that could not do its work on this program."""


PassEvent = Callable[[ModulePass, ModuleOp], None]
"""Called before or after a pass."""


@dataclass(frozen=True)
class ScheduledPass:
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
    """How many passes of the last run went well, their verification and events included."""

    def run(self, module: ModuleOp, passes: Sequence[ModulePass]) -> None:
        """
        Runs the passes in order.

        Raises PassFailed where a pass gives up, and where the module does not verify after it.
        """
        self.done = 0
        is_verified = False
        with collector_paused():
            for number, module_pass in enumerate(passes, 1):
                for event in self.before:
                    event(module_pass, module)
                start = time.perf_counter()
                try:
                    if run_pass(module_pass, self.ctx, module):
                        is_verified = False
                except VerifyException as error:
                    raise PassFailed(f"{module_pass.name}: {error}") from error
                except DiagnosticException as error:
                    raise PassFailed(_named(module_pass, str(error))) from error
                timing = PassTiming(module_pass.name, time.perf_counter() - start)
                self.timings.append(timing)
                is_last = self.verify_last and number == len(passes)
                if not is_verified and (self.verify_each or is_last):
                    self._verify(module, module_pass, timing)
                    is_verified = True
                for event in self.after:
                    event(module_pass, module)
                self.done = number

    def _verify(self, module: ModuleOp, module_pass: ModulePass, timing: PassTiming) -> None:
        start = time.perf_counter()
        try:
            verify(module)
        except XlaError as error:
            raise PassFailed(
                f"after {module_pass.name} the module does not verify: {error}"
            ) from error
        timing.verification_seconds = time.perf_counter() - start


def _named(module_pass: ModulePass, message: str) -> str:
    return message if message.startswith(module_pass.name) else f"{module_pass.name}: {message}"


def parse_passes(pipeline: str) -> tuple[ModulePass, ...]:
    """
    The passes of a pipeline such as `xla-inline,convert-xla-to-linalg` or `native{to=buffers}`.

    Raises PipelineError naming what is wrong and what may have been meant.
    """
    return tuple(scheduled.module_pass for scheduled in parse_schedule(pipeline))


def parse_schedule(pipeline: str) -> tuple[ScheduledPass, ...]:
    """As `parse_passes`, with the named pipeline and the level that each pass belongs to."""
    try:
        specs = tuple(parse_pipeline(pipeline))
    except BaseException as error:  # xDSL 0.74's ArgSpecParseError is a bare BaseException
        if isinstance(error, KeyboardInterrupt | SystemExit):
            raise
        raise PipelineError(f"pipeline '{pipeline}': {error}") from None
    schedule: list[ScheduledPass] = []
    for spec in specs:
        if spec.name not in PIPELINES:
            schedule.append(ScheduledPass(_make_pass(spec)))
            continue
        for stage in _stages_of(spec):
            group = (spec.name, stage.level)
            passes = parse_passes(",".join(stage.passes))
            schedule.extend(ScheduledPass(module_pass, group) for module_pass in passes)
    return tuple(schedule)


_ANCHORED = re.compile(r"\s*builtin\.module\s*\((?P<passes>.*)\)\s*", re.DOTALL)
_SPACED = re.compile(r'(?P<quoted>"[^"]*")|\s*(?P<mark>[,{}])\s*')
_NESTED = re.compile(r"(?P<anchor>\w+\.\w+|any)\s*\(")


def passes_of_module(pipeline: str) -> str:
    """
    The passes of a pipeline as mlir-opt takes it, `builtin.module(pass,pass{option=value})`.

    Raises PipelineError for another operation: all passes here run on modules.
    """
    found = _ANCHORED.fullmatch(pipeline)
    if found is None:
        raise PipelineError(f"pipeline '{pipeline}' is not of the form 'builtin.module(...)'")
    # What stands in quotes is the value of an option.
    nested = _NESTED.search(re.sub(r'"[^"]*"', '""', found["passes"]))
    if nested is not None:
        raise PipelineError(
            f"pipeline '{pipeline}': passes run on modules, not nested on '{nested['anchor']}'"
        )
    return _SPACED.sub(lambda match: match["quoted"] or match["mark"], found["passes"].strip())


def _stages_of(spec: ArgSpec) -> tuple[Stage, ...]:
    """The stages of a named pipeline with its one option, `to`."""
    options = dict(spec.parameters)
    level = options.pop("to", (None,))[0]
    if options:
        raise PipelineError(f"pipeline {spec.name} has the option 'to' only, not {list(options)}")
    if level is not None and level not in LEVELS:
        raise PipelineError(
            f"pipeline {spec.name} has no level '{level}' (it has: {', '.join(LEVELS)})"
        )
    return stages_to(PIPELINES[spec.name], None if level is None else str(level))


def _make_pass(spec: ArgSpec) -> ModulePass:
    available = toolkit_universe().all_passes
    factory = available.get(spec.name)
    if factory is None:
        close = get_close_matches(spec.name, [*available, *PIPELINES], 3)
        hint = f"; did you mean {' or '.join(close)}?" if close else ""
        raise PipelineError(f"there is no pass '{spec.name}'{hint}")
    try:
        return factory().from_spec(spec)
    except (ValueError, TypeError) as error:
        raise PipelineError(f"pass {spec.name}: {error}") from None
