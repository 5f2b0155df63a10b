"""The pass `xla-attach-target`, and the targets of machines."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from lowerings.ir.target import Target
from lowerings.rewriting.levels import EVERY_LEVEL
from lowerings.targets.llvm.machine import Machine


@dataclass(frozen=True)
class XlaAttachTargetPass(ModulePass, Target):
    """
    Says in the module for which processor the passes behind it plan: what its vectors are, and what
    it does in one instruction.

    `native{target=...}` begins with it, with what the machine has.

    ```mlir
    builtin.module { ... }
    ```
    ->
    ```mlir
    builtin.module attributes {dlti.target_system_spec = #dlti.target_system_spec<
        "CPU" = #dlti.target_device_spec<"vector_bits" = 256 : i64, ...>>} { ... }
    ```
    """

    name = "xla-attach-target"
    takes = EVERY_LEVEL

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        Target(**asdict(self)).attach(op)


def target_of(machine: Machine, *, flush_subnormals: bool = False) -> Target:
    """What passes may count on; with `flush_subnormals`, subnormal numbers may be zero."""
    return Target(
        machine.vector_bits,
        machine.multiplies_pairs,
        machine.multiplies_quads,
        machine.multiplies_bfloats,
        flush_subnormals,
        machine.estimates_roots,
    )


def attaching(machine: Machine) -> XlaAttachTargetPass:
    """The pass for a machine."""
    return XlaAttachTargetPass(**asdict(target_of(machine)))
