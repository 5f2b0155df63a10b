"""Memory for temporary results beside XLA's, on programs that are large enough to matter."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from peers import has_flax, has_jax

from lowerings.bufferize.memory_usage import MemoryUsage, memory_usage
from lowerings.driver.context import make_context
from lowerings.driver.pass_manager import PassManager, parse_passes
from lowerings.driver.program import load_program
from tools.repository.benchmark.measurement import rows_of
from tools.repository.programs import StoredProgram, stored_functions, stored_programs

if has_jax():
    import jax
    import jax.numpy as jnp

pytestmark = pytest.mark.jax

WITHIN = 1.5
"""How much more than XLA we may need."""
PAGE = 4096
"""Bytes: what takes less is not counted."""


def usage_of(text: str) -> MemoryUsage:
    """What the program of a text needs at the loops level."""
    module = load_program(text)
    PassManager(make_context(), verify_each=False).run(module, parse_passes("native"))
    return next(usage for usage in memory_usage(module) if usage.entry == "main")


def bytes_of_both(function: Callable[..., Any], arguments: list[Any]) -> tuple[int, int]:
    """Bytes for temporary results that we and that XLA need."""
    lowered = jax.jit(function, keep_unused=True).lower(*arguments)
    analysis = lowered.compile().memory_analysis()
    assert analysis is not None, "XLA CPU always has one"
    return usage_of(lowered.as_text()).temporary, analysis.temp_size_in_bytes


def softmax(x: Any) -> Any:
    """Rows."""
    return jax.nn.softmax(x, axis=-1)


def layer_norm(x: Any, scale: Any, offset: Any) -> Any:
    """Of rows."""
    mean = x.mean(-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5) * scale + offset


def attention(q: Any, k: Any, v: Any) -> Any:
    """With a causal mask; heads, then positions."""
    scores = jnp.einsum("hqd,hkd->hqk", q, k) / np.float32(8)
    mask = jnp.tril(jnp.ones(scores.shape[1:], bool))
    return jnp.einsum("hqk,hkd->hqd", softmax(jnp.where(mask, scores, -jnp.inf)), v)


def training_step(w1: Any, w2: Any, x: Any, y: Any) -> Any:
    """Of two layers, with their gradient."""

    def loss(w1: Any, w2: Any) -> Any:
        return jnp.mean((jnp.tanh(x @ w1) @ w2 - y) ** 2)

    gradients = jax.grad(loss, (0, 1))(w1, w2)
    return w1 - 0.1 * gradients[0], w2 - 0.1 * gradients[1]


def deep(x: Any, w: Any) -> Any:
    """Eight layers one after the other: two buffers suffice."""
    for _ in range(8):
        x = jax.nn.gelu(x @ w)
    return x


def scanned(x: Any, w: Any) -> Any:
    """A recurrent loop over the rows of x that keeps all its states."""

    def step(state: Any, row: Any) -> Any:
        state = jnp.tanh(state @ w + row)
        return state, state

    return jax.lax.scan(step, jnp.zeros(x.shape[1:], x.dtype), x)


def power_iteration(a: Any, x: Any) -> Any:
    """A loop with a bound that carries a vector."""
    return jax.lax.fori_loop(0, 20, lambda _, x: (y := a @ x) / jnp.linalg.norm(y), x)


def updated_rows(x: Any, rows: Any) -> Any:
    """A loop that writes one row at a time."""
    return jax.lax.fori_loop(
        0, rows.shape[0], lambda i, x: jax.lax.dynamic_update_slice(x, rows[i][None] * 2, (i, 0)), x
    )


def added_at(x: Any, indices: Any, rows: Any) -> Any:
    """A scatter."""
    return jnp.tanh(x).at[indices].add(rows)


def convolved(x: Any, w: Any) -> Any:
    """A padded convolution of images."""
    return jax.lax.conv_general_dilated(
        x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )


def pooled(x: Any, w: Any) -> Any:
    """A convolution, relu and pooling."""
    y = jax.nn.relu(convolved(x, w))
    return jax.lax.reduce_window(y, -np.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


@dataclass(frozen=True)
class Row:
    """A function and the sizes of its arguments, of f32 unless they are integers."""

    function: Callable[..., Any]
    sizes: tuple[tuple[int, ...], ...]
    integers: tuple[int, ...] = ()

    def arguments(self) -> list[Any]:
        return [
            np.zeros(sizes, np.int32 if i in self.integers else np.float32)
            for i, sizes in enumerate(self.sizes)
        ]


ROWS = {
    "softmax": Row(softmax, ((256, 1024),)),
    "layer_norm": Row(layer_norm, ((256, 1024), (1024,), (1024,))),
    "attention": Row(attention, ((4, 128, 64),) * 3),
    "training_step": Row(training_step, ((256, 512), (512, 64), (128, 256), (128, 64))),
    "deep": Row(deep, ((512, 256), (256, 256))),
    "deep_and_small": Row(deep, ((128, 256), (256, 256))),
    "scanned": Row(scanned, ((32, 16, 128), (128, 128))),
    "power_iteration": Row(power_iteration, ((512, 512), (512,))),
    "updated_rows": Row(updated_rows, ((256, 256), (64, 256))),
    "added_at": Row(added_at, ((512, 128), (64,), (64, 128)), integers=(1,)),
    "convolved": Row(convolved, ((4, 32, 32, 16), (3, 3, 16, 32))),
    "pooled": Row(pooled, ((4, 32, 32, 16), (3, 3, 16, 32))),
}

LIBRARY = "XLA calls a library, whose own memory is not counted; ours is"
RADIX = "a radix sort moves keys between two arrays; XLA sorts in place, and many times as long"
PADDED = "windows meet a padded copy, so that no kernel has to look where it is"
ROUNDING = "how much too large long sums are is kept beside them"
MORE = {
    "training_step": LIBRARY,
    "deep_and_small": LIBRARY,
    "convolved": LIBRARY,
    "pooled": LIBRARY,
    "matmul 128": LIBRARY,
    "matmul 256": LIBRARY,
    "matmul 512": LIBRARY,
    "matmul 1024": LIBRARY,
    "matmul 250x333x127": LIBRARY,
    "matmul s8 512": LIBRARY,
    "matmul f64 512": LIBRARY,
    "conv 3x3 NHWC": LIBRARY,
    "conv 1x1 NHWC": LIBRARY,
    "conv 3x3 stride 2 NHWC": LIBRARY,
    "conv 3x3 depthwise NHWC": LIBRARY,
    "conv 3x3 transposed NHWC": LIBRARY,
    "conv 3x3 s8 NHWC": LIBRARY,
    "conv 5 NWC": LIBRARY,
    "conv 3x3x3 NDHWC": LIBRARY,
    "conv 3x3 stride 2 gradient of base": LIBRARY,
    "max pool 3x3 stride 2 NHWC": PADDED,
    "mean pool 3x3 NHWC": PADDED,
    "mean pool 3x3 stride 2 gradient": PADDED,
    "sort 1M": RADIX,
    "argsort 256k": RADIX,
    "sort 1000 rows of 1000": RADIX,
    "sort 1000 columns of 1000": RADIX,
    "top 100 of 1M": RADIX,
    "top 1000 of 100k": RADIX,
    "top 32 of 64 rows of 2048": RADIX,
    "approximate top 64": RADIX,
    "fft 64 of 1024": LIBRARY,
    "fft 64 of 1000": LIBRARY,
    "fft 64 of 1009, a prime": LIBRARY,
    "fft 65536": LIBRARY,
    "fft 256x256": LIBRARY,
    "fft 1024x1024": LIBRARY,
    "sum of columns": ROUNDING,
    "segment sums of columns": ROUNDING,
    "rfft 64 of 2048": LIBRARY,
    "irfft 64 of 2048": LIBRARY,
    "classifier, a step of Adam": LIBRARY,
    "residual network": LIBRARY,
    "64 bodies, 100 steps": "what several sums need is kept, not computed again for each",
}
"""The rows where we need more, each with the reason."""


def assert_as_said(name: str, own: int, peer: int) -> None:
    is_more = own > max(WITHIN * peer, PAGE)
    assert is_more == (name in MORE), f"{name}: {own} bytes, XLA {peer}"


@pytest.mark.parametrize("name", ROWS)
def test_peak_memory_of_functions(name: str) -> None:
    row = ROWS[name]
    assert_as_said(name, *bytes_of_both(row.function, row.arguments()))


def assert_benchmark(group: str, name: str) -> None:
    row = rows_of(group)[name]
    arguments = row.inputs()
    with jax.enable_x64(
        any(each.dtype.itemsize == 8 and each.dtype.kind == "f" for each in arguments)
    ):
        assert_as_said(name, *bytes_of_both(row.function, arguments))


@pytest.mark.full
@pytest.mark.parametrize("name", rows_of("kernels") if has_jax() else ())
def test_peak_memory_of_kernels(name: str) -> None:
    assert_benchmark("kernels", name)


@pytest.mark.full
@pytest.mark.flax
@pytest.mark.parametrize("name", rows_of("models") if has_flax() else ())
def test_peak_memory_of_models(name: str) -> None:
    assert_benchmark("models", name)


@pytest.mark.parametrize("program", stored_programs(), ids=lambda program: program.name)
def test_peak_memory_of_stored_programs(program: StoredProgram) -> None:
    own, peer = bytes_of_both(stored_functions()[program.name], program.inputs())
    assert own <= WITHIN * peer, f"{own} bytes, XLA {peer}"
