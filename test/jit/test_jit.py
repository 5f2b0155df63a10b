"""`lowerings.jax.jit` beside `jax.jit`."""

import gc
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pytest
from peers import has_jax

from lowerings.execution.arrays import ArgumentError
from lowerings.targets.llvm.machine import host
from xla_dialect.diagnostics import XlaError
from xla_dialect.ops.elementwise import TanhOp

if has_jax():
    import jax
    import jax.experimental
    import jax.numpy as jnp
    from jax import lax

    from lowerings.jax import JaxProgramError, Lowered, jit
    from lowerings.jax.interfaces import trace_context

pytestmark = pytest.mark.jax

BACKENDS = ("reference", "llvm")


class Pair(NamedTuple):
    left: Any
    right: Any


def assert_same_tree(found: Any, expected: Any) -> None:
    """The same structure, the same types, and floats within a few ULP."""
    assert jax.tree.structure(found) == jax.tree.structure(expected)
    for mine, theirs in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        assert mine.dtype == theirs.dtype
        assert mine.shape == theirs.shape
        np.testing.assert_allclose(
            np.asarray(mine, np.float64), np.asarray(theirs, np.float64), rtol=1e-6, atol=1e-6
        )


def traced_function(tree: Any, scale: Any, *, shift: Any = 1) -> Any:
    total = sum(leaf.sum() for leaf in jax.tree.leaves(tree))
    return {"total": total * scale, "pair": Pair(tree["a"] + shift, [tree["b"].T, ()])}


def tree_of(make: Callable[[Any], Any]) -> dict[str, Any]:
    return {
        "a": make(np.arange(3, dtype=np.float32)),
        "b": make(np.arange(6, dtype=np.int32).reshape(2, 3)),
    }


@pytest.mark.parametrize("backend", BACKENDS)
def test_pytrees_go_in_and_out(backend: str) -> None:
    fast = jit(traced_function, backend=backend)
    tree = tree_of(jnp.asarray)
    assert_same_tree(fast(tree, 2.5), jax.jit(traced_function)(tree, 2.5))
    assert_same_tree(fast(tree, 2, shift=3), jax.jit(traced_function)(tree, 2, shift=3))
    assert_same_tree(
        fast(tree, jnp.int8(2), shift=jnp.ones((3,), jnp.bfloat16)),
        jax.jit(traced_function)(tree, jnp.int8(2), shift=jnp.ones((3,), jnp.bfloat16)),
    )


def test_arrays_come_back_as_they_went_in() -> None:
    fast = jit(traced_function)
    plain = jax.tree.leaves(fast(tree_of(np.asarray), 2.0))
    assert [type(leaf) for leaf in plain] == [np.ndarray] * 3
    assert all(
        isinstance(leaf, jax.Array) for leaf in jax.tree.leaves(fast(tree_of(jnp.asarray), 2.0))
    )
    mixed = {"a": np.ones(3, np.float32), "b": jnp.ones((2, 3))}
    assert all(isinstance(leaf, jax.Array) for leaf in jax.tree.leaves(fast(mixed, 2.0)))


def test_weak_types_are_those_of_jax() -> None:
    double = jit(lambda x: x * 2)
    assert double(jnp.asarray(3.0)).weak_type
    assert not double(jnp.float32(3.0)).weak_type
    half = jnp.ones(2, jnp.bfloat16)
    added = jit(lambda x, y: x + y)
    assert added(half, 2.0).dtype == jnp.bfloat16
    assert added(half, np.float32(2.0)).dtype == jnp.float32
    assert added(half, jnp.asarray(2.0)).dtype == jnp.bfloat16


def test_one_program_for_arguments_of_one_kind() -> None:
    traced: list[tuple[int, ...]] = []

    @jit
    def square(x: Any) -> Any:
        traced.append(x.shape)
        return x * x

    for size in (2, 3, 2, 3):
        square(np.ones(size, np.float32))
    assert traced == [(2,), (3,)]
    square(np.ones(2, np.int32))
    square(2.0)
    square(7.0)
    assert traced == [(2,), (3,), (2,), ()]


def test_settings_of_jax_are_part_of_the_kind() -> None:
    half = jit(lambda x: x / 2)
    value = np.arange(3, dtype=np.float64)
    assert half(value).dtype == np.float32
    before = trace_context()
    with jax.enable_x64(True):
        assert trace_context() != before
        assert half(value).dtype == np.float64
    assert half(value).dtype == np.float32


