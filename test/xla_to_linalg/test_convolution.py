"""Convolutions on the tensors level and as machine code, against the reference."""

import numpy as np
import pytest
from hypothesis import given
from small_programs import numbers
from sweeps import each_or_full
from tensors_level import check, check_natively
from window_programs import ConvolutionProgram, convolutions, random_numbers

from xla_dialect.shapes.window import Window
from xla_dialect.types import ELEMENT_TYPES, ElementClass

TYPES = [e.name for e in ELEMENT_TYPES if e.element_class & ElementClass.ANY]
PADDED = Window.parse(
    "size=2x3 stride=2x1 pad=1_1x2_0 lhs_dilate=1x2 rhs_dilate=2x1 rhs_reversal=0x1"
)
LABELS = "b01f_01io->b01f"


@given(convolutions("s32"))
def test_any_window_labels_and_groups(program: ConvolutionProgram) -> None:
    check(program.build, program.lhs, program.rhs)


@given(convolutions("f32"))
def test_machine_code(program: ConvolutionProgram) -> None:
    check_natively(program.build, program.lhs, program.rhs)


@pytest.mark.parametrize(
    "name", each_or_full(TYPES, ("pred", "s4", "u8", "f8e4m3fn", "bf16", "c64"))
)
def test_every_type(name: str) -> None:
    lhs, rhs = random_numbers(0, name, (2, 4, 5, 4)), random_numbers(1, name, (2, 3, 2, 6))
    program = ConvolutionProgram(PADDED, LABELS, 2, 1, lhs, rhs)
    check(program.build, lhs, rhs)
    check_natively(program.build, lhs, rhs)


def test_narrow_floats_are_summed_in_f32() -> None:
    lhs = numbers("bf16", [[[256.0] + [1.0] * 16]])
    rhs = numbers("bf16", np.ones((1, 1, 17)))
    program = ConvolutionProgram(Window.parse("size=17"), "bf0_oi0->bf0", 1, 1, lhs, rhs)
    check_natively(program.build, lhs, rhs)


@pytest.mark.parametrize(
    "text",
    [
        "size=3 stride=1000000000 pad=1000000000_1000000000",
        "size=3 rhs_dilate=1000000000 pad=1000000000_1000000000",
        "size=2 lhs_dilate=2 pad=1000000000_-999999990",
        "size=2 lhs_dilate=1000000000 rhs_dilate=1000000000 stride=1000000000",
        "size=3 pad=1000000001_-1000000000 rhs_dilate=500000000",
    ],
)
def test_padding_out_of_proportion_takes_no_memory(text: str) -> None:
    lhs, rhs = random_numbers(0, "f32", (2, 3, 5)), random_numbers(1, "f32", (4, 3, int(text[5])))
    program = ConvolutionProgram(Window.parse(text), "bf0_oi0->bf0", 1, 1, lhs, rhs)
    check(program.build, lhs, rhs)
    check_natively(program.build, lhs, rhs)
