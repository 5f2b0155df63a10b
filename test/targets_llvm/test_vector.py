"""Vectors in machine code, against numpy."""

import mmap
from collections.abc import Sequence

import ml_dtypes
import numpy as np
import pytest
from element_values import FLOATS, dtype, integer_values, same
from loops_level import LANES, AnyArray, elementwise, mlir_type, parse, run, spell

from lowerings.targets.llvm.module import emit_module
from lowerings.targets.llvm.types import EmissionError


def program(body: str, arrays: Sequence[AnyArray], result: str) -> AnyArray:
    """Runs `body` on memrefs `%a`, `%b`, ... and `%r`, with `%c0`, `%c1`, ... for indices."""
    specs = [*map(spell, arrays), result]
    names = [*"abc"[: len(arrays)], "r"]
    parameters = ", ".join(
        f"%{name}: {memref_type(text)}" for name, text in zip(names, specs, strict=True)
    )
    indices = "\n".join(f"%c{n} = arith.constant {n} : index" for n in range(9))
    text = f"""
    func.func @main({parameters}) attributes {{xla.entry}} {{
      {indices}
      {body}
      func.return
    }}
    """
    return run(text, arrays, [result])[0]


def memref_type(spec: str) -> str:
    """`memref<2x3xf32>` for `f32[2,3]`."""
    element, _, sizes = spec.rstrip("]").partition("[")
    return f"memref<{'x'.join([*filter(None, sizes.split(',')), mlir_type(element)])}>"


def numbers(*shape: int) -> AnyArray:
    return np.arange(np.prod(shape, dtype=int), dtype=np.float32).reshape(shape)


def test_load_and_store_at_any_element():
    body = """
      %v = vector.load %a[%c1, %c3] : memref<3x8xf32>, vector<4xf32>
      vector.store %v, %r[%c2] : memref<8xf32>, vector<4xf32>
      %w = vector.load %a[%c0, %c0] : memref<3x8xf32>, vector<2xf32>
      vector.store %w, %r[%c0] : memref<8xf32>, vector<2xf32>
      vector.store %w, %r[%c6] : memref<8xf32>, vector<2xf32>
    """
    assert program(body, [numbers(3, 8)], "f32[8]").tolist() == [0, 1, 11, 12, 13, 14, 0, 1]


def test_vectors_along_a_strided_dimension():
    """Down a column of the arrays, through transposed views; masked lanes stay as they are."""
    view = "memref<8x8xf32, strided<[1, 8]>>"
    body = f"""
      %x = memref.reinterpret_cast %a to offset: [0], sizes: [8, 8], strides: [1, 8]
        : memref<8x8xf32> to {view}
      %y = memref.reinterpret_cast %r to offset: [0], sizes: [8, 8], strides: [1, 8]
        : memref<8x8xf32> to {view}
      %zero = arith.constant dense<0.0> : vector<8xf32>
      scf.for %i = %c0 to %c8 step %c1 {{
        vector.store %zero, %r[%i, %c0] : memref<8x8xf32>, vector<8xf32>
      }}
      %v = vector.load %x[%c2, %c1] : {view}, vector<4xf32>
      vector.store %v, %y[%c3, %c4] : {view}, vector<4xf32>
      %mask = vector.create_mask %c3 : vector<4xi1>
      %w = vector.maskedload %x[%c5, %c0], %mask, %v
        : {view}, vector<4xi1>, vector<4xf32> into vector<4xf32>
      vector.maskedstore %y[%c6, %c1], %mask, %w : {view}, vector<4xi1>, vector<4xf32>
    """
    x = numbers(8, 8)
    expected = np.zeros((8, 8), np.float32)
    expected[4:8, 3] = x[1:5, 2]
    expected[1:4, 6] = x[:3, 5]
    np.testing.assert_array_equal(program(body, [x], "f32[8,8]"), expected)


