"""Calling compiled programs: what they accept, what they return, what they keep."""

import gc
import re
import threading
import weakref
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from loops_level import compile_loops, mlir_type, parse, spec

from lowerings.execution import arrays
from lowerings.execution.arrays import ArgumentError, OutOfMemory
from lowerings.execution.compiled_code import CompiledCode
from lowerings.execution.executable import Executable
from lowerings.execution.loops_compiler import compile_loops_module
from lowerings.execution.signature import ArraySpec, Signature
from lowerings.targets.llvm.interface import ExternalConstant
from lowerings.targets.llvm.machine import CodeGenerationError, host
from xla_dialect.diagnostics import XlaError


def doubling(element_type: str = "f32", rows: int = 3, columns: int = 4) -> Executable:
    """A program that adds an array to itself, by way of an arena."""
    element = mlir_type(element_type)
    add = "addi" if element.startswith("i") else "addf"
    type_ = f"memref<{rows}x{columns}x{element}>"
    size = ArraySpec.of(element_type, rows, columns).byte_size
    text = f"""
    func.func @main(%x: {type_}, %r: {type_}, %arena: memref<{size}xi8>) attributes {{xla.entry}} {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %rows = arith.constant {rows} : index
      %columns = arith.constant {columns} : index
      %t = memref.view %arena[%c0][] : memref<{size}xi8> to {type_}
      "memref.copy"(%x, %t) : ({type_}, {type_}) -> ()
      scf.for %i = %c0 to %rows step %c1 {{
        scf.for %j = %c0 to %columns step %c1 {{
          %a = memref.load %t[%i, %j] : {type_}
          %b = arith.{add} %a, %a : {element}
          memref.store %b, %r[%i, %j] : {type_}
        }}
      }}
      func.return
    }}
    """
    shape = f"{element_type}[{rows},{columns}]"
    program = compile_loops(text, [shape], [shape])
    return program


X = np.arange(12, dtype=np.float32).reshape(3, 4)


class OnlyArray:
    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return X


class OnlyDLPack:
    def __dlpack__(self, **options: Any) -> object:
        return X.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        device, number = X.__dlpack_device__()
        return int(device), int(number)


class BrokenDLPack:
    def __dlpack__(self, **options: Any) -> object:
        raise BufferError("on another device")

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 0


def misaligned(x: np.ndarray) -> np.ndarray:
    raw = np.empty(x.nbytes + 1, np.uint8)
    array = np.ndarray(x.shape, x.dtype, raw, 1)
    array[...] = x
    return array


def read_only(x: np.ndarray) -> np.ndarray:
    array = x.copy()
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(
    "argument",
    [
        X,
        np.asfortranarray(X),
        np.repeat(X, 2, axis=1)[:, ::2],
        X[::-1][::-1],
        misaligned(X),
        read_only(X),
        X.view(np.matrix),
        X.tolist(),
        tuple(map(tuple, X.tolist())),
        OnlyArray(),
        OnlyDLPack(),
    ],
    ids=lambda value: type(value).__name__,
)
def test_accepted_arguments(argument: object):
    (found,) = doubling()(argument)
    np.testing.assert_array_equal(found, 2 * X)


@pytest.mark.parametrize(
    ("argument", "found"),
    [
        (X.T, "f32[4,3]"),
        (X.ravel(), "f32[12]"),
        (X.astype(np.float64), "f64[3,4]"),
        (X.astype(np.int32), "s32[3,4]"),
        (X.astype(">f4"), ">f4[3,4]"),
        (np.float32(1), "f32[]"),
        (1.0, "f32[]"),
        ([[1.0, 2.0], [3.0]], "list that is no array of it: "),
        ("text", "str that is no array of it: neither an array nor numbers"),
        (None, "NoneType that is no array of it: neither an array nor numbers"),
        (X.astype(object), "object[3,4]"),
        (BrokenDLPack(), "BrokenDLPack that is no array of it: on another device"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_refused_arguments(argument: object, found: str):
    message = re.escape(f"main: parameter %arg0: expected f32[3,4], found {found}")
    with pytest.raises(ArgumentError, match=message) as error:
        doubling()(argument)
    assert isinstance(error.value, ValueError)
    assert isinstance(error.value, XlaError)


def test_wrong_number_of_arguments():
    program = doubling()
    for arguments in ((), (X, X)):
        with pytest.raises(
            ArgumentError, match=rf"main: expected 1 arrays, found {len(arguments)}"
        ):
            program(*arguments)
    with pytest.raises(ArgumentError, match=re.escape("main(%arg0: f32[3,4]) -> (f32[3,4])")):
        program()


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        ("bf16", ml_dtypes.bfloat16),
        ("f16", np.float16),
        ("f64", np.float64),
        ("s8", np.int8),
        ("u8", np.uint8),
        ("s64", np.int64),
        ("s4", ml_dtypes.int4),
    ],
)
def test_element_types(name: str, dtype: Any):
    x = np.array([[1, 2, 3, -4]]).astype(dtype)
    (found,) = doubling(name, 1, 4)(x)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, x + x)


