"""Programs whose processes run together in machine code, on numpy arrays."""

from collections.abc import Sequence

import numpy as np

from lowerings.execution.arrays import address_of
from lowerings.execution.executable import Executable


def run_jointly(
    program: Executable, arguments: Sequence[Sequence[np.ndarray]], in_turn: bool
) -> list[tuple[np.ndarray, ...]] | None:
    """The results of every process; None where some have failed."""
    signature = program.signature
    given = [
        [
            np.array(array, spec.dtype, order="C").reshape(spec.shape)
            for array, spec in zip(each, signature.parameters, strict=True)
        ]
        for each in arguments
    ]
    results = [
        tuple(np.full(spec.shape, 77).astype(spec.dtype) for spec in signature.results)
        for _ in arguments
    ]
    for taken, made in zip(given, results, strict=True):
        for result, parameter in signature.aliases:
            made[result][...] = taken[parameter]
    addresses = [
        [address_of(array) for array in (*taken, *made)]
        for taken, made in zip(given, results, strict=True)
    ]
    return results if program.run_jointly(addresses, in_turn) else None
