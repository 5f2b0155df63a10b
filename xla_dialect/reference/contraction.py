"""What contractions compute: blocked sums of products, in row-major order of what is contracted."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from xla_dialect.literals.arrays import Array, DType, accumulator_dtype
from xla_dialect.op import Ints, XlaOp
from xla_dialect.ops import contraction as ops
from xla_dialect.ops.contraction import DotDimensions
from xla_dialect.reference.conversion import convert, result_dtype
from xla_dialect.reference.data_movement import broadcast
from xla_dialect.reference.gather_scatter import as_signed
from xla_dialect.reference.reduction import BLOCK, BlockedSum, blocked_sum, boxes
from xla_dialect.reference.registration import registration
from xla_dialect.reference.rounding import as_complex
from xla_dialect.shapes import size_arithmetic as shapes
from xla_dialect.shapes.window import ConvolutionLabels, Window

_PIECE = 1 << 16
"""Products that are held at once where they are added up along the contracting index."""


def contract(lhs: Array, rhs: Array) -> Array:
    """
    `[b,m,k] x [b,n,k] -> [b,m,n]`, each element a sum over k, blocked if it is one of floats.

    Products are rounded before they are added.
    """
    left, right = (np.ascontiguousarray(np.moveaxis(side, -1, 0)) for side in (lhs, rhs))
    nothing = np.zeros((*lhs.shape[:2], rhs.shape[1]), lhs.dtype)
    total = BlockedSum(nothing)
    if BLOCK * nothing.size > _PIECE:
        for column, row in zip(left, right, strict=True):
            total.add(column[:, :, None] * row[:, None])
        return nothing + total.total()
    level = (_PIECE // (BLOCK * max(nothing.size, 1))).bit_length() - 1
    step = BLOCK << level
    for k in range(0, len(left), step):
        products = left[k : k + step, :, :, None] * right[k : k + step, :, None]
        total.add_blocks(blocked_sum(products), level)
    return nothing + total.total()  # 0 + -0 is 0


def arranged(array: Array, batch: Sequence[int], contracting: Sequence[int]) -> Array:
    """The array as [batch, free, contracting] with merged dimensions."""
    free = shapes.without(range(array.ndim), (*batch, *contracting))
    merged = [math.prod(array.shape[d] for d in dims) for dims in (batch, free, contracting)]
    return array.transpose((*batch, *free, *contracting)).reshape(merged)


def dot(lhs: Array, rhs: Array, numbers: DotDimensions) -> Array:
    """The dot of arrays of the accumulator's type."""
    left = arranged(lhs, numbers.lhs_batch_dims, numbers.lhs_contracting_dims)
    right = arranged(rhs, numbers.rhs_batch_dims, numbers.rhs_contracting_dims)
    return contract(left, right).reshape(numbers.contracted(lhs.shape, rhs.shape))


def dot_of_parts(lhs: Array, rhs: Array, numbers: DotDimensions) -> Array:
    """The same; of complex numbers by four dots of their parts."""
    return of_parts(lambda left, right: dot(left, right, numbers), lhs, rhs)


def of_parts(product: Callable[[Array, Array], Array], lhs: Array, rhs: Array) -> Array:
    """What is linear in both operands; of complex numbers four of their parts."""
    if lhs.dtype.kind != "c":
        return product(lhs, rhs)
    left, right = ((np.real(x), np.imag(x)) for x in (lhs, rhs))
    real = product(left[0], right[0]) - product(left[1], right[1])
    return as_complex(real, product(left[0], right[1]) + product(left[1], right[0]))


def group_masks(group_sizes: Array, prefix: Sequence[int], length: int) -> Iterator[Array]:
    """
    Per group, whether it has the indices 0 .. length - 1 of the ragged dimension.

    Groups follow each other; `group_sizes` is `[g]` or `[*prefix, g]`, a mask `[*prefix, length]`.
    """
    index = np.arange(length)
    starts = np.zeros(group_sizes.shape[:-1], np.int64)
    for group in range(group_sizes.shape[-1]):
        ends = starts + as_signed(group_sizes[..., group])
        inside = (starts[..., None] <= index) & (index < ends[..., None])
        yield np.broadcast_to(inside, (*prefix, length))
        starts = ends