@pytest.mark.parametrize("name", ["pred", "s4", "s8", "bf16", "f32", "f64"])
@pytest.mark.parametrize("count", [-3, 0, 1, 5, 8, 100, -(2**40), 2**40])
def test_masked_memory(name: str, count: int):
    element = mlir_type(name)
    values = (np.arange(8) % 3).astype(dtype(name))
    other = (np.arange(8) % 2).astype(dtype(name))
    body = f"""
      %raw = memref.load %c[] : memref<i64>
      %n = arith.index_cast %raw : i64 to index
      %mask = vector.create_mask %n : vector<8xi1>
      %o = vector.load %b[%c0] : memref<8x{element}>, vector<8x{element}>
      %v = vector.maskedload %a[%c0], %mask, %o
        : memref<8x{element}>, vector<8xi1>, vector<8x{element}> into vector<8x{element}>
      vector.store %v, %r[%c0, %c0] : memref<2x8x{element}>, vector<8x{element}>
      vector.store %o, %r[%c1, %c0] : memref<2x8x{element}>, vector<8x{element}>
      %w = vector.load %a[%c0] : memref<8x{element}>, vector<8x{element}>
      vector.maskedstore %r[%c1, %c0], %mask, %w
        : memref<2x8x{element}>, vector<8xi1>, vector<8x{element}>
    """
    found = program(body, [values, other, np.array(count)], f"{name}[2,8]")
    expected = np.where(np.arange(8) < count, values, other)
    np.testing.assert_array_equal(found, np.stack([expected, expected]))


def test_masked_lanes_touch_no_memory():
    """The last lanes lie beyond the array, which ends at the end of a page."""
    body = """
      %mask = vector.create_mask %c3 : vector<8xi1>
      %zero = arith.constant dense<0.0> : vector<8xf32>
      %v = vector.maskedload %a[%c0], %mask, %zero
        : memref<3xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
      vector.maskedstore %r[%c0], %mask, %v : memref<3xf32>, vector<8xi1>, vector<8xf32>
    """
    memory = np.frombuffer(mmap.mmap(-1, mmap.PAGESIZE), np.float32)
    x = memory[-3:]
    x[:] = [1, 2, 3]
    assert program(body, [x], "f32[3]").tolist() == [1, 2, 3]


@pytest.mark.parametrize("index", ["i32", "i64", "index"])
@pytest.mark.parametrize("column", [0, 2])
def test_gather_and_scatter(index: str, column: int):
    """Along rows (adjacent elements) and, through a transposed view, down a column."""
    step = "strided<[8, 1]>" if column == 0 else "strided<[1, 8]>"
    view = f"memref<8x8xf32, {step}>"
    sizes = "[8, 1]" if column == 0 else "[1, 8]"
    body = f"""
      %x = memref.reinterpret_cast %a to offset: [0], sizes: [8, 8], strides: {sizes}
        : memref<8x8xf32> to {view}
      %y = memref.reinterpret_cast %r to offset: [0], sizes: [8, 8], strides: {sizes}
        : memref<8x8xf32> to {view}
      %zero = arith.constant dense<-1.0> : vector<4xf32>
      %at = arith.constant dense<[3, 0, -1, 100000]> : vector<4x{index}>
      %mask = arith.constant dense<[true, true, true, false]> : vector<4xi1>
      %v = vector.gather %x[%c2, %c1] [%at], %mask, %zero
        : {view}, vector<4x{index}>, vector<4xi1>, vector<4xf32> into vector<4xf32>
      scf.for %i = %c0 to %c8 step %c1 {{
        scf.for %j = %c0 to %c8 step %c1 {{
          %none = arith.constant 0.0 : f32
          memref.store %none, %r[%i, %j] : memref<8x8xf32>
        }}
      }}
      vector.scatter %y[%c1, %c1] [%at], %mask, %v
        : {view}, vector<4x{index}>, vector<4xi1>, vector<4xf32>
    """
    x = numbers(8, 8)
    found = program(body, [x], "f32[8,8]")
    source = x.T if column else x
    expected = np.zeros((8, 8), np.float32)
    expected[1, [4, 1, 0]] = source[2, [4, 1, 0]]
    np.testing.assert_array_equal(found, expected.T if column else expected)


