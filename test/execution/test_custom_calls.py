"""Compiled programs that call functions outside: of Python, of C, and LAPACK."""

import ctypes
import gc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from built_programs import f32
from peers import has_jax

import lowerings
from xla_dialect.diagnostics import XlaError
from xla_dialect.literals.arrays import numpy_dtype
from xla_dialect.types import BY_NAME, ELEMENT_TYPES

if has_jax():
    import jax
    import jax.numpy as jnp

    from lowerings.jax import jit

TWO_RESULTS = """
func.func @main(%x: tensor<2xf32>, %y: tensor<2xui8>) -> (tensor<2xf32>, tensor<2xui8>) {
  %a, %b = xla.custom_call %x, %y {custom_call_target = "both"}
    : (tensor<2xf32>, tensor<2xui8>) -> (tensor<2xf32>, tensor<2xui8>)
  func.return %a, %b : tensor<2xf32>, tensor<2xui8>
}
"""
IN_A_LOOP = """
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %zero = xla.constant dense<0> : tensor<i32>
  %i, %r = xla.while %zero, %x
    : (tensor<i32>, tensor<2xf32>) -> (tensor<i32>, tensor<2xf32>)
    condition (%a: tensor<i32>, %b: tensor<2xf32>) {
      %n = xla.constant dense<5> : tensor<i32>
      %c = xla.compare %a, %n {direction = LT, comparison_type = SIGNED}
        : (tensor<i32>, tensor<i32>) -> tensor<i1>
      xla.return %c : tensor<i1>
    } body (%d: tensor<i32>, %e: tensor<2xf32>) {
      %one = xla.constant dense<1> : tensor<i32>
      %f = xla.add %d, %one : tensor<i32>
      %g = xla.custom_call %e {custom_call_target = "twice"} : (tensor<2xf32>) -> tensor<2xf32>
      xla.return %f, %g : tensor<i32>, tensor<2xf32>
    }
  func.return %r : tensor<2xf32>
}
"""


def one_call(sizes: str, attributes: str = "") -> str:
    return f"""
    func.func @main(%x: tensor<{sizes}>) -> tensor<{sizes}> {{
      %y = xla.custom_call %x {{custom_call_target = "f"}} {attributes}
        : (tensor<{sizes}>) -> tensor<{sizes}>
      func.return %y : tensor<{sizes}>
    }}"""


def run(
    text: str, *arrays: Any, backend: str = "llvm", level: str | None = None, **functions: Any
) -> Any:
    program = lowerings.compile(text, backend=backend, level=level, custom_calls=functions)
    return program(*arrays)


LEVELS = [("interpreter", level) for level in ("tensors", "buffers", "loops")]
EXECUTORS = [("llvm", None), ("reference", None), *LEVELS]


@pytest.mark.parametrize(("backend", "level"), EXECUTORS)
def test_several_results(backend: str, level: str | None) -> None:
    y = np.array([250, 3], np.uint8)

    def both(op: Any, x: Any, y: Any) -> Any:
        return x + 1, y + 10

    a, b = run(TWO_RESULTS, f32(1, 2), y, backend=backend, level=level, both=both)
    assert a.tolist() == [2, 3]
    assert b.tolist() == [4, 13]


COLUMN_MAJOR = """
func.func @main(%x: tensor<2x3xf32, #xla.layout<{0,1}>>) -> tensor<2x3xf32, #xla.layout<{0,1}>> {
  %0 = xla.custom_call %x {custom_call_target = "f"} : tensor<2x3xf32, #xla.layout<{0,1}>>
  func.return %0 : tensor<2x3xf32, #xla.layout<{0,1}>>
}
"""


@pytest.mark.parametrize(("backend", "level"), EXECUTORS)
def test_arguments_and_results_of_the_program_in_layouts(backend: str, level: str | None) -> None:
    x = np.array([[1, 2, 3], [4, 5, 6]], np.float32)
    (result,) = run(COLUMN_MAJOR, x, backend=backend, level=level, f=lambda op, x: 2 * x)
    assert result.tolist() == [[2, 4, 6], [8, 10, 12]]


