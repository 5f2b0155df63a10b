"""The kernels that the benchmark measures, one row each. Only loaded where JAX is installed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.core import Primitive
from jax.interpreters import mlir
from jax.scipy.ndimage import map_coordinates
from jaxlib.mlir.dialects import stablehlo

from .contenders import (
    Function,
    Row,
    bf16,
    c64,
    f32,
    f64,
    indices,
    lower_triangular,
    positive_definite,
    s8,
)
from .transformer import normalized


def convolution(
    layout: str, strides: Sequence[int], padding: Any = "SAME", **options: Any
) -> Function:
    """A convolution of operands in the order of `layout`: features first, or last."""
    spatial = "DHW"[-len(strides) :]
    orders = {
        "first": (f"NC{spatial}", f"OI{spatial}", f"NC{spatial}"),
        "last": (f"N{spatial}C", f"{spatial}IO", f"N{spatial}C"),
    }

    def function(x: Any, kernel: Any) -> Any:
        return lax.conv_general_dilated(
            x, kernel, strides, padding, dimension_numbers=orders[layout], **options
        )

    return function


def _transposed_convolution(x: Any, kernel: Any) -> Any:
    return lax.conv_transpose(x, kernel, (2, 2), "SAME")


def _maximum(window: Sequence[int], strides: Sequence[int], padding: Any) -> Function:
    return lambda x: lax.reduce_window(x, -jnp.inf, lax.max, window, strides, padding)


def _mean(window: Sequence[int], strides: Sequence[int], padding: Any) -> Function:
    count = np.prod(window)
    return lambda x: lax.reduce_window(x, 0.0, lax.add, window, strides, padding) / count


def _gradient(function: Function) -> Function:
    """The cotangent of the first operand, from the operands and that of the result, given last."""

    def cotangent(*operands: Any) -> Any:
        *others, result = operands
        return jax.vjp(function, *others)[1](result)[0]

    return cotangent


def _kernel_gradient(function: Function) -> Function:
    """The cotangent of a kernel, from the base, a kernel and the cotangent of the result."""

    def cotangent(x: Any, kernel: Any, result: Any) -> Any:
        return jax.vjp(lambda k: function(x, k), kernel)[1](result)[0]

    return cotangent


def _product(x: Any, y: Any) -> Any:
    """A matrix product, with sums of s8 numbers in s32."""
    return jnp.matmul(x, y, preferred_element_type=np.int32 if x.dtype == np.int8 else None)


def _scaled_layer_norm(x: Any, scale: Any, shift: Any) -> Any:
    return normalized(x) * scale + shift


def _added(x: Any, updates: Any, indices: Any) -> Any:
    """A scatter; with rows as updates the gradient of an embedding."""
    return x.at[indices].add(updates)


def _warped(image: Any, moved: Any) -> Any:
    """An image at points between its elements, each moved from where it was."""
    points = jnp.stack(jnp.meshgrid(*map(jnp.arange, image.shape), indexing="ij"))
    return map_coordinates(image, points + moved, order=1)


def _random_bits(seed: Any) -> Any:
    return jax.random.bits(jax.random.key(seed[0]), (1 << 20,))


def _joined(x: Any, y: Any) -> Any:
    return jnp.pad(jnp.concatenate([x, y[:, ::2]], 1), ((1, 2), (3, 4)))


def _steps(x: Any) -> Any:
    """A loop of small operations."""
    return lax.fori_loop(0, 1000, lambda _, y: jnp.tanh(y * 1.1 + x), x)


def _runge_kutta(x: Any) -> Any:
    """A loop of operations on few numbers: the Lorenz equations."""

    def slope(y: Any) -> Any:
        return jnp.stack(
            [10 * (y[1] - y[0]), y[0] * (28 - y[2]) - y[1], y[0] * y[1] - y[2] * 8 / 3]
        )

    def step(_: Any, y: Any) -> Any:
        first = slope(y)
        second = slope(y + 0.005 * first)
        third = slope(y + 0.005 * second)
        fourth = slope(y + 0.01 * third)
        return y + 0.01 / 6 * (first + 2 * second + 2 * third + fourth)

    return lax.fori_loop(0, 1000, step, x)


def _rows_replaced(x: Any, rows: Any) -> Any:
    """A loop that changes one row of an array after the other."""

    def step(i: Any, y: Any) -> Any:
        return lax.dynamic_update_slice(y, y[i][None] + rows[i][None], (i, 0))

    return lax.fori_loop(0, len(rows), step, x)


def _cholesky_operation() -> Function:
    """The operation of HLO, in the place of which JAX calls LAPACK."""
    primitive = Primitive("cholesky_operation")
    primitive.def_abstract_eval(lambda x: x)
    mlir.register_lowering(
        primitive, lambda _, x: [stablehlo.CholeskyOp(x, lower=True).result], platform="cpu"
    )
    return primitive.bind


def _solve_operation() -> Function:
    """The operation of HLO, in the place of which JAX calls LAPACK."""
    primitive = Primitive("solve_operation")
    primitive.def_abstract_eval(lambda a, b: b)
    none = "NO_TRANSPOSE"

    def lower(_: Any, a: Any, b: Any) -> Any:
        transpose = stablehlo.TransposeAttr.get(none)
        return [stablehlo.TriangularSolveOp(a, b, True, True, False, transpose).result]

    mlir.register_lowering(primitive, lower, platform="cpu")
    return primitive.bind


def _solved(a: Any, b: Any) -> Any:
    return lax.linalg.triangular_solve(a, b, left_side=True, lower=True)


_LIBRARY = "XLA calls a library that is compiled already; we compile the loops."
_FOURIER = (
    f"{_LIBRARY} Every radix is code of its own, and so is every number of vectors in a stage."
)
_SORT = "XLA calls one sort for all; we compile one for these keys and this shape."
_SAME = "Both call LAPACK."

_IMAGES = (8, 56, 56, 64)
_POOLED, _HALVED = (8, 112, 112, 16), (8, 56, 56, 16)
_WIDE = (512, 4096)

ELEMENTWISE = (
    Row("add", lax.add, (f32(*_WIDE), f32(*_WIDE))),
    Row("exp", jnp.exp, (f32(*_WIDE),)),
    Row("tanh", jnp.tanh, (f32(*_WIDE),)),
    Row("rsqrt", lambda x: lax.rsqrt(x * x + 1), (f32(*_WIDE),)),
    Row("sin(x) * cos(x) + x", lambda x: jnp.sin(x) * jnp.cos(x) + x, (f32(*_WIDE),)),
    Row("gelu", lambda x: jax.nn.gelu(x, approximate=True), (f32(*_WIDE),)),
    Row("gelu, exact", lambda x: jax.nn.gelu(x, approximate=False), (f32(*_WIDE),)),
    Row("exp bf16", jnp.exp, (bf16(*_WIDE),)),
    Row("log f64", lambda x: jnp.log(x * x), (f64(*_WIDE),)),
)

REDUCTIONS = (
    Row("sum of rows", lambda x: x.sum(1), (f32(*_WIDE),), _LIBRARY),
    Row("sum of rows f64", lambda x: x.sum(1), (f64(*_WIDE),), _LIBRARY),
    Row("sum of columns", lambda x: x.sum(0), (f32(*_WIDE),), _LIBRARY),
    Row("sum of all", jnp.sum, (f32(*_WIDE),), _LIBRARY),
    Row("argmax of rows", lambda x: x.argmax(1), (f32(*_WIDE),)),
    Row("softmax", jax.nn.softmax, (f32(*_WIDE),)),
    Row("layer norm", normalized, (f32(512, 768),)),
    Row("layer norm, scaled", _scaled_layer_norm, (f32(*_WIDE), f32(4096), f32(4096))),
)

MATRIX_PRODUCTS = (
    *(
        Row(f"matmul {size}", _product, (f32(size, size), f32(size, size)), _LIBRARY, 2 * size**3)
        for size in (128, 256, 512, 1024)
    ),
    Row("matmul 250x333x127", _product, (f32(250, 333), f32(333, 127)), _LIBRARY),
    Row("matmul 32 of 64", _product, (f32(32, 64, 64), f32(32, 64, 64)), _LIBRARY),
    Row("matmul bf16 512", _product, (bf16(512, 512), bf16(512, 512))),
    Row("matmul bf16 1024", _product, (bf16(1024, 1024), bf16(1024, 1024))),
    Row("matmul s8 512", _product, (s8(512, 512), s8(512, 512)), _LIBRARY),
    Row("matmul f64 512", _product, (f64(512, 512), f64(512, 512)), _LIBRARY),
    Row(
        "image resized, 3 channels last",
        lambda x: jax.image.resize(x, (8, 224, 224, 3), "linear"),
        (f32(8, 112, 112, 3),),
    ),
    Row("matrix * vector 2048", _product, (f32(2048, 2048), f32(2048))),
    Row("vector * matrix 2048", _product, (f32(2048), f32(2048, 2048))),
)

CONVOLUTIONS = (
    Row("conv 3x3 NHWC", convolution("last", (1, 1)), (f32(*_IMAGES), f32(3, 3, 64, 64)), _LIBRARY),
    Row(
        "conv 1x1 NHWC", convolution("last", (1, 1)), (f32(*_IMAGES), f32(1, 1, 64, 256)), _LIBRARY
    ),
    Row(
        "conv 3x3 stride 2 NHWC",
        convolution("last", (2, 2)),
        (f32(*_IMAGES), f32(3, 3, 64, 128)),
        _LIBRARY,
    ),
    Row(
        "conv 3x3 depthwise NHWC",
        convolution("last", (1, 1), feature_group_count=64),
        (f32(*_IMAGES), f32(3, 3, 1, 64)),
        _LIBRARY,
    ),
    Row(
        "conv 3x3 transposed NHWC",
        _transposed_convolution,
        (f32(8, 28, 28, 64), f32(3, 3, 64, 32)),
        _LIBRARY,
    ),
    Row(
        "conv 3x3 s8 NHWC",
        convolution("last", (1, 1), preferred_element_type=np.int32),
        (s8(4, 28, 28, 32), s8(3, 3, 32, 32)),
        _LIBRARY,
    ),
    Row(
        "conv 7x7 stride 2 NCHW",
        convolution("first", (2, 2), [(3, 3), (3, 3)]),
        (f32(4, 3, 224, 224), f32(64, 3, 7, 7)),
    ),
    Row("conv 3x3 NCHW", convolution("first", (1, 1)), (f32(4, 64, 56, 56), f32(64, 64, 3, 3))),
    Row(
        "conv 3x3 stride 2 NCHW",
        convolution("first", (2, 2)),
        (f32(8, 64, 56, 56), f32(128, 64, 3, 3)),
    ),
    Row("conv 5 NWC", convolution("last", (1,)), (f32(8, 1024, 64), f32(5, 64, 64)), _LIBRARY),
    Row(
        "conv 3x3x3 NDHWC",
        convolution("last", (1, 1, 1)),
        (f32(2, 16, 16, 16, 16), f32(3, 3, 3, 16, 32)),
        _LIBRARY,
    ),
    Row(
        "conv 3x3 stride 2 gradient of base",
        _gradient(convolution("last", (2, 2))),
        (f32(*_IMAGES), f32(3, 3, 64, 64), f32(8, 28, 28, 64)),
        _LIBRARY,
    ),
    Row(
        "conv 3x3 gradient of kernel",
        _kernel_gradient(convolution("last", (1, 1))),
        (f32(8, 28, 28, 64), f32(3, 3, 64, 64), f32(8, 28, 28, 64)),
    ),
)

POOLING = (
    Row("max pool 2x2 NHWC", _maximum((1, 2, 2, 1), (1, 2, 2, 1), "VALID"), (f32(*_POOLED),)),
    Row(
        "max pool 3x3 stride 2 NHWC", _maximum((1, 3, 3, 1), (1, 2, 2, 1), "SAME"), (f32(*_POOLED),)
    ),
    Row(
        "max pool 2x2 NCHW", _maximum((1, 1, 2, 2), (1, 1, 2, 2), "VALID"), (f32(8, 16, 112, 112),)
    ),
    Row("mean pool 3x3 NHWC", _mean((1, 3, 3, 1), (1, 1, 1, 1), "SAME"), (f32(*_POOLED),)),
    Row(
        "max pool 2x2 gradient",
        _gradient(_maximum((1, 2, 2, 1), (1, 2, 2, 1), "VALID")),
        (f32(*_POOLED), f32(*_HALVED)),
    ),
    Row(
        "max pool 3x3 stride 2 gradient",
        _gradient(_maximum((1, 3, 3, 1), (1, 2, 2, 1), "SAME")),
        (f32(*_POOLED), f32(*_HALVED)),
    ),
    Row(
        "mean pool 3x3 stride 2 gradient",
        _gradient(_mean((1, 3, 3, 1), (1, 2, 2, 1), "SAME")),
        (f32(*_POOLED), f32(*_HALVED)),
    ),
)

ORDER = (
    Row("cumulative sum", jnp.cumsum, (f32(1 << 20),)),
    Row("cumulative sum backwards", lambda x: lax.cumsum(x, reverse=True), (f32(1 << 20),)),
    Row("cumulative maximum of rows", lambda x: lax.cummax(x, 1), (f32(512, 2048),)),
    Row("cumulative sum of columns", lambda x: jnp.cumsum(x, 0), (f32(*_WIDE),)),
    Row("sort 1M", jnp.sort, (f32(1 << 20),), _SORT),
    Row("argsort 256k", jnp.argsort, (f32(1 << 18),)),
    Row("sort 1000 rows of 1000", jnp.sort, (f32(1000, 1000),), _SORT),
    Row("sort 1000 columns of 1000", lambda x: jnp.sort(x, axis=0), (f32(1000, 1000),), _SORT),
    Row("top 1000 of 100k", lambda x: lax.top_k(x, 1000), (f32(100_000),), _LIBRARY),
    Row("top 100 of 1M", lambda x: lax.top_k(x, 100), (f32(1 << 20),), _LIBRARY),
    Row("top 32 of 64 rows of 2048", lambda x: lax.top_k(x, 32), (f32(64, 2048),), _LIBRARY),
    Row("top 8 of equal numbers", lambda x: lax.top_k(x * 0, 8), (f32(8, 100_000),), _LIBRARY),
    Row("approximate top 64", lambda x: lax.approx_max_k(x, 64), (f32(8, 100_000),), _LIBRARY),
)

MOVEMENT = (
    Row("transpose", lambda x: x.T, (f32(1024, 1024),)),
    Row("transpose 2048", lambda x: x.T, (f32(2048, 2048),)),
    Row("NCHW to NHWC", lambda x: x.transpose(0, 2, 3, 1), (f32(8, 64, 56, 56),)),
    Row("concatenate, slice, pad", _joined, (f32(512, 2048), f32(512, 4096))),
    Row("embedding", lambda x, i: x[i], (f32(10_000, 256), indices(4096, 10_000))),
    Row(
        "elements of a matrix",
        lambda x, i, j: x[i, j],
        (f32(1000, 1000), indices(1 << 18, 1000), indices(1 << 18, 1000)),
    ),
    Row("map coordinates 512x512", _warped, (f32(512, 512), f32(2, 512, 512))),
    Row(
        "embedding gradient",
        _added,
        (f32(10_000, 256), f32(4096, 256), indices(4096, 10_000)),
    ),
    Row(
        "segment sums of columns",
        jax.vmap(lambda x, i: jax.ops.segment_sum(x, i, 64), (1, None), 1),
        (f32(4096, 32), indices(4096, 64)),
    ),
    Row(
        "scatter-add 1M into 10k",
        _added,
        (f32(10_000), f32(1 << 20), indices(1 << 20, 10_000)),
    ),
    Row("1000 steps of tanh 8x64", _steps, (f32(8, 64),)),
    Row(
        "1000 steps of RK4 on 3 numbers",
        _runge_kutta,
        (f32(3),),
        "Each step waits for divisions by 3; XLA multiplies by the rounded reciprocal instead.",
    ),
    Row("256 rows replaced in a loop", _rows_replaced, (f32(256, 256), f32(256, 256))),
)

TRANSFORMS = (
    Row("fft 64 of 1024", jnp.fft.fft, (c64(64, 1024),), _FOURIER),
    Row("fft 64 of 1000", jnp.fft.fft, (c64(64, 1000),), _FOURIER),
    Row("fft 64 of 1009, a prime", jnp.fft.fft, (c64(64, 1009),), _FOURIER),
    Row("fft 65536", jnp.fft.fft, (c64(1 << 16),), _FOURIER),
    Row("fft 256x256", jnp.fft.fft2, (c64(256, 256),), _FOURIER),
    Row("fft 1024x1024", jnp.fft.fft2, (c64(1024, 1024),), _FOURIER),
    Row("rfft 64 of 2048", jnp.fft.rfft, (f32(64, 2048),), _FOURIER),
    Row("irfft 64 of 2048", lambda x: jnp.fft.irfft(x, 2048), (c64(64, 1025),), _FOURIER),
    Row("cholesky 256", _cholesky_operation(), (positive_definite(256),)),
    Row(
        "cholesky 256, LAPACK",
        lambda x: lax.linalg.cholesky(x),
        (positive_definite(256),),
        _SAME,
    ),
    Row("triangular solve 256", _solve_operation(), (lower_triangular(256), f32(256, 64))),
    Row("triangular solve 256, LAPACK", _solved, (lower_triangular(256), f32(256, 64)), _SAME),
    Row("solve 128, LAPACK", jnp.linalg.solve, (positive_definite(128), f32(128, 8)), _SAME),
    Row("qr 256, LAPACK", lambda x: jnp.linalg.qr(x), (f32(256, 256),), _SAME),
    Row("random bits 1M", _random_bits, (indices(1, 1 << 30),)),
)

KERNELS = (
    *ELEMENTWISE,
    *REDUCTIONS,
    *MATRIX_PRODUCTS,
    *CONVOLUTIONS,
    *POOLING,
    *ORDER,
    *MOVEMENT,
    *TRANSFORMS,
)
