"""
Functions interpreted at the tensors and buffers levels, with memory that the test sees.

The interpreter itself insists on what the buffers level promises: views are inside their memory and
as their types say, and what is written overlaps nothing else.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import MemRefType, ModuleOp

from lowerings.bufferize.signatures import aliased_parameters
from lowerings.interpreter.elements import element_of
from lowerings.interpreter.machine import ModuleInterpreter
from lowerings.interpreter.memory import argument, byte_count
from lowerings.interpreter.program import DIALECTS

AnyArray = np.ndarray[Any, np.dtype[Any]]

ITERATION_LIMIT = 1000


def call_tensors(module: ModuleOp, arguments: Sequence[AnyArray], seed: int) -> list[AnyArray]:
    """The results of `@main`; `seed` makes the tensors that are unspecified."""
    machine = ModuleInterpreter(module, DIALECTS, {}, seed=seed, iteration_limit=ITERATION_LIMIT)
    return [np.array(value) for value in machine.call("main", [x.copy() for x in arguments])]


def call_buffers(module: ModuleOp, arguments: Sequence[AnyArray], seed: int) -> list[AnyArray]:
    """
    What `@main` writes into its results, which are in arbitrary memory, as the arena is; inputs are
    not written. A result in the memory of a parameter holds that at first.
    """
    machine = ModuleInterpreter(module, DIALECTS, {}, seed=seed, iteration_limit=ITERATION_LIMIT)
    function = machine.functions["main"]
    types = list(function.function_type.inputs)
    memory = [np.array(each) for each in arguments]
    memory += [
        machine.arbitrary_bytes(byte_count(element_of(type_), type_.get_shape()))
        for type_ in types[len(memory) :]
        if isinstance(type_, MemRefType)
    ]
    for number, parameter in aliased_parameters(function).items():
        memory[number][:] = memory[parameter].reshape(-1).view(np.uint8)
    memrefs = [argument(x, type_) for x, type_ in zip(memory, types, strict=True)]
    assert machine.call("main", memrefs) == []
    count = len(arguments)
    for memref, value in zip(memrefs, arguments, strict=False):
        np.testing.assert_array_equal(memref.read(), value, "an input was written")
    end = len(memrefs) - ("xla.arena_bytes" in function.attributes)
    return [memref.read() for memref in memrefs[count:end]]
