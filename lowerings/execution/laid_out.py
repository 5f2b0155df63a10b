"""Programs whose parameters and results do not lie in row-major order."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from lowerings.execution.arrays import checked_argument, require_count
from lowerings.execution.runnable import Runnable, SurroundedProgram
from lowerings.execution.signature import ArraySpec, Signature
from lowerings.layouts.memory_order import MemoryOrder, inverse
from xla_dialect.layouts.physical_order import from_physical, to_physical
from xla_dialect.layouts.type_layouts import row_major_strides
from xla_dialect.literals.arrays import Array

Bring: TypeAlias = Callable[[Array], Array]


class LaidOutExecutable(SurroundedProgram):
    """
    A compiled program whose arrays are in logical order for its callers, whatever its layouts.

    A parameter is copied only if its strides are not those of its layout. Results are views of
    what the program wrote, but for tiled ones, which are copied.
    """

    def __init__(self, executable: Runnable, signature: Signature):
        """`executable` takes and returns the arrays of `signature.in_memory`."""
        super().__init__(executable, signature)
        self._bring_in = [to_memory_order(spec) for spec in signature.parameters]
        self._bring_out = [to_logical_order(spec) for spec in signature.results]

    def __call__(self, *arrays: object) -> tuple[Array, ...]:
        """Runs the program; as `Executable`."""
        signature = self.signature
        require_count(signature, len(arrays))
        brought = [
            array if bring is None else bring(checked_argument(array, signature, number))
            for number, (array, bring) in enumerate(zip(arrays, self._bring_in, strict=True))
        ]
        results = self.program(*brought)
        return tuple(
            array if bring is None else bring(array)
            for array, bring in zip(results, self._bring_out, strict=True)
        )


def to_memory_order(spec: ArraySpec) -> Bring | None:
    """From logical order to the dense array in memory order; None where they are the same."""
    order, sizes = spec.order, spec.shape
    if order is None:
        return None
    if order.tiles:
        tiled = order.physical_sizes(sizes)
        return lambda array: to_physical(array, order.layout).reshape(tiled)
    if not order.widths:
        return lambda array: array.transpose(order.major_to_minor)
    return _padding(order, spec)


def _padding(order: MemoryOrder, spec: ArraySpec) -> Bring:
    """Copies into a padded array, unless the argument is a view of one."""
    widths = order.physical_sizes(spec.shape)
    wanted, steps = (
        tuple(stride * spec.dtype.itemsize for stride in strides)
        for strides in (order.strides(spec.shape), row_major_strides(widths))
    )

    def bring(array: Array) -> Array:
        if array.strides == wanted and array.flags.aligned:
            return np.lib.stride_tricks.as_strided(array, widths, steps, writeable=False)
        return to_physical(array, order.layout).reshape(widths)

    return bring


def to_logical_order(spec: ArraySpec) -> Bring | None:
    """From the dense array in memory order to logical order; None where they are the same."""
    order, sizes = spec.order, spec.shape
    if order is None:
        return None
    if order.tiles:
        return lambda array: from_physical(array.reshape(-1), order.layout, sizes)
    places = inverse(order.major_to_minor)
    corner = tuple(map(slice, sizes))
    return lambda array: array.transpose(places)[corner]