def test_scatter_keeps_the_last_of_equal_indices():
    body = """
      %at = arith.constant dense<[1, 0, 1, 1]> : vector<4xi32>
      %mask = arith.constant dense<[true, true, true, false]> : vector<4xi1>
      %v = vector.load %a[%c0] : memref<4xf32>, vector<4xf32>
      vector.scatter %r[%c0] [%at], %mask, %v
        : memref<2xf32>, vector<4xi32>, vector<4xi1>, vector<4xf32>
    """
    assert program(body, [numbers(4)], "f32[2]").tolist() == [1, 2]


def test_broadcast():
    body = """
      %s = memref.load %a[%c2] : memref<4xf32>
      %v = vector.broadcast %s : f32 to vector<4xf32>
      vector.store %v, %r[%c0, %c0] : memref<4x4xf32>, vector<4xf32>
      %one = vector.load %a[%c3] : memref<4xf32>, vector<1xf32>
      %w = vector.broadcast %one : vector<1xf32> to vector<4xf32>
      vector.store %w, %r[%c1, %c0] : memref<4x4xf32>, vector<4xf32>
      %all = vector.load %a[%c0] : memref<4xf32>, vector<4xf32>
      %x = vector.broadcast %all : vector<4xf32> to vector<4xf32>
      vector.store %x, %r[%c2, %c0] : memref<4x4xf32>, vector<4xf32>
      %five = arith.constant 5.0 : f32
      %y = vector.broadcast %five : f32 to vector<4xf32>
      vector.store %y, %r[%c3, %c0] : memref<4x4xf32>, vector<4xf32>
    """
    found = program(body, [numbers(4)], "f32[4,4]")
    assert found.tolist() == [[2] * 4, [3] * 4, [0, 1, 2, 3], [5] * 4]


def test_extract_and_insert():
    body = """
      %raw = memref.load %b[] : memref<i64>
      %lane = arith.index_cast %raw : i64 to index
      %v = vector.load %a[%c0] : memref<4xf32>, vector<4xf32>
      %s = vector.extract %v[2] : f32 from vector<4xf32>
      %t = vector.extract %v[%lane] : f32 from vector<4xf32>
      %w = vector.insert %s, %v[0] : f32 into vector<4xf32>
      %x = vector.insert %t, %w[%lane] : f32 into vector<4xf32>
      %y = vector.insert %t, %x[2] : f32 into vector<4xf32>
      vector.store %y, %r[%c0] : memref<4xf32>, vector<4xf32>
    """
    assert program(body, [numbers(4) + 1, np.array(3)], "f32[4]").tolist() == [3, 2, 4, 4]


def test_shuffle():
    """Of equal lengths, and of different ones either way round."""
    body = """
      %v = vector.load %a[%c0] : memref<8xf32>, vector<4xf32>
      %w = vector.load %a[%c4] : memref<8xf32>, vector<4xf32>
      %p = vector.load %a[%c4] : memref<8xf32>, vector<2xf32>
      %x = vector.shuffle %v, %w [0, 4, 1, 5] : vector<4xf32>, vector<4xf32>
      %y = vector.shuffle %v, %p [5, 4, 3, 2] : vector<4xf32>, vector<2xf32>
      %z = vector.shuffle %p, %v [1, 0, 2, 5] : vector<2xf32>, vector<4xf32>
      vector.store %x, %r[%c0, %c0] : memref<3x4xf32>, vector<4xf32>
      vector.store %y, %r[%c1, %c0] : memref<3x4xf32>, vector<4xf32>
      vector.store %z, %r[%c2, %c0] : memref<3x4xf32>, vector<4xf32>
    """
    found = program(body, [numbers(8)], "f32[3,4]")
    assert found.tolist() == [[0, 4, 1, 5], [5, 4, 3, 2], [5, 4, 0, 3]]


