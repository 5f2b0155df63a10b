"""
Linalg operations: they write into the buffers of their `outs`.

The result takes over the buffer of its `outs` operand where nothing else uses that any more;
otherwise it gets a new one (or the one it has to end in), into which the content of the operand
is copied unless the operation overwrites it all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from xdsl.dialects import memref, tensor
from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr, DenseArrayBase, MemRefType, i32
from xdsl.dialects.linalg import ops as linalg
from xdsl.dialects.linalg.attrs import IteratorTypeAttr
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap

from lowerings.bufferize.function_bufferizer import BufferizeFunction, FunctionBufferizer
from lowerings.bufferize.storage import (
    Buffer,
    MemRef,
    SliceDestination,
    Storage,
    WholeDestination,
    make_permuted,
    memref_type,
)
from lowerings.bufferize.strided import (
    buffer_type,
    descending_dimensions,
    is_descending,
    is_same_memory,
    permuted_type,
)
from lowerings.bufferize.tensor_operands import (
    LINALG_OPERATIONS,
    captured_tensors,
    is_permutation,
    is_tensor,
    linalg_inputs,
    linalg_outputs,
    overwrites_destination,
    slice_put_back,
    transposed_dimensions,
)
from lowerings.dialects.schedule import schedule_of
from lowerings.rewriting.counting import attempt
from xla_dialect.xdsl.creation import create
from xla_dialect.xdsl.linking import erase
from xla_dialect.xdsl.operation_table import OperationTable
from xla_dialect.xdsl.traversal import operations_in

__all__ = ["TABLE"]


@dataclass(eq=False)
class _LinalgOperands:
    """The buffers of one linalg operation."""

    op: Operation
    inputs: list[Buffer | None]
    """None for scalars."""
    captured: dict[tensor.ExtractOp, Buffer]
    """Tensors that the body reads elements of."""
    outputs: list[Buffer] = field(default_factory=list[Buffer])
    merged: dict[int, int] = field(default_factory=dict[int, int])
    """Inputs that are the same memory as an output, which the body then reads instead."""

    def input_map(self, index: int) -> AffineMap | None:
        """The indexing map of an operand; None unless the operation is a `linalg.generic`."""
        op = self.op
        return op.indexing_maps.data[index].data if isinstance(op, linalg.GenericOp) else None

    def inputs_to_merge(self, storage: Storage, type: MemRef, output: int) -> list[int] | None:
        """
        The inputs that read `storage` while the output writes the view of this type of it; None
        if that is not safe: an input may only read the very element that is written next.
        """
        if any(buffer.storage is storage for buffer in self.outputs):
            return None
        if any(buffer.storage is storage for buffer in self.captured.values()):
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


def bufferize_linalg(op: Operation, state: FunctionBufferizer) -> None:
    """
    ```mlir
    %e = tensor.empty() : tensor<4xf32>
    %r = linalg.exp ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    ```
    becomes
    ```mlir
    %r = memref.alloc() : memref<4xf32>
    linalg.exp ins(%a : memref<4xf32>) outs(%r : memref<4xf32>)
    ```
    """
    view = _transposed_view(op, state)
    if view is not None:
        state.bind(op.results[0], view)
        state.replaced(op)
        return
    extracts = captured_tensors(op.regions[0])
    inputs = linalg_inputs(op)
    operands = _LinalgOperands(
        op,
        [state.read(value) if is_tensor(value) else None for value in inputs],
        {extract: state.read(extract.tensor) for extract in extracts},
    )
    for index, (output, result) in enumerate(zip(linalg_outputs(op), op.results, strict=True)):
        operands.outputs.append(_output_buffer(operands, index, output, result, state))
    new_op = _make_operation(operands, inputs)
    _view_in_memory_order(new_op, state)
    state.insert(new_op)
    for extract, buffer in operands.captured.items():
        _load_in_body(extract, buffer)
    for result, buffer in zip(op.results, operands.outputs, strict=True):
        state.bind(result, buffer)
    if isinstance(op, linalg.FillOp):
        state.fills[op.results[0]] = inputs[0]
    state.replaced(op)


def _transposed_view(op: Operation, state: FunctionBufferizer) -> Buffer | None:
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
    view = make_permuted(source.memref, dimensions)
    return None if view is None else Buffer(state.insert(view).results[0], source.storage)


def _output_buffer(
    operands: _LinalgOperands,
    index: int,
    output: SSAValue,
    result: SSAValue,
    state: FunctionBufferizer,
) -> Buffer:
    content = None if output in state.undefined else state.buffers[output]
    overwrites = content is None or overwrites_destination(operands.op, index)
    reused = attempt(
        partial(_reused_buffer, operands, index, content, result, overwrites, state),
        is_made=lambda found: found is not None,
    )
    if reused is not None:
        return reused
    buffer = state.claim(result)
    if not overwrites and content is not None:
        state.put(output, buffer)
    return buffer


def _reused_buffer(
    operands: _LinalgOperands,
    index: int,
    content: Buffer | None,
    result: SSAValue,
    overwrites: bool,
    state: FunctionBufferizer,
) -> Buffer | None:
    """Memory for a result that something else was in, which is used no more; None without any."""
    if overwrites:
        claimed = _claim_destination(operands, index, result, state)
        if claimed is not None:
            return claimed
    if content is not None and state.is_dying(content.storage):
        inputs = operands.inputs_to_merge(content.storage, content.type, index)
        if inputs is not None:
            operands.merged.update(dict.fromkeys(inputs, index))
            return content
    if content is not None and _changes_slice_in_place(operands, index, content, state):
        return content
    return _replace_input(operands, index, result, state) if overwrites else None


def _changes_slice_in_place(
    operands: _LinalgOperands, index: int, content: Buffer, state: FunctionBufferizer
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
    state.changed_in_place.add(put_back)
    return True


def _replace_input(
    operands: _LinalgOperands, index: int, result: SSAValue, state: FunctionBufferizer
) -> Buffer | None:
    """
    The buffer of an input that is not used any more, if the result is large, and each of its
    elements is computed from that very element.
    """
    if result in state.destinations or not state.is_large(result):
        return None
    type = buffer_type(result)
    for buffer in operands.inputs:
        if buffer is not None and buffer.type == type and state.is_dying(buffer.storage):
            inputs = operands.inputs_to_merge(buffer.storage, type, index)
            if inputs is not None:
                operands.merged.update(dict.fromkeys(inputs, index))
                return buffer
    return None


def _claim_destination(
    operands: _LinalgOperands, index: int, result: SSAValue, state: FunctionBufferizer
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


def _make_operation(operands: _LinalgOperands, inputs: Sequence[SSAValue]) -> Operation:
    op = operands.op
    kept = [i for i in range(len(inputs)) if i not in operands.merged]
    properties = dict(op.properties)
    if operands.merged:
        assert isinstance(op, linalg.GenericOp)
        maps = op.indexing_maps.data
        kept_maps = [maps[i] for i in kept] + list(maps[len(inputs) :])
        properties["indexing_maps"] = ArrayAttr(kept_maps)
        properties["operandSegmentSizes"] = DenseArrayBase.from_list(
            i32, (len(kept), len(operands.outputs))
        )
        block = op.body.block
        for index in sorted(operands.merged, reverse=True):
            argument = block.args[index]
            argument.replace_all_uses_with(block.args[len(inputs) + operands.merged[index]])
        for index in sorted(operands.merged, reverse=True):
            block.erase_arg(block.args[index])
    new_inputs: list[SSAValue] = []
    for index in kept:
        buffer = operands.inputs[index]
        new_inputs.append(inputs[index] if buffer is None else buffer.memref)
    return create(
        type(op),
        operands=(*new_inputs, *(buffer.memref for buffer in operands.outputs)),
        properties=properties,
        attributes=dict(op.attributes),
        regions=[op.detach_region(region) for region in tuple(op.regions)],
    )


def _view_in_memory_order(op: Operation, state: FunctionBufferizer) -> None:
    """
    Has an operation see memrefs whose strides do not fall in views in which they do, so that equal
    operations on arrays in other orders are one kernel.
    """
    if not isinstance(op, linalg.GenericOp):
        return
    maps = list(op.indexing_maps.data)
    for index, operand in enumerate(op.operands):
        if not isinstance(operand.type, MemRefType):
            continue
        dimensions = descending_dimensions(memref_type(operand))
        view = None if dimensions is None else make_permuted(operand, dimensions)
        if dimensions is None or view is None:
            continue
        op.operands[index] = state.insert(view).results[0]
        map_ = maps[index].data
        results = tuple(map_.results[d] for d in dimensions)
        maps[index] = AffineMapAttr(AffineMap(map_.num_dims, map_.num_symbols, results))
    if maps != list(op.indexing_maps.data):
        op.properties["indexing_maps"] = ArrayAttr(_with_loops_as_written(op, maps))


def _with_loops_as_written(
    op: linalg.GenericOp, maps: Sequence[AffineMapAttr]
) -> Sequence[AffineMapAttr]:
    """The maps with loops renumbered so that the output map is the identity, where it permutes."""
    written = maps[len(op.inputs)].data
    has_reductions = any(kind != IteratorTypeAttr.parallel() for kind in op.iterator_types.data)
    has_indices = any(isinstance(inner, linalg.IndexOp) for inner in operations_in(op.body))
    # A schedule counts the loops as they are.
    is_fixed = has_reductions or has_indices or schedule_of(op) is not None
    if is_fixed or not is_permutation(written):
        return maps
    loops = [expr.position for expr in written.results if isinstance(expr, AffineDimExpr)]
    renumbered = [AffineExpr.dimension(loops.index(d)) for d in range(len(loops))]
    return [
        AffineMapAttr(map_.data.replace_dims_and_symbols(renumbered, (), len(loops), 0))
        for map_ in maps
    ]


def _load_in_body(extract: tensor.ExtractOp, buffer: Buffer) -> None:
    load = create(
        memref.LoadOp,
        operands=(buffer.memref, *extract.indices),
        result_types=(extract.result.type,),
    )
    block = extract.parent
    assert block is not None
    block.insert_op_before(load, extract)
    extract.result.replace_all_uses_with(load.res)
    erase(extract)


TABLE = OperationTable[BufferizeFunction]().add(LINALG_OPERATIONS, bufferize_linalg)