@pytest.mark.parametrize(
    "options", [{"static_argnums": 1}, {"static_argnames": "count"}, {"static_argnums": (-1,)}]
)
def test_static_arguments(options: dict[str, Any]) -> None:
    def first(x: Any, count: int) -> Any:
        return x[:count]

    head = jit(first, **options)
    x = np.arange(4, dtype=np.float32)
    assert head(x, 2).shape == (2,)
    assert head(x, 3).shape == (3,)
    assert head(x, count=1).shape == (1,)


def test_static_arguments_must_be_hashable() -> None:
    with pytest.raises((TypeError, ValueError), match="hashable"):
        jit(lambda x, sizes: x, static_argnums=1)(np.ones(2, np.float32), [1])


@pytest.mark.parametrize(
    "dtype", ["int4", "uint2", "float8_e4m3fn", "bfloat16", "bool", "complex64"]
)
def test_element_types(dtype: str) -> None:
    x = jnp.asarray([0, 1, 1, 0]).astype(dtype)
    found = jit(lambda x: x.reshape(2, 2))(x)
    assert found.dtype == dtype
    assert np.array_equal(np.asarray(found), np.asarray(x).reshape(2, 2))


def test_random_keys_go_in_and_out() -> None:
    def program(key: Any) -> Any:
        first, second = jax.random.split(key)
        return first, jax.random.bits(second, (5,))

    for key in (jax.random.key(3), jax.random.key(3, impl="rbg")):
        found, bits = jit(program, backend="reference")(key)
        expected, expected_bits = jax.jit(program)(key)
        assert found.dtype == key.dtype
        assert np.array_equal(jax.random.key_data(found), jax.random.key_data(expected))
        assert np.array_equal(bits, expected_bits)


def test_memory_is_shared_with_jax() -> None:
    fast = jit(lambda x: x + 1)
    x = jnp.arange(1024, dtype=jnp.float32)
    found = fast(x)
    del x
    again = np.asarray(found)
    assert again.ctypes.data == found.unsafe_buffer_pointer()
    assert np.array_equal(again, np.arange(1, 1025, dtype=np.float32))


def test_strided_arrays() -> None:
    x = np.arange(24, dtype=np.float32).reshape(4, 6)
    for view in (x.T, x[::2, ::-1], np.broadcast_to(x[0], (3, 6))):
        assert np.array_equal(jit(lambda x: x + 1)(view), view + 1)


def test_methods() -> None:
    class Scaler:
        def __init__(self, factor: float):
            self.factor = factor

        def plain(self, x: Any) -> Any:
            return x * self.factor

        fast = jit(plain, static_argnums=0)

    x = np.ones(2, np.float32)
    assert jit(Scaler(3.0).plain)(x).tolist() == [3, 3]
    assert Scaler(4.0).fast(x).tolist() == [4, 4]


def test_functions_inside_are_traced_along() -> None:
    inner = jit(lambda x: x * 2)
    outer = jit(lambda x: inner(x) + 1)
    assert outer(np.ones(2, np.float32)).tolist() == [3, 3]
    assert outer(jnp.ones(2)).tolist() == [3, 3]


def test_transformations_go_inside() -> None:
    gradient = jit(jax.vmap(jax.grad(lambda x: x**3)))
    assert gradient(np.arange(3, dtype=np.float32)).tolist() == [0, 3, 12]


def test_levels() -> None:
    lowered = jit(lambda x: jnp.tanh(x) + 1).lower(np.ones((40, 30), np.float32))
    assert isinstance(lowered, Lowered)
    signs = {
        "stablehlo": "stablehlo.tanh",
        "xla": "xla.tanh",
        "tensors": "tensor<40x30xf32>",
        "buffers": "memref<40x30xf32>",
        "loops": "scf.for",
        "llvm": "define",
        "x86-asm": "ret",
    }
    assert set(signs) <= set(lowered.levels())
    assert lowered.levels()[0] == "stablehlo"
    for level in lowered.levels():
        text = lowered.as_text(level)
        assert signs.get(level, "") in text
    assert lowered.as_text("linalg") == lowered.as_text("tensors")
    assert lowered.as_text() == lowered.as_text("stablehlo")
    assert any(isinstance(op, TanhOp) for op in lowered.module().walk())
    with pytest.raises(XlaError, match=r"no level 'lloops' \(there are: stablehlo, "):
        lowered.as_text("lloops")