def only_in(mask: Array, operand: Array, dims: Sequence[int]) -> Array:
    """The operand where the mask over the given dimensions holds, 0 elsewhere."""
    return np.where(broadcast(mask, dims, operand.shape), operand, operand.dtype.type(0))


def ragged_free_dot(
    lhs: Array, rhs: Array, masks: Iterable[Array], groups: int, numbers: DotDimensions
) -> Array:
    """Rows in a group meet the part of rhs for that group; `groups` is its dimension of rhs."""
    left_out = shapes.without(range(rhs.ndim), (groups,))
    of_part = replace(
        numbers,
        rhs_batch_dims=tuple(map(left_out.index, numbers.rhs_batch_dims)),
        rhs_contracting_dims=tuple(map(left_out.index, numbers.rhs_contracting_dims)),
    )
    result = np.zeros(numbers.contracted(lhs.shape, rhs.shape, (groups,)), lhs.dtype)
    for group, mask in enumerate(masks):
        if np.any(mask):
            part = np.take(rhs, group, axis=groups)
            rows = dot_of_parts(lhs, part, of_part)
            # The dimensions of the mask come first in the result.
            trailing = (1,) * (result.ndim - mask.ndim)
            result = np.where(mask.reshape((*mask.shape, *trailing)), rows, result)
    return result


