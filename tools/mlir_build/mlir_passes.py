"""MLIR's own tools: from a module of the buffers or loops level to the text of LLVM IR."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from xla_dialect.diagnostics import XlaError

VERSION = 22
"""Of LLVM; its IR is what llvmlite reads."""
CANDIDATES = (f"mlir-opt-{VERSION}", "mlir-opt")

PIPELINE = (
    "convert-linalg-to-loops",
    "convert-vector-to-scf",
    "expand-strided-metadata",
    "lower-affine",
    "convert-scf-to-cf",
    "func.func(llvm-request-c-wrappers)",
    "convert-math-to-llvm",
    "convert-math-to-libm",
    "convert-complex-to-standard",
    "convert-complex-to-llvm",
    # A processor without conversions to bf16 would call a function that old runtime libraries lack.
    "arith-expand{include-bf16=true}",
    "convert-vector-to-llvm",
    "finalize-memref-to-llvm",
    "convert-func-to-llvm",
    "convert-cf-to-llvm",
    "convert-arith-to-llvm",
    "convert-index-to-llvm",
    "convert-ub-to-llvm",
    "reconcile-unrealized-casts",
)
"""From linalg on memrefs, scf, vector, arith, math and complex to the LLVM dialect."""


class MlirError(XlaError):
    """A tool of MLIR that is missing, or that refuses a module."""


@dataclass(frozen=True)
class MlirTools:
    """The commands."""

    opt: str
    translate: str

    @staticmethod
    def find(opt: str | None = None) -> MlirTools:
        """
        `mlir-opt`, by default the first of `CANDIDATES` of the right version on the path, and
        `mlir-translate` beside it. Raises MlirError.
        """
        for candidate in CANDIDATES if opt is None else (opt,):
            path = shutil.which(candidate)
            if path is None or (opt is None and _version(path) != VERSION):
                continue
            name = Path(path).name.replace("mlir-opt", "mlir-translate")
            translate = shutil.which(name, path=str(Path(path).parent))
            if translate is None:
                raise MlirError(f"there is no {name} beside {path}")
            return MlirTools(path, translate)
        raise MlirError(
            f"there is no {opt}"
            if opt is not None
            else f"there is no mlir-opt of LLVM {VERSION} "
            f"(apt install mlir-{VERSION}-tools, from apt.llvm.org)"
        )

    def llvm_dialect_command(self, first: Sequence[str] = ()) -> list[str]:
        """The command that lowers a module to the LLVM dialect; some passes may run `first`."""
        return [self.opt, f"--pass-pipeline=builtin.module({','.join([*first, *PIPELINE])})"]

    def llvm_ir_command(self) -> list[str]:
        """The command that prints LLVM IR."""
        return [self.translate, "--mlir-to-llvmir"]

    def llvm_ir(self, text: str, first: Sequence[str] = ()) -> str:
        """What MLIR's passes make of a module; raises MlirError with their first message."""
        return run(self.llvm_ir_command(), run(self.llvm_dialect_command(first), text))


def run(command: Sequence[str], text: str) -> str:
    """What a command prints for a text; raises MlirError with what it says where it fails."""
    answer = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        said = answer.stderr.strip() or f"exit code {answer.returncode}"
        raise MlirError(f"{Path(command[0]).name}: {said[:2000]}")
    return answer.stdout


def c_interface(callee: str, count: int, symbol: str) -> str:
    """
    LLVM IR of a function that calls another one by its C interface, with the descriptors of memrefs
    that a table has the addresses of.
    """
    loads = "".join(
        f"  %a{i} = getelementptr ptr, ptr %table, i64 {i}\n  %p{i} = load ptr, ptr %a{i}\n"
        for i in range(count)
    )
    arguments = ", ".join(f"ptr %p{i}" for i in range(count))
    call = f"  call void @_mlir_ciface_{callee}({arguments})\n"
    return f"\ndefine void @{symbol}(ptr %table) {{\n{loads}{call}  ret void\n}}\n"


def _version(path: str) -> int | None:
    answer = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
    found = re.search(r"LLVM version (\d+)\.", answer.stdout)
    return None if found is None else int(found[1])
