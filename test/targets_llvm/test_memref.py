"""Memory and its views in machine code, against numpy."""

from collections.abc import Sequence

import ml_dtypes
import numpy as np
import pytest
from element_values import dtype
from hypothesis import given
from hypothesis import strategies as st
from loops_level import AnyArray, compile_loops, mlir_type, parse, run, spell

from lowerings.targets.llvm.module import emit_module
from lowerings.targets.llvm.types import EmissionError

ELEMENT_TYPES = (
    *("pred", "s2", "s4", "u4", "s8", "u8", "s16", "s32", "s64", "u64"),
    *("f4e2m1fn", "f8e4m3fn", "f8e5m2", "bf16", "f16", "f32", "f64", "c64", "c128"),
)


def memref_type(array: AnyArray) -> str:
    element = mlir_type(spell(array).partition("[")[0])
    return f"memref<{''.join(f'{size}x' for size in array.shape)}{element}>"


def copied_view(view: str, x: AnyArray, type_: str, result: AnyArray) -> AnyArray:
    """`view` makes `%v` of type `type_` from `%x`; returns its elements, copied in two ways."""
    copy = f'"memref.copy"(%v, %r) : ({type_}, {memref_type(result)}) -> ()'
    rank = result.ndim
    loops = "".join(f"scf.for %i{d} = %c0 to %s{d} step %c1 {{\n" for d in range(rank))
    sizes = "".join(f"%s{d} = arith.constant {n} : index\n" for d, n in enumerate(result.shape))
    indices = ", ".join(f"%i{d}" for d in range(rank))
    element = f"""
      %e = memref.load %v[{indices}] : {type_}
      memref.store %e, %r[{indices}] : {memref_type(result)}
    """
    found = []
    for body in (copy, sizes + loops + element + "}" * rank):
        text = f"""
        func.func @main(%x: {memref_type(x)}, %r: {memref_type(result)}) attributes {{xla.entry}} {{
          %c0 = arith.constant 0 : index
          %c1 = arith.constant 1 : index
          {view}
          {body}
          func.return
        }}
        """
        found.append(run(text, [x], [spell(result)])[0])
    np.testing.assert_array_equal(found[0], found[1])
    return found[0]


def check_view(view: str, x: AnyArray, type_: str, expected: AnyArray) -> None:
    np.testing.assert_array_equal(copied_view(view, x, type_, expected), expected)


def numbers(*shape: int) -> AnyArray:
    return np.arange(np.prod(shape, dtype=int), dtype=np.float32).reshape(shape)


@pytest.mark.parametrize("name", ELEMENT_TYPES)
@pytest.mark.parametrize("shape", [(), (1,), (7,), (3, 5), (0,), (2, 0, 3)])
def test_elements_move_unchanged(name: str, shape: Sequence[int]):
    bits = np.random.default_rng(0).integers(0, 2, shape) if name == "pred" else numbers(*shape)
    x = np.asarray(bits).astype(dtype(name))
    type_ = memref_type(x)
    check_view(f'%v = "memref.cast"(%x) : ({type_}) -> {type_}', x, type_, x)


def test_any_byte_but_zero_is_true():
    x = np.array([0, 1, 2, 255], np.uint8).view(np.bool_)
    text = """
    func.func @main(%x: memref<4xi1>, %r: memref<4xi1>) attributes {xla.entry} {
      %c0 = arith.constant 0 : index
      %c2 = arith.constant 2 : index
      %c3 = arith.constant 3 : index
      %v = vector.load %x[%c0] : memref<4xi1>, vector<4xi1>
      vector.store %v, %r[%c0] : memref<4xi1>, vector<4xi1>
      %a = memref.load %x[%c2] : memref<4xi1>
      memref.store %a, %r[%c3] : memref<4xi1>
      func.return
    }
    """
    (found,) = run(text, [x], ["pred[4]"])
    assert found.view(np.uint8).tolist() == [0, 1, 1, 1]


