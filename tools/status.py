"""How far each operation has come: derived from the tables that do the work."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

from xdsl.dialects.builtin import ModuleOp
from xdsl.interpreter import Interpreter
from xdsl.ir import Operation

from lowerings.communication.xla_expand_communication import CONVERSIONS
from lowerings.expand.dynamic_dimension_rules import SIZE_RULES
from lowerings.expand.xla_expand_bitcast import XlaExpandBitcastPass
from lowerings.expand.xla_expand_compound import XlaExpandCompoundPass
from lowerings.xla_to_linalg import ConvertXlaToLinalgPass
from lowerings.xla_to_scf import ConvertXlaToScfPass
from xla_dialect.hlo_text.opcodes import OPCODES
from xla_dialect.op import XlaOp
from xla_dialect.ops import BY_OPCODE
from xla_dialect.reference import register_reference
from xla_dialect.stablehlo.legalize.patterns import has_stablehlo
from xla_dialect.stablehlo.reader import CHLO, STABLEHLO

NOT_OPERATIONS: Mapping[str, str] = {
    "parameter": "an argument of its computation: a block argument in MLIR",
}
"""The opcodes of HLO that are no operation of the dialect, with the reason."""

STABLEHLO_NAMES: Mapping[str, str | None] = {
    "broadcast": "stablehlo.broadcast_in_dim",
    "call": None,
    "conditional": "stablehlo.case",
    "dot": "stablehlo.dot_general",
    "opt-barrier": "stablehlo.optimization_barrier",
    "topk": "chlo.top_k",
}
"""What StableHLO or CHLO call an opcode where it is not `stablehlo.<opcode>` or `chlo.<opcode>`;
None where `func` has it."""


@dataclass(frozen=True)
class Aspect:
    """One column of the status table."""

    title: str
    holds: Callable[[type[XlaOp]], bool]


@cache
def interpreted_operations() -> frozenset[type[Operation]]:
    """The operations that the reference has functions for."""
    interpreter = Interpreter(ModuleOp([]))
    register_reference(interpreter)
    return frozenset(interpreter._impls._impl_dict)


@cache
def lowered_operations() -> frozenset[type[Operation]]:
    """The operations that a conversion of the native pipeline takes."""
    passes = (
        XlaExpandCompoundPass,
        XlaExpandBitcastPass,
        ConvertXlaToScfPass,
        ConvertXlaToLinalgPass,
    )
    found = (op for each in passes for op in each().conversions_in(ModuleOp([])))
    return frozenset((*found, *SIZE_RULES, *CONVERSIONS))


def opcode_of(operation: type[XlaOp]) -> str:
    """The HLO opcode of an operation of the dialect."""
    return next(opcode for opcode, each in BY_OPCODE.items() if each is operation)


_READ = frozenset(op.name for op in (*STABLEHLO.operations, *CHLO.operations))
"""The operations of StableHLO and CHLO that are read."""


def is_in_stablehlo(operation: type[XlaOp]) -> bool:
    """Whether the StableHLO reader makes this operation."""
    opcode = opcode_of(operation)
    if opcode in STABLEHLO_NAMES:
        name = STABLEHLO_NAMES[opcode]
        return name is None or name in _READ
    name = opcode.replace("-", "_")
    return f"stablehlo.{name}" in _READ or f"chlo.{name}" in _READ


ASPECTS: tuple[Aspect, ...] = (
    Aspect("inferred", lambda op: not op.contract().takes_declared),
    Aspect("interpreted", lambda op: op in interpreted_operations()),
    Aspect("lowered", lambda op: op in lowered_operations()),
    Aspect("HLO text", lambda op: opcode_of(op) in OPCODES),
    Aspect("StableHLO in", is_in_stablehlo),
    Aspect("StableHLO out", has_stablehlo),
)
"""The columns of the status table, after the opcode itself."""
