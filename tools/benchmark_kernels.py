"""The kernels that the benchmark measures beside XLA, as functions of JAX: one row each.

Only loaded where JAX is installed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

Function: TypeAlias = Callable[..., Any]


@dataclass(frozen=True)
class Kernel:
    """A function of arrays of these sizes, of normally distributed f32 numbers; then of indices."""

    name: str
    function: Function
    sizes: tuple[tuple[int, ...], ...]
    indices: tuple[tuple[int, int], ...] = ()
    """Vectors of s32: their length, and what all elements are below."""

    def inputs(self) -> list[np.ndarray[Any, np.dtype[Any]]]:
        """The same numbers every time."""
        generator = np.random.default_rng(0)
        return [
            *(generator.standard_normal(sizes).astype(np.float32) for sizes in self.sizes),
            *(generator.integers(0, end, count, np.int32) for count, end in self.indices),
        ]


def _convolution(
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


def _added(x: Any, updates: Any, indices: Any) -> Any:
    """A scatter; with rows as updates the gradient of an embedding."""
    return x.at[indices].add(updates)


def _random_bits(seed: Any) -> Any:
    return jax.random.bits(jax.random.key(seed[0]), (1 << 20,))


_IMAGES = (8, 56, 56, 64)
_POOLED, _HALVED = (8, 112, 112, 16), (8, 56, 56, 16)

KERNELS = (
    Kernel("conv 3x3 NHWC", _convolution("last", (1, 1)), (_IMAGES, (3, 3, 64, 64))),
    Kernel("conv 1x1 NHWC", _convolution("last", (1, 1)), (_IMAGES, (1, 1, 64, 256))),
    Kernel("conv 3x3 stride 2 NHWC", _convolution("last", (2, 2)), (_IMAGES, (3, 3, 64, 128))),
    Kernel(
        "conv 3x3 depthwise NHWC",
        _convolution("last", (1, 1), feature_group_count=64),
        (_IMAGES, (3, 3, 1, 64)),
    ),
    Kernel(
        "conv 7x7 stride 2 NCHW",
        _convolution("first", (2, 2), [(3, 3), (3, 3)]),
        ((4, 3, 224, 224), (64, 3, 7, 7)),
    ),
    Kernel("conv 3x3 NCHW", _convolution("first", (1, 1)), ((4, 64, 56, 56), (64, 64, 3, 3))),
    Kernel("conv 5 NWC", _convolution("last", (1,)), ((8, 1024, 64), (5, 64, 64))),
    Kernel(
        "conv 3x3x3 NDHWC",
        _convolution("last", (1, 1, 1)),
        ((2, 16, 16, 16, 16), (3, 3, 3, 16, 32)),
    ),
    Kernel(
        "conv 3x3 stride 2 gradient of base",
        _gradient(_convolution("last", (2, 2))),
        (_IMAGES, (3, 3, 64, 64), (8, 28, 28, 64)),
    ),
    Kernel(
        "conv 3x3 gradient of kernel",
        _kernel_gradient(_convolution("last", (1, 1))),
        ((8, 28, 28, 64), (3, 3, 64, 64), (8, 28, 28, 64)),
    ),
    Kernel("max pool 2x2 NHWC", _maximum((1, 2, 2, 1), (1, 2, 2, 1), "VALID"), (_POOLED,)),
    Kernel("max pool 3x3 stride 2 NHWC", _maximum((1, 3, 3, 1), (1, 2, 2, 1), "SAME"), (_POOLED,)),
    Kernel(
        "max pool 2x2 NCHW", _maximum((1, 1, 2, 2), (1, 1, 2, 2), "VALID"), ((8, 16, 112, 112),)
    ),
    Kernel("mean pool 3x3 NHWC", _mean((1, 3, 3, 1), (1, 1, 1, 1), "SAME"), (_POOLED,)),
    Kernel(
        "max pool 2x2 gradient",
        _gradient(_maximum((1, 2, 2, 1), (1, 2, 2, 1), "VALID")),
        (_POOLED, _HALVED),
    ),
    Kernel(
        "max pool 3x3 stride 2 gradient",
        _gradient(_maximum((1, 3, 3, 1), (1, 2, 2, 1), "SAME")),
        (_POOLED, _HALVED),
    ),
    Kernel(
        "mean pool 3x3 stride 2 gradient",
        _gradient(_mean((1, 3, 3, 1), (1, 2, 2, 1), "SAME")),
        (_POOLED, _HALVED),
    ),
    Kernel("cumulative sum", jnp.cumsum, ((1 << 20,),)),
    Kernel("cumulative sum backwards", lambda x: lax.cumsum(x, reverse=True), ((1 << 20,),)),
    Kernel("cumulative maximum of rows", lambda x: lax.cummax(x, 1), ((512, 2048),)),
    Kernel("cumulative sum of columns", lambda x: jnp.cumsum(x, 0), ((512, 4096),)),
    Kernel("sort 1M", jnp.sort, ((1 << 20,),)),
    Kernel("argsort 1M", jnp.argsort, ((1 << 20,),)),
    Kernel("sort 1000 rows of 1000", jnp.sort, ((1000, 1000),)),
    Kernel("sort 1000 columns of 1000", lambda x: jnp.sort(x, axis=0), ((1000, 1000),)),
    Kernel("top 1000 of 100k", lambda x: lax.top_k(x, 1000), ((100_000,),)),
    Kernel("top 32 of 64 rows of 2048", lambda x: lax.top_k(x, 32), ((64, 2048),)),
    Kernel("scatter-add 1M into 10k", _added, ((10_000,), (1 << 20,)), ((1 << 20, 10_000),)),
    Kernel("embedding gradient", _added, ((10_000, 256), (4096, 256)), ((4096, 10_000),)),
    Kernel("random bits 1M", _random_bits, (), ((1, 1 << 30),)),
)
"""Convolutions, pooling, cumulative reductions, sorts, scatters and random bits."""
