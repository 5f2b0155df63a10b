"""Channels between devices: what is certain about them before anything runs.

A channel has one `send` and one `recv` (C1) of one type (C4). A `send` comes after its `recv`, and
what `recv_done` waits for comes after the `send` (Send, "schedule"). Where these orders and the
dependences of the programs form a cycle, none of its operations can ever be the first to be
executed: whatever reaches it waits forever.

Left to the run are: a channel of which a program has one end only, because the other may be in
another program, and ends that are executed unequally often. An order that is written in control
predecessors or in a schedule, and what branches and loops compute, count as no dependence. Host
transfers are no channels between devices, and number 0 stands for no channel. Transfers with
source-target pairs are executed by every device, whether it sends and receives or not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from xla_dialect.analysis.computations import Call, callee, is_call
from xla_dialect.ops.open_contexts import as_one
from xla_dialect.ops.transfers import (
    RecvDoneOp,
    RecvOp,
    SendOp,
    TransferOp,
    TransferStartOp,
    transferred,
)
from xla_dialect.types import compatible, spell
from xla_dialect.violations import described


class ChannelFault(Exception):
    """A rule that transfers break together; `operation` is where the error points."""

    def __init__(self, operation: Operation, message: str):
        self.operation = operation
        super().__init__(f"{operation.name}: {message}")


@dataclass
class Channel:
    """The ends of a channel that a module has."""

    number: int
    send: SendOp | None = None
    recv: RecvOp | None = None

    def add(self, end: TransferStartOp) -> None:
        """Adds an end; raises ChannelFault for a second one of its kind (C1)."""
        known = self.send if isinstance(end, SendOp) else self.recv
        if known is not None:
            raise ChannelFault(end, f"(C1) channel {self.number} has another {described(known)}")
        if isinstance(end, SendOp):
            self.send = end
        elif isinstance(end, RecvOp):
            self.recv = end

    def verify_type(self) -> None:
        """Raises ChannelFault where the ends have different types (C4)."""
        if self.send is None or self.recv is None:
            return
        sent = as_one([value.type for value in self.send.operand])
        received = transferred(tuple(self.recv.result_types), "Result")
        if not compatible(sent, received):
            raise ChannelFault(
                self.recv,
                f"(C4) receives {spell(received)} on channel {self.number}, "
                f"{described(self.send)} sends {spell(sent)}",
            )


def verify_channels(
    transfers: Iterable[TransferStartOp],
    functions: Mapping[str, FuncOp],
    calls: Iterable[Call],
) -> None:
    """
    Checks the transfers of a module, all of them; raises ChannelFault.

    `functions` are those of the module by name, `calls` all their calls.
    """
    channels: dict[int, Channel] = {}
    for transfer in transfers:
        number = transfer.channel
        if number and not transfer.with_host and transfer.pairs_text is None:
            channels.setdefault(number, Channel(number)).add(transfer)
    complete = {n: c for n, c in channels.items() if c.send is not None and c.recv is not None}
    for channel in complete.values():
        channel.verify_type()
    if complete:
        order = _Order(complete, functions, _only_calls(functions, calls))
        for channel in complete.values():
            order.verify_no_cycle(cast(SendOp, channel.send))


def _only_calls(functions: Mapping[str, FuncOp], calls: Iterable[Call]) -> dict[str, Call]:
    """By private function, its call, where there is just one."""
    by_name: dict[str, list[Call]] = {}
    for call in calls:
        by_name.setdefault(callee(call), []).append(call)
    return {
        name: found[0]
        for name, found in by_name.items()
        if len(found) == 1 and _is_private(functions.get(name))
    }


def _is_private(function: FuncOp | None) -> bool:
    visibility = None if function is None else function.sym_visibility
    return visibility is not None and visibility.data == "private"


def _producers(values: Iterable[SSAValue]) -> list[Operation]:
    return [value.owner for value in values if isinstance(value.owner, Operation)]


@dataclass
class _Order:
    """Which operations are executed before every execution of which others."""

    channels: Mapping[int, Channel]
    functions: Mapping[str, FuncOp]
    only_calls: Mapping[str, Call]
    _acyclic: set[Operation] = field(default_factory=set[Operation])
    """Operations without a cycle among what comes before them."""

    def before(self, op: Operation) -> list[Operation]:
        """Operations of which each has been executed before `op` ends, whenever that happens."""
        found = [end for end in (self.other_end(op),) if end is not None]
        if is_call(op):
            function = self.functions.get(callee(op))
            last = None if function is None else function.body.block.last_op
            found += [] if last is None else _producers(last.operands)
        around: Operation | None = op
        while around is not None:
            found += _producers(around.operands)
            if isinstance(around, FuncOp):
                around = self.only_calls.get(around.sym_name.data)
            else:
                around = around.parent_op()
        return found

    def other_end(self, op: Operation) -> Operation | None:
        """What `op` waits for over a channel."""
        if not isinstance(op, SendOp | RecvDoneOp) or op.channel is None or op.with_host:
            return None
        channel = self.channels.get(op.channel)
        if channel is None:
            return None
        return channel.recv if isinstance(op, SendOp) else channel.send

    def verify_no_cycle(self, start: Operation) -> None:
        """Raises ChannelFault where `start` waits for itself, or for what does."""
        path: dict[Operation, None] = {}
        stack: list[tuple[Operation, bool]] = [(start, False)]
        while stack:
            op, leaving = stack.pop()
            if leaving:
                del path[op]
                self._acyclic.add(op)
            elif op in path:
                every = list(path)
                raise self._fault(every[every.index(op) :])
            elif op not in self._acyclic:
                path[op] = None
                stack.append((op, True))
                stack += [(earlier, False) for earlier in self.before(op)]

    def _fault(self, cycle: Sequence[Operation]) -> ChannelFault:
        """The error for operations that each wait for the next, and the last for the first."""
        waits = [
            self.other_end(op) is after
            for op, after in zip(cycle, (*cycle[1:], cycle[0]), strict=True)
        ]
        # At least one step of the cycle goes through a channel, since operands precede their users.
        first = waits.index(True)
        ends = [
            (op, does_wait)
            for op, does_wait in zip(
                (*cycle[first:], *cycle[:first]), (*waits[first:], *waits[:first]), strict=True
            )
            if isinstance(op, TransferOp)
        ]
        reasons = [
            f"{'waits for' if does_wait else 'comes after'} {_spelled(after)}"
            for (_, does_wait), (after, _) in zip(ends, (*ends[1:], ends[0]), strict=True)
        ]
        place = ends[0][0]
        return ChannelFault(
            place, f"on channel {place.channel} waits forever: it {', which '.join(reasons)}"
        )


def _spelled(transfer: TransferOp) -> str:
    """A transfer as messages name it: operation, place and channel."""
    return f"{described(transfer)} on channel {transfer.channel}"
