"""The pass `xla-report-communication`."""

from __future__ import annotations

import json
import sys
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from typing import TypeAlias, cast

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from lowerings.ir.functions import defined_functions
from lowerings.partitioning.costs import bytes_of, flops_of, peak_bytes, totals, trip_count
from lowerings.partitioning.planned_machine import CollectiveTime, PlannedMachine
from lowerings.partitioning.resharding import Collective, ring_bytes
from lowerings.partitioning.step_time import StepTime, Stopwatch, TimedCollective
from lowerings.rewriting.levels import UNLOWERED
from lowerings.rewriting.passes import ReportingPass
from xla_dialect.devices.replica_groups import MeshGroups, ReplicaGroups
from xla_dialect.diagnostics import XlaError
from xla_dialect.op import XlaOp
from xla_dialect.ops import collectives as ops
from xla_dialect.ops.collectives import GroupedOp, process_counts
from xla_dialect.ops.control_flow import WhileOp
from xla_dialect.types import flatten
from xla_dialect.violations import place_of
from xla_dialect.xdsl.traversal import AttributeIdentities, operations_in


@dataclass(frozen=True)
class XlaReportCommunicationPass(ReportingPass):
    """
    Says what a device sends, computes and keeps (stderr); the program stays as it is.

    Bytes are those that a device sends if each collective goes around a ring, by collective, the
    axes of the mesh and the line of the source; iterations of loops are counted. Beside them stand
    the floating-point operations of a device and the most bytes of its values at one time. The
    program is that of one device, partitioned here or by XLA; where it is for one device only,
    there is nothing to say.

    ```
    %0 = xla.all_reduce %x {replica_groups = #xla.replica_groups<mesh['x'=2] {'x'}>, ...}
        : (tensor<6x3xf32>) -> tensor<6x3xf32>
    // becomes on stderr
    collective  axes  calls  bytes  line
    all_reduce  "x"       1     72  step.py:12
    ```
    """

    name = "xla-report-communication"
    takes = UNLOWERED

    json: bool = False
    """Prints JSON instead of a table."""
    machine: str = ""
    """A file with a machine: says how long each collective, computation and a step take on it."""

    def change(self, ctx: Context, op: ModuleOp) -> bool:
        """Prints; raises XlaError where there is no `@main`."""
        if process_counts(op) == (1, 1):
            return False
        try:
            report = self.report(op)
        except ValueError as error:
            raise XlaError(f"{self.name}: {error}") from None
        text = json.dumps(report.as_json(), indent=2) if self.json else report_table(report)
        print(text, file=sys.stderr)
        return False

    def report(self, module: ModuleOp) -> CommunicationReport:
        """What it says; raises ValueError where there is no `@main`, XlaError for the machine."""
        report = communication_of(module)
        if self.machine:
            report.machine = PlannedMachine.read(Path(self.machine))
            report.step = step_on(report.machine, module)
        return report


def report_table(report: CommunicationReport) -> str:
    """The report as a table, the most bytes first."""
    rows = [("collective", "axes", "calls", "bytes", "line")]
    rows.extend(
        (each.collective, each.axes, f"{each.calls:,}", f"{round(each.bytes):,}", each.line)
        for each in report.exchanges
    )
    rows.append(
        ("all", "", f"{sum(e.calls for e in report.exchanges):,}", f"{round(report.bytes):,}", "")
    )
    lines = _aligned(rows, (2, 3))
    loops = f"; {report.unknown_loops} loops counted once" if report.unknown_loops else ""
    lines.append(
        f"a device of {report.devices}: {report.flops:,} floating-point operations, "
        f"{report.peak_bytes:,} bytes at the peak{loops}"
    )
    if report.machine is not None and report.step is not None:
        share = report.peak_bytes / report.machine.memory
        lines += ("", *_step_lines(report.step), f"memory at the peak {share:.1%}")
    return "\n".join(lines)


