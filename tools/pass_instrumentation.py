"""
What `xla-opt` does around passes: prints the module (`--print-ir-*`), writes a reproducer where one
fails, stops half-way (`--opt-bisect-limit`, `--debug-counter`).
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from difflib import unified_diff
from importlib import import_module
from io import StringIO
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.arg_spec import ArgSpec
from xdsl.utils.exceptions import DiagnosticException, VerifyException

from lowerings.driver.pass_manager import PassFailed, PassManager, PipelinePass
from lowerings.rewriting.counting import RewriteCounter, counted_by
from lowerings.rewriting.passes import ReportingPass, ResultDifference, differences_of, run_pass
from lowerings.universe import toolkit_universe
from xla_dialect.diagnostics import XlaError
from xla_dialect.mlir_text import print_mlir
from xla_dialect.xdsl.text import MlirPrinter

if TYPE_CHECKING:
    from lowerings.validation import MeaningChanged


@dataclass(frozen=True)
class PrintingFlags:
    """How operations are printed."""

    generic: bool = False
    locations: bool = False

    def text(self, module: ModuleOp) -> str:
        """The module as MLIR text."""
        return print_mlir(module, generic=self.generic, locations=self.locations) + "\n"

    def steady_printer(self) -> SteadyPrinter:
        """A printer with these flags for several states of one module."""
        return SteadyPrinter(print_generic_format=self.generic, print_debuginfo=self.locations)


class SteadyPrinter(MlirPrinter):
    """
    Prints a module again and again; what was there before keeps its name.

    Otherwise one operation more or less would give all values after it another number, and hide
    in a diff what was really changed. Names are those of the whole module, for values may move
    from one function to another.
    """

    def enter_scope(self) -> None:
        """Does nothing: the names of a scope are not counted from 0 again."""

    def exit_scope(self) -> None:
        """Does nothing: the names of a scope stay reserved."""

    def text(self, module: ModuleOp) -> str:
        """The module as MLIR text."""
        self.stream = output = StringIO()
        self.print_op(module)
        return output.getvalue() + "\n"


class IrPrinting:
    """What `--print-ir-*` ask for, as events of a pass manager."""

    def __init__(self, args: argparse.Namespace, flags: PrintingFlags, output: IO[str]) -> None:
        """Takes it from the arguments of the command line; raises XlaError for unknown passes."""
        self.output = output
        self.as_diff: bool = args.print_ir_diff
        self.only_changes: bool = args.print_ir_after_change or self.as_diff
        self.folder = None if args.print_ir_tree_dir is None else Path(args.print_ir_tree_dir)
        """Where each text becomes a file, instead of the output."""
        self.wanted_before = _wanted(args.print_ir_before, args.print_ir_before_all)
        self.wanted_after = _wanted(args.print_ir_after, args.print_ir_after_all)
        if self.only_changes or (self.folder is not None and self.wanted_before is None):
            self.wanted_after = self.wanted_after or _wanted("", True)
        printer = flags.steady_printer() if self.as_diff else flags
        self._text: Callable[[ModuleOp], str] = printer.text
        self._printed = 0
        self._last: str | None = None
        """The text before the pass that runs, if changes are looked for."""

    def __bool__(self) -> bool:
        """Whether anything is to be printed."""
        return self.wanted_before is not None or self.wanted_after is not None

    def before(self, module_pass: ModulePass, module: ModuleOp) -> None:
        """Before a pass."""
        if self.only_changes and self._last is None:
            self._last = self._text(module)
        if self.wanted_before is not None and self.wanted_before(module_pass):
            text = self._last if self._last is not None else self._text(module)
            self._print(f"Before {module_pass.name}", text)

    def after(self, module_pass: ModulePass, module: ModuleOp) -> None:
        """After a pass."""
        is_wanted = self.wanted_after is not None and self.wanted_after(module_pass)
        if not self.only_changes:
            if is_wanted:
                self._print(f"After {module_pass.name}", self._text(module))
            return
        old, new = self._last or "", self._text(module)
        self._last = new
        if not is_wanted or old == new:
            return
        if self.as_diff:
            name = module_pass.name
            self._print(f"Diff After {name}", diff(old, new, f"before {name}", f"after {name}"))
        else:
            self._print(f"After {module_pass.name}", new)

    def _print(self, title: str, text: str) -> None:
        """Prints a text under a heading as MLIR has it, or writes it as the next file."""
        text = f"// -----// IR Dump {title} //----- //\n{text}"
        if self.folder is None:
            print(text, file=self.output)
            return
        path = self.folder / f"{self._printed}_{title.lower().replace(' ', '_')}.mlir"
        self._printed += 1
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            raise XlaError(f"{path}: error: {error.strerror}") from None


def diff(old: str, new: str, old_name: str, new_name: str) -> str:
    """The unified diff of two texts."""
    lines = old.splitlines(keepends=True), new.splitlines(keepends=True)
    return "".join(unified_diff(*lines, old_name, new_name))


def _wanted(names: str, everything: bool) -> Callable[[ModulePass], bool] | None:
    """
    Whether the module is printed at a pass: at all, or at those in a list with commas.

    None where it is printed at none. Raises XlaError for a name that no pass has.
    """
    wanted = tuple(filter(None, map(str.strip, names.split(","))))
    for name in wanted:
        if name not in toolkit_universe().all_passes:
            raise XlaError(f"--print-ir-...: there is no pass '{name}' (see --list-passes)")
    if not (wanted or everything):
        return None
    return lambda module_pass: everything or module_pass.name in wanted


_RESOURCE = re.compile(
    r"\{-#\s*external_resources\s*:\s*\{\s*mlir_reproducer\s*:\s*\{(.*)\}\s*\}\s*#-\}\s*\Z",
    re.DOTALL,
)
_ENTRY = re.compile(r'\b(\w+)\s*:\s*("(?:[^"\\]|\\.)*"|true|false)')
_ANCHORED = re.compile(r"builtin\.module\((.*)\)", re.DOTALL)


@dataclass(frozen=True)
class Reproducer:
    """A module, and the pipeline to run on it."""

    module: str
    pipeline: str
    """As `--passes` takes it."""
    verify_each: bool = True
    inputs: str = ""
    """The inputs for `--validate-each`; if empty, they are random."""

    def text(self) -> str:
        """The text of the file."""
        inputs = f"      inputs: {json.dumps(self.inputs)},\n" if self.inputs else ""
        return (
            f"{self.module.rstrip()}\n\n{{-#\n  external_resources: {{\n    mlir_reproducer: {{\n"
            f"      pipeline: {json.dumps(f'builtin.module({self.pipeline})')},\n"
            f"{inputs}"
            f"      disable_threading: true,\n"
            f"      verify_each: {str(self.verify_each).lower()}\n    }}\n  }}\n#-}}\n"
        )

    def written(self, path: str, prefix: str) -> str:
        """Writes `path`, or a new temporary file; says how to run it. Raises OSError."""
        if not path:
            with tempfile.NamedTemporaryFile(prefix=prefix, suffix=".mlir", delete=False) as file:
                path = file.name
        with open(path, "w", encoding="utf-8") as output:
            output.write(self.text())
        return f"to reproduce: xla-opt {path} --run-reproducer"

    @staticmethod
    def parse(text: str | bytes) -> Reproducer | None:
        """Parses the text of a reproducer; None for any other program."""
        if isinstance(text, bytes) or "{-#" not in text:
            return None
        resource = _RESOURCE.search(text, text.rindex("{-#"))
        entries = dict(_ENTRY.findall(resource[1])) if resource else {}
        said: dict[str, Any] = {name: json.loads(value) for name, value in entries.items()}
        if resource is None or "pipeline" not in said:
            return None
        passes = said["pipeline"]
        anchored = _ANCHORED.fullmatch(passes)
        return Reproducer(
            text[: resource.start()],
            anchored[1] if anchored else passes,
            said.get("verify_each", True),
            said.get("inputs", ""),
        )


@contextmanager
def reproducing(
    manager: PassManager, passes: Sequence[ModulePass], read: Callable[[], ModuleOp], path: str
) -> Generator[None]:
    """
    Writes a reproducer where a pass that runs inside crashes; the error is raised with a note that
    names it.

    Without a `path` the file is one of the folder for temporary files. With one, passes that fail
    with a diagnostic write a reproducer too.
    """
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:
        if note := _note(error, manager, passes, read, path):
            error.add_note(note)
        raise


def _note(
    error: Exception,
    manager: PassManager,
    passes: Sequence[ModulePass],
    read: Callable[[], ModuleOp],
    path: str,
) -> str:
    """
    How to see an error of passes again, for which a reproducer is written; empty for one that needs
    none: a diagnostic without a `path`.

    The passes before run again on the module that is read anew: this costs nothing as long as no
    pass fails. Where they do not get so far either, the module is the one that was read.
    """
    changed: type[MeaningChanged] = import_module("lowerings.validation").MeaningChanged
    is_diagnostic = isinstance(error, XlaError | DiagnosticException) and not (
        isinstance(error, PassFailed) and isinstance(error.__cause__, VerifyException)
    )
    text, done = PrintingFlags().text, manager.done
    try:
        if isinstance(error, changed):
            found = Reproducer(text(error.module), error.spec, inputs=error.inputs)
            return f"{found.written(path, 'xla-opt-validation-')} --validate-each"
        if done == len(passes) or (is_diagnostic and not path):
            return ""
        try:
            PassManager(manager.ctx, verify_each=False).run(module := read(), passes[:done])
        except Exception:
            module, done = read(), 0
        pipeline = ",".join(str(module_pass.spec()) for module_pass in passes[done:])
        found = Reproducer(text(module), pipeline, manager.verify_each)
        return f"note: {found.written(path, 'xla-opt-crash-')}"
    except Exception as problem:
        return f"note: no reproducer: {problem}"


_COUNTER = re.compile(r"(?P<name>[\w.-]+)-(?P<what>count|skip)=(?P<number>\d+)")


class CountedPass(ModulePass):
    """A pass whose rewrites are counted, and that makes no more of them after some."""

    def __init__(
        self, module_pass: ModulePass, counter: RewriteCounter, *, breaks_on_last: bool = False
    ):
        """
        `counter`: of one run, or of all runs of the passes of a name. With `breaks_on_last`, the
        last rewrite that the counter allows is made in a debugger.
        """
        self.inner = module_pass
        self.counter = counter
        self.breaks_on_last = breaks_on_last
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
        if self.breaks_on_last:
            self.counter.debugged = self._last_attempt(ctx, op.clone())
        with counted_by(self.counter):
            is_changed = run_pass(self.inner, ctx, op)
            if self.counter.done == done and is_changed and not _is_same(before, op):
                self.counter.attempt(lambda: None, is_made=lambda _: True)

    def _last_attempt(self, ctx: Context, op: ModuleOp) -> int | None:
        """The attempt that makes the last rewrite, or that fails, if it is one of this run."""
        trial = RewriteCounter(
            self.counter.limit, self.counter.done, attempts=self.counter.attempts
        )
        try:
            with counted_by(trial):
                run_pass(self.inner, ctx, op)
        except Exception:
            return trial.attempts
        return trial.last_made if trial.has_stopped else None

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


def limited(
    pipeline: Sequence[PipelinePass],
    args: argparse.Namespace,
    counters: dict[str, RewriteCounter],
    output: IO[str],
) -> list[PipelinePass]:
    """
    The passes that options let run, those whose rewrites are limited, or counted, by `counters`, by
    the name of a pass; raises XlaError.
    """
    if args.debug_counter_break_on_last and not args.debug_counter:
        raise XlaError("--debug-counter-break-on-last is for --debug-counter")
    last = args.opt_bisect_limit
    if last is not None and last < -1:
        raise XlaError(f"--opt-bisect-limit: {last} is neither a number of passes nor -1")
    limits: dict[str, RewriteCounter] = {}
    for text in ",".join(args.debug_counter).split(",") if args.debug_counter else ():
        found = _COUNTER.fullmatch(text.strip())
        if found is None:
            raise XlaError(f"--debug-counter: '{text}' is not of the form PASS-count=N")
        if found["what"] == "skip":
            raise XlaError(
                f"--debug-counter: '{text}': rewrites are counted by making them, so that the "
                "first cannot be skipped (there is PASS-count=N)"
            )
        limits[found["name"]] = RewriteCounter(int(found["number"]))
    names = {each.module_pass.name for each in pipeline}
    if unused := sorted(limits.keys() - names):
        raise XlaError(f"--debug-counter: the pipeline has no pass {', '.join(unused)}")
    run: list[PipelinePass] = []
    for number, each in enumerate(pipeline, 1):
        name = each.module_pass.name
        is_run = last in (None, -1) or number <= last
        if last is not None:
            print(f"BISECT: {'' if is_run else 'NOT '}running pass ({number}) {name}", file=output)
        if is_run and (name in limits or args.print_debug_counter):
            counter = counters.setdefault(name, limits.get(name, RewriteCounter()))
            counted = CountedPass(
                each.module_pass, counter, breaks_on_last=args.debug_counter_break_on_last
            )
            run.append(replace(each, module_pass=counted))
        elif is_run:
            run.append(each)
    return run


def print_counters(counters: Mapping[str, RewriteCounter], output: IO[str]) -> None:
    """Prints how many rewrites there were."""
    for name, counter in counters.items():
        limit = "" if counter.limit is None else f" of {counter.limit} at most"
        print(f"{name}: {counter.done} rewrites{limit}", file=output)