@pytest.mark.parametrize("backend", BACKENDS)
def test_functions_of_python_are_called(backend: str, capsys: pytest.CaptureFixture[str]) -> None:
    seen: list[Any] = []

    def note(i: Any, x: Any) -> None:
        seen.append((int(i), np.asarray(x).tolist()))

    def count(x: Any) -> Any:
        seen.append("counted")
        return np.int32(x.size), np.asarray(x).astype(np.float16)

    def program(x: Any) -> Any:
        def body(i: Any, x: Any) -> Any:
            jax.debug.callback(note, i, x)
            return jax.lax.cond(i > 0, lambda x: jax.pure_callback(np.negative, x, x), jnp.sin, x)

        jax.debug.print("from {x}", x=x[0])
        types = jax.ShapeDtypeStruct((), np.int32), jax.ShapeDtypeStruct(x.shape, np.float16)
        counted = jax.experimental.io_callback(count, types, x)
        return jax.lax.fori_loop(0, 2, body, x), counted

    x = np.array([0.5, -0.0], np.float32)
    fast = jit(program, backend=backend)
    for _ in range(2):
        seen.clear()
        assert_same_tree(fast(x), (-np.sin(x), (np.int32(2), x.astype(np.float16))))
        assert seen == ["counted", (0, [0.5, -0.0]), (1, np.sin(x).tolist())]
    assert capsys.readouterr().out == "from 0.5\n" * 2


@pytest.mark.parametrize("backend", BACKENDS)
def test_called_functions_may_keep_what_they_are_given(backend: str) -> None:
    log: list[Any] = []

    def program(x: Any, y: Any) -> Any:
        jax.debug.callback(log.append, x)
        jax.debug.callback(log.append, x * 2)
        jax.debug.callback(log.append, jnp.arange(3000.0, dtype=np.float32))
        return jnp.sin(x) + y

    fast = jit(program, backend=backend, donate_argnums=1)
    expected: list[Any] = []
    for start in range(3):
        x = np.arange(start, start + 3000, dtype=np.float32)
        expected += [x.copy(), 2 * x, np.arange(3000)]
        fast(x, np.zeros(3000, np.float32))
        x[...] = -1
    del fast
    gc.collect()
    assert len(log) == len(expected)
    for mine, theirs in zip(log, expected, strict=True):
        np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("backend", BACKENDS)
