"""
Crash reproducers: a file with the module before the pass that failed, and the passes from there on.

The form is MLIR's: the module, then a resource `mlir_reproducer` with the pipeline.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import DiagnosticException, VerifyException

from lowerings.driver.pass_manager import PassFailed, PassManager
from xla_dialect.diagnostics import XlaError

from .ir_printing import PrintingFlags

_RESOURCE = re.compile(
    r"\{-#\s*external_resources\s*:\s*\{\s*mlir_reproducer\s*:\s*\{(.*)\}\s*\}\s*#-\}\s*\Z",
    re.DOTALL,
)
_PIPELINE = re.compile(r'\bpipeline\s*:\s*("(?:[^"\\]|\\.)*")')
_INPUTS = re.compile(r'\binputs\s*:\s*("(?:[^"\\]|\\.)*")')
_VERIFY_EACH = re.compile(r"\bverify_each\s*:\s*(true|false)\b")
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

    @staticmethod
    def parse(text: str) -> Reproducer | None:
        """Parses the text of a reproducer; None for any other text."""
        if "{-#" not in text:
            return None
        resource = _RESOURCE.search(text, text.rindex("{-#"))
        if resource is None or (pipeline := _PIPELINE.search(resource[1])) is None:
            return None
        verify_each = _VERIFY_EACH.search(resource[1])
        inputs = _INPUTS.search(resource[1])
        passes = json.loads(pipeline[1])
        anchored = _ANCHORED.fullmatch(passes)
        return Reproducer(
            text[: resource.start()],
            passes if anchored is None else anchored[1],
            verify_each is None or verify_each[1] == "true",
            "" if inputs is None else json.loads(inputs[1]),
        )


def reproducer_of(
    read: Callable[[], ModuleOp],
    ctx: Context,
    passes: Sequence[ModulePass],
    done: int,
    verify_each: bool,
) -> Reproducer:
    """
    The reproducer of a run in which a pass failed after `done` others.

    They run again on the module that `read` reads anew: this costs nothing as long as no pass
    fails. Where the second run does not get so far either, the module is the one that was read.
    """
    try:
        module = read()
        PassManager(ctx, verify_each=False).run(module, passes[:done])
        text = PrintingFlags().text(module)
    except Exception:
        text, done = PrintingFlags().text(read()), 0
    pipeline = ",".join(str(module_pass.spec()) for module_pass in passes[done:])
    return Reproducer(text, pipeline, verify_each)


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
        if manager.done < len(passes) and _is_wanted(error, path):
            error.add_note(f"note: {_written(manager, passes, read, path)}")
        raise


def _is_wanted(error: Exception, path: str) -> bool:
    """
    Whether an error needs a reproducer: one of a pass's code does, a diagnostic if there is a path.

    A pass that changed the meaning of the program has left one.
    """
    if not isinstance(error, XlaError | DiagnosticException):
        return True
    if isinstance(error, PassFailed) and isinstance(error.__cause__, VerifyException):
        return True
    return bool(path) and not isinstance(
        error, import_module("lowerings.validation").MeaningChanged
    )


def _written(
    manager: PassManager, passes: Sequence[ModulePass], read: Callable[[], ModuleOp], path: str
) -> str:
    """Writes the reproducer; says how to run it, or why there is none."""
    try:
        found = reproducer_of(read, manager.ctx, passes, manager.done, manager.verify_each)
        if not path:
            with tempfile.NamedTemporaryFile(
                prefix="xla-opt-crash-", suffix=".mlir", delete=False
            ) as file:
                path = file.name
        with open(path, "w", encoding="utf-8") as output:
            output.write(found.text())
    except Exception as error:
        return f"no reproducer: {error}"
    return f"to reproduce: xla-opt {path} --run-reproducer"