@pytest.mark.parametrize(
    ("name", "numbers", "found"),
    [
        ("s8", [1, 1000], "it holds numbers beyond -128 to 127"),
        ("u8", [1, -1], "it holds numbers beyond 0 to 255"),
        ("s4", [1, 8], "it holds numbers beyond -8 to 7"),
        ("s32", [1, 2.5], "it holds elements of numpy type float64"),
        ("f32", [1, 2j], "it holds elements of numpy type complex128"),
        ("f32", ["a", "b"], "it holds elements of numpy type <U1"),
        ("s64", [1, 2**70], "it holds elements of numpy type object"),
    ],
)
def test_numbers_that_do_not_fit(name: str, numbers: list[Any], found: str):
    message = rf"expected {name}\[1,2\], found list that is no array of it: {found}"
    with pytest.raises(ArgumentError, match=message):
        doubling(name, 1, 2)([numbers])


@pytest.mark.parametrize(
    ("name", "numbers"),
    [("s4", [-8, 3]), ("f32", [1, True]), ("f64", [2**60, 0.5]), ("bf16", [1.5, 2])],
)
def test_numbers_that_fit(name: str, numbers: list[Any]):
    (found,) = doubling(name, 1, 2)([numbers])
    expected = np.array([numbers]).astype(found.dtype)
    np.testing.assert_array_equal(found, expected + expected)


def test_empty_arrays():
    (found,) = doubling("f32", 0, 4)(np.zeros((0, 4), np.float32))
    assert found.shape == (0, 4)


def test_results_are_new_aligned_and_writeable():
    program = doubling()
    first, second = program(X)[0], program(X)[0]
    assert not np.shares_memory(first, second)
    for result in (first, second):
        assert result.ctypes.data % arrays.ALIGNMENT == 0
        assert result.flags.c_contiguous
        assert result.flags.writeable
    first[...] = 0
    np.testing.assert_array_equal(program(X)[0], 2 * X)


def test_large_arrays():
    x = np.random.default_rng(0).normal(size=(1000, 1001)).astype(np.float32)
    np.testing.assert_array_equal(doubling("f32", 1000, 1001)(x)[0], x + x)


def test_threads_share_a_program():
    program = doubling("f32", 64, 65)
    rng = np.random.default_rng(0)
    inputs = [rng.normal(size=(64, 65)).astype(np.float32) for _ in range(4)]
    wrong: list[int] = []

    def work(number: int) -> None:
        for _ in range(50):
            if not np.array_equal(program(inputs[number])[0], 2 * inputs[number]):
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_programs_do_not_disturb_each_other():
    """Equal names in several programs; code goes when its program goes."""
    programs = [doubling("f32", 1, n) for n in range(1, 6)]
    gone = weakref.ref(programs[2])
    del programs[2]
    gc.collect()
    assert gone() is None
    for program in programs:
        x = np.ones(program.signature.parameters[0].shape, np.float32)
        np.testing.assert_array_equal(program(x)[0], 2 * x)


def test_results_outlive_their_program():
    program = doubling()
    (found,) = program(X)
    del program
    gc.collect()
    np.testing.assert_array_equal(found, 2 * X)


def test_addresses_by_both_ways():
    """The quick way to an array's address agrees with numpy's own."""
    samples = [X, X[1:], X.T, np.zeros(0), np.ones(()), X.view(np.matrix)]
    for sample in samples:
        assert arrays.address_of(sample) == sample.ctypes.data
    assert arrays.address_of.__name__ == "_address_in_object"


def compile_text(
    text: str,
    signature: Signature,
    entry: str = "main",
    arena_size: int | None = None,
    constants: tuple[ExternalConstant, ...] = (),
) -> Executable:
    code = host().object_code(text)
    return Executable(
        CompiledCode((code,), entry, signature, arena_size, constants, guards=None, has_tasks=False)
    )


