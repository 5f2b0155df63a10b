"""What a page shows of the passes of a run, as events of a pass manager."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from typing import Any, cast

from xdsl.dialects.builtin import (
    CallSiteLoc,
    FusedLoc,
    IntAttr,
    LocationAttr,
    ModuleOp,
    TensorType,
    TupleType,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass

from lowerings.bufferize.tensor_operands import is_linalg_operation
from lowerings.driver.pass_manager import PassTiming, PipelinePass
from lowerings.ir.locations import callee_and_caller, fused, parts_of
from xla_dialect.layouts.type_layouts import human_string_with_layout
from xla_dialect.types import TokenType
from xla_dialect.xdsl.creation import annotated_location, call_site
from xla_dialect.xdsl.traversal import operations_in

from .page import LinePrinter, Links, ShownDocument, counted
from .views import Views


def mark(module: ModuleOp, lines: Mapping[Operation, int]) -> None:
    """
    Marks all operations of a module, to be found again after a pass.

    While it runs, the location of each has the number of its line as metadata,
    `loc(fused<7>[...])`: a pass that makes an operation for another hands on the location, and so
    the number.
    """
    for op in operations_in(module):
        op.location = annotated_location(op.location, IntAttr(lines[op]))


def unmark(op: Operation, lines: Mapping[Operation, int]) -> set[int]:
    """
    The lines of what an operation was before, none where nothing is known; its location becomes
    what it would be without marks.
    """
    found = {*_lines_of(op.location), *([lines[op]] if op in lines else [])}
    op.location = _unmarked(op.location)
    return found


def _lines_of(location: LocationAttr) -> Iterator[int]:
    if isinstance(location, FusedLoc):
        if isinstance(location.metadata, IntAttr):
            yield location.metadata.data
            return
        for part in parts_of(location):
            yield from _lines_of(part)
    elif isinstance(location, CallSiteLoc):
        for side in callee_and_caller(location):
            yield from _lines_of(side)


def _unmarked(location: LocationAttr) -> LocationAttr:
    if isinstance(location, CallSiteLoc):
        callee, caller = callee_and_caller(location)
        return call_site(_unmarked(callee), _unmarked(caller))
    if not isinstance(location, FusedLoc):
        return location
    if isinstance(location.metadata, IntAttr):
        (own,) = parts_of(location)
        return own
    return fused(map(_unmarked, parts_of(location)))


def dataflow(module: ModuleOp, spans: Mapping[Operation, tuple[int, int]]) -> dict[str, Any] | None:
    """
    The computations of a module whose values are arrays: each has a title and nodes, and a node is
    its line, name and type, then its operands, as numbers of nodes. None where there are none.
    """
    types: dict[str, int] = {}

    def type_number(type_: Attribute) -> int:
        return types.setdefault(_spell(type_), len(types))

    computations: list[dict[str, Any]] = []
    for op in operations_in(module):
        if not op.regions or isinstance(op, ModuleOp) or is_linalg_operation(op):
            continue
        for number, region in enumerate(op.regions):
            for block in region.blocks:
                nodes = _nodes(block, spans, type_number)
                if nodes:
                    title = _title(op, number)
                    computations.append({"title": title, "line": spans[op][0], "nodes": nodes})
    if not computations:
        return None
    return {"types": list(types), "computations": computations}


def _title(op: Operation, region: int) -> str:
    if isinstance(op, FuncOp):
        return f"@{op.sym_name.data}"
    return f"{op.name} {region}" if len(op.regions) > 1 else op.name


def _nodes(block: Block, spans: Mapping[Operation, tuple[int, int]], type_number: Any) -> list[Any]:
    """The nodes of a block; none where it has no arrays, such as the sum of a reduction."""
    if not any(_is_array(result.type) for op in block.ops for result in op.results):
        return []
    numbers: dict[SSAValue, int] = {}
    nodes: list[Any] = []
    owner = block.parent_op()
    start = 0 if owner is None else spans[owner][0]
    for argument in block.args:
        numbers[argument] = len(nodes)
        name = argument.name_hint or f"argument {argument.index}"
        nodes.append([start, name, type_number(argument.type)])
    for op in block.ops:
        operands = dict.fromkeys(
            numbers[operand] for operand in _used_values(op) if operand in numbers
        )
        type_ = type_number(op.results[0].type) if op.results else -1
        for result in op.results:
            numbers[result] = len(nodes)
        nodes.append([spans[op][0], op.name, type_, *operands])
    return nodes


def _used_values(op: Operation) -> list[SSAValue]:
    """What an operation uses, and what is in it."""
    return [operand for inner in operations_in(op) for operand in inner.operands]


def _is_array(type_: Attribute) -> bool:
    return isinstance(type_, TensorType | TupleType) and (
        isinstance(type_, TupleType) or bool(cast("TensorType[Attribute]", type_).get_shape())
    )


@cache
def _spell(type_: Attribute) -> str:
    """Arrays as HLO text has them, shorter than MLIR's."""
    if isinstance(type_, TensorType | TupleType | TokenType):
        with suppress(ValueError, KeyError, TypeError):
            return human_string_with_layout(type_)
    return str(type_)


