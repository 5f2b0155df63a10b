"""
Floats of 16 bits, where LLVM cannot be left to it.

LLVM 22 rounds `float` to `bfloat` on x86 with `vcvtneps2bf16`, which flushes subnormals to zero,
or calls the C library's `__truncsfbf2`, which a process need not have; the same goes for rounding
`double` to either type. So arithmetic of bf16 is done in f32, and the rounding is written out; the
numbers themselves are words of 16 bits to LLVM.
"""

from __future__ import annotations

from lowerings.targets.llvm.emitter import FunctionEmitter
from lowerings.targets.llvm.types import BF16, F16, F32, F64, INTEGERS, NumberType, ValueType

_I32 = INTEGERS[32]


def widen(e: FunctionEmitter, operand: str, type_: ValueType) -> str:
    """A bf16 operand as f32, by moving its bits."""
    integers = type_.with_element(_I32)
    word = e.temporary(f"zext {type_.text} {operand} to {integers.text}")
    high = e.temporary(f"shl {integers.text} {word}, {integers.constant('16')}")
    return e.temporary(f"bitcast {integers.text} {high} to {type_.with_element(F32).text}")


def round_to_bf16(e: FunctionEmitter, operand: str, single: ValueType) -> str:
    """An f32 operand rounded to bf16: nearest, ties to even; a NaN becomes or stays quiet."""
    integers = single.with_element(_I32)
    word, mask = integers.text, single.with_element(INTEGERS[1]).text

    def constant(value: int) -> str:
        return integers.constant(str(value))

    bits = e.temporary(f"bitcast {single.text} {operand} to {word}")
    high = e.temporary(f"lshr {word} {bits}, {constant(16)}")
    odd = e.temporary(f"and {word} {high}, {constant(1)}")
    bias = e.temporary(f"add {word} {odd}, {constant(0x7FFF)}")
    rounded = e.temporary(f"add {word} {bits}, {bias}")
    quiet = e.temporary(f"or {word} {bits}, {constant(0x40_0000)}")
    is_nan = e.temporary(f"fcmp uno {single.text} {operand}, {operand}")
    chosen = e.temporary(f"select {mask} {is_nan}, {word} {quiet}, {word} {rounded}")
    shifted = e.temporary(f"lshr {word} {chosen}, {constant(16)}")
    return e.temporary(f"trunc {word} {shifted} to {single.with_element(BF16).text}")


def _round_to_odd(e: FunctionEmitter, operand: str, double: ValueType) -> str:
    """
    An f64 operand as f32, of the two neighbours the one with an odd last bit unless exact:
    what is rounded to fewer bits afterwards is then rounded once (Boldo and Melquiond, 2008).
    """
    single, integers = double.with_element(F32), double.with_element(_I32)
    mask = double.with_element(INTEGERS[1]).text
    word, magnitude = integers.text, f"llvm.fabs.{double.suffix}"
    nearest = e.temporary(f"fptrunc {double.text} {operand} to {single.text}")
    back = e.temporary(f"fpext {single.text} {nearest} to {double.text}")
    inexact = e.temporary(f"fcmp one {double.text} {back}, {operand}")
    size = e.temporary(f"call {double.text} @{magnitude}({double.text} {operand})")
    back_size = e.temporary(f"call {double.text} @{magnitude}({double.text} {back})")
    away = e.temporary(f"fcmp ogt {double.text} {back_size}, {size}")
    bits = e.temporary(f"bitcast {single.text} {nearest} to {word}")
    step = e.temporary(f"sext {mask} {away} to {word}")
    towards_zero = e.temporary(f"add {word} {bits}, {step}")
    odd = e.temporary(f"or {word} {towards_zero}, {integers.constant('1')}")
    chosen = e.temporary(f"select {mask} {inexact}, {word} {odd}, {word} {bits}")
    return e.temporary(f"bitcast {word} {chosen} to {single.text}")


def truncate_float(e: FunctionEmitter, operand: str, source: ValueType, target: NumberType) -> str:
    """A float operand rounded to a narrower type, once."""
    if source.element is F64 and target in (BF16, F16):
        operand, source = _round_to_odd(e, operand, source), source.with_element(F32)
    if target is BF16:
        if source.element is F16:
            operand = e.temporary(
                f"fpext {source.text} {operand} to {source.with_element(F32).text}"
            )
        return round_to_bf16(e, operand, source.with_element(F32))
    return e.temporary(f"fptrunc {source.text} {operand} to {source.with_element(target).text}")


def integer_to_bf16(e: FunctionEmitter, opcode: str, operand: str, source: ValueType) -> str:
    """
    An integer operand as bf16, rounded once where f64 holds the integer exactly; `opcode` is
    `sitofp` or `uitofp`.
    """
    exact_in_single = source.element.bits <= 24
    middle = source.with_element(F32 if exact_in_single else F64)
    number = e.temporary(f"{opcode} {source.text} {operand} to {middle.text}")
    return truncate_float(e, number, middle, BF16)
