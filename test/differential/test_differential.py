"""
Random programs on the reference, XLA CPU and compiled: no difference that is not explained.

What roundings explain is in `judging.tolerance`, and what else does in `judging.EXPLAINED`.
"""

import warnings
from collections.abc import Iterator

import pytest
from sweeps import each_or_full

from differential.draft import ROWS
from differential.executors import ends_xla, natively, on_xla
from differential.generation import FAMILIES, TYPES, RandomProgram, generate
from differential.judging import Executor
from differential.reduction import failure_of, reduced
from differential.rewriting import operations
from xla_dialect.reference import element_type_of
from xla_dialect.verification import verify

IN_A_BLOCK = 10
ALL_BLOCKS = range(200)
QUICK_BLOCKS = range(10)


@pytest.fixture(autouse=True)
def floats_may_overflow() -> Iterator[None]:
    """Numpy warns of what the programs are made to do."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        yield


def programs(block: int) -> Iterator[RandomProgram]:
    """The verified programs of a block; each returns all that it computes."""
    for seed in range(block * IN_A_BLOCK, (block + 1) * IN_A_BLOCK):
        program = generate(seed)
        verify(program.module)
        yield program


def check(program: RandomProgram, execute: Executor) -> None:
    """Fails with a program as small as possible."""
    failure = failure_of(program.module, program.arguments, execute)
    if failure is not None:
        pytest.fail(reduced(failure, execute, program.seed).report(program.seed), pytrace=False)


@pytest.mark.jax
@pytest.mark.parametrize("block", each_or_full(ALL_BLOCKS, QUICK_BLOCKS))
def test_reference_and_xla(block: int) -> None:
    for program in programs(block):
        if not ends_xla(program.module):
            check(program, on_xla)


@pytest.mark.parametrize("block", each_or_full(ALL_BLOCKS, QUICK_BLOCKS[:4]))
def test_reference_and_machine_code(block: int) -> None:
    for program in programs(block):
        check(program, natively)


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
