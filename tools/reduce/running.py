"""What `xla-reduce` and `xla-opt --reduce, --bisect` do."""

from __future__ import annotations

import argparse
import re
import shlex
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from io import StringIO

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.arg_spec import ArgSpec, parse_spec
from xdsl.utils.exceptions import ArgSpecParseError

from lowerings.compilation import BACKENDS, INTERPRETER
from lowerings.delta_debugging import Progress, Reducer
from lowerings.delta_debugging.reducer import size_of
from lowerings.driver.context import make_context
from lowerings.driver.pass_manager import parse_passes
from lowerings.driver.program import detect_format, parse_program
from lowerings.ir.functions import functions_of
from lowerings.rewriting.options import SpecError, made_from
from lowerings.universe import toolkit_universe
from xla_dialect.diagnostics import XlaError
from xla_dialect.literals.arrays import ELEMENT_OF_DTYPE, Array
from xla_dialect.mlir_text import print_mlir

from ..command_line import write_output
from ..input_text import read_input
from ..pass_instrumentation import Reproducer
from .bisection import Culprit, bisect
from .differences import Differs
from .interestingness import Command, Crashes, Fails, Finding, Test, Uninteresting

LONGEST_LIST = 4096
"""Elements of an array that are written into a test."""


def regression_test(
    test: Test, module: ModuleOp, text: str, passes: Sequence[ModulePass], pipeline: str
) -> str:
    """
    The text of a test: RUN lines, what is expected, and the program.

    `pipeline`: the passes as they were given on the command line.
    """
    run = f"xla-opt %s -p {shlex.quote(pipeline)}" if passes else "xla-opt %s"
    match test:
        case Command(command=command):
            lines = [f"// RUN: not {shlex.join(command)} %s"]
        case Differs():
            lines = _of_difference(test, module, passes, run)
        case Crashes(target=target) if target != "mlir":
            lines = [f"// RUN: {run} -t {shlex.quote(target)} | filecheck %s", "// CHECK: {{.}}"]
        case _:
            lines = [f"// RUN: {run} | filecheck %s", *_labels(module)]
    return "\n".join([*lines, "", text])


def _labels(module: ModuleOp) -> list[str]:
    return [f"// CHECK-LABEL: @{name}" for name in functions_of(module)][:1]


def _of_difference(
    test: Differs, module: ModuleOp, passes: Sequence[ModulePass], run: str
) -> list[str]:
    """Runs what the passes make, on the smallest input that shows the difference."""
    found = test.first(module.clone(), passes, is_small=True)
    if found is None or any(a.size > LONGEST_LIST for a in (*found.arrays, *found.expected)):
        return [f"// RUN: {run} | filecheck %s", *_labels(module)]
    words = ["xla-run", "-" if passes else "%s"]
    if test.executor in BACKENDS and (passes or test.executor != INTERPRETER):
        words += ["--backend", test.executor]
    if found.entry != "main":
        words += ["--entry", found.entry]
    if test.tolerance is not None:
        words += ["--tolerance", f"{test.tolerance:g}"]
    for option, arrays in (("--input", found.arrays), ("--expected-output", found.expected)):
        for array in arrays:
            words += [option, spec_of(array)]
    execution = shlex.join(words).replace("'%s'", "%s")
    piped = f"{run} | {execution}" if passes else execution
    lines = [f"// RUN: {run} | filecheck %s", f"// RUN: {piped}", *_labels(module)]
    return lines


def spec_of(array: Array) -> str:
    """An array as `--input` takes it, exactly."""
    element = ELEMENT_OF_DTYPE[array.dtype].name
    sizes = "".join(f"{size}x" for size in array.shape)
    flat = array.reshape(-1)
    if flat.size and flat[:1].tobytes() * flat.size == flat.tobytes():
        array = flat[0:1].reshape(())
    if array.dtype.kind not in "biufc":
        array = array.astype(np.int64 if element[0] in "su" else np.float32)
    numbers = np.vectorize(str, otypes=[object])(array).tolist()
    return f"{sizes}{element}={_spelled(numbers)}"


def _spelled(numbers: object) -> str:
    return re.sub(r"[()' ]", "", str(numbers)).lower()


FORMATS = {"hlo": ".hlo", "stablehlo": ".mlir", "mlir": ".mlir"}
"""What a program is printed as, and how the name of such a file ends."""

SLOWER = 10.0
"""A smaller program may take so many times the time of the first one."""
LEAST_SECONDS = 2.0
"""And it may always take so long."""


KINDS: Mapping[str, type[Test]] = {kind.name: kind for kind in (Fails, Crashes, Differs, Command)}
"""The tests by the names that a TEST begins with; all else is a command."""


def parse_test(text: str, suffix: str, print_program: Callable[[ModuleOp], str]) -> Test:
    """
    The test that a word of the command line is, e.g. `fails{message="not supported"}`.

    Raises XlaError for options that it does not have.
    """
    if re.match(rf"(?:{'|'.join(KINDS)})\s*(?:\{{|$)", text.strip()) is None:
        return Command(run=text, suffix=suffix, text=print_program)
    try:
        spec = parse_spec(text.strip())
        test = made_from(lambda: KINDS[spec.name], _with_numbers(spec))
    except ArgSpecParseError as error:
        raise XlaError(f"test '{text}': {error}") from None
    except SpecError as error:
        raise XlaError(f"test {spec.name}: {error}") from None
    if isinstance(test, Command):
        return replace(test, suffix=suffix, text=print_program)
    return test


def _with_numbers(spec: ArgSpec) -> ArgSpec:
    """With numbers as `1e-3` and `inf`, which xDSL takes for words."""
    parameters = dict(spec.parameters)
    for name in ("seconds", "tolerance"):
        with suppress(ValueError, KeyError):
            parameters[name] = tuple(map(float, parameters[name]))
    return ArgSpec(spec.name, parameters)


