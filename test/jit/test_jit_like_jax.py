"""What `jax.jit` has: its options and methods, JAX's transformations of calls, kinds of arrays."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from peers import has_jax

from xla_dialect.diagnostics import XlaError

if has_jax():
    import jax
    import jax.numpy as jnp

    from lowerings.jax import JaxProgramError, Lowered, jit

pytestmark = pytest.mark.jax


def assert_same_tree(found: Any, expected: Any) -> None:
    assert jax.tree.structure(found) == jax.tree.structure(expected)
    for mine, theirs in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        assert mine.dtype == theirs.dtype
        np.testing.assert_allclose(mine, theirs, rtol=1e-6)


def smooth(x: Any, scale: Any = 2.0) -> Any:
    return (jnp.sin(x) * scale).sum(), x * x


def total(x: Any) -> Any:
    return (jnp.sin(x) ** 2).sum()


X = np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3)

TRANSFORMATIONS: dict[str, Callable[[Any, Callable[..., Any]], Any]] = {
    "grad": lambda x, of: jax.grad(of(total))(x),
    "value_and_grad": lambda x, of: jax.value_and_grad(of(smooth), has_aux=True)(x, 3.0),
    "of_an_operand": lambda x, of: jax.grad(lambda s: of(smooth)(x, scale=s)[0])(3.0),
    "twice": lambda x, of: jax.grad(lambda y: jax.grad(of(total))(y).sum())(x),
    "hessian": lambda x, of: jax.hessian(of(total))(x[0]),
    "vmap": lambda x, of: jax.vmap(of(smooth))(x),
    "vmap_of_grad": lambda x, of: jax.vmap(jax.grad(of(total)))(x),
    "vmap_along": lambda x, of: jax.vmap(of(smooth), in_axes=(1, None), out_axes=(0, 1))(x, 2.0),
    "jvp": lambda x, of: jax.jvp(of(smooth), (x, 2.0), (x + 1, 1.0)),
    "vjp": lambda x, of: jax.vjp(of(total), x)[1](np.float32(2)),
    "linearize": lambda x, of: jax.linearize(of(total), x)[1](x),
    "linear_transpose": lambda x, of: jax.linear_transpose(of(lambda x: x * 3.0), x)(x),
    "jit": lambda x, of: jax.jit(of(smooth))(x),
    "grad_of_jit": lambda x, of: jax.grad(jax.jit(lambda x: of(smooth)(x)[0]))(x),
    "checkpoint": lambda x, of: jax.grad(jax.checkpoint(of(total)))(x),
    "scan": lambda x, of: jax.lax.scan(lambda c, y: (of(total)(y) + c, c), 0.0, x),
    "while": lambda x, of: jax.lax.fori_loop(0, 3, lambda _, y: of(smooth)(y)[1], x),
    "custom_vjp": lambda x, of: jax.grad(lambda x: of(jax.nn.relu)(x).sum())(x),
    "eval_shape": lambda x, of: [each.shape for each in jax.eval_shape(of(smooth), x)],
    "ours_within": lambda x, of: of(jax.grad(of(lambda y: of(total)(y) * 2)))(x),
}


@pytest.mark.parametrize("name", TRANSFORMATIONS)
def test_transformations(name: str) -> None:
    """Of functions of which nothing is compiled yet, and of those that have run."""

    def that_has_run(function: Callable[..., Any]) -> Any:
        found = jit(function)
        found(jnp.asarray(X))
        found(X[0])
        return found

    transform = TRANSFORMATIONS[name]
    expected = jax.tree.leaves(transform(jnp.asarray(X), jax.jit))
    for ours in (jit, that_has_run):
        found = jax.tree.leaves(transform(jnp.asarray(X), ours))
        for mine, theirs in zip(found, expected, strict=True):
            assert type(mine) is type(theirs)
            np.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-5)


def test_transformed_functions_run_here() -> None:
    """And a program is compiled once, however often JAX transforms the function."""
    function = jit(total, backend="reference")
    for _ in range(3):
        jax.grad(function)(jnp.asarray(X))
    assert len(function._programs) == 2
    assert "xdsl_jit" in str(jax.make_jaxpr(function)(X))
    assert "sine" in jax.jit(function).lower(X).as_text()


def test_static_arguments_of_transformed_calls() -> None:
    def power(x: Any, n: int, *, offset: Any, name: str) -> Any:
        return (x**n + offset).sum() if name == "power" else x

    options = {"static_argnums": 1, "static_argnames": "name"}
    for of in (jit, jax.jit):
        gradient = jax.grad(lambda x, of=of: of(power, **options)(x, 3, offset=1.0, name="power"))
        np.testing.assert_allclose(gradient(X), 3 * X**2, rtol=1e-6)


def test_methods_of_jax_jit() -> None:
    ours, theirs = jit(smooth), jax.jit(smooth)
    x = jnp.asarray(X)
    assert ours.eval_shape(x) == theirs.eval_shape(x)
    traced = ours.trace(x)
    assert str(traced.jaxpr) == str(theirs.trace(x).jaxpr)
    assert traced.out_info == theirs.trace(x).out_info
    lowered = traced.lower()
    assert isinstance(lowered, Lowered)
    assert lowered.out_info == theirs.lower(x).out_info
    assert lowered.args_info == theirs.lower(x).args_info
    product = jit(lambda x: jnp.tanh(x @ x.T)).lower(x)
    cost, compiled = product.cost_analysis(), product.compile()
    assert compiled.cost_analysis() == cost
    assert compiled.out_info == product.out_info
    assert cost["flops"] == 2 * 2 * 2 * 3
    assert cost["transcendentals"] == 4
    assert cost["bytes accessed"] > x.nbytes


def test_clear_cache() -> None:
    traced: list[Any] = []
    function = jit(lambda x: traced.append(x) or x + 1)
    for _ in range(2):
        function(X)
        function(X)
        function.clear_cache()
    assert len(traced) == 2


def test_arguments_that_nothing_depends_on() -> None:
    def first(x: Any, y: Any, z: Any) -> Any:
        return x + z

    x, y, z = np.ones(3, np.float32), np.ones(2, np.int32), np.ones(3, np.float32)
    for keep_unused, count in ((False, 2), (True, 3)):
        function = jit(first, keep_unused=keep_unused, donate_argnums=2)
        program = function.lower(x, y, z).compile()
        assert len(program.signature.parameters) == count
        given = z.copy()
        found = function(x, y, given)
        assert found.tolist() == [2, 2, 2]
        assert np.shares_memory(found, given)


def test_inline() -> None:
    for inline in (False, True):
        inner = jit(lambda x: x * 2, inline=inline)
        jaxpr = jit(lambda x, inner=inner: inner(x) + 1).trace(X).jaxpr
        assert ("jit[" in str(jaxpr)) is not inline


def test_compiler_options(tmp_path: Path) -> None:
    """Those of the device, whose options `jit` has as keywords as well."""
    x = jnp.asarray(X)
    passes = {"xdsl_passes": "xla-simplify", "xla_dump_to": str(tmp_path)}
    function = jit(lambda x: x * 1 + jnp.sin(x), compiler_options=passes)
    np.testing.assert_allclose(function(x), X + np.sin(X), rtol=1e-6)
    (dumped,) = tmp_path.glob("*.xla.mlir")
    assert "xla.multiply" not in dumped.read_text()
    assert "xla.multiply" in function.lower(x).as_text("stablehlo").replace("stablehlo", "xla")
    for options in ({"xdsl_backend": "reference"}, {"xdsl_num_threads": 1}):
        np.testing.assert_allclose(jit(total, compiler_options=options)(X), total(X), rtol=1e-6)
    with pytest.raises(XlaError, match="the backend 'reference' obeys no schedules"):
        jit(total, schedules="a.schedules", compiler_options={"xdsl_backend": "reference"})
    with pytest.raises(XlaError, match="No such compile option: 'xla_nothing'"):
        jit(total, compiler_options={"xla_nothing": 1})
    with pytest.raises(XlaError, match="'many' is not a valid int value"):
        jit(total, compiler_options={"xdsl_num_threads": "many"})
    of_gpus = {"xla_gpu_enable_latency_hiding_scheduler": True}
    np.testing.assert_allclose(jit(total, compiler_options=of_gpus)(X), total(X), rtol=1e-6)


def test_errors_name_the_operation_and_the_line() -> None:
    function = jit(lambda x: jax.ffi.ffi_call("nobody_knows_it", x)(x))
    with pytest.raises(
        JaxProgramError, match=r"test_jit_like_jax.py:\d+:\d+: error: xla.custom_call"
    ):
        function(X)


def test_results_are_where_jax_has_them() -> None:
    first, second = jax.devices()[:2]
    a, b = jnp.ones(3), jax.device_put(np.ones(3, np.float32), second)
    for arguments in ((a,), (b,), (a, b), (np.float32(1), b), (1.0, b), (2.0,), ()):
        function = lambda *x: sum(x, jnp.zeros(3))  # noqa: E731
        found, expected = jit(function)(*arguments), jax.jit(function)(*arguments)
        assert (found.sharding, found.committed) == (expected.sharding, expected.committed)
    assert jit(lambda x: x + 1, device=second)(a).devices() == {second}
    assert jit(lambda x: x + 1, device=first)(X[0]).devices() == {first}
    with pytest.raises(ValueError, match="incompatible devices"):
        jit(lambda x, y: x + y)(jax.device_put(a, first), b)


SPECS = [("x", "y"), (("x", "y"), None), (None, "y"), ()]


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("kind", ["Auto", "Explicit"])
def test_results_of_several_devices_are_where_jax_has_them(kind: str, spec: Any) -> None:
    axis_type = getattr(jax.sharding.AxisType, kind)
    mesh = jax.make_mesh((2, 2), ("x", "y"), axis_types=(axis_type, axis_type))
    sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(*spec))
    given = jax.device_put(jnp.arange(32.0).reshape(8, 4), sharding)

    def function(x: Any) -> Any:
        return x * 2, x.T, x.sum(1), x.sum(), *((x.T @ x,) if kind == "Auto" else ())

    for found, expected in zip(jit(function)(given), jax.jit(function)(given), strict=True):
        assert found.sharding.is_equivalent_to(expected.sharding, found.ndim)
        np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_numpy_arrays_only_where_there_are_numpy_arrays() -> None:
    assert isinstance(jit(lambda x: x)(X), np.ndarray)
    for arguments in ((), (1.0,), (True,), (jnp.ones(2), X)):
        assert isinstance(jit(lambda *_: jnp.ones(2))(*arguments), jax.Array)


@pytest.mark.parametrize("backend", ["llvm", "reference"])
def test_refs(backend: str) -> None:
    def adding_to(held: Any) -> Callable[..., Any]:
        def add(ref: Any, x: Any) -> Any:
            ref[...] += x
            held[0] = ref[1]
            return ref[0] * 2, x

        return add

    contents: list[Any] = []
    for of in (lambda function: jit(function, backend=backend), jax.jit):
        held, ref = jax.new_ref(jnp.zeros(2)), jax.new_ref(jnp.arange(3.0))
        function = of(adding_to(held))
        results = [function(ref, jnp.ones(3)), function(ref, np.ones(3, np.float32))]
        contents.append((results, ref[...], held[...]))
    assert_same_tree(*contents)
    found = jit(lambda x: jax.new_ref(x * 2)[...] + 1, backend=backend)(X)
    np.testing.assert_array_equal(found, X * 2 + 1)


def test_float0() -> None:
    def tangents(n: Any, x: Any, t: Any) -> Any:
        return jax.jvp(lambda n, x: (n + 1, x * n), (n, x), (t, x))

    t = np.zeros(2, jax.dtypes.float0)
    arguments = np.arange(2, dtype=np.int32), jnp.ones(2), t
    found, expected = jit(tangents)(*arguments), jax.jit(tangents)(*arguments)
    for mine, theirs in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        assert (mine.dtype, mine.shape) == (theirs.dtype, theirs.shape)
        if mine.dtype != jax.dtypes.float0:
            np.testing.assert_array_equal(mine, theirs)
    gradient = jit(jax.grad(lambda n: 1.0, allow_int=True))(3)
    assert gradient.dtype == jax.dtypes.float0


def test_a_slice_of_a_scalar() -> None:
    function = jit(lambda x: jax.lax.dynamic_slice(x, (), ()))
    assert float(function(jnp.float32(3))) == 3
    assert "%arg0, , sizes = []" in function.lower(jnp.float32(3)).as_text()


@pytest.mark.parametrize("dtype", ["int64", "float64", "uint64", "complex128"])
def test_explicit_types_of_64_bits(dtype: str) -> None:
    option = "jax_explicit_x64_dtypes"
    before = getattr(jax.config, option)
    jax.config.update(option, "allow")
    try:
        function = lambda x: (x.astype(dtype) * 3, jnp.arange(3).astype(dtype))  # noqa: E731
        x = jnp.asarray(X)
        assert_same_tree(jit(function)(x), jax.jit(function)(x))
        wide = function(x)[0]
        assert wide.dtype == dtype
        assert_same_tree(jit(lambda x: x + 1)(wide), jax.jit(lambda x: x + 1)(wide))
        plain = np.asarray(wide)
        assert jit(lambda x: x + 1)(plain).dtype == jax.jit(lambda x: x + 1)(plain).dtype
    finally:
        jax.config.update(option, before)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float8_e5m2", "complex64"])
def test_debugged_values_are_errors(dtype: str) -> None:
    reciprocal, zero_over_zero = jit(lambda x: 1 / x), jit(lambda x: x / x)
    zeros, ones = jnp.zeros(3, dtype), jnp.ones(3, dtype)
    zero_over_zero(zeros)
    with jax.debug_nans(True):
        zero_over_zero(ones)
        with pytest.raises(FloatingPointError, match="nan"):
            zero_over_zero(zeros)
    with jax.debug_infs(True):
        reciprocal(ones)
        with pytest.raises(FloatingPointError, match=r"inf|nan"):
            reciprocal(zeros)


def test_debugged_values_of_integers_and_gradients() -> None:
    with jax.debug_nans(True):
        np.testing.assert_array_equal(jit(lambda x: x + 1)(jnp.arange(3, dtype="int4")), [1, 2, 3])
        with pytest.raises(FloatingPointError, match="nan"):
            jax.grad(jit(lambda x: jnp.sqrt(x) * 0))(0.0)
