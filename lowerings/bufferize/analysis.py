"""
Where every tensor of a function is to be in memory, and what has to be copied for that.

The analysis goes through a function from first to last and changes nothing. At every position, a
storage holds the tensor values that are bound to it and are used later. It may be overwritten when
`live_until` has passed: then no value in it is used any more. What the analysis finds is a
`Bufferization`, which `rewriting.py` obeys.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from math import prod
from typing import cast

from xdsl.dialects import arith, func, scf, tensor
from xdsl.dialects.builtin import (
    ArrayAttr,
    IntegerAttr,
    i64,
)
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.ir.affine import AffineMap

from lowerings.bufferize.bufferization import (
    Analysis,
    Bufferization,
    CopyStep,
    FillStep,
    Move,
    is_to_be_copied,
)
from lowerings.bufferize.destinations import concatenated_parts, plan_destinations
from lowerings.bufferize.liveness import NEVER, Liveness
from lowerings.bufferize.storage import (
    Buffer,
    MemRef,
    Permutation,
    Reshape,
    SliceDestination,
    Storage,
    Subview,
    WholeDestination,
)
from lowerings.bufferize.strided import (
    Slice,
    buffer_type,
    has_identity_layout,
    is_descending,
    is_same_memory,
    permuted_type,
    slice_of,
    static_bytes,
    subview_type,
)
from lowerings.bufferize.tensor_operands import (
    LINALG_OPERATIONS,
    captured_tensors,
    is_linalg_operation,
    is_permutation,
    is_tensor,
    linalg_inputs,
    linalg_outputs,
    overwrites_destination,
    slice_put_back,
    transposed_dimensions,
)
from lowerings.ir.scalar_attributes import Scalar, splat_of
from lowerings.rewriting.counting import attempt
from xla_dialect.xdsl.operation_table import OperationTable
from xla_dialect.xdsl.traversal import operands_of, tensor_shape

FILL_BYTES = 4096
"""
Constants of equal elements that take more than this are filled in when they are needed; smaller
ones are stored with the program.
"""


def analyse(
    function: func.FuncOp,
    types: tuple[Sequence[Attribute], Sequence[Attribute]],
    in_place_bytes: int,
    aliases: Mapping[str, Mapping[int, int]],
) -> tuple[Bufferization, Liveness]:
    """
    Decides where the tensors of a function with a body are.

    `types` are those of its parameters and results at the buffers level; `aliases` as in
    `Analysis`.
    """
    block = function.body.block
    terminator = block.last_op
    assert isinstance(terminator, func.ReturnOp)
    analysis = Analysis(function, Liveness.of(block), in_place_bytes, aliases)
    found = analysis.found
    for type, argument in zip(types[0], block.args, strict=True):
        buffer = None
        if is_tensor(argument):
            buffer = Buffer(cast(MemRef, type), Storage(writable=False))
            analysis.bind(argument, buffer)
        found.arguments.append(buffer)
    for type, value in zip(types[1], terminator.arguments, strict=True):
        target = Buffer(cast(MemRef, type), Storage(writable=True), name_hint="result")
        found.results.append(target if is_tensor(value) else None)
    for number, parameter in aliases.get(function.sym_name.data, {}).items():
        target = found.results[number]
        assert target is not None
        analysis.bind(block.args[parameter], target)
    _visit_yielding(block, terminator.arguments, found.results, analysis)
    return found, analysis.liveness


def _visit(block: Block, finish: Callable[[], None], state: Analysis) -> None:
    """Goes through a block; `finish` is called at its terminator."""
    outer = state.anchor, state.now
    for op in block.ops:
        state.anchor, state.now = op, state.liveness.position[op]
        if op is block.last_op:
            finish()
            continue
        analyse = TABLE.get(type(op))
        # Linalg on memrefs has no results.
        if analyse is not None and (op.results or not is_linalg_operation(op)):
            analyse(op, state)
    state.anchor, state.now = outer


def _visit_yielding(
    block: Block,
    values: Sequence[SSAValue],
    targets: Sequence[Buffer | None],
    state: Analysis,
) -> None:
    """
    Goes through a block that hands `values`, the last operands of its terminator, to `targets`;
    None for what stays where it is.
    """
    terminator = block.last_op
    assert terminator is not None
    first = len(terminator.operands) - len(values)
    wanted = [
        (index, value, target)
        for index, (value, target) in enumerate(zip(values, targets, strict=True), first)
        if target is not None
    ]
    plan_destinations(
        state,
        block,
        [
            (value, WholeDestination(target))
            for index, value, target in wanted
            if not is_to_be_copied(terminator, index)
        ],
    )
    _visit(
        block,
        lambda: state.move_all(
            Move(index, state.buffers[value], target)
            for index, value, target in wanted
            if value not in state.undefined
        ),
        state,
    )


# Linalg operations write into the buffers of their `outs`. The result takes over the buffer of its
# `outs` operand where nothing else uses that any more; otherwise it gets a new one (or the one it
# has to end in), into which the content of the operand is copied unless it is overwritten anyway.


@dataclass(eq=False)
class _LinalgOperands:
    """The buffers of one linalg operation."""

    op: Operation
    inputs: list[Buffer | None]
    """None for scalars."""
    captured: list[Buffer]
    """Tensors that the body reads elements of."""
    merged: dict[int, int]
    """Inputs that are the same memory as an output, which the body then reads instead."""
    outputs: list[Buffer] = field(default_factory=list[Buffer])

    def input_map(self, index: int) -> AffineMap | None:
        """The indexing map of an operand; None unless the operation is a `linalg.generic`."""
        op = self.op
        return op.indexing_maps.data[index].data if isinstance(op, linalg.GenericOp) else None

    def inputs_to_merge(self, storage: Storage, type: MemRef, output: int) -> list[int] | None:
        """
        The inputs that read `storage` while the output writes the view of this type of it; None
        if that is not safe: an input may only read the very element that is written next.
        """
        if any(buffer.storage is storage for buffer in (*self.outputs, *self.captured)):
            return None
        reading = [i for i, b in enumerate(self.inputs) if b is not None and b.storage is storage]
        if not reading:
            return reading
        written = self.input_map(len(self.inputs) + output)
        if written is None or not is_permutation(written):
            return None
        for index in reading:
            buffer = self.inputs[index]
            assert buffer is not None
            if self.input_map(index) != written or not is_same_memory(buffer.type, type):
                return None
        return reading


def _analyse_linalg(op: Operation, state: Analysis) -> None:
    view = _transposed_view(op, state)
    if view is not None:
        state.found.views.add(op)
        state.bind(op.results[0], view)
        return
    operands = _LinalgOperands(
        op,
        [state.read(value) if is_tensor(value) else None for value in linalg_inputs(op)],
        [state.read(extract.tensor) for extract in captured_tensors(op.regions[0])],
        {},
    )
    for index, (output, result) in enumerate(zip(linalg_outputs(op), op.results, strict=True)):
        operands.outputs.append(_output_buffer(operands, index, output, result, state))
    if operands.merged:
        state.found.merged[op] = operands.merged
    for result, buffer in zip(op.results, operands.outputs, strict=True):
        state.bind(result, buffer)
    if isinstance(op, linalg.FillOp):
        state.fills.add(op.results[0])


def _transposed_view(op: Operation, state: Analysis) -> Buffer | None:
    """
    The buffer of a transpose that moves nothing; None for any other operation.

    That is one whose input was computed where the result has to be, or whose input is an argument
    that lies in the order of the result.
    """
    dimensions = transposed_dimensions(op)
    if dimensions is None or linalg_inputs(op)[0] in state.undefined:
        return None
    source = state.buffers[linalg_inputs(op)[0]]
    destination = state.destinations.get(op.results[0])
    if isinstance(destination, WholeDestination):
        target = destination.buffer
        if source.storage is target.storage and is_same_memory(
            permuted_type(source.type, dimensions), target.type
        ):
            return target
    if source.storage.writable or is_descending(source.type):
        return None
    if not is_descending(permuted_type(source.type, dimensions)):
        return None
    return state.view(source, Permutation(dimensions))


def _output_buffer(
    operands: _LinalgOperands, index: int, output: SSAValue, result: SSAValue, state: Analysis
) -> Buffer:
    content = None if output in state.undefined else state.buffers[output]
    overwrites = content is None or overwrites_destination(operands.op, index)
    reused = attempt(
        partial(_reused_buffer, operands, index, content, result, overwrites, state),
        is_made=lambda found: found is not None,
    )
    operand = len(operands.inputs) + index
    if reused is not None:
        if reused is content:
            state.in_place(operand)
        return reused
    buffer = state.claim(result)
    if not overwrites and content is not None:
        state.copies_what_lives(operand, content.storage)
        state.put(output, buffer)
    return buffer


def _reused_buffer(
    operands: _LinalgOperands,
    index: int,
    content: Buffer | None,
    result: SSAValue,
    overwrites: bool,
    state: Analysis,
) -> Buffer | None:
    """Memory for a result that something else was in, which is used no more; None without any."""
    if overwrites:
        claimed = _claim_destination(operands, index, result, state)
        if claimed is not None:
            return claimed
    if content is not None and not is_to_be_copied(operands.op, len(operands.inputs) + index):
        if state.is_dying(content.storage):
            inputs = operands.inputs_to_merge(content.storage, content.type, index)
            if inputs is not None:
                operands.merged.update(dict.fromkeys(inputs, index))
                return content
        if _changes_slice_in_place(operands, index, content, state):
            return content
    return _replace_input(operands, index, result, state) if overwrites else None


def _changes_slice_in_place(
    operands: _LinalgOperands, index: int, content: Buffer, state: Analysis
) -> bool:
    """
    Whether an output is a slice of a tensor that the result is put back into, where that tensor
    is used no more: then it is changed in the place where it is.
    """
    put_back = slice_put_back(operands.op, index)
    if put_back is None:
        return False
    storage = content.storage
    dies = storage.writable and storage.live_until <= state.liveness.position[put_back]
    if not dies or operands.inputs_to_merge(storage, content.type, index) != []:
        return False
    state.changed_in_place[put_back] = content
    return True


def _replace_input(
    operands: _LinalgOperands, index: int, result: SSAValue, state: Analysis
) -> Buffer | None:
    """
    The buffer of an input that is not used any more, if the result is large, and each of its
    elements is computed from that very element.
    """
    if result in state.destinations or not state.is_large(result):
        return None
    type = buffer_type(result)
    for operand, buffer in enumerate(operands.inputs):
        if (
            buffer is None
            or buffer.type != type
            or not state.may_overwrite(buffer.storage, operand)
        ):
            continue
        inputs = operands.inputs_to_merge(buffer.storage, type, index)
        if inputs is not None:
            operands.merged.update(dict.fromkeys(inputs, index))
            state.in_place(operand)
            return buffer
    return None


def _claim_destination(
    operands: _LinalgOperands, index: int, result: SSAValue, state: Analysis
) -> Buffer | None:
    """
    The destination of an overwritten result, if it is free, or if all that is left in it is the
    input elements that the operation replaces.
    """
    destination = state.destinations.get(result)
    if destination is None:
        return None
    storage, type = state.destination_storage(result), buffer_type(result)
    if isinstance(destination, SliceDestination) and destination.buffer is not None:
        storage, type = destination.buffer.storage, destination.buffer.type
    if storage is None or state.is_free(storage):
        return state.open_destination(destination)
    inputs = operands.inputs_to_merge(storage, type, index)
    if inputs is None:
        return None
    buffer = state.open_destination(destination, dying=True)
    if buffer is not None:
        operands.merged.update(dict.fromkeys(inputs, index))
    return buffer


# Slices and reshapes are views of their source, unless the source is overwritten in place while the
# view is still used: then they are copies. Insertions change their destination in place if nothing
# else uses it any more, else a copy of it.


def _analyse_empty(op: tensor.EmptyOp, state: Analysis) -> None:
    state.undefined.add(op.tensor)


def _analyse_constant(op: arith.ConstantOp, state: Analysis) -> None:
    if not is_tensor(op.result):
        return
    if large_splat_element(op) is None:
        state.bind(op.result, Buffer(buffer_type(op.result), Storage(writable=False)))
    else:
        _analyse_splat(op, state)
        state.fills.add(op.result)


def large_splat_element(op: arith.ConstantOp) -> Scalar | None:
    """The real number that all elements of a large constant are; None for other constants."""
    element = splat_of(op.value) if static_bytes(op.result.type) > FILL_BYTES else None
    return None if isinstance(element, ArrayAttr) else element


def _analyse_view(
    op: tensor.ExtractSliceOp | tensor.CollapseShapeOp | tensor.ExpandShapeOp, state: Analysis
) -> None:
    value, result = op.operands[0], op.result
    # Without elements there is nothing to view: mlir-opt rejects slices that are empty.
    if value in state.undefined or 0 in tensor_shape(result):
        state.undefined.add(result)
        return
    source = state.buffers[value]
    buffer: Buffer | None = source
    view = _view_of(op)
    if view is not None:
        buffer = state.view(source, view)
        if buffer is None:
            state.copies(0, "no strides describe the view", op)
            buffer = state.view(state.copied(source), view)
    assert buffer is not None
    if _is_copied_for_view(result, buffer.storage, state):
        target = state.claim(result)
        state.step(CopyStep(buffer, target))
        buffer = target
    elif buffer.storage is source.storage:
        state.in_place(0)
    state.bind(result, buffer)


def _view_of(
    op: tensor.ExtractSliceOp | tensor.CollapseShapeOp | tensor.ExpandShapeOp,
) -> Reshape | Subview | None:
    """The view that an operation takes of its operand; None for all of it as it is."""
    shape = tensor_shape(op.result)
    if isinstance(op, tensor.ExtractSliceOp):
        slice = slice_of(op)
        is_all = slice.covers(tensor_shape(op.source)) and shape == slice.sizes
        return None if is_all else Subview(slice, shape, op)
    reassociation = cast("ArrayAttr[Attribute]", op.reassociation)
    return Reshape(reassociation, shape, isinstance(op, tensor.ExpandShapeOp))


def _is_copied_for_view(view: SSAValue, storage: Storage, state: Analysis) -> bool:
    """Whether an operation may overwrite the storage in place before the view's last use."""
    if is_to_be_copied(cast(Operation, view.owner), 0):
        state.copies(0, "")
        return True
    if not storage.writable:
        return False
    overwrite = state.liveness.next_overwrite(view, state.now)
    if overwrite is None or state.liveness.view_last_use[view] <= overwrite:
        return False
    # If other values need the storage even longer, it will not be overwritten.
    if storage.live_until > overwrite:
        return False
    state.copies(0, "its memory is changed while the view is used", overwrite)
    return True


