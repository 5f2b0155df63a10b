"""
How long a step of a partitioned program takes on a machine, at best.

Computation is as fast as the roofline: an operation takes its floating-point operations or its
bytes, whichever takes longer; elementwise ones are fused, and only what enters and leaves a run of
them is read and written. A device computes one thing and takes part in one collective at a time.
Whatever its operands allow may go on beside the other, the first in the program first.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from heapq import heappop, heappush
from math import inf

from xdsl.ir import Block, Operation, SSAValue

from lowerings.partitioning.costs import bytes_of, computations_of, flops_of, trip_count
from lowerings.partitioning.planned_machine import PlannedMachine
from xla_dialect.op import XlaOp
from xla_dialect.ops.control_flow import WhileOp
from xla_dialect.ops.creation import ConstantOp, IotaOp
from xla_dialect.ops.data_movement import BroadcastOp, ReshapeOp
from xla_dialect.xdsl.traversal import operands_of

COMPUTATION, COMMUNICATION, BOTH = "computation", "communication", "both"


@dataclass(frozen=True)
class Activity:
    """What a device does from when to when, in seconds; of a loop all rounds are one."""

    stream: str
    name: str
    start: float
    end: float


@dataclass(frozen=True)
class TimedCollective:
    """A collective on a machine."""

    collective: str
    along: str
    """The axes of the machine along which its members differ, and in how many places."""
    bytes: float
    """Of a device's operand, of an all-gather those of its result."""
    algorithm: str
    seconds: float


@dataclass
class StepTime:
    """How long a block takes: what each of the two would alone, and both side by side."""

    computation: float = 0.0
    seconds: float = 0.0
    collectives: Counter[TimedCollective] = field(default_factory=Counter[TimedCollective])
    """How often each of them is made."""
    spans: list[Activity] = field(default_factory=list[Activity])

    @property
    def communication(self) -> float:
        """The seconds of all collectives."""
        return sum(calls * each.seconds for each, calls in self.collectives.items())

    def add(self, inside: StepTime, rounds: int = 1) -> None:
        """Adds what an operation does so many times, but not when."""
        self.computation += rounds * inside.computation
        for each, calls in inside.collectives.items():
            self.collectives[each] += rounds * calls

    def as_json(self) -> dict[str, object]:
        """What takes how long, in seconds, and what a device does from when to when."""
        return {
            "collectives": [{**vars(e), "calls": n} for e, n in self.collectives.items()],
            "computation": self.computation,
            "communication": self.communication,
            "seconds": self.seconds,
            "timeline": [vars(span) for span in self.spans],
        }


@dataclass(eq=False)
class Stopwatch:
    """Times blocks of a program on a machine."""

    machine: PlannedMachine
    functions: Mapping[str, Block]
    collective: Callable[[XlaOp], TimedCollective | None]
    """What a collective takes; None for another operation."""

    def block(self, block: Block) -> StepTime:
        """The operations of a block as soon as their operands and the device allow."""
        found = StepTime()
        operations = [op for op in block.ops if isinstance(op, XlaOp)]
        numbers: dict[Operation | Block, int] = {op: n for n, op in enumerate(operations)}
        costs = [self.cost(op) for op in operations]
        makers = [{value.owner for value in operands_of(op)} for op in operations]
        missing = [sum(maker in numbers for maker in each) for each in makers]
        at = [0.0] * len(operations)
        queues = {COMPUTATION: _Queue(), COMMUNICATION: _Queue()}

        def queue_of(number: int) -> _Queue:
            return queues[COMMUNICATION if costs[number][0] == COMMUNICATION else COMPUTATION]

        for number, count in enumerate(missing):
            if not count:
                heappush(queue_of(number).now, number)
        while any(queue.now or queue.later for queue in queues.values()):
            first = min(queues.values(), key=_Queue.begin)
            number = first.take()
            op, (stream, inside) = operations[number], costs[number]
            taken = [*queues.values()] if stream == BOTH else [first]
            start = max(at[number], *(queue.free for queue in taken))
            end = start + inside.seconds
            for queue in taken:
                queue.free = end
            found.add(inside)
            found.seconds = max(found.seconds, end)
            if inside.seconds:
                found.spans.append(Activity(stream, op.name.removeprefix("xla."), start, end))
            for user in dict.fromkeys(use.operation for r in op.results for use in r.uses):
                if user in numbers:
                    other = numbers[user]
                    missing[other] -= 1
                    at[other] = max(at[other], end)
                    if not missing[other]:
                        heappush(queue_of(other).later, (at[other], other))
        return found

    def cost(self, op: XlaOp) -> tuple[str, StepTime]:
        """What an operation occupies, and for how long."""
        taken = self.collective(op)
        if taken is not None:
            return COMMUNICATION, StepTime(0.0, taken.seconds, Counter({taken: 1}))
        inside = [self.block(each) for each in computations_of(op, self.functions)]
        if inside:
            if isinstance(op, WhileOp):
                rounds = trip_count(op)
                rounds = 1 if rounds is None else rounds
                found = StepTime(0.0, rounds * sum(each.seconds for each in inside))
                for each in inside:
                    found.add(each, rounds)
                return BOTH, found
            return BOTH, max(inside, key=lambda each: each.seconds)
        flops, bytes_ = flops_of(op), _moved(op)
        seconds = max(flops / self.machine.flops, bytes_ / self.machine.memory_bandwidth)
        return COMPUTATION, StepTime(seconds, seconds)


@dataclass(eq=False)
class _Queue:
    """Operations whose operands are made, by their numbers, for one thing that a device does."""

    free: float = 0.0
    """When what is done now is over."""
    now: list[int] = field(default_factory=list[int])
    later: list[tuple[float, int]] = field(default_factory=list[tuple[float, int]])
    """Those whose operands are there from a time on."""

    def begin(self) -> float:
        """When the next one can begin."""
        if self.now:
            return self.free
        return max(self.free, self.later[0][0]) if self.later else inf

    def take(self) -> int:
        """The first in the program of those that can begin then."""
        begin = self.begin()
        while self.later and self.later[0][0] <= begin:
            heappush(self.now, heappop(self.later)[1])
        return heappop(self.now)


def _moved(op: XlaOp) -> int:
    """The bytes that an operation reads and writes itself."""
    fused = _is_fused(op)
    read = sum(bytes_of(v.type) for v in set(operands_of(op)) if not (fused and _is_fused(v.owner)))
    written = sum(bytes_of(r.type) for r in op.results if not (fused and _stays(r)))
    return read + written if op.results else 0


def _stays(value: SSAValue) -> bool:
    return all(_is_fused(use.operation) for use in value.uses)


def _is_fused(op: Operation | Block) -> bool:
    if isinstance(op, ConstantOp | IotaOp | BroadcastOp | ReshapeOp):
        return True
    return isinstance(op, XlaOp) and op.is_pointwise()
