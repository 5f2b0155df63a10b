"""Programs whose arrays have dynamic dimensions: callers pass and get them in the sizes they have.

Compiled programs take and return arrays of the largest sizes, and the sizes beside them, as
`xla-expand-dynamic-dimensions` says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from lowerings.execution.arrays import checked_argument, require_count
from lowerings.execution.laid_out import LaidOutExecutable
from lowerings.execution.runnable import Runnable, SurroundedProgram
from lowerings.execution.signature import ArraySpec, Signature
from lowerings.expand.xla_expand_dynamic_dimensions import RUN_TIME_CHECKS
from xla_dialect.diagnostics import LocatedError, XlaError
from xla_dialect.literals.arrays import Array
from xla_dialect.violations import OperationError, place_of

_SIZE = ArraySpec.of("s32")


@dataclass(frozen=True)
class RunTimeCheck:
    """A rule of an operation that may be broken at run time."""

    operation: str
    message: str
    """With `{}` for the number that is wrong."""
    location: Attribute

    def error(self, value: int) -> XlaError:
        """The error where it is broken, as of the reference."""
        message = f"{self.operation}: {self.message.format(value)}"
        place = place_of(self.location)
        return OperationError(message) if place is None else LocatedError(message, *place)


def run_time_checks(function: FuncOp) -> tuple[RunTimeCheck, ...]:
    """The run-time checks of a function whose dynamic dimensions have been expanded."""
    listed = function.attributes.get(RUN_TIME_CHECKS)
    if not isinstance(listed, ArrayAttr):
        return ()
    entries = (entry.data for entry in cast("ArrayAttr[DictionaryAttr]", listed))
    return tuple(
        RunTimeCheck(
            cast(StringAttr, entry["operation"]).data,
            cast(StringAttr, entry["message"]).data,
            entry["location"],
        )
        for entry in entries
    )


def static_signature(signature: Signature, *, has_status: bool) -> Signature:
    """What a function takes and returns when its dynamic dimensions are expanded."""
    if signature.is_static and not has_status:
        return signature
    status = (_SIZE, _SIZE) if has_status else ()
    return Signature(
        tuple(_static(signature.parameters)),
        (*_static(signature.results), *status),
        signature.name,
        signature.aliases,
    )


def _static(specs: Sequence[ArraySpec]) -> Iterator[ArraySpec]:
    for spec in specs:
        yield replace(spec, sizes=spec.shape)
    for spec in specs:
        for d in spec.dynamic_dimensions:
            yield replace(_SIZE, name=f"{spec.name}_size_{d}" if spec.name else None)


class SizedProgram(SurroundedProgram):
    """A program with arrays of the sizes that they have, on top of one that is told the sizes."""

    def __init__(
        self, program: Runnable, signature: Signature, checks: Sequence[RunTimeCheck] = ()
    ):
        """`program` takes and returns the arrays of `static_signature`."""
        super().__init__(program, signature)
        self._checks = checks

    def __call__(self, *arrays: object) -> tuple[Array, ...]:
        """
        Runs the program; raises ArgumentError for arrays that do not fit, and XlaError where a rule
        is broken at run time.
        """
        signature = self.signature
        require_count(signature, len(arrays))
        passed = [checked_argument(each, signature, number) for number, each in enumerate(arrays)]
        results = self.program(*with_sizes(signature.parameters, passed))
        if self._checks:
            number, value = map(int, results[-2:])
            if number:
                raise self._checks[number - 1].error(value)
        return in_sizes(signature.results, results)


@dataclass(frozen=True)
class LoweredSignatures:
    """The signatures of a lowered function: as callers see it and as compiled."""

    signature: Signature
    """As callers see it, with what it aliases."""
    static: Signature
    """The same with sizes beside arrays instead of dynamic dimensions."""
    checks: Sequence[RunTimeCheck]
    """The rules that are checked at run time."""

    def program(self, in_memory: Runnable) -> Runnable:
        """The program, given what runs on static arrays as they lie in memory."""
        program = in_memory
        if self.static.in_memory is not self.static:
            program = LaidOutExecutable(program, self.static)
        if self.static is not self.signature:
            program = SizedProgram(program, self.signature, self.checks)
        return program


def with_sizes(specs: Sequence[ArraySpec], arrays: Sequence[Array]) -> list[Array]:
    """The arrays in their largest sizes, zeros added at the end, and then their sizes."""
    found: list[Array] = []
    sizes: list[Array] = []
    for spec, given in zip(specs, arrays, strict=True):
        if given.shape != spec.shape:
            largest = np.zeros(spec.shape, given.dtype)
            largest[tuple(map(slice, given.shape))] = given
            found.append(largest)
        else:
            found.append(given)
        sizes += [np.array(given.shape[d], np.int32) for d in spec.dynamic_dimensions]
    return found + sizes


def in_sizes(specs: Sequence[ArraySpec], arrays: Sequence[Array]) -> tuple[Array, ...]:
    """The arrays cut to the sizes that follow them; what follows those is left out."""
    sizes = iter(arrays[len(specs) :])
    found: list[Array] = []
    for spec, given in zip(specs, arrays, strict=False):
        if spec.dynamic_dimensions:
            box = [slice(None)] * given.ndim
            for d in spec.dynamic_dimensions:
                box[d] = slice(int(next(sizes)))
            found.append(given[tuple(box)].copy(order="C"))
        else:
            found.append(given)
    return tuple(found)