def _analyse_reshape(op: tensor.ReshapeOp, state: Analysis) -> None:
    if op.source in state.undefined:
        state.undefined.add(op.result)
        return
    buffer = state.buffers[op.source]
    if _is_copied_for_view(op.result, buffer.storage, state):
        buffer = state.copied(buffer)
    elif not has_identity_layout(buffer.type):
        state.copies(0, "no strides describe the view", op)
        buffer = state.copied(buffer)
    else:
        state.in_place(0)
    shape = tensor_shape(op.result)
    rank = len(buffer.type.get_shape())
    views: list[Reshape] = []
    if rank > 1 or not shape:
        line = (prod(shape),) if shape else ()
        views.append(Reshape(_one_group(rank if shape else 0), line, expands=False))
    if shape and (rank == 0 or len(shape) > 1):
        views.append(Reshape(_one_group(len(shape) if rank else 0), shape, expands=True))
    for view in views:
        viewed = state.view(buffer, view)
        assert viewed is not None
        buffer = viewed
    state.bind(op.result, buffer)


def _one_group(rank: int) -> ArrayAttr[Attribute]:
    """The reassociation between `rank` dimensions and one; between any and none for 0."""
    return ArrayAttr([ArrayAttr(IntegerAttr(d, i64) for d in range(rank))] if rank else ())


