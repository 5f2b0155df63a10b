"""Handlers of XLA's FFI in C: what they are given and what they ask for, beside XLA CPU."""

import ctypes
import gc
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from peers import has_jax

import lowerings
from lowerings.execution.ffi import FUNCTIONS, FfiHandler, size_of
from lowerings.jax import JaxProgramError, jit
from xla_dialect.diagnostics import XlaError

if has_jax():
    import jax
    import jax.numpy as jnp

pytestmark = [pytest.mark.jax, pytest.mark.riscv64]

NAMES = ("describe", "copy", "increment", "refuse", "ask", "promise", "count", "unregistered")


def capsule(library: Any, name: str) -> Any:
    return jax.ffi.pycapsule(getattr(library, name))


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The handlers, registered with JAX as `test_ffi_<name>`."""
    path = tmp_path_factory.mktemp("ffi") / "handlers.so"
    source = Path(__file__).parent / "ffi_handlers.c"
    command = [sys.executable, "-m", "ziglang", "cc", "-shared", "-fPIC", "-O1"]
    command += ["-I", jax.ffi.include_dir(), str(source), "-o", str(path)]
    subprocess.run(command, check=True, capture_output=True)
    found = ctypes.CDLL(str(path))
    for name in NAMES[:-2]:
        jax.ffi.register_ffi_target(f"test_ffi_{name}", capsule(found, name), platform="cpu")
    return found


def call(name: str, *results: tuple[Any, tuple[int, ...]], **options: Any) -> Callable[..., Any]:
    shapes = [jax.ShapeDtypeStruct(sizes, dtype) for dtype, sizes in results]
    found = jax.ffi.ffi_call(f"test_ffi_{name}", shapes, **options)
    return lambda *arguments, **attributes: found(*arguments, **attributes)


def assert_as_xla(function: Callable[..., Any], *arguments: Any) -> Any:
    expected = jax.tree.map(np.asarray, jax.jit(function)(*arguments))
    for backend in ("llvm", "reference", "interpreter"):
        found = jax.tree.map(np.asarray, jit(function, backend=backend)(*arguments))
        for mine, theirs in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
            np.testing.assert_array_equal(mine, theirs, strict=True)
    return expected


def test_sizes_of_structs(tmp_path: Path) -> None:
    """The compiler's, of the headers that are installed."""
    structs = ["CallFrame", "Args", "Attrs", "Buffer", "Api", "Metadata", "Metadata_Extension"]
    structs += [f"{name}_Args" for name in FUNCTIONS if name not in UNKNOWN_ARGUMENTS]
    lines = "\n".join(
        f"_Static_assert(XLA_FFI_{s}_STRUCT_SIZE == {size_here(s)}, {s!r});".replace("'", '"')
        for s in structs
    )
    source = tmp_path / "sizes.c"
    source.write_text(f'#include "xla/ffi/api/c_api.h"\n{lines}\n')
    command = [sys.executable, "-m", "ziglang", "cc", "-I", jax.ffi.include_dir(), "-c"]
    subprocess.run([*command, str(source), "-o", str(tmp_path / "sizes.o")], check=True)


UNKNOWN_ARGUMENTS = {"Handler_Register", "Stream_Get", "ExecutionContext_Get"}
"""Of functions that look at nothing."""


def size_here(name: str) -> int:
    return size_of(name.removesuffix("_Args"))


def test_what_handlers_are_given(library: Any) -> None:
    with jax.enable_x64(True):
        describe = call("describe", (np.float32, (2, 0)), (np.int64, (300,)))
        types = (np.float32, np.int8, np.uint16, np.complex128, np.bool_, np.float64, jnp.bfloat16)
        arrays = [np.zeros((n, 3)[: n % 3], dtype) for n, dtype in enumerate(types)]
        *_, notes = assert_as_xla(
            lambda *arrays: describe(
                *arrays,
                zeta=np.int8(-3),
                alpha=1,
                yes=True,
                no=False,
                float=np.float32(2.5),
                double=-0.0,
                unsigned=np.uint32(2**32 - 1),
                word="hellö",
                empty="",
                numbers=np.array([1, -2, 3]),
                same=np.full((2, 2), 7, np.int32),
                reals=np.arange(4.0).reshape(2, 2),
                inner={"b": np.int64(3), "a": "x"},
            ),
            *arrays,
        )
    assert np.count_nonzero(notes) > 100


def test_without_attributes_operands_and_elements(library: Any) -> None:
    with jax.enable_x64(True):
        assert_as_xla(lambda: call("describe", (np.int64, (50,)))())
        assert_as_xla(call("describe", (np.float32, (0, 3)), (np.int64, (50,))), np.zeros((0, 4)))


@pytest.mark.parametrize(
    ("given", "wanted"), [((0, 1), (0, 1)), ((0, 1), (1, 0)), ((1, 0), (0, 1))]
)
def test_layouts(library: Any, given: tuple[int, ...], wanted: tuple[int, ...]) -> None:
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    copy = call("copy", (np.float32, (2, 3)), input_layouts=[given], output_layouts=[wanted])
    assert_as_xla(copy, x)