def test_narrow_integers_are_stored_with_zeros_above():
    x = np.array([-1, -8, 7, 0], ml_dtypes.int4)
    text = """
    func.func @main(%x: memref<4xi4>, %r: memref<4xi4>) attributes {xla.entry} {
      %c0 = arith.constant 0 : index
      %v = vector.load %x[%c0] : memref<4xi4>, vector<4xi4>
      vector.store %v, %r[%c0] : memref<4xi4>, vector<4xi4>
      func.return
    }
    """
    (found,) = run(text, [x], ["s4[4]"])
    assert found.view(np.uint8).tolist() == [15, 8, 7, 0]


def test_subview():
    x = numbers(6, 8)
    type_ = "memref<2x2xf32, strided<[16, 3], offset: 10>>"
    view = f"%v = memref.subview %x[1, 2] [2, 2] [2, 3] : memref<6x8xf32> to {type_}"
    check_view(view, x, type_, x[1:5:2, 2:8:3])


@pytest.mark.parametrize(("start", "row"), [(0, 0), (3, 1), (5, 2)])
def test_subview_at_an_offset_known_late(start: int, row: int):
    x = numbers(4, 8)
    type_ = "memref<2x3xf32, strided<[8, 1], offset: ?>>"
    text = f"""
    func.func @main(%x: memref<4x8xf32>, %at: memref<2xi64>, %r: memref<2x3xf32>)
        attributes {{xla.entry}} {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %i = memref.load %at[%c0] : memref<2xi64>
      %j = memref.load %at[%c1] : memref<2xi64>
      %row = arith.index_cast %i : i64 to index
      %start = arith.index_cast %j : i64 to index
      %v = memref.subview %x[%row, %start] [2, 3] [1, 1] : memref<4x8xf32> to {type_}
      "memref.copy"(%v, %r) : ({type_}, memref<2x3xf32>) -> ()
      func.return
    }}
    """
    (found,) = run(text, [x, np.array([row, start])], ["f32[2,3]"])
    np.testing.assert_array_equal(found, x[row : row + 2, start : start + 3])


@pytest.mark.parametrize(
    ("arguments", "type_", "expected"),
    [
        ("[2, 0] [1, 5] [1, 1]", "memref<5xf32, strided<[1], offset: 10>>", numbers(4, 5)[2]),
        ("[0, 3] [4, 1] [1, 1]", "memref<4xf32, strided<[5], offset: 3>>", numbers(4, 5)[:, 3]),
        ("[1, 1] [1, 1] [1, 1]", "memref<f32, strided<[], offset: 6>>", numbers(4, 5)[1, 1]),
        (
            "[1, 0] [1, 5] [1, 1]",
            "memref<1x5xf32, strided<[5, 1], offset: 5>>",
            numbers(4, 5)[1:2],
        ),
        ("[4, 5] [0, 0] [1, 1]", "memref<0x0xf32, strided<[5, 1], offset: 25>>", numbers(0, 0)),
    ],
)
def test_subview_of_lower_rank(arguments: str, type_: str, expected: AnyArray):
    view = f"%v = memref.subview %x{arguments} : memref<4x5xf32> to {type_}"
    check_view(view, numbers(4, 5), type_, expected)


def test_subview_of_a_subview():
    x = numbers(8, 8)
    outer, inner = "strided<[16, 2], offset: 1>", "strided<[32, 4], offset: 19>"
    view = f"""
      %u = memref.subview %x[0, 1] [4, 3] [2, 2] : memref<8x8xf32> to memref<4x3xf32, {outer}>
      %v = memref.subview %u[1, 1] [2, 1] [2, 2] : memref<4x3xf32, {outer}> to memref<2x1xf32, {inner}>
    """
    check_view(view, x, f"memref<2x1xf32, {inner}>", x[0:8:2, 1:7:2][1:4:2, 1:2])


