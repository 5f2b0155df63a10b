"""
Every operation has a FileCheck test at every step that reads, writes or replaces it.

Which steps an operation has is read off the tables that the steps work with; what a test covers, off
its RUN lines, its input and its CHECK lines. That verifier errors are complete is the matter of
`test/dialect/test_rules_are_broken.py`.
"""

import re
import shlex
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from lowerings.communication.xla_expand_communication import CONVERSIONS
from lowerings.driver.program import parse_program
from lowerings.expand.dynamic_dimension_rules import SIZE_RULES
from lowerings.rewriting.conversion import ConversionPass
from lowerings.universe import UNIVERSE
from tools.expected_diagnostics import expectations
from tools.input_text import split_chunks
from tools.repository.docs import STABLEHLO_NAMES, is_in_stablehlo
from tools.update_checks import RunLine, runs_of
from xla_dialect.diagnostics import XlaError
from xla_dialect.hlo_text.opcodes import OPCODES
from xla_dialect.op import XlaOp
from xla_dialect.ops import BY_OPCODE, OPERATIONS, opcode
from xla_dialect.ops.asynchronous import (
    AsyncDoneOp,
    AsyncStartOp,
    AsyncUpdateOp,
    CopyDoneOp,
    CopyStartOp,
)
from xla_dialect.ops.collectives import RaggedAllToAllOp
from xla_dialect.ops.control_flow import CallOp, ConditionalOp, DomainOp, FusionOp
from xla_dialect.ops.data_movement import BitcastOp, CopyOp
from xla_dialect.ops.transfers import AddDependencyOp
from xla_dialect.ops.tuples import GetTupleElementOp, TupleOp
from xla_dialect.stablehlo.legalize.patterns import has_stablehlo

ROOT = Path(__file__).parent
OUTSIDE = {"programs", "run"}

WITHOUT_TABLE: Mapping[str, frozenset[type[XlaOp]]] = {
    "xla-expand-communication": frozenset(op for op in OPERATIONS if op in CONVERSIONS),
    "xla-expand-dynamic-dimensions": frozenset(op for op in OPERATIONS if op in SIZE_RULES),
    "xla-inline": frozenset({CallOp, FusionOp}),
    "xla-flatten-tuples": frozenset({TupleOp, GetTupleElementOp}),
}
"""What the passes replace that are no `ConversionPass`."""

WRITTEN_OTHERWISE: Mapping[type[XlaOp], str] = {
    AddDependencyOp: r"stablehlo\.optimization_barrier",
    BitcastOp: r"stablehlo\.(reshape|bitcast_convert)",
    CallOp: r"call @",
    ConditionalOp: r"stablehlo\.(case|if)",
    RaggedAllToAllOp: r"stablehlo\.custom_call @ragged_all_to_all",
    # Their operands, or what their computations have, stand in their place.
    **dict.fromkeys((CopyOp, CopyStartOp, CopyDoneOp, DomainOp), "return %"),
    **dict.fromkeys((TupleOp, GetTupleElementOp, FusionOp), "return %"),
    **dict.fromkeys((AsyncStartOp, AsyncUpdateOp, AsyncDoneOp), r"stablehlo\.negate"),
}
"""What StableHLO has for operations that it has no operation of the same name for."""


@dataclass(frozen=True)
class Part:
    """The operations in one function of a test, and the CHECK lines about it under one prefix."""

    operations: frozenset[str]
    checks: str


@dataclass(frozen=True)
class FileCheckRun:
    """What one RUN line of one file does with its input."""

    path: Path
    arguments: tuple[str, ...]
    parts: tuple[Part, ...]

    @cached_property
    def target(self) -> str | None:
        """What follows `-t`, without options."""
        return self._after("-t").partition("{")[0] or None

    @cached_property
    def passes(self) -> list[str]:
        """The names of what follows `-p`, without options."""
        return re.findall(r"[\w-]+(?=,|$)", re.sub(r"\{[^}]*\}", "", self._after("-p")))

    @cached_property
    def is_stablehlo(self) -> bool:
        return "stablehlo." in self.path.read_text(encoding="utf-8") and self.path.suffix == ".mlir"

    def _after(self, option: str) -> str:
        where = [i for i, word in enumerate(self.arguments) if word == option]
        return self.arguments[where[0] + 1] if where else ""


@cache
def replaced() -> Mapping[str, frozenset[type[XlaOp]]]:
    """The operations that each pass replaces by others, by the name of the pass."""
    found = dict(WITHOUT_TABLE)
    for name, load in UNIVERSE.all_passes.items():
        loaded = load()
        if issubclass(loaded, ConversionPass):
            conversions = loaded().conversions_in(ModuleOp([]))
            operations = frozenset(op for op in OPERATIONS if op in conversions)
            if operations:
                found[name] = operations
    return found