@pytest.mark.parametrize("lanes", [2, 8, 9, 17])
@pytest.mark.parametrize("name", ["bf16", "f16"])
def test_moves_of_narrow_floats(name: str, lanes: int):
    """
    As they are, backwards, and the smaller of both: 9 and 17 `bfloat` side by side are more than
    LLVM can take.
    """
    backwards = ", ".join(str(lane) for lane in reversed(range(lanes)))
    type_ = f"vector<{lanes}x{name}>"
    body = f"""
      %v = vector.load %a[%c0] : memref<{lanes}x{name}>, {type_}
      %w = vector.shuffle %v, %v [{backwards}] : {type_}, {type_}
      %m = arith.cmpf olt, %v, %w : {type_}
      %s = arith.select %m, %v, %w : vector<{lanes}xi1>, {type_}
      vector.store %v, %r[%c0, %c0] : memref<3x{lanes}x{name}>, {type_}
      vector.store %w, %r[%c1, %c0] : memref<3x{lanes}x{name}>, {type_}
      vector.store %s, %r[%c2, %c0] : memref<3x{lanes}x{name}>, {type_}
    """
    x = np.arange(lanes).astype(dtype(name))
    found = program(body, [x], f"{name}[3,{lanes}]")
    assert found.tolist() == [x.tolist(), x[::-1].tolist(), np.minimum(x, x[::-1]).tolist()]


def test_bitcast_changes_the_number_of_lanes():
    body = """
      %v = vector.load %a[%c0] : memref<2xi32>, vector<2xi32>
      %w = vector.bitcast %v : vector<2xi32> to vector<8xi8>
      vector.store %w, %r[%c0] : memref<8xi8>, vector<8xi8>
    """
    x = np.array([0x04030201, -2], np.int32)
    assert program(body, [x], "s8[8]").tobytes() == x.tobytes()


@pytest.mark.parametrize("name", ["bf16", "f32", "f64"])
def test_fma(name: str):
    a, b, c = (np.arange(8).astype(dtype(name)) - k for k in (3, 1, 2))
    found = elementwise("%r = vector.fma %a0, %a1, %a2 : {0}", [a, b, c], name, LANES)
    same(found, a * b + c)


def reduced(kind: str, values: AnyArray, start: str = "", flags: str = "") -> AnyArray:
    """One reduction of a vector; `start` is a literal of the accumulator."""
    name = spell(values).partition("[")[0]
    element, lanes = mlir_type(name), values.size
    accumulator = f"%s = arith.constant {start} : {element}" if start else ""
    body = f"""
      {accumulator}
      %v = vector.load %a[%c0] : memref<{lanes}x{element}>, vector<{lanes}x{element}>
      %x = vector.reduction <{kind}>, %v{", %s" if start else ""}{flags}
        : vector<{lanes}x{element}> into {element}
      memref.store %x, %r[] : memref<{element}>
    """
    return program(body, [values], f"{name}[]")


@pytest.mark.parametrize("name", ["s8", "s32", "s64"])
@pytest.mark.parametrize(
    ("kind", "function"),
    [
        ("add", np.add),
        ("mul", np.multiply),
        ("and", np.bitwise_and),
        ("or", np.bitwise_or),
        ("xor", np.bitwise_xor),
        ("minsi", np.minimum),
        ("maxsi", np.maximum),
    ],
)
def test_integer_reductions(kind: str, function, name: str):
    values = integer_values(name)[:8]
    assert reduced(kind, values) == function.reduce(values, dtype=values.dtype)
    with_start = np.append(values, values.dtype.type(6))
    assert reduced(kind, values, "6") == function.reduce(with_start, dtype=values.dtype)
    unsigned_kind = kind.replace("si", "ui")
    if unsigned_kind != kind:
        expected = function.reduce(values.view(f"u{values.itemsize}"))
        assert reduced(unsigned_kind, values).view(f"u{values.itemsize}") == expected


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("flags", ["", " fastmath<reassoc>"])
def test_float_sums_and_products(name: str, flags: str):
    values = np.array([1, 2, -3, 0.5, 4, -1, 2, 1]).astype(dtype(name))
    assert reduced("add", values, flags=flags) == dtype(name).type(6.5)
    assert reduced("add", values, "10.0", flags=flags) == dtype(name).type(16.5)
    assert reduced("mul", values, flags=flags) == dtype(name).type(24)
    assert reduced("mul", values, "0.5", flags=flags) == dtype(name).type(12)