def test_sizes_and_strides_known_late():
    x = numbers(6, 8)
    type_ = "memref<?x?xf32, strided<[?, ?], offset: ?>>"
    text = f"""
    func.func private @halve(%v: {type_}, %r: {type_}) {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %rows = memref.dim %v, %c0 : {type_}
      %columns = memref.dim %v, %c1 : {type_}
      %half = arith.constant 0.5 : f32
      scf.for %i = %c0 to %rows step %c1 {{
        scf.for %j = %c0 to %columns step %c1 {{
          %a = memref.load %v[%i, %j] : {type_}
          %b = arith.mulf %a, %half : f32
          memref.store %b, %r[%i, %j] : {type_}
        }}
      }}
      func.return
    }}
    func.func @main(%x: memref<6x8xf32>, %n: memref<i64>, %r: memref<3x4xf32>)
        attributes {{xla.entry}} {{
      %raw = memref.load %n[] : memref<i64>
      %two = arith.index_cast %raw : i64 to index
      %c3 = arith.constant 3 : index
      %c4 = arith.constant 4 : index
      %c1 = arith.constant 1 : index
      %v = memref.subview %x[%c1, %two] [%c3, %c3] [%two, %two] : memref<6x8xf32> to {type_}
      %s = "memref.cast"(%r) : (memref<3x4xf32>) -> {type_}
      %w = memref.subview %s[0, 1] [3, 3] [1, 1] : {type_} to memref<3x3xf32, strided<[?, ?], offset: ?>>
      %u = "memref.cast"(%w) : (memref<3x3xf32, strided<[?, ?], offset: ?>>) -> {type_}
      func.call @halve(%v, %u) : ({type_}, {type_}) -> ()
      %zero = arith.constant 0.0 : f32
      %c0 = arith.constant 0 : index
      scf.for %i = %c0 to %c3 step %c1 {{
        memref.store %zero, %r[%i, %c0] : memref<3x4xf32>
      }}
      func.return
    }}
    """
    (found,) = run(text, [x, np.array(2)], ["f32[3,4]"])
    np.testing.assert_array_equal(found, np.pad(x[1:7:2, 2:8:2] / 2, ((0, 0), (1, 0))))


@pytest.mark.parametrize(
    ("view", "type_", "expected"),
    [
        (
            "offset: [23], sizes: [4, 6], strides: [-6, -1]",
            "memref<4x6xf32, strided<[-6, -1], offset: 23>>",
            numbers(4, 6)[::-1, ::-1],
        ),
        (
            "offset: [18], sizes: [4, 6], strides: [-6, 1]",
            "memref<4x6xf32, strided<[-6, 1], offset: 18>>",
            numbers(4, 6)[::-1],
        ),
        (
            "offset: [0], sizes: [6, 4], strides: [1, 6]",
            "memref<6x4xf32, strided<[1, 6]>>",
            numbers(4, 6).T,
        ),
        (
            "offset: [6], sizes: [3, 6], strides: [0, 1]",
            "memref<3x6xf32, strided<[0, 1], offset: 6>>",
            np.broadcast_to(numbers(4, 6)[1], (3, 6)),
        ),
        (
            "offset: [0], sizes: [3, 2], strides: [7, 5]",
            "memref<3x2xf32, strided<[7, 5]>>",
            np.add.outer(np.arange(3) * 7, np.arange(2) * 5).astype(np.float32),
        ),
        (
            "offset: [1], sizes: [3, 3], strides: [1, 1]",
            "memref<3x3xf32, strided<[1, 1], offset: 1>>",
            np.add.outer(np.arange(3), np.arange(3) + 1).astype(np.float32),
        ),
    ],
)
def test_reinterpret_cast(view: str, type_: str, expected: AnyArray):
    cast = f"%v = memref.reinterpret_cast %x to {view} : memref<4x6xf32> to {type_}"
    check_view(cast, numbers(4, 6), type_, expected)


@pytest.mark.parametrize("offset", ["?", "4"])
def test_reinterpret_cast_of_the_memory_that_a_view_is_in(offset: str):
    """Whether its place in there is known or not."""
    type_ = "memref<3xf32, strided<[2], offset: ?>>"
    view = f"""
      %u = memref.reinterpret_cast %x to offset: [4], sizes: [4], strides: [1]
        : memref<12xf32> to memref<4xf32, strided<[1], offset: 4>>
      %w = "memref.cast"(%u) : (memref<4xf32, strided<[1], offset: 4>>)
        -> memref<4xf32, strided<[1], offset: {offset}>>
      %start, %place, %size, %stride = memref.extract_strided_metadata %w
        : memref<4xf32, strided<[1], offset: {offset}>> -> memref<f32>, index, index, index
      %first = arith.addi %place, %c1 : index
      %v = memref.reinterpret_cast %start to offset: [%first], sizes: [3], strides: [2]
        : memref<f32> to {type_}
    """
    x = numbers(12)
    check_view(view, x, type_, x[5:11:2])


