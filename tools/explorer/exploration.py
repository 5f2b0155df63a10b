"""`xla-opt --explore`: records a run of passes and writes the page about it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from xdsl.dialects.builtin import LocationAttr, ModuleOp
from xdsl.ir import Operation
from xdsl.utils.target import Target

from lowerings.driver import InputFormat
from lowerings.driver.context import make_context
from lowerings.driver.pass_manager import PassManager, PipelinePass, parse_pipeline
from lowerings.driver.program import detect_format, parse_program
from lowerings.driver.source import Source
from lowerings.targets.llvm.machine import Machine, host
from lowerings.targets.llvm.types import EmissionError
from xla_dialect.diagnostics import XlaError

from .documents import ShownDocument
from .machine_code import machine_code_documents
from .page import as_page
from .recording import Recording
from .sources import input_document, links_to_text, source_document


@dataclass
class Exploration:
    """A run of passes over one program, and the page about it."""

    passes: Sequence[PipelinePass]
    file_name: str
    text: str
    input_format: InputFormat
    places: dict[Operation, LocationAttr] = field(default_factory=dict[Operation, LocationAttr])
    """Filled by the reader of the program."""

    def __post_init__(self) -> None:
        self.recording = Recording(self.passes)
        self._before: list[ShownDocument] = []

    def start(self, module: ModuleOp) -> Recording:
        """Takes the program as it was read; what records its passes."""
        lines = self.recording.start(module, "as read", "xla")
        links = links_to_text(module, lines, self.file_name, self.places)
        own = input_document(self.text, self.file_name, self.input_format)
        source = source_document(module, lines, links, self.file_name)
        self.recording.documents[0].links = links
        if source is not None:
            document, own.links = source
            self._before.append(document)
        self._before.append(own)
        return self.recording

    def write(
        self, module: ModuleOp, manager: PassManager, path: str, target: Target | None
    ) -> None:
        """Writes the page, see `page`, to a file; raises XlaError."""
        try:
            Path(path).write_text(self.page(module, manager, target), encoding="utf-8")
        except OSError as error:
            raise XlaError(f"{path}: error: {error.strerror}") from None

    def page(self, module: ModuleOp, manager: PassManager, target: Target | None = None) -> str:
        """
        The page, with LLVM IR and assembly if the module is at the level that they are made of: for
        the machine of a target if it has one, else for this one.
        """
        states = self.recording.documents
        machine: Machine = getattr(target, "machine", None) or host()
        documents = [*self._before, *states]
        if manager.done == len(self.passes):
            with suppress(EmissionError):
                documents += machine_code_documents(module, self.recording.lines, machine)
        views = self.recording.views.as_json(len(self._before))
        return as_page(self.file_name, documents, views)


def page_about(source: Source, pipeline: str) -> str:
    """The page about the passes of a pipeline on a program; raises XlaError."""
    passes = parse_pipeline(pipeline)
    input_format = source.input_format or detect_format(source.text, source.file_name)
    exploration = Exploration(passes, source.file_name, source.text, input_format)
    ctx = make_context()
    module = parse_program(
        source.text, source.file_name, input_format, ctx, verified=True, places=exploration.places
    )
    recording = exploration.start(module)
    manager = PassManager(
        ctx, before=[recording.before], after=[recording.after], timings=recording.timings
    )
    manager.run(module, [each.module_pass for each in passes])
    return exploration.page(module, manager)