@pytest.mark.parametrize("layout", [(0, 1), (1, 0)])
def test_a_result_in_the_memory_of_an_operand(library: Any, layout: tuple[int, ...]) -> None:
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    increment = call(
        *("increment", (np.float32, (2, 3))),
        input_layouts=[layout],
        output_layouts=[layout],
        input_output_aliases={0: 0},
    )
    (found, before) = assert_as_xla(lambda x: (increment(x * 2)[0], x * 2), x)
    np.testing.assert_array_equal(found, before + 1)


def test_what_handlers_ask_for(library: Any) -> None:
    (found,) = jit(call("ask", (np.float32, (3,))))(np.array([3], np.float32))
    assert np.asarray(found).tolist() == [9, 1, 1]


@pytest.mark.parametrize(
    ("name", "message"),
    [("refuse", "OUT_OF_RANGE: a negative number"), ("promise", "ABORTED: a broken promise")],
)
@pytest.mark.parametrize("backend", ["llvm", "reference", "interpreter"])
def test_errors(library: Any, name: str, message: str, backend: str) -> None:
    function = call(name, (np.float32, (1,)))
    one = np.ones(1, np.float32)
    assert_as_xla(function, one)
    mine = jit(function, backend=backend)
    for _ in range(2):
        mine(one)
        with pytest.raises(XlaError, match=message):
            mine(-one)
        with pytest.raises(Exception, match=message.partition(": ")[2]):
            jax.block_until_ready(jax.jit(function)(-one))


def test_in_a_loop_and_in_threads(library: Any) -> None:
    increment = call("increment", (np.float32, (4,)), input_output_aliases={0: 0})

    def function(x: Any) -> Any:
        return jax.lax.fori_loop(0, 50, lambda _, x: increment(x)[0], x)

    arrays = [np.full(4, n, np.float32) for n in range(40)]
    mine = jit(function)
    mine(arrays[0])
    with ThreadPoolExecutor(4) as threads:
        for n, found in enumerate(threads.map(mine, arrays)):
            assert np.asarray(found).tolist() == [n + 50.0] * 4


def program(name: str) -> str:
    return f"""
    func.func @main(%x: tensor<1xf32>) -> tensor<1xf32> {{
      %y = stablehlo.custom_call @{name}(%x) {{api_version = 4 : i32}}
        : (tensor<1xf32>) -> tensor<1xf32>
      return %y : tensor<1xf32>
    }}"""


def test_state_of_an_instance(library: Any) -> None:
    """Two programs count for themselves; what they count in goes with them."""
    handler = FfiHandler(capsule(library, "count"), instantiate=capsule(library, "make_counter"))
    one = np.ones(1, np.float32)
    before = library.deleted_counters()
    programs = [lowerings.compile(program("n"), custom_calls={"n": handler}) for _ in range(2)]
    assert [float(each(one)[0][0]) for each in (*programs, programs[0])] == [1, 1, 2]
    assert library.deleted_counters() == before
    programs.clear()
    gc.collect()
    assert library.deleted_counters() == before + 2


def test_a_handler_without_its_state(library: Any) -> None:
    handler = FfiHandler(capsule(library, "count"))
    found = lowerings.compile(program("n"), custom_calls={"n": handler})
    with pytest.raises(XlaError, match="stage 0 has no state"):
        found(np.ones(1, np.float32))


def test_what_is_no_handler(library: Any) -> None:
    with pytest.raises(XlaError, match="this is no handler of XLA's FFI"):
        FfiHandler(lambda: None)
    with pytest.raises(XlaError, match="this is no handler of XLA's FFI"):
        FfiHandler()
    with pytest.raises(XlaError, match="this is no handler of XLA's FFI: 'LATER'"):
        FfiHandler(capsule(library, "copy"), later=capsule(library, "copy"))
    with pytest.raises(XlaError, match=r"made for version 1\.0 of XLA's FFI, not 0\.3"):
        FfiHandler(capsule(library, "from_the_future"))


def test_others_are_denied(library: Any) -> None:
    with pytest.raises(XlaError, match="no function is registered for the target 'test_ffi_copy'"):
        lowerings.compile(program("test_ffi_copy"))
    with pytest.raises(JaxProgramError, match="no function is registered for the target"):
        jit(call("unregistered", (np.float32, (1,))))(np.ones(1, np.float32))


@pytest.mark.parametrize("element", ["f32", "complex<f64>"])
def test_attributes_and_arrays_that_cannot_be_given(library: Any, element: str) -> None:
    handler = FfiHandler(capsule(library, "copy"))
    text = program("n").replace("{api", "{mhlo.backend_config = {a = [1]}, api")
    with pytest.raises(XlaError, match="the attribute 'a' is"):
        lowerings.compile(text, custom_calls={"n": handler})
    with pytest.raises(XlaError, match="cannot be given arrays of int4"):
        lowerings.compile(program("n").replace("f32", "i4"), custom_calls={"n": handler})


def test_handlers_of_jaxlib() -> None:
    """Tridiagonal systems that are perturbed, which eigenvectors of such matrices need."""
    d, e = np.arange(1, 6, dtype=np.float32), np.full(4, 0.3, np.float32)
    values, vectors = jit(jax.scipy.linalg.eigh_tridiagonal)(d, e)
    matrix = np.diag(d) + np.diag(e, 1) + np.diag(e, -1)
    np.testing.assert_allclose(matrix @ vectors, vectors * values, atol=1e-5)
