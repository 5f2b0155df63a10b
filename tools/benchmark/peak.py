"""The most that one core computes: independent chains of multiply-adds in registers."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache

import numpy as np

from lowerings.execution.code import LoadedCode
from lowerings.targets.llvm.machine import host

F32_BITS = 32
CHAINS = 12
"""More than hide the latency of a multiply-add, fewer than there are registers."""
STEPS = 100_000


@cache
def _code() -> tuple[LoadedCode, int]:
    """The loop, and how many floating-point operations it does."""
    machine = host()
    lanes = max(1, machine.vector_bits // F32_BITS)
    kind = f"<{lanes} x float>"
    carried = "\n".join(
        f"  %c{i} = phi {kind} [ zeroinitializer, %entry ], [ %n{i}, %loop ]" for i in range(CHAINS)
    )
    steps = "\n".join(
        f"  %n{i} = call {kind} @llvm.fma({kind} %c{i}, {kind} %x, {kind} %x)"
        for i in range(CHAINS)
    )
    sums = "\n".join(
        f"  %s{i} = fadd {kind} %{f's{i - 1}' if i > 1 else 'n0'}, %n{i}" for i in range(1, CHAINS)
    )
    width = f'"prefer-vector-width"="{machine.vector_bits}"' if machine.vector_bits else ""
    text = f"""
target triple = "{machine.triple}"
declare {kind} @llvm.fma({kind}, {kind}, {kind})
define void @peak(ptr %memory) "target-cpu"="{machine.cpu}" \
"target-features"="{machine.features}" {width} {{
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


def peak_loop() -> tuple[Callable[[], None], int]:
    """A call that multiplies and adds f32 numbers as fast as one core can, and how many."""
    code, operations = _code()
    memory = np.zeros(64, np.float32)
    address = ctypes.c_void_p(memory.ctypes.data)

    def call() -> None:
        # The closure keeps the memory alive.
        memory[:] = 0.5
        code.function(address)

    return call, operations
