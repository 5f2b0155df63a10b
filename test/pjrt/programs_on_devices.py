"""
Programs of JAX on our devices, four of them, and by default: `test_devices.py` runs this file in a
process where it is so.
"""

import gc
import math
import re
import resource
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from jax.experimental import serialize_executable
from jax.experimental.layout import Format, Layout
from jax.extend.backend import clear_backends
from jax.sharding import SingleDeviceSharding
from sweeps import each_or_full
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from lowerings.pjrt.inspection import text_of
from lowerings.pjrt.user_passes import extra_passes
from lowerings.rewriting.conversion import ConversionPass
from lowerings.runtime import mode_functions
from xla_dialect.diagnostics import XlaError
from xla_dialect.ops.elementwise import CosineOp, SineOp

CPU = jax.devices("cpu")[0]
COUNT = 4


def on_xla(function, *arguments):
    """What XLA's CPU client computes."""
    with jax.default_device(CPU):
        return jax.tree.map(np.asarray, function(*jax.device_put(arguments, CPU)))


def assert_as_on_xla(function, *arguments):
    ours = jax.tree.map(np.asarray, function(*arguments))
    jax.tree.map(
        lambda a, b: np.testing.assert_allclose(a, b, 2e-5, 2e-5),
        ours,
        on_xla(function, *arguments),
    )


def test_our_devices_are_the_default():
    assert [str(device) for device in jax.devices()] == [f"XdslDevice(id={n})" for n in range(4)]
    assert jax.devices() == jax.devices("xdsl")
    assert jnp.ones(3).devices() == {jax.devices()[0]}
    assert "CpuDevice" in repr(CPU)


VALUES = jnp.linspace(-2.0, 3.0, 12).reshape(3, 4)

FUNCTIONS = {
    "eager": lambda x: jnp.sin(x) + x[::-1, 1:2] * 2,
    "jit": jax.jit(lambda x: (x @ x.T, jnp.argmax(x, 1), x > 0)),
    "grad": jax.grad(lambda x: jnp.sum(jnp.tanh(x) ** 2)),
    "vmap": jax.vmap(lambda row: jnp.cumsum(row)[::-1]),
    "scan": lambda x: jax.lax.scan(lambda c, row: (c + row, c * row), x[0], x),
    "while": lambda x: jax.lax.while_loop(lambda c: c.sum() < 50, lambda c: c * 1.5 + 1, x),
    "cond": jax.jit(lambda x: jax.lax.cond(x[0, 0] > 0, jnp.sin, jnp.cos, x)),
    "random": lambda x: jax.random.normal(jax.random.key(7), x.shape) + x,
    "svd": lambda x: jnp.linalg.svd(x, compute_uv=False),
    "eigh": lambda x: jnp.linalg.eigvalsh(x @ x.T),
    "solve": lambda x: jnp.linalg.solve(x @ x.T + jnp.eye(3), x),
    "fft": lambda x: jnp.abs(jnp.fft.fft(x)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_results_are_those_of_xla(name: str):
    assert_as_on_xla(FUNCTIONS[name], VALUES)


DTYPES = """
    bool int2 int4 int8 int16 int32 uint2 uint4 uint8 uint16 uint32 float16 bfloat16 float32
    complex64 float8_e4m3fn float8_e5m2 float4_e2m1fn
""".split()


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (5,), (2, 3)])
def test_arrays_of_every_type_come_back(name: str, shape: tuple[int, ...]):
    dtype = np.dtype(getattr(ml_dtypes, name, name))
    given = (np.arange(int(np.prod(shape))) % 2).reshape(shape).astype(dtype)
    array = jax.device_put(given)
    assert array.dtype == dtype
    np.testing.assert_array_equal(np.asarray(array), given)
    np.testing.assert_array_equal(np.asarray(array.T), given.T)


