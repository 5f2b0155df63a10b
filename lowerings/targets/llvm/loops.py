"""Counted loops as basic blocks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from lowerings.targets.llvm.emitter import Component, FunctionEmitter
from lowerings.targets.llvm.types import ValueType


@dataclass(frozen=True, slots=True)
class Bound:
    """An integer operand, and its value where that is known."""

    operand: str
    known: int | None = None

    @staticmethod
    def of(operand: str) -> Bound:
        """The bound for an operand that is a register or a number."""
        return Bound(operand, None if operand.startswith("%") else int(operand))


LoopBody: TypeAlias = Callable[[Bound, Sequence[str]], Sequence[str]]
"""
Prints one iteration, given the induction variable and the carried registers; returns what the
next iteration gets of these.
"""


def trip_count(lower: Bound, upper: Bound, step: Bound) -> int | None:
    """How often a loop runs, where that is known."""
    if lower.known is None or upper.known is None or not step.known:
        return None
    return max(0, -((lower.known - upper.known) // step.known))


def ends_at_upper(lower: Bound, upper: Bound, step: Bound) -> bool:
    """Whether the last step of a loop that runs is known to lead to `upper` itself."""
    if step.known == 1:
        return True
    if lower.known is None or upper.known is None or step.known is None:
        return False
    return (upper.known - lower.known) % step.known == 0


def emit_loop(
    e: FunctionEmitter,
    type_: ValueType,
    lower: Bound,
    upper: Bound,
    step: Bound,
    carried: Sequence[Component],
    body: LoopBody,
    properties: Sequence[str] = (),
    interval: int = 0,
) -> list[str]:
    """
    Prints a loop from `lower` to below `upper`, compared as signed integers of `type_`. If it is to
    poll after an `interval` of iterations, it is one in another, which polls.

    The loop tests at its end; a test before it is printed only where it is unknown whether the
    loop runs at all. A loop known to run once is no loop. Returns the registers that hold the
    carried values after it.
    """
    if interval:
        return _emit_polling_loop(e, type_, lower, upper, step, carried, body, properties, interval)
    count = trip_count(lower, upper, step)
    initial = [component.operand for component in carried]
    if count == 0:
        return initial
    if count == 1:
        return list(body(lower, initial))
    before = e.label
    head, leave = e.new_label("loop"), e.new_label("done")
    if count is None:
        runs = e.temporary(f"icmp slt {type_.text} {lower.operand}, {upper.operand}")
        e.emit(f"br i1 {runs}, label %{head}, label %{leave}")
    else:
        e.branch(head)
    e.start_block(head)
    variable, phi_line = e.name(), e.reserve_line()
    inside = [e.name() for _ in carried]
    phi_lines = [e.reserve_line() for _ in carried]
    yielded = body(Bound(variable), inside)
    last = e.label
    following = e.temporary(f"add nsw {type_.text} {variable}, {step.operand}")
    # Equality, where the last step is known to end there: LLVM then needs no register to count.
    comparison = "ne" if ends_at_upper(lower, upper, step) else "slt"
    again = e.temporary(f"icmp {comparison} {type_.text} {following}, {upper.operand}")
    note = f", !llvm.loop {e.symbols.loop_metadata(properties)}" if properties else ""
    e.emit(f"br i1 {again}, label %{head}, label %{leave}{note}")
    e.fill_line(
        phi_line,
        f"{variable} = phi {type_.text} [ {lower.operand}, %{before} ], [ {following}, %{last} ]",
    )
    for line, name, component, next_operand in zip(
        phi_lines, inside, carried, yielded, strict=True
    ):
        e.fill_line(
            line,
            f"{name} = phi {component.type} "
            f"[ {component.operand}, %{before} ], [ {next_operand}, %{last} ]",
        )
    e.start_block(leave)
    if count is not None:
        return list(yielded)
    return [
        e.temporary(
            f"phi {component.type} [ {component.operand}, %{before} ], [ {after}, %{last} ]"
        )
        for component, after in zip(carried, yielded, strict=True)
    ]


def _emit_polling_loop(
    e: FunctionEmitter,
    type_: ValueType,
    lower: Bound,
    upper: Bound,
    step: Bound,
    carried: Sequence[Component],
    body: LoopBody,
    properties: Sequence[str],
    interval: int,
) -> list[str]:
    def poll_first(first: Bound, inside: Sequence[str]) -> Sequence[str]:
        assert e.guards is not None
        e.guards.poll(e)
        if distance is None:
            return body(first, inside)
        end = e.temporary(f"add nsw {type_.text} {first.operand}, {distance}")
        both = f"{type_.text} {end}, {type_.text} {upper.operand}"
        end = e.temporary(f"call {type_.text} @llvm.smin.{type_.text}({both})")
        values = [Component(c.type, name) for c, name in zip(carried, inside, strict=True)]
        return emit_loop(e, type_, first, Bound(end), step, values, body, properties)

    distance = None if interval == 1 or step.known is None else interval * step.known
    outer = step if distance is None else Bound(str(distance), distance)
    return emit_loop(e, type_, lower, upper, outer, carried, poll_first)
