"""`--pass-statistics`: how many operations each pass has added and taken away, by dialect."""

from __future__ import annotations

from collections import Counter
from typing import IO

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

_RULE = f"==={'-' * 73}==="
_TITLE = "... Pass statistics report ..."


class PassStatistics:
    """Counts the operations of a module, as an event after each pass of a pass manager."""

    def __init__(self, module: ModuleOp):
        self._last = _operations(module)
        self._lines: list[str] = []

    def after(self, module_pass: ModulePass, module: ModuleOp) -> None:
        """Notes what a pass has changed; an operation that became another counts for both."""
        now = _operations(module)
        self._lines.append(module_pass.name)
        for dialect in sorted(now.keys() | self._last.keys()):
            before, after = self._last[dialect], now[dialect]
            if before != after:
                self._lines.append(f"  (S) {after - before:+7} {dialect}: {before} to {after}")
        self._last = now

    def print(self, output: IO[str]) -> None:
        """Prints the report, as `mlir-opt --mlir-pass-statistics` prints its own."""
        print(_RULE, f"{_TITLE:^{len(_RULE)}}".rstrip(), _RULE, *self._lines, sep="\n", file=output)


def _operations(module: ModuleOp) -> Counter[str]:
    """How many operations of each dialect a module has."""
    return Counter(op.name.split(".", 1)[0] for op in module.walk())