def test_sum_of_negative_zeros():
    found = reduced("add", np.full(8, -0.0, np.float32))
    assert found == 0
    assert np.signbit(found)


def test_sum_is_ordered_without_reassoc():
    values = np.array([1e8, 1, -1e8, 1], np.float32)
    assert reduced("add", values) == np.float32(1)


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize(
    ("kind", "function"),
    [
        ("maximumf", np.maximum),
        ("minimumf", np.minimum),
        ("maxnumf", np.fmax),
        ("minnumf", np.fmin),
    ],
)
def test_float_extremes(kind: str, function, name: str):
    """`maximumf` and `minimumf` pass a NaN on, the others pass over it."""
    plain = np.array([1, -2, 3.5, 0, -7, np.inf, 2, -np.inf]).astype(dtype(name))
    with_nan = np.where(np.arange(8) == 3, np.array(np.nan), plain).astype(dtype(name))
    for values in (plain, with_nan):
        with_start = np.append(values, values.dtype.type(4))
        with np.errstate(invalid="ignore"):
            expected, with_start = function.reduce(values), function.reduce(with_start)
        same(reduced(kind, values), np.asarray(expected))
        same(reduced(kind, values, "4.0"), np.asarray(with_start))


@pytest.mark.parametrize("size", [8, 11])
@pytest.mark.parametrize("strided", [False, True])
def test_transfers(size: int, strided: bool):
    """Up to the end of the memory: lanes beyond read the padding and write nothing."""
    stride = 2 if strided else 1
    type_ = f"memref<{size}xf32, strided<[{stride}]>>" if strided else f"memref<{size}xf32>"
    cast = (
        f"memref.reinterpret_cast %{{0}} to offset: [0], sizes: [{size}], strides: [{stride}] : "
        f"memref<{size * stride}xf32> to {type_}"
        if strided
        else f'"memref.cast"(%{{0}}) : ({type_}) -> {type_}'
    )
    body = f"""
      %x = {cast.format("a")}
      %y = {cast.format("r")}
      %n = arith.constant {size} : index
      %p = arith.constant -1.0 : f32
      %whole = vector.transfer_read %x[%c0], %p {{in_bounds = [true]}} : {type_}, vector<4xf32>
      vector.transfer_write %whole, %y[%c0] {{in_bounds = [true]}} : vector<4xf32>, {type_}
      scf.for %i = %c4 to %n step %c4 {{
        %v = vector.transfer_read %x[%i], %p : {type_}, vector<4xf32>
        %two = arith.addf %v, %v : vector<4xf32>
        vector.transfer_write %two, %y[%i] : vector<4xf32>, {type_}
      }}
    """
    x = numbers(size * stride)
    found = program(body, [x], f"f32[{size * stride}]")[::stride]
    expected = x[::stride] * np.where(np.arange(size) < 4, 1, 2)
    np.testing.assert_array_equal(found, expected)


