"""One program for each kind of element type."""

from typing import Any

import ml_dtypes
import numpy as np
from peers import has_jax

from jax_programs.program import EXACT, SUMS, Bound, JaxProgram

if has_jax():
    import jax
    import jax.numpy as jnp
    from jax import lax

RANDOM = np.random.default_rng(9)
FLOATS = RANDOM.standard_normal((3, 8)) * 2
INTEGERS = RANDOM.integers(0, 256, (3, 8))

ONE_STEP = Bound(2, "functions of small floats are rounded from f32, where XLA's are good")


def narrow_floats(x: Any) -> Any:
    """Each operation rounds once; sums and products are of few, small numbers."""
    whole = jnp.round(x)
    return (
        *(x + x, x * x, x - 1, -x, jnp.abs(x), jnp.maximum(x, 0), x > 0, jnp.sign(x), whole),
        *(jnp.sort(x, 1), x.argmax(1), x.max(0), jnp.floor(x), jnp.clip(x, -1, 1), x.T[::2]),
        *(whole.sum(1), jnp.where(x > 0, x, -x), jnp.isnan(x / 0 * 0), jnp.concatenate([x, x])),
        *(x.astype(np.float32), x.astype(np.int32), x.astype(ml_dtypes.int4), x.at[1].set(2)),
        *(lax.bitcast_convert_type(x, np.uint16 if x.dtype.itemsize == 2 else np.uint8),),
    )


def float_functions(x: Any) -> Any:
    """Functions that round."""
    y = jnp.abs(x) + 1
    return jnp.exp(x), jnp.log(y), jnp.tanh(x), jnp.sqrt(y), x / y, jnp.sin(x), lax.rsqrt(y)


def integer_arithmetic(n: Any) -> Any:
    """Wraps around; divisions by zero too."""
    return (
        *(n + n, n * n, n - 3, lax.div(n, n - n), lax.rem(n, n - n), lax.div(n, n | 1), ~n),
        *(n & 5, n ^ (n << 1), n >> 1, lax.shift_right_logical(n, n), lax.shift_left(n, n)),
        *(n.sum(1, dtype=n.dtype), n.prod(0, dtype=n.dtype), n.max(1), n.argmin(0), jnp.sort(n)),
        *(n < 3, lax.clamp(n.dtype.type(1), n, n.dtype.type(5)), n.astype(np.float32), n.T[1:]),
        *(lax.population_count(n), lax.clz(n), n.at[0].add(1), jnp.cumsum(n, 1, dtype=n.dtype)),
        *(lax.dot_general(n, n, (((1,), (1,)), ((), ()))), lax.sign(n), n == n[:1]),
    )


def small_integer_arithmetic(n: Any) -> Any:
    """Of types below a byte."""
    return (
        *(n + n, n * n, n - n[:1], jnp.maximum(n, 2), n.T, n[::2, 1:], n < 3, n & 5, n == n[:1]),
        *(n.astype(np.int8), n.astype(np.float32), n.max(1), jnp.concatenate([n, n], 1)),
        *(jnp.where(n > 2, n, 0), n.reshape(4, 6), lax.rev(n, (0,))),
    )


def booleans(p: Any) -> Any:
    """What stands for numbers, and what does not."""
    return (
        *(p & ~p[::-1], p | p[:1], p ^ True, p.any(1), p.all(0), p.sum(1), p.argmax(0), p + p),
        *(p * 3, p.astype(np.float32), jnp.where(p, 2, 5), jnp.sort(p, 1), jnp.cumsum(p, 1), p < 1),
        *(p.at[0].set(False), jnp.concatenate([p, ~p]), jnp.count_nonzero(p), p.T @ p),
    )


