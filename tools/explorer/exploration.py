"""`xla-opt --explore`: records a run of passes and writes the page about it."""

from __future__ import annotations

import json
import linecache
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from xdsl.dialects.builtin import LocationAttr, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.utils.target import Target

from lowerings.driver import InputFormat
from lowerings.driver.context import make_context
from lowerings.driver.pass_manager import PassManager, PipelinePass, parse_pipeline
from lowerings.driver.program import detect_format, parse_program
from lowerings.driver.source import ProgramText, Source
from lowerings.profiling.source_operations import SourceOperation, source_operations
from lowerings.profiling.xla_name_operations import StackFrames, named_location
from lowerings.targets.llvm.instruction_origins import (
    with_own_lines,
    without_locations,
    without_marks,
)
from lowerings.targets.llvm.machine import Machine, host
from lowerings.targets.llvm.module import emit_module
from lowerings.targets.llvm.types import EmissionError
from xla_dialect.diagnostics import XlaError, read_text
from xla_dialect.violations import place_of
from xla_dialect.xdsl.traversal import operations_in

from .page import Links, ShownDocument, as_page, shortened
from .recording import Recording


def machine_code_documents(
    module: ModuleOp, lines: Mapping[Operation, int], machine: Machine
) -> tuple[ShownDocument, ShownDocument]:
    """
    The documents of a module of the loops level; raises EmissionError, CodeGenerationError.

    Assembly has debug locations on its way through LLVM: they name lines of the LLVM IR.
    """
    emitted = emit_module(
        module,
        machine,
        numbers=lines,
    )
    text, numbers = without_marks(emitted.text)
    assembly, places = without_locations(machine.assembly(with_own_lines(text)))
    return (
        _document("LLVM IR", "llvm", text, numbers),
        _document(
            machine.triple.partition("-")[0],
            "assembly",
            assembly,
            [None if place is None else place - 1 for place in places],
        ),
    )


def _document(
    name: str, kind: str, lines: Sequence[str], origins: Sequence[int | None]
) -> ShownDocument:
    links: Links = {line: {origin} for line, origin in enumerate(origins) if origin is not None}
    return ShownDocument(name, kind, "machine", [shortened(line) for line in lines], links)


LARGEST_SOURCE = 1 << 20
"""Characters; of a larger file only the lines are shown that operations come from."""


def links_to_text(
    module: ModuleOp,
    lines: Mapping[Operation, int],
    file_name: str,
    places: Mapping[Operation, LocationAttr],
) -> Links:
    """For the line of each operation that of the text where it stands."""
    links: Links = {}
    for op in operations_in(module):
        place = place_of(places.get(op, op.location))
        if place is not None and place[0] == file_name and place[1]:
            links.setdefault(lines[op], set()).add(place[1] - 1)
    return links


def source_document(
    module: ModuleOp, lines: Mapping[Operation, int], links: Links, file_name: str
) -> tuple[ShownDocument, Links] | None:
    """
    The Python that operations come from, and the links of the program's text to it.

    All files are in one document, each under a comment with its name. Of a file that is not there,
    is no Python, or is large, it has the lines that are known, with what comes from them. None
    where operations name no other file than the program's.
    """
    frames = StackFrames.of(module)
    origins: dict[int, dict[SourceOperation, None]] = {}
    for op in operations_in(module):
        found = [
            each
            for each in source_operations(named_location(op, frames))
            if each.file not in ("", file_name) and each.line
        ]
        for line in links.get(lines[op], ()):
            origins.setdefault(line, {}).update(dict.fromkeys(found))
    wanted: dict[str, dict[int, dict[str, None]]] = {}
    for each in (each for operations in origins.values() for each in operations):
        wanted.setdefault(each.file, {}).setdefault(each.line, {})[each.name] = None
    if not wanted:
        return None
    text: list[str] = []
    numbers: list[int] = []
    place: dict[tuple[str, int], int] = {}
    for file, named in sorted(wanted.items()):
        lines_of_file = _python(file, max(named)) or {
            line: "  ".join(names) for line, names in sorted(named.items())
        }
        text.append(f"# {file}")
        numbers.append(0)
        place |= {(file, line): len(text) + n for n, line in enumerate(lines_of_file)}
        text += lines_of_file.values()
        numbers += lines_of_file
    found_links = {
        line: {place[each.file, each.line] for each in operations}
        for line, operations in origins.items()
    }
    shown = [shortened(line) for line in text]
    return ShownDocument("Python", "python", "source", shown, numbers=numbers), found_links