def test_arrays_of_the_host_lie_as_they_like():
    given = np.arange(24.0, dtype=np.float32).reshape(2, 3, 4)
    for view in (given.T, given[:, ::-1], given[::2, :, 1:3], np.broadcast_to(given[0], (2, 3, 4))):
        for _ in range(2):  # The second time its shape is known to machine code.
            np.testing.assert_array_equal(np.asarray(jax.device_put(view)), view)
            np.testing.assert_array_equal(np.asarray(jax.device_put(view.copy())), view)


def test_arrays_that_the_host_lends_are_given_back():
    raw = np.zeros((1 << 14) + 16, np.float32)
    aligned = raw[(-raw.ctypes.data % 64) // 4 :][: 1 << 14]
    array = jax.device_put(aligned)
    assert array.unsafe_buffer_pointer() == aligned.ctypes.data
    np.testing.assert_array_equal(jax.jit(lambda x: x[1:] + 1)(array), aligned[1:] + 1)
    owner = __import__("weakref").ref(raw)
    np.testing.assert_array_equal(np.asarray(array), aligned)
    del array, aligned, raw
    gc.collect()
    assert owner() is None


def test_arrays_of_the_host_that_xla_would_copy_are_copied():
    raw = np.zeros((1 << 14) + 32, np.float32)
    batch = raw[(-raw.ctypes.data % 64) // 4 + 4 :][: 1 << 14]
    array = jax.device_put(batch)
    batch[:] = 7
    np.testing.assert_array_equal(array, np.zeros(1 << 14, np.float32))


def test_special_values_stay():
    given = np.array([np.nan, -0.0, np.inf, -np.inf, 1e-45], np.float32)
    found = np.asarray(jax.jit(lambda x: x)(given))
    np.testing.assert_array_equal(found.view(np.uint32), given.view(np.uint32))


def test_donated_arrays_are_gone_and_their_memory_is_used():
    step = jax.jit(lambda x: x + 1, donate_argnums=0)
    array = jnp.arange(8.0)
    place = array.unsafe_buffer_pointer()
    result = step(array)
    assert array.is_deleted()
    assert result.unsafe_buffer_pointer() == place
    np.testing.assert_array_equal(result, np.arange(1.0, 9.0))
    with pytest.raises(RuntimeError, match="deleted"):
        _ = array + 1


def test_donated_arrays_that_numpy_sees_keep_their_values():
    array = jnp.arange(8.0)
    seen = np.asarray(array)
    result = jax.jit(lambda x: x + 1, donate_argnums=0)(array)
    np.testing.assert_array_equal(seen, np.arange(8.0))
    np.testing.assert_array_equal(result, np.arange(1.0, 9.0))


@pytest.mark.parametrize("donated", [(0,), (1,), (0, 1)])
@pytest.mark.parametrize(
    "function",
    [lambda x, y: x + y, lambda x, y: (x[:3], y)],
    ids=["one result", "one of two"],
)
def test_an_array_that_is_donated_is_one_argument(
    function: Callable[..., Any], donated: tuple[int, ...]
):
    array = jnp.arange(8.0)
    program = jax.jit(function, donate_argnums=donated)
    with pytest.raises(RuntimeError, match="arguments 0 and 1 are the same array"):
        program(array, array)
    np.testing.assert_array_equal(array, np.arange(8.0))
    jax.block_until_ready(program(array, jnp.ones(8)))


def test_arrays_go_to_other_devices_and_clients():
    array = jnp.arange(6.0)
    there = jax.device_put(array, CPU)
    assert there.devices() == {CPU}
    other = jax.device_put(there, jax.devices()[2])
    assert (other + 1).devices() == {jax.devices()[2]}
    np.testing.assert_array_equal(other, array)


def test_dlpack():
    np.testing.assert_array_equal(np.from_dlpack(cast(Any, jnp.arange(6.0))), np.arange(6.0))
    np.testing.assert_array_equal(jnp.from_dlpack(np.arange(4.0, dtype=np.float32)), np.arange(4.0))


def test_callbacks_see_the_values_of_the_moment():
    log = []
    for _ in range(2):
        result = jax.jit(lambda x: (jax.debug.callback(log.append, x * 2), jnp.sin(x) + 7)[1])(
            VALUES
        )
        result.block_until_ready()
    jax.effects_barrier()
    assert len(log) == 2
    for seen in log:
        np.testing.assert_array_equal(seen, VALUES * 2)


def test_ordered_callbacks_keep_their_order():
    log = []

    @jax.jit
    def function(x):
        jax.debug.callback(lambda v: log.append(float(v)), x, ordered=True)
        jax.debug.callback(lambda v: log.append(float(v) + 0.5), x, ordered=True)
        return x + 1

    value = jnp.float32(0)
    for _ in range(3):
        value = function(value)
    jax.effects_barrier()
    assert log == [0.0, 0.5, 1.0, 1.5, 2.0, 2.5]


def test_pure_callback_and_its_error():
    shape = jax.ShapeDtypeStruct((3, 4), jnp.float32)
    call = jax.jit(lambda x: jax.pure_callback(lambda v: np.asarray(v) * 3, shape, x))
    np.testing.assert_array_equal(call(VALUES), VALUES * 3)

    def fails(value):
        raise ValueError("not today")

    with pytest.raises(jax.errors.JaxRuntimeError, match="not today"):
        jax.jit(lambda x: jax.pure_callback(fails, shape, x))(VALUES).block_until_ready()


FAILED_CALL = (jax.errors.JaxRuntimeError, ValueError)
"""What JAX makes of an error: the first of a function's first call, the second of later ones."""


def test_a_callback_that_fails_ends_its_own_call():
    called = []

    def root(value):
        called.append(float(value))
        if value < 0:
            raise ValueError(f"{value} has no root")
        return np.sqrt(value)

    @jax.jit
    def roots(start):
        shape = jax.ShapeDtypeStruct((), jnp.float32)

        def step(i, x):
            return jax.pure_callback(root, shape, x) - i

        return jax.lax.fori_loop(1, 4, step, start)

    on_values = [jax.device_put(np.float32(each)) for each in (900, 9, 900, 9)]
    for value in on_values:
        called.clear()
        if value == 900:
            expected = np.sqrt(np.sqrt(np.float32(29)) - 2) - 3
            np.testing.assert_allclose(roots(value), expected, 1e-6)
            assert len(called) == 3
        else:
            with pytest.raises(FAILED_CALL, match="has no root"):
                roots(value).block_until_ready()
            np.testing.assert_allclose(called, [9, 2, np.sqrt(2) - 2], 1e-6)

    def fails(number):
        try:
            roots(on_values[number]).block_until_ready()
        except FAILED_CALL:
            return True
        return False

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(fails, [0, 1] * 50)) == [False, True] * 50


def test_errors_name_the_operation_and_the_line():
    unknown = jax.jit(lambda x: jax.ffi.ffi_call("nobody_knows_it", VALUES)(x))
    with pytest.raises(jax.errors.JaxRuntimeError) as found:
        unknown(VALUES)
    message = str(found.value)
    assert "xla.custom_call" in message
    assert "'nobody_knows_it'" in message
    assert "programs_on_devices.py:" in message


WITH_CUTS = {
    jax.lax.asin: np.arcsin,
    jax.lax.acos: np.arccos,
    jax.lax.asinh: np.arcsinh,
    jax.lax.acosh: np.arccosh,
    jax.lax.atanh: np.arctanh,
    jax.lax.sinh: np.sinh,
    jax.lax.cosh: np.cosh,
    jax.lax.sqrt: np.sqrt,
    jax.lax.atan: np.arctan,
}


@pytest.mark.parametrize("function", WITH_CUTS)
def test_complex_functions_on_their_cuts(function):
    """The formulas that jaxlib sends with them have zeros of other signs."""
    parts = np.array([0.0, -0.0, 1e-20, 0.5, -0.5, 2.0, -2.0])
    z = np.array([complex(a, b) for a in parts for b in parts], np.complex64)
    found: Any = np.asarray(jax.jit(function)(z))
    expected = WITH_CUTS[function](z)
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    for mine, theirs in ((found.real, expected.real), (found.imag, expected.imag)):
        np.testing.assert_array_equal(np.signbit(mine), np.signbit(theirs))


FAR_FROM_THE_AXIS = [1 + 88.9j, -2.5 - 88.9j, 1e-3 + 89.3j, 0.5 + 0.25j, -0.0 + 2j, 3 - 1e-20j]


@pytest.mark.parametrize(("function", "exact"), [(jnp.sin, np.sin), (jnp.cos, np.cos)])
def test_sines_of_complex_numbers_do_not_overflow_early(function, exact):
    """JAX writes them as formulas of exponentials."""
    z = np.array(FAR_FROM_THE_AXIS, np.complex64)
    lowered = jax.jit(function).lower(z)
    before = lowered.as_text()
    np.testing.assert_allclose(np.asarray(lowered.compile()(z)), exact(z), rtol=1e-5)
    assert lowered.as_text() == before


def test_functions_within_other_computations_are_told_to_us():
    """And the program that JAX keeps is as it was."""

    def function(z):
        return jax.lax.fori_loop(0, 2, lambda _, w: jnp.sqrt(w) - 2, z)

    z = np.array([-1 - 0.0j, complex(1, -0.0)], np.complex64)
    lowered = jax.jit(function).lower(z)
    before = lowered.as_text()
    found = np.asarray(lowered.compile()(z))
    assert lowered.as_text() == before
    np.testing.assert_allclose(found, np.sqrt(np.sqrt(z) - 2) - 2, rtol=1e-6)


@pytest.mark.parametrize("zero", [1.0, 2.0])
def test_the_logarithm_of_the_gamma_function_has_its_digits_around_its_zeros(zero: float):
    steps = np.float32(zero) + np.array([0, 1, -1, 3, -100, 10000, -200000], np.float32) * 2.0**-23
    found = np.asarray(jax.jit(jax.lax.lgamma)(steps))
    np.testing.assert_allclose(found, [math.lgamma(float(x)) for x in steps], rtol=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "float16", "complex64"])