@dataclass
class Recording:
    """The states of one module, from the first on."""

    pipeline: Sequence[PipelinePass] = ()
    documents: list[ShownDocument] = field(default_factory=list[ShownDocument])
    views: Views = field(default_factory=Views)
    timings: list[PassTiming] = field(default_factory=list[PassTiming])
    """Those of the pass manager: also what a pass says of whether it has changed anything."""

    def __post_init__(self) -> None:
        self._printer = LinePrinter()
        self._lines: list[str] = []
        self._spans: dict[Operation, tuple[int, int]] = {}
        self._levels = [each.group[-1] if each.group else "" for each in self.pipeline]

    def start(self, module: ModuleOp, name: str, level: str) -> Mapping[Operation, int]:
        """The module before all passes; the line of each operation."""
        self._take(module, ShownDocument(name, "mlir", level), {}, *self._printer.document(module))
        return self.lines

    @property
    def lines(self) -> Mapping[Operation, int]:
        """The line that each operation of the module is in now."""
        return {op: first for op, (first, _) in self._spans.items()}

    def before(self, module_pass: ModulePass, module: ModuleOp) -> None:
        """Before a pass."""
        self.views.ask(module_pass, module, self._spans, len(self.documents) - 1)
        mark(module, self.lines)

    def after(self, module_pass: ModulePass, module: ModuleOp) -> None:
        """After a pass and the verification of what it has made."""
        level = self._levels[len(self.documents) - 1] if self._levels else ""
        timing = self.timings[-1]
        document = ShownDocument(module_pass.name, "mlir", level, seconds=timing.seconds)
        before = self.lines
        if not timing.may_have_changed:
            for op in operations_in(module):
                unmark(op, before)
            self.documents.append(document)
            return
        lines, spans = self._printer.document(module)
        links = _links(before, module, spans)
        if lines == self._lines:
            self._spans = spans
            self.documents.append(document)
        else:
            self._take(module, document, links, lines, spans)

    def _take(
        self,
        module: ModuleOp,
        document: ShownDocument,
        links: Links,
        lines: list[str],
        spans: dict[Operation, tuple[int, int]],
    ) -> None:
        self._lines, self._spans = lines, spans
        document.lines, document.links = lines, links
        document.spans = [span for span in spans.values() if span[0] != span[1]]
        document.operations = counted(operations_in(module))
        document.graph = dataflow(module, spans)
        self.views.look(module, spans, len(self.documents))
        self.documents.append(document)


def _links(
    before: Mapping[Operation, int], module: ModuleOp, spans: Mapping[Operation, tuple[int, int]]
) -> Links:
    """What each line comes from."""
    links: Links = {}
    found: dict[Operation, set[int]] = {}
    for op in operations_in(module):
        lines = unmark(op, before)
        owner = op.parent_op()
        if not lines and owner is not None and not isinstance(owner, ModuleOp):
            # What closes a body, or counts in it, is there for the operation around.
            lines = found[owner] if owner.parent_op() is not module else set()
        found[op] = lines
        links.setdefault(spans[op][0], set()).update(lines)
    return links
