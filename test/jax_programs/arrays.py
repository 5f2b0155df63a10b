"""Arrays moved, ordered, indexed and cut into windows."""

from typing import Any

import numpy as np
from peers import has_jax

from jax_programs.program import EXACT, SUMS, JaxProgram

if has_jax():
    import jax
    import jax.numpy as jnp
    from jax import lax

RANDOM = np.random.default_rng(4)
X = RANDOM.standard_normal((4, 6)).astype(np.float32)
N = RANDOM.integers(-9, 9, (4, 6), dtype=np.int32)
CUBE = np.arange(24, dtype=np.int16).reshape(2, 3, 4)
IMAGE = RANDOM.standard_normal((1, 7, 6, 2)).astype(np.float32)
KERNEL = RANDOM.standard_normal((3, 2, 2, 4)).astype(np.float32)
CHANNELS_LAST = ("NHWC", "HWIO", "NHWC")


def rearranged(x: Any) -> Any:
    """What jax.numpy has to move elements."""
    return (
        *(jnp.roll(x, 3, 1), jnp.rot90(x, axes=(0, 2)), jnp.flip(x, 1), jnp.swapaxes(x, 0, 2)),
        *(jnp.tile(x, (2, 1, 2)), jnp.repeat(x, 2, 1), jnp.broadcast_to(x, (2, 2, 3, 4))),
        *(jnp.stack([x, x], -1), jnp.hstack([x, x]), jnp.dstack([x, x[:, :, :1]])),
        *jnp.split(x, (1, 3), 2),
        *(jnp.pad(x[0], 2, mode=mode) for mode in ("reflect", "wrap", "edge", "symmetric")),
        *(jnp.tril(x), jnp.triu(x, 1), jnp.diag(x[0, 0]), jnp.diagonal(x), jnp.atleast_3d(x[0])),
        *(jnp.meshgrid(x[0, 0], x[0, 1]), jnp.indices((2, 3)), jnp.moveaxis(x, 0, 1)),
        *(jnp.block([[x[0], x[1]], [x[1], x[0]]]), jnp.delete(x[0, 0], 1), jnp.ravel(x)),
        *(x[..., None, 1], x[:, ::-2], x[1, ..., 2], jnp.expand_dims(x, (0, 3)), x[:, :0]),
    )


def ordered(x: Any, n: Any) -> Any:
    """Everything that sorts."""
    return (
        *(jnp.sort(x, 0), jnp.argsort(n, 1), jnp.argsort(n, descending=True), jnp.sort(n, None)),
        *(jnp.lexsort((n[0], x[0])), jnp.partition(n, 2), jnp.argpartition(n[0], 2)[:0]),
        *(lax.sort((n, x), dimension=0, num_keys=2), lax.sort((n, x), is_stable=False, num_keys=2)),
        *(lax.top_k(n, 3), lax.top_k(-x, 1)),
        jnp.searchsorted(jnp.arange(-9, 9), n),
        jnp.searchsorted(jnp.sort(x[0]), x, side="right", method="sort"),
        *jnp.unique(n, return_inverse=True, return_counts=True, size=12, fill_value=-1),
        *(jnp.intersect1d(n[0], n[1], size=6), jnp.isin(n, n[0]), jnp.flatnonzero(n > 0, size=20)),
        *(jnp.nonzero(n > 2, size=9, fill_value=-1), jnp.compress(n[0] > 0, x, 1, size=4)),
        jnp.sort(jnp.array([np.nan, 0.0, -0.0, -np.inf, np.nan, 1])),
    )


def ordered_approximately(x: Any) -> Any:
    """The largest and smallest of numbers that all differ; on the CPU nothing is approximate."""
    return (
        *(*lax.approx_max_k(x, 3), *lax.approx_min_k(x, 24, recall_target=0.5)),
        *lax.approx_max_k(x.reshape(4, 6).astype(jnp.bfloat16), 2, reduction_dimension=0),
        *lax.approx_min_k(x, 2, aggregate_to_topk=False, reduction_input_size_override=99),
        jax.grad(lambda x: (lax.approx_max_k(x, 3)[0] ** 2).sum())(x),
    )


def indexed(x: Any, n: Any) -> Any:
    """Gathers, in and out of bounds."""
    rows = n[0] % 4
    return (
        *(x[rows], x[:, rows], x[rows, rows], x[rows[:, None], rows], x[-1, rows], x[rows, 1:3]),
        *(jnp.take(x, n[0], 0, mode=mode) for mode in ("clip", "wrap", "fill")),
        x.at[n[0]].get(mode="fill", fill_value=7.0),
        *(jnp.take_along_axis(x, n % 6, 1), jnp.choose(n[0] % 2, [x[0], x[1]], mode="clip")),
        jnp.select([n > 3, n < -3], [x, -x], 0.0),
        jax.vmap(lambda row, i: row[i])(x, n[:, 0] % 6),
        jax.vmap(lambda row, i: lax.dynamic_slice(row, (i,), (3,)))(x, n[:, 0]),
        *(lax.dynamic_index_in_dim(x, n[0, 0]), lax.dynamic_slice_in_dim(x, n[0, 1], 2, 1)),
    )