def test_reinterpret_cast_counts_from_the_start():
    x = numbers(12)
    type_ = "memref<3xf32, strided<[2], offset: 1>>"
    view = f"""
      %u = memref.subview %x[4] [4] [1] : memref<12xf32> to memref<4xf32, strided<[1], offset: 4>>
      %v = memref.reinterpret_cast %u to offset: [1], sizes: [3], strides: [2]
        : memref<4xf32, strided<[1], offset: 4>> to {type_}
    """
    check_view(view, x, type_, x[1:7:2])


@pytest.mark.parametrize(
    ("view", "type_", "expected"),
    [
        (
            "memref.collapse_shape %x [[0, 1], [2]] : memref<2x3x4xf32> into memref<6x4xf32>",
            "memref<6x4xf32>",
            numbers(6, 4),
        ),
        (
            "memref.collapse_shape %x [[0, 1, 2]] : memref<2x3x4xf32> into memref<24xf32>",
            "memref<24xf32>",
            numbers(24),
        ),
        (
            "memref.expand_shape %x [[0], [1], [2, 3, 4]] output_shape [2, 3, 2, 1, 2] : "
            "memref<2x3x4xf32> into memref<2x3x2x1x2xf32>",
            "memref<2x3x2x1x2xf32>",
            numbers(2, 3, 2, 1, 2),
        ),
    ],
)
def test_reshapes(view: str, type_: str, expected: AnyArray):
    check_view(f"%v = {view}", numbers(2, 3, 4), type_, expected)


def test_reshape_of_strided_memory():
    x = numbers(4, 6)
    view = """
      %u = memref.subview %x[0, 1] [4, 4] [1, 1]
        : memref<4x6xf32> to memref<4x4xf32, strided<[6, 1], offset: 1>>
      %w = memref.expand_shape %u [[0, 1], [2, 3]] output_shape [2, 2, 2, 2]
        : memref<4x4xf32, strided<[6, 1], offset: 1>>
        into memref<2x2x2x2xf32, strided<[12, 6, 2, 1], offset: 1>>
      %v = memref.collapse_shape %w [[0, 1], [2], [3]]
        : memref<2x2x2x2xf32, strided<[12, 6, 2, 1], offset: 1>>
        into memref<4x2x2xf32, strided<[6, 2, 1], offset: 1>>
    """
    expected = x[:, 1:5].reshape(4, 2, 2)
    check_view(view, x, "memref<4x2x2xf32, strided<[6, 2, 1], offset: 1>>", expected)


def test_view_of_bytes():
    """Temporaries of several types in one arena."""
    text = """
    func.func @main(%x: memref<3xf32>, %r: memref<3xf64>, %arena: memref<192xi8>)
        attributes {xla.entry} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      %c64 = arith.constant 64 : index
      %a = memref.view %arena[%c0][] : memref<192xi8> to memref<3xf64>
      %b = memref.view %arena[%c64][%c3] : memref<192xi8> to memref<?xf32>
      scf.for %i = %c0 to %c3 step %c1 {
        %e = memref.load %x[%i] : memref<3xf32>
        %d = arith.addf %e, %e : f32
        memref.store %d, %b[%i] : memref<?xf32>
        %w = arith.extf %e : f32 to f64
        memref.store %w, %a[%i] : memref<3xf64>
      }
      scf.for %i = %c0 to %c3 step %c1 {
        %e = memref.load %a[%i] : memref<3xf64>
        %f = memref.load %b[%i] : memref<?xf32>
        %g = arith.extf %f : f32 to f64
        %s = arith.addf %e, %g : f64
        memref.store %s, %r[%i] : memref<3xf64>
      }
      func.return
    }
    """
    x = numbers(3)
    np.testing.assert_array_equal(run(text, [x], ["f64[3]"])[0], x * 3.0)


def global_op(name: str, type_: str, value: str, constant: bool = True) -> str:
    tensor = type_.replace("memref", "tensor")
    initial = f"initial_value = {value} : {tensor}" if value else "initial_value"
    return (
        f'"memref.global"() <{{sym_name = "{name}", sym_visibility = "private", '
        f"{'constant, ' if constant else ''}type = {type_}, {initial}}}> : () -> ()"
    )