def test_subnormal_numbers_stay(dtype: str):
    """Jaxlib has them flushed to 0 while a program is compiled."""
    with jax.enable_x64(True):
        part = np.float32 if dtype == "complex64" else jnp.dtype(dtype)
        least = jnp.finfo(part).smallest_subnormal
        numbers = np.array([least, least * 5, -least, 1], part).astype(dtype)
        scalar, array = jax.jit(lambda: (jnp.asarray(numbers[1]), jnp.asarray(numbers)))()
        halved = jax.jit(lambda x: x * jnp.asarray(numbers[3]))(numbers)
    assert np.asarray(scalar).tobytes() == numbers[1].tobytes()
    assert np.asarray(array).tobytes() == numbers.tobytes()
    assert np.asarray(halved).tobytes() == numbers.tobytes()


FLUSHING = 0x9FC0


def test_calls_do_not_see_the_mode_of_their_caller():
    """Neither by machine code nor by Python, whose functions they call."""
    enter, leave = mode_functions()
    tiny = jnp.asarray(np.float32(3e-39))

    def halved_by_numpy(x):
        return np.asarray(x) * np.float32(0.5)

    def calling(x):
        return jax.pure_callback(halved_by_numpy, jax.ShapeDtypeStruct((), np.float32), x)

    def halved(x):
        return x * np.float32(0.5)

    expected = np.float32(3e-39) * np.float32(0.5)
    for function in map(jax.jit, (halved, calling)):
        function(tiny)
        before = enter()
        leave(FLUSHING)
        found = function(tiny)
        after = enter()
        leave(before)
        assert after & FLUSHING == FLUSHING
        assert np.asarray(found) == expected > 0


