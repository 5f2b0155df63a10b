"""The tensors level, before and after fusion, computes what the reference does on random programs."""

import pytest
from random_integer_programs import random_program
from tensors_level import check


def run_random_program(seed: int) -> None:
    build, arguments = random_program(seed)
    check(build, *arguments)


@pytest.mark.parametrize("seed", range(60))
def test_random_program(seed: int) -> None:
    run_random_program(seed)


@pytest.mark.full
@pytest.mark.parametrize("block", range(60))
def test_many_random_programs(block: int) -> None:
    for seed in range(100 * block + 100, 100 * block + 200):
        run_random_program(seed)