def quantized(x: Any) -> Any:
    """To 8 bits and back, with the product in 32."""
    scale = jnp.abs(x).max() / 127
    whole = jnp.round(x / scale).astype(np.int8)
    product = lax.dot_general(
        whole, whole, (((1,), (1,)), ((), ())), preferred_element_type=np.int32
    )
    small = (x / 4).astype(ml_dtypes.float8_e4m3fn)
    return (
        product * scale**2,
        lax.dot_general(small, small, (((1,), (1,)), ((), ())), preferred_element_type=np.float32),
        jnp.dot(
            x.astype(jnp.bfloat16), x.T.astype(jnp.bfloat16), preferred_element_type=np.float32
        ),
    )


def conversions(x: Any, n: Any) -> Any:
    """Between all types; floats out of range saturate, integers wrap."""
    targets = (
        *(np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.bool_, np.complex64),
        *(jnp.bfloat16, np.float16, jnp.int4, jnp.uint4, jnp.int2, jnp.uint2),
        *(jnp.float8_e4m3fn, jnp.float8_e5m2, jnp.float8_e4m3b11fnuz, jnp.float8_e4m3fnuz),
        *(jnp.float8_e5m2fnuz, jnp.float8_e3m4, jnp.float8_e4m3, jnp.float4_e2m1fn),
    )
    return [v.astype(t) for v in (x, n, n > 2) for t in targets]


def reinterpreted(x: Any, n: Any) -> Any:
    """Bits seen as other types."""
    view = lax.bitcast_convert_type
    return (
        *(view(x, np.int32), view(x, np.uint16), view(view(x, np.int8), np.float32)),
        *(
            view(n.astype(np.int16).reshape(3, 4, 2), np.uint32),
            x.view(np.uint8),
            view(n, np.float32),
        ),
    )


def programs() -> dict[str, JaxProgram]:
    """By name."""
    found: dict[str, JaxProgram] = {}
    for dtype in (ml_dtypes.bfloat16, np.float16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2):
        name = np.dtype(dtype).name
        x = FLOATS.astype(dtype)
        found[f"narrow_{name}"] = JaxProgram(narrow_floats, (x,), bound=EXACT)
        found[f"functions_{name}"] = JaxProgram(float_functions, (x,), bound=ONE_STEP)
    for dtype in (np.int8, np.uint8, np.int16, np.uint32, np.int64, np.uint64):
        found[f"arithmetic_{np.dtype(dtype).name}"] = JaxProgram(
            integer_arithmetic, (INTEGERS.astype(dtype),), bound=EXACT, wide=True
        )
    for dtype in (ml_dtypes.int4, ml_dtypes.uint4):
        found[f"arithmetic_{np.dtype(dtype).name}"] = JaxProgram(
            small_integer_arithmetic, ((INTEGERS % 8).astype(dtype),), bound=EXACT
        )
    x = FLOATS.astype(np.float32)
    found |= {
        "doubles": JaxProgram(
            lambda x: (*narrow_floats(x)[:18], *float_functions(x), x @ x.T, x.sum()),
            (FLOATS,),
            bound=SUMS,
            wide=True,
        ),
        "complex128": JaxProgram(
            lambda z: (z * z, z / (z + 1), jnp.exp(z), abs(z), z @ z.T, z.sum(0), jnp.sort(z, 1)),
            (FLOATS + 1j * FLOATS[::-1],),
            bound=SUMS,
            wide=True,
        ),
        "booleans": JaxProgram(booleans, (INTEGERS > 99,), bound=EXACT),
        "quantized": JaxProgram(quantized, (x,), bound=SUMS),
        "conversions": JaxProgram(conversions, (x, INTEGERS.astype(np.int32)), bound=EXACT),
        "reinterpreted": JaxProgram(reinterpreted, (x, INTEGERS.astype(np.int32)), bound=EXACT),
        "mixed_precision": JaxProgram(
            jax.value_and_grad(
                lambda w, x: (
                    ((x.astype(jnp.bfloat16) @ w.astype(jnp.bfloat16)) ** 2)
                    .astype(np.float32)
                    .mean()
                )
            ),
            (np.eye(8, dtype=np.float32), x),
            bound=Bound(2.0**17, "bf16 inside: 16 bits less than the results have"),
        ),
    }
    return found