def test_matmul_with_a_register_tile():
    """A 2x32 tile of accumulators over explicit vectors: how contractions are written."""
    rows, columns, depth = 6, 64, 9
    rng = np.random.default_rng(0)
    a = rng.normal(size=(rows, depth)).astype(np.float32)
    b = rng.normal(size=(depth, columns)).astype(np.float32)
    text = f"""
    func.func private @tile(%a: memref<{rows}x{depth}xf32>, %b: memref<{depth}x{columns}xf32>,
                            %c: memref<{rows}x{columns}xf32>) attributes {{xla.kernel}} {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %c16 = arith.constant 16 : index
      %c32 = arith.constant 32 : index
      %rows = arith.constant {rows} : index
      %columns = arith.constant {columns} : index
      %depth = arith.constant {depth} : index
      %zero = arith.constant dense<0.0> : vector<16xf32>
      scf.for %j = %c0 to %columns step %c32 {{
        %j1 = arith.addi %j, %c16 : index
        scf.for %i = %c0 to %rows step %c2 {{
          %i1 = arith.addi %i, %c1 : index
          %t:4 = scf.for %k = %c0 to %depth step %c1
              iter_args(%p = %zero, %q = %zero, %r = %zero, %s = %zero)
              -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>) {{
            %b0 = vector.load %b[%k, %j] : memref<{depth}x{columns}xf32>, vector<16xf32>
            %b1 = vector.load %b[%k, %j1] : memref<{depth}x{columns}xf32>, vector<16xf32>
            %x0 = memref.load %a[%i, %k] : memref<{rows}x{depth}xf32>
            %x1 = memref.load %a[%i1, %k] : memref<{rows}x{depth}xf32>
            %a0 = vector.broadcast %x0 : f32 to vector<16xf32>
            %a1 = vector.broadcast %x1 : f32 to vector<16xf32>
            %p1 = vector.fma %a0, %b0, %p : vector<16xf32>
            %q1 = vector.fma %a0, %b1, %q : vector<16xf32>
            %r1 = vector.fma %a1, %b0, %r : vector<16xf32>
            %s1 = vector.fma %a1, %b1, %s : vector<16xf32>
            scf.yield %p1, %q1, %r1, %s1
              : vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>
          }}
          vector.store %t#0, %c[%i, %j] : memref<{rows}x{columns}xf32>, vector<16xf32>
          vector.store %t#1, %c[%i, %j1] : memref<{rows}x{columns}xf32>, vector<16xf32>
          vector.store %t#2, %c[%i1, %j] : memref<{rows}x{columns}xf32>, vector<16xf32>
          vector.store %t#3, %c[%i1, %j1] : memref<{rows}x{columns}xf32>, vector<16xf32>
        }}
      }}
      func.return
    }}
    func.func @main(%a: memref<{rows}x{depth}xf32>, %b: memref<{depth}x{columns}xf32>,
                    %c: memref<{rows}x{columns}xf32>) attributes {{xla.entry}} {{
      func.call @tile(%a, %b, %c) : (memref<{rows}x{depth}xf32>, memref<{depth}x{columns}xf32>,
                                     memref<{rows}x{columns}xf32>) -> ()
      func.return
    }}
    """
    (found,) = run(text, [a, b], [f"f32[{rows},{columns}]"])
    np.testing.assert_allclose(found, a.astype(np.float64) @ b, rtol=1e-5, atol=1e-5)


def test_half_vectors_in_memory():
    """bf16 and f16 vectors keep every bit on their way through registers."""
    for type_ in (ml_dtypes.bfloat16, np.float16):
        x = np.arange(65536, dtype=np.uint16).view(type_)
        found = elementwise("%r = arith.bitcast %a0 : {0} to {r}", [x], "s16", LANES)
        assert found.tobytes() == x.tobytes()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "%s = arith.constant dense<0.0> : vector<2x2xf32>\n"
            "%t = arith.addf %s, %s : vector<2x2xf32>",
            r"only vectors of one fixed dimension are supported, not vector<2x2xf32>",
        ),
        (
            "%p = arith.constant 0.0 : f32\n"
            "%v = vector.transfer_read %x[%i, %i], %p "
            "{permutation_map = affine_map<(d0, d1) -> (d0)>} "
            ": memref<4x4xf32, strided<[1, 4]>>, vector<4xf32>",
            r"only transfers along the last dimension",
        ),
    ],
)
def test_errors(text: str, message: str):
    header = "func.func @f(%x: memref<4x4xf32, strided<[1, 4]>>, %i: index) {\n"
    module = parse(f"{header}{text}\nfunc.return\n}}")
    with pytest.raises(EmissionError, match=message):
        emit_module(module)
