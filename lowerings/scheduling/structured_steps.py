"""Steps of scripts that say how linalg operations run: `transform.structured`, `transform.loop`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from xdsl.dialects.builtin import DYNAMIC_INDEX, ArrayAttr, DenseArrayBase, IntegerAttr
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.dialects.linalg.ops import GenericOp
from xdsl.dialects.transform import TileOp
from xdsl.ir import Operation

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
from lowerings.scheduling.script import Handle, Payload, Script, Step, Steps, operations_of

Change: TypeAlias = Callable[[ScheduledOperation], Sequence[TileLoop] | None]
"""What a step does to the loops of each operation; it returns those that it makes."""


def _changing(change_of: Callable[[Script, Any, Sequence[Handle]], Change | None]) -> Step:
    """
    A step that changes the loops of each operation of its first handle. `change_of` reads the
    change, if there is one, from the step and its other handles. Results are the operations, and
    the loops made.
    """

    def run(script: Script, step: Operation, given: Sequence[Handle]) -> Sequence[Handle]:
        change, made = change_of(script, step, given[1:]), list[Sequence[TileLoop]]()
        if change is None:
            return given
        for op in operations_of(script, step, given[0]):
            scheduled = script.operation(step, op)
            with script.failing(step, op):
                made.append(change(scheduled) or ())
                script.give_schedule(scheduled, step)
        numbers = range(len(step.results) - 1)
        loops = (tuple(each[number] for each in made if each) for number in numbers)
        return [given[0], *loops][: len(step.results)]

    return run


def _sizes(
    script: Script, step: Operation, static: DenseArrayBase[Any] | None, dynamic: Sequence[Handle]
) -> list[int]:
    """Sizes, those of parameters filled in."""
    scalable = step.properties.get("scalable_sizes")
    if isinstance(scalable, DenseArrayBase) and any(scalable.get_values()):
        script.fail(step, "scalable sizes are not supported")
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


def _tile_using_for(script: Script, step: TileOp, dynamic: Sequence[Handle]) -> Change:
    sizes = _sizes(script, step, step.static_sizes, dynamic)
    order = () if step.interchange is None else step.interchange.get_values()
    return lambda each: each.tile(sizes, order)


def _tile_using_forall(
    script: Script, step: TileUsingForallOp, dynamic: Sequence[Handle]
) -> Change:
    _refuse(script, step, "mapping")
    if step.packed_num_threads is not None or step.packed_tile_sizes is not None:
        script.fail(step, "sizes in one handle are not supported")
    threads = len(step.num_threads)
    counts = _sizes(script, step, step.static_num_threads, dynamic[:threads])
    sizes = _sizes(script, step, step.static_tile_sizes, dynamic[threads:])
    return lambda each: each.tile(each.counts_to_sizes(counts) or sizes, in_parallel=True)


def _interchange(script: Script, step: InterchangeOp, dynamic: Sequence[Handle]) -> Change | None:
    order = () if step.iterator_interchange is None else step.iterator_interchange.get_values()
    return (lambda each: each.interchange(order)) if order else None


def _promote(script: Script, step: PromoteOp, dynamic: Sequence[Handle]) -> Change:
    _refuse(script, step, "memory_space", "mapping", "use_full_tile_buffers")
    numbers = () if step.operands_to_promote is None else step.operands_to_promote.data
    if len(numbers) != 1:
        script.fail(step, "(SR9) operands_to_promote names the one operand that is copied")
    return lambda each: each.promote(numbers[0].value.data)


def _vectorize(script: Script, step: VectorizeOp, dynamic: Sequence[Handle]) -> Change:
    sizes = _sizes(script, step, step.static_vector_sizes, dynamic)
    return lambda each: each.vectorize(sizes)


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


def _unroll(
    script: Script, step: LoopUnrollOp | LoopUnrollAndJamOp, given: Sequence[Handle]
) -> None:
    with_jam = isinstance(step, LoopUnrollAndJamOp)
    for payload in given[0]:
        loop = _loop(script, step, payload)
        with script.failing(step, loop):
            loop.owner.unroll(loop, step.factor.value.data, with_jam=with_jam)
            script.give_schedule(loop.owner, step)


def _fuse(script: Script, step: FuseIntoContainingOp, given: Sequence[Handle]) -> Sequence[Handle]:
    producers, loops = given
    if len(loops) != 1:
        script.fail(step, f"one containing loop is expected; the handle has {len(loops)}")
    owner = _loop(script, step, loops[0]).owner
    for producer in operations_of(script, step, producers):
        old = owner.op
        with script.failing(step, producer):
            if not owner.fold_fill(producer):
                owner.fuse(producer)
                script.replace(old, owner.op)
            script.give_schedule(owner, step)
    # What is fused has no loops of its own any more.
    return [(), loops]


STRUCTURED_STEPS: Steps = {
    FuseIntoContainingOp: _fuse,
    GeneralizeOp: _generalize,
    InterchangeOp: _changing(_interchange),
    LoopUnrollAndJamOp: _unroll,
    LoopUnrollOp: _unroll,
    PromoteOp: _changing(_promote),
    TileOp: _changing(_tile_using_for),
    TileUsingForallOp: _changing(_tile_using_forall),
    VectorizeOp: _changing(_vectorize),
}