@dataclass(frozen=True)
class Task:
    """A program with the passes and the test."""

    module: ModuleOp
    passes: Sequence[ModulePass]
    pipeline: str
    """The passes as they were given."""
    test: Test
    file_name: str
    format: str

    @staticmethod
    def of(args: argparse.Namespace, test: str) -> Task:
        """What the arguments of the command line say; raises XlaError."""
        file_name, text = read_input(args.input_file)
        pipeline = args.passes or ""
        if (reproducer := Reproducer.parse(text)) is not None:
            # What it reproduces is what is looked for, unless other passes are given.
            text, pipeline = reproducer.module, pipeline or reproducer.pipeline
        format_ = args.target or args.frontend or detect_format(text, file_name)
        if format_ not in FORMATS:
            raise XlaError(f"--target: a program is reduced to {', '.join(FORMATS)}")
        module = parse_program(text, file_name, args.frontend, make_context(), verified=True)
        parsed = parse_test(test, FORMATS[format_], printer(format_))
        return Task(module, parse_passes(pipeline), pipeline, parsed, file_name, format_)

    def first_finding(self) -> tuple[Finding, float]:
        """What the test finds in the whole program, and its seconds; raises Uninteresting."""
        start = time.monotonic()
        try:
            found = self.test.within_time(self.module.clone(), self.passes)
            seconds = time.monotonic() - start
            if found is not None:
                return found, seconds
            if seconds >= self.test.seconds:
                why = f": it takes longer than {self.test.seconds:g} s (seconds= gives it more)"
            else:
                why = self.test.nothing(self.module, self.passes)
        except XlaError:
            raise
        except Exception as error:
            why = f": {type(error).__name__}: {error} (the test `crashes` is for that)"
        raise Uninteresting(
            f"{self.file_name}: error: the test finds nothing in the whole program{why}"
        )


def printer(format_: str) -> Callable[[ModuleOp], str]:
    """What prints programs in a format; MLIR where that cannot express them."""

    def text(module: ModuleOp) -> str:
        if format_ != "mlir":
            output = StringIO()
            target = toolkit_universe().all_targets[format_]()()
            try:
                target.emit(make_context(), module, output)
                return output.getvalue().rstrip("\n") + "\n"
            except XlaError:
                pass
        return print_mlir(module) + "\n"

    return text


def run(args: argparse.Namespace, tool: str) -> int:
    """Reduces or bisects as the command line says, and prints what comes out."""
    if args.reduce is not None and args.bisect is not None:
        raise XlaError("--reduce and --bisect are done one after the other")
    text = reduced(args, tool) if args.bisect is None else bisected(args)
    write_output(args.output_file, text)
    return 0


def reduced(args: argparse.Namespace, tool: str) -> str:
    """The reduced program of `--reduce`, as text; reports go to stderr."""
    task = Task.of(args, args.reduce)
    first, seconds = task.first_finding()
    passes = task.passes
    seconds = min(task.test.seconds, max(LEAST_SECONDS, SLOWER * seconds))
    test = replace(task.test, seconds=seconds).narrowed(first)

    def holds(module: ModuleOp) -> bool:
        try:
            found = test.within_time(module, passes)
        except Exception:
            # Passes and executors need not survive every half of a program: another fault, if any.
            return False
        return found is not None and test.is_same(first, found)

    def say(text: str) -> None:
        if not args.quiet:
            print(f"{tool}: {text}", file=sys.stderr)

    def say_progress(now: Progress) -> None:
        said = f"{now.operations} operations after {now.candidates} candidates, {now.seconds:.1f} s"
        say(f"{said}: {now.reduction}")

    say(f"{first.message.splitlines()[0]}")
    limit = float("inf") if args.timeout is None else args.timeout
    reducer = Reducer(task.module, holds, limit, say_progress)
    module, end = reducer.run(), reducer.progress
    why = "nothing more can be left out" if end.is_complete else "ended early"
    say(
        f"{size_of(task.module)} operations became {end.operations}; {end.candidates} candidates, "
        f"{end.tests} of them tested, in {end.seconds:.1f} s; {why}"
    )
    text = printer(task.format)(module)
    if args.filecheck_test:
        return regression_test(test, module, text, passes, task.pipeline)
    return text


def bisected(args: argparse.Namespace) -> str:
    """The report of `--bisect`."""
    task = Task.of(args, args.bisect)
    try:
        culprit = bisect(task.test, task.module, task.passes)
    except Uninteresting as error:
        raise Uninteresting(f"{task.file_name}: error: {error}") from None
    return report_of(culprit, task)


def report_of(culprit: Culprit, task: Task) -> str:
    """What was found, for people, with the command that shows it again."""
    last = culprit.passes[-1]
    number = len(culprit.passes)
    command = ["xla-opt", task.file_name, "-p", task.pipeline, f"--opt-bisect-limit={number}"]
    lines: list[str] = []
    if culprit.first < number:
        names = ", ".join(each.name for each in task.passes[culprit.first - 1 : number])
        lines.append(
            f"one of the passes {culprit.first} to {number} of {len(task.passes)}: {names}"
        )
    else:
        lines.append(f"pass {number} of {len(task.passes)}: {last.spec()}")
    if culprit.rewrite is not None:
        lines.append(f"rewrite {culprit.rewrite} of it")
        count = culprit.earlier + culprit.rewrite
        command.append(f"--debug-counter={last.name}-count={count}")
    elif culprit.first == number:
        lines.append("not by a rewrite that it counts: what it changes is shown as a whole")
    lines += [culprit.finding.message, f"to see it: {shlex.join(command)}"]
    return "\n".join(lines) + "\n" + culprit.diff
