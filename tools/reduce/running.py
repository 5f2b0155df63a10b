"""What `xla-reduce` and `xla-opt --reduce, --bisect` do."""

from __future__ import annotations

import argparse
import re
import shlex
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from io import StringIO
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from lowerings.compilation import BACKENDS, INTERPRETER
from lowerings.delta_debugging import Progress, Reducer
from lowerings.delta_debugging.reducer import size_of
from lowerings.driver.context import make_context
from lowerings.driver.pass_manager import PipelinePass, parse_pipeline
from lowerings.driver.program import detect_format, parse_program
from lowerings.ir.functions import functions_of
from lowerings.universe import toolkit_universe
from xla_dialect.diagnostics import XlaError
from xla_dialect.literals.arrays import ELEMENT_OF_DTYPE, Array
from xla_dialect.mlir_text import print_mlir

from ..command_line import write_output
from ..input_text import read_input
from ..pass_instrumentation import Reproducer
from .bisection import Culprit, bisect
from .differences import Differences
from .interestingness import Command, Crashes, Differs, Finding, Test, Uninteresting, parse_test

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
        case Differs(compare=compare):
            lines = _of_difference(compare, module, passes, run)
        case Crashes(target=target) if target != "mlir":
            lines = [f"// RUN: {run} -t {shlex.quote(target)} | filecheck %s", "// CHECK: {{.}}"]
        case _:
            lines = [f"// RUN: {run} | filecheck %s", *_labels(module)]
    return "\n".join([*lines, "", text])


def _labels(module: ModuleOp) -> list[str]:
    return [f"// CHECK-LABEL: @{name}" for name in functions_of(module)][:1]


def _of_difference(
    compare: Differences, module: ModuleOp, passes: Sequence[ModulePass], run: str
) -> list[str]:
    """Runs what the passes make, on the smallest input that shows the difference."""
    found = compare.first(module.clone(), passes, is_small=True)
    if found is None or any(a.size > LONGEST_LIST for a in (*found.arrays, *found.expected)):
        return [f"// RUN: {run} | filecheck %s", *_labels(module)]
    words = ["xla-run", "-" if passes else "%s"]
    if compare.executor in BACKENDS and (passes or compare.executor != INTERPRETER):
        words += ["--backend", compare.executor]
    if found.entry != "main":
        words += ["--entry", found.entry]
    if compare.tolerance is not None:
        words += ["--tolerance", f"{compare.tolerance:g}"]
    for option, arrays in (("--input", found.arrays), ("--expected-output", found.expected)):
        for array in arrays:
            words += [option, spec_of(array)]
    execution = shlex.join(words).replace("'%s'", "%s")
    piped = f"{run} | {execution}" if passes else execution
    lines = [f"// RUN: {run} | filecheck %s", f"// RUN: {piped}", *_labels(module)]
    return lines


def spec_of(array: Array) -> str:
    """An array as `--input` takes it."""
    name = ELEMENT_OF_DTYPE[array.dtype].name
    sizes = "".join(f"{size}x" for size in array.shape)
    flat = array.reshape(-1)
    is_splat = flat.size > 0 and all(_spelled(each) == _spelled(flat[0]) for each in flat)
    value = _spelled(flat[0]) if is_splat else _nested(array)
    return f"{sizes}{name}={value}"


def _nested(array: Array) -> str:
    if not array.ndim:
        return _spelled(array[()])
    return f"[{','.join(_nested(part) for part in array)}]"


def _spelled(number: Any) -> str:
    """A number, exactly."""
    dtype = number.dtype
    if dtype.kind == "b":
        return "true" if number else "false"
    if ELEMENT_OF_DTYPE[dtype].name[0] in "su":
        return str(int(number))
    if dtype.kind == "c":
        return re.sub(r"[()]", "", repr(complex(number)))
    wide = np.float64 if dtype == np.float64 else np.float32
    return str(cast(Any, wide)(number))


FORMATS = {"hlo": ".hlo", "stablehlo": ".mlir", "mlir": ".mlir"}
"""What a program is printed as, and how the name of such a file ends."""

SLOWER = 10.0
"""A smaller program may take so many times the time of the first one."""
LEAST_SECONDS = 2.0
"""And it may always take so long."""


@dataclass(frozen=True)
class Task:
    """A program with the passes and the test."""

    module: ModuleOp
    in_pipeline: list[PipelinePass]
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
        printed = printer(format_)
        parsed = parse_test(test, FORMATS[format_], printed)
        return Task(module, [*parse_pipeline(pipeline)], pipeline, parsed, file_name, format_)

    @property
    def passes(self):
        """The passes alone."""
        return [each.module_pass for each in self.in_pipeline]

    def first_finding(self) -> tuple[Finding, float]:
        """What the test finds in the whole program, and its seconds; raises Uninteresting."""
        start = time.monotonic()
        reason = ""
        try:
            found = self.test.within_time(self.module.clone(), self.passes)
            if found is not None:
                return found, time.monotonic() - start
            is_late = time.monotonic() - start >= self.test.seconds
            reason = (
                f"it takes longer than {self.test.seconds:g} s (seconds= gives it more)"
                if is_late
                else self.test.nothing(self.module.clone(), self.passes)
            )
        except XlaError:
            raise
        except Exception as error:
            reason = f"{type(error).__name__}: {error} (the test `crashes` is for that)"
        raise Uninteresting(
            f"{self.file_name}: error: the test finds nothing in the whole program"
            + (f": {reason}" if reason else "")
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
    test = replace(task.test.narrowed(first), seconds=seconds)

    def holds(module: ModuleOp) -> bool:
        try:
            found = test.within_time(module, passes)
        except Exception:
            # Passes and executors need not survive every half of a program: another fault, if any.
            return False
        return found is not None and test.is_same(first, found)

    say = _Reporter(tool, args.quiet)
    say.line(f"{first.message.splitlines()[0]}")
    before = size_of(task.module)
    limit = float("inf") if args.timeout is None else args.timeout
    reducer = Reducer(task.module, holds, limit, say.progress)
    module = reducer.run()
    say.end(reducer.progress, before)
    text = printer(task.format)(module)
    if args.filecheck_test:
        return regression_test(test, module, text, passes, task.pipeline)
    return text


@dataclass
class _Reporter:
    """Says on stderr how far it has come."""

    tool: str
    is_quiet: bool

    def line(self, text: str) -> None:
        """Prints a line."""
        if not self.is_quiet:
            print(f"{self.tool}: {text}", file=sys.stderr)

    def progress(self, now: Progress) -> None:
        """Prints what there is now."""
        self.line(
            f"{now.operations} operations after {now.candidates} candidates, {now.seconds:.1f} s: "
            f"{now.reduction}"
        )

    def end(self, now: Progress, before: int) -> None:
        """Prints what has been done."""
        why = "nothing more can be left out" if now.is_complete else "ended early"
        self.line(
            f"{before} operations became {now.operations}; {now.candidates} candidates, "
            f"{now.tests} of them tested, in {now.seconds:.1f} s; {why}"
        )


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