def test_copies_between_strides():
    """Both sides strided, rows dense; rows of one element; the whole dense."""
    x = numbers(4, 3, 5)
    source = "memref<4x3x4xf32, strided<[15, 5, 1], offset: 1>>"
    target = "memref<4x3x4xf32, strided<[24, 8, 1], offset: 2>>"
    text = f"""
    func.func @main(%x: memref<4x3x5xf32>, %r: memref<4x3x8xf32>) attributes {{xla.entry}} {{
      %zeros = memref.get_global @zeros : memref<4x3x8xf32>
      "memref.copy"(%zeros, %r) : (memref<4x3x8xf32>, memref<4x3x8xf32>) -> ()
      %v = memref.subview %x[0, 0, 1] [4, 3, 4] [1, 1, 1] : memref<4x3x5xf32> to {source}
      %w = memref.subview %r[0, 0, 2] [4, 3, 4] [1, 1, 1] : memref<4x3x8xf32> to {target}
      "memref.copy"(%v, %w) : ({source}, {target}) -> ()
      func.return
    }}
    {global_op("zeros", "memref<4x3x8xf32>", "dense<0.0>")}
    """
    (found,) = run(text, [x], ["f32[4,3,8]"])
    np.testing.assert_array_equal(found, np.pad(x[:, :, 1:], ((0, 0), (0, 0), (2, 2))))


@pytest.mark.parametrize("name", ["pred", "s4", "s8", "s64", "bf16", "f16", "f32", "f64", "c64"])
@pytest.mark.parametrize("size", [6, 6000], ids=["small", "large"])
def test_constant_arrays(name: str, size: int):
    """Small ones stand in the text, large ones are filled in when the program is loaded."""
    rng = np.random.default_rng(3)
    integers = rng.integers(0, 2, size) if name == "pred" else rng.integers(-8, 8, size)
    expected = integers.astype(dtype(name))
    element = mlir_type(name)
    packed = np.packbits(expected, bitorder="little") if name == "pred" else expected
    literal = f'dense<"0x{packed.tobytes().hex().upper()}">'
    type_ = f"memref<{size}x{element}>"
    text = f"""
    {global_op("c", type_, literal)}
    func.func @main(%r: {type_}) attributes {{xla.entry}} {{
      %c = memref.get_global @c : {type_}
      "memref.copy"(%c, %r) : ({type_}, {type_}) -> ()
      func.return
    }}
    """
    constants = emit_module(parse(text)).constants
    assert [each.symbol for each in constants] == (
        ["c.ptr"] if size * expected.itemsize > 4096 else []
    )
    assert emit_module(parse(text), inline_constants=True).constants == ()
    np.testing.assert_array_equal(run(text, [], [f"{name}[{size}]"])[0], expected)


def test_constant_splat():
    type_ = "memref<3000xf64>"
    text = f"""
    {global_op("c", type_, "dense<2.5>")}
    func.func @main(%r: {type_}) attributes {{xla.entry}} {{
      %c = memref.get_global @c : {type_}
      "memref.copy"(%c, %r) : ({type_}, {type_}) -> ()
      func.return
    }}
    """
    np.testing.assert_array_equal(run(text, [], ["f64[3000]"])[0], np.full(3000, 2.5))


def test_memory_that_outlives_a_call():
    """A global that is no constant counts calls; one without a value starts as zeros."""
    text = f"""
    {global_op("count", "memref<i32>", "dense<5>", constant=False)}
    {global_op("zeros", "memref<2xi32>", "", constant=False)}
    func.func @main(%r: memref<2xi32>) attributes {{xla.entry}} {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %one = arith.constant 1 : i32
      %count = memref.get_global @count : memref<i32>
      %zeros = memref.get_global @zeros : memref<2xi32>
      %n = memref.load %count[] : memref<i32>
      %m = arith.addi %n, %one : i32
      memref.store %m, %count[] : memref<i32>
      memref.store %m, %r[%c0] : memref<2xi32>
      %z = memref.load %zeros[%c1] : memref<2xi32>
      memref.store %z, %r[%c1] : memref<2xi32>
      func.return
    }}
    """
    program = compile_loops(text, [], ["s32[2]"])
    assert [program()[0].tolist() for _ in range(3)] == [[6, 0], [7, 0], [8, 0]]


