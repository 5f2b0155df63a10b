"""What the analysis of a function finds, and what it knows at one operation."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import prod
from typing import TypeAlias, cast

from xdsl.dialects import func
from xdsl.dialects.builtin import (
    ArrayAttr,
    MemRefType,
    NoneAttr,
    StringAttr,
)
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue

from lowerings.bufferize.liveness import NEVER, Liveness
from lowerings.bufferize.storage import (
    Buffer,
    Destination,
    InsertSliceChain,
    MemRef,
    Permutation,
    Reshape,
    ReshapedDestination,
    Storage,
    Subview,
    WholeDestination,
)
from lowerings.bufferize.strided import (
    buffer_type,
    element_bytes,
    is_same_memory,
)
from lowerings.rewriting.conversion import describe_place
from lowerings.rewriting.counting import attempt


def print_decisions(
    function: func.FuncOp, decisions: Sequence[Decision], liveness: Liveness
) -> None:
    """Prints the decisions about the operands of a function, in the order of the program."""
    copied = sum(bool(each.reason) for each in decisions)
    kept = len(decisions) - copied
    summary = f"@{function.sym_name.data} has {kept} operands in place and {copied} that are copied"
    lines = [f"{describe_place(function)}: remark: {summary}"]
    lines += [_described(each, liveness) for each in decisions]
    print(*lines, sep="\n", file=sys.stderr)


def _described(decision: Decision, liveness: Liveness) -> str:
    op, operand = decision.op, decision.operand
    value = op.operands[operand]
    what = f"{describe_place(op)}: remark: operand {operand}{_named(value)} of {op.name} is"
    if not decision.reason:
        return f"{what} in place"
    use = _forcing_use(decision, liveness)
    by = "" if use is None else f": {use}"
    return f"{what} copied, {buffer_type(value)}: {decision.reason}{by}"


def _named(value: SSAValue) -> str:
    return f" (%{value.name_hint})" if value.name_hint else ""


def _forcing_use(decision: Decision, liveness: Liveness) -> str | None:
    """The operation that forces a copy."""
    by = decision.forced_by
    if by is None:
        return None
    if isinstance(by, int):
        by = next((op for op, position in liveness.position.items() if position == by), None)
    if by is None or isinstance(by, Operation):
        return None if by is None else f"{by.name} at {describe_place(by)}"
    now = liveness.position[decision.op]
    uses = [use for use in by.uses if use.operation in liveness.position]
    later = [use for use in uses if liveness.position[use.operation] > now]
    # Without a later one, an earlier use is made again by the next iteration of a loop.
    last = max(later or uses, key=lambda use: liveness.position[use.operation], default=None)
    if last is None:
        return None
    again = "" if later else " in the next iteration"
    op = last.operation
    return f"operand {last.index}{_named(by)} of {op.name} at {describe_place(op)}{again}"


INPLACE_ATTRIBUTE = "__inplace_operands_attr__"
"""
As MLIR's: for each operand of an operation a string, "false" for one that has to be copied, "true"
for one that must not be, "none" where the analysis decides.
"""


def wish(op: Operation, operand: int) -> str:
    """What the attribute of an operation asks for one of its operands."""
    given = op.attributes.get(INPLACE_ATTRIBUTE)
    if given is None:
        return "none"
    return cast("ArrayAttr[StringAttr]", given).data[operand].data


def is_to_be_copied(op: Operation, operand: int) -> bool:
    """Whether the attribute of an operation forbids that one of its operands is in place."""
    return wish(op, operand) == "false"


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether an operand stays where it is while it becomes a result, or is copied."""

    op: Operation
    operand: int
    reason: str = ""
    """Why it is copied; empty for one that is in place."""
    forced_by: SSAValue | Operation | int | None = None
    """What forces the copy: a value that is used later, an operation, or the position of one."""


@dataclass(frozen=True, slots=True)
class CopyStep:
    """Elements that are brought from one buffer to another."""

    source: Buffer
    target: Buffer


@dataclass(frozen=True, slots=True)
class FillStep:
    """A buffer whose elements all become the scalar that a tensor is made of."""

    value: SSAValue
    target: Buffer


Step: TypeAlias = Buffer | CopyStep | FillStep
"""What is done in front of an operation: a buffer is allocated or viewed, elements are written."""