def _analyse_cast(op: tensor.CastOp, state: Analysis) -> None:
    if op.source in state.undefined:
        state.undefined.add(op.dest)
    else:
        state.bind(op.dest, state.buffers[op.source])


def _analyse_insert_slice(op: tensor.InsertSliceOp, state: Analysis) -> None:
    inserted, dest, *_ = operands_of(op)
    place = state.changed_in_place.get(op)
    if place is not None and place is state.buffers.get(inserted):
        state.in_place(1)
        state.bind(op.result, state.buffers[dest])
        return
    slice = slice_of(op)
    source = None if inserted in state.undefined else state.buffers[inserted]
    if op.result in state.insert_slice_chains:
        whole = state.chain_buffer(state.insert_slice_chains[op.result])
    else:
        covers = slice.covers(tensor_shape(dest))
        whole = _changed(op.result, dest, state, covers)
        if source is not None and source.storage is whole.storage:
            # Source and target of the copy may overlap.
            source = state.copied(source)
    _put_slice(0, inserted, source, whole, slice, state)
    state.bind(op.result, whole)


def _changed(
    result: SSAValue, destination: SSAValue, state: Analysis, covers: bool = False
) -> Buffer:
    """
    A buffer with the content of `destination`, the second operand, that may be changed to become
    `result`: its own, if it is used no more, or a copy. No content is needed where the change
    `covers` it all.
    """
    if destination in state.undefined:
        return state.claim(result)
    content = state.buffers[destination]
    if state.may_overwrite(content.storage, 1):
        state.in_place(1)
        return content
    buffer = state.claim(result)
    if not covers:
        state.copies_what_lives(1, content.storage)
        state.put(destination, buffer)
    return buffer


