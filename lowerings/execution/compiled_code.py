"""What the compiler makes of a program, for this process and others, to which it is pickled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lowerings.execution.signature import Signature
from lowerings.targets.llvm.interface import ExternalConstant, ModuleGuards

if TYPE_CHECKING:
    from lowerings.targets.llvm.profiling import ModuleProfile


@dataclass(frozen=True)
class CompiledCode:
    """Object code of a program, and what it takes to load and call it."""

    objects: tuple[bytes, ...]
    """Object code, in parts that are linked together."""
    entry: str
    signature: Signature
    """For callers."""
    arena_size: int | None
    constants: tuple[ExternalConstant, ...]
    guards: ModuleGuards | None
    has_tasks: bool
    """Whether loops may run on several threads."""
    profile: ModuleProfile | None = None
    """Where it keeps the time that its parts take."""
    outside: str = ""
    """What it calls: MLIR with the declarations of functions; empty where there are none."""
    process_counts: tuple[int, int] = (1, 1)
    """How many replicas, and partitions of each, it is for."""
