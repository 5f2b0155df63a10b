"""
Asynchronous operations that leave operands or results open, bound by `-update` and `-done`.

The forms are those of XLA's page on asynchronous operations (openxla.org/xla/async_ops).
"""

import re

import numpy as np
import pytest

import lowerings
from lowerings.driver.context import make_context
from xla_dialect.diagnostics import LocatedError
from xla_dialect.hlo_text import print_hlo, read_hlo
from xla_dialect.mlir_text import print_mlir, read_mlir
from xla_dialect.stablehlo.writing import print_stablehlo
from xla_dialect.verification import verify

X = np.array([[1, -2, 3], [4, 5, -6]], np.float32)
Y = np.array([[0.5, 1], [2, -3], [1, 0]], np.float32)

COMPUTATIONS = """
%both (p0: f32[2,3], p1: f32[3,2]) -> f32[2,2] {
  %p0 = f32[2,3]{1,0} parameter(0)
  %p1 = f32[3,2]{1,0} parameter(1)
  ROOT %product = f32[2,2]{1,0} dot(%p0, %p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}

%one (q: f32[2,3]) -> (f32[2,3], f32[2,3]) {
  %q = f32[2,3]{1,0} parameter(0)
  %n = f32[2,3]{1,0} negate(%q)
  ROOT %t = (f32[2,3]{1,0}, f32[2,3]{1,0}) tuple(%n, %q)
}
"""
HEAD = """  %x = f32[2,3]{1,0} parameter(0)
  %y = f32[3,2]{1,0} parameter(1)
"""


def program(lines: str) -> str:
    """A module whose entry has the parameters x and y and ends with these lines."""
    body = "".join(f"  {line}\n" for line in lines.strip().split("\n"))
    return f"HloModule late\n{COMPUTATIONS}\nENTRY %main {{\n{HEAD}{body}}}\n"


def bound_by_update(opcode: str, attributes: str) -> str:
    """The first operand at the start, the second and the result at the update."""
    return f"""
%s = ((f32[2,3]{{1,0}}), (), s32[]) {opcode}-start(%x){attributes}
%u = ((f32[2,3]{{1,0}}, f32[3,2]{{1,0}}), f32[2,2]{{1,0}}, s32[]) {opcode}-update(%s, %y)
ROOT %d = f32[2,2]{{1,0}} {opcode}-done(%u)"""


DOT = ", lhs_contracting_dims={1}, rhs_contracting_dims={0}"
PRODUCTS = {
    "async": bound_by_update("async", ", calls=%both"),
    "call": bound_by_update("call", ", to_apply=%both"),
    "fusion": bound_by_update("fusion", ", kind=kLoop, calls=%both"),
    "dot": bound_by_update("dot", DOT),
    "result bound by done": """
%s = ((f32[2,3]{1,0}, f32[3,2]{1,0}), (), s32[]) dot-start(%x, %y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
ROOT %d = f32[2,2]{1,0} dot-done(%s)""",
    "one after the other": """
%s = ((), (), s32[]) dot-start(), lhs_contracting_dims={1}, rhs_contracting_dims={0}
%u = ((f32[2,3]{1,0}), (), s32[]) dot-update(%s, %x)
%v = ((f32[2,3]{1,0}), (), s32[]) dot-update(%u)
%w = ((f32[2,3]{1,0}, f32[3,2]{1,0}), (), s32[]) dot-update(%v, %y)
%z = ((f32[2,3]{1,0}, f32[3,2]{1,0}), f32[2,2]{1,0}, s32[]) dot-update(%w)
ROOT %d = f32[2,2]{1,0} dot-done(%z)""",
    "operand bound by done": """
%s = ((f32[2,3]{1,0}), (), s32[]) dot-start(%x), lhs_contracting_dims={1}, rhs_contracting_dims={0}
ROOT %d = f32[2,2]{1,0} dot-done(%s, %y)""",
}
PAIRS = {
    "results bound by done": """
%s = ((f32[2,3]{1,0}), (), s32[]) call-start(%x), to_apply=%one
ROOT %d = (f32[2,3]{1,0}, f32[2,3]{1,0}) call-done(%s)""",
    "buffers for the results": """
%s = ((f32[2,3]{1,0}), (), s32[]) call-start(%x), to_apply=%one
%u = ((f32[2,3]{1,0}), (f32[2,3]{1,0}, f32[2,3]{1,0}), s32[]) call-update(%s, %x, %x)
ROOT %d = (f32[2,3]{1,0}, f32[2,3]{1,0}) call-done(%u)""",
}
CUSTOM_CALL = bound_by_update("custom-call", ', custom_call_target="nobody"')


