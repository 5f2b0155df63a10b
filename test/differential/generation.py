"""A random program of a seed."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from differential import control, elements, folds, movement
from differential.draft import MAX_ELEMENTS, MAX_RANK, Array, Draft, NoOperandError
from differential.elements import Step
from differential.rewriting import return_all
from xla_dialect.builder import XlaValue

TYPES = (
    *("pred", "s4", "u4", "s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64"),
    *("f8e5m2", "f8e4m3fn", "f8e4m3b11fnuz", "f8e5m2fnuz", "f8e4m3fnuz"),
    *("bf16", "f16", "f32", "f64", "c64", "c128"),
)
"""The element types that JAX offers on the CPU, but those of 2 bits and below 8 bits of float."""
OWN_TYPES = (*TYPES, "f8e4m3", "f8e3m4")
"""Those and the floats that JAX does not compute with."""
FAMILIES: tuple[Sequence[Step], ...] = (
    elements.STEPS,
    movement.STEPS,
    folds.STEPS,
    control.STEPS,
)
WEIGHTS = (4, 3, 3, 1)


@dataclass(frozen=True)
class RandomProgram:
    """A module whose function returns arrays that it computes, and arguments for it."""

    seed: int
    module: ModuleOp
    arguments: list[Array]
    steps: frozenset[Step] = frozenset()
    """What it was made by."""


def generate(seed: int, types: Sequence[str] = TYPES, *, returns_all: bool = True) -> RandomProgram:
    """
    5 to 40 operations on arrays of a few element types; the same for the same seed.

    Without `returns_all` its function returns what comes last and up to three others, so that most
    arrays are there for one operation only.
    """
    draft = Draft(seed, types)
    few = draft.shuffled(types)[: draft.integer(2, 5)]
    for name in (*few, draft.choose([n for n in ("f32", "s32") if n in types])):
        draft.parameter(name, draft.sizes(0 if draft.chance(0.2) else 1))
    draft.names = few
    wanted = round(5 * 7 ** draft.random.random())  # short ones more often
    steps: set[Step] = set()
    while draft.count() < wanted:
        (family,) = draft.random.choices(FAMILIES, WEIGHTS)
        step = draft.choose(family)
        try:
            made = step(draft)
        except NoOperandError:
            continue
        steps.add(step)
        results = [made] if isinstance(made, XlaValue) else made
        draft.values.extend(filter(_is_small, results))
    some = draft.random.sample(draft.values, draft.integer(0, 3)) if not returns_all else []
    module = draft.b.build([*some, draft.values[-1]])
    if returns_all:
        return_all(module)
    return RandomProgram(seed, module, draft.arguments, frozenset(steps))


def _is_small(value: XlaValue) -> bool:
    return value.rank <= MAX_RANK and math.prod(value.shape) <= MAX_ELEMENTS
