"""Small programs with dynamic dimensions, each of which shows what one operation makes of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from small_programs import Built, computation, constant, shape

from xla_dialect.op import XlaOp
from xla_dialect.ops import contraction as contractions
from xla_dialect.ops import (
    control_flow,
    elementwise,
    linear_algebra,
    normalization,
    random,
    sorting,
)
from xla_dialect.ops import data_movement as movement
from xla_dialect.ops import dynamic_shapes as sizes
from xla_dialect.ops import reduction as reductions
from xla_dialect.ops.conversion import BitcastConvertOp, ConvertOp, ReducePrecisionOp
from xla_dialect.ops.creation import IotaOp
from xla_dialect.ops.gather_scatter import GatherOp, ScatterOp
from xla_dialect.shapes.window import Window


class Case(NamedTuple):
    """A program of one or few operations."""

    types: Sequence[str]
    """Of its parameters, by their HLO spelling."""
    build: Callable[..., Built]


def scalars(name: str, count: int) -> list[str]:
    return [f"{name}[]"] * count


def fold(op: Callable[..., Any], name: str = "f32") -> Any:
    return computation(scalars(name, 2), op)


def first_and_larger(a: Any, i: Any, b: Any, j: Any) -> Sequence[XlaOp]:
    """What jax.lax.argmax folds with: no known operation."""
    keeps = elementwise.CompareOp(a, b, direction="GE")
    return [elementwise.SelectOp(keeps, a, b), elementwise.SelectOp(keeps, i, j)]


def reduced(*dimensions: int, op: Callable[..., Any] = elementwise.AddOp, name: str = "f32") -> Any:
    def build(x: Any, init: Any) -> XlaOp:
        return reductions.ReduceOp(
            [x], [init], dimensions=list(dimensions), regions=[fold(op, name)]
        )

    return build


def not_associative(a: Any, b: Any) -> XlaOp:
    """Any order but that of the rules gives another value."""
    return elementwise.SubtractOp(elementwise.MultiplyOp(a, constant("f32", 3)), b)


def windowed(window: Window, op: Callable[..., Any] = elementwise.AddOp) -> Any:
    def build(x: Any, init: Any) -> XlaOp:
        return reductions.ReduceWindowOp([x], [init], window=str(window), regions=[fold(op)])

    return build


def less(a: Any, b: Any) -> XlaOp:
    return elementwise.CompareOp(a, b, direction="LT", comparison_type="TOTALORDER")


def sorted_pairs(x: Any, y: Any) -> XlaOp:
    region = computation(scalars("f32", 2) + scalars("s32", 2), lambda a, b, _i, _j: less(a, b))
    return sorting.SortOp([x, y], dimension=0, is_stable=True, regions=[region])


def reshaped(*results: str) -> Any:
    return lambda x: [movement.ReshapeOp(x, result_types=[shape(text)]) for text in results]


def gather(**changes: Any) -> Any:
    numbers: dict[str, Any] = {
        "offset_dims": [1],
        "collapsed_slice_dims": [0],
        "start_index_map": [0],
        "index_vector_dim": 1,
        "slice_sizes": [1, 3],
        **changes,
    }
    return lambda x, indices: GatherOp(x, indices, **numbers)


def scatter(op: Callable[..., Any] = elementwise.AddOp, **changes: Any) -> Any:
    numbers: dict[str, Any] = {
        "update_window_dims": [1],
        "inserted_window_dims": [0],
        "scatter_dims_to_operand_dims": [0],
        "index_vector_dim": 1,
        **changes,
    }
    return lambda x, indices, new: ScatterOp([x], indices, [new], regions=[fold(op)], **numbers)


def pool_gradient(x: Any, source: Any) -> XlaOp:
    return reductions.SelectAndScatterOp(
        x,
        source,
        constant("f32", 0),
        window="size=1x2 stride=1x2",
        regions=[
            computation(
                scalars("f32", 2), lambda a, b: elementwise.CompareOp(a, b, direction="GE")
            ),
            fold(elementwise.AddOp),
        ],
    )


def convolution(labels: str, window: Window, **more: Any) -> Any:
    return lambda x, k: contractions.ConvolutionOp(
        x, k, window=str(window), dim_labels=labels, **more
    )


def halved(x: Any) -> XlaOp:
    """As long as the array is not empty, it loses its second half."""

    def size(y: Any) -> XlaOp:
        return sizes.GetDimensionSizeOp(y, dimension=0)

    def half(y: Any, total: Any) -> Sequence[Any]:
        count = elementwise.DivideOp(size(y), constant("s32", 2))
        return [sizes.SetDimensionSizeOp(y, count, dimension=0), elementwise.AddOp(total, size(y))]

    types = ["f32[<=6]", "s32[]"]
    condition = computation(
        types, lambda y, _: elementwise.CompareOp(size(y), constant("s32", 0), direction="GT")
    )
    return control_flow.WhileOp(
        [x, constant("s32", 0)], regions=[condition, computation(types, half)]
    )


def branches(c: Any, x: Any) -> XlaOp:
    """Branches whose results differ in size, one of them static."""
    static = movement.PadOp(
        constant("f32", [1, 2, 3, 4]),
        constant("f32", 0),
        edge_padding_low=[0],
        edge_padding_high=[2],
        interior_padding=[0],
    )
    return control_flow.ConditionalOp(
        c,
        [x],
        regions=[
            [computation(["f32[<=6]"], elementwise.NegateOp), computation([], lambda: static)]
        ],
    )


def dot(**dimensions: Any) -> Any:
    return lambda x, y: contractions.DotOp(x, y, **dimensions)


MATRIX = "f32[<=4,<=3]"
STATIC = "f32[4,3]"
LINE = "f32[<=6]"
PADDING: dict[str, Any] = {
    "edge_padding_low": [1, -1],
    "edge_padding_high": [2, 1],
    "interior_padding": [2, 0],
}

CASES: dict[str, Case] = {
    "unary": Case([MATRIX], lambda x: elementwise.LogOp(x)),
    "binary": Case([MATRIX, MATRIX], elementwise.DivideOp),
    "binary, one static": Case([STATIC, MATRIX], elementwise.AddOp),
    "compare": Case([MATRIX, STATIC], lambda x, y: elementwise.CompareOp(x, y, direction="LT")),
    "clamp": Case(["f32[]", MATRIX, STATIC], elementwise.ClampOp),
    "select": Case(["pred[]", MATRIX, MATRIX], elementwise.SelectOp),
    "map": Case(
        [LINE, LINE],
        lambda x, y: reductions.MapOp([x, y], regions=[fold(elementwise.SubtractOp)]),
    ),
    "convert": Case([MATRIX], lambda x: ConvertOp(x, result_types=[shape("s8[<=4,<=3]")])),
    "bitcast-convert to narrower": Case(
        [LINE], lambda x: BitcastConvertOp(x, result_types=[shape("u8[<=6,4]")])
    ),
    "reduce-precision": Case(
        [LINE], lambda x: ReducePrecisionOp(x, exponent_bits=5, mantissa_bits=3)
    ),
    "iota": Case([LINE], lambda x: [x, IotaOp(iota_dimension=0, result_types=[shape("s32[<=6]")])]),
    "random bits": Case(
        ["u64[2]"],
        lambda state: random.RngBitGeneratorOp(
            state,
            algorithm="rng_three_fry",
            result_types=[shape("u64[2]"), shape("u32[<=6]")],
        ),
    ),
    "broadcast": Case(
        [LINE],
        lambda x: movement.BroadcastOp(x, dimensions=[1], result_types=[shape("f32[2,<=6]")]),
    ),
    "transpose": Case([MATRIX], lambda x: movement.TransposeOp(x, dimensions=[1, 0])),
    "slice": Case(
        [MATRIX],
        lambda x: movement.SliceOp(x, start_indices=[1, 2], limit_indices=[4, 3], strides=[2, 1]),
    ),
    "concatenate": Case(
        [MATRIX, MATRIX, STATIC], lambda *all_: movement.ConcatenateOp(all_, dimension=0)
    ),
    "concatenate, last dynamic": Case(
        [STATIC, "f32[4,<=3]"], lambda *all_: movement.ConcatenateOp(all_, dimension=1)
    ),
    "pad": Case([MATRIX, "f32[]"], lambda x, v: movement.PadOp(x, v, **PADDING)),
    "reverse": Case([MATRIX], lambda x: movement.ReverseOp(x, dimensions=[0])),
    "dynamic-slice": Case(
        [MATRIX, "s32[]"],
        lambda x, i: movement.DynamicSliceOp(x, [i, i], dynamic_slice_sizes=[2, 3]),
    ),
    "dynamic-update-slice": Case(
        [MATRIX, "f32[<=2,2]", "s32[]"],
        lambda x, u, i: movement.DynamicUpdateSliceOp(x, u, [i, i]),
    ),
    "reshape, outermost": Case(["f32[<=4,2,3]"], reshaped("f32[<=8,3]", "f32[<=24]")),
    "reshape, inner": Case([MATRIX], reshaped("f32[<=12]", "f32[<=4,1,<=3]")),
    "reshape of ones": Case(["f32[1,<=4,1]"], reshaped("f32[<=4]", "f32[<=4,1,1]")),
    "set and get": Case(
        [MATRIX, "s32[]"],
        lambda x, n: [
            sizes.SetDimensionSizeOp(x, n, dimension=1),
            sizes.GetDimensionSizeOp(x, dimension=0),
        ],
    ),
    "sum": Case([MATRIX, "f32[]"], reduced(0)),
    "sum of all": Case([MATRIX, "f32[]"], reduced(0, 1)),
    "product": Case([MATRIX, "f32[]"], reduced(1, op=elementwise.MultiplyOp)),
    "maximum": Case([MATRIX, "f32[]"], reduced(0, op=elementwise.MaximumOp)),
    "minimum of s8": Case(["s8[<=4,2]", "s8[]"], reduced(0, op=elementwise.MinimumOp, name="s8")),
    "and of u8": Case(["u8[<=4,2]", "u8[]"], reduced(0, op=elementwise.AndOp, name="u8")),
    "or of pred": Case(["pred[<=4,2]", "pred[]"], reduced(0, op=elementwise.OrOp, name="pred")),
    "product of c64": Case(
        ["c64[<=4,2]", "c64[]"], reduced(0, op=elementwise.MultiplyOp, name="c64")
    ),
    "sum of f8": Case(["f8e4m3fn[<=4,2]", "f8e4m3fn[]"], reduced(0, name="f8e4m3fn")),
    "any fold": Case([MATRIX, "f32[]"], reduced(0, 1, op=not_associative)),
    "argmax": Case(
        [MATRIX, "s32[4,<=3]", "f32[]", "s32[]"],
        lambda x, y, a, b: reductions.ReduceOp(
            [x, y],
            [a, b],
            dimensions=[0],
            regions=[computation(["f32[]", "s32[]"] * 2, first_and_larger)],
        ),
    ),
    "window": Case(
        [MATRIX, "f32[]"],
        windowed(Window.of([2, 1], stride=[2, 1], padding=[(1, 0), (0, 0)]), elementwise.MaximumOp),
    ),
    "window, dilated": Case(
        [LINE, "f32[]"],
        windowed(Window.of([2], padding=[(2, 1)], base_dilation=[2], window_dilation=[3])),
    ),
    "window, any fold": Case(
        [LINE, "f32[]"], windowed(Window.of([3], padding=[(1, 1)]), not_associative)
    ),
    "pooling gradient": Case(["f32[<=3,4]", "f32[<=3,2]"], pool_gradient),
    "sort": Case(["f32[<=6,2]", "s32[<=6,2]"], sorted_pairs),
    "sort along the other": Case(
        ["f32[3,<=2]"],
        lambda x: sorting.SortOp(
            [x], dimension=0, is_stable=True, regions=[computation(scalars("f32", 2), less)]
        ),
    ),
    "topk": Case(["f32[<=3,5]"], lambda x: sorting.TopkOp(x, k=2)),
    "dot": Case([MATRIX, "f32[<=4,2]"], dot(lhs_contracting_dims=[0], rhs_contracting_dims=[0])),
    "dot, batch": Case(
        ["f32[<=2,<=3,4]", "f32[<=2,4]"],
        dot(
            lhs_contracting_dims=[2],
            rhs_contracting_dims=[1],
            lhs_batch_dims=[0],
            rhs_batch_dims=[0],
        ),
    ),
    "dot of f8e8m0fnu": Case(
        ["f8e8m0fnu[2,<=3]", "f8e8m0fnu[3]"],
        dot(lhs_contracting_dims=[1], rhs_contracting_dims=[0]),
    ),
    "convolution": Case(
        ["f32[<=2,<=5,<=3]", "f32[2,<=3,<=4]"],
        convolution("b0f_0io->b0f", Window.of([2], stride=[2], padding=[(1, 0)])),
    ),
    "convolution, windows side by side": Case(
        ["f32[2,<=6,1]", "f32[2,1,<=1]"],
        convolution("b0f_0io->b0f", Window.of([2], stride=[2])),
    ),
    "convolution, one window": Case(
        ["f32[<=2,<=4,<=3]", "f32[4,3,2]"], convolution("b0f_0io->b0f", Window.of([4]))
    ),
    "convolution, batches in groups": Case(
        ["f32[2,<=5,<=3]", "f32[2,<=3,4]"],
        convolution("b0f_0io->b0f", Window.of([2]), batch_group_count=2),
    ),
    "convolution, groups": Case(
        ["f32[<=2,<=5,4]", "f32[2,2,6]"],
        convolution("b0f_0io->b0f", Window.of([2], window_dilation=[2]), feature_group_count=2),
    ),
    "gather": Case(["f32[<=4,<=3]", "s32[<=5,1]"], gather()),
    "gather of parts": Case(["f32[<=4,<=3]", "s32[5,1]"], gather(slice_sizes=[1, 2])),
    "gather, batching": Case(
        ["f32[<=4,<=3]", "s32[<=4]"],
        gather(
            offset_dims=[],
            collapsed_slice_dims=[1],
            operand_batching_dims=[0],
            start_indices_batching_dims=[0],
            start_index_map=[1],
            slice_sizes=[1, 1],
        ),
    ),
    "scatter": Case(["f32[<=4,<=3]", "s32[<=5,1]", "f32[<=5,3]"], scatter()),
    "scatter of whole rows": Case(
        ["f32[4,<=3]", "s32[5,1]", "f32[5,<=3]"], scatter(lambda _, new: new)
    ),
    "scatter of parts": Case(["f32[<=4,<=3]", "u8[5,1]", "f32[5,2]"], scatter()),
    "scatter of windows": Case(
        ["f32[<=6]", "s32[<=3]", "f32[<=3,2]"], scatter(inserted_window_dims=[])
    ),
    "scatter, batching": Case(
        ["f32[<=4,3]", "s32[<=4]", "f32[4]"],
        scatter(
            update_window_dims=[],
            inserted_window_dims=[1],
            input_batching_dims=[0],
            scatter_indices_batching_dims=[0],
            scatter_dims_to_operand_dims=[1],
        ),
    ),
    "cholesky": Case(["f32[<=3,<=3]"], lambda x: linear_algebra.CholeskyOp(x, lower=True)),
    "triangular-solve": Case(
        ["f32[<=2,<=3,<=3]", "f32[2,<=3,<=2]"],
        lambda a, b: linear_algebra.TriangularSolveOp(
            a, b, left_side=True, lower=True, transpose_a="NO_TRANSPOSE"
        ),
    ),
    "fft": Case(["f32[<=3,4]"], lambda x: linear_algebra.FftOp(x, fft_type="RFFT", fft_length=[4])),
    "batch-norm-inference": Case(
        ["f32[<=4,<=3]", "f32[<=3]", "f32[3]", "f32[3]", "f32[<=3]"],
        lambda *all_: normalization.BatchNormInferenceOp(*all_, epsilon=0.1, feature_index=1),
    ),
    "batch-norm-training": Case(
        ["f32[<=4,3]", "f32[3]", "f32[3]"],
        lambda *all_: normalization.BatchNormTrainingOp(*all_, epsilon=0.1, feature_index=1),
    ),
    "batch-norm-grad": Case(
        ["f32[<=4,<=3]", "f32[<=3]", "f32[3]", "f32[3]", "f32[<=4,<=3]"],
        lambda *all_: normalization.BatchNormGradOp(*all_, epsilon=0.1, feature_index=1),
    ),
    "optimization barrier": Case([LINE], control_flow.OptBarrierOp),
    "while": Case([LINE], halved),
    "conditional": Case(["pred[]", LINE], branches),
}
