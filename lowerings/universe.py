"""What the toolkit offers to every xDSL tool: its dialects, passes and targets, loaded on use.

Adding a pass or a target is one row here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

from xdsl.universe import Universe


def _lazy(place: str) -> Callable[[], Any]:
    """Loads `module:name` when it is asked for: start-up stays quick."""
    module, name = place.split(":")
    return lambda: getattr(import_module(module), name)


_DIALECTS = {
    "xla": "xla_dialect.dialect:XLA",
    "stablehlo": "xla_dialect.stablehlo:STABLEHLO",
    "chlo": "xla_dialect.stablehlo:CHLO",
    "check": "xla_dialect.self_checking.check:CHECK",
    "interpreter": "xla_dialect.self_checking.interpreter:INTERPRETER",
}

_PASSES = {
    "convert-stablehlo-to-xla": "lowerings.expand.stablehlo:ConvertStablehloToXlaPass",
    "xla-inline": "lowerings.simplify.inline:XlaInlinePass",
    "xla-flatten-tuples": "lowerings.simplify.flatten_tuples:XlaFlattenTuplesPass",
    "xla-expand-communication": (
        "lowerings.communication.expand_communication:XlaExpandCommunicationPass"
    ),
    "xla-simplify": "lowerings.simplify.simplify:XlaSimplifyPass",
    "xla-expand-bitcast": "lowerings.expand.bitcast:XlaExpandBitcastPass",
    "xla-expand-compound": "lowerings.expand.compound:XlaExpandCompoundPass",
    "xla-expand-dynamic-dimensions": (
        "lowerings.expand.dynamic_dimensions.expand_dynamic_dimensions"
        ":XlaExpandDynamicDimensionsPass"
    ),
    "xla-assign-layouts": "lowerings.layouts.assign_layouts:XlaAssignLayoutsPass",
    "xla-expand-layouts": "lowerings.layouts.expand_layouts:XlaExpandLayoutsPass",
    "convert-xla-to-scf": "lowerings.xla_to_scf:ConvertXlaToScfPass",
    "convert-xla-to-linalg": "lowerings.xla_to_linalg:ConvertXlaToLinalgPass",
    "linalg-fuse-elementwise-ops": (
        "lowerings.tensors.fuse_elementwise_ops:LinalgFuseElementwiseOpsPass"
    ),
    "expand-small-floats": "lowerings.loops.expand_small_floats:ExpandSmallFloatsPass",
    "xla-bufferize": "lowerings.bufferize.bufferize:XlaBufferizePass",
    "xla-plan-buffers": "lowerings.bufferize.plan_buffers:XlaPlanBuffersPass",
    "xla-outline-kernels": "lowerings.bufferize.outline_kernels:XlaOutlineKernelsPass",
    "convert-linalg-to-vector-loops": (
        "lowerings.loops.convert_linalg_to_loops:ConvertLinalgToLoops"
    ),
    "expand-math": "lowerings.loops.expand_math:ExpandMathPass",
}

_TARGETS = {
    "hlo": "lowerings.targets.hlo:HloTarget",
    "stablehlo": "lowerings.targets.stablehlo:StableHloTarget",
    "xla-llvm": "lowerings.targets.llvm:XlaLLVMTarget",
    "xla-x86-asm": "lowerings.targets.llvm:XlaX86AssemblyTarget",
    "xla-riscv-asm": "lowerings.targets.llvm:XlaRiscvAssemblyTarget",
    "x86-object": "lowerings.targets.llvm:X86ObjectTarget",
    "riscv-object": "lowerings.targets.llvm:RiscvObjectTarget",
}

_REPLACED_DIALECTS = {
    "arith": "xla_dialect.xdsl.arith_extension:ARITH",
    "linalg": "xla_dialect.xdsl.linalg_extension:LINALG",
    "vector": "xla_dialect.xdsl.vector_extension:VECTOR",
}
_REPLACED_TARGETS = {
    "llvm": "lowerings.targets.llvm:LLVMTarget",
    "x86-asm": "lowerings.targets.llvm:X86AssemblyTarget",
    "riscv-asm": "lowerings.targets.llvm:RiscvAssemblyTarget",
}
"""What stands in for xDSL's own of the same name in our tools. A second universe cannot hold the
name, so stock `xdsl-opt` keeps xDSL's."""

UNIVERSE = Universe(
    all_dialects={name: _lazy(place) for name, place in _DIALECTS.items()},
    all_passes={name: _lazy(place) for name, place in _PASSES.items()},
    all_targets={name: _lazy(place) for name, place in _TARGETS.items()},
)
"""The entry point `xdsl.universe`: what stock xDSL tools see of us."""


@cache
def toolkit_universe() -> Universe:
    """Everything that our own tools know: xDSL's, ours, and that of other installed packages."""
    found = Universe.get_multiverse()
    ours = UNIVERSE
    return Universe(
        all_dialects=found.all_dialects
        | ours.all_dialects
        | {name: _lazy(place) for name, place in _REPLACED_DIALECTS.items()},
        all_passes=found.all_passes | ours.all_passes,
        all_targets=found.all_targets
        | {name: _lazy(place) for name, place in _REPLACED_TARGETS.items()},
    )
