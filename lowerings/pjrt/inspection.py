"""What a compiled program has become: its levels, its HLO, its costs, and dumps of these."""

from __future__ import annotations

import itertools
from io import StringIO
from pathlib import Path
from typing import Any, Protocol

from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.target import Target

from lowerings.backends import DUMP
from lowerings.driver.context import make_context
from lowerings.driver.pass_manager import PassManager, parse_passes
from lowerings.execution.runnable import PartitionedProgram, Runnable
from lowerings.executors import ALL_LEVELS, SOURCE_LEVEL, level_of_name, text_at
from lowerings.ir.functions import defined_functions
from lowerings.partitioning.costs import costs_of
from lowerings.pjrt.c_api import ErrorCode
from lowerings.pjrt.compiling import parsed, partitioned
from lowerings.pjrt.functions import PluginError
from lowerings.pjrt.program_text import CompileOptions, ProgramText
from lowerings.pjrt.programs import LOADED
from lowerings.targets.hlo import HloTarget
from xla_dialect.binary import write_hlo_module
from xla_dialect.devices.replica_groups import ListedGroups, ReplicaGroupsAttr
from xla_dialect.diagnostics import XlaError
from xla_dialect.entry import ENTRY_SYMBOL
from xla_dialect.ops.collectives import GroupedOp
from xla_dialect.xdsl.traversal import operations_in

_HLO = "xla-inline,xla-flatten-tuples,xla-expand-manual-computations,xla-simplify"
"""The passes to what is shown as HLO: the program of one device, without what only takes room."""

_dumps = itertools.count()


class Inspected(Protocol):
    """A program that was compiled."""

    @property
    def name(self) -> str: ...
    @property
    def text(self) -> ProgramText: ...
    @property
    def options(self) -> CompileOptions: ...
    @property
    def program(self) -> Runnable: ...


def module_of(compiled: Inspected, *, outlined: bool = False) -> ModuleOp:
    """
    The program of one device at the xla level, with the user's passes, made anew; `outlined` as
    for `parsed`.
    """
    if _is_divided(compiled):
        return partitioned(compiled.text, compiled.options, outlined=outlined)
    return parsed(compiled.text, compiled.options, outlined=outlined)


def _is_divided(compiled: Inspected) -> bool:
    return compiled.options.device_count > 1 and isinstance(compiled.program, PartitionedProgram)


def level_text(compiled: Inspected, level: str) -> str:
    """The program at a level, or for a target; raises XlaError for others."""
    level = level_of_name(level)
    if level == SOURCE_LEVEL:
        return compiled.text.complete
    return text_at(module_of(compiled, outlined=True), level, compiled.options.compilation())


def text_of(compiled: Any, level: str) -> str:
    """
    What `jax.jit(f).lower(...).compile()` returns, as text at a level: one of `ALL_LEVELS`, or of a
    dialect such as `linalg`. Raises XlaError for other levels, and for programs of other devices.
    """
    fingerprint = compiled.runtime_executable().fingerprint
    for loaded in LOADED.values():
        if loaded.compiled.fingerprint.encode() == fingerprint:
            return level_text(loaded.compiled, level)
    raise XlaError("the program was not compiled for our devices")


def hlo_module(compiled: Inspected) -> ModuleOp:
    """The program of one device as it is shown to those who ask for HLO."""
    module = module_of(compiled)
    manager = PassManager(make_context(), verify_each=False)
    manager.run(module, parse_passes(_HLO))
    for op in operations_in(module):
        if isinstance(op, GroupedOp):  # XLA does not know groups by axes of a mesh.
            op.replica_groups = ReplicaGroupsAttr(ListedGroups(op.groups.expand()))
    return module


def _printed(module: ModuleOp, target: Target) -> str:
    output = StringIO()
    target.emit(make_context(), module, output)
    return output.getvalue()


def hlo_proto(compiled: Inspected) -> bytes:
    """The program of one device as an HloModuleProtoWithConfig."""
    return write_hlo_module(hlo_module(compiled), with_config=True)


def costs(compiled: Inspected) -> dict[str, float]:
    """What one device does in a call, as `costs_of` counts it."""
    defined = defined_functions(hlo_module(compiled))
    blocks = {function.sym_name.data: function.body.block for function in defined}
    return costs_of(blocks[ENTRY_SYMBOL], blocks)


def dump(compiled: Inspected, folder: str) -> None:
    """Writes what `xla_dump_to` asks for, under XLA's names; raises PluginError."""
    prefix = f"module_{next(_dumps):04}.{compiled.name}.cpu"
    files = {
        f"{prefix}_after_optimizations.txt": _printed(hlo_module(compiled), HloTarget()).encode()
    }
    if compiled.options.named.get("xla_dump_hlo_as_proto"):
        files[f"{prefix}_after_optimizations.hlo.pb"] = write_hlo_module(hlo_module(compiled))
    for level in ALL_LEVELS:
        files[f"{prefix}.{level}.{_ENDINGS.get(level, 'mlir')}"] = level_text(
            compiled, level
        ).encode()
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            Path(folder, name).write_bytes(content)
    except OSError as error:
        raise PluginError(
            ErrorCode.INVALID_ARGUMENT, f"{DUMP}: {folder}: {error.strerror}"
        ) from error


_ENDINGS = {"llvm": "ll", "x86-asm": "s"}