@dataclass(eq=False)
class Bufferization:
    """What the analysis of a function has decided."""

    places: dict[SSAValue, Buffer] = field(default_factory=dict[SSAValue, Buffer])
    """Where each tensor is."""
    reads: dict[tuple[Operation, SSAValue], Buffer] = field(
        default_factory=dict[tuple[Operation, SSAValue], Buffer]
    )
    """Where operations read an operand that is not in its place there."""
    steps: dict[Operation, list[Step]] = field(default_factory=dict[Operation, list[Step]])
    """What is done in front of each operation, in this order."""
    merged: dict[Operation, dict[int, int]] = field(default_factory=dict[Operation, dict[int, int]])
    """Inputs of linalg operations that are the same memory as an output, and which."""
    views: set[Operation] = field(default_factory=set[Operation])
    """Transposes that move nothing."""
    undefined: set[SSAValue] = field(default_factory=set[SSAValue])
    """Tensors whose elements are unspecified: they have no buffer until they are written."""
    arguments: list[Buffer | None] = field(default_factory=list["Buffer | None"])
    """Of the parameters; None for scalars."""
    results: list[Buffer | None] = field(default_factory=list["Buffer | None"])
    """What the function writes its results to; None for scalars."""
    decisions: list[Decision] = field(default_factory=list[Decision])


@dataclass(frozen=True)
class Move:
    """Operand `operand` of a terminator, which has to be in `target` at the end of its block."""

    operand: int
    source: Buffer
    target: Buffer


