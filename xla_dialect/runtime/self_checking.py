"""What checks, prints and probes do with the values that they see.

Every executor calls `observe`: the interpreter when it comes to the operation, compiled programs
when they have ended.

Equality is looser than that of StableHLO's interpreter in two points: there a NaN equals nothing in
`expect_eq`, and numbers of different signs are never almost equal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, cast

import numpy as np
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.ir import Operation

from xla_dialect import self_checking as ops
from xla_dialect import types
from xla_dialect.diagnostics import XlaError
from xla_dialect.element_types import spell_array
from xla_dialect.literals.arrays import Array, Value, dense_to_numpy
from xla_dialect.ops.custom_calls import CustomCallOp
from xla_dialect.runtime.comparison import (
    Criterion,
    Exactly,
    Within,
    WithinUlps,
    compare,
    is_inexact,
)
from xla_dialect.runtime.observation import Observer
from xla_dialect.violations import place_of
from xla_dialect.xdsl.operation_table import OperationTable


class CheckFailed(XlaError):
    """A check of a program that does not hold."""


def expect(values: Sequence[Array], criterion: Criterion) -> None:
    """Raises CheckFailed unless the first of two arrays is as the second says."""
    actual, expected = values
    fault = compare(actual, expected, criterion)
    if fault is not None:
        raise CheckFailed(fault)


Observation: TypeAlias = Callable[[Operation, Sequence[Array], Observer], None]
"""What an operation does with the values of its operands; raises XlaError."""


def _literal(op: ops.ExpectEqConstOp | ops.ExpectAlmostEqConstOp) -> Array:
    return dense_to_numpy(cast("DenseIntOrFPElementsAttr[Any]", op.value))


def _tolerance(op: ops.ExpectAlmostEqOp | ops.ExpectAlmostEqConstOp) -> Within:
    return Within(op.tolerance.value.data)


def _limits(op: ops.ExpectCloseOp) -> WithinUlps:
    return WithinUlps(op.max_ulp_difference.value.data, op.min_ulp_difference.value.data)


def expect_serialized(
    op: ops.ExpectSerializedEqOp, values: Sequence[Array], observer: Observer
) -> None:
    """The value equals what the probe has written."""
    (expected,) = values
    type_ = str(op.expected.type)
    found = observer.read(op.probe_id.data, op.iteration.value.data, type_, expected)
    expect((found, expected), Exactly())


def show(op: ops.PrintOp, values: Sequence[Array], observer: Observer) -> None:
    """Prints the operand after the place of the operation."""
    place = place_of(op.location)
    observer.show(op.name if place is None else ":".join(map(str, place)), values[0].copy())


def write(op: ops.ProbeOp, values: Sequence[Array], observer: Observer) -> None:
    """Writes the operand."""
    observer.write(op.probe_id.data, str(op.operand.type), values[0].copy())


OBSERVATIONS = (
    OperationTable[Observation]()
    .add(ops.ExpectEqOp, lambda op, values, _: expect(values, Exactly()))
    .add(ops.ExpectEqConstOp, lambda op, values, _: expect((*values, _literal(op)), Exactly()))
    .add(ops.ExpectAlmostEqOp, lambda op, values, _: expect(values, _tolerance(op)))
    .add(
        ops.ExpectAlmostEqConstOp,
        lambda op, values, _: expect((*values, _literal(op)), _tolerance(op)),
    )
    .add(ops.ExpectCloseOp, lambda op, values, _: expect(values, _limits(op)))
    .add(ops.ExpectSerializedEqOp, expect_serialized)
    .add(ops.PrintOp, show)
    .add(ops.ProbeOp, write)
)
"""What each operation does with the values of its operands."""


def _inexact(criterion: Criterion) -> Callable[[Array], Criterion]:
    def choose(value: Array) -> Criterion:
        if not is_inexact(value.dtype):
            raise XlaError(f"compares floats or complex numbers, not {spell_array(value)}")
        return criterion

    return choose


CHECK_CALLS: Mapping[str, Callable[[Array], Criterion]] = {
    "check.expect_eq": lambda value: Exactly(),
    "check.expect_close": _inexact(WithinUlps(3)),
    "check.expect_almost_eq": _inexact(Within(1e-3)),
    "check.eq": lambda value: Within(1e-4) if is_inexact(value.dtype) else Exactly(),
}
"""The custom calls that check their two operands, by target: the criterion of each."""


def require_check(op: CustomCallOp) -> None:
    """Raises XlaError that names the target where a custom call has not the types of a check."""
    target = op.custom_call_target.data
    operand_types = [operand.type for operand in op.operands]
    if (
        len(operand_types) != 2
        or not all(map(types.is_array, operand_types))
        or not types.compatible(*operand_types)
    ):
        found = types.spell_all(operand_types)
        raise XlaError(f"{target}: takes two arrays of one type, not {found}")
    for result in op.result_types:
        if types.spell(result) not in ("pred[]", "()"):
            found = types.spell(result)
            raise XlaError(f"{target}: returns pred[], () or nothing, not {found}")


def call_check(op: CustomCallOp, *values: Value) -> object:
    """
    The results of a custom call that checks its two operands: true, or the empty tuple.

    Raises XlaError that names the target where they are not the same.
    """
    target = op.custom_call_target.data
    require_check(op)
    try:
        actual, expected = (np.asarray(value) for value in values)
        expect((actual, expected), CHECK_CALLS[target](actual))
    except XlaError as error:
        raise type(error)(f"{target}: {error}") from None
    results = [() if types.tuple_elements(t) is not None else np.True_ for t in op.result_types]
    return results[0] if len(results) == 1 else tuple(results)