def test_unknown_compiler_options_are_refused():
    compiled = jax.jit(jnp.sin, compiler_options={"xla_no_such_option": True})
    with pytest.raises(
        jax.errors.JaxRuntimeError, match="No such compile option: 'xla_no_such_option'"
    ):
        compiled(VALUES)


@pytest.mark.parametrize(
    ("name", "value", "type_"),
    [
        ("xla_embed_ir_in_executable", "perhaps", "bool"),
        ("xdsl_num_threads", "0", "positive int"),
        ("xla_gpu_enable_latency_hiding_scheduler", "perhaps", "bool"),
    ],
)
def test_values_of_compiler_options_are_checked(name: str, value: str, type_: str):
    compiled = jax.jit(jnp.sin, compiler_options={name: value})
    with pytest.raises(
        jax.errors.JaxRuntimeError, match=f"{name}, '{value}' is not a valid {type_}"
    ):
        compiled(1.0)


def test_compiler_options_of_other_platforms_change_nothing():
    options = {"xla_gpu_enable_latency_hiding_scheduler": True, "xla_dump_max_hlo_modules": 200}
    np.testing.assert_array_equal(
        jax.jit(lambda x: x + 1, compiler_options=options)(VALUES), VALUES + 1
    )


def test_compiler_options_are_obeyed(tmp_path: Path):
    options = {
        "xdsl_check_bounds": True,
        "xla_dump_to": str(tmp_path),
        "xla_dump_hlo_as_proto": True,
    }
    function = jax.jit(lambda x: jnp.tanh(x) @ x.T, compiler_options=options)
    np.testing.assert_allclose(function(VALUES), np.tanh(VALUES) @ VALUES.T, 1e-6)
    names = {path.name.split(".", 1)[1] for path in tmp_path.iterdir()}
    assert {f"jit__lambda.cpu.{level}.mlir" for level in ("stablehlo", "tensors", "loops")} <= names
    assert {"jit__lambda.cpu.llvm.ll", "jit__lambda.cpu_after_optimizations.hlo.pb"} <= names
    (hlo,) = tmp_path.glob("*after_optimizations.txt")
    assert "tanh(" in hlo.read_text()