@pytest.mark.parametrize("executor", [("llvm", None), *LEVELS], ids=str)
@pytest.mark.parametrize("element_type", [e.name for e in ELEMENT_TYPES])
def test_element_types(element_type: str, executor: tuple[str, str | None]) -> None:
    element = BY_NAME[element_type]
    backend, level = executor
    x = np.array([1, 1, 2, 1]).astype(numpy_dtype(element.type))
    seen: list[Any] = []

    def reverse(op: Any, x: Any) -> Any:
        seen.append(x.dtype)
        return x[::-1]

    (found,) = run(one_call(f"4x{element.type}"), x, backend=backend, level=level, f=reverse)
    assert [found.dtype, *seen] == [x.dtype, x.dtype]
    assert np.array_equal(found, x[::-1])


OPERANDS_OF_ALL_KINDS = """
func.func @main(%x: tensor<3xf32>, %n: tensor<f32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<f32>) {
  %c = xla.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %s = xla.add %x, %c : tensor<3xf32>
  %a = xla.custom_call %x, %c, %s, %n {custom_call_target = "f", custom_call_has_side_effect = true}
    : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  %b = xla.custom_call %x, %c, %s, %n {custom_call_target = "f", custom_call_has_side_effect = true}
    : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  %t = xla.multiply %s, %a : tensor<3xf32>
  func.return %t, %b, %n : tensor<3xf32>, tensor<3xf32>, tensor<f32>
}
"""


@pytest.mark.parametrize(("backend", "level"), EXECUTORS)
def test_operands_may_be_kept_and_written(backend: str, level: str | None) -> None:
    """Arguments, constants, temporary and returned values; also when the program is gone."""
    kept: list[list[Any]] = []

    def f(op: Any, *operands: Any) -> Any:
        kept.append([np.array(x) for x in operands])
        for each in operands:
            each[...] = -1
        kept[-1] += operands
        return operands[0]

    program = lowerings.compile(
        OPERANDS_OF_ALL_KINDS, backend=backend, level=level, custom_calls={"f": f}
    )
    x, n = f32(4, 5, 6), np.array(7, np.float32)
    for _ in range(2):
        product, returned, scalar = program(x, n)
        assert product.tolist() == [-5, -7, -9]
        assert returned.tolist() == [-1, -1, -1]
        assert scalar == 7
        assert (x.tolist(), n) == ([4, 5, 6], 7)
    del program, product
    gc.collect()
    returned[...] = 0
    assert len(kept) == 4
    for found in kept:
        assert [x.tolist() for x in found[:4]] == [[4, 5, 6], [1, 2, 3], [5, 7, 9], 7]
        assert [x.tolist() for x in found[4:]] == [[-1] * 3] * 3 + [-1]


@pytest.mark.parametrize(("backend", "level"), EXECUTORS)
def test_results_may_be_written_by_who_returned_them(backend: str, level: str | None) -> None:
    """Each call returns the same array, with other elements."""
    total = np.zeros(3, np.float32)

    def f(op: Any, *operands: Any) -> Any:
        total[...] += 10
        return total

    program = lowerings.compile(
        OPERANDS_OF_ALL_KINDS, backend=backend, level=level, custom_calls={"f": f}
    )
    product, returned, _ = program(f32(4, 5, 6), np.float32(0))
    total[...] = 0
    assert product.tolist() == [50, 70, 90]
    assert returned.tolist() == [20, 20, 20]


@pytest.mark.parametrize(("backend", "level"), EXECUTORS)
def test_the_frame_of_an_error_outlives_the_program(backend: str, level: str | None) -> None:
    """An error keeps the operands of the function, and debuggers read them."""

    def fail(op: Any, x: Any) -> Any:
        raise ValueError("not today")

    program = lowerings.compile(
        one_call("3xf32"), backend=backend, level=level, custom_calls={"f": fail}
    )
    x = f32(1, 2, 3)
    with pytest.raises(ValueError, match="not today") as caught:
        program(x)
    x[...] = 0
    del program
    (operand,) = [entry.locals["x"] for entry in caught.traceback if entry.name == "fail"]
    assert operand.tolist() == [1, 2, 3]


@pytest.mark.parametrize(("backend", "level"), EXECUTORS)
@pytest.mark.parametrize("result", ["", "tensor<0xf32>"])
def test_calls_without_results_are_made(result: str, backend: str, level: str | None) -> None:
    seen: list[float] = []

    def note(op: Any, x: Any) -> Any:
        seen.append(float(x))
        return np.zeros(0, np.float32) if result else ()

    call = 'xla.custom_call %x {custom_call_target = "note"} : (tensor<f32>) -> '
    text = f"""func.func @main(%x: tensor<f32>) {{
      {"%r = " if result else ""}{call}{result or "()"}
      func.return
    }}"""
    run(text, np.float32(3), backend=backend, level=level, note=note)
    assert seen == [3]