@cache
def filecheck_runs() -> tuple[FileCheckRun, ...]:
    """All RUN lines of xla-opt on the file itself that a FileCheck looks at."""
    paths = [path for path in ROOT.rglob("*") if path.suffix in (".mlir", ".hlo")]
    inside = [path for path in sorted(paths) if path.parent.name not in OUTSIDE]
    return tuple(run for path in inside for run in _runs_of(path))


def _runs_of(path: Path) -> Iterator[FileCheckRun]:
    text = path.read_text(encoding="utf-8")
    try:
        runs = runs_of(text.split("\n"), path)
    except XlaError:  # none ends in FileCheck
        return
    chunks = list(_chunks(text, path))
    for run in runs:
        words = shlex.split(run.command.partition("|")[0].removeprefix("not "))
        if words[:2] == ["xla-opt", str(path)]:
            parts = [part for chunk in chunks for part in _parts(*chunk, run)]
            yield FileCheckRun(path, tuple(words[2:]), tuple(parts))


def _chunks(text: str, path: Path) -> Iterator[tuple[str, ModuleOp]]:
    """The programs of a file that can be read."""
    for chunk in split_chunks(text):
        if not chunk.is_blank and not expectations(chunk.shown):
            with suppress(XlaError):  # what the test is about
                yield chunk.shown, parse_program(chunk.text, path.name)


def _parts(text: str, module: ModuleOp, run: RunLine) -> Iterator[Part]:
    """The functions of a program with the CHECK lines from their label to the next."""
    functions = [op for op in module.walk() if isinstance(op, FuncOp)]
    for prefix in run.prefixes:
        directive = rf"^\s*//\s*{prefix}(?:-[A-Z]+)?(?:-\d+)?:"
        lines = [line for line in text.split("\n") if re.match(directive, line)]
        whole = "\n".join(lines)
        blocks = re.split(rf"(?m)^(?=\s*//\s*{prefix}-LABEL:)", whole)
        for function in functions:
            name = re.escape(function.sym_name.data)
            labelled = [block for block in blocks if re.match(rf".*-LABEL:.*@{name}\b", block)]
            checks = "".join(block.partition("\n")[2] for block in labelled)
            if not re.search("-LABEL:.*@", whole):
                checks = whole  # those of a program as a whole, or of computations of HLO text
            if checks:
                yield Part(frozenset(op.name for op in function.walk()), checks)


@dataclass(frozen=True)
class Step:
    """Something that is done with operations."""

    name: str
    operations: Collection[type[XlaOp]]
    """Those that it is done with."""
    is_done_by: Callable[[FileCheckRun], bool]
    mentioned: Callable[[type[XlaOp]], str] = lambda op: ""
    """What is found in CHECK lines about an operation, as a regular expression."""

    def lacking(self) -> list[str]:
        """The operations without a test."""
        parts = [part for run in filecheck_runs() if self.is_done_by(run) for part in run.parts]
        return [
            op.name
            for op in self.operations
            if not any(
                op.name in part.operations and re.search(self.mentioned(op), part.checks)
                for part in parts
            )
        ]


def is_read_only(run: FileCheckRun) -> bool:
    return not run.passes and run.target is None


def as_stablehlo(op: type[XlaOp]) -> str:
    """What StableHLO calls an operation; both halves of one in flight are the whole."""
    whole = opcode(op).removesuffix("-start").removesuffix("-done")
    name = STABLEHLO_NAMES.get(whole) or f"stablehlo.{whole.replace('-', '_')}"
    return WRITTEN_OTHERWISE.get(op, rf"(stablehlo|chlo)\.{name.partition('.')[2]}\b")


IN_HLO = [op for opcode, op in BY_OPCODE.items() if opcode in OPCODES]

STEPS = (
    Step(
        "HLO text in",
        IN_HLO,
        lambda run: run.path.suffix == ".hlo" and is_read_only(run),
        lambda op: rf"{re.escape(op.name)}\b",
    ),
    Step(
        "HLO text out",
        IN_HLO,
        lambda run: run.target == "hlo",
        # An asynchronous computation of one instruction is written as `negate-start`.
        lambda op: rf" ({opcode(op)}|\S+{opcode(op).removeprefix('async')})\(",
    ),
    Step(
        "StableHLO in",
        [op for op in BY_OPCODE.values() if is_in_stablehlo(op)],
        lambda run: run.is_stablehlo and is_read_only(run),
        lambda op: rf"{re.escape(op.name)}\b",
    ),
    Step(
        "StableHLO out",
        [op for op in BY_OPCODE.values() if has_stablehlo(op)],
        lambda run: run.target == "stablehlo",
        as_stablehlo,
    ),
    *(
        Step(name, operations, lambda run, name=name: name in run.passes)
        for name, operations in sorted(replaced().items())
    ),
)


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)
def test_every_operation_has_a_test_at_this_step(step: Step) -> None:
    assert step.operations
    assert step.lacking() == []
