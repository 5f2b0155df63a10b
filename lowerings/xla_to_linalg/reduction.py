"""Operations with a computation on scalars: reductions and maps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.ir import SSAValue

from lowerings.rewriting.conversion import ConversionBuilder
from lowerings.xla_to_linalg.scalar_functions.scalar_operations import inline_computation
from lowerings.xla_to_linalg.scalar_functions.scalars import ScalarBuilder
from lowerings.xla_to_linalg.structured import (
    array_type,
    extract_scalar,
    fill,
    generic,
    identity,
    iterators,
    pointwise,
    projection,
    sizes_of,
)
from xla_dialect.op import decode
from xla_dialect.ops.reduction import MapOp, ReduceOp
from xla_dialect.shapes.size_arithmetic import without
from xla_dialect.types import Array, is_array


def convert_reduce(op: ReduceOp, builder: ConversionBuilder) -> str | None:
    """
    One generic over all inputs: the kept dimensions are parallel, then come the reduced ones.

    Outputs start as the init values; the body is the computation of accumulators and values.
    """
    if not all(is_array(t) for t in op.result_types):
        return "its result is a tuple; xla-flatten-tuples takes tuples apart"
    reduced = cast("tuple[int, ...]", decode(op.dimensions))
    rank = len(sizes_of(op.inputs[0]))
    kept = without(range(rank), reduced)
    order = (*kept, *sorted(reduced))
    loop_of = {dimension: loop for loop, dimension in enumerate(order)}
    source = projection(rank, tuple(loop_of[d] for d in range(rank)))
    target = projection(rank, tuple(range(len(kept))))
    count = len(op.inputs)
    computation = op.to_apply.block

    def body(s: ScalarBuilder, elements: Sequence[SSAValue]) -> Sequence[SSAValue]:
        return inline_computation(s, computation, (*elements[count:], *elements[:count]))

    destinations = [
        (fill(builder, extract_scalar(builder, init), cast(Array, result.type)), target)
        for init, result in zip(op.init_values, op.results, strict=True)
    ]
    results = generic(
        builder,
        [(value, source) for value in op.inputs],
        destinations,
        iterators(len(kept), len(reduced)),
        body,
    )
    builder.replace(results)
    return None


def convert_map(op: MapOp, builder: ConversionBuilder) -> None:
    """The computation of scalars becomes the body."""
    result = array_type(op.result)
    everywhere = identity(len(result.shape))
    computation = op.to_apply.block
    count = len(op.inputs)

    def body(s: ScalarBuilder, elements: Sequence[SSAValue]) -> Sequence[SSAValue]:
        return inline_computation(s, computation, elements[:count])

    inputs = [(value, everywhere) for value in op.inputs]
    builder.replace([pointwise(builder, inputs, result, body)])
