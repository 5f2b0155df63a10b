"""The pass `xla-plan-buffers`: all temporary memory in one arena."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from graphlib import CycleError
from typing import TypeAlias, cast

from xdsl.context import Context
from xdsl.dialects import arith, func, memref
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    IndexType,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    i8,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass

from lowerings.bufferize.arena import Lifetime, Plan, aligned, max_live_bytes, plan_arena
from lowerings.bufferize.liveness import (
    MemoryLiveness,
    WrittenArguments,
    outlives_its_iteration,
)
from lowerings.bufferize.result_reuse import replace_allocation, reuse_results
from lowerings.bufferize.storage import MemRef, memref_type
from lowerings.bufferize.strided import element_bytes, has_identity_layout, static_bytes
from lowerings.ir.functions import ENTRY, callees_first, calls_of, functions_of
from lowerings.ir.independent_loops import SharedLoop, order_uncounted_loops
from lowerings.rewriting.conversion import ConversionFailed, IllegalOp, illegal_op
from lowerings.rewriting.counting import attempt
from lowerings.rewriting.failure import FailedAt
from lowerings.rewriting.levels import ON_BUFFERS
from xla_dialect.xdsl.creation import create
from xla_dialect.xdsl.linking import insert_before
from xla_dialect.xdsl.traversal import operands_of, operations_in

__all__ = ["ARENA_ATTRIBUTE", "MAX_LIVE_ATTRIBUTE", "XlaPlanBuffersPass"]

ARENA_ATTRIBUTE = "xla.arena_bytes"
"""On a function with an arena: its size in bytes, an i64."""

MAX_LIVE_ATTRIBUTE = "xla.max_live_bytes"
"""Beside it: the most bytes that its buffers need at one time, which no arena can go below."""

MAX_ARENA_BYTES = 1 << 62
"""What offsets in bytes can be counted up to; far more than any machine has."""

_INDEX = IndexType()


@dataclass(frozen=True)
class XlaPlanBuffersPass(ModulePass):
    """
    Replaces allocations by views of an arena that the caller provides as the last argument.

    ```mlir
    func.func @main(%a: memref<4xf32>, %r: memref<4xf32>) attributes {xla.entry} {
      %b = memref.alloc() : memref<4xf32>
      ...
    }
    ```
    ->
    ```mlir
    func.func @main(%a: memref<4xf32>, %r: memref<4xf32>, %arena: memref<64xi8>)
        attributes {xla.entry, xla.arena_bytes = 64 : i64, xla.max_live_bytes = 64 : i64} {
      %offset = arith.constant 0 : index
      %b = memref.view %arena[%offset][] : memref<64xi8> to memref<4xf32>
      ...
    }
    ```

    The arena is as large as what is live at the same time, and starts at a multiple of 64 bytes;
    so do all buffers in it. Every entry has one, if of size 0. Another function has one if it needs
    memory; its callers give it a part of theirs. A buffer of an entry that is not needed any more
    when a result of its element type is written can be in the place of that result instead. In a
    function of several blocks no buffers share memory. Each iteration of a loop whose iterations
    may run at the same time has a part of the arena, in which its buffers share memory.
    """

    name = "xla-plan-buffers"
    takes = ON_BUFFERS

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if found := unplannable(op):
            raise ConversionFailed(self.name, found)
        functions = functions_of(op)
        try:
            order = callees_first(calls_of(functions))
        except CycleError as error:
            name: str = error.args[1][0]
            reason = f"@{name} calls itself, so the memory it needs has no bound"
            raise FailedAt(functions[name].location, reason) from None
        planner = _ModulePlanner(WrittenArguments(functions))
        for name in order:
            if functions[name].body.blocks:
                planner.plan(functions[name])


_Need: TypeAlias = tuple[Operation, Lifetime]
"""An allocation or a call that needs memory, and when it does."""


def unplannable(module: ModuleOp) -> list[IllegalOp]:
    """Why a module cannot have arenas."""
    return [
        problem for function in functions_of(module).values() for problem in _problems(function)
    ]


def _problems(function: func.FuncOp) -> Iterator[IllegalOp]:
    if ARENA_ATTRIBUTE in function.attributes:
        yield illegal_op(function, "it has an arena already")
        return
    for op in operations_in(function):
        if type(op) is memref.AllocOp:
            own = memref_type(op.memref)
            if operands_of(op):
                yield illegal_op(op, "its size is not static")
            elif not has_identity_layout(own):
                yield illegal_op(op, "it has a layout")
            elif element_bytes(own.element_type) is None:
                yield illegal_op(op, f"the size of {own.element_type} is not known")
            elif outlives_its_iteration(op):
                yield illegal_op(op, "its loop hands it on to the next iteration")


@dataclass(eq=False)
class _ModulePlanner:
    """Plans functions after those that they call."""

    written: WrittenArguments
    arena_types: dict[str, MemRef] = field(default_factory=dict[str, MemRef])
    """The types of the arenas of functions that have been planned and have one."""

    def plan(self, function: func.FuncOp) -> None:
        for op in operations_in(function):
            if type(op) is memref.AllocOp or (
                type(op) is func.CallOp and self._callee_arena(op) is not None
            ):
                order_uncounted_loops(op)
        reuse_results(function, self.written)
        liveness = MemoryLiveness.of(function.body)
        end = max((use.last for use in liveness.uses), default=0)
        needs: list[_Need] = []
        loops: dict[SharedLoop, list[_Need]] = {}
        for use in liveness.uses:
            size = self._bytes_needed(use.op)
            if size is None:
                continue
            loop = SharedLoop.around(use.op)
            always = (0, end) if loop is None else liveness.span(loop.op)
            shared = attempt(partial(Lifetime, use.first, use.last, size))
            own = needs if loop is None else loops.setdefault(loop, [])
            own.append((use.op, shared or Lifetime(*always, size)))
        if not needs and not loops and ENTRY not in function.attributes:
            return
        plans = {loop: plan_arena([lifetime for _, lifetime in own]) for loop, own in loops.items()}
        lifetimes = [lifetime for _, lifetime in needs]
        for loop, plan in plans.items():
            size = loop.iterations * aligned(plan.size)
            lifetimes.append(Lifetime(*liveness.span(loop.op), size))
        self._check_size(function, lifetimes)
        whole = plan_arena(lifetimes)
        arena = _append_arena(function, whole, max_live_bytes(lifetimes))
        self._place(needs, arena, whole.offsets[: len(needs)])
        for (loop, plan), offset in zip(plans.items(), whole.offsets[len(needs) :], strict=True):
            part = _part_of_iteration(loop, arena, offset, aligned(plan.size))
            self._place(loops[loop], part, plan.offsets)
        self.arena_types[function.sym_name.data] = memref_type(arena)

    def _place(self, needs: Iterable[_Need], memory: SSAValue, offsets: Iterable[int]) -> None:
        """Gives allocations and calls views of some memory, at offsets in bytes."""
        for (op, _), offset in zip(needs, offsets, strict=True):
            place = insert_before(arith.ConstantOp(IntegerAttr(offset, _INDEX)), op).result
            if isinstance(op, memref.AllocOp):
                view = _insert_view(op, memory, place, op.memref.type)
                view.name_hint = op.memref.name_hint
                replace_allocation(op, view)
            else:
                type = self._callee_arena(op)
                assert type is not None
                op.operands = (*op.operands, _insert_view(op, memory, place, type))

    def _check_size(self, function: func.FuncOp, lifetimes: Sequence[Lifetime]) -> None:
        total = sum(aligned(lifetime.size) for lifetime in lifetimes)
        if total > MAX_ARENA_BYTES:
            raise FailedAt(
                function.location,
                f"temporary results of @{function.sym_name.data} take {total} bytes, more than any "
                "address reaches",
            )

    def _bytes_needed(self, op: Operation) -> int | None:
        """The bytes that an allocation or a call needs; None for a call that needs no arena."""
        if isinstance(op, memref.AllocOp):
            return static_bytes(op.memref.type)
        type = self._callee_arena(op)
        return None if type is None else type.get_shape()[0]

    def _callee_arena(self, op: Operation) -> MemRef | None:
        assert isinstance(op, func.CallOp)
        return self.arena_types.get(op.callee.root_reference.data)


def _bytes_type(size: int) -> MemRef:
    return cast(MemRef, MemRefType(i8, (size,)))


def _append_arena(function: func.FuncOp, plan: Plan, max_live: int) -> SSAValue:
    block, type = function.body.blocks[0], _bytes_type(plan.size)
    arena = block.insert_arg(type, len(block.args))
    arena.name_hint = "arena"
    old = function.function_type
    function.function_type = FunctionType.from_lists((*old.inputs, type), old.outputs.data)
    if function.arg_attrs is not None:
        function.arg_attrs = ArrayAttr((*function.arg_attrs, DictionaryAttr({})))
    function.attributes[ARENA_ATTRIBUTE] = IntegerAttr(plan.size, i64)
    function.attributes[MAX_LIVE_ATTRIBUTE] = IntegerAttr(max_live, i64)
    return arena


def _part_of_iteration(loop: SharedLoop, arena: SSAValue, offset: int, size: int) -> SSAValue:
    """The bytes of an arena that an iteration of a loop has, of those from an offset on."""
    body = loop.op.body.block
    before = body.first_op
    assert before is not None
    start, step = (
        insert_before(arith.ConstantOp(IntegerAttr(number, _INDEX)), before).result
        for number in (offset, size)
    )
    distance = insert_before(arith.MuliOp(body.args[0], step), before).result
    place = insert_before(arith.AddiOp(start, distance), before).result
    part = _insert_view(before, arena, place, _bytes_type(size))
    part.name_hint = "part"
    return part


def _insert_view(before: Operation, arena: SSAValue, place: SSAValue, type: Attribute) -> SSAValue:
    view = create(memref.ViewOp, operands=(arena, place), result_types=(type,))
    return insert_before(view, before).results[0]
