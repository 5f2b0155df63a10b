"""
Random programs on the reference, XLA CPU and our executors: no difference that is not explained.

What roundings explain is in `judging.tolerance`, and what else does in `judging.EXPLAINED`.
"""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest
from sweeps import PROFILE, each_or_full

from differential.draft import ROWS
from differential.executors import EXECUTORS, OF_TEXT, XLA, ends_xla
from differential.generation import FAMILIES, OWN_TYPES, TYPES, RandomProgram, generate
from differential.judging import Executor
from differential.reduction import failure_of, reduced
from differential.rewriting import operations
from xla_dialect.literals.arrays import element_type_of
from xla_dialect.verification import verify

QEMU_FAULT = "qemu before 8.0 cannot execute vfcvt.rtz"
IN_A_BLOCK = 5 if PROFILE == "quick" else 10
ALL_BLOCKS = range(200)
QUICK_BLOCKS = range(3)
QUICK_BLOCKS_OF_OURS: Mapping[str, range] = {
    "llvm": range(5, 7),
    "tiles": range(14, 15),
    "tensors": range(8, 9),
    "buffers": range(9, 10),
    "loops": range(10, 11),
    "riscv64": range(11, 12),
    "riscv64_vectors": range(0),
    "text": range(12, 13),
    "printed": range(13, 14),
}
"""In every run; all with `--full`."""


@pytest.fixture(autouse=True)
def floats_may_overflow() -> Iterator[None]:
    """Numpy warns of what the programs are made to do."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        yield


def programs(block: int, types: Sequence[str] = TYPES) -> Iterator[RandomProgram]:
    """The verified programs of a block; each returns all that it computes."""
    for seed in range(block * IN_A_BLOCK, (block + 1) * IN_A_BLOCK):
        program = generate(seed, types)
        verify(program.module)
        yield program


def check(program: RandomProgram, executor: Executor) -> bool:
    """Fails with a program as small as possible; False for one that no emulator here can run."""
    failure = failure_of(program.module, program.arguments, executor)
    if failure is None or QEMU_FAULT in failure.message:
        return failure is None
    pytest.fail(reduced(failure, executor, program.seed).report(program.seed), pytrace=False)


def blocks_of_ours() -> list[Any]:
    """Executors and blocks, marked with what they need."""
    found: list[Any] = []
    for name, quick in QUICK_BLOCKS_OF_OURS.items():
        emulated = [pytest.mark.riscv64] if name.startswith("riscv64") else []
        emulated += [pytest.mark.qemu] if name == "riscv64_vectors" else []
        for block in ALL_BLOCKS:
            full = [] if block in quick else [pytest.mark.full]
            found.append(pytest.param(name, block, marks=[*emulated, *full]))
    return found


@pytest.mark.jax
@pytest.mark.parametrize("block", each_or_full(ALL_BLOCKS, QUICK_BLOCKS))
def test_reference_and_xla(block: int) -> None:
    for program in programs(block):
        if not ends_xla(program.module):
            check(program, XLA)


@pytest.mark.parametrize(("executor", "block"), blocks_of_ours())
def test_reference_and_ours(executor: str, block: int) -> None:
    types = OWN_TYPES if executor in OF_TEXT else TYPES
    refused = [each.seed for each in programs(block, types) if not check(each, EXECUTORS[executor])]
    if refused:
        pytest.skip(f"seeds {refused}: {QEMU_FAULT}")


def test_programs_are_repeatable_and_different() -> None:
    texts = [str(generate(seed).module) for seed in range(10)]
    assert texts == [str(generate(seed).module) for seed in range(10)]
    assert len(set(texts)) == 10


def test_programs_are_of_5_to_40_operations_over_all_types_and_families() -> None:
    """A step may add up to four operations more than are wanted."""
    found = [generate(seed) for seed in range(100)]
    lengths = [len(operations(program.module)) for program in found]
    assert min(lengths) >= 5
    assert 35 <= max(lengths) <= 40
    types = {element_type_of(array.dtype) for program in found for array in program.arguments}
    assert {ROWS[type_].name for type_ in types} == set(TYPES)
    steps = {step for program in found for step in program.steps}
    assert steps == {step for family in FAMILIES for step in family}
