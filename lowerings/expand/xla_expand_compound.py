"""The pass `xla-expand-compound`: operations that are made of others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from pkgutil import resolve_name
from typing import ClassVar, cast

from xdsl.ir import Operation

from lowerings.expand.building import build_before
from lowerings.expand.reduction import (
    expand_accumulation,
    expand_arg_extremum,
    expand_complex_products,
)
from lowerings.rewriting.conversion import ConversionBuilder, ConversionPass, conversion_table
from lowerings.rewriting.levels import UNLOWERED
from lowerings.rewriting.passes import ResultDifference
from xla_dialect.analysis.computations import top_k_properties
from xla_dialect.op import XlaOp
from xla_dialect.ops.contraction import ConvolutionOp, RaggedDotOp, ScaledDotOp
from xla_dialect.ops.custom_calls import (
    ANNOTATIONS,
    LAYOUT_CONSTRAINT,
    SHARDING_GROUP,
    CustomCallOp,
)
from xla_dialect.ops.data_movement import CopyOp
from xla_dialect.ops.gather_scatter import ScatterOp
from xla_dialect.ops.linear_algebra import CholeskyOp, TriangularSolveOp
from xla_dialect.ops.normalization import (
    BatchNormGradOp,
    BatchNormInferenceOp,
    BatchNormTrainingOp,
)
from xla_dialect.ops.random import RngBitGeneratorOp, StochasticConvertOp
from xla_dialect.ops.reduction import ReduceOp, ReduceWindowOp, SelectAndScatterOp
from xla_dialect.ops.sorting import TopkOp
from xla_dialect.shapes.size_arithmetic import is_dynamic
from xla_dialect.types import Array, is_array, sizes_of

_EXPANSIONS: Mapping[type[XlaOp], str] = {
    BatchNormGradOp: "lowerings.expand.normalization:gradient",
    BatchNormInferenceOp: "lowerings.expand.normalization:inference",
    BatchNormTrainingOp: "lowerings.expand.normalization:training",
    CholeskyOp: "lowerings.expand.linear_algebra:cholesky",
    RaggedDotOp: "lowerings.expand.contraction:ragged_dot",
    RngBitGeneratorOp: "lowerings.expand.random:random_bits",
    ScaledDotOp: "lowerings.expand.contraction:scaled_dot",
    StochasticConvertOp: "lowerings.expand.random:stochastic_convert",
    TriangularSolveOp: "lowerings.expand.linear_algebra:triangular_solve",
}
"""Module and function of each expansion. They are loaded on use: the builder takes time to load."""


def is_compound(op: XlaOp) -> bool:
    """Whether `expand` knows an operation."""
    return type(op) in _EXPANSIONS


def _rounds(op: Operation) -> bool:
    """Whether an operation is made of others that round."""
    return type(op) in _EXPANSIONS and not isinstance(op, RngBitGeneratorOp)


def expand(op: XlaOp, builder: ConversionBuilder) -> str | None:
    """Puts what the expansion builds in the place of the operation."""
    if not all(is_array(result.type) for result in op.results):
        return "its result is a tuple; xla-flatten-tuples takes tuples apart"
    if isinstance(op, RngBitGeneratorOp) and (fault := op.fault()):
        return fault
    _replace_with_built(op, builder, _EXPANSIONS[type(op)])
    return None


def _replace_with_built(op: XlaOp, builder: ConversionBuilder, function: str) -> None:
    """The function is given as module and name."""
    returned = build_before(op, op.operands, resolve_name(function), op)
    # The builder ignores layouts: only results with one differ in type.
    builder.replace(
        [
            value
            if value.type == result.type
            else builder.insert(CopyOp.make([value], {}, result_types=[result.type])).result
            for value, result in zip(returned, op.results, strict=True)
        ]
    )


def expand_call(op: CustomCallOp, builder: ConversionBuilder) -> None:
    """A custom call that annotates its operand is the identity; others stand for operations."""
    target = op.custom_call_target.data
    top_k = top_k_properties(op)
    if target in ANNOTATIONS - {LAYOUT_CONSTRAINT} and op.operand_types == op.result_types:
        builder.replace(op.operands)
    elif target == SHARDING_GROUP and not op.results:
        builder.replace(())
    elif top_k is not None:
        builder.replace(builder.insert(TopkOp.make(op.operands, top_k)).results)


MOST_PHASES = 16
"""A base with more holes than that, between neighbours, is not split into convolutions by phase."""


def has_many_holes(op: ConvolutionOp) -> bool:
    """Whether windows between neighbours of the base are many, and meet equally many elements."""
    types = [cast(Array, each) for each in (*op.operand_types, op.result.type)]
    window = op.window.data.dimensions
    return (
        prod(d.base_dilation for d in window) > MOST_PHASES
        and all(
            d.base_dilation == 1
            or (d.size % d.base_dilation, d.stride, d.window_dilation, d.reversal)
            == (0, 1, 1, False)
            for d in window
        )
        and types[0].element_type == types[1].element_type
        and not any(is_dynamic(sizes) or not prod(sizes) for sizes in map(sizes_of, types))
    )


def expand_convolution(op: ConvolutionOp, builder: ConversionBuilder) -> None:
    """One over a base with many holes, or of complex numbers."""
    if has_many_holes(op):
        _replace_with_built(op, builder, "lowerings.expand.convolution:without_holes")
    else:
        expand_complex_products(op, builder)


def expand_reduce(op: ReduceOp, builder: ConversionBuilder) -> None:
    """Of several arrays, an extremum that is found; of one, what is accumulated."""
    if len(op.inputs) > 1:
        expand_arg_extremum(op, builder)
    else:
        expand_accumulation(op, builder)


def expand_accumulating(
    op: ReduceWindowOp | ScatterOp | SelectAndScatterOp, builder: ConversionBuilder
) -> None:
    """What is accumulated over windows, and at indices."""
    expand_accumulation(op, builder)


class XlaExpandCompoundPass(ConversionPass):
    """
    Replaces operations that are made of others by those: batch normalization, Cholesky factors,
    triangular systems, ragged and scaled dots, random bits, rounding by chance. A reduction that
    finds where the greatest or least element is becomes two, which vectors can do.

    Narrow floats are computed in f32 and rounded at the end; so are reductions, windows and
    scatters that add or multiply them. Reductions and long scatters that add complex numbers become
    two, of their parts; their dots and convolutions four. A convolution whose base has many holes
    is one without them, with more output features. Custom calls that annotate a value for a
    compiler, as with a sharding, are that value; `TopK` is `topk`.

    ```
    %y, %mean, %variance = xla.batch_norm_training %x, %scale, %offset {epsilon = 1.0e-3 : f32,
        feature_index = 1 : i64} : ...
    // becomes
    %sum = xla.reduce %x, %zero {dimensions = [0]} : ...
    %mean = xla.divide %sum, %count : tensor<3xf32>
    ...
    ```
    """

    name = "xla-expand-compound"
    takes = UNLOWERED
    difference = ResultDifference(
        4096,
        "other formulas, which overflow and cancel elsewhere",
        inputs=("plain",),
        where=_rounds,
    )
    illegal: ClassVar[Sequence[str | type[Operation]]] = tuple(_EXPANSIONS)
    conversions = conversion_table(
        expand_call, expand_reduce, expand_accumulating, expand_complex_products, expand_convolution
    ).add(_EXPANSIONS, expand)