def test_ordered_calls_come_in_order(backend: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Across kinds of calls, loops, branches and functions, and with a result that is given away."""
    seen: list[Any] = []

    def twice(x: Any) -> Any:
        seen.append(np.asarray(x).tolist())
        return 2 * np.asarray(x)

    @jax.jit
    def inner(x: Any) -> Any:
        jax.debug.print("inner {x}", x=x[1], ordered=True)
        return jax.experimental.io_callback(twice, x, x, ordered=True)

    def program(x: Any, y: Any) -> Any:
        def body(i: Any, x: Any) -> Any:
            jax.debug.callback(lambda i: seen.append(int(i)), i, ordered=True)
            return jax.lax.cond(i > 0, inner, lambda x: x + 1, x)

        jax.experimental.io_callback(lambda: seen.append("first"), None, ordered=True)
        return inner(jax.lax.fori_loop(0, 2, body, x)) + y

    fast = jit(program, backend=backend, donate_argnums=1)
    for _ in range(2):
        seen.clear()
        y = np.ones(2, np.float32)
        found = fast(np.array([0.5, -1], np.float32), y)
        assert_same_tree(found, np.array([7, 1], np.float32))
        assert seen == ["first", 0, 1, [1.5, 0.0], [3.0, 0.0]]
        assert np.shares_memory(found, y) == (backend == "llvm")
    assert capsys.readouterr().out == "inner 0.0\n" * 4


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_a_called_function_raises_comes_out(backend: str) -> None:
    def fail(x: Any) -> Any:
        raise KeyError("not here")

    with pytest.raises(KeyError, match="not here"):
        jit(lambda x: jax.pure_callback(fail, x, x), backend=backend)(np.float32(1))


def test_a_called_function_cannot_call_its_program() -> None:
    fast = jit(lambda x: jax.pure_callback(lambda x: fast(np.asarray(x)), x, x))
    with pytest.raises(XlaError, match="main is called by a function that it calls itself"):
        fast(np.float32(1))


def test_what_cannot_be_compiled_is_named() -> None:
    def calls_back(x: Any) -> Any:
        return jax.experimental.io_callback(np.sin, x, x, ordered=True)

    with pytest.raises(JaxProgramError) as caught:
        jit(calls_back, backend="riscv64")(np.ones(2, np.float32))
    message = str(caught.value)
    line = calls_back.__code__.co_firstlineno + 1
    assert message.startswith(f"jit(calls_back): {__file__}:{line}:15: error: xla.custom_call: ")
    assert message.endswith(
        "an emulated program cannot call 'xla_ffi_python_cpu_callback' outside of it"
    )


def test_what_jax_rejects_is_jax_error() -> None:
    with pytest.raises(TypeError, match="str"):
        jit(lambda x: x)("text")
    with pytest.raises(jax.errors.TracerBoolConversionError):
        jit(lambda x: x if x else -x)(np.float32(1))


def test_unknown_backend() -> None:
    with pytest.raises(XlaError, match="no backend 'gpu'"):
        jit(lambda x: x, backend="gpu")(np.float32(1))


def test_wrong_shapes_cannot_happen() -> None:
    """A compiled program checks its arrays, should a specialization ever be mistaken."""
    program = jit(lambda x: x + 1).lower(np.ones(2, np.float32)).compile()
    with pytest.raises(ArgumentError, match=r"expected f32\[2\]"):
        program(np.ones(3, np.float32))


@pytest.mark.parametrize("backend", BACKENDS)
def test_several_devices_are_threads(backend: str) -> None:
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:2]), ("i",))
    part, whole = jax.sharding.PartitionSpec("i"), jax.sharding.PartitionSpec()

    def sums(x: Any) -> Any:
        return x * jax.lax.psum(x.sum(), "i"), jax.lax.psum(x, "i")

    mapped = jax.shard_map(sums, mesh=mesh, in_specs=part, out_specs=(part, whole))
    x = np.arange(4, dtype=np.float32)
    found = jit(lambda x: mapped(x + 1), donate_argnums=0, backend=backend)(x)
    assert_same_tree(found, (10 * np.arange(1, 5, dtype=np.float32), np.array([4, 6], np.float32)))
    assert x.tolist() == [0, 1, 2, 3]
    assert_same_tree(
        jit(jax.pmap(lambda x: x * 2), backend=backend)(x.reshape(2, 2)), (x * 2).reshape(2, 2)
    )


def test_what_is_given_away_by_name() -> None:
    x = np.ones(2, np.float32)
    found = jit(lambda x, y: x + y, donate_argnames="x")(x, np.ones(2, np.float32))
    assert np.shares_memory(found, x)


def test_what_is_no_array_is_named() -> None:
    with pytest.raises(JaxProgramError, match=r"jit\(<lambda>\): returns .*, which is no array"):
        jit(lambda: jax.lax.create_token())()


def test_without_jax_it_says_what_is_missing() -> None:
    code = "import sys; sys.modules['jax'] = None; import lowerings.jax"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert found.returncode == 1
    assert found.stderr.endswith("lowerings.jax needs JAX: pip install 'xla-dialect[jax]'\n")


def test_subnormals_are_kept_in_high_precision() -> None:
    """Of products and convolutions of bf16, whatever is done to them before they are computed."""
    x, y = np.zeros((16, 64), jnp.bfloat16), np.zeros((64, 32), jnp.bfloat16)
    x[2, 3], y[3, 4] = 2.0**-130, 2.0**100
    for function in (
        lambda x, y, how: jnp.matmul(x, y, precision=how),
        lambda x, y, how: jnp.einsum("km,kn->nm", x.T, y, precision=how).T,
        lambda x, y, how: jnp.matmul(jnp.stack([x, x]), y, precision=how)[1],
        lambda x, y, how: lax.conv_general_dilated(
            x[None, None],
            y[None, None],
            (1, 1),
            "VALID",
            dimension_numbers=("HWNC", "HWIO", "HWNC"),
            precision=how,
        )[0, 0],
    ):
        exact = jit(partial(function, how="highest"))(x, y)[2, 4]
        assert exact == 2.0**-30
        for how, flush_subnormals in (("default", False), ("highest", True)):
            found = jit(partial(function, how=how), flush_subnormals=flush_subnormals)(x, y)[2, 4]
            assert found == (0 if host().multiplies_bfloats else 2.0**-30)