def updated(x: Any, n: Any) -> Any:
    """Scatters of integers, in and out of bounds, with repeated places."""
    rows = n[0] % 4
    return (
        *(n.at[rows].set(5), n.at[rows].add(1), n.at[rows, rows].max(n[0]), n.at[rows].min(0)),
        *(n.at[rows[:2]].mul(3), n.at[2:, ::2].set(-1), n.at[-1].add(n[0]), n.at[n[0]].add(9)),
        n.at[n[0]].set(7, mode="clip"),
        x.at[n[:, 0]].set(1.5, mode="drop"),
        x.at[rows[0]].apply(jnp.abs),
        x.at[jnp.array([2, 0])].divide(4.0, unique_indices=True),
        jnp.put_along_axis(n, n[:, :1] % 6, 0, 1, inplace=False),
        jnp.where(n > 0, n, jnp.array(-2, jnp.int8)),
        jax.ops.segment_max(n, rows[:4], num_segments=5),
        jax.vmap(lambda row, i: row.at[i].add(row[0]))(n, n[:, 0] % 6),
        lax.dynamic_update_slice(n, n[:2, :3], (n[0, 0], 2)),
        jnp.insert(n[0], 2, 99),
    )


def cumulated(x: Any, n: Any) -> Any:
    """Running sums, products and extremes, both ways."""
    logarithmic: Any = jnp.logaddexp
    largest: Any = jnp.maximum
    return (
        *(
            jnp.cumsum(n, 1),
            jnp.cumprod(n % 3, 0),
            lax.cummax(x, 1),
            lax.cummin(n, 0, reverse=True),
        ),
        *(jnp.cumsum(x, 0), lax.cumlogsumexp(x, 1), jnp.cumulative_sum(n, axis=1)),
        lax.associative_scan(jnp.multiply, n % 3, axis=1),
        lax.associative_scan(lambda a, b: (a[0] * b[0], a[1] * b[0] + b[1]), (x, x)),
        logarithmic.accumulate(x, 1),
        largest.reduce(x, 0),
    )


def contracted(x: Any, n: Any) -> Any:
    """Einsums of every shape."""
    y, square = x.reshape(2, 2, 6), x[:, :4]
    heads = y.reshape(2, 2, 3, 2)
    return (
        jnp.einsum("ij,kj->ik", x, x),
        jnp.einsum("bij,bkj->bik", y, y),
        jnp.einsum("ii->i", square),
        jnp.einsum("ij,jk,kl->il", square, square, x),
        jnp.einsum("ij->", x),
        jnp.einsum("i,j->ij", x[0], x[1]),
        jnp.einsum("...j,j->...", y, x[0]),
        *(
            jnp.tensordot(y, y, ((0, 2), (0, 2))),
            jnp.vdot(x, x),
            jnp.inner(x, x),
            jnp.linalg.multi_dot([square] * 3),
        ),
        *(n @ n.T, jnp.matvec(x, x[0]), lax.batch_matmul(y, y.transpose(0, 2, 1))),
        lax.dot_general(n.astype(jnp.int8), n.astype(jnp.int8), (((1,), (1,)), ((0,), (0,)))),
        lax.dot_general(heads, heads, (((3,), (3,)), ((0, 2), (0, 2)))),
    )


def convolved(image: Any, kernel: Any) -> Any:
    """Convolutions with strides, dilations, groups and gradients."""

    def convolution(lhs: Any, rhs: Any, strides: Any, padding: Any, **options: Any) -> Any:
        return lax.conv_general_dilated(
            lhs, rhs, strides, padding, dimension_numbers=CHANNELS_LAST, **options
        )

    return (
        convolution(image, kernel, (2, 1), "SAME"),
        convolution(image, kernel, (1, 2), [(0, 2), (-1, 1)], rhs_dilation=(2, 1)),
        convolution(image, kernel, (1, 1), [(0, 0)] * 2, lhs_dilation=(2, 3)),
        convolution(image, kernel[:, :, :1], (1, 1), "SAME", feature_group_count=2),
        convolution(jnp.tile(image, (2, 1, 1, 1)), kernel, (1, 1), "VALID", batch_group_count=2),
        lax.conv_transpose(image, kernel, (2, 2), "SAME", dimension_numbers=CHANNELS_LAST),
        lax.conv_general_dilated_patches(
            image, (2, 2), (2, 1), "VALID", dimension_numbers=CHANNELS_LAST
        ),
        jnp.convolve(image[0, :, 0, 0], kernel[:, 0, 0, 0]),
        jax.scipy.signal.convolve2d(image[0, :, :, 0], kernel[:, :, 0, 0], mode="same"),
        jax.scipy.signal.correlate(image[0, :, 0, 0], kernel[:, 0, 0, 0]),
        *jax.grad(lambda i, k: (convolution(i, k, (2, 2), [(1, 0), (2, -1)]) ** 2).sum(), (0, 1))(
            image, kernel
        ),
    )


