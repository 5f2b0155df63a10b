"""Running computations on scalars, on whole arrays at once where that is the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias, cast

import numpy as np
from xdsl.interpreter import Interpreter, PythonValues
from xdsl.ir import Operation, Region, SSAValue

from xla_dialect import types
from xla_dialect.literals.arrays import Array, DType, numpy_dtype
from xla_dialect.ops import control_flow, conversion, creation, data_movement, tuples
from xla_dialect.ops import elementwise_binary as binary
from xla_dialect.reference.elementwise_binary import BINARY
from xla_dialect.reference.elementwise_ternary import TERNARY
from xla_dialect.reference.elementwise_unary import UNARY
from xla_dialect.rules.constraints import flat_results
from xla_dialect.types import flatten, is_scalar

POLYMORPHIC: frozenset[type[Operation]] = frozenset(
    (
        *UNARY,
        *BINARY,
        *TERNARY,
        binary.CompareOp,
        control_flow.OptBarrierOp,
        control_flow.ReturnOp,
        conversion.BitcastConvertOp,
        conversion.ConvertOp,
        conversion.ReducePrecisionOp,
        creation.ConstantOp,
        data_movement.CopyOp,
        tuples.GetTupleElementOp,
        tuples.TupleOp,
    )
)
"""Operations on scalars whose functions work on arrays just as well, element by element."""

ArrayFunction: TypeAlias = Callable[..., tuple[Array, ...]]
"""From arrays that broadcast to arrays of their common sizes."""


def is_elementwise(computation: Region) -> bool:
    """Whether a computation on scalars can be run on arrays, to the same effect per element."""
    return all(
        type(op) in POLYMORPHIC and _only_scalars(op.operands) and _only_scalars(op.results)
        for op in computation.block.ops
    )


def _only_scalars(values: Iterable[SSAValue]) -> bool:
    return all(is_scalar(leaf) for leaf in flatten([value.type for value in values]))


def returned_values(computation: Region) -> Sequence[SSAValue]:
    """What a computation returns."""
    return cast("control_flow.ReturnOp", computation.block.last_op).values


def result_dtypes(computation: Region) -> list[DType]:
    """The dtypes of the scalars that a computation returns, one by one or as a tuple."""
    found = flat_results([value.type for value in returned_values(computation)])
    return [numpy_dtype(cast("types.Array", type_).element_type) for type_ in found]


def on_arrays(interpreter: Interpreter, computation: Region, name: str) -> ArrayFunction:
    """
    A computation on scalars as a function of arrays, which are broadcast.

    It is run once on the arrays where it can be, else once per element. Results may be read-only
    or share memory with the operands.
    """
    count = len(result_dtypes(computation))

    def run(*operands: Array) -> tuple[Array, ...]:
        return elements(interpreter.run_ssacfg_region(computation, operands, name), count)

    def at_once(*operands: Array) -> tuple[Array, ...]:
        sizes = np.broadcast_shapes(*(np.shape(operand) for operand in operands))
        return tuple(np.broadcast_to(result, sizes) for result in run(*operands))

    def one_by_one(*operands: Array) -> tuple[Array, ...]:
        operands = np.broadcast_arrays(*operands)
        results = [np.empty(operands[0].shape, dtype) for dtype in result_dtypes(computation)]
        for place in np.ndindex(operands[0].shape):
            returned = run(*(operand[place] for operand in operands))
            for result, value in zip(results, returned, strict=True):
                result[place] = value
        return tuple(results)

    return at_once if is_elementwise(computation) else one_by_one


def elements(values: PythonValues, count: int) -> PythonValues:
    """The `count` values that a computation returned, one by one or as one tuple."""
    return values if len(values) == count else values[0]
