"""What lies where in the arenas of a module whose buffers are planned, and when."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from lowerings.bufferize.arena import aligned
from lowerings.bufferize.element_size import element_bytes
from lowerings.bufferize.memory_liveness import MemoryLiveness
from lowerings.bufferize.shared_loops import SharedLoop
from lowerings.bufferize.storage import memref_type
from lowerings.bufferize.xla_plan_buffers import ARENA_ATTRIBUTE
from lowerings.ir.functions import defined_functions
from lowerings.ir.scalar_attributes import constant_integer

__all__ = ["ArenaBuffer", "ArenaContents", "arena_contents"]


@dataclass(frozen=True)
class ArenaBuffer:
    """A part of an arena, and for how long it is taken."""

    op: Operation
    """The view of it."""
    offset: int
    size: int
    """Bytes, both; of all iterations together where those of a loop may run at the same time."""
    first: int
    last: int
    """Positions in the function, as in `lowerings.bufferize.liveness`; both included."""


@dataclass(frozen=True)
class ArenaContents:
    """The arena of one function."""

    function: FuncOp
    size: int
    """Bytes."""
    buffers: tuple[ArenaBuffer, ...]
    """In the order of the program."""


def arena_contents(module: ModuleOp) -> Iterator[ArenaContents]:
    """The arena of each function that has one."""
    for function in defined_functions(module):
        if ARENA_ATTRIBUTE in function.attributes:
            arena = function.body.blocks[0].args[-1]
            size = memref_type(arena).get_shape()[0]
            yield ArenaContents(function, size, tuple(_buffers(function, arena)))


def _buffers(function: FuncOp, arena: SSAValue) -> Iterator[ArenaBuffer]:
    liveness = MemoryLiveness.of(function.body, arena)
    for use in liveness.uses:
        if not isinstance(use.op, memref.ViewOp):
            continue
        type_ = memref_type(use.op.results[0])
        size = prod(type_.get_shape()) * (element_bytes(type_.element_type) or 0)
        first, last = use.first, use.last
        loop = SharedLoop.around(use.op)
        if loop is not None:
            first, last = liveness.span(loop.op)
            size = aligned(size) * loop.iterations
        yield ArenaBuffer(use.op, _start(use.op.byte_shift), size, first, last)


def _start(shift: SSAValue) -> int:
    """Where a view starts; in a loop that several threads share, that of the first iteration."""
    sum_ = shift.owner
    start = constant_integer(sum_.operands[0] if isinstance(sum_, arith.AddiOp) else shift)
    assert start is not None, "offsets are planned as constants"
    return start
