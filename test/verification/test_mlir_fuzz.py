"""
Damaged and hostile MLIR text of every level: a module that verifies and prints, or one located
error, soon. A few examples run each time, many with `--full`.
"""

import time
from collections.abc import Callable
from functools import cache

import pytest
from damaged_text import damaged
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sweeps import few_examples
from xdsl.dialects.builtin import ModuleOp

from lowerings.driver.context import make_context
from lowerings.driver.pass_manager import PassManager, parse_passes
from lowerings.driver.program import parse_program
from xla_dialect.diagnostics import LocatedError
from xla_dialect.mlir_text import print_mlir

PROGRAM = """HloModule m, entry_computation_layout={(f32[3,4]{0,1}, pred[])->(f32[4], u4[2], s1[3])}
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b) }
body { i = (s32[], f32[3,4]) parameter(0)
  n = s32[] get-tuple-element(i), index=0
  v = f32[3,4] get-tuple-element(i), index=1
  o = s32[] constant(1)
  m = s32[] add(n, o)
  w = f32[3,4] exponential(v)
  ROOT t = (s32[], f32[3,4]) tuple(m, w) }
condition { i = (s32[], f32[3,4]) parameter(0)
  n = s32[] get-tuple-element(i), index=0
  o = s32[] constant(3)
  ROOT c = pred[] compare(n, o), direction=LT }
ENTRY e { x = f32[3,4]{0,1} parameter(0)
  p = pred[] parameter(1)
  k = f32[4,4] constant({{1,2,3,nan},{0,-0.0,inf,5},{1,1,1,1},{2,2,2,2}})
  d = f32[3,4] dot(x, k), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  z = s32[] constant(0)
  s = (s32[], f32[3,4]) tuple(z, d)
  l = (s32[], f32[3,4]) while(s), condition=condition, body=body
  v = f32[3,4] get-tuple-element(l), index=1
  f = f32[] constant(0)
  r = f32[4] reduce(v, f), dimensions={0}, to_apply=add, metadata={op_name="sum"}
  u = u4[2] constant({1, 15})
  q = s1[3] constant({0, -1, 0})
  ROOT t = (f32[4], u4[2], s1[3]) tuple(r, u, q) }
"""
LEVELS = ("xla", "tensors", "buffers", "schedules", "loops")


@cache
def printed(level: str) -> str:
    """The program as it is printed at a level."""
    module = parse_program(PROGRAM, "program.hlo", verified=True)
    if level != "xla":
        PassManager(make_context()).run(module, parse_passes(f"native{{to={level}}}"))
    return print_mlir(module)


def read(text: str) -> ModuleOp | LocatedError:
    try:
        return parse_program(text, "fuzz.mlir", "mlir", verified=True)
    except LocatedError as error:
        return error


def check(text: str) -> None:
    """The contract. What is read prints and reads again to the same text."""
    found = read(text)
    if isinstance(found, LocatedError):
        assert str(found).startswith("fuzz.mlir:"), str(found)
        assert 1 <= found.line <= text.count("\n") + 1
        assert found.message
        assert len(str(found)) < 5000
        return
    again = parse_program(print_mlir(found), "printed.mlir", "mlir")
    assert print_mlir(again) == print_mlir(found)


@pytest.mark.parametrize("level", LEVELS)
def test_undamaged(level: str) -> None:
    check(printed(level))


WORDS = [
    *("{", "}", "(", ")", "[", "]", "<", ">", ",", "=", "->", ":", '"', "%", "#", "@", "!", "\\"),
    *("//", "\0", "é", "^bb0", "%0", "%x", "f32", "i32", "si1", "tensor<", "memref<", "index"),
    *("0", "-1", "99999999999999999999", "1.5", "0x7F", "dense<", "true", "loc(", "attributes"),
    *('"xla.add"', "xla.reduce", "func.func", "builtin.module", "({", "})", "() -> ()", "\n", "?"),
    *("tensor<2xf32>", "tensor<9223372036854775807xf32>", "vector<", "affine_map<", "strided<["),
]


# The first example lowers the program.
SLOW_START = [HealthCheck.too_slow]


@given(data=st.data())
@settings(few_examples(100, 5000), suppress_health_check=SLOW_START)
def test_damaged(data: st.DataObject) -> None:
    check(damaged(data, printed(data.draw(st.sampled_from(LEVELS))), WORDS))


NESTED = 100_000
PLACES: dict[str, Callable[[str], str]] = {
    "text": lambda deep: deep,
    "type": lambda deep: f"func.func @f(%x: {deep}) {{\n}}\n",
    "attribute": lambda deep: f"builtin.module attributes {{a = {deep}}} {{\n}}\n",
    "property": lambda deep: f'"builtin.module"() <{{a = {deep}}}> ({{\n^bb0:\n}}) : () -> ()\n',
    "literal": lambda deep: f"%0 = xla.constant dense<{deep}> : tensor<2xf32>\n",
    "layout": lambda deep: f"func.func private @f(tensor<2xf32, #xla.layout<{deep}>>)\n",
    "map": lambda deep: f"builtin.module attributes {{a = affine_map<(d0) -> ({deep})>}} {{}}\n",
    "location": lambda deep: f"builtin.module {{\n}} loc({deep})\n",
}
OPENINGS = {
    **dict.fromkeys(("{", "(", "[", "<", '"', "-"), ""),
    "tuple<": ">",
    "tensor<2x": ">",
    "{a = ": "}",
    "[": "]",
    "(": ")",
    "complex<": ">",
    "dense<": ">",
    "builtin.module {\n": "}\n",
    '"builtin.module"() ({\n': "}) : () -> ()\n",
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("opening", OPENINGS)
def test_deep_nesting(place: str, opening: str) -> None:
    """Deep nestings, unclosed and balanced, are read or refused within seconds."""
    for text in (opening * NESTED, opening * NESTED + OPENINGS[opening] * NESTED):
        start = time.process_time()
        check(PLACES[place](text))
        assert time.process_time() - start < 5


@pytest.mark.parametrize(
    "text",
    [
        '"builtin.module"() ({\n}) : () -> ()',
        'builtin.module {\n"builtin.module"() ({}) : () -> ()\n}',
        '"func.func"() <{sym_name = "f", function_type = () -> ()}> ({}) : () -> ()',
        '"func.func"() ({}) : () -> ()',
        '"xla.reduce"() ({}) : () -> ()',
        '"xla.reduce"() : () -> ()',
        '"scf.for"() ({}) : () -> ()',
        '"linalg.generic"() ({}) : () -> ()',
        "linalg.fill",
        "%0 = xla.constant dense<1.0> : tensor<1000000000000xf32>",
        "%0 = arith.constant dense<1.0> : tensor<1000000000000xf32>",
        '%0 = xla.constant dense<"0x00"> : tensor<1000000000000xi8>',
        "func.func @f(%x: tensor<-1xf32>) {\n}",
        "func.func @f(%x: vector<99999999999999999999xf32>) {\n}",
        "func.func @f(%x: i99999999) {\n}",
        "",
        "\ufeff",
        "}",
    ],
)
def test_hostile(text: str) -> None:
    check(text)


def test_a_module_needs_a_block() -> None:
    with pytest.raises(LocatedError, match=r"region of .* has no block") as caught:
        parse_program('\n "builtin.module"() ({\n}) : () -> ()', "fuzz.mlir", "mlir")
    assert (caught.value.line, caught.value.column) == (2, 2)
