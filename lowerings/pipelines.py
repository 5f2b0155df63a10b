"""The pipelines: which passes lead from which level to which. The compiler's table of contents.

A stage is one level and the passes that reach it from the level before; every stage can be run by
itself, printed, parsed again and verified.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from lowerings.rewriting.levels import Level


@dataclass(frozen=True)
class Stage:
    """A level of the intermediate representation and the passes that lead to it."""

    level: Level
    passes: tuple[str, ...]
    """Pass specifications as on the command line, e.g. `vectorize{lanes=16}`."""


NATIVE: tuple[Stage, ...] = (
    Stage(
        "xla",
        (
            "stablehlo-legalize-quant-to-math",
            "lift-cf-to-scf",
            "xla-expand-mixed-precision",
            "xla-inline",
            "xla-flatten-tuples",
            "xla-expand-manual-computations",
            "xla-expand-dynamic-dimensions",
            "xla-expand-communication",
            # Whatever is compiled shall be computed by what was compiled, constants too.
            "xla-simplify{max_constant_bytes=0}",
            "xla-expand-compound",
            "xla-expand-bitcast",
            "xla-assign-layouts",
        ),
    ),
    Stage(
        "tensors",
        (
            "xla-expand-layouts",
            "convert-xla-to-scf",
            "convert-xla-to-linalg",
            "linalg-cse",
            "linalg-detensorize",
            "linalg-fold-reshapes-by-expansion",
            "linalg-fold-transposes",
            "linalg-fuse-producers-and-siblings",
            "linalg-tile-and-fuse",
        ),
    ),
    Stage(
        "buffers", ("lift-cf-to-scf", "xla-bufferize", "xla-outline-kernels", "xla-plan-buffers")
    ),
    Stage("schedules", ("xla-plan-schedules",)),
    Stage("loops", ("convert-linalg-to-vector-loops", "expand-small-floats", "expand-math")),
)
"""From a program in the xla dialect to the loops that the LLVM target prints."""

PLAIN: tuple[Stage, ...] = (
    *NATIVE[:2],
    Stage("buffers", ("lift-cf-to-scf", "xla-bufferize")),
    Stage(
        "schedules",
        (
            "xla-plan-schedules{vector_bits=0 register_tiles=false parallel_microseconds=-1 "
            "collapse=false}",
        ),
    ),
    NATIVE[-1],
)
"""
The same for code generators of others: loops over scalars in the function itself, and memory that
is allocated where it is needed; no arena, no outlined kernels, no views that collapse dimensions.
"""

PARTITIONING: tuple[str, ...] = (
    "xla-expand-mixed-precision",
    "xla-inline{everything=true}",
    "xla-flatten-tuples",
    "xla-import-shardings",
    # A broadcast that adds a size of 1 is a reshape, through which propagation goes first.
    "xla-simplify{max_constant_bytes=0}",
    "xla-propagate-shardings",
    "xla-insert-reshards",
    "xla-split-updates",
    "xla-reshard-to-collectives",
    "xla-outline-equal-parts{inlined_calls=true}",
    "xla-partition",
    "xla-combine-collectives",
)
"""From a program that says how its arrays are split to that of one device."""

PROPAGATION = "xla-propagate-shardings"
"""The pass after which all arrays have shardings."""

TO_ONE_DEVICE = "xla-partition"
"""The pass after which a program takes and returns the parts of one device."""

PROFILE = {"tensors": "linalg-fuse-locations", "buffers": "xla-annotate-work"}
"""The last passes of levels where kernels are to be profiled; `xla-name-operations` comes first."""

PIPELINES: dict[str, tuple[Stage, ...]] = {"native": NATIVE, "plain": PLAIN}
"""By name, as `-p native` takes them."""

LEVELS: tuple[Level, ...] = tuple(stage.level for stage in NATIVE)
"""The levels in lowering order."""


def with_profile(stages: tuple[Stage, ...]) -> tuple[Stage, ...]:
    """A pipeline with the passes that annotate what profiles say of kernels."""
    return tuple(
        replace(stage, passes=(*stage.passes, PROFILE[stage.level]))
        if stage.level in PROFILE
        else stage
        for stage in stages
    )


def stages_between(
    stages: tuple[Stage, ...], after: str | None = None, to: str | None = None
) -> tuple[Stage, ...]:
    """The stages of a pipeline: those after a level and up to another, where such are given."""
    names = [stage.level for stage in stages]
    first = names.index(after) + 1 if after in names else 0
    last = names.index(to) + 1 if to in names else len(names)
    return stages[first:last]


def pass_specs(stages: tuple[Stage, ...], level: str | None = None) -> tuple[str, ...]:
    """The pass specifications of a pipeline, up to and including a level if given."""
    return tuple(spec for stage in stages_between(stages, to=level) for spec in stage.passes)
