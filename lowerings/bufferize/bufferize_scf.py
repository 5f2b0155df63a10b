"""
Structured control flow: tensors that cross a region's border get buffers outside of it.

Both branches of a conditional write to the same buffer. What a loop carries stays in one buffer,
from which an iteration reads and to which it writes what the next one reads; the initial value's
own buffer if that value has no later use. Loop-invariant iteration arguments stay in the buffer
of their initial value. Scalars are carried and yielded as before.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import scf
from xdsl.dialects.builtin import i1
from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue

from lowerings.bufferize.destinations import plan_destinations
from lowerings.bufferize.function_bufferizer import BufferizeFunction, FunctionBufferizer, Move
from lowerings.bufferize.liveness import NEVER
from lowerings.bufferize.storage import Buffer, WholeDestination
from lowerings.bufferize.strided import buffer_type, has_identity_layout
from lowerings.bufferize.tensor_operands import is_tensor
from lowerings.dialects.arith_extension import IndexCastUIOp
from lowerings.ir.scalar_attributes import constant_integer
from xla_dialect.xdsl.creation import create
from xla_dialect.xdsl.operation_table import OperationTable

__all__ = ["TABLE"]


def bufferize_if(op: scf.IfOp, state: FunctionBufferizer) -> None:
    """
    ```mlir
    %r = scf.if %c -> tensor<4xf32> { ... scf.yield %a } else { ... scf.yield %b }
    ```
    becomes
    ```mlir
    %r = memref.alloc() : memref<4xf32>
    scf.if %c { ... memref.copy %a, %r } else { ... memref.copy %b, %r }
    ```
    where the copies are mostly elided, as `%r` is the destination of `%a` and `%b`.
    """
    _bufferize_branches(op, scf.IfOp, state)


def bufferize_index_switch(op: scf.IndexSwitchOp, state: FunctionBufferizer) -> None:
    """`scf.index_switch` -> all of its regions write to the same buffers; see `bufferize_if`."""
    _bufferize_branches(op, scf.IndexSwitchOp, state)


def _bufferize_branches(
    op: Operation, op_type: type[scf.IfOp | scf.IndexSwitchOp], state: FunctionBufferizer
) -> None:
    targets: list[Buffer | None] = []
    for result in op.results:
        target = state.claim(result, whole=True) if is_tensor(result) else None
        if target is not None:
            # Keeps the buffer from being claimed before all results have one.
            target.storage.live_until = state.liveness.end[op]
        targets.append(target)
    new_op = create(
        op_type,
        operands=tuple(op.operands),
        result_types=[result.type for result in op.results if not is_tensor(result)],
        properties=dict(op.properties),
        attributes=dict(op.attributes),
        regions=[op.detach_region(region) for region in tuple(op.regions)],
    )
    state.insert(new_op)
    for region in new_op.regions:
        for block in region.blocks:
            for target in targets:
                if target is not None:
                    target.storage.live_until = NEVER
            _bufferize_yielding_block(block, targets, state)
    for result, target in zip(op.results, targets, strict=True):
        if target is not None:
            target.storage.live_until = state.liveness.end[op]
            state.bind(result, target)
    _replace_scalars(op, new_op, state)


def _bufferize_yielding_block(
    block: Block, targets: Sequence[Buffer | None], state: FunctionBufferizer
) -> None:
    """Bufferizes a block whose tensor results have to be in `targets` (None: leave them)."""
    terminator = block.last_op
    assert isinstance(terminator, scf.YieldOp)
    yielded = tuple(terminator.arguments)

    def finish() -> None:
        _move_to_targets(yielded, targets, state)
        # Not `yielded`: results of loops inside may have been replaced.
        scalars = [value for value in terminator.arguments if not is_tensor(value)]
        state.insert(scf.YieldOp(*scalars))
        state.replaced(terminator)

    _plan(block, yielded, targets, state)
    state.bufferize_block(block, finish)


def _plan(
    block: Block,
    values: Sequence[SSAValue],
    targets: Sequence[Buffer | None],
    state: FunctionBufferizer,
) -> None:
    wanted = [
        (value, WholeDestination(target))
        for value, target in zip(values, targets, strict=True)
        if target is not None
    ]
    plan_destinations(state, block, wanted)


def _move_to_targets(
    values: Sequence[SSAValue], targets: Sequence[Buffer | None], state: FunctionBufferizer
) -> None:
    state.move_all(
        Move(state.buffers[value], target)
        for value, target in zip(values, targets, strict=True)
        if target is not None and value not in state.undefined
    )


def _replace_scalars(op: Operation, new_op: Operation, state: FunctionBufferizer) -> None:
    scalars = [result for result in op.results if not is_tensor(result)]
    for old, new in zip(scalars, new_op.results, strict=True):
        old.replace_all_uses_with(new)
    state.replaced(op)


# Loops


def _carry(
    initial: SSAValue, result: SSAValue | None, op: Operation, state: FunctionBufferizer
) -> Buffer:
    """
    The buffer for a tensor that a loop carries and changes, with the initial value in it.

    `result` is the loop's result that has the last value, if there is one.
    """
    buffer = None if initial in state.undefined else state.buffers[initial]
    taken_over = (
        buffer is not None
        and state.is_dying(buffer.storage)
        and buffer.storage.parent is None
        and has_identity_layout(buffer.type)
    )
    if buffer is None or not taken_over:
        if result is not None:
            carried = state.claim(result, whole=True)
        else:
            carried = state.allocate(buffer_type(initial))
        if buffer is not None:
            state.put(initial, carried)
    else:
        carried = buffer
    # Keeps the buffer from being claimed before all iteration arguments have one.
    carried.storage.live_until = state.liveness.end[op]
    return carried


def _keep_in_place(initial: SSAValue, op: Operation, state: FunctionBufferizer) -> Buffer:
    """The buffer of a loop-invariant iteration argument: that of its initial value."""
    buffer = state.buffers[initial]
    buffer.storage.keep_until(state.liveness.end[op])
    return buffer


def _bind_argument(argument: BlockArgument, buffer: Buffer, state: FunctionBufferizer) -> None:
    state.buffers[argument] = buffer
    if buffer.memref.name_hint is None:
        buffer.memref.name_hint = argument.name_hint
    buffer.storage.keep_until(state.liveness.last_use.get(argument, NEVER))


def _erase_tensor_arguments(block: Block) -> None:
    for argument in reversed(block.args):
        if is_tensor(argument):
            block.erase_arg(argument)


def bufferize_for(op: scf.ForOp, state: FunctionBufferizer) -> None:
    """
    ```mlir
    %r = scf.for %i = %lb to %ub step %s iter_args(%x = %init) -> (tensor<4xf32>) {
      ... scf.yield %y }
    ```
    becomes
    ```mlir
    memref.copy %init, %x
    scf.for %i = %lb to %ub step %s { ... memref.copy %y, %x }
    ```
    and `%r` is `%x`. What runs once or not at all, `%ub` being a condition, becomes an `scf.if`.
    """
    block = op.body.block
    terminator = block.last_op
    assert isinstance(terminator, scf.YieldOp)
    arguments = block.args[1:]
    initials = tuple(op.iter_args)
    unchanged = [
        initial not in state.undefined and yielded is argument
        for argument, yielded, initial in zip(
            arguments, terminator.arguments, initials, strict=True
        )
    ]
    carried: list[Buffer | None] = [None] * len(initials)
    for wanted in (True, False):
        for index, initial in enumerate(initials):
            if is_tensor(initial) and unchanged[index] is wanted:
                carried[index] = (
                    _keep_in_place(initial, op, state)
                    if wanted
                    else _carry(initial, op.res[index], op, state)
                )
    new_op = _without_tensors(op, state)
    state.insert(new_op)
    targets = [None if same else buffer for same, buffer in zip(unchanged, carried, strict=True)]
    _release(targets)
    for argument, buffer in zip(arguments, carried, strict=True):
        if buffer is not None:
            _bind_argument(argument, buffer, state)
    _bufferize_yielding_block(block, targets, state)
    _erase_tensor_arguments(block)
    _bind_results(op, carried, state)
    _replace_scalars(op, new_op, state)


def _without_tensors(op: scf.ForOp, state: FunctionBufferizer) -> Operation:
    """The loop without its tensor operands and results, around the body as it is so far."""
    body = op.detach_region(op.body)
    condition = _condition_of(op)
    if condition is not None:
        turns = op.ub.owner
        if op.ub.has_one_use() and isinstance(turns, Operation) and turns.parent is op.parent:
            state.replaced(turns)
        turn = body.block.args[0]
        turn.replace_all_uses_with(op.lb)
        body.block.erase_arg(turn)
        return create(
            scf.IfOp,
            operands=(condition,),
            attributes=dict(op.attributes),
            regions=[body, Region()],
        )
    scalars = [initial for initial in op.iter_args if not is_tensor(initial)]
    return create(
        scf.ForOp,
        operands=(op.lb, op.ub, op.step, *scalars),
        result_types=[result.type for result in op.res if not is_tensor(result)],
        properties=dict(op.properties),
        attributes=dict(op.attributes),
        regions=[body],
    )


def _condition_of(op: scf.ForOp) -> SSAValue | None:
    """
    The i1 that is the trip count of a loop; None for other trip counts, and if it carries scalars.

    Such loops stand for conditional updates in place: the results of an `scf.if` are new tensors.
    """
    turns = op.ub.owner
    if (constant_integer(op.lb), constant_integer(op.step)) != (0, 1):
        return None
    if not isinstance(turns, IndexCastUIOp) or turns.input.type != i1:
        return None
    return turns.input if all(is_tensor(value) for value in op.iter_args) else None


def _release(targets: Sequence[Buffer | None]) -> None:
    """Ends the claim on buffers that a loop writes: in its body, uses of their values decide."""
    for target in targets:
        if target is not None:
            target.storage.live_until = NEVER


def _bind_results(
    op: Operation, buffers: Sequence[Buffer | None], state: FunctionBufferizer
) -> None:
    for result, buffer in zip(op.results, buffers, strict=True):
        if buffer is not None:
            buffer.storage.keep_until(state.liveness.end[op])
            state.bind(result, buffer)


def bufferize_while(op: scf.WhileOp, state: FunctionBufferizer) -> None:
    """
    ```mlir
    %r = scf.while (%x = %init) : (tensor<4xf32>) -> tensor<4xf32> {
      ... scf.condition(%c) %x : tensor<4xf32>
    } do {
    ^bb0(%x1: tensor<4xf32>):
      ... scf.yield %y : tensor<4xf32>
    }
    ```
    becomes
    ```mlir
    memref.copy %init, %x
    scf.while : () -> () { ... scf.condition(%c) } do { ... memref.copy %y, %x  scf.yield }
    ```
    and `%x1` and `%r` are `%x`. A tensor that the `before` region computes and passes on has a
    buffer of its own.
    """
    _WhileBufferizer(op, state).run()


class _WhileBufferizer:
    """Bufferizes one `scf.while`."""

    def __init__(self, op: scf.WhileOp, state: FunctionBufferizer):
        self.op = op
        self.state = state
        self.before = op.before_region.block
        self.after = op.after_region.block
        condition, terminator = self.before.last_op, self.after.last_op
        assert isinstance(condition, scf.ConditionOp)
        assert isinstance(terminator, scf.YieldOp)
        self.condition = condition
        self.passed = tuple(condition.args)
        """What the `before` region hands to the `after` region."""
        position: dict[SSAValue, int] = {a: index for index, a in enumerate(self.before.args)}
        self.forwarded = [position.get(value) for value in self.passed]
        """For each value that is passed, the carried one that it is, unchanged; or None."""
        self.initials = tuple(op.arguments)
        self.unchanged = [
            initial not in state.undefined
            and isinstance(yielded, BlockArgument)
            and yielded.block is self.after
            and self.forwarded[yielded.index] == index
            for index, (initial, yielded) in enumerate(
                zip(self.initials, terminator.arguments, strict=True)
            )
        ]

    def run(self) -> None:
        op, state = self.op, self.state
        carried = self._carried_buffers()
        passed = self._passed_buffers(carried)
        new_op = create(
            scf.WhileOp,
            operands=[value for value in self.initials if not is_tensor(value)],
            result_types=[result.type for result in op.res if not is_tensor(result)],
            properties=dict(op.properties),
            attributes=dict(op.attributes),
            regions=[op.detach_region(region) for region in tuple(op.regions)],
        )
        state.insert(new_op)
        targets = [
            None if same else buffer for same, buffer in zip(self.unchanged, carried, strict=True)
        ]
        computed = [
            buffer if index is None else None
            for index, buffer in zip(self.forwarded, passed, strict=True)
        ]
        _release((*targets, *computed))
        self._bufferize_before(carried, computed)
        for argument, buffer in zip(self.after.args, passed, strict=True):
            if buffer is not None:
                _bind_argument(argument, buffer, state)
        _bufferize_yielding_block(self.after, targets, state)
        _erase_tensor_arguments(self.before)
        _erase_tensor_arguments(self.after)
        _bind_results(op, passed, state)
        _replace_scalars(op, new_op, state)

    def _carried_buffers(self) -> list[Buffer | None]:
        results: dict[int, SSAValue] = {}
        for result, index in zip(self.op.res, self.forwarded, strict=True):
            if index is not None:
                results.setdefault(index, result)
        buffers: list[Buffer | None] = [None] * len(self.initials)
        for wanted in (True, False):
            for index, initial in enumerate(self.initials):
                if is_tensor(initial) and self.unchanged[index] is wanted:
                    buffers[index] = (
                        _keep_in_place(initial, self.op, self.state)
                        if wanted
                        else _carry(initial, results.get(index), self.op, self.state)
                    )
        return buffers

    def _passed_buffers(self, carried: Sequence[Buffer | None]) -> list[Buffer | None]:
        buffers: list[Buffer | None] = []
        for result, index in zip(self.op.res, self.forwarded, strict=True):
            if not is_tensor(result):
                buffers.append(None)
            elif index is None:
                buffer = self.state.claim(result, whole=True)
                buffer.storage.live_until = self.state.liveness.end[self.op]
                buffers.append(buffer)
            else:
                buffers.append(carried[index])
        return buffers

    def _bufferize_before(
        self, carried: Sequence[Buffer | None], computed: Sequence[Buffer | None]
    ) -> None:
        state, condition, passed = self.state, self.condition, self.passed
        for argument, buffer in zip(self.before.args, carried, strict=True):
            if buffer is not None:
                _bind_argument(argument, buffer, state)

        def finish() -> None:
            _move_to_targets(passed, computed, state)
            # Not `passed`, for the same reason.
            scalars = [value for value in condition.args if not is_tensor(value)]
            state.insert(scf.ConditionOp(condition.condition, *scalars))
            state.replaced(condition)

        _plan(self.before, passed, computed, state)
        state.bufferize_block(self.before, finish)


TABLE = (
    OperationTable[BufferizeFunction]()
    .add(scf.ForOp, bufferize_for)
    .add(scf.IfOp, bufferize_if)
    .add(scf.IndexSwitchOp, bufferize_index_switch)
    .add(scf.WhileOp, bufferize_while)
)
