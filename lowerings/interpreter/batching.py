"""
Loops whose iterations do not depend on each other, carried out at once.

The indices of such a loop, and of loops directly inside it, become arrays with one element for each
iteration; so do all values that depend on them, as in parallel loops of `linalg`. That this means
the same is not derived but checked at each run: what is read must not overlap what is written, and
no element may be written twice. Else, and where an iteration fails, the loop runs in order, which
writes all of it again.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from xdsl.dialects import memref, scf, vector
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Operation, SSAValue

from lowerings.interpreter.elements import Number, element_of
from lowerings.interpreter.machine import (
    Code,
    Frame,
    FrameFunction,
    ModuleInterpreter,
    ids,
    single_block,
)
from lowerings.interpreter.memory import Memref, address
from xla_dialect.diagnostics import XlaError
from xla_dialect.literals.arrays import Array

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


class NotAtOnce(Exception):
    """The iterations may depend on each other."""


@dataclass(frozen=True, eq=False)
class _Watched(Memref):
    """Memory that iterations write at once, which notes where."""

    iterations: int
    addresses: list[Array]
    """For each store, of all its elements in all iterations."""

    def put(self, places: Sequence[Number], values: Number, lanes: int | None = None) -> None:
        strides = self.array.strides
        elements: Any = address(self.array)
        for place, stride in zip(places, strides, strict=True):
            elements = elements + place * stride
        shape = (self.iterations,) if lanes is None else (self.iterations, lanes)
        if np.shape(elements) != shape:
            # All iterations write the same elements.
            raise NotAtOnce
        self.addresses.append(elements.ravel())
        super().put(places, values, lanes)


def at_once(machine: ModuleInterpreter, op: Loop, in_order: FrameFunction) -> FrameFunction:
    """The loop with its iterations at once, where they can be."""
    nest = _nest(op)
    inner = [each for each in nest[-1].body.walk() if not isinstance(each, _TERMINATORS)]
    if not _is_plain(op) or not all(map(_is_allowed, inner)):
        return in_order
    read = [_memory(each) for each in inner if isinstance(each, _LOADS)]
    written = [_memory(each) for each in inner if isinstance(each, _STORES)]
    if not written or any(_is_inside(each, op) for each in (*read, *written)):
        return in_order
    sources, targets = ids(read), ids(written)
    levels = [
        _Level.of(machine, loop, nest[number + 1 : number + 2]) for number, loop in enumerate(nest)
    ]
    is_worth_trying = True

    def run(frame: Frame, *bounds: Number) -> Any:
        nonlocal is_worth_trying
        whole: dict[int, Memref] = {target: frame[target] for target in targets}
        is_inside = any(isinstance(memory, _Watched) for memory in whole.values())
        if is_worth_trying and not is_inside and not _overlap(frame, sources, targets):
            try:
                if _run_batches(frame, levels, whole):
                    return None
            except NotAtOnce:
                is_worth_trying = False
            except XlaError:
                # Running the loop in order raises the same error, or an earlier one.
                pass
            finally:
                frame.update(whole)
        # No memory that is read was written, and what was written is written again in order.
        return in_order(frame, *bounds)

    return run


def _run_batches(frame: Frame, levels: Sequence[_Level], written: Mapping[int, Memref]) -> bool:
    """Runs a nest; whether it has enough iterations. Raises NotAtOnce, and what steps raise."""
    ranges = [level.range(frame) for level in levels]
    counts = [len(each) for each in ranges]
    total = math.prod(counts)
    if total < LEAST:
        return False
    if len({each.array.itemsize for each in written.values()}) > 1:
        raise NotAtOnce
    for start in range(0, total, BATCH):
        flat = np.arange(start, min(start + BATCH, total))
        addresses: list[Array] = []
        for target, each in written.items():
            frame[target] = _Watched(each.array, each.memory, each.element, flat.size, addresses)
        positions = np.unravel_index(flat, counts)
        for level, numbers, position in zip(levels, ranges, positions, strict=True):
            indices = (numbers.start + position * numbers.step).astype(level.dtype)
            level.code.run(frame, (indices,))
        elements = np.concatenate(addresses)
        if np.unique(elements).size != elements.size:
            raise NotAtOnce
    return True


def _overlap(frame: Frame, sources: Sequence[int], targets: Sequence[int]) -> bool:
    """Whether something that is read may be written."""
    read: list[Memref] = [frame[slot] for slot in sources]
    written: list[Memref] = [frame[slot] for slot in targets]
    return any(np.may_share_memory(x.array, y.array) for x in read for y in written)


def _is_plain(op: Loop) -> bool:
    """Whether a loop has one index and carries nothing."""
    if isinstance(op, scf.ParallelOp):
        return len(op.lowerBound) == 1 and not op.initVals
    return not op.iter_args


def _bounds(op: Loop) -> Sequence[SSAValue]:
    """The lower bound, the upper bound and the step of a plain loop."""
    return op.operands[:3]


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
    return next(operand for operand in op.operands if isinstance(operand.type, MemRefType))


@dataclass(frozen=True)
class _Level:
    """One loop of a nest."""

    bounds: tuple[int, ...]
    dtype: Any
    code: Code
    """What it holds but for the next loop."""

    @staticmethod
    def of(machine: ModuleInterpreter, op: Loop, inner: Sequence[Operation]) -> _Level:
        """`inner`: the next loop of the nest, if any."""
        block = single_block(op.body)
        operations = [each for each in list(block.ops)[:-1] if each not in inner]
        bounds = _bounds(op)
        code = Code(ids(block.args), machine.steps(operations), ())
        return _Level(ids(bounds), element_of(bounds[0].type).dtype, code)

    def range(self, frame: Frame) -> range:
        """The indices; none for a step that is an error, which the loop in order raises."""
        lower, upper, step = (int(frame[slot]) for slot in self.bounds)
        return range(lower, upper, step) if step > 0 else range(0)
