"""The state of bufferizing one function: which memory each tensor value is in, and until when."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from math import prod
from typing import TypeAlias, TypeVar

from xdsl.dialects import memref
from xdsl.dialects.builtin import (
    DenseArrayBase,
    MemRefType,
    NoneAttr,
    UnknownLoc,
    i32,
)
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import Attribute, Block, Operation, SSAValue

from lowerings.bufferize.constant_pool import ConstantPool
from lowerings.bufferize.element_size import element_bytes
from lowerings.bufferize.liveness import NEVER, Liveness
from lowerings.bufferize.storage import (
    Buffer,
    Destination,
    InsertSliceChain,
    MemRef,
    ReshapedDestination,
    SliceDestination,
    Storage,
    WholeDestination,
    make_permuted,
    make_subview,
)
from lowerings.bufferize.strided import buffer_type, descending_dimensions, is_same_memory
from lowerings.bufferize.tensor_operands import is_linalg_operation
from lowerings.rewriting.counting import attempt
from xla_dialect.xdsl.creation import create
from xla_dialect.xdsl.linking import erase, insert_before

__all__ = ["BufferizeFunction", "BufferizeTable", "FunctionBufferizer", "ModuleState", "Move"]

OperationT = TypeVar("OperationT", bound=Operation)

BufferizeFunction: TypeAlias = Callable[[Operation, "FunctionBufferizer"], None]
"""Bufferizes one operation, and says `replaced` where another takes its place."""

BufferizeTable: TypeAlias = Mapping[type[Operation], BufferizeFunction]
"""The function for each class of operation; operations of other classes are left alone."""

_ALLOC_SEGMENTS = DenseArrayBase.from_list(i32, (0, 0))


@dataclass(frozen=True)
class Move:
    """A tensor value that has to be in a certain buffer at the end of a block."""

    source: Buffer
    target: Buffer


@dataclass(eq=False)
class ModuleState:
    """What all functions of a module have in common."""

    constants: ConstantPool
    table: BufferizeTable
    in_place_bytes: int
    """From this size on, results take over the buffers of dead inputs where they can."""
    aliases: Mapping[str, Mapping[int, int]]
    """By function, the parameters in whose memory results are, by the numbers of the results."""


@dataclass(eq=False)
class FunctionBufferizer:
    """
    Bufferizes the blocks of one function from first to last.

    At every position, a storage holds the tensor values that are bound to it and are used later.
    It may be overwritten when `live_until` has passed: then no value in it is used any more. New
    operations go before `anchor`, the operation that is being bufferized.
    """

    anchor: Operation
    liveness: Liveness
    module: ModuleState
    buffers: dict[SSAValue, Buffer] = field(default_factory=dict[SSAValue, Buffer])
    undefined: set[SSAValue] = field(default_factory=set[SSAValue])
    """Tensors whose elements are unspecified: they have no buffer until they are written."""
    destinations: dict[SSAValue, Destination] = field(default_factory=dict[SSAValue, Destination])
    """Where a value had best be computed."""
    insert_slice_chains: dict[SSAValue, InsertSliceChain] = field(
        default_factory=dict[SSAValue, InsertSliceChain]
    )
    """The tensors that are put together in place, and their stages with some parts missing."""
    changed_in_place: set[Operation] = field(default_factory=set[Operation])
    """Insertions of slices that have been computed in their place already."""
    fills: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """Tensors whose elements are all equal, and the scalar that they are equal to."""
    now: int = NEVER
    """The position of `anchor`."""
    _replaced: list[Operation] = field(default_factory=list[Operation])

    def bufferize_block(self, block: Block, finish: Callable[[], None]) -> None:
        """
        Bufferizes the operations of a block; `finish` is called, with the terminator as the
        anchor, to do what is to be done at the end of the block.
        """
        outer = self._replaced, self.anchor, self.now
        self._replaced = []
        for op in tuple(block.ops):
            self.anchor, self.now = op, self.liveness.position[op]
            if op is block.last_op:
                finish()
                continue
            bufferize = self.module.table.get(type(op))
            # Linalg on memrefs has no results.
            if bufferize is not None and (op.results or not is_linalg_operation(op)):
                bufferize(op, self)
        for op in reversed(self._replaced):
            erase(op)
        self._replaced, self.anchor, self.now = outer

    def insert(self, op: OperationT) -> OperationT:
        """Inserts a new operation before the anchor, with the anchor's location."""
        anchor = self.anchor
        if isinstance(op.location, UnknownLoc):
            op.location = anchor.location
        insert_before(op, anchor)
        return op

    def replaced(self, op: Operation) -> None:
        """Has `op` erased when its block is done: until then, its tensor results have uses."""
        self._replaced.append(op)

    # Memory

    def allocate(self, type: MemRef) -> Buffer:
        """A new buffer, in a storage of its own."""
        alloc = self.insert(
            create(
                memref.AllocOp,
                result_types=(type,),
                properties={"operandSegmentSizes": _ALLOC_SEGMENTS},
            )
        )
        return Buffer(alloc.results[0], Storage(writable=True, live_until=NEVER))

    def is_free(self, storage: Storage) -> bool:
        """Whether nothing that is in the storage is used by the anchor or later."""
        return storage.writable and storage.live_until < self.now

    def is_dying(self, storage: Storage) -> bool:
        """Whether nothing that is in the storage is used after the anchor."""
        return storage.writable and storage.live_until <= self.now

    def claim(self, value: SSAValue, *, whole: bool = False) -> Buffer:
        """
        Memory that a value can be computed into at the anchor: its destination if that is free by
        now, else a new buffer. `whole` asks for all of a storage, which has an identity layout but
        where it is a result of the entry with strides.
        """
        destination = self.destinations.get(value)
        if destination is not None and not (whole and self.destination_storage(value) is None):
            opened = attempt(
                partial(self.open_destination, destination),
                is_made=lambda found: found is not None,
            )
            if opened is not None:
                return opened
        buffer = self.allocate(buffer_type(value))
        buffer.memref.name_hint = value.name_hint
        return buffer

    def open_destination(self, destination: Destination, *, dying: bool = False) -> Buffer | None:
        """
        The buffer of a destination; None if it is not free at the anchor, or not even dying there
        where `dying` allows that.
        """
        is_usable = self.is_dying if dying else self.is_free
        if isinstance(destination, WholeDestination):
            return destination.buffer if is_usable(destination.buffer.storage) else None
        if isinstance(destination, ReshapedDestination):
            base = self.open_destination(destination.base, dying=dying)
            view = None if base is None else destination.reshape.make(base.memref)
            if base is None or view is None:
                return None
            return Buffer(self.insert(view).results[0], base.storage)
        if destination.buffer is None:
            destination.buffer = self._place_part(destination)
        return destination.buffer if is_usable(destination.buffer.storage) else None

    def chain_buffer(self, chain: InsertSliceChain) -> Buffer:
        """The buffer of a chain, which it keeps from its first part to its last use."""
        if chain.buffer is None:
            chain.buffer = self.claim(chain.result)
            self.keep(chain.buffer, chain.result)
        return chain.buffer

    def _place_part(self, destination: SliceDestination) -> Buffer:
        whole = self.chain_buffer(destination.chain)
        subview = make_subview(whole.memref, destination.slice, (), destination.shape)
        part = Storage(writable=True, live_until=NEVER, parent=whole.storage)
        return Buffer(self.insert(subview).results[0], part)

    def destination_storage(self, value: SSAValue) -> Storage | None:
        """The storage of the destination of a value, where it is all of one."""
        destination = self.destinations.get(value)
        while isinstance(destination, ReshapedDestination):
            destination = destination.base
        if isinstance(destination, WholeDestination):
            return destination.buffer.storage
        return None

    def is_large(self, value: SSAValue) -> bool:
        """Whether a tensor is large enough for its memory to be used again at once."""
        type = buffer_type(value)
        size = prod(type.get_shape()) * (element_bytes(type.element_type) or 0)
        return size >= self.module.in_place_bytes

    # Values

    def bind(self, value: SSAValue, buffer: Buffer) -> None:
        """Says that a value is in a buffer from now on."""
        self.buffers[value] = buffer
        self.keep(buffer, value)
        if buffer.memref.name_hint is None:
            buffer.memref.name_hint = value.name_hint

    def keep(self, buffer: Buffer, value: SSAValue) -> None:
        """Keeps the storage of a buffer from being overwritten until the last use of a value."""
        buffer.storage.keep_until(self.liveness.last_use.get(value, self.now))

    def read(self, value: SSAValue) -> Buffer:
        """The buffer of a tensor value; a new one with any content for an unspecified tensor."""
        buffer = self.buffers.get(value)
        if buffer is None:
            return self.allocate(buffer_type(value))
        return buffer

    def copy(self, source: Buffer, target: Buffer) -> None:
        """Copies elements, in the order in which they are in memory on one side at least."""
        pair = (source.memref, target.memref)
        dimensions = descending_dimensions(target.type) or descending_dimensions(source.type)
        if dimensions is not None:
            views = [make_permuted(side, dimensions) for side in pair]
            if None not in views:
                first, second = (self.insert(view).results[0] for view in views if view)
                pair = (first, second)
        self.insert(create(memref.CopyOp, operands=pair))

    def put(self, value: SSAValue, target: Buffer) -> None:
        """Writes a tensor value to a buffer: by a copy, or by a fill if it is a splat."""
        scalar = self.fills.get(value)
        if scalar is None:
            self.copy(self.buffers[value], target)
        else:
            self.insert(linalg.FillOp((scalar,), (target.memref,), ()))

    def copied(self, source: Buffer) -> Buffer:
        """A copy of a buffer in memory of its own, with an identity layout."""
        type = source.type
        dense = MemRefType[Attribute].new(
            (type.shape, type.element_type, NoneAttr(), type.memory_space)
        )
        copy = self.allocate(dense)
        self.copy(source, copy)
        return copy

    # Parallel moves

    def move_all(self, moves: Iterable[Move]) -> None:
        """
        Brings each source to its target as if all at the same time.

        A target is only written when no other move reads it any more; a cycle, as in
        `(a, b) <- (b, a)`, is opened by copying one source away.
        """
        pending: dict[Storage, Move] = {}
        readers: dict[Storage, int] = {}
        for move in moves:
            source, target = move.source, move.target
            if source.storage is target.storage:
                if source.memref is target.memref or is_same_memory(source.type, target.type):
                    continue
            if source.storage.allocation() is target.storage:
                # Part of the target, or its elements in another order.
                move = Move(self.copied(source), target)
            pending[target.storage] = move
            read = move.source.storage.allocation()
            readers[read] = readers.get(read, 0) + 1
        ready = deque(storage for storage in pending if not readers.get(storage))
        while pending:
            if ready:
                move = pending.pop(ready.popleft())
                self.copy(move.source, move.target)
            else:
                target, move = next(iter(pending.items()))
                copy = self.copied(move.source)
                readers[copy.storage] = 1
                pending[target] = Move(copy, move.target)
            read = move.source.storage.allocation()
            readers[read] -= 1
            if readers[read] == 0 and read in pending:
                ready.append(read)