def pooled(image: Any) -> Any:
    """Windows with other operations than products."""
    window = (1, 3, 2, 1)

    def largest(x: Any) -> Any:
        return lax.reduce_window(x, -jnp.inf, lax.max, window, (1, 2, 2, 1), "SAME")

    return (
        largest(image),
        lax.reduce_window(image, jnp.inf, lax.min, window, (1, 1, 1, 1), "VALID"),
        lax.reduce_window(image, 0.0, lax.add, window, (1, 1, 2, 1), "SAME") / 6,
        lax.reduce_window(
            image, 1.0, lax.mul, window, (1, 1, 1, 1), ((0, 0), (2, 1), (0, 1), (0, 0)),
            base_dilation=(1, 2, 1, 1), window_dilation=(1, 1, 2, 1),
        ),
        jax.grad(lambda x: (largest(x) ** 2).sum())(image),
        jax.image.resize(image, (1, 9, 4, 2), "bilinear"),
        jax.image.resize(image, (1, 3, 3, 2), "nearest"),
        jax.image.resize(image, (1, 8, 8, 2), "cubic", antialias=False),
        jax.scipy.ndimage.map_coordinates(image[0, :, :, 0], [jnp.full(3, 1.25)] * 2, 1),
    )  # fmt: skip


def sliced(x: Any, i: Any) -> Any:
    """Slices at places that are computed, past the ends too."""
    return (
        *(lax.dynamic_slice(x, (i, i - 3), (2, 3)), lax.dynamic_slice(x, (-i, 99), (1, 6))),
        *(lax.dynamic_update_slice(x, x[:2, :2], (k, i)) for k in (-1, 0, 9)),
        *(lax.slice_in_dim(x, 1, 6, 2, 1), lax.index_in_dim(x, -1), x[i], x[1:][:0]),
        *(lax.dynamic_update_index_in_dim(x, x[0], i, 0), lax.rev(x, (1,)), lax.pad(x, 0.0, ((1, -2, 3), (-1, 0, 1)))),
    )  # fmt: skip


def programs() -> dict[str, JaxProgram]:
    """By name."""
    empty = np.zeros((0, 3), np.float32)
    return {
        "rearranged": JaxProgram(rearranged, (CUBE,), bound=EXACT),
        "rearranged_bool": JaxProgram(rearranged, (CUBE % 3 == 0,), bound=EXACT),
        "ordered": JaxProgram(ordered, (X, N), bound=EXACT),
        "ordered_approximately": JaxProgram(
            ordered_approximately, (RANDOM.permutation(24).astype(np.float32),), bound=EXACT
        ),
        "indexed": JaxProgram(indexed, (X, N), bound=EXACT),
        "updated": JaxProgram(updated, (X, N), bound=EXACT),
        "updated_floats": JaxProgram(
            lambda x, n: (x.at[n[0] % 4].add(x[:1]), jax.ops.segment_sum(x, n[:, 0] % 3, 3)),
            (X, N),
            bound=SUMS,
        ),
        "cumulated": JaxProgram(cumulated, (X, N), bound=SUMS),
        "contracted": JaxProgram(contracted, (X, N), bound=SUMS),
        "convolved": JaxProgram(convolved, (IMAGE, KERNEL), bound=SUMS),
        "convolved_integers": JaxProgram(
            lambda x, k: lax.conv(x, k, (1, 1), "SAME", preferred_element_type=np.int32),
            (N[None, None].astype(np.int8), N[:1, :4].reshape(1, 1, 2, 2).astype(np.int8)),
            bound=EXACT,
        ),
        "convolved_3d": JaxProgram(
            lambda x, k: lax.conv(x, k, (1, 2, 1), "SAME"),
            (
                RANDOM.standard_normal((1, 2, 4, 5, 3)).astype(np.float32),
                RANDOM.standard_normal((3, 2, 2, 3, 2)).astype(np.float32),
            ),
            bound=SUMS,
        ),
        "pooled": JaxProgram(pooled, (IMAGE,), bound=SUMS),
        "sliced": JaxProgram(sliced, (X, np.int32(2)), bound=EXACT),
        "sliced_outside": JaxProgram(sliced, (X, np.int32(-7)), bound=EXACT),
        "empty": JaxProgram(
            lambda x: (
                x.sum(0),
                x.sum(),
                x @ x.T,
                x.T @ x,
                jnp.sort(x, 0),
                x.max(1),
                x.at[:].add(1),
            ),
            (empty,),
            bound=EXACT,
        ),
        "rank_0": JaxProgram(
            lambda x, n: (x.sum(), x.T, x.reshape(1, 1), jnp.sort(x[None]), x.at[()].set(2), x + n),
            (np.float32(1.5), np.int32(3)),
            bound=EXACT,
        ),
    }