def test_signature_is_kept():
    signature = Signature((spec("f32[2]"),), (spec("f32[]"),), "total")
    text = "define void @main(ptr %p) {\n  ret void\n}\n"
    program = compile_text(text, signature)
    assert program.signature is signature
    with pytest.raises(ArgumentError, match=re.escape("total(%arg0: f32[2]) -> (f32[])")):
        program()


def test_llvm_ir_with_external_constants():
    text = """
    @table.ptr = global ptr null
    define void @run(ptr %arguments) {
      %result = load ptr, ptr %arguments
      %table = load ptr, ptr @table.ptr
      %address = getelementptr i32, ptr %table, i64 2
      %number = load i32, ptr %address
      store i32 %number, ptr %result
      ret void
    }
    """
    data = np.array([5, 6, 7], np.int32).tobytes()
    program = compile_text(
        text,
        Signature((), (spec("s32[]"),)),
        entry="run",
        constants=(ExternalConstant("table.ptr", data),),
    )
    assert program()[0] == 7
    assert program()[0].shape == ()


def test_missing_entry():
    with pytest.raises(CodeGenerationError, match="cannot link the program"):
        compile_text("define void @main(ptr %p) {\n  ret void\n}\n", Signature((), ()), entry="f")


def test_too_large_an_arena():
    text = "define void @main(ptr %p) {\n  ret void\n}\n"
    with pytest.raises(OutOfMemory, match="main: needs 1000000000000000000 bytes"):
        compile_text(text, Signature((), ()), arena_size=10**18)


def test_too_large_a_result():
    text = "define void @main(ptr %p) {\n  ret void\n}\n"
    signature = Signature((), (spec(f"f32[{10**15},1000]"),))
    with pytest.raises(OutOfMemory, match=f"main: needs {4 * 10**18} bytes"):
        compile_text(text, signature)


@pytest.mark.parametrize(
    ("parameters", "results", "message"),
    [
        (["f32[4]"], [], r"argument 0 of @main is memref<3x4xf32>, the signature says f32\[4\]"),
        (
            ["f32[3,4]"],
            ["f64[3,4]"],
            r"argument 1 of @main is memref<3x4xf32>, the signature says f64\[3,4\]",
        ),
        (
            ["f32[3,4]"],
            ["f32[3,4]", "f32[3,4]"],
            r"function @main takes 2 arguments, the signature has 3",
        ),
        ([], [], r"function @main takes 2 arguments, the signature has 0 parameters and results"),
        (["f32[3,4]"] * 3, [], r"function @main takes 2 arguments, the signature has 3"),
    ],
)
def test_signature_and_entry_must_agree(parameters: list[str], results: list[str], message: str):
    text = """
    func.func @main(%x: memref<3x4xf32>, %r: memref<3x4xf32>) attributes {xla.entry} {
      func.return
    }
    """
    with pytest.raises(XlaError, match=message):
        compile_loops(text, parameters, results)


@pytest.mark.parametrize(
    ("type_", "message"),
    [
        ("memref<4xf32, strided<[2]>>", "the signature says"),
        ("memref<2xf32, strided<[3]>>", None),
        ("memref<4xf32, strided<[1], offset: 4>>", "an entry takes dense memrefs"),
        ("memref<4xf32, strided<[0]>>", "an entry takes dense memrefs"),
        ("memref<2x2xf32, strided<[1, 2]>>", None),
        ("memref<2x2xf32, strided<[1, 3]>>", "the signature says"),
        ("memref<4x1xf32, strided<[1, 7]>>", None),
        ("memref<?xf32>", "an entry takes memrefs of known sizes"),
    ],
)
def test_entries_take_arrays_that_fit(type_: str, message: str | None):
    text = f"func.func @main(%x: {type_}) attributes {{xla.entry}} {{\nfunc.return\n}}"
    if message is None:
        assert compile_loops(text, ["f32[4]"], [])(np.zeros(4, np.float32)) == ()
        return
    with pytest.raises(XlaError, match=message):
        compile_loops(text, ["f32[4]"], [])


def test_a_module_without_that_entry():
    signature = Signature((), ())
    with pytest.raises(XlaError, match="there is no function @main to compile"):
        compile_loops_module(parse("func.func @f() {\nfunc.return\n}"), signature)
    with pytest.raises(XlaError, match=r"function @f carries no attribute `xla.entry`"):
        compile_loops_module(parse("func.func @f() {\nfunc.return\n}"), signature, "f")
