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
    indexing_maps,
    pointwise,
)
from xla_dialect.ops.reduction import MapOp, ReduceOp
from xla_dialect.types import Array, is_array


def convert_reduce(op: ReduceOp, builder: ConversionBuilder) -> str | None:
    """
    One generic over all inputs: the kept dimensions are parallel, then come the reduced ones.

    Outputs start as the init values; the body is the computation of accumulators and values.
    """
    if not all(is_array(t) for t in op.result_types):
        return "its result is a tuple; xla-flatten-tuples takes tuples apart"
    maps = indexing_maps(op)
    count = len(op.inputs)
    computation = op.to_apply.block

    def body(s: ScalarBuilder, elements: Sequence[SSAValue]) -> Sequence[SSAValue]:
        return inline_computation(s, computation, (*elements[count:], *elements[:count]))

    inputs = list(zip(op.inputs, maps.operands, strict=False))
    outputs = [
        (fill(builder, extract_scalar(builder, init), cast(Array, result.type)), map_)
        for init, result, map_ in zip(op.init_values, op.results, maps.results, strict=True)
    ]
    builder.replace(generic(builder, inputs, outputs, maps.iterator_types, body))
    return None


def convert_map(op: MapOp, builder: ConversionBuilder) -> None:
    """The computation of scalars becomes the body."""
    result = array_type(op.result)
    computation = op.to_apply.block
    count = len(op.inputs)

    def body(s: ScalarBuilder, elements: Sequence[SSAValue]) -> Sequence[SSAValue]:
        return inline_computation(s, computation, elements[:count])

    inputs = list(zip(op.inputs, indexing_maps(op).operands, strict=True))
    builder.replace([pointwise(builder, inputs, result, body)])