def test_levels_of_a_compiled_program():
    compiled = jax.jit(lambda x: x * 2 + 1).lower(VALUES).compile()
    assert "linalg.generic" in text_of(compiled, "tensors")
    assert "vector." in text_of(compiled, "loops")
    with pytest.raises(XlaError, match="there is no level 'no'"):
        text_of(compiled, "no")
    elsewhere = jax.jit(jnp.sin).lower(jax.device_put(1.0, CPU)).compile()
    with pytest.raises(XlaError, match="not compiled for our devices"):
        text_of(elsewhere, "loops")


@pytest.mark.parametrize(
    "dtype",
    each_or_full(("float32", "int32", "bfloat16", "complex64", "bool", "uint8"), ("bool", "uint8")),
)
def test_large_constants(dtype: str):
    bits = np.random.default_rng(0).integers(0, 60, (600, 1000)).astype(np.float32)
    constant, same_bytes = bits.astype(dtype), bits.view(np.int32)

    def function(x):
        return (
            constant,
            constant[:, ::-1],
            x.astype(np.int32) ^ same_bytes,
            x + bits,
        )

    given = np.ones((600, 1000), np.float32)
    assert_as_on_xla(jax.jit(function), given)
    compiled = jax.jit(function).lower(given).compile()
    assert "dense_resource" not in text_of(compiled, "stablehlo")
    assert len(text_of(compiled, "stablehlo")) > 2 * bits.nbytes
    assert "constant" in str(compiled.as_text())
    serialized = serialize_executable.serialize(compiled)
    devices = jax.devices()[:1]
    loaded = serialize_executable.deserialize_and_load(*serialized, execution_devices=devices)
    jax.tree.map(np.testing.assert_array_equal, loaded(given), compiled(given))


@dataclass(frozen=True)
class CosineForSine(ModulePass):
    """A pass that nobody would want, so that everybody sees it."""

    name = "cosine-for-sine"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for sine in [each for each in op.walk() if isinstance(each, SineOp)]:
            Rewriter.replace_op(sine, CosineOp(sine.operand))


