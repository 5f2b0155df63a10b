"""What the operations that move data out of a program and into it compute."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from xdsl.interpreter import PythonValues, register_impls
from xdsl.ir import Attribute

from xla_dialect import types
from xla_dialect.constraints import flat_results
from xla_dialect.devices.process_grid import Pending, Process, Route
from xla_dialect.devices.replica_groups import SourceTargetPairs
from xla_dialect.diagnostics import XlaError
from xla_dialect.literals.arrays import TOKEN, Value, as_argument, copied
from xla_dialect.ops import transfers as ops
from xla_dialect.ops.asynchronous import as_one
from xla_dialect.ops.collectives import Ids
from xla_dialect.reference.asynchronous import blank, pending_in
from xla_dialect.reference.collectives import expanded
from xla_dialect.reference.registration import ArrayFunctions, computes
from xla_dialect.spelling import SpellingError
from xla_dialect.violations import described

_NOTHING = object()
"""What a process receives that is the target of no pair."""
_REQUEST = np.uint32(0)
"""The id of a request; nothing depends on it."""


def next_item(items: deque[object], name: str) -> object:
    """Takes the next item; raises XlaError if there is none."""
    try:
        return items.popleft()
    except IndexError:  # asked for and not looked up: processes may share the items
        raise XlaError(f"waits forever: {name} has no item left") from None


def as_item(values: PythonValues) -> Value:
    """What goes through a transfer or feed: the only value, or the tuple of all."""
    return values[0] if len(values) == 1 else tuple(values)


def of_item(item: Any, count: int) -> PythonValues:
    """So many values of an item, of which `as_item` makes it."""
    return (item,) if count == 1 else item


def received(op: ops.RecvOp, value: object, data: Attribute) -> Value:
    """
    What has come over the channel, as a value of this type: zeros if nothing was to come. Raises
    XlaError if it is none.
    """
    if value is _NOTHING:
        return blank(data)
    name = f"the next item of the host's channel {op.channel}"
    return as_argument(value, data, name if op.with_host else "(C4) what is sent")


def ids_of(op: ops.TransferOp) -> Ids:
    """Whether the ids in source-target pairs count replicas, partitions or processes."""
    return Ids.PARTITIONS if op.channel else Ids.REPLICAS


@register_impls
@dataclass
class TransferFunctions(ArrayFunctions):
    """Tokens, infeed and outfeed, channels; `process` is the one that runs here."""

    process: Process = field(default_factory=Process)

    def take(self, item_type: Attribute) -> Value:
        """The next item of the infeed; raises XlaError if there is none of this type."""
        item = next_item(self.process.host.infeed, "the infeed")
        return as_argument(item, item_type, "the next item of the infeed")

    def give(self, item: PythonValues) -> None:
        """Keeps an item, or one given by its elements, for the host."""
        self.process.host.outfeed.append(as_item(item))

    def pairs(self, op: ops.TransferOp) -> SourceTargetPairs | None:
        """The source-target pairs, if the operation has them; raises XlaError for invalid ones."""
        try:
            pairs = op.source_target_pairs
        except SpellingError as error:
            raise XlaError(f"source-target pairs: {error}") from error
        if pairs is None:
            return None
        if (side := pairs.repeated()) is not None:
            raise XlaError(f"source-target pairs {pairs} repeat a {side}")
        for source, target in pairs.pairs:
            self.route(op, source, target)
        return pairs

    def place(self, op: ops.TransferOp) -> int:
        """The id that this process has in pairs."""
        return self.process.place[ids_of(op) == Ids.PARTITIONS]

    def route(self, op: ops.TransferOp, source: int, target: int) -> Route:
        """The channel of a pair; raises XlaError where there is no such process."""
        ends = (
            expanded(ids_of(op), number, self.process.place, self.process.grid)[0]
            for number in (source, target)
        )
        return Route(op.channel, *ends)

    def send(self, op: ops.SendOp, value: Value) -> None:
        """Hands a value over to who receives on the channel."""
        if op.with_host:
            self.process.host.received.setdefault(op.channel, []).append(value)
        else:
            pairs = self.pairs(op)
            if pairs is None:
                self.process.send(op.channel, value, described(op))
                return
            target = pairs.target_of(self.place(op))
            if target is not None:
                self.process.send(self.route(op, self.place(op), target), value, described(op))

    def receive(self, op: ops.RecvOp) -> Pending[object]:
        """Gets ready for what comes over the channel."""
        if not op.with_host:
            pairs = self.pairs(op)
            if pairs is None:
                return self.process.receive(op.channel, described(op))
            source = pairs.source_of(self.place(op))
            if source is None:
                return Pending(lambda: _NOTHING)
            return self.process.receive(self.route(op, source, self.place(op)), described(op))
        items = self.process.host.sent.setdefault(op.channel, deque())
        return Pending(lambda: next_item(items, f"the host's channel {op.channel}"))

    @computes(ops.AfterAllOp)
    def after_all(self, _tokens: PythonValues) -> Value:
        """A token."""
        return TOKEN

    @computes(ops.AddDependencyOp)
    def add_dependency(self, operand: Value, _token: Value) -> Value:
        """The operand."""
        return operand

    @computes(ops.InfeedOp)
    def infeed(self, _token: Value, *, op: ops.InfeedOp) -> PythonValues:
        """The next item; nothing is read for an empty one."""
        *parts, _ = flat_results(op.result_types)
        item_type = as_one(parts)
        if not types.flatten([item_type]):
            return (*(() for _ in parts), TOKEN)
        return (*of_item(copied(self.take(item_type)), len(parts)), TOKEN)

    @computes(ops.OutfeedOp)
    def outfeed(self, item: PythonValues, _token: Value) -> Value:
        """Keeps the item for the host."""
        self.give(tuple(map(copied, item)))
        return TOKEN

    @computes(ops.SendOp)
    def begin_send(self, operand: PythonValues, _token: Value, *, op: ops.SendOp) -> PythonValues:
        """Hands the operand over."""
        item = as_item(operand)
        self.send(op, copied(item) if op.with_host else item)
        return (*of_item(item, len(flat_results(op.result_types)) - 2), _REQUEST, TOKEN)

    @computes(ops.SendDoneOp)
    def send_done(self, _context: PythonValues) -> Value:
        """A token: what is sent has been handed over already."""
        return TOKEN

    @computes(ops.RecvOp)
    def begin_recv(self, _token: Value, *, op: ops.RecvOp) -> PythonValues:
        """Gets ready; of an item without elements, the id of the request waits."""
        *data, _, _ = flat_results(op.result_types)
        found = self.receive(op)
        # Copied, for a host that sent the item may overwrite its array afterwards.
        pending = Pending(lambda: copied(received(op, found.result(), as_one(data))))
        request = _REQUEST if data else pending
        return (*[pending] * len(data), request, TOKEN)

    @computes(ops.RecvDoneOp)
    def recv_done(self, context: PythonValues, *, op: ops.RecvDoneOp) -> PythonValues:
        """What has come."""
        *data, _ = flat_results(op.result_types)
        return (*of_item(pending_in(context).result(), len(data)), TOKEN)
