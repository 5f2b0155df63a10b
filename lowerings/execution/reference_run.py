"""Runs of the reference interpreter, with the custom calls that lowerings know."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

from xdsl.dialects.builtin import ModuleOp

from lowerings.execution.lapack_functions import LAPACK
from lowerings.execution.process_calls import process_functions
from xla_dialect.devices.process_grid import Process
from xla_dialect.literals.arrays import Array, flatten_results
from xla_dialect.reference.interpreter import prepared, run
from xla_dialect.runtime.arguments import nest_arguments
from xla_dialect.runtime.custom_calls import CustomCallLibrary
from xla_dialect.runtime.options import RunOptions

LIBRARIES: Sequence[CustomCallLibrary] = (lambda process: LAPACK, process_functions)


def run_on_reference(
    module: ModuleOp, arrays: Sequence[Array], entry: str, **options: Unpack[RunOptions]
) -> tuple[Array, ...]:
    """
    The results of a function on one array per leaf of its parameters, one array per leaf. The
    process of this thread runs it, or the only one of a grid.

    Raises XlaError as the reference does.
    """
    nested = nest_arguments(module, arrays, entry)
    options["libraries"] = LIBRARIES
    process = Process.current()
    if process is None:
        return flatten_results(run(module, nested, entry, **options))
    return flatten_results(prepared(module, nested, entry, process, **options)())
