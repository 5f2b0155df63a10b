"""Small programs as HLO text, run by the processes of the reference's grid and by XLA CPU."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from small_programs import same
from xdsl.dialects.builtin import ModuleOp
from xla_cpu import xla_cpu

from xla_dialect.hlo_text import read_hlo
from xla_dialect.reference import flatten_results, run_replicated
from xla_dialect.verification import verify

FILE = "program.hlo"

COMPUTATIONS = """\
add {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT sum = f32[] add(a, b)
}
subtract {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT difference = f32[] subtract(a, b)
}
"""


def hlo(lines: str, computations: str = "", head: str = "") -> str:
    """The text of a module whose entry has these lines; the last one is its root."""
    return f"HloModule program{head}\n{COMPUTATIONS}{computations}ENTRY main {{\n{lines}\n}}\n"


def module_of(text: str) -> ModuleOp:
    """The verified module of a text."""
    module = read_hlo(text, FILE)
    verify(module, {FILE: text})
    return module


Arguments = Sequence[Sequence[Any]]


def on_grid(
    text: str, arguments: Arguments, replicas: int = 1, partitions: int = 1, **options: Any
) -> list[tuple[np.ndarray, ...]]:
    """The arrays that every process of the reference returns."""
    results = run_replicated(
        module_of(text), arguments, replicas=replicas, partitions=partitions, **options
    )
    return [flatten_results(result) for result in results]


def assert_as_xla(text: str, arguments: Arguments, replicas: int, partitions: int = 1) -> None:
    """The reference returns, bit by bit, what XLA CPU does."""
    theirs = xla_cpu(text, arguments, replicas, partitions)
    ours = on_grid(text, arguments, replicas, partitions)
    same(tuple(ours), tuple(tuple(arrays) for arrays in theirs))
