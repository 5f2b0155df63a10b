"""
Programs of JAX for all tests that need some, each with its arguments.

`PROGRAMS` are small, quick to compile, and together use most of HLO. `LIBRARY` goes through JAX's
own library. `MODELS` need flax and optax.
"""

from collections.abc import Mapping

from peers import has_flax, has_jax

from jax_programs import (
    arrays,
    devices,
    element_types,
    linear_algebra,
    models,
    most_of_hlo,
    numbers,
    transformations,
)
from jax_programs.program import Bound, JaxProgram

_LIBRARY = (numbers, arrays, linear_algebra, transformations, element_types, devices)

PROGRAMS: Mapping[str, JaxProgram] = most_of_hlo.programs() if has_jax() else {}
LIBRARY: Mapping[str, JaxProgram] = (
    {name: program for group in _LIBRARY for name, program in group.programs().items()}
    if has_jax()
    else {}
)
MODELS: Mapping[str, JaxProgram] = models.programs() if has_flax() else {}

__all__ = ["LIBRARY", "MODELS", "PROGRAMS", "Bound", "JaxProgram"]