def _put_slice(
    operand: int,
    value: SSAValue,
    buffer: Buffer | None,
    whole: Buffer,
    slice: Slice,
    state: Analysis,
) -> None:
    """Copies an operand to its place in `whole`, unless it was computed there."""
    if buffer is None or 0 in slice.sizes:
        return
    shape = tensor_shape(value)
    part = buffer.storage
    if part.parent is whole.storage and part.writable:
        place = subview_type(whole.type, slice, shape)
        if is_same_memory(buffer.type, place):
            # From now on the part is written by what changes the whole, and only then.
            part.writable = False
            whole.storage.keep_until(part.live_until, part.kept_by)
            state.in_place(operand)
            return
    target: Buffer | None = whole
    if not slice.covers(whole.type.get_shape()) or shape != slice.sizes:
        inserted = state.anchor if isinstance(state.anchor, tensor.InsertSliceOp) else None
        target = state.view(whole, Subview(slice, shape, inserted))
    assert target is not None
    state.copies_what_is_elsewhere(operand, buffer)
    state.step(CopyStep(buffer, target))


def _analyse_insert(op: tensor.InsertOp, state: Analysis) -> None:
    state.bind(op.result, _changed(op.result, op.dest, state))


def _analyse_extract(op: tensor.ExtractOp, state: Analysis) -> None:
    state.read(op.tensor)


