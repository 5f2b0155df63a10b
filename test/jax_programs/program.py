"""What a JAX program of the tests is."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from peers import has_jax

if has_jax():
    import jax


@dataclass(frozen=True)
class Bound:
    """How far floats may be from XLA's, and why."""

    units: float
    """In epsilons of the element type, times the largest finite magnitude of the result."""
    reason: str


EXACT = Bound(0, "moves, compares, or computes without rounding")
FUNCTIONS = Bound(16, "XLA CPU's functions of floats are good for some units in the last place")
SUMS = Bound(32, "XLA CPU adds in another order, and fuses products with sums")


@dataclass(frozen=True)
class JaxProgram:
    """A function, arguments for it, and how `jax.jit` is called."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    bound: Bound = FUNCTIONS
    wide: bool = False
    """Whether types of 64 bits are on."""
    devices: int = 1
    """How many partitions the program is for."""

    def lower(self, **options: Any) -> Any:
        """The lowered function; `options` are further ones of `jax.jit`."""
        with jax.enable_x64(self.wide):
            return jax.jit(self.function, **self.options, **options).lower(*self.arguments)

    def leaves(self) -> list[np.ndarray]:
        """The arguments as the program takes them, in the types of JAX's settings."""
        with jax.enable_x64(self.wide):
            return [np.asarray(jax.numpy.asarray(x)) for x in jax.tree.leaves(self.arguments)]
