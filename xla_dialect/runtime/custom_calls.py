"""What custom calls compute: functions that the caller registers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar, cast

from xla_dialect.devices.process_grid import Process
from xla_dialect.diagnostics import XlaError
from xla_dialect.literals.arrays import TOKEN, Value, as_argument, copied
from xla_dialect.ops import custom_calls as ops
from xla_dialect.runtime.self_checking import CHECK_CALLS, call_check
from xla_dialect.spelling import suggestion
from xla_dialect.types import TokenType

CustomCallFunction: TypeAlias = Callable[..., object]
"""
From the operation and the values of its operands to its result.

Arrays are ndarrays, tuples Python tuples, tokens None. One array for one result, a tuple for a
tuple or for several results. Operands and results are copied: a function may keep what it is given,
and write to it, and may go on using what it has returned. The operation has everything else that a
function may want to know: the types of the results, `backend_config` among its attributes.
"""

CustomCallLibrary: TypeAlias = Callable[[Process], Mapping[str, CustomCallFunction]]
"""
The custom calls that a library can compute, by target: from the process that runs a program to
functions. They take and return the arrays of the run themselves, not copies.
"""


def _identity(op: ops.CustomCallOp, operand: Value) -> Value:
    return operand


def _nothing(op: ops.CustomCallOp, operand: Value) -> Value:
    return ()


def built_in_function(target: str) -> CustomCallFunction | None:
    """The function of a well-known target: an annotation or a check."""
    if target in CHECK_CALLS:
        return call_check
    if target == ops.SHARDING_GROUP:
        return _nothing
    return _identity if target in ops.ANNOTATIONS else None


_Function = TypeVar("_Function")


def function_for(
    target: str,
    registry: Mapping[str, _Function],
    library: Mapping[str, CustomCallFunction],
) -> _Function | CustomCallFunction:
    """
    The function that a caller has registered for a target, or else that of a library, or else the
    built-in one; raises XlaError for none.
    """
    function = registry.get(target) or library.get(target) or built_in_function(target)
    if function is None:
        known = ", ".join(sorted(registry))
        raise XlaError(
            f"no function is registered for the target '{target}'"
            + (f" (there are: {known})" if known else "")
            + suggestion(target, registry)
            + ". XLA calls what its process has registered under that name, and fails without it. "
            f"Here `lowerings.compile(program, custom_calls={{'{target}': function}})` registers a "
            "function of Python, and for programs of JAX `jax.ffi.register_ffi_target` one in C"
        )
    return function


def on_copies(function: CustomCallFunction) -> CustomCallFunction:
    """The function on copies of its operands, which gives copies of its results."""

    def call(op: ops.CustomCallOp, *operands: Value) -> Value:
        return copied(function(op, *map(copied, operands)))

    return call


def call_function(
    op: ops.CustomCallOp, function: CustomCallFunction, arguments: Sequence[Any]
) -> tuple[Value, ...]:
    """The results of a function, one for each of the operation; raises XlaError for wrong ones."""
    found = function(op, *arguments)
    target = op.custom_call_target.data
    count = len(op.results)
    values: Sequence[object] = (found,)
    if count != 1 and isinstance(found, tuple | list):
        values = cast("Sequence[object]", found)
    if len(values) != count:
        raise XlaError(f"'{target}' has given {len(values)} results instead of {count}")
    return tuple(
        as_argument(value, type_, f"result {i} of '{target}'")
        for i, (value, type_) in enumerate(zip(values, op.result_types, strict=True))
    )


def call_on_arrays(
    op: ops.CustomCallOp, function: CustomCallFunction, arrays: Sequence[Any]
) -> tuple[Value, ...]:
    """As `call_function`, for a caller that neither has tokens nor wants any."""
    given = iter(arrays)
    arguments = [TOKEN if isinstance(t, TokenType) else next(given) for t in op.operand_types]
    results = zip(call_function(op, function, arguments), op.result_types, strict=True)
    return tuple(value for value, type_ in results if not isinstance(type_, TokenType))
