"""Output formats that are no text."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import IO

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.target import Target

from xla_dialect.diagnostics import XlaError


@dataclass(frozen=True)
class BinaryTarget(Target):
    """A target that writes bytes."""

    is_binary = True
    """What it writes goes to the buffer below the output."""

    @abstractmethod
    def content(self, ctx: Context, module: ModuleOp) -> bytes:
        """The bytes for a module."""

    def emit(self, ctx: Context, module: ModuleOp, output: IO[str]) -> None:
        """Writes the bytes; raises XlaError where the output takes text only."""
        buffer: IO[bytes] | None = getattr(output, "buffer", None)
        if buffer is None:
            raise XlaError(f"target '{self.name}': it is no text; write it to a file")
        content = self.content(ctx, module)
        output.flush()
        buffer.write(content)