@pytest.mark.parametrize("operation", ["alloc", "alloca"])
def test_temporary_memory(operation: str):
    release = "memref.dealloc %t : memref<2x8xf32>" if operation == "alloc" else ""
    text = f"""
    func.func @main(%x: memref<16x8xf32>, %r: memref<16x8xf32>) attributes {{xla.entry}} {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c16 = arith.constant 16 : index
      scf.for %i = %c0 to %c16 step %c1 {{
        %t = memref.{operation}() : memref<2x8xf32>
        %a = vector.load %x[%i, %c0] : memref<16x8xf32>, vector<8xf32>
        vector.store %a, %t[%c1, %c0] : memref<2x8xf32>, vector<8xf32>
        %b = vector.load %t[%c1, %c0] : memref<2x8xf32>, vector<8xf32>
        %s = arith.addf %b, %b : vector<8xf32>
        vector.store %s, %r[%i, %c0] : memref<16x8xf32>, vector<8xf32>
        {release}
      }}
      func.return
    }}
    """
    x = numbers(16, 8)
    np.testing.assert_array_equal(run(text, [x], ["f32[16,8]"])[0], x * 2)


def test_allocation_of_a_size_known_late():
    text = """
    func.func @main(%n: memref<i64>, %r: memref<5xf32>) attributes {xla.entry} {
      %raw = memref.load %n[] : memref<i64>
      %rows = arith.index_cast %raw : i64 to index
      %t = memref.alloc(%rows) : memref<?x5xf32>
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c5 = arith.constant 5 : index
      scf.for %i = %c0 to %rows step %c1 {
        scf.for %j = %c0 to %c5 step %c1 {
          %k = arith.muli %i, %j : index
          %l = arith.index_cast %k : index to i64
          %f = arith.sitofp %l : i64 to f32
          memref.store %f, %t[%i, %j] : memref<?x5xf32>
        }
      }
      %last = arith.subi %rows, %c1 : index
      %row = memref.subview %t[%last, 0] [1, 5] [1, 1]
        : memref<?x5xf32> to memref<5xf32, strided<[1], offset: ?>>
      "memref.copy"(%row, %r) : (memref<5xf32, strided<[1], offset: ?>>, memref<5xf32>) -> ()
      memref.dealloc %t : memref<?x5xf32>
      func.return
    }
    """
    (found,) = run(text, [np.array(9)], ["f32[5]"])
    np.testing.assert_array_equal(found, np.arange(5, dtype=np.float32) * 8)


def test_complex_parts():
    text = """
    func.func @main(%x: memref<4xcomplex<f32>>, %r: memref<4xcomplex<f32>>) attributes {xla.entry} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      scf.for %i = %c0 to %c4 step %c1 {
        %z = memref.load %x[%i] : memref<4xcomplex<f32>>
        %re = complex.re %z : complex<f32>
        %im = complex.im %z : complex<f32>
        %k = complex.constant [1.0 : f32, 2.0 : f32] : complex<f32>
        %kr = complex.re %k : complex<f32>
        %s = arith.addf %im, %kr : f32
        %w = complex.create %s, %re : complex<f32>
        memref.store %w, %r[%i] : memref<4xcomplex<f32>>
      }
      func.return
    }
    """
    x = np.array([1 + 2j, -3j, 4, -0.5 + 1j], np.complex64)
    np.testing.assert_array_equal(run(text, [x], ["c64[4]"])[0], x.imag + 1 + 1j * x.real)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("%r = memref.get_global @nowhere : memref<4xf32>", r"there is no memref.global @nowhere"),
        (
            "%r = memref.alloca(%n) : memref<?xf32>",
            r"memref.alloca of unknown size: memref<\?xf32>",
        ),
        ("%r = memref.dim %x, %n : memref<4xf32>", r"the dimension must be a constant"),
        (
            '%r = "memref.cast"(%x) : (memref<4xf32>) -> memref<*xf32>',
            r"expected a memref of known rank, found memref<\*xf32>",
        ),
        (
            "%r = memref.alloc() : memref<4x4xf32, affine_map<(d0, d1) -> (d1, d0)>>",
            r"only strided layouts are supported",
        ),
    ],
)
def test_errors(text: str, message: str):
    module = parse(f"func.func @f(%x: memref<4xf32>, %n: index) {{\n{text}\nfunc.return\n}}")
    with pytest.raises(EmissionError, match=message):
        emit_module(module)


