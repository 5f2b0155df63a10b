"""What a page shows of the passes of a run, as events of a pass manager."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from lowerings.driver.pass_manager import PassTiming, PipelinePass
from xla_dialect.xdsl.traversal import operations_in

from .dataflow import dataflow
from .documents import LinePrinter, Links, ShownDocument, counted
from .origins import Origins
from .views import Views


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
        self._origins: Origins | None = None
        self._levels = [each.group[-1] if each.group else "" for each in self.pipeline]

    def start(self, module: ModuleOp, name: str, level: str) -> Mapping[Operation, int]:
        """The module before all passes; the line of each operation."""
        self._take(module, ShownDocument(name, "mlir", level), dict[int, set[int]]())
        return self.lines

    @property
    def lines(self) -> Mapping[Operation, int]:
        """The line that each operation of the module is in now."""
        return {op: first for op, (first, _) in self._spans.items()}

    def before(self, module_pass: ModulePass, module: ModuleOp) -> None:
        """Before a pass."""
        self.views.plan_fusion(module_pass, module, self._spans, len(self.documents) - 1)
        self._origins = Origins.of(module, self.lines)

    def after(self, module_pass: ModulePass, module: ModuleOp) -> None:
        """After a pass and the verification of what it has made."""
        level = self._levels[len(self.documents) - 1] if self._levels else ""
        timing = self.timings[-1]
        document = ShownDocument(module_pass.name, "mlir", level, seconds=timing.seconds)
        assert self._origins is not None
        if not timing.may_have_changed:
            for op in operations_in(module):
                self._origins.take(op)
            self.documents.append(document)
            return
        lines, spans = self._printer.document(module)
        links = _links(self._origins, module, spans)
        if lines == self._lines:
            self._spans = spans
            self.documents.append(document)
            return
        self._take(module, document, links, (lines, spans))

    def _take(
        self,
        module: ModuleOp,
        document: ShownDocument,
        links: Links,
        printed: tuple[list[str], dict[Operation, tuple[int, int]]] | None = None,
    ) -> None:
        lines, spans = printed or self._printer.document(module)
        self._lines, self._spans = lines, spans
        document.lines = lines
        document.links = links
        document.spans = [span for span in spans.values() if span[0] != span[1]]
        document.operations = counted(operations_in(module))
        document.graph = dataflow(module, spans)
        self.views.look(module, spans, len(self.documents))
        self.documents.append(document)


def _links(origins: Origins, module: ModuleOp, spans: Mapping[Operation, tuple[int, int]]) -> Links:
    """What each line comes from."""
    links: Links = {}
    found: dict[Operation, set[int]] = {}
    for op in operations_in(module):
        lines = origins.take(op)
        owner = op.parent_op()
        if not lines and owner is not None and not isinstance(owner, ModuleOp):
            # What closes a body, or counts in it, is there for the operation around.
            lines = found[owner] if owner.parent_op() is not module else set()
        found[op] = lines
        links.setdefault(spans[op][0], set()).update(lines)
    return links