WITH_TOKENS = """
func.func @main(%x: tensor<2xf32>, %t: !xla.token) -> (tensor<2xf32>, !xla.token, tensor<i32>) {
  %a:3 = xla.custom_call %t, %x {custom_call_target = "f"}
    : (!xla.token, tensor<2xf32>) -> (!xla.token, tensor<2xf32>, !xla.token)
  %b:3 = xla.custom_call %x, %a#2 {custom_call_target = "f"}
    : (tensor<2xf32>, !xla.token) -> (tensor<2xf32>, !xla.token, tensor<i32>)
  %c = xla.custom_call %b#1 {custom_call_target = "f"} : (!xla.token) -> !xla.token
  func.return %a#1, %c, %b#2 : tensor<2xf32>, !xla.token, tensor<i32>
}
"""


@pytest.mark.parametrize(("backend", "level"), EXECUTORS)
def test_functions_take_and_give_tokens(backend: str, level: str | None) -> None:
    """Wherever they stand; of calls whose results nobody uses, too."""
    seen: list[Any] = []

    def f(op: Any, *arguments: Any) -> Any:
        assert len(op.operands) == len(arguments)
        seen.append([x if x is None else x.tolist() for x in arguments])
        if len(op.results) == 1:
            return None
        if len(seen) == 1:
            return None, -arguments[1], None
        return arguments[0], None, np.int32(7)

    found = run(WITH_TOKENS, f32(1, 2), backend=backend, level=level, f=f)
    assert [x.tolist() for x in found] == [[-1, -2], 7]
    assert seen == [[None, [1, 2]], [[1, 2], None], [None]]


@pytest.mark.parametrize(("backend", "level"), [("llvm", None), ("interpreter", "buffers")])
def test_functions_of_c_get_null_for_tokens(backend: str, level: str | None) -> None:
    seen: list[Any] = []

    @ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_void_p))
    def f(out: Any, given: Any) -> None:
        seen.append((given[0], given[1] is None, out[0], out[1] is None, out[2]))
        ctypes.memmove(out[1], given[1], 8)

    call = WITH_TOKENS.split("%b:3")[0] + "func.return %a#1 : tensor<2xf32>\n}"
    text = call.replace(", !xla.token, tensor<i32>) {", ") {")
    address = ctypes.cast(f, ctypes.c_void_p).value
    (found,) = run(text, f32(1, 2), backend=backend, level=level, f=address)
    assert found.tolist() == [1, 2]
    assert seen == [(None, False, None, False, None)]


@pytest.mark.parametrize("sizes", ["f32", "0x3xf32", "2x1x3xf32"])
def test_sizes(sizes: str) -> None:
    shape = tuple(map(int, sizes.split("x")[:-1]))
    x = np.arange(np.prod(shape, dtype=int), dtype=np.float32).reshape(shape)
    (found,) = run(one_call(sizes), x, f=lambda op, x: -x)
    assert np.array_equal(found, -x)


def test_the_function_sees_the_call() -> None:
    seen: list[Any] = []

    def look(op: Any, x: Any) -> Any:
        seen.append((op.custom_call_target.data, str(op.attributes["mhlo.backend_config"])))
        return x

    run(one_call("2xf32", "attributes {mhlo.backend_config = {a = 1 : i32}}"), f32(1, 2), f=look)
    assert seen == [("f", "{a = 1 : i32}")]


def test_called_in_every_round_of_a_loop() -> None:
    (found,) = run(IN_A_LOOP, f32(1, 2), twice=lambda op, x: 2 * x)
    assert found.tolist() == [32, 64]


def test_equal_calls_share_a_declaration() -> None:
    text = one_call("2xf32").replace(
        "func.return %y",
        '%z = xla.custom_call %y {custom_call_target = "f"}'
        " : (tensor<2xf32>) -> tensor<2xf32>\n func.return %z",
    )
    (found,) = run(text, f32(1, 2), f=lambda op, x: x * 3)
    assert found.tolist() == [9, 18]


