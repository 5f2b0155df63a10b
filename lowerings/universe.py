"""What the toolkit offers to every xDSL tool: its dialects, passes and targets, loaded on use.

Adding a pass or a target is one row here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from xdsl.universe import XDSL_UNIVERSE, Universe

from xla_dialect.extensions import UNIVERSES, ExtensionError, entries, extension_error

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


def _lazy(place: str) -> Callable[[], Any]:
    """Loads `module:name` when it is asked for: start-up stays quick."""
    module, name = place.split(":")
    return lambda: getattr(import_module(module), name)


_DIALECTS = {
    "xla": "xla_dialect.ops:XLA",
    "stablehlo": "xla_dialect.stablehlo:STABLEHLO",
    "chlo": "xla_dialect.stablehlo:CHLO",
    "sdy": "xla_dialect.shardy:SHARDY",
    "quant": "xla_dialect.quantized_types:QUANT",
    "check": "xla_dialect.self_checking:CHECK",
    "schedule": "lowerings.dialects.schedule:SCHEDULE",
    "words": "lowerings.dialects.words:WORDS",
    "interpreter": "xla_dialect.self_checking:INTERPRETER",
    "rv_pseudo": "lowerings.targets.riscv.adaptations:RV_PSEUDO",
}

_PASSES = (
    "lowerings.rewriting.passes_of_files:python",
    "lowerings.rewriting.passes_of_files:pdl",
    "lowerings.expand.stablehlo:convert-stablehlo-to-xla",
    "lowerings.expand.stablehlo_legalize_quant_to_math",
    "lowerings.expand.stablehlo:stablehlo-refine-arguments",
    "lowerings.expand.stablehlo:stablehlo-refine-shapes",
    "lowerings.expand.stablehlo:stablehlo-canonicalize-dynamism",
    "lowerings.expand.stablehlo:stablehlo-check-shape-assertions",
    "lowerings.simplify.lift_cf_to_scf",
    "lowerings.simplify.xla_inline",
    "lowerings.simplify.xla_flatten_tuples",
    "lowerings.communication.xla_expand_communication",
    "lowerings.communication.xla_outline_equal_parts",
    "lowerings.simplify.xla_simplify",
    "lowerings.expand.xla_expand_mixed_precision",
    "lowerings.expand.xla_expand_bitcast",
    "lowerings.expand.xla_expand_compound",
    "lowerings.expand.xla_expand_dynamic_dimensions",
    "lowerings.partitioning.xla_populate_sharding_rules",
    "lowerings.partitioning.xla_import_shardings",
    "lowerings.partitioning.xla_propagate_shardings",
    "lowerings.partitioning.xla_insert_reshards",
    "lowerings.partitioning.xla_split_updates",
    "lowerings.partitioning.xla_reshard_to_collectives",
    "lowerings.partitioning.xla_partition",
    "lowerings.partitioning.xla_combine_collectives",
    "lowerings.partitioning.xla_expand_manual_computations",
    "lowerings.partitioning.xla_report_communication",
    "lowerings.layouts.xla_assign_layouts",
    "lowerings.layouts.xla_expand_layouts",
    "lowerings.xla_to_scf.convert_xla_to_scf",
    "lowerings.xla_to_linalg.convert_xla_to_linalg",
    "lowerings.tensors.linalg_cse",
    "lowerings.tensors.linalg_detensorize",
    "lowerings.tensors.linalg_fold_reshapes_by_expansion",
    "lowerings.tensors.linalg_fold_transposes",
    "lowerings.tensors.linalg_plan_fusion",
    "lowerings.tensors.linalg_tile_and_fuse",
    "lowerings.tensors.linalg_fuse_producers_and_siblings",
    "lowerings.loops.expand_small_floats",
    "lowerings.bufferize.xla_bufferize",
    "lowerings.bufferize.xla_plan_buffers",
    "lowerings.bufferize.xla_outline_kernels",
    "lowerings.profiling.linalg_fuse_locations",
    "lowerings.profiling.xla_annotate_work",
    "lowerings.profiling.xla_name_operations",
    "lowerings.scheduling.xla_plan_schedules",
    "lowerings.loops.convert_linalg_to_vector_loops",
    "lowerings.loops.expand_math",
    "lowerings.ir.target:xla-attach-target",
    "lowerings.targets.riscv.scf_unroll_and_jam",
    "lowerings.targets.riscv.convert_loops_to_rv64",
    "lowerings.targets.riscv.riscv_scf_strength_reduction",
    "lowerings.targets.riscv.adaptations:riscv-repeat-constants",
    "lowerings.targets.riscv.adaptations:riscv-scf-legalize-yields",
    "lowerings.targets.riscv.adaptations:riscv-remove-redundant-moves",
    "lowerings.targets.riscv.adaptations:convert-executed-loops-to-riscv-cf",
    "lowerings.targets.riscv.adaptations:rv-expand-pseudo",
    "lowerings.targets.riscv.adaptations:memref-stream-drop-unused-inputs",
)
"""
A pass has the name of its module or, where a module has several, that behind the colon. So has its
class: `xla_inline`, `XlaInlinePass`.
"""

_TARGETS = {
    "hlo": "lowerings.targets.hlo:HloTarget",
    "hlo-proto": "lowerings.targets.hlo:HloProtoTarget",
    "stablehlo": "lowerings.targets.stablehlo:StableHloTarget",
    "stablehlo-bytecode": "lowerings.targets.stablehlo:StableHloBytecodeTarget",
    "xla-llvm": "lowerings.targets.llvm.target:XlaLLVMTarget",
    "xla-x86-asm": "lowerings.targets.llvm.target:XlaX86AssemblyTarget",
    "xla-riscv-asm": "lowerings.targets.llvm.target:XlaRiscvAssemblyTarget",
    "x86-object": "lowerings.targets.llvm.target:X86ObjectTarget",
    "riscv-object": "lowerings.targets.llvm.target:RiscvObjectTarget",
    "xdsl-riscv-asm": "lowerings.targets.riscv.target:XdslRiscvAssemblyTarget",
}

_REPLACED_DIALECTS = {
    "arith": "lowerings.dialects.arith_extension:ARITH",
    "linalg": "lowerings.dialects.linalg_extension:LINALG",
    "transform": "lowerings.dialects.transform_extension:TRANSFORM",
    "vector": "lowerings.dialects.vector_extension:VECTOR",
}
_REPLACED_PASSES = (
    "lowerings.rewriting.mlir_opt",
    "lowerings.scheduling.transform_interpreter",
)
REPLACED_TARGETS = {
    "llvm": "lowerings.targets.llvm.target:LLVMTarget",
    "x86-asm": "lowerings.targets.llvm.target:X86AssemblyTarget",
    "riscv-asm": "lowerings.targets.llvm.target:RiscvAssemblyTarget",
}
"""What stands in for xDSL's own of the same name in our tools. A second universe cannot hold the
name, so stock `xdsl-opt` keeps xDSL's."""


