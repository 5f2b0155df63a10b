"""Def-use chains of asynchronous contexts, from `*-start` through loops and branches to `*-done`.

A `*-done` only needs the results that are pending. Where the process computes them, the handle of
the request replaces them along the whole chain; results computed at the start are passed as they
are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue, Use
from xdsl.rewriter import Rewriter

from lowerings.communication.process_calls import HANDLE
from xla_dialect.dimensions import OpOperand
from xla_dialect.op import XlaOp
from xla_dialect.ops import asynchronous, control_flow, transfers
from xla_dialect.ops.collectives import CollectiveOp
from xla_dialect.xdsl.traversal import operations_in

Starts = (
    asynchronous.AllGatherStartOp
    | asynchronous.AllReduceStartOp
    | asynchronous.AsyncStartOp
    | asynchronous.CollectivePermuteStartOp
    | asynchronous.CopyStartOp
    | transfers.RecvOp
)


Dones = asynchronous.DoneOp | transfers.RecvDoneOp


class ContextFault(Exception):
    """A context that cannot be followed; `operation` is where the error points."""

    def __init__(self, operation: Operation, reason: str):
        self.operation = operation
        super().__init__(reason)


@dataclass(frozen=True)
class Start:
    """The start of an operation whose results come later."""

    op: Starts
    begun: XlaOp | None
    """The operation that the process begins; None where the results are computed at once."""

    @staticmethod
    def of(op: Starts) -> Start:
        """A start; of an asynchronous computation, that of the one collective that it is."""
        match op:
            case asynchronous.CopyStartOp():
                return Start(op, None)
            case asynchronous.AsyncStartOp():
                return Start(op, only_collective(op))
            case _:
                return Start(op, op)

    @property
    def results(self) -> Sequence[SSAValue]:
        """The leaves of the context that stand for pending results."""
        return self.op.results[self.places]

    @property
    def places(self) -> slice:
        """Where they are among the leaves of the context, which begin with operands."""
        first, count = 0, len(self.op.results)
        match self.op:
            case asynchronous.AsyncStartOp():
                first, count = len(self.op.inputs), len(returned(self.op))
            case asynchronous.AllGatherStartOp():
                first = count = len(self.op.inputs)
            case asynchronous.CollectivePermuteStartOp():
                first = count = self.op.held
            case asynchronous.CopyStartOp():
                count = 1
            case transfers.RecvOp():
                # In the context of a `recv` without data, the request id stands for the result.
                count = max(count - 2, 1)
            case _:
                pass
        return slice(first, first + count)


def returned(op: asynchronous.AsyncStartOp) -> Sequence[SSAValue]:
    """What an asynchronous computation returns."""
    last = op.calls.block.last_op
    return () if last is None else last.operands


def only_collective(op: asynchronous.AsyncStartOp) -> XlaOp | None:
    """The collective that an asynchronous computation consists of; None if it is something else."""
    block = op.calls.block
    first, last = block.first_op, block.last_op
    if (
        isinstance(first, CollectiveOp)
        and first.next_op is last
        and tuple(returned(op)) == tuple(first.results)
        and tuple(first.operands) == tuple(block.args)
    ):
        return first
    return None


@dataclass(eq=False)
class Contexts:
    """The contexts of a module without tuples."""

    starts: dict[SSAValue, Start] = field(default_factory=dict[SSAValue, Start])
    """The start of every value that stands for a pending result."""
    dones: dict[Operation, tuple[Start, list[int]]] = field(
        default_factory=dict[Operation, tuple[Start, list[int]]]
    )
    """For every `*-done` its start, or one of the same kind, and the numbers of the operands that
    stand for the pending results."""

    @staticmethod
    def of(module: ModuleOp) -> Contexts:
        """
        Follows all contexts of a module; pending results that the process computes become handles.

        Raises ContextFault where an operation other than a `*-done` uses a pending result.
        """
        contexts = Contexts()
        for op in operations_in(module):
            if isinstance(op, Starts):
                start = Start.of(op)
                for result in start.results:
                    contexts._follow(result, start)
        for op in operations_in(module):
            if isinstance(op, Dones) and op not in contexts.dones:
                raise ContextFault(op, "nothing in the program began what it waits for")
        contexts._verify_ways()
        for value, start in contexts.starts.items():
            if start.begun is not None:
                Rewriter.replace_value_with_new_type(cast(Any, value), HANDLE)
        return contexts

    def _follow(self, value: SSAValue, start: Start) -> None:
        waiting = [value]
        while waiting:
            current = waiting.pop()
            known = self.starts.get(current)
            if known is not None:
                _require_same(known, start)
                continue
            self.starts[current] = start
            for use in tuple(current.uses):
                waiting.extend(self._ways_on(use, start))

    def _ways_on(self, use: Use, start: Start) -> Iterator[SSAValue]:
        """The values that a use forwards a pending result to; adds a `*-done` to `dones`."""
        op, index = use.operation, use.index
        around = op.parent_op() if isinstance(op, control_flow.ReturnOp) else op
        assert around is not None
        forwarded = tuple(_forwarded(around, OpOperand(op, index)))
        if forwarded:
            yield from forwarded
            return
        match op:
            case asynchronous.DoneOp() | transfers.RecvDoneOp():
                self.dones.setdefault(op, (start, []))[1].append(index)
            case asynchronous.AsyncUpdateOp():
                yield op.results[index]
            case control_flow.OptBarrierOp() | control_flow.DomainOp():
                yield op.results[0]
            case control_flow.ReturnOp():
                raise ContextFault(op, "returns what has not finished")
            case _ if start.begun is not None:
                raise ContextFault(op, _misuse(op, start))
            case _:
                pass

    def _verify_ways(self) -> None:
        """Checks that loops and branches forward a pending result on all control-flow edges."""
        for value, start in self.starts.items():
            owner = value.owner
            if start.begun is None or not isinstance(owner, Operation):
                continue
            edges = owner.data_flow_edges() if isinstance(owner, XlaOp) else ()
            for source in (s for edge in edges if value in edge.targets for s in edge.sources):
                if self.starts.get(source.value) is None:
                    raise ContextFault(owner, f"hands on what {start.op.name} began, or has not")


def _require_same(known: Start, start: Start) -> None:
    """A `*-done` is lowered for one start: others that reach it must run the same operation."""
    if known.op is start.op:
        return
    first, second = known.begun or known.op, start.begun or start.op
    same = (
        type(first) is type(second)
        and len(known.results) == len(start.results)
        and all(
            one.is_structurally_equivalent(other)
            for one, other in zip(first.regions, second.regions, strict=True)
        )
        and first.properties.keys() == second.properties.keys()
    )
    if not same:
        raise ContextFault(start.op, f"its context comes together with that of {known.op.name}")


def _misuse(op: Operation, start: Start) -> str:
    if isinstance(op, func.ReturnOp):
        return "the program returns what an asynchronous operation has not finished"
    return f"uses what {start.op.name} has not finished"


def _forwarded(op: Operation, operand: OpOperand) -> Iterator[SSAValue]:
    """The values that an operation forwards one of its operands, or of a terminator in it, to."""
    edges = op.data_flow_edges() if isinstance(op, XlaOp) else ()
    return (target for edge in edges if operand in edge.sources for target in edge.targets)