def _analyse_from_elements(op: tensor.FromElementsOp, state: Analysis) -> None:
    state.bind(op.result, state.claim(op.result))


def _analyse_splat(op: tensor.SplatOp | tensor.PadOp | arith.ConstantOp, state: Analysis) -> None:
    buffer = state.claim(op.results[0])
    state.step(FillStep(op.results[0], buffer))
    state.bind(op.results[0], buffer)


def _analyse_pad(op: tensor.PadOp, state: Analysis) -> None:
    _analyse_splat(op, state)
    sizes = tensor_shape(op.source)
    middle = Slice(op.static_low.get_values(), sizes, (1,) * len(sizes))
    source = None if op.source in state.undefined else state.buffers[op.source]
    _put_slice(0, op.source, source, state.buffers[op.result], middle, state)


def _analyse_concat(op: tensor.ConcatOp, state: Analysis) -> None:
    # A chain is planned for every concatenation that has elements.
    chain = state.insert_slice_chains.get(op.result)
    whole = state.claim(op.result) if chain is None else state.chain_buffer(chain)
    for source, slice, _, operand in concatenated_parts(op):
        buffer = None if source in state.undefined else state.buffers[source]
        _put_slice(operand, source, buffer, whole, slice, state)
    state.bind(op.result, whole)


# Tensors that cross a region's border get buffers outside of it. Both branches of a conditional
# write to the same buffer. What a loop carries stays in one buffer, from which an iteration reads
# and to which it writes what the next one reads; the initial value's own buffer if that value has
# no later use. Loop-invariant iteration arguments stay in the buffer of their initial value.