def _aligned(rows: Sequence[Sequence[str]], right: Container[int]) -> list[str]:
    """Rows as lines, the columns under each other, some of them to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if column in right else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _step_lines(step: StepTime) -> Iterator[str]:
    rows = [("collective", "along", "algorithm", "calls", "bytes", "ms")]
    rows.extend(
        (
            *(each.collective, each.along, each.algorithm, f"{calls:,}"),
            *(f"{round(each.bytes):,}", _ms(calls * each.seconds)),
        )
        for each, calls in sorted(
            step.collectives.items(), key=lambda item: -item[0].seconds * item[1]
        )
    )
    yield from _aligned(rows, (3, 4, 5))
    yield (
        f"computation {_ms(step.computation)} ms, communication {_ms(step.communication)} ms, "
        f"a step {_ms(step.seconds)} ms where as much as can be goes on side by side"
    )


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:,.3f}"


KINDS: Mapping[type[XlaOp], Collective] = {
    ops.AllGatherOp: Collective.ALL_GATHER,
    ops.AllReduceOp: Collective.ALL_REDUCE,
    ops.ReduceScatterOp: Collective.REDUCE_SCATTER,
    ops.AllToAllOp: Collective.ALL_TO_ALL,
    ops.RaggedAllToAllOp: Collective.ALL_TO_ALL,
    ops.CollectivePermuteOp: Collective.COLLECTIVE_PERMUTE,
    ops.CollectiveBroadcastOp: Collective.COLLECTIVE_PERMUTE,
}
"""How the bytes of a collective are counted."""


@dataclass(frozen=True)
class Traffic:
    """The collectives of one kind over the same axes on one line of the source."""

    collective: str
    """The name of the operation."""
    axes: str
    """Those over which a group varies, or the size of the groups where no mesh is named."""
    line: str
    """`file:line`, empty where it is not known."""
    calls: int
    """How many of them a device takes part in."""
    bytes: float
    """What a device sends, in a ring."""


@dataclass
class CommunicationReport:
    """What one device of a program sends, computes and keeps."""

    devices: int
    exchanges: list[Traffic]
    flops: int
    """Floating-point operations: a product and its addition are two, a function is one."""
    peak_bytes: int
    """The most bytes of values at one time, before any fusion."""
    unknown_loops: int
    """Loops whose number of iterations depends on data: they count once."""
    machine: PlannedMachine | None = None
    step: StepTime | None = None
    """How long a step takes on the machine, where one is given."""

    @property
    def bytes(self) -> float:
        """What a device sends in all."""
        return sum(exchange.bytes for exchange in self.exchanges)

    def as_json(self) -> dict[str, object]:
        """The report as JSON has it."""
        return {
            "devices": self.devices,
            "bytes": round(self.bytes),
            "flops": self.flops,
            "peak_bytes": self.peak_bytes,
            "unknown_loops": self.unknown_loops,
            "exchanges": [vars(replace(each, bytes=round(each.bytes))) for each in self.exchanges],
            **({} if self.step is None else {"step": self.step.as_json()}),
        }


def communication_of(module: ModuleOp) -> CommunicationReport:
    """The report on `@main` of the program of one device; raises ValueError where there is none."""
    functions = {each.sym_name.data: each.body.block for each in defined_functions(module)}
    if "main" not in functions:
        raise ValueError("there is no function @main")
    replicas, partitions = process_counts(module)
    devices, block = replicas * partitions, functions["main"]
    costs = totals(block, functions, lambda op: _cost(op, devices), _weight)
    found = [
        Traffic(*route, round(calls), costs[route, _BYTES])
        for (route, what), calls in costs.items()
        if what == _CALLS
    ]
    found.sort(key=lambda e: (-e.bytes, e.collective, e.line))
    loops = [op for op in operations_in(module) if isinstance(op, WhileOp)]
    return CommunicationReport(
        devices,
        found,
        round(costs[_NOWHERE, _FLOPS]),
        peak_bytes(block, functions),
        sum(trip_count(op) is None for op in loops),
    )


def step_on(machine: PlannedMachine, module: ModuleOp) -> StepTime:
    """
    How long `@main` of the program of one device takes on a machine.

    Raises XlaError where the machine has fewer devices than the program.
    """
    functions = {each.sym_name.data: each.body.block for each in defined_functions(module)}
    devices = prod(process_counts(module))
    if devices > machine.device_count:
        raise XlaError(f"the machine has {machine.device_count:,} devices, the program {devices:,}")
    identity, known = AttributeIdentities(), dict[object, CollectiveTime]()

    def timed(op: XlaOp) -> TimedCollective | None:
        kind = KINDS.get(type(op))
        if kind is None:
            return None
        before, after = _bytes_of(op)
        bytes_ = after if kind is Collective.ALL_GATHER else before
        key = kind, bytes_, identity.named(op.properties)
        if key not in known:
            known[key] = max(machine.time(kind, bytes_, each) for each in _members(op, devices))
        taken = known[key]
        name = op.name.removeprefix("xla.")
        algorithm = ", ".join(taken.algorithms)
        return TimedCollective(name, taken.along, bytes_, algorithm, taken.seconds)

    return Stopwatch(machine, functions, timed).block(functions["main"])


def _members(op: XlaOp, devices: int) -> Sequence[Sequence[int]]:
    """The devices that take part with each other."""
    if isinstance(op, ops.CollectivePermuteOp):
        return op.source_target_pairs.data.pairs
    return cast(GroupedOp, op).groups.expand() or [range(devices)]


_Route: TypeAlias = tuple[str, str, str]
"""A collective, its axes, and its line."""
_CALLS, _BYTES, _FLOPS = "calls", "bytes", "flops"
_Key: TypeAlias = tuple[_Route, str]
_NOWHERE: _Route = ("", "", "")


def _cost(op: XlaOp, devices: int) -> Mapping[_Key, float]:
    """What a device sends for a collective, or computes for another operation."""
    kind = KINDS.get(type(op))
    if kind is None:
        return {(_NOWHERE, _FLOPS): flops_of(op)}
    before, after = _bytes_of(op)
    if isinstance(op, ops.CollectivePermuteOp):
        pairs = op.source_target_pairs.data.pairs
        members, axes = 2, "pairs"
        before = before if any(s != t for s, t in pairs) else 0
    else:
        members, axes = _group(cast(GroupedOp, op).groups, devices)
    route = op.name.removeprefix("xla."), axes, _line(op)
    sent = ring_bytes(kind, before, after, members) if members else 0.0
    return {(route, _CALLS): 1, (route, _BYTES): sent}


def _weight(costs: Mapping[_Key, float]) -> tuple[float, float]:
    """Bytes, then operations."""
    sent = sum(number for (_, what), number in costs.items() if what == _BYTES)
    return sent, costs.get((_NOWHERE, _FLOPS), 0)


def _bytes_of(op: XlaOp) -> tuple[int, int]:
    """The bytes of the operands and of the results of an operation."""
    after = sum(bytes_of(type_) for type_ in flatten(op.result_types))
    return sum(bytes_of(value.type) for value in op.operands), after


def _group(groups: ReplicaGroups, devices: int) -> tuple[int, str]:
    """The size of groups, and over which axes they vary."""
    if isinstance(groups, MeshGroups):
        return groups.size or 1, ", ".join(str(axis) for axis in groups.chosen)
    most = max([len(group) for group in groups.expand()] or [devices])
    return most, f"groups of {most}"


def _line(op: Operation) -> str:
    place = place_of(op.location)
    return "" if place is None else f"{place[0]}:{place[1]}"