@pytest.mark.parametrize("lines", [*PRODUCTS.values(), *PAIRS.values(), CUSTOM_CALL])
def test_read_and_printed(lines: str) -> None:
    """The text comes back, also by way of MLIR; StableHLO has the computation in place."""
    module = read_hlo(program(lines))
    verify(module)
    printed = print_hlo(module)
    assert lines.strip().replace("\n", "\n  ") in printed
    again = read_mlir(print_mlir(module), make_context(), "printed.mlir")
    verify(again)
    assert print_hlo(again) == print_hlo(read_hlo(printed)) == printed
    assert "async" not in print_stablehlo(module)


@pytest.mark.parametrize("backend", ["reference", "llvm"])
@pytest.mark.parametrize("name", PRODUCTS)
def test_products(name: str, backend: str) -> None:
    (result,) = lowerings.compile(program(PRODUCTS[name]), backend=backend)(X, Y)
    np.testing.assert_array_equal(result, X @ Y)


@pytest.mark.parametrize("backend", ["reference", "llvm"])
@pytest.mark.parametrize("name", PAIRS)
def test_pairs(name: str, backend: str) -> None:
    negative, same = lowerings.compile(program(PAIRS[name]), backend=backend)(X, Y)
    np.testing.assert_array_equal(negative, -X)
    np.testing.assert_array_equal(same, X)


START = "%s = ((f32[2,3]), (), s32[]) dot-start(%x)" + DOT
REFUSED = {
    "an operand stays open": (
        START + "\nROOT %d = f32[2,2] dot-done(%s)",
        "dot takes 2 operands, found 1",
    ),
    "an operand of a call stays open": (
        "%s = ((f32[2,3]), (), s32[]) async-start(%x), calls=%both\nROOT %d = f32[2,2] async-done(%s)",
        "xla.async_done: (C2) 1 of 2 operands are bound",
    ),
    "the context says another operand": (
        START + "\n%u = ((f32[2,3], f32[2,2]), f32[2,2], s32[]) dot-update(%s, %y)"
        "\nROOT %d = f32[2,2] dot-done(%u)",
        "xla.dot",
    ),
    "more operands than the computation has": (
        PRODUCTS["async"].replace("(%s, %y)", "(%s, %y, %y)").strip(),
        "xla.async_update: (C3) operands (f32[3,2], f32[3,2]) are bound",
    ),
    "operands of a context that is complete": (
        "%s = ((f32[2,3], f32[3,2]), f32[2,2], s32[]) async-start(%x, %y), calls=%both"
        "\nROOT %d = f32[2,2] async-done(%s, %y)",
        "xla.async_done: (C3) binds operands, but no async_start or async_update before it",
    ),
    "results of another type": (
        PRODUCTS["async"].replace("f32[2,2]", "f32[4,1]").strip(),
        "xla.async_update: (C3) results f32[4,1], the computation gives f32[2,2]",
    ),
    "an open context that nobody completes": (
        START.replace("dot-start", "async-start").replace(DOT, ", calls=%both")
        + "\nROOT %d = f32[2,3] negate(%x)",
        "xla.async_start: (C3) the context is open and its uses are none",
    ),
    "a context that is bound twice": (
        PRODUCTS["async"].replace("ROOT ", "") + "\nROOT %e = f32[2,2] async-done(%s, %y)",
        "xla.async_start: (C3) the context is open and its uses are",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_may_not_stay_open(name: str) -> None:
    lines, message = REFUSED[name]
    with pytest.raises(LocatedError, match=re.escape(message)):
        verify(read_hlo(program(lines)))
