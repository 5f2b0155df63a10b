"""
Loops whose iterations do not depend on each other, carried out at once.

The indices of such a loop, and of loops directly inside it, become arrays with one element for each
iteration; so do all values that depend on them, as in parallel loops of `linalg`. Writes are noted
and carried out at the end. That this means the same is not derived but checked at each run: what is
read must not overlap what is written, and no element may be written twice. Else, and where an
iteration fails, the loop runs in order.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from xdsl.dialects import memref, scf, vector
from xdsl.ir import Operation, SSAValue

from lowerings.interpreter.elements import Number, element_of, require_inside
from lowerings.interpreter.machine import (
    Code,
    Frame,
    FrameFunction,
    StructuredMaker,
    Translator,
    single_block,
)
from lowerings.interpreter.memory import Memref
from lowerings.interpreter.memref import named
from lowerings.interpreter.vector import lane_axis, lanes_of
from xla_dialect.diagnostics import XlaError
from xla_dialect.literals.arrays import Array
from xla_dialect.xdsl.operation_table import OperationTable

BATCH = 1024
"""Iterations that are carried out at once."""
LEAST = 4
"""Fewer iterations run in order, which is faster for them."""

_STORES = (vector.StoreOp, memref.StoreOp)
_LOADS = (vector.LoadOp, memref.LoadOp)
_VALUES = ("arith.", "math.", "complex.")
_VECTOR_VALUES = frozenset(
    f"vector.{name}" for name in ("broadcast", "extract", "fma", "insert", "reduction", "shuffle")
)


Loop: TypeAlias = scf.ForOp | scf.ParallelOp
_TERMINATORS = (scf.YieldOp, scf.ReduceOp)


class _NotAtOnce(Exception):
    """The iterations may depend on each other."""


@dataclass(frozen=True)
class _Write:
    """What one store writes in all iterations."""

    target: Memref
    places: tuple[Number, ...]
    values: Number
    elements: Array
    """For each iteration the elements, counted from the start of the allocation."""


@dataclass
class _Writes:
    """What the stores of a batch of iterations write."""

    iterations: int
    writes: list[_Write] = field(default_factory=list[_Write])

    def note(
        self, target: Memref, indices: Sequence[Number], values: Number, lanes: int | None
    ) -> None:
        """Notes a store of one number, or of a vector of `lanes`."""
        places = tuple(indices)
        if lanes is not None:
            *outer, last = indices
            places = (*map(lane_axis, outer), lane_axis(last) + np.arange(lanes))
        size = target.element.storage.itemsize
        element: Any = target.start // size
        for place, stride in zip(places, target.strides, strict=True):
            element = element + place * stride
        shape = (self.iterations,) if lanes is None else (self.iterations, lanes)
        elements = np.broadcast_to(element, shape)
        self.writes.append(_Write(target, places, target.element.stored(values), elements))

    def carry_out(self) -> None:
        """Writes; raises _NotAtOnce if an element would be written twice."""
        if len({each.target.element.storage.itemsize for each in self.writes}) > 1:
            raise _NotAtOnce
        allocations: dict[int, list[Array]] = {}
        for each in self.writes:
            allocations.setdefault(id(each.target.memory), []).append(each.elements.ravel())
        for parts in allocations.values():
            elements = np.concatenate(parts)
            if np.unique(elements).size != elements.size:
                raise _NotAtOnce
        for each in self.writes:
            each.target.array[each.places] = each.values


def at_once(translator: Translator, op: Loop, in_order: FrameFunction) -> FrameFunction | None:
    """The loop with its iterations at once, where they can be; None if they never can."""
    nest = _nest(op)
    inner = [each for each in nest[-1].body.walk() if not isinstance(each, _TERMINATORS)]
    if not _is_plain(op) or not all(map(_is_allowed, inner)):
        return None
    read = [_memory(each) for each in inner if isinstance(each, _LOADS)]
    written = [_memory(each) for each in inner if isinstance(each, _STORES)]
    if not written or any(_is_inside(each, op) for each in (*read, *written)):
        return None
    sources, targets = translator.slots(read), translator.slots(written)
    slot = translator.new_slot()
    levels = [
        _Level.of(translator, loop, nest[number + 1 : number + 2], slot)
        for number, loop in enumerate(nest)
    ]
    is_worth_trying = True

    def run(frame: Frame, *bounds: Number) -> Any:
        nonlocal is_worth_trying
        if is_worth_trying and not _overlap(frame, sources, targets):
            try:
                if _run_batches(frame, levels, slot):
                    return None
            except _NotAtOnce:
                is_worth_trying = False
            except XlaError:
                # Running the loop in order raises the same error, or an earlier one.
                pass
        # No memory that the batch reads was written, so the loop can be run again in order.
        return in_order(frame, *bounds)

    return run


def _run_batches(frame: Frame, levels: Sequence[_Level], slot: int) -> bool:
    """Runs a nest; whether it has enough iterations. Raises _NotAtOnce, and what steps raise."""
    ranges = [level.range(frame) for level in levels]
    counts = [len(each) for each in ranges]
    total = math.prod(counts)
    if total < LEAST:
        return False
    for start in range(0, total, BATCH):
        flat = np.arange(start, min(start + BATCH, total))
        writes = frame[slot] = _Writes(flat.size)
        positions = np.unravel_index(flat, counts)
        for level, numbers, position in zip(levels, ranges, positions, strict=True):
            indices = (numbers.start + position * numbers.step).astype(level.dtype)
            level.code.run(frame, (indices,))
        writes.carry_out()
    return True


def _overlap(frame: Frame, sources: Sequence[int], targets: Sequence[int]) -> bool:
    """Whether something that is read may be written."""
    read: list[Memref] = [frame[slot] for slot in sources]
    written: list[Memref] = [frame[slot] for slot in targets]
    return any(
        x.memory is y.memory and np.may_share_memory(x.array, y.array)
        for x in read
        for y in written
    )


def _is_plain(op: Loop) -> bool:
    """Whether a loop has one index and carries nothing."""
    if isinstance(op, scf.ParallelOp):
        return len(op.lowerBound) == 1 and not op.initVals
    return not op.iter_args


def _bounds(op: Loop) -> tuple[SSAValue, SSAValue, SSAValue]:
    """The lower bound, the upper bound and the step of a plain loop."""
    if isinstance(op, scf.ParallelOp):
        return op.lowerBound[0], op.upperBound[0], op.step[0]
    return op.lb, op.ub, op.step


def _nest(op: Loop) -> list[Loop]:
    """The loops of a nest that is perfect up to operations without effects, outermost first."""
    found = [op]
    while True:
        *values, inner = list(single_block(found[-1].body).ops)[:-1] or [op]
        if (
            not isinstance(inner, scf.ForOp | scf.ParallelOp)
            or inner is op
            or not _is_plain(inner)
            or not all(each.name.startswith(_VALUES) for each in values)
            or any(_is_inside(bound, op) for bound in _bounds(inner))
        ):
            return found
        found.append(inner)


def _is_inside(value: SSAValue, op: Operation) -> bool:
    return op.is_ancestor(value.owner)


def _is_allowed(op: Operation) -> bool:
    return (
        isinstance(op, (*_STORES, *_LOADS, scf.ForOp, scf.YieldOp))
        or op.name.startswith(_VALUES)
        or op.name in _VECTOR_VALUES
    )


def _memory(op: Operation) -> SSAValue:
    if isinstance(op, memref.LoadOp | memref.StoreOp):
        return op.memref
    assert isinstance(op, vector.LoadOp | vector.StoreOp)
    return op.base


@dataclass(frozen=True)
class _Level:
    """One loop of a nest."""

    bounds: tuple[int, ...]
    dtype: Any
    code: Code
    """What it holds but for the next loop."""

    @staticmethod
    def of(translator: Translator, op: Loop, inner: Sequence[Operation], slot: int) -> _Level:
        """`inner`: the next loop of the nest, if any. `slot`: where the writes are noted."""
        block = single_block(op.body)
        operations = [each for each in list(block.ops)[:-1] if each not in inner]
        with translator.instead(_recording(slot)):
            steps = translator.steps(operations)
        bounds = _bounds(op)
        dtype = element_of(bounds[0].type).dtype
        return _Level(
            translator.slots(bounds), dtype, Code(translator.slots(block.args), steps, ())
        )

    def range(self, frame: Frame) -> range:
        """The indices; none for a step that is an error, which the loop in order raises."""
        lower, upper, step = (int(frame[slot]) for slot in self.bounds)
        return range(lower, upper, step) if step > 0 else range(0)


def _recording(slot: int) -> OperationTable[StructuredMaker]:
    """Overrides in a batch: stores are recorded, inner loops run in order."""

    def store(_translator: Translator, op: memref.StoreOp | vector.StoreOp) -> FrameFunction:
        what = named(_memory(op))
        lanes = lanes_of(op.vector) if isinstance(op, vector.StoreOp) else None

        def run(frame: Frame, values: Number, target: Memref, *indices: Number) -> None:
            require_inside(indices, target.array.shape, what, lanes or 1)
            writes: _Writes = frame[slot]
            writes.note(target, indices, values, lanes)

        return run

    def loop(translator: Translator, op: scf.ForOp) -> FrameFunction:
        code = translator.block(single_block(op.body))
        number = element_of(op.lb.type).dtype.type

        def run(frame: Frame, lower: Number, upper: Number, step: Number, *carried: Any) -> Any:
            if any(map(np.ndim, (lower, upper, step))) or step <= 0:
                raise _NotAtOnce
            values: Sequence[Any] = carried
            for index in range(int(lower), int(upper), int(step)):
                values = code.run(frame, (number(index), *values))
            return values[0] if len(values) == 1 else values

        return run

    return (
        OperationTable[StructuredMaker]()
        .add((vector.StoreOp, memref.StoreOp), store)
        .add(scf.ForOp, loop)
    )
