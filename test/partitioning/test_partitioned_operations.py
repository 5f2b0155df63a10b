"""Single operations with random shardings: parts give what the whole program gives."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from partitioned import array_types, main_of, partition_into, run_in_parts, whole_results
from xdsl.dialects.builtin import ModuleOp

from lowerings.partitioning.xla_report_communication import communication_of
from xla_dialect.builder import XlaBuilder, XlaValue
from xla_dialect.builder.array_methods import DotDimensionNumbers
from xla_dialect.literals.arrays import numpy_dtype
from xla_dialect.sharding.array_sharding import DimensionSharding, Sharding
from xla_dialect.sharding.attributes import set_function_shardings, set_meshes
from xla_dialect.sharding.mesh import AxisReference, Mesh, merged_axes
from xla_dialect.types import PRED, Array

Build = Callable[..., XlaValue | Sequence[XlaValue]]


@dataclass(frozen=True)
class Program:
    """What is built of parameters of these types; `s32` ones are indices below `bound`."""

    build: Build
    parameters: Sequence[str]
    bound: int = 6


def _conv(window: str, **groups: int) -> Build:
    return lambda b, x, w: b.conv_general(x, w, window, "b01f_01io->b01f", **groups)


def _sum_over(*dimensions: int) -> Build:
    return lambda b, x: b.reduce(x, b.constant(np.float32(0)), lambda p, q: p + q, list(dimensions))


PROGRAMS: dict[str, Program] = {
    "copy": Program(lambda b, x: b.copy(x), ["f32[8,6,4]"]),
    "copy odd": Program(lambda b, x: b.copy(x), ["f32[10,7]"]),
    "empty": Program(lambda b, x: b.neg(x), ["f32[0,4]"]),
    "conditional": Program(
        lambda b, i, x: b.conditional(i, [lambda v: b.tanh(v), lambda v: v + 1], [x, x]),
        ["s32[]", "f32[6,7]"],
    ),
    "dot of integers": Program(lambda b, x, y: b.dot(x, y), ["s8[6,8]", "s8[8,5]"]),
    "dot of predicates": Program(lambda b, x, y: b.dot(x, y), ["pred[6,7]", "pred[7,4]"]),
    "dot of bf16": Program(lambda b, x, y: b.dot(x, y), ["bf16[4,7]", "bf16[7,4]"]),
    "sum of complex numbers": Program(
        lambda b, x: b.reduce(x, b.constant(np.complex64(1 + 2j)), lambda p, q: p + q, [0]),
        ["c64[7,3]"],
    ),
    "all": Program(
        lambda b, x: b.reduce(x, b.constant(True), lambda p, q: p & q, [1]), ["pred[4,5]"]
    ),
    "product": Program(
        lambda b, x: b.reduce(x, b.constant(np.int32(3)), lambda p, q: p * q, [0, 1]),
        ["s32[5,3]"],
        3,
    ),
    "least": Program(lambda b, x: b.reduce(x, b.constant(np.float64(0)), b.min, [0]), ["f64[5,3]"]),
    "places of the largest": Program(
        lambda b, x: b.reduce(
            [x, b.iota("s32[6,7]", 1)],
            [b.constant(np.float32(-np.inf)), b.constant(np.int32(0))],
            lambda v, i, w, j: (b.max(v, w), b.select(v >= w, i, j)),
            [1],
        ),
        ["f32[6,7]"],
    ),
    "first places of the least": Program(
        lambda b, x: b.reduce(
            [x, b.iota("u32[5,6,3]", 1)],
            [b.constant(np.int8(127)), b.constant(np.uint32(0))],
            lambda v, i, w, j: (
                b.select(v <= w, v, w),
                b.select((v < w) | ((v == w) & (i < j)), i, j),
            ),
            [1, 2],
        ),
        ["s8[5,6,3]"],
        5,
    ),
    "rows by u8": Program(
        lambda b, x, i: b.gather(
            x,
            b.reshape(i, [5, 1]),
            offset_dims=[1],
            collapsed_slice_dims=[0],
            start_index_map=[0],
            index_vector_dim=1,
            slice_sizes=[1, 3],
        ),
        ["s32[9,3]", "u8[5]"],
        12,
    ),
    "add": Program(lambda b, x, y: x + y, ["f32[6,8]", "f32[6,8]"]),
    "tanh": Program(lambda b, x: b.tanh(x), ["f32[5,7]"]),
    "transpose": Program(lambda b, x: b.transpose(x, [2, 0, 1]), ["f32[6,8,5]"]),
    "broadcast": Program(lambda b, x: b.broadcast_in_dim(x, [4, 6, 8], [2]), ["f32[8]"]),
    "reshape split": Program(lambda b, x: b.reshape(x, [2, 4, 6]), ["f32[8,6]"]),
    "reshape join": Program(lambda b, x: b.reshape(x, [8, 6]), ["f32[2,4,6]"]),
    "reshape mixed": Program(lambda b, x: b.reshape(x, [4, 12]), ["f32[6,8]"]),
    "reshape ones": Program(lambda b, x: b.reshape(x, [1, 7, 1, 6]), ["f32[7,6]"]),
    "dot": Program(lambda b, x, y: b.dot(x, y), ["f32[6,8]", "f32[8,10]"]),
    "dot odd": Program(lambda b, x, y: b.dot(x, y), ["f32[5,7]", "f32[7,3]"]),
    "batched dot": Program(
        lambda b, x, y: b.dot_general(x, y, DotDimensionNumbers([2], [1], [0], [0])),
        ["f32[4,6,8]", "f32[4,8,5]"],
    ),
    "sum": Program(_sum_over(1), ["f32[6,7]"]),
    "sum of all": Program(_sum_over(0, 1), ["f32[6,7]"]),
    "sum from a start": Program(
        lambda b, x, y: b.reduce(x, y, lambda p, q: p + q, [0]), ["f32[6,7]", "f32[]"]
    ),
    "max": Program(
        lambda b, x: b.reduce(x, b.constant(np.float32(-np.inf)), b.max, [0]), ["f32[5,6]"]
    ),
    "slice": Program(lambda b, x: b.slice(x, [1, 2], [6, 8], [1, 2]), ["f32[7,9]"]),
    "slice of a half": Program(lambda b, x: b.slice(x, [4, 0], [8, 6]), ["f32[8,6]"]),
    "pad": Program(
        lambda b, x: b.pad(x, b.constant(np.float32(3)), [(1, 2, 0), (0, 3, 0)]), ["f32[6,5]"]
    ),
    "pad far apart": Program(
        lambda b, x: b.pad(x, b.constant(np.float32(3)), [(2, 0, 3), (-1, 1, 1)]), ["f32[5,6]"]
    ),
    "pad inside": Program(
        lambda b, x: b.pad(x, b.constant(np.float32(3)), [(2, 1, 1), (-1, 0, 0)]), ["f32[6,5]"]
    ),
    "reverse": Program(lambda b, x: b.rev(x, [0, 1]), ["f32[6,5]"]),
    "concatenate": Program(
        lambda b, x, y, z: b.concatenate([x, y, z], 0), ["f32[4,6]", "f32[1,6]", "f32[5,6]"]
    ),
    "iota": Program(lambda b, x: x + b.iota("f32[6,7]", 1), ["f32[6,7]"]),
    "constant": Program(
        lambda b, x: x + b.constant(np.arange(35, dtype=np.float32).reshape(5, 7)), ["f32[5,7]"]
    ),
    "select": Program(lambda b, x, y: b.select(x < y, x, y), ["f32[6,7]", "f32[6,7]"]),
    "convert": Program(lambda b, x: b.convert_element_type(x, "s32"), ["f32[6,7]"]),
    "sort": Program(lambda b, x: b.sort(x, lambda p, q: p < q, 1), ["f32[6,7]"]),
    "cumulative": Program(
        lambda b, x: b.reduce_window(
            x, b.constant(np.float32(0)), lambda p, q: p + q, [1, 7], padding=[(0, 0), (6, 0)]
        ),
        ["f32[6,7]"],
    ),
    "cumulative from the end": Program(
        lambda b, x: b.reduce_window(
            x, b.constant(np.int32(-(2**31))), b.max, [7, 1], padding=[(0, 6), (0, 0)]
        ),
        ["s32[7,4]"],
    ),
    "pool": Program(
        lambda b, x: b.reduce_window(x, b.constant(np.float32(-np.inf)), b.max, [2, 3], [2, 1]),
        ["f32[8,9]"],
    ),
    "dynamic slice": Program(
        lambda b, x, i: b.dynamic_slice(x, [i, b.constant(0, "s32")], [2, 7]), ["f32[6,7]", "s32[]"]
    ),
    "dynamic row": Program(
        lambda b, x, i: b.dynamic_slice(x, [i, b.constant(0, "s32")], [1, 7]), ["f32[6,7]", "s32[]"]
    ),
    "dynamic element": Program(
        lambda b, x, i, j: b.dynamic_slice(x, [i, i, j], [1, 1, 4]),
        ["s8[6,7,4]", "u8[]", "u8[]"],
        12,
    ),
    "dynamic box": Program(
        lambda b, x, i: b.dynamic_slice(x, [i, i], [4, 3]), ["pred[6,8]", "s64[]"], 12
    ),
    "dynamic row update": Program(
        lambda b, x, y, i: b.dynamic_update_slice(x, y, [i, i]),
        ["f32[6,7]", "f32[1,2]", "s32[]"],
        9,
    ),
    "dynamic element update": Program(
        lambda b, x, y, i: b.dynamic_update_slice(x, y, [i, i]),
        ["s32[5,7]", "s32[1,1]", "s16[]"],
        9,
    ),
    "dynamic update": Program(
        lambda b, x, y, i: b.dynamic_update_slice(x, y, [i, i]),
        ["f32[6,7]", "f32[3,2]", "s32[]"],
        9,
    ),
    "rows": Program(
        lambda b, x, i: b.gather(
            x,
            b.reshape(i, [5, 1]),
            offset_dims=[1],
            collapsed_slice_dims=[0],
            start_index_map=[0],
            index_vector_dim=1,
            slice_sizes=[1, 7],
        ),
        ["f32[6,7]", "s32[5]"],
        9,
    ),
    "scatter rows": Program(
        lambda b, x, i, u: b.scatter(
            x,
            b.reshape(i, [5, 1]),
            u,
            lambda p, q: p + q,
            update_window_dims=[1],
            inserted_window_dims=[0],
            scatter_dims_to_operand_dims=[0],
            index_vector_dim=1,
        ),
        ["f32[6,7]", "s32[5]", "f32[5,7]"],
        9,
    ),
    "convolution same": Program(_conv("size=3x3 pad=1_1x1_1"), ["f32[2,8,7,4]", "f32[3,3,4,6]"]),
    "convolution strided": Program(
        _conv("size=3x3 stride=2x2 pad=1_1x0_1"), ["f32[2,8,9,4]", "f32[3,3,4,6]"]
    ),
    "convolution dilated": Program(
        _conv("size=3x3 pad=1_2x2_2 lhs_dilate=2x1 rhs_dilate=1x2"),
        ["f32[2,4,9,2]", "f32[3,3,2,4]"],
    ),
    "convolution transposed": Program(
        _conv("size=3x4 pad=2_1x1_2 lhs_dilate=2x3"), ["f32[2,9,5,2]", "f32[3,4,2,4]"]
    ),
    "pool transposed": Program(
        lambda b, x: b.reduce_window(
            x,
            b.constant(np.int32(3)),
            b.max,
            [3, 2],
            padding=[(2, 1), (0, 1)],
            base_dilations=[2, 3],
        ),
        ["s32[9,5]"],
    ),
    "convolution with a large kernel": Program(
        _conv("size=6x5 pad=1_1x2_2"), ["f32[2,6,5,4]", "f32[6,5,4,3]"]
    ),
    "convolution with a dilated kernel": Program(
        _conv("size=4x5 pad=1_1x2_2 rhs_dilate=2x1 stride=1x2"), ["f32[2,8,7,4]", "f32[4,5,4,3]"]
    ),
    "convolution grouped": Program(
        _conv("size=3x3", feature_group_count=2), ["f32[2,6,6,4]", "f32[3,3,2,8]"]
    ),
    "convolution of batches": Program(
        _conv("size=3x3", batch_group_count=2), ["f32[4,6,6,3]", "f32[3,3,3,4]"]
    ),
    "convolution over all": Program(
        _conv("size=4x6 pad=1_1x0_0"), ["f32[2,4,6,4]", "f32[4,6,4,6]"]
    ),
}


def _random(algorithm: str, state: list[int], type_: str) -> Program:
    """Bits, and the state behind them for the next ones."""

    def build(b: XlaBuilder, x: XlaValue) -> XlaValue:
        after, bits = b.rng_bit_generator(algorithm, b.constant(np.array(state, np.uint64)), type_)
        _, more = b.rng_bit_generator(algorithm, after, type_)
        return (x ^ bits) + more

    return Program(build, [type_])


PROGRAMS |= {
    "random bits, carried": _random("rng_default", [7, 2**64 - 3], "u32[8,6]"),
    "random bits, wide": _random("rng_philox", [7, 2**64 - 9, 3], "u64[1,12,2]"),
    "random bits, narrow": _random("rng_default", [7, 1, 3, 5], "u8[16,3,4]"),
    "random bits, not whole blocks": _random("rng_default", [7, 1], "u16[7,3]"),
    "random bits of ThreeFry": _random("rng_three_fry", [7, 1], "u32[8,6]"),
}
MESHES = (
    Mesh((("x", 2),)),
    Mesh((("x", 4),)),
    Mesh((("x", 2), ("y", 2))),
    Mesh((("x", 2), ("y", 3))),
    Mesh((("x", 2), ("y", 4))),
    Mesh((("x", 8),)),
    Mesh((("x", 2), ("y", 2)), (3, 1, 0, 2)),
)


@st.composite
def shardings(draw: st.DrawFn, mesh: Mesh, type_: Array) -> Sharding:
    """Axes, some of them in two parts, over any dimensions, or terms of numbers."""
    rank = len(type_.get_shape())
    parts: list[AxisReference] = []
    for axis in mesh.whole_axes:
        size = mesh.sizes[axis.name]
        if size % 4 == 0 and draw(st.booleans()):
            first, second = axis.split(2, mesh.sizes)
            parts.extend(part for part in (first, second) if part is not None)
        else:
            parts.append(axis)
    dimensions: list[list[AxisReference]] = [[] for _ in range(rank)]
    terms: list[AxisReference] = []
    for part in draw(st.permutations(parts)):
        place = draw(st.integers(-1, rank - 1))
        if place >= 0:
            mine = dimensions[place]
            if not mine or mine[-1].merged(part, mesh.sizes) is None:
                mine.append(part)
        elif type_.element_type != PRED and draw(st.booleans()):
            terms.append(part)
    unreduced = merged_axes((part for part in parts if part in terms), mesh.sizes)
    split = tuple(DimensionSharding(tuple(axes)) for axes in dimensions)
    return Sharding("mesh", split, unreduced=unreduced)


def built(program: Program) -> ModuleOp:
    """The program, without shardings."""
    b = XlaBuilder("program")
    parameters = [b.parameter(i, type_) for i, type_ in enumerate(program.parameters)]
    return b.build(program.build(b, *parameters))


def arguments_of(module: ModuleOp, bound: int, rng: np.random.Generator) -> list[Any]:
    """Small integers, as floats too: sums are exact in any order."""
    found: list[Any] = []
    for type_ in array_types(main_of(module).function_type.inputs.data):
        dtype = numpy_dtype(type_.element_type)
        is_index = dtype.kind in "iu"
        low, high = (-1 if dtype.kind == "i" else 0, bound) if is_index else (-8, 8)
        found.append(rng.integers(low, high, type_.get_shape()).astype(dtype))
    return found


@pytest.mark.parametrize("name", PROGRAMS)
@given(data=st.data())
def test_parts_give_what_the_whole_gives(name: str, data: st.DataObject) -> None:
    check(PROGRAMS[name], data)


def check(program: Program, data: st.DataObject) -> None:
    """Parts by any shardings over any mesh give what the whole program gives."""
    module = built(program)
    mesh = data.draw(st.sampled_from(MESHES))
    set_meshes(module, {"mesh": mesh})
    type_ = main_of(module).function_type
    given_ = [data.draw(shardings(mesh, t)) for t in array_types(type_.inputs.data)]
    returned = [data.draw(st.none() | shardings(mesh, t)) for t in array_types(type_.outputs.data)]
    set_function_shardings(main_of(module), given_, returned)
    arguments = arguments_of(module, program.bound, np.random.default_rng(1))
    expected = whole_results(module, arguments)
    for mine, whole in zip(run_in_parts(module, arguments), expected, strict=True):
        np.testing.assert_array_equal(mine, whole)


@st.composite
def chains(draw: st.DrawFn) -> Program:
    """Slices, pads and concatenations of each other and of two arrays, some used more than once."""
    steps = draw(st.integers(2, 5))
    numbers = st.lists(st.integers(0, 3), min_size=9 * steps, max_size=9 * steps)
    choices = iter(draw(numbers))

    def build(b: XlaBuilder, x: XlaValue, y: XlaValue) -> Sequence[XlaValue]:
        values = [x, y]
        for _ in range(steps):
            kind, first, second, d, *edges = (next(choices) for _ in range(9))
            value, other = values[-1 - first % len(values)], values[-1 - second % len(values)]
            sizes = value.shape
            d %= len(sizes)
            if kind == 0:
                low, high = [1 - n for n in edges[:2]], [n - 1 for n in edges[2:4]]
                if all(n + a + c >= 0 for n, a, c in zip(sizes, low, high, strict=True)):
                    inside = [max(edges[4] - 2, 0), 0]
                    padding = list(zip(low, high, inside, strict=True))
                    values.append(b.pad(value, b.constant(np.float32(5)), padding))
            elif kind == 1 and all(
                n == m for e, (n, m) in enumerate(zip(sizes, other.shape, strict=True)) if e != d
            ):
                values.append(b.concatenate([value, other, value][: 2 + edges[0] % 2], d))
            else:
                start = [min(n, size) for n, size in zip(edges, sizes, strict=False)]
                limit = [
                    max(size - n, at) for n, size, at in zip(edges[2:], sizes, start, strict=False)
                ]
                values.append(b.slice(value, start, limit))
        return values[2:] or values

    return Program(build, ["f32[9,4]", "f32[9,5]"])


@given(data=st.data())
def test_shifts_of_shifts(data: st.DataObject) -> None:
    check(data.draw(chains()), data)


def _rolled(b: XlaBuilder, x: XlaValue, by: int, d: int) -> XlaValue:
    sizes = list(x.shape)
    border = sizes[d] - by % sizes[d]
    first, second = list(sizes), [0] * len(sizes)
    first[d] = second[d] = border
    return b.concatenate([b.slice(x, second, sizes), b.slice(x, [0] * len(sizes), first)], d)


@given(by=st.integers(1, 63), devices=st.sampled_from([2, 4, 8, 64]))
def test_a_roll_sends_what_others_need(by: int, devices: int) -> None:
    rows = Sharding("mesh", (DimensionSharding((AxisReference("x"),)), DimensionSharding()))
    module = built(Program(lambda b, x: _rolled(b, x, by, 0), ["f32[64,3]"]))
    set_meshes(module, {"mesh": Mesh((("x", devices),))})
    set_function_shardings(main_of(module), [rows], [rows])
    sent = communication_of(partition_into(module)[0]).bytes
    assert sent == 12 * min(by, 64 - by, 64 // devices)


@pytest.mark.parametrize("parts", [(2, 4), (8, 8)])
def test_a_stencil_sends_its_edges(parts: tuple[int, int]) -> None:
    def build(b: XlaBuilder, x: XlaValue) -> XlaValue:
        zero = b.constant(np.float32(0))
        padded = b.pad(x, zero, [(1, 1, 0), (1, 1, 0)])
        neighbours = [(0, 1), (2, 1), (1, 0), (1, 2)]
        n, m = x.shape
        held = [b.slice(padded, at, [at[0] + n, at[1] + m]) for at in map(list, neighbours)]
        around = [_rolled(b, x, by, d) for by in (1, -1) for d in (0, 1)]
        return sum(held + around, x)

    module = built(Program(build, [f"f32[{6 * parts[0]},{10 * parts[1]}]"]))
    mesh = Mesh(tuple(zip("xy", parts, strict=True)))
    set_meshes(module, {"mesh": mesh})
    tiles = Sharding("mesh", tuple(DimensionSharding((axis,)) for axis in mesh.whole_axes))
    set_function_shardings(main_of(module), [tiles], [tiles])
    # Both kinds of neighbours are the same edges: those around the border are sent with the others.
    assert communication_of(partition_into(module)[0]).bytes == 4 * (2 * 6 + 2 * 10)


@pytest.mark.parametrize("name", ["dynamic row", "dynamic slice", "rows"])
def test_the_sign_of_zero_is_kept(name: str) -> None:
    """What devices lack is filled with what changes no other number in a sum."""
    program = PROGRAMS[name]
    module = built(program)
    mesh = Mesh((("x", 4),))
    set_meshes(module, {"mesh": mesh})
    rows = Sharding("mesh", (DimensionSharding(mesh.whole_axes), DimensionSharding()))
    rest = [None] * (len(program.parameters) - 1)
    set_function_shardings(main_of(module), [rows, *rest])
    arguments = arguments_of(module, program.bound, np.random.default_rng(1))
    arguments[0] = np.where(np.arange(42).reshape(6, 7) % 2, -0.0, 0.0).astype(np.float32)
    (mine,), (whole,) = run_in_parts(module, arguments), whole_results(module, arguments)
    assert mine.tobytes() == whole.tobytes()
