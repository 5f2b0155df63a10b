"""Small programs as HLO text, run by the processes of a grid on all executors and by XLA CPU."""

import copy
import re
from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
from joint_runs import run_jointly
from small_programs import same
from xdsl.dialects.builtin import ModuleOp
from xla_cpu import xla_cpu

from lowerings.compilation import INTERPRETED_LEVELS, Options, compile_module
from lowerings.execution.executable import Executable
from xla_dialect.devices.process_grid import Host
from xla_dialect.diagnostics import XlaError
from xla_dialect.hlo_text import read_hlo
from xla_dialect.literals.arrays import flatten_results
from xla_dialect.reference import run_replicated
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


EXECUTORS: tuple[tuple[str, str | None], ...] = (
    ("llvm", None),
    *(("interpreter", level) for level in INTERPRETED_LEVELS),
)
"""What runs programs beside the reference: the backend, and the level."""


def on_reference(
    text: str, arguments: Arguments, replicas: int = 1, partitions: int = 1, **options: Any
) -> list[tuple[np.ndarray, ...]]:
    """The arrays that every process of the reference returns."""
    results = run_replicated(
        module_of(text), arguments, replicas=replicas, partitions=partitions, **options
    )
    return [flatten_results(result) for result in results]


def on_grid(
    text: str,
    arguments: Arguments,
    replicas: int = 1,
    partitions: int = 1,
    hosts: list[Host] | None = None,
    custom_calls: dict[str, Any] | None = None,
) -> list[tuple[np.ndarray, ...]]:
    """
    The arrays that every process of the reference returns.

    All other executors return the same, or raise the same error.
    """
    others = [copy.deepcopy(hosts) for _ in EXECUTORS]
    error, found = None, []
    options = {} if custom_calls is None else {"custom_calls": custom_calls}
    try:
        found = on_reference(text, arguments, replicas, partitions, hosts=hosts, **options)
    except XlaError as raised:
        error = raised
    for executor, own in zip(EXECUTORS, others, strict=True):
        with nullcontext() if error is None else pytest.raises(XlaError) as caught:
            results = compiled_on_grid(
                executor, text, arguments, (replicas, partitions), own, custom_calls
            )
            same(tuple(results), tuple(found))
        if caught is not None:
            assert _of_any_process(caught.value) == _of_any_process(error), executor
        else:
            assert_same_hosts(own, hosts)
    if error is not None:
        raise error
    return found


def _of_any_process(error: Exception | None) -> str:
    """A message without the process: of several that fail, any may be the first."""
    return re.sub(r"(?<=error: )(replica|partition) \d+(, partition \d+)?: ", "", str(error))


def compiled_on_grid(
    executor: tuple[str, str | None],
    text: str,
    arguments: Arguments,
    counts: tuple[int, int],
    hosts: list[Host] | None,
    custom_calls: dict[str, Any] | None,
) -> list[tuple[np.ndarray, ...]]:
    """What every process returns that runs the compiled program."""
    backend, level = executor
    program = compile_module(
        module_of(text),
        Options(
            backend=backend,
            level=level,
            replicas=counts[0],
            partitions=counts[1],
            custom_calls=custom_calls or {},
        ),
    )
    flat = [flatten_results(tuple(arrays)) for arrays in arguments]
    jointly = (
        [run_jointly(program, flat, in_turn) for in_turn in (True, False)]
        if (hosts is None and isinstance(program, Executable) and program.can_run_jointly)
        else []
    )
    try:
        found = program.run_processes(flat, hosts=hosts)
    except XlaError:
        assert not any(jointly), "a run that fails"
        raise
    for each in jointly:
        assert each is not None, "a run that does not fail"
        same(tuple(each), tuple(found))
    return found


def assert_same_hosts(first: list[Host] | None, second: list[Host] | None) -> None:
    """The hosts have got the same from their programs."""
    for one, other in zip(first or [], second or [], strict=True):
        for mine, theirs in (
            (one.outfeed, other.outfeed),
            *((one.received[channel], other.received[channel]) for channel in other.received),
        ):
            same(flatten_results(mine), flatten_results(theirs))


def assert_as_xla(text: str, arguments: Arguments, replicas: int, partitions: int = 1) -> None:
    """The reference returns, bit by bit, what XLA CPU does."""
    theirs = xla_cpu(text, arguments, replicas, partitions)
    ours = on_grid(text, arguments, replicas, partitions)
    same(tuple(ours), tuple(tuple(arrays) for arrays in theirs))