def repeated(scale: Array, sizes: Sequence[int]) -> Array:
    """Every element of the scale as often as it takes to fill the sizes."""
    for dimension, size in enumerate(sizes):
        if scale.shape[dimension]:
            scale = np.repeat(scale, size // scale.shape[dimension], axis=dimension)
    return scale


def grouped(lhs: Array, rhs: Array, features: int, batches: int) -> tuple[Array, Array]:
    """
    `[b, f, ..]` and `[o, i, ..]` operands of a convolution as `[g, b, i, ..]` and `[g, o, i, ..]`.

    `features`, `batches`: the group counts, of which one is 1.
    """
    batch, feature, *space = lhs.shape
    groups = features * batches
    split = lhs.reshape((batches, batch // batches, features, feature // features, *space))
    left = np.swapaxes(split, 1, 2).reshape((groups, batch // batches, feature // features, *space))
    right = rhs.reshape((groups, rhs.shape[0] // groups, *rhs.shape[1:]))
    return left, right


def convolve(lhs: Array, rhs: Array, window: Window) -> Array:
    """
    `[g, b, i, base..]` and `[g, o, i, kernel..]` to `[g, b, o, placements..]`.

    One dot over i for every element of the window, added up in row-major order, in blocks.
    """
    placements = window.placements(lhs.shape[3:])
    nothing = np.zeros((*lhs.shape[:2], rhs.shape[1], *placements), lhs.dtype)
    total = BlockedSum(nothing)
    flipped = tuple(i + 3 for i, d in enumerate(window.dimensions) if d.reversal)
    kernel = np.flip(rhs, flipped)
    numbers = DotDimensions((0,), (lhs.ndim - 1,), (0,), (2,))
    for element, into, taken in boxes(window, lhs.shape[3:]):
        base = np.moveaxis(lhs[(..., *taken)], 2, -1)
        products = dot(base, kernel[(..., *element)], numbers)
        term = nothing.copy()
        term[(..., *into)] = np.moveaxis(products, -1, 2)
        total.add(term)
    return total.total()


def in_accumulator_type(lhs: Array, rhs: Array, result: DType) -> tuple[Array, Array]:
    """Both operands converted to the type that their products are added up in."""
    accumulator = accumulator_dtype(lhs.dtype, rhs.dtype, result)
    return convert(lhs, accumulator), convert(rhs, accumulator)


def dot_general(lhs: Array, rhs: Array, *, op: XlaOp, **dimensions: Ints) -> Array:
    """`result[b.., m.., n..] = Σ_k lhs[b.., m.., k..] * rhs[b.., n.., k..]`."""
    dtype = result_dtype(op)
    lhs, rhs = in_accumulator_type(lhs, rhs, dtype)
    numbers = DotDimensions(**dimensions)
    return convert(dot_of_parts(lhs, rhs, numbers), dtype)


def ragged_dot(
    lhs: Array,
    rhs: Array,
    group_sizes: Array,
    *,
    lhs_ragged_dims: Ints,
    rhs_group_dims: Ints,
    op: ops.RaggedDotOp,
    **dimensions: Ints,
) -> Array:
    """One dot per group."""
    dtype = result_dtype(op)
    lhs, rhs = in_accumulator_type(lhs, rhs, dtype)
    numbers = DotDimensions(**dimensions)
    batch, contracting = numbers.lhs_batch_dims, numbers.lhs_contracting_dims
    (ragged,) = lhs_ragged_dims
    if ragged in batch:
        return convert(dot_of_parts(lhs, rhs, numbers), dtype)
    prefix = ops.ragged_prefix(lhs.ndim, batch, contracting, ragged)
    masks = group_masks(group_sizes, [lhs.shape[d] for d in prefix], lhs.shape[ragged])
    if ragged not in contracting:
        (groups,) = rhs_group_dims
        return convert(ragged_free_dot(lhs, rhs, masks, groups, numbers), dtype)
    dims = (*prefix, ragged)
    theirs = numbers.rhs_batch_dims + numbers.rhs_contracting_dims
    opposite = dict(zip(batch + contracting, theirs, strict=True))
    rhs_dims = [opposite[d] for d in dims]
    sizes = numbers.contracted(lhs.shape, rhs.shape)
    result = np.zeros((group_sizes.shape[-1], *sizes), dtype)
    for group, mask in enumerate(masks):
        parts = only_in(mask, lhs, dims), only_in(mask, rhs, rhs_dims)
        result[group] = convert(dot_of_parts(*parts, numbers), dtype)
    return result


def scaled_dot(
    lhs: Array,
    rhs: Array,
    lhs_scale: Array,
    rhs_scale: Array,
    *,
    op: ops.ScaledDotOp,
    **dimensions: Ints,
) -> Array:
    """The dot of the operands times their scales."""
    dtype = result_dtype(op)
    lhs, rhs = (
        factor * repeated(convert(scale, factor.dtype), factor.shape) if scale.ndim else factor
        for factor, scale in zip(
            in_accumulator_type(lhs, rhs, dtype), (lhs_scale, rhs_scale), strict=True
        )
    )
    numbers = DotDimensions(**dimensions)
    return convert(dot_of_parts(lhs, rhs, numbers), dtype)


def convolution(
    lhs: Array,
    rhs: Array,
    *,
    window: Window,
    dim_labels: ConvolutionLabels,
    feature_group_count: int,
    batch_group_count: int,
    op: ops.ConvolutionOp,
) -> Array:
    """Per group, sums over the window and the input features."""
    dtype = result_dtype(op)
    left, right = in_accumulator_type(lhs, rhs, dtype)
    groups = grouped(
        left.transpose(dim_labels.lhs_order()),
        right.transpose(dim_labels.rhs_order()),
        feature_group_count,
        batch_group_count,
    )
    found = of_parts(lambda base, kernel: convolve(base, kernel, window), *groups)
    sums = convert(found, dtype)
    _, batch, _, *placements = sums.shape
    sums = np.moveaxis(sums, 0, 1).reshape(
        (batch, rhs.shape[dim_labels.rhs.index("o")], *placements)
    )
    return sums.transpose(np.argsort(dim_labels.result_order()))


ContractionFunctions = registration(
    "ContractionFunctions",
    {
        ops.DotOp: dot_general,
        ops.RaggedDotOp: ragged_dot,
        ops.ScaledDotOp: scaled_dot,
        ops.ConvolutionOp: convolution,
    },
)
"""Sums of products."""
