"""Steps of scripts that say how linalg operations run: `transform.structured`, `transform.loop`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from xdsl.dialects.builtin import DYNAMIC_INDEX, ArrayAttr, DenseArrayBase, IntegerAttr
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.dialects.linalg.ops import GenericOp
from xdsl.dialects.transform import TileOp
from xdsl.ir import Operation
from xdsl.utils.exceptions import PassFailedException

from lowerings.dialects.schedule import ScheduleError
from lowerings.dialects.transform_structured import (
    FuseIntoContainingOp,
    GeneralizeOp,
    InterchangeOp,
    LoopUnrollAndJamOp,
    LoopUnrollOp,
    PromoteOp,
    TileUsingForallOp,
    VectorizeOp,
)
from lowerings.ir.named_operations import generalize
from lowerings.scheduling.scheduled_operation import ScheduledOperation, TileLoop
from lowerings.scheduling.script import Handle, Payload, Script, Steps, operations_of
from lowerings.tensors.fusion_decisions import FusionError


def _sizes(
    script: Script, step: Operation, static: DenseArrayBase[Any] | None, dynamic: Sequence[Handle]
) -> list[int]:
    """Sizes, those of parameters filled in."""
    values = iter(dynamic)

    def parameter() -> int:
        handle = next(values)
        found = handle[0] if len(handle) == 1 else None
        if not isinstance(found, IntegerAttr):
            script.fail(step, "a size is one integer parameter")
        return found.value.data

    given = () if static is None else static.get_values()
    return [parameter() if size == DYNAMIC_INDEX else int(size) for size in given]


def _refuse(script: Script, step: Operation, *properties: str) -> None:
    """Fails for a property that says what a schedule cannot."""
    for name in properties:
        if step.properties.get(name) not in (None, ArrayAttr(())):
            script.fail(step, f"{name} is not supported")


def _change(
    script: Script,
    step: Operation,
    handle: Handle,
    change: Callable[[ScheduledOperation], Sequence[TileLoop] | None],
) -> Iterator[Sequence[TileLoop]]:
    """Changes each operation of a handle; the loops that this makes, for each."""
    for op in operations_of(script, step, handle):
        scheduled = script.operation(step, op)
        try:
            made = change(scheduled)
            script.give_schedule(scheduled, step)
        except (ScheduleError, PassFailedException) as error:
            script.fail(step, str(error), op)
        yield made or ()


def _tile_using_for(script: Script, step: TileOp, given: Sequence[Handle]) -> Sequence[Handle]:
    if step.scalable_sizes is not None and any(step.scalable_sizes.get_values()):
        script.fail(step, "scalable sizes are not supported")
    sizes = _sizes(script, step, step.static_sizes, given[1:])
    order = () if step.interchange is None else step.interchange.get_values()
    made = list(_change(script, step, given[0], lambda each: each.tile(sizes, order)))
    count = sum(size != 0 for size in sizes)
    return [given[0], *(tuple(loops[number] for loops in made) for number in range(count))]


def _tile_using_forall(
    script: Script, step: TileUsingForallOp, given: Sequence[Handle]
) -> Sequence[Handle]:
    _refuse(script, step, "mapping")
    if step.packed_num_threads is not None or step.packed_tile_sizes is not None:
        script.fail(step, "sizes in one handle are not supported")
    threads = len(step.num_threads)
    counts = _sizes(script, step, step.static_num_threads, given[1 : 1 + threads])
    sizes = _sizes(script, step, step.static_tile_sizes, given[1 + threads :])

    def tile(each: ScheduledOperation) -> Sequence[TileLoop]:
        return each.tile(each.counts_to_sizes(counts) if counts else sizes, in_parallel=True)

    made = list(_change(script, step, given[0], tile))
    return [given[0], tuple(loops[0] for loops in made if loops)]


def _interchange(script: Script, step: InterchangeOp, given: Sequence[Handle]) -> Sequence[Handle]:
    order = () if step.iterator_interchange is None else step.iterator_interchange.get_values()
    if order:
        list(_change(script, step, given[0], lambda each: each.interchange(order)))
    return given


def _promote(script: Script, step: PromoteOp, given: Sequence[Handle]) -> Sequence[Handle]:
    _refuse(script, step, "memory_space", "mapping", "use_full_tile_buffers")
    numbers = () if step.operands_to_promote is None else step.operands_to_promote.data
    if len(numbers) != 1:
        script.fail(step, "(SR9) operands_to_promote names the one operand that is copied")
    operand = numbers[0].value.data
    list(_change(script, step, given[0], lambda each: each.promote(operand)))
    return given


def _vectorize(script: Script, step: VectorizeOp, given: Sequence[Handle]) -> None:
    if step.scalable_sizes is not None and any(step.scalable_sizes.get_values()):
        script.fail(step, "scalable sizes are not supported")
    sizes = _sizes(script, step, step.static_vector_sizes, given[1:])
    list(_change(script, step, given[0], lambda each: each.vectorize(sizes)))


def _generalize(script: Script, step: GeneralizeOp, given: Sequence[Handle]) -> Sequence[Handle]:
    """Named operations as `linalg.generic`; those of our own passes are, but for fills."""
    found: list[Operation] = []
    for op in operations_of(script, step, given[0]):
        if not isinstance(op, LinalgStructuredOperation):
            script.fail(step, "it is no linalg operation that xDSL knows the maps of", op)
        found.append(op if isinstance(op, GenericOp) else generalize(op))
    return [tuple(found)]


def _loop(script: Script, step: Operation, payload: Payload) -> TileLoop:
    if not isinstance(payload, TileLoop):
        script.fail(step, "this is no loop that the script made", payload)
    return payload


def _unroll(with_jam: bool) -> Callable[[Script, Any, Sequence[Handle]], None]:
    def run(
        script: Script, step: LoopUnrollOp | LoopUnrollAndJamOp, given: Sequence[Handle]
    ) -> None:
        for payload in given[0]:
            loop = _loop(script, step, payload)
            try:
                loop.owner.unroll(loop, step.factor.value.data, with_jam=with_jam)
                script.give_schedule(loop.owner, step)
            except ScheduleError as error:
                script.fail(step, str(error), loop)

    return run


def _fuse(script: Script, step: FuseIntoContainingOp, given: Sequence[Handle]) -> Sequence[Handle]:
    producers, loops = given
    if len(loops) != 1:
        script.fail(step, f"one containing loop is expected; the handle has {len(loops)}")
    loop = _loop(script, step, loops[0])
    for producer in operations_of(script, step, producers):
        owner, old = loop.owner, loop.owner.op
        try:
            if not owner.fold_fill(producer):
                owner.fuse(producer)
                script.replace(old, owner.op)
            script.give_schedule(owner, step)
        except FusionError as error:
            script.fail(step, error.reason, producer)
        except (ScheduleError, PassFailedException) as error:
            script.fail(step, str(error), producer)
    # What is fused has no loops of its own any more.
    return [(), loops]


STRUCTURED_STEPS: Steps = {
    FuseIntoContainingOp: _fuse,
    GeneralizeOp: _generalize,
    InterchangeOp: _interchange,
    LoopUnrollAndJamOp: _unroll(with_jam=True),
    LoopUnrollOp: _unroll(with_jam=False),
    PromoteOp: _promote,
    TileOp: _tile_using_for,
    TileUsingForallOp: _tile_using_forall,
    VectorizeOp: _vectorize,
}