def test_passes_of_the_user_run_first():
    function = jax.jit(lambda x: jnp.sin(x) + 1)
    np.testing.assert_allclose(function(VALUES), np.sin(VALUES) + 1, 1e-6)
    with extra_passes(CosineForSine()):
        np.testing.assert_allclose(function(VALUES), np.cos(VALUES) + 1, 1e-6)
        assert "math.cos" in text_of(function.lower(VALUES).compile(), "tensors")
    np.testing.assert_allclose(function(VALUES), np.sin(VALUES) + 1, 1e-6)


@dataclass(frozen=True)
class NoSines(ConversionPass):
    """A pass that gives up, as those do that leave operations unconverted."""

    name = "no-sines"
    illegal = (SineOp,)


@pytest.mark.parametrize("size", [1, 1 << 18])
def test_what_a_pass_refuses_is_named_with_its_line(size: int):
    """Large constants are not in the text that has the places."""
    constant = np.arange(size, dtype=np.float32)
    with extra_passes(NoSines()), pytest.raises(jax.errors.JaxRuntimeError) as found:
        jax.jit(lambda x: (jnp.sin(x).sum() - constant).sum())(VALUES)
    assert re.search(r"xla\.sine: 1, .*programs_on_devices\.py:\d+", str(found.value))


def test_passes_that_there_are_not():
    with pytest.raises(XlaError, match="no-such-pass"), extra_passes("no-such-pass"):
        pass
    options = {"xdsl_passes": "no-such-pass"}
    with pytest.raises(jax.errors.JaxRuntimeError, match="no-such-pass"):
        jax.jit(lambda x: x + 2, compiler_options=options)(VALUES)


def test_costs_of_a_compiled_program():
    product = jax.jit(lambda x: jnp.tanh(x @ x.T)).lower(VALUES).compile().cost_analysis()
    assert product == {
        "flops": 2 * 3 * 3 * 4,
        "transcendentals": 3 * 3,
        # Both operands and the result of the product, then the operand and result of tanh; the
        # transposed array is written and read as well.
        "bytes accessed": 4 * (12 + 12 + 12 + 12 + 9 + 9 + 9),
    }


def test_what_a_compiled_program_says_of_itself():
    compiled = jax.jit(lambda x: x @ x.T).lower(VALUES).compile()
    assert "dot(" in (compiled.as_text() or "")
    memory = compiled.memory_analysis()
    assert memory is not None
    assert memory.argument_size_in_bytes == 48
    assert memory.output_size_in_bytes == 36
    assert compiled.input_formats[0][0].layout.major_to_minor == (0, 1)


def test_threads_run_a_program_at_the_same_time():
    function = jax.jit(lambda x: jnp.sin(x) @ jnp.cos(x).T)
    expected = np.asarray(function(VALUES))
    wrong: list[int] = []

    def work(number: int):
        for _ in range(100):
            if not np.array_equal(function(VALUES), expected):
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_many_steps_do_not_grow():
    step = jax.jit(lambda x: x * 0.5 + 1)
    value = np.ones((64, 64), np.float32)
    for _ in range(100):
        value = step(value)
    alive, pages = len(jax.live_arrays()), resident_pages()
    for _ in range(2000):
        value = step(value)
        np.asarray(step(np.asarray(value)))
    assert len(jax.live_arrays()) == alive
    # One array for each step would be 8,000 pages.
    assert resident_pages() < pages + 2000


def resident_pages() -> int:
    """The memory of this process, of 4 KiB each."""
    return int(Path("/proc/self/statm").read_text().split()[1])


LARGE_PAGES = Path("/sys/kernel/mm/transparent_hugepage/enabled")


@pytest.mark.skipif(
    not LARGE_PAGES.exists() or "[never]" in LARGE_PAGES.read_text(),
    reason="the system has no large pages",
)
def test_large_results_lie_on_large_pages():
    program, x = jax.jit(lambda x: x + 1), jnp.zeros(1 << 24, jnp.float32)

    def faults() -> int:
        program(x).block_until_ready()
        return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

    before = faults()
    assert faults() - before < x.nbytes // 4096 // 8