def _analyse_branches(op: scf.IfOp | scf.IndexSwitchOp, state: Analysis) -> None:
    end = state.liveness.end[op]
    targets: list[Buffer | None] = []
    for result in op.results:
        target = state.claim(result, whole=True) if is_tensor(result) else None
        if target is not None:
            # Keeps the buffer from being claimed before all results have one.
            target.storage.live_until = end
        targets.append(target)
    for region in op.regions:
        for block in region.blocks:
            _release(targets)
            terminator = block.last_op
            assert isinstance(terminator, scf.YieldOp)
            _visit_yielding(block, terminator.arguments, targets, state)
    _bind_results(op, targets, state)


def _release(targets: Sequence[Buffer | None]) -> None:
    """Ends the claim on buffers that a region writes: in it, uses of their values decide."""
    for target in targets:
        if target is not None:
            target.storage.live_until = NEVER


def _bind_results(op: Operation, buffers: Sequence[Buffer | None], state: Analysis) -> None:
    for result, buffer in zip(op.results, buffers, strict=True):
        if buffer is not None:
            buffer.storage.keep_until(state.liveness.end[op], op)
            state.bind(result, buffer)


def _visit_with(
    arguments: Sequence[SSAValue],
    buffers: Sequence[Buffer | None],
    block: Block,
    yielded: Sequence[SSAValue],
    targets: Sequence[Buffer | None],
    state: Analysis,
) -> None:
    """Goes through a block of a loop, as `_visit_yielding`, with its arguments in buffers."""
    for argument, buffer in zip(arguments, buffers, strict=True):
        if buffer is not None:
            state.buffers[argument] = buffer
            if buffer.name_hint is None:
                buffer.name_hint = argument.name_hint
            buffer.storage.keep_until(state.liveness.last_use.get(argument, NEVER), argument)
    _visit_yielding(block, yielded, targets, state)


def _carried_buffers(
    op: scf.ForOp | scf.WhileOp,
    initials: Sequence[SSAValue],
    unchanged: Sequence[bool],
    results: Mapping[int, SSAValue],
    state: Analysis,
) -> list[Buffer | None]:
    """
    The buffers of what a loop carries; `results` are those that have the last values.

    Keeps those that the loop changes from being claimed before all have one.
    """
    end, first = state.liveness.end[op], len(op.operands) - len(initials)
    buffers: list[Buffer | None] = [None] * len(initials)
    for index, initial in enumerate(initials):
        if is_tensor(initial) and unchanged[index]:
            buffers[index] = state.buffers[initial]
            state.buffers[initial].storage.keep_until(end, op)
    for index, initial in enumerate(initials):
        if is_tensor(initial) and not unchanged[index]:
            carried = _carry(first + index, initial, results.get(index), state)
            carried.storage.live_until, carried.storage.kept_by = end, op
            buffers[index] = carried
    return buffers


def _carry(operand: int, initial: SSAValue, result: SSAValue | None, state: Analysis) -> Buffer:
    """
    The buffer for a tensor that a loop carries and changes, with the initial value in it.

    `result` is the loop's result that has the last value, if there is one.
    """
    buffer = None if initial in state.undefined else state.buffers[initial]
    if buffer is not None:
        is_whole = buffer.storage.parent is None and has_identity_layout(buffer.type)
        if is_whole and state.may_overwrite(buffer.storage, operand):
            state.in_place(operand)
            return buffer
        if is_whole or not state.is_dying(buffer.storage):
            state.copies_what_lives(operand, buffer.storage)
        else:
            state.copies(operand, "it is a part of other memory, or not dense")
    if result is not None:
        carried = state.claim(result, whole=True)
    else:
        carried = state.allocate(buffer_type(initial))
    if buffer is not None:
        state.put(initial, carried)
    return carried