def _python(file: str, last_line: int) -> dict[int, str]:
    """
    The lines of a file, a cell of a notebook too, by number; none if it is no Python, large, or has
    fewer: a program may name any file.
    """
    linecache.checkcache(file)
    lines = linecache.getlines(file) if file.endswith(".py") else []
    if len(lines) < last_line or sum(map(len, lines)) > LARGEST_SOURCE:
        return {}
    return {number: line.rstrip("\n") for number, line in enumerate(lines, 1)}


def kernel_rows(profile: str, lines: Mapping[Operation, int]) -> list[dict[str, Any]]:
    """
    The kernels of a profile, each with the line of its function and its share of the time; loops
    outside of kernels have no line. Raises XlaError for a file that is no profile of the program.
    """
    functions = {op.sym_name.data: line for op, line in lines.items() if isinstance(op, FuncOp)}
    try:
        rows = [
            kernel | {"line": functions.get(kernel["name"]), "share": kernel["seconds"] / of}
            for found in json.loads(read_text(profile)).values()
            for of in [found["seconds"]]
            for kernel in found["kernels"]
        ]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise XlaError(f"{profile}: error: no profile of xla-run --profile-json") from error
    if all(row["line"] is None for row in rows):
        raise XlaError(
            f"{profile}: error: the program has none of the kernels of this profile; "
            "compile the same program, with -p native"
        )
    return rows


@dataclass
class Exploration:
    """A run of passes over one program, and the page about it."""

    passes: Sequence[PipelinePass]
    file_name: str
    text: ProgramText
    """Of one in bytes no line is shown."""
    input_format: InputFormat
    places: dict[Operation, LocationAttr] = field(default_factory=dict[Operation, LocationAttr])
    """Filled by the reader of the program."""
    profile: str | None = None
    """The file of `xla-run --profile-json` with the times of the kernels."""

    def __post_init__(self) -> None:
        self.recording = Recording(self.passes)
        self._before: list[ShownDocument] = []

    def start(self, module: ModuleOp) -> Recording:
        """Takes the program as it was read; what records its passes."""
        lines = self.recording.start(module, "as read", "xla")
        links = links_to_text(module, lines, self.file_name, self.places)
        shown = self.text if isinstance(self.text, str) else ""
        kind = "hlo" if self.input_format == "hlo" else "mlir"
        lines_shown = [shortened(line) for line in shown.splitlines()]
        own = ShownDocument(self.file_name, kind, "input", lines_shown)
        source = source_document(module, lines, links, self.file_name)
        self.recording.documents[0].links = links
        if source is not None:
            document, own.links = source
            self._before.append(document)
        self._before.append(own)
        return self.recording

    def page(self, module: ModuleOp, manager: PassManager, target: Target | None = None) -> str:
        """
        The page, with LLVM IR and assembly if the module is at the level that they are made of: for
        the machine of a target if it has one, else for this one.
        """
        states = self.recording.documents
        machine: Machine = getattr(target, "machine", None) or host()
        documents = [*self._before, *states]
        views = self.recording.views.as_json(len(self._before))
        if manager.done == len(self.passes):
            if self.profile is not None:
                rows = kernel_rows(self.profile, self.recording.lines)
                views["profile"] = {"document": len(documents) - 1, "rows": rows}
            with suppress(EmissionError):
                documents += machine_code_documents(module, self.recording.lines, machine)
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