def test_transfer_guard_and_nans():
    with jax.transfer_guard("disallow"), pytest.raises(Exception, match="Disallowed"):
        jnp.sin(np.ones(3))
    with jax.debug_nans(True), pytest.raises(FloatingPointError):
        jax.jit(lambda x: x / (x - x) * (x - x))(jnp.float32(1))


@pytest.mark.parametrize(
    "program",
    [
        lambda x: jnp.zeros(1 << 46) + x,
        lambda x: jnp.cumsum(jnp.ones((1 << 20, 1 << 22)) * x, 0).sum(),
    ],
    ids=["result", "temporary"],
)
def test_too_much_memory(program: Callable[[Any], Any]):
    with pytest.raises(jax.errors.JaxRuntimeError, match=r"RESOURCE_EXHAUSTED.*bytes"):
        jax.jit(program)(1.0)


SMALL_FLOATS = (
    "float8_e5m2 float8_e4m3fn float8_e4m3 float8_e3m4 float8_e4m3b11fnuz float8_e4m3fnuz "
    "float8_e5m2fnuz float8_e8m0fnu float4_e2m1fn"
).split()


@pytest.mark.parametrize("name", SMALL_FLOATS)
def test_functions_that_jaxlib_has_no_formula_for_in_small_floats(name: str):
    special = pytest.importorskip("scipy.special")
    exact = {"erf": special.erf, "erfc": special.erfc, "bessel_i1e": special.i1e}
    dtype = np.dtype(getattr(ml_dtypes, name))
    values = np.arange(1 << ml_dtypes.finfo(dtype).bits, dtype=np.uint8).view(dtype)
    found = jax.jit(lambda x: {each: getattr(jax.lax, each)(x) for each in exact})(values)
    for each, function in exact.items():
        expected = function(values.astype(np.float64)).astype(dtype).astype(np.float64)
        result = np.asarray(found[each]).astype(np.float64)
        np.testing.assert_array_equal(result, expected, err_msg=each)


def test_memories_and_layouts():
    host = SingleDeviceSharding(jax.devices()[0], memory_kind="pinned_host")
    array = jax.device_put(VALUES, host)
    assert array.sharding.memory_kind == "pinned_host"
    np.testing.assert_array_equal(jax.jit(lambda x: x + 1)(array), VALUES + 1)
    columns = Format(Layout((1, 0)), SingleDeviceSharding(jax.devices()[0]))
    moved = jax.jit(lambda x: x * 2, in_shardings=columns, out_shardings=columns)
    result = moved(jax.device_put(VALUES, columns))
    assert result.format.layout.major_to_minor == (1, 0)
    np.testing.assert_array_equal(result, VALUES * 2)
    cube = np.arange(24.0, dtype=np.float32).reshape(2, 3, 4)
    any_layout = jax.jit(lambda x: x.transpose(2, 0, 1), out_shardings=Format(Layout.AUTO))
    turned = any_layout.lower(cube).compile()(cube)
    # The bytes are those of the cube, the fastest dimension of which is now the first.
    assert turned.format.layout.major_to_minor == (1, 2, 0)
    np.testing.assert_array_equal(turned, cube.transpose(2, 0, 1))


def test_programs_are_serialized_and_loaded_again():
    compiled = jax.jit(lambda x: jnp.tanh(x) + 1).lower(VALUES).compile()
    serialized = serialize_executable.serialize(compiled)
    devices = jax.devices()[:1]
    loaded = serialize_executable.deserialize_and_load(*serialized, execution_devices=devices)
    np.testing.assert_array_equal(loaded(VALUES), compiled(VALUES))


def test_backends_are_cleared_and_made_again():
    old = jnp.arange(3.0)
    jax.clear_caches()
    clear_backends()
    new = jnp.arange(3.0) + 1
    np.testing.assert_array_equal(new, np.arange(1.0, 4.0))
    assert new.devices() == {jax.devices()[0]}
    np.testing.assert_array_equal(np.asarray(old), np.arange(3.0))