@dataclass(eq=False)
class Analysis:
    """The state of the analysis at one operation, the anchor."""

    anchor: Operation
    """The operation that is being analysed, at first the function."""
    liveness: Liveness
    in_place_bytes: int
    """From this size on, results take over the buffers of dead inputs where they can."""
    aliases: Mapping[str, Mapping[int, int]]
    """By function, the parameters in whose memory results are, by the numbers of the results."""
    found: Bufferization = field(default_factory=Bufferization)
    destinations: dict[SSAValue, Destination] = field(default_factory=dict[SSAValue, Destination])
    """Where a value had best be computed."""
    insert_slice_chains: dict[SSAValue, InsertSliceChain] = field(
        default_factory=dict[SSAValue, InsertSliceChain]
    )
    """The tensors that are put together in place, and their stages with some parts missing."""
    changed_in_place: dict[Operation, Buffer] = field(default_factory=dict[Operation, Buffer])
    """By insertion of a slice, the place itself, where the slice, or its start, was computed."""
    fills: set[SSAValue] = field(default_factory=set[SSAValue])
    """Tensors whose elements are all equal."""
    now: int = NEVER
    """The position of the anchor."""

    @property
    def buffers(self) -> dict[SSAValue, Buffer]:
        """Where the values are that have been met."""
        return self.found.places

    @property
    def undefined(self) -> set[SSAValue]:
        """The values without specified elements that have been met."""
        return self.found.undefined

    # Decisions

    def step(self, step: Step) -> None:
        """Has something done in front of the anchor."""
        self.found.steps.setdefault(self.anchor, []).append(step)

    def in_place(self, operand: int) -> None:
        """Notes that an operand of the anchor is not copied."""
        self.found.decisions.append(Decision(self.anchor, operand))

    def copies(
        self, operand: int, reason: str, forced_by: SSAValue | Operation | int | None = None
    ) -> None:
        """Notes why an operand of the anchor is copied."""
        if is_to_be_copied(self.anchor, operand):
            reason, forced_by = f"{INPLACE_ATTRIBUTE} forbids that it is in place", None
        self.found.decisions.append(Decision(self.anchor, operand, reason, forced_by))

    def may_overwrite(self, storage: Storage, operand: int) -> bool:
        """Whether the anchor may overwrite an operand, and all else that is in its storage."""
        return self.is_dying(storage) and not is_to_be_copied(self.anchor, operand)

    def copies_what_lives(self, operand: int, storage: Storage) -> None:
        """Notes that an operand is copied as its storage must not be overwritten."""
        if not storage.writable:
            self.copies(operand, "its memory is only read")
        elif storage.live_until > self.now:
            self.copies(operand, "its memory is used later", storage.kept_by)
        else:
            self.copies(operand, "the operation reads other elements of it", self.anchor)

    def copies_what_is_elsewhere(self, operand: int, buffer: Buffer) -> None:
        """Notes that an operand is copied as it was not computed where it has to be."""
        value = self.anchor.operands[operand]
        last = self.liveness.last_use.get(value, NEVER)
        if isinstance(value, BlockArgument) or value.owner.parent is not self.anchor.parent:
            self.copies(operand, "it is not computed in this block")
        elif last > self.now:
            self.copies(operand, "it is used later", value)
        elif not buffer.storage.writable:
            self.copies(operand, "its memory is only read")
        else:
            self.copies(operand, "its place is in use while it is computed")

    # Memory

    def allocate(self, type: MemRef, name_hint: str | None = None) -> Buffer:
        """A new buffer, in a storage of its own."""
        buffer = Buffer(type, Storage(writable=True), name_hint=name_hint)
        self.step(buffer)
        return buffer

    def view(
        self,
        source: Buffer,
        view: Reshape | Permutation | Subview,
        storage: Storage | None = None,
    ) -> Buffer | None:
        """A view of a buffer, which may be set aside as a storage; None if no memref is one."""
        type = view.type_of(source.type)
        if type is None:
            return None
        made = Buffer(type, storage or source.storage, source, view)
        self.step(made)
        return made

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
        return self.allocate(buffer_type(value), value.name_hint)

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
            return None if base is None else self.view(base, destination.reshape)
        if destination.buffer is None:
            whole = self.chain_buffer(destination.chain)
            part = Storage(writable=True, parent=whole.storage)
            destination.buffer = self.view(whole, destination.part, part)
            assert destination.buffer is not None
        return destination.buffer if is_usable(destination.buffer.storage) else None

    def chain_buffer(self, chain: InsertSliceChain) -> Buffer:
        """The buffer of a chain, which it keeps from its first part to its last use."""
        if chain.buffer is None:
            chain.buffer = self.claim(chain.result)
            self.keep(chain.buffer, chain.result)
        return chain.buffer

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
        return size >= self.in_place_bytes

    # Values

    def bind(self, value: SSAValue, buffer: Buffer) -> None:
        """Says that a value is in a buffer from now on."""
        self.buffers[value] = buffer
        self.keep(buffer, value)
        if buffer.name_hint is None:
            buffer.name_hint = value.name_hint

    def keep(self, buffer: Buffer, value: SSAValue) -> None:
        """Keeps the storage of a buffer from being overwritten until the last use of a value."""
        buffer.storage.keep_until(self.liveness.last_use.get(value, self.now), value)

    def read(self, value: SSAValue) -> Buffer:
        """The buffer of a tensor value; a new one with any content for an unspecified tensor."""
        buffer = self.found.reads.get((self.anchor, value)) or self.buffers.get(value)
        if buffer is None:
            buffer = self.found.reads[self.anchor, value] = self.allocate(buffer_type(value))
        return buffer

    def put(self, value: SSAValue, target: Buffer) -> None:
        """Writes a tensor value to a buffer: by a copy, or by a fill if it is a splat."""
        is_fill = value in self.fills
        self.step(FillStep(value, target) if is_fill else CopyStep(self.buffers[value], target))

    def copied(self, source: Buffer) -> Buffer:
        """A copy of a buffer in memory of its own, with an identity layout."""
        type = source.type
        dense = MemRefType[Attribute].new(
            (type.shape, type.element_type, NoneAttr(), type.memory_space)
        )
        copy = self.allocate(dense)
        self.step(CopyStep(source, copy))
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
                if source is target or is_same_memory(source.type, target.type):
                    self.in_place(move.operand)
                    continue
            self.copies_what_is_elsewhere(move.operand, source)
            if source.storage.allocation() is target.storage:
                # Part of the target, or its elements in another order.
                move = Move(move.operand, self.copied(source), target)
            pending[target.storage] = move
            read = move.source.storage.allocation()
            readers[read] = readers.get(read, 0) + 1
        ready = deque(storage for storage in pending if not readers.get(storage))
        while pending:
            if ready:
                move = pending.pop(ready.popleft())
                self.step(CopyStep(move.source, move.target))
            else:
                target, move = next(iter(pending.items()))
                copy = self.copied(move.source)
                readers[copy.storage] = 1
                pending[target] = Move(move.operand, copy, move.target)
            read = move.source.storage.allocation()
            readers[read] -= 1
            if readers[read] == 0 and read in pending:
                ready.append(read)
