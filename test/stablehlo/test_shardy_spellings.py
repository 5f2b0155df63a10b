"""Every spelling of Shardy's operations that jaxlib takes is taken, and printed as the same."""

import random

import pytest
from peers import has_jax
from shardy_spellings import OPERATIONS, program

from lowerings.driver.context import make_context
from lowerings.driver.program import detect_format, parse_program
from xla_dialect.mlir_text import print_mlir, read_mlir
from xla_dialect.stablehlo.writing import print_stablehlo

if has_jax():
    from stablehlo_oracle import printed, rejection


@pytest.mark.jax
@pytest.mark.parametrize("count", [4, pytest.param(100, marks=pytest.mark.full)])
@pytest.mark.parametrize("name", OPERATIONS)
def test_spellings(name: str, count: int):
    """
    The dialect reads and prints each in both forms as what jaxlib has read; the program of `xla`
    that it becomes is the same after a round trip.
    """
    taken = 0
    for number in range(count):
        text = program(name, random.Random(f"{name} {number}"))
        if rejection(text) is not None:
            continue
        taken += 1
        expected = printed(text)
        module = read_mlir(text, make_context())
        module.verify()
        for generic in (False, True):
            shown = print_mlir(module, generic=generic)
            assert printed(shown) == expected, text
            assert print_mlir(read_mlir(shown, make_context()), generic=generic) == shown
        assert detect_format(text) == "stablehlo"
        program_of_xla = parse_program(text)
        written = print_stablehlo(program_of_xla)
        assert rejection(written) is None, written
        again = parse_program(written)
        assert print_stablehlo(again) == written
        # Sums over devices become arithmetic, and stay so.
        is_sum = name in ("all_reduce", "reduce_scatter")
        assert is_sum or again.is_structurally_equivalent(program_of_xla), text
    assert taken > 0.9 * count