def _analyse_loop(op: scf.ForOp | scf.WhileOp, state: Analysis) -> None:
    body = op.regions[-1].block
    yielded = cast(Operation, body.last_op).operands
    initials: Sequence[SSAValue]
    # For each value that is handed to the body, the carried one that it is, unchanged; or None.
    forwarded: list[int | None]
    before: Block | None = None
    passing: Sequence[SSAValue] = ()
    if isinstance(op, scf.ForOp):
        initials, arguments = op.iter_args, body.args[1:]
        forwarded = list(range(len(initials)))
    else:
        initials, arguments = op.arguments, body.args
        before = op.before_region.block
        position = dict[SSAValue, int](zip(before.args, count(), strict=False))
        passing = cast(Operation, before.last_op).operands[1:]
        forwarded = [position.get(value) for value in passing]
    carried_as = dict[SSAValue, int | None](zip(arguments, forwarded, strict=True))
    unchanged = [
        initial not in state.undefined and carried_as.get(value) == index
        for index, (initial, value) in enumerate(zip(initials, yielded, strict=True))
    ]
    results: dict[int, SSAValue] = {}
    for result, index in zip(op.res, forwarded, strict=True):
        if index is not None:
            results.setdefault(index, result)
    carried = _carried_buffers(op, initials, unchanged, results, state)
    passed: list[Buffer | None] = []
    for result, index in zip(op.res, forwarded, strict=True):
        buffer = None if index is None else carried[index]
        if index is None and is_tensor(result):
            buffer = state.claim(result, whole=True)
            buffer.storage.live_until = state.liveness.end[op]
        passed.append(buffer)
    targets = [None if same else buffer for same, buffer in zip(unchanged, carried, strict=True)]
    computed = [
        buffer if index is None else None for index, buffer in zip(forwarded, passed, strict=True)
    ]
    _release((*targets, *computed))
    if before is not None:
        _visit_with(before.args, carried, before, passing, computed, state)
    _visit_with(arguments, passed, body, yielded, targets, state)
    _bind_results(op, passed, state)


# Calls: where the function takes a result for a parameter, that memory has the content of the
# argument: it is the same where the argument is used no more, else it gets a copy.


def _analyse_call(op: func.CallOp, state: Analysis) -> None:
    buffers: list[Buffer | None] = []
    for operand, argument in enumerate(op.arguments):
        buffer = None
        if is_tensor(argument):
            buffer = state.read(argument)
            if not has_identity_layout(buffer.type):
                state.copies(operand, "the function takes dense memory")
                buffer = state.found.reads[op, argument] = state.copied(buffer)
        buffers.append(buffer)
    aliased = state.aliases.get(op.callee.string_value(), {})
    for number, result in enumerate(op.res):
        if is_tensor(result):
            buffer = _result_of_call(result, aliased.get(number), buffers, state)
            state.bind(result, buffer)
            buffers.append(buffer)


def _result_of_call(
    result: SSAValue, parameter: int | None, others: Sequence[Buffer | None], state: Analysis
) -> Buffer:
    """Memory for a result: with the content of a parameter, which may be in others' memory."""
    given = None if parameter is None else others[parameter]
    if parameter is not None and given is not None:
        used = [each for each in others if each is not None and each.storage is given.storage]
        if state.may_overwrite(given.storage, parameter) and used == [given]:
            state.in_place(parameter)
            return given
        state.copies_what_lives(parameter, given.storage)
    buffer = state.claim(result, whole=True)
    if not has_identity_layout(buffer.type):
        buffer = state.allocate(buffer_type(result))
    if given is not None:
        state.step(CopyStep(given, buffer))
    return buffer


def _analyse_dim(op: tensor.DimOp, state: Analysis) -> None:
    """The size is known: nothing is in memory."""


TABLE = (
    OperationTable[Callable[[Operation, Analysis], None]]()
    .add(LINALG_OPERATIONS, _analyse_linalg)
    .add(arith.ConstantOp, _analyse_constant)
    .add(func.CallOp, _analyse_call)
    .add((scf.ForOp, scf.WhileOp), _analyse_loop)
    .add((scf.IfOp, scf.IndexSwitchOp), _analyse_branches)
    .add(tensor.CastOp, _analyse_cast)
    .add(tensor.ConcatOp, _analyse_concat)
    .add(tensor.DimOp, _analyse_dim)
    .add(tensor.EmptyOp, _analyse_empty)
    .add((tensor.CollapseShapeOp, tensor.ExpandShapeOp, tensor.ExtractSliceOp), _analyse_view)
    .add(tensor.ExtractOp, _analyse_extract)
    .add(tensor.FromElementsOp, _analyse_from_elements)
    .add(tensor.InsertOp, _analyse_insert)
    .add(tensor.InsertSliceOp, _analyse_insert_slice)
    .add(tensor.PadOp, _analyse_pad)
    .add(tensor.ReshapeOp, _analyse_reshape)
    .add(tensor.SplatOp, _analyse_splat)
)
"""What is decided at an operation of each class."""
