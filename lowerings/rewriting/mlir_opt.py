"""xDSL's pass `mlir-opt`, with literals as MLIR has them on the way there and back."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from io import StringIO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.transforms.mlir_opt import MLIROptPass
from xdsl.utils.exceptions import (
    DiagnosticException,
    ParseError,
    UnregisteredConstructException,
    VerifyException,
)

from xla_dialect.xdsl.text import MlirParser, MlirPrinter


@dataclass(frozen=True)
class MlirOptPass(MLIROptPass):
    """
    Calls the `mlir-opt` tool with the given arguments.

    Its executable is `mlir-opt` unless the pass or `XDSL_MLIR_OPT` in the environment says
    otherwise. Raises DiagnosticException where the tool is missing, where it fails, and where
    what it prints cannot be read.
    """

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Replaces the contents and attributes of a module by what the tool makes of them."""
        if not shutil.which(self.executable):
            raise DiagnosticException(f"{self.executable} is not available")
        text = StringIO()
        MlirPrinter(text, print_generic_format=self.generic).print_op(op)
        answer = subprocess.run(
            [self.executable, *self.arguments],
            input=text.getvalue(),
            capture_output=True,
            text=True,
            check=False,
        )
        if answer.returncode:
            reason = answer.stderr.strip() or f"exit code {answer.returncode}"
            raise DiagnosticException(f"{self.executable} fails: {reason}")
        try:
            made = MlirParser(ctx, answer.stdout, f"<{self.executable}>").parse_module()
        except (ParseError, UnregisteredConstructException, VerifyException, ValueError) as error:
            raise DiagnosticException(
                f"what {self.executable} prints cannot be read: {error}"
            ) from error
        op.detach_region(op.body)
        op.add_region(made.detach_region(made.body))
        op.attributes = made.attributes