def test_an_error_ends_the_run() -> None:
    calls: list[int] = []

    def fail(op: Any, x: Any) -> Any:
        calls.append(1)
        raise ValueError("not today")

    program = lowerings.compile(IN_A_LOOP, custom_calls={"twice": fail})
    for _ in range(2):
        with pytest.raises(ValueError, match="not today"):
            program(f32(1, 2))
    assert len(calls) == 2


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda op, x: x.astype(np.float64), r"result 0 of 'f': expected f32\[2\], found f64\[2\]"),
        (lambda op, x: x[:1], r"expected f32\[2\], found f32\[1\]"),
        (lambda op, x: (x, x), "found a Python tuple of 2"),
    ],
)
def test_wrong_results(function: Callable[..., Any], message: str) -> None:
    with pytest.raises(XlaError, match=message):
        run(one_call("2xf32"), f32(1, 2), f=function)


@pytest.mark.parametrize("backend", ["llvm", "reference"])
def test_unknown_targets_are_errors_with_a_place(backend: str) -> None:
    message = r":3:7: error: xla.custom_call: no function is registered for the target 'f'"
    with pytest.raises(XlaError, match=message):
        run(one_call("2xf32"), f32(1, 2), backend=backend, g=lambda op, x: x)


_C_FUNCTION = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.POINTER(ctypes.c_void_p))
_FLOATS, _BYTES = ctypes.POINTER(ctypes.c_float), ctypes.POINTER(ctypes.c_uint8)


def address(function: Any) -> int:
    found = ctypes.cast(function, ctypes.c_void_p).value
    assert found is not None
    return found


@pytest.mark.parametrize(("backend", "level"), [("llvm", None), *LEVELS])
def test_c_functions(backend: str, level: str | None) -> None:
    """`out` is the result, or the pointers to several results."""

    @_C_FUNCTION
    def negate(out: Any, operands: Any) -> None:
        source, target = (ctypes.cast(p, _FLOATS) for p in (operands[0], out))
        for i in range(2):
            target[i] = -source[i]

    @_C_FUNCTION
    def both(out: Any, operands: Any) -> None:
        results = ctypes.cast(out, ctypes.POINTER(ctypes.c_void_p))
        for i in range(2):
            ctypes.cast(results[0], _FLOATS)[i] = ctypes.cast(operands[0], _FLOATS)[i] * 2
            ctypes.cast(results[1], _BYTES)[i] = ctypes.cast(operands[1], _BYTES)[i] + 1

    executor: Any = {"backend": backend, "level": level}
    (found,) = run(one_call("2xf32"), f32(1, 2), f=address(negate), **executor)
    assert found.tolist() == [-1, -2]
    y = np.array([7, 8], np.uint8)
    a, b = run(TWO_RESULTS, f32(1, 2), y, both=address(both), **executor)
    assert a.tolist() == [2, 4]
    assert b.tolist() == [8, 9]


@pytest.mark.jax
@pytest.mark.parametrize(
    "name", ["solve", "cholesky", "qr", "svd", "eigh", "inv", "det", "pinv", "slogdet"]
)
def test_linear_algebra_of_jax(name: str) -> None:
    function = getattr(jnp.linalg, name)
    x = np.random.default_rng(0).normal(size=(3, 4, 4)).astype(np.float32)

    def program(x: Any) -> Any:
        square = x @ jnp.swapaxes(x, -1, -2) + 4 * jnp.eye(4, dtype=np.float32)
        return function(square, x) if name == "solve" else function(square)

    found, expected = jax.tree.leaves(jit(program)(x)), jax.tree.leaves(jax.jit(program)(x))
    assert len(found) == len(expected)
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-3, atol=1e-3)


def test_the_reference_carries_out_what_machine_code_asks_of_its_process() -> None:
    text = """
    HloModule m, replica_count=2
    add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
    ENTRY e {
      x = f32[3] parameter(0)
      low = f32[] constant(0)
      high = f32[] constant(1)
      number = u32[] replica-id()
      random = f32[3] rng(low, high), distribution=rng_uniform
      sum = f32[3] all-reduce(x), replica_groups={{0,1}}, to_apply=add
      ROOT all = (f32[3], u32[], f32[3]) tuple(sum, number, random)
    }"""
    arguments = [[np.array([0, 1, 2], np.float32)], [np.array([5, 6, 8], np.float32)]]
    programs = [
        lowerings.compile(text, backend="reference", pipeline=pipeline)
        for pipeline in (None, "xla-expand-communication")
    ]
    operations, calls = (program.run_processes(arguments) for program in programs)
    for place, (sums, number, numbers) in enumerate(calls):
        assert sums.tolist() == [5, 7, 10]
        assert number == place
        assert numbers.tolist() == operations[place][2].tolist()
