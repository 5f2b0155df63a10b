"""`--validate-each`: every pass is checked by running the module before and after it."""

from __future__ import annotations

import sys

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from lowerings.validation import MeaningChanged, Validator
from lowerings.validation.inputs import InputChoice
from xla_dialect.diagnostics import XlaError

from .pass_instrumentation import PrintingFlags, Reproducer


class PassValidation:
    """The events of one run; a pass that changes the meaning leaves a reproducer."""

    def __init__(
        self, path: str, inputs: str, seed: int | None, count: int | None, *, is_strict: bool
    ):
        """
        `path` of the reproducer, by default a new temporary file; `inputs`: of a reproducer; else
        they are made of a `seed`, so many with numbers of each kind in each parameter. If
        `is_strict`, it is an error that something could not be checked.
        """
        self._path = path
        usual = InputChoice()
        choice = InputChoice(
            usual.seed if seed is None else seed, usual.count if count is None else count
        )
        self._validator = Validator(sys.stderr, inputs, choice)
        self._is_strict = is_strict
        self.before = self._validator.before

    def after(self, module_pass: ModulePass, module: ModuleOp) -> None:
        """Raises MeaningChanged, with a note that says how to see it again."""
        try:
            self._validator.after(module_pass, module)
        except MeaningChanged as error:
            error.add_note(self._written(error))
            raise

    def end(self) -> None:
        """To be called after the last pass; raises XlaError if strict, and not all was checked."""
        if self._is_strict and (unchecked := self._validator.unchecked):
            raise XlaError(f"--validate-strict: {len(unchecked)} times something was not checked")

    def _written(self, error: MeaningChanged) -> str:
        reproducer = Reproducer(PrintingFlags().text(error.module), error.spec, inputs=error.inputs)
        try:
            return f"{reproducer.written(self._path, 'xla-opt-validation-')} --validate-each"
        except OSError as problem:
            return f"no reproducer: {problem}"
