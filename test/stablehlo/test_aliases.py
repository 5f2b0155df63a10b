"""Aliases of attributes, types and locations, wherever MLIR allows to define them."""

import itertools

import pytest
from peers import has_jax

from lowerings.driver.program import parse_program
from xla_dialect.mlir_text import print_mlir

if has_jax():
    import jax
    from stablehlo_oracle import printed

DEFINITIONS = [
    '#pair = [#word, 2, "a"]',
    "#word = {of = !array}",
    "!array = tensor<4xf32>",
    '#place = loc(callsite(#callee at "g.py":1:2))',
    "#callee = loc(fused<#file>[#line])",
    '#line = loc("f.py":3:4 to :9)',
    '#file = #llvm.di_file<"f.py" in "/home">',
]
ALONE = """
func.func @main(%a: !array {x.pair = #pair} loc(#line)) -> !array {
  return %a : !array loc(#place)
} loc(#line)
"""
WITH_OPERATION = ALONE.replace(
    "  return", "  %0 = stablehlo.negate %a {x.pair = #pair} : !array loc(#place)\n  return"
)


@pytest.mark.parametrize("program", [ALONE, WITH_OPERATION], ids=["functions", "StableHLO"])
def test_definitions_stand_anywhere(program: str):
    """Before their uses, behind them, or both, in any order."""
    plain = program
    for _ in DEFINITIONS:
        for definition in DEFINITIONS:
            name, _, value = definition.partition(" = ")
            is_place = name in ("#place", "#callee", "#line")
            plain = plain.replace(name, value[4:-1] if is_place else value)
    expected = print_mlir(parse_program(plain, "f.mlir"), locations=True)
    assert 'f.py":3:4' in expected
    for shift, before in itertools.product(range(7), (0, 3, 7)):
        order = [*DEFINITIONS[shift:], *DEFINITIONS[:shift]]
        text = "\n".join([*order[:before], program.strip(), *order[before:], ""])
        found = print_mlir(parse_program(text, "f.mlir"), locations=True)
        assert found.replace(f'"f.mlir":{before + 1}:', '"f.mlir":2:') == expected, text


@pytest.mark.jax
def test_what_jaxlib_prints_again():
    """The order of definitions that MLIR chooses, for a program with locations."""
    text = jax.jit(lambda x: x).lower(1.0).as_text(debug_info=True)
    module = parse_program(text)
    assert 'loc("jit(<lambda>)"' in print_mlir(module, locations=True)
    assert "func.return" in print_mlir(parse_program(printed(text)))