def _pass_row(place: str) -> tuple[str, Callable[[], Any]]:
    module, _, given = place.partition(":")
    name = given or module.rpartition(".")[2].replace("_", "-")
    class_name = "".join(word.capitalize() for word in name.split("-")) + "Pass"
    return name, _lazy(f"{module}:{class_name}")


UNIVERSE = Universe(
    all_dialects={name: _lazy(place) for name, place in _DIALECTS.items()},
    all_passes=dict(map(_pass_row, _PASSES)),
    all_targets={name: _lazy(place) for name, place in _TARGETS.items()},
)
"""The entry point `xdsl.universe`: what stock xDSL tools see of us."""


OWN = Universe(
    all_dialects=XDSL_UNIVERSE.all_dialects
    | UNIVERSE.all_dialects
    | {name: _lazy(place) for name, place in _REPLACED_DIALECTS.items()},
    all_passes=XDSL_UNIVERSE.all_passes
    | UNIVERSE.all_passes
    | dict(map(_pass_row, _REPLACED_PASSES)),
    all_targets=XDSL_UNIVERSE.all_targets
    | UNIVERSE.all_targets
    | {name: _lazy(place) for name, place in REPLACED_TARGETS.items()},
)
"""
What our own tools know without a look at what else is installed, which takes as long as reading a
small program. No other package can have one of these names.
"""


@cache
def toolkit_universe() -> Universe:
    """
    Everything that our own tools know: xDSL's, ours, and that of other installed packages, but for
    packages that do not load: `unloaded_packages` names them.
    """
    found, _ = _of_packages()
    return Universe(
        all_dialects=OWN.all_dialects | found.all_dialects,
        all_passes=OWN.all_passes | found.all_passes,
        all_targets=OWN.all_targets | found.all_targets,
    )


def unloaded_packages() -> str:
    """
    The packages whose dialects, passes and targets are not known, as the end of a message about
    something that is not: empty, or a line for each.
    """
    _, problems = _of_packages()
    return "".join(f"\nnote: {each}" for each in problems)


@cache
def _of_packages() -> tuple[Universe, tuple[ExtensionError, ...]]:
    """The universes of other packages as one, and the errors of those that are left out."""
    found = Universe(all_dialects={}, all_passes={}, all_targets={})
    problems: list[ExtensionError] = []
    for entry in entries(UNIVERSES):
        try:
            other: object = entry.load()
            if other not in (XDSL_UNIVERSE, UNIVERSE):
                _add(found, other, entry)
        except ExtensionError as error:
            problems.append(error)
        except Exception as error:
            problems.append(extension_error(entry, f"{type(error).__name__}: {error}"))
    return found, tuple(problems)


def _add(found: Universe, other: object, entry: EntryPoint) -> None:
    """Adds what a package offers; raises ExtensionError where names are there already."""
    if not isinstance(other, Universe):
        raise extension_error(entry, f"it is no Universe but a {type(other).__name__}")
    tables: tuple[tuple[dict[str, Any], dict[str, Any], dict[str, Any], str], ...] = (
        (found.all_dialects, other.all_dialects, OWN.all_dialects, "dialect"),
        (found.all_passes, other.all_passes, OWN.all_passes, "pass"),
        (found.all_targets, other.all_targets, OWN.all_targets, "target"),
    )
    for known, added, ours, what in tables:
        if taken := sorted(added.keys() & (known.keys() | ours.keys())):
            raise extension_error(entry, f"there is a {what} '{taken[0]}' already")
    for known, added, _, what in tables:
        known |= {name: _guarded(make, entry, f"{what} '{name}'") for name, make in added.items()}


def _guarded(make: Callable[[], Any], entry: EntryPoint, what: str) -> Callable[[], Any]:
    """What loads an object of another package; it raises ExtensionError where that fails."""

    def load() -> Any:
        try:
            return make()
        except Exception as error:
            raise extension_error(entry, f"{what}: {type(error).__name__}: {error}") from error

    return load
