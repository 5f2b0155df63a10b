"""What assigning layouts costs, in calls of functions: it grows with the program, no faster."""

import sys
from itertools import count

import pytest

from lowerings.driver.context import make_context
from lowerings.driver.program import load_program
from lowerings.layouts import xla_assign_layouts
from lowerings.layouts.xla_assign_layouts import XlaAssignLayoutsPass

X, TURNED, W = "tensor<4x8xf32>", "tensor<8x4xf32>", "tensor<8x8xf32>"
DOT = "lhs_contracting_dims = [0], rhs_contracting_dims = [0]"


def transpose_in_vain(number: int) -> str:
    """Another order of what is before or after the transpose only moves a parameter instead."""
    return (
        f"%p{number} = xla.multiply %{number}, %x : {X}\n"
        f"%t{number} = xla.transpose %p{number} {{dimensions = [1, 0]}} : ({X}) -> {TURNED}\n"
        f"%s{number} = xla.add %t{number}, %z : {TURNED}\n"
        f"%{number + 1} = xla.dot %s{number}, %w {{{DOT}}} : ({TURNED}, {W}) -> {X}"
    )


def calls(number: int) -> int:
    """How many functions of Python the pass calls."""
    body = "\n".join(map(transpose_in_vain, range(number)))
    text = (
        f"func.func @main(%x: {X}, %z: {TURNED}, %w: {W}) -> {X} {{\n"
        f"%0 = xla.negate %x : {X}\n{body}\nfunc.return %{number} : {X}\n}}"
    )
    module, context = load_program(text, "mlir"), make_context()
    made = count()
    sys.setprofile(lambda frame, event, argument: next(made) if event == "call" else None)
    try:
        XlaAssignLayoutsPass().apply(context, module)
    finally:
        sys.setprofile(None)
    return next(made)


def test_cost_grows_with_the_program():
    calls(8)  # Tables are made once.
    assert calls(400) < 8.8 * calls(50)


def test_what_does_not_help_is_not_tried_again(monkeypatch: pytest.MonkeyPatch):
    all_rounds = calls(100)
    monkeypatch.setattr(xla_assign_layouts, "ROUNDS", xla_assign_layouts.ROUNDS[-1:])
    assert all_rounds < 1.5 * calls(100)
