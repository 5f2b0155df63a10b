"""What `dot` computes: sums of products in row-major order of the contracting index."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from xdsl.interpreter import Interpreter, InterpreterFunctions, PythonValues, impl, register_impls

from xla_dialect import shapes
from xla_dialect.ops import contraction as ops
from xla_dialect.reference.conversion import convert, result_dtype
from xla_dialect.reference.data_movement import array_type, integers
from xla_dialect.reference.literal import ELEMENT_OF_DTYPE, Array, DType
from xla_dialect.reference.rounding import COMPUTE_DTYPES
from xla_dialect.types import ElementClass

_TILE = 1 << 15
"""Elements of the result that are accumulated at once, so that they stay in the cache."""
_FEW = 256
"""Up to so many result elements it is quicker to run along the contracting index."""


def accumulator_dtype(lhs: DType, rhs: DType, result: DType) -> DType:
    """f64 (c128) if a part of the dot has it, f32 (c64) for other floats, else the result type."""
    rows = [ELEMENT_OF_DTYPE[d] for d in (lhs, rhs, result)]
    if not any(row.element_class & (ElementClass.FLOAT | ElementClass.COMPLEX) for row in rows):
        return COMPUTE_DTYPES.get(result, result)
    kind = "c" if any(row.element_class == ElementClass.COMPLEX for row in rows) else "f"
    parts = [
        row.bits // (2 if row.element_class == ElementClass.COMPLEX else 1)
        for row in rows
        if row.element_class & (ElementClass.FLOAT | ElementClass.COMPLEX)
    ]
    size = 8 if max(parts) == 64 else 4
    return np.dtype(f"{kind}{2 * size if kind == 'c' else size}")


def contract(lhs: Array, rhs: Array) -> Array:
    """`[b,m,k] x [b,n,k] -> [b,m,n]`, each element a left fold over k that starts from 0."""
    batch, rows, depth = lhs.shape
    columns = rhs.shape[1]
    result = np.zeros((batch, rows, columns), lhs.dtype)
    if result.size <= _FEW:
        return _accumulated(lhs, rhs, result)
    left = np.ascontiguousarray(lhs.transpose(2, 0, 1))[..., None]
    right = np.ascontiguousarray(rhs.transpose(2, 0, 1))[:, :, None, :]
    row_tile = max(1, min(rows, _TILE // max(columns, 1)))
    batch_tile = max(1, _TILE // (row_tile * max(columns, 1)))
    for b in range(0, batch, batch_tile):
        for m in range(0, rows, row_tile):
            place = np.s_[b : b + batch_tile, m : m + row_tile]
            total = result[place]
            product = np.empty_like(total)
            for k in range(depth):
                factors = left[k][place], right[k, b : b + batch_tile]
                np.multiply(*factors, out=product)
                np.add(total, product, out=total)
    return result


def _accumulated(lhs: Array, rhs: Array, total: Array) -> Array:
    """As `contract`, for few results: running sums along k, a piece of k at a time."""
    depth = lhs.shape[2]
    step = max(1, (1 << 20) // max(total.size, 1))
    for k in range(0, depth, step):
        products = lhs[:, :, None, k : k + step] * rhs[:, None, :, k : k + step]
        products[..., 0] += total
        total = np.add.accumulate(products, axis=-1, dtype=total.dtype)[..., -1]
    return total


def arranged(array: Array, batch: Sequence[int], contracting: Sequence[int]) -> Array:
    """The array as [batch, free, contracting] with merged dimensions."""
    free = shapes.without(range(array.ndim), (*batch, *contracting))
    merged = [math.prod(array.shape[d] for d in dims) for dims in (batch, free, contracting)]
    return array.transpose((*batch, *free, *contracting)).reshape(merged)


@register_impls
class ContractionFunctions(InterpreterFunctions):
    """Sums of products."""

    @impl(ops.DotOp)
    def run_dot(self, interpreter: Interpreter, op: ops.DotOp, args: PythonValues) -> PythonValues:
        """`result[b.., m.., n..] = Σ_k lhs[b.., m.., k..] * rhs[b.., n.., k..]`."""
        dtype = result_dtype(op)
        accumulator = accumulator_dtype(args[0].dtype, args[1].dtype, dtype)
        lhs = arranged(
            convert(args[0], accumulator),
            integers(op.lhs_batch_dims),
            integers(op.lhs_contracting_dims),
        )
        rhs = arranged(
            convert(args[1], accumulator),
            integers(op.rhs_batch_dims),
            integers(op.rhs_contracting_dims),
        )
        sums = convert(contract(lhs, rhs), dtype)
        return (sums.reshape(array_type(op.result).get_shape()),)