@st.composite
def slices_of(draw: st.DrawFn, shape: Sequence[int]) -> list[tuple[int, int, int]]:
    """Start, size and step for each dimension, inside the shape."""
    found = []
    for size in shape:
        start = draw(st.integers(0, size - 1))
        step = draw(st.integers(1, 3))
        found.append((start, draw(st.integers(1, (size - start + step - 1) // step)), step))
    return found


@given(st.data())
def test_any_chain_of_subviews(data: st.DataObject):
    shape = data.draw(st.lists(st.integers(1, 5), min_size=1, max_size=3))
    x = numbers(*shape)
    expected, lines, name, source = x, [], "%x", memref_type(x)
    for depth in range(data.draw(st.integers(1, 3))):
        slices = data.draw(slices_of(expected.shape))
        expected = expected[
            tuple(slice(start, start + n * step, step) for start, n, step in slices)
        ]
        offset = (expected.__array_interface__["data"][0] - x.__array_interface__["data"][0]) // 4
        strides = ", ".join(str(stride // 4) for stride in expected.strides)
        sizes = "x".join(map(str, expected.shape))
        type_ = f"memref<{sizes}xf32, strided<[{strides}], offset: {offset}>>"
        lists = " ".join(str([row[part] for row in slices]) for part in range(3))
        lines.append(f"%v{depth} = memref.subview {name}{lists} : {source} to {type_}")
        name, source = f"%v{depth}", type_
    lines.append(f'%v = "memref.cast"({name}) : ({source}) -> {source}')
    check_view("\n".join(lines), x, source, expected)


@pytest.mark.parametrize("start", [-3, 0, 2])
def test_addresses_that_differ_by_known_distances(start: int) -> None:
    """Sums with numbers, in a loop that may start before the array, and around another loop."""
    x = np.arange(60, dtype=np.float32).reshape(3, 4, 5)
    text = f"""
    func.func @main(%x: memref<3x4x5xf32>, %r: memref<8x4xf32>) attributes {{xla.entry}} {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c3 = arith.constant 3 : index
      %start = arith.constant {start} : index
      %last = arith.constant {start + 2} : index
      %shift = arith.constant {-start} : index
      scf.for %i = %start to %last step %c1 {{
        %row = arith.addi %i, %shift : index
        %next = arith.addi %row, %c1 : index
        %a = memref.load %x[%row, %c1, %c2] : memref<3x4x5xf32>
        %b = memref.load %x[%next, %c3, %c2] : memref<3x4x5xf32>
        memref.store %a, %r[%row, %c0] : memref<8x4xf32>
        memref.store %b, %r[%next, %c1] : memref<8x4xf32>
        scf.for %j = %c0 to %c3 step %c1 {{
          %beside = arith.addi %j, %c1 : index
          %c = memref.load %x[%next, %beside, %j] : memref<3x4x5xf32>
          memref.store %c, %r[%next, %beside] : memref<8x4xf32>
        }}
        %d = memref.load %x[%next, %row, %c3] : memref<3x4x5xf32>
        memref.store %d, %r[%next, %c0] : memref<8x4xf32>
      }}
      func.return
    }}
    """
    expected = np.zeros((3, 4), np.float32)
    for row in range(2):
        expected[row, 0] = x[row, 1, 2]
        expected[row + 1, 1] = x[row + 1, 3, 2]
        for j in range(3):
            expected[row + 1, j + 1] = x[row + 1, j + 1, j]
        expected[row + 1, 0] = x[row + 1, row, 3]
    result = run(text, [x], ["f32[8,4]"])[0]
    assert result[0, 0] == expected[0, 0]
    np.testing.assert_array_equal(result[1:3], expected[1:])
