"""What a page shows beside texts: fusion, buffers, layouts, schedules and communication."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from xdsl.dialects.builtin import ModuleOp, NoneAttr, TensorType
from xdsl.ir import Attribute, Operation
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from lowerings.bufferize.memory_usage import arena_contents, memory_usage
from lowerings.dialects.schedule import ScheduleAttr, schedule_text
from lowerings.driver.pass_options import FUSION
from lowerings.partitioning.xla_report_communication import (
    XlaReportCommunicationPass,
    communication_of,
)
from lowerings.tensors.linalg_plan_fusion import fusion_remarks
from xla_dialect.diagnostics import XlaError
from xla_dialect.layouts.type_layouts import human_string_with_layout
from xla_dialect.op import XlaOp
from xla_dialect.ops.collectives import process_counts
from xla_dialect.xdsl.traversal import operations_in

from ..layout_drawing import drawing
from ..layout_report import report

MOST_LAYOUTS = 40
"""Shapes that are drawn; others are counted."""

Spans = Mapping[Operation, tuple[int, int]]


@dataclass
class Views:
    """The latest of each kind that the states of a program had."""

    found: dict[str, Any] = field(default_factory=dict[str, Any])
    """By kind, each with the number of the document whose lines it names."""
    _types: dict[Attribute, list[int]] = field(default_factory=dict[Attribute, list[int]])

    def look(self, module: ModuleOp, spans: Spans, document: int) -> None:
        """Takes what this state of the program has."""
        operations = operations_in(module)
        if "memory" not in self.found and (arenas := _arenas(module, spans)):
            self.found["memory"] = {"document": document, "arenas": arenas}
        schedules = _schedules(operations, spans)
        if schedules:
            self.found["schedules"] = {"document": document, "rows": schedules}
        if any(isinstance(op, XlaOp) for op in operations):
            self._take_types(operations, spans)
            self.found["layouts"] = {"document": document}
            self._take_communication(module, document)

    def ask(self, module_pass: ModulePass, module: ModuleOp, spans: Spans, document: int) -> None:
        """
        Takes what a pass is going to say of a program: the first one that plans fusion, and why;
        the last one that reports communication on a machine.
        """
        if isinstance(module_pass, XlaReportCommunicationPass) and module_pass.machine:
            with suppress(XlaError, ValueError):
                report = module_pass.report(module)
                self.found["planned"] = {"document": document, **report.as_json()}
        if module_pass.name not in FUSION or "fusion" in self.found:
            return
        with suppress(PassFailedException):  # The pass itself says what it cannot do.
            remarks = fusion_remarks(module, getattr(module_pass, "file", ""))
            rows = [[spans[each.op][0], each.subject, each.text, each.reason] for each in remarks]
            if rows:
                self.found["fusion"] = {"document": document, "rows": rows}

    def _take_types(self, operations: list[Operation], spans: Spans) -> None:
        self._types = {}
        for op in operations:
            for result in op.results:
                if isinstance(result.type, TensorType):
                    self._types.setdefault(result.type, []).append(spans[op][0])

    def _take_communication(self, module: ModuleOp, document: int) -> None:
        if process_counts(module) == (1, 1):
            return
        try:
            report = communication_of(module)
        except ValueError:
            return
        if report.exchanges:
            self.found["communication"] = {"document": document, **report.as_json()}

    def as_json(self, before: int) -> dict[str, Any]:
        """For the page, where so many documents are before those of the passes."""
        found = {
            kind: view | {"document": view["document"] + before}
            for kind, view in self.found.items()
        }
        if not self._types:
            return found
        order = sorted(self._types, key=_interest, reverse=True)
        drawn = [
            {
                "shape": human_string_with_layout(type_),
                "lines": sorted(set(self._types[type_])),
                "words": report(type_),
                "drawing": drawing(type_),
            }
            for type_ in order[:MOST_LAYOUTS]
        ]
        found["layouts"] |= {"shapes": drawn, "all": len(order)}
        return found


def _interest(type_: Attribute) -> tuple[bool, int]:
    assert isinstance(type_, TensorType)
    return not isinstance(type_.encoding, NoneAttr), len(type_.get_shape())


def _arenas(module: ModuleOp, spans: Spans) -> list[dict[str, Any]]:
    planned = list(arena_contents(module))
    usage = {each.entry: each for each in memory_usage(module)} if planned else {}
    found: list[dict[str, Any]] = []
    for contents in planned:
        name = contents.function.sym_name.data
        own = usage.get(name)
        buffers = [
            [spans[each.op][0], each.offset, each.size, each.first, each.last,
             str(each.op.results[0].type)]
            for each in contents.buffers
        ]  # fmt: skip
        positions = max((each.last for each in contents.buffers), default=0) + 1
        arena: dict[str, Any] = {"function": name, "size": contents.size, "positions": positions}
        if own is not None:
            arena["allocated"], arena["peak"] = own.allocated, own.peak
        found.append(arena | {"buffers": buffers})
    return found


def _schedules(operations: list[Operation], spans: Spans) -> list[dict[str, Any]]:
    return [
        {"line": spans[op][0], "operation": op.name, "schedule": schedule_text(schedule.data)}
        for op in operations
        if isinstance(schedule := op.attributes.get(ScheduleAttr.name), ScheduleAttr)
    ]
