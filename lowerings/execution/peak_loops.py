"""
The most that one core does: multiply-adds in registers, in independent chains; reads and copies of
memory.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Literal, TypeAlias

import numpy as np

from lowerings.execution.arrays import address_of, allocate
from lowerings.execution.code import LoadedCode
from lowerings.targets.llvm.machine import host

ElementKind: TypeAlias = Literal["float", "double"]
"""f32 and f64, as LLVM spells them."""
_BITS: dict[ElementKind, int] = {"float": 32, "double": 64}
CHAINS = 12
"""More than hide the latency of a multiply-add, fewer than there are registers."""
STEPS = 100_000


@cache
def _code(element: ElementKind) -> tuple[LoadedCode, int]:
    """The loop, and how many floating-point operations it does."""
    machine = host()
    lanes = max(1, machine.vector_bits // _BITS[element])
    kind = f"<{lanes} x {element}>"
    suffix = f".v{lanes}f{_BITS[element]}"
    carried = "\n".join(
        f"  %c{i} = phi {kind} [ zeroinitializer, %entry ], [ %n{i}, %loop ]" for i in range(CHAINS)
    )
    steps = "\n".join(
        f"  %n{i} = call {kind} @llvm.fma{suffix}({kind} %c{i}, {kind} %x, {kind} %x)"
        for i in range(CHAINS)
    )
    sums = "\n".join(
        f"  %s{i} = fadd {kind} %{f's{i - 1}' if i > 1 else 'n0'}, %n{i}" for i in range(1, CHAINS)
    )
    text = f"""
target triple = "{machine.triple}"
declare {kind} @llvm.fma{suffix}({kind}, {kind}, {kind})
define void @peak(ptr %memory) {machine.attributes.spell()} {{
entry:
  %x = load {kind}, ptr %memory, align 4
  br label %loop
loop:
  %step = phi i64 [ 0, %entry ], [ %next, %loop ]
{carried}
{steps}
  %next = add i64 %step, 1
  %goes_on = icmp ult i64 %next, {STEPS}
  br i1 %goes_on, label %loop, label %done
done:
{sums}
  store {kind} %s{CHAINS - 1}, ptr %memory, align 4
  ret void
}}
"""
    return LoadedCode(machine.object_code(text), "peak"), 2 * lanes * CHAINS * STEPS


def peak_loop(element: ElementKind = "float") -> tuple[Callable[[], None], int]:
    """A call that multiplies and adds numbers as fast as one core can, and how many."""
    code, operations = _code(element)
    memory = np.zeros(64, np.float32 if element == "float" else np.float64)
    address = memory.ctypes.data

    def call() -> None:
        # The closure keeps the memory alive.
        memory[:] = 0.5
        code.function(address)

    return call, operations


BLOCK_BYTES = 512
"""What a step of the loops over memory moves."""


@cache
def _memory_code(writes: bool) -> LoadedCode:
    machine = host()
    size = max(8, machine.vector_bits // 8)
    kind = f"<{size} x i8>"
    places = range(0, BLOCK_BYTES, size)
    loads = "\n".join(
        f"  %from{place} = getelementptr i8, ptr %from, i64 {place}\n"
        f"  %v{place} = load {kind}, ptr %from{place}, align 8"
        for place in places
    )
    carried = "\n".join(
        f"  %c{place} = phi {kind} [ zeroinitializer, %again ], [ %n{place}, %loop ]"
        for place in places
    )
    folded = "\n".join(f"  %n{place} = xor {kind} %c{place}, %v{place}" for place in places)
    stores = "\n".join(
        f"  %to{place} = getelementptr i8, ptr %to, i64 {place}\n"
        f"  store {kind} %{'v' if writes else 'n'}{place}, ptr %to{place}, align 8"
        for place in places
    )
    text = f"""
target triple = "{machine.triple}"
define void @move(ptr %arguments) {machine.attributes.spell()} {{
entry:
  %place1 = getelementptr i64, ptr %arguments, i64 1
  %place2 = getelementptr i64, ptr %arguments, i64 2
  %place3 = getelementptr i64, ptr %arguments, i64 3
  %source = load ptr, ptr %arguments
  %target = load ptr, ptr %place1
  %bytes = load i64, ptr %place2
  %turns = load i64, ptr %place3
  br label %again
again:
  %turn = phi i64 [ 0, %entry ], [ %next_turn, %through ]
  br label %loop
loop:
  %at = phi i64 [ 0, %again ], [ %next, %loop ]
{"" if writes else carried}
  %from = getelementptr i8, ptr %source, i64 %at
{loads}
{"" if writes else folded}
  %to = getelementptr i8, ptr %target, i64 {"%at" if writes else 0}
{stores if writes else ""}
  %next = add i64 %at, {BLOCK_BYTES}
  %goes_on = icmp ult i64 %next, %bytes
  br i1 %goes_on, label %loop, label %through
through:
{"" if writes else stores}
  %next_turn = add i64 %turn, 1
  %more = icmp ult i64 %next_turn, %turns
  br i1 %more, label %again, label %done
done:
  ret void
}}
"""
    return LoadedCode(machine.object_code(text), "move")


def memory_loop(
    working_set: int, least_bytes: int, *, writes: bool
) -> tuple[Callable[[], None], int]:
    """
    A call that reads so many bytes, or copies one half of them to the other, again and again until
    it has moved `least_bytes`; and the bytes that it reads and writes. Both are rounded up.
    """
    code = _memory_code(writes)
    shares = 2 if writes else 1
    size = -(-working_set // (shares * BLOCK_BYTES)) * BLOCK_BYTES
    turns = max(1, -(-least_bytes // (shares * size)))
    source, target = allocate(size), allocate(size if writes else BLOCK_BYTES)
    source[:] = 1
    target[:] = 0
    arguments = np.array([address_of(source), address_of(target), size, turns], np.int64)

    def call() -> None:
        # The closure keeps the memory alive.
        _ = source, target
        code.function(arguments.ctypes.data)

    return call, shares * size * turns
