"""Running a module at any point of a pipeline, on arrays of its first form."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from lowerings.execution.laid_out import LaidOutExecutable, to_logical_order, to_memory_order
from lowerings.execution.signature import ArraySpec, Signature, signature_of
from lowerings.interpreter import InterpretedProgram
from lowerings.interpreter.program import DIALECTS
from lowerings.interpreter.xla import XLA
from lowerings.layouts.entry_layout import entry_type
from lowerings.observed_values import is_observing
from xla_dialect.ops import asynchronous, collectives, operations_of, random, transfers
from xla_dialect.reference import flatten_results, nest_arguments, run
from xla_dialect.reference.literal import Array
from xla_dialect.self_checking.interpreter import RunParallelOp

Results = tuple[Array, ...]
Runner = Callable[[Sequence[Array]], Results]

ITERATION_LIMIT = 10_000
"""How often a loop may run: random inputs make some that never end."""

_OF_THE_XLA_LEVEL = frozenset({"xla", "func", "builtin", "check", "interpreter"})

_NOT_REPEATABLE: dict[type[Operation], str] = {
    **dict.fromkeys(operations_of(collectives), "it talks to other processes"),
    **dict.fromkeys(operations_of(asynchronous), "it is not alone"),
    **dict.fromkeys(operations_of(transfers), "it talks to its host"),
    random.RngOp: "its numbers differ in every run",
    random.RngGetAndUpdateStateOp: "its numbers differ in every run",
    RunParallelOp: "it runs other programs",
}
"""The operations whose results or effects two runs do not share, with the reason."""


def obstacle(module: ModuleOp) -> str | None:
    """Why a module cannot be compared with itself after a pass; None if it can."""
    for op in module.walk():
        reason = _NOT_REPEATABLE.get(type(op))
        if reason is None and is_observing(op):
            reason = "it prints or checks, which has an effect"
        if reason is not None:
            return f"{op.name}: {reason}"
    return None


def entries(module: ModuleOp) -> list[str]:
    """The names of the functions that are called from outside."""
    return [
        op.sym_name.data
        for op in module.ops
        if isinstance(op, FuncOp)
        and op.body.blocks
        and (op.sym_visibility is None or op.sym_visibility.data == "public")
    ]


def functions_of(module: ModuleOp) -> dict[str, FuncOp]:
    """The functions of a module by name."""
    return {op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp)}


def is_pure_xla(module: ModuleOp) -> bool:
    """Whether every operation is one that the reference evaluates."""
    return all(op.name.partition(".")[0] in _OF_THE_XLA_LEVEL for op in module.walk()) and any(
        op.name.startswith("xla.") for op in module.walk()
    )


def signature_before(module: ModuleOp, entry: str) -> Signature:
    """What a function takes, with the layouts of its arrays; raises XlaError."""
    function = functions_of(module)[entry]
    if is_pure_xla(module):
        return signature_of(function, entry_type(module, function))
    return InterpretedProgram(module, entry, dialects=(*DIALECTS, XLA)).signature


@dataclass
class Execution:
    """One function of a module, which must not change, on arrays of the signature it had first."""

    module: ModuleOp
    entry: str
    signature: Signature

    def __call__(self, arrays: Sequence[Array]) -> Results:
        """The results; raises XlaError where the program cannot be run, or goes wrong."""
        with np.errstate(all="ignore"):
            return self._runner()(*arrays)

    def own_arguments(self, arrays: Sequence[Array]) -> list[Array]:
        """Arguments as a caller passes them who knows this form of the module only."""
        if is_pure_xla(self.module):
            own = self._own_signature().parameters
            return [
                _brought(array, first, spec)
                for array, first, spec in zip(arrays, self.signature.parameters, own, strict=True)
            ]
        brought = [to_memory_order(spec) for spec in self.signature.parameters]
        return [
            array if bring is None else bring(array)
            for array, bring in zip(arrays, brought, strict=True)
        ]

    def _own_signature(self) -> Signature:
        return signature_of(functions_of(self.module)[self.entry])

    def _runner(self) -> Callable[..., Results]:
        if is_pure_xla(self.module):
            return self._on_reference
        return self._laid_out(
            InterpretedProgram(
                self.module,
                self.entry,
                self.signature.in_memory,
                (*DIALECTS, XLA),
                iteration_limit=ITERATION_LIMIT,
            )
        )

    def _laid_out(self, program: InterpretedProgram) -> Callable[..., Results]:
        if self.signature.in_memory is self.signature:
            return program
        return LaidOutExecutable(program, self.signature)

    def _on_reference(self, *arrays: Array) -> Results:
        """Only arrays in tiles are passed as they lie in memory, once layouts are expanded."""
        nested = nest_arguments(self.module, self.own_arguments(arrays), self.entry)
        found = flatten_results(
            run(self.module, nested, self.entry, iteration_limit=ITERATION_LIMIT)
        )
        own = self._own_signature().results
        if not len(found) == len(own) == len(self.signature.results):
            return found
        return tuple(
            _returned(array, first, spec)
            for array, first, spec in zip(found, self.signature.results, own, strict=True)
        )


def _brought(array: Array, first: ArraySpec, own: ArraySpec) -> Array:
    bring = None if own.shape == first.shape else to_memory_order(first)
    return array if bring is None else bring(array)


def _returned(array: Array, first: ArraySpec, own: ArraySpec) -> Array:
    if own.shape == first.shape or array.shape != first.in_memory.shape:
        return array
    bring = to_logical_order(first)
    return array if bring is None else bring(array)
