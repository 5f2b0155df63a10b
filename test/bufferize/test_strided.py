"""The types of views: as numpy strides a view, and as mlir-opt infers them."""

import subprocess

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects.builtin import MemRefType, StridedLayoutAttr, f32

from lowerings.bufferize.strided import (
    Slice,
    collapsed_type,
    expanded_type,
    is_same_memory,
    kept_dimensions,
    strides_and_offset,
    subview_type,
    with_dynamic_offset,
)


def memref(shape: tuple[int, ...], strides: tuple[int, ...] | None = None, offset: int | None = 0):
    if strides is None:
        return MemRefType(f32, shape)
    return MemRefType(f32, shape, StridedLayoutAttr(strides, offset))


def window(type: MemRefType) -> np.ndarray:
    """An array laid out like the type, in memory where every element tells its position."""
    strides, offset = strides_and_offset(type)
    assert offset is not None
    memory = np.arange(100_000, dtype=np.int32)
    return np.lib.stride_tricks.as_strided(
        memory[offset:], type.get_shape(), [4 * stride for stride in strides]
    )


@st.composite
def sliced(draw: st.DrawFn) -> tuple[MemRefType, Slice]:
    """A type, of a slice of a dense array, and a slice of that."""
    type: MemRefType = memref(draw(st.lists(st.integers(1, 6), max_size=4).map(tuple)))
    made = Slice((0,) * len(type.get_shape()), type.get_shape(), (1,) * len(type.get_shape()))
    for _ in range(2):
        offsets, sizes, strides = [], [], []
        for size in type.get_shape():
            stride = draw(st.integers(1, 3))
            count = draw(st.integers(1, (size + stride - 1) // stride))
            offsets.append(draw(st.integers(0, size - (count - 1) * stride - 1)))
            sizes.append(count)
            strides.append(stride)
        whole, made = type, Slice(tuple(offsets), tuple(sizes), tuple(strides))
        type = subview_type(whole, made, made.sizes)
    return whole, made


@given(sliced())
def test_subviews_are_numpy_slices(case: tuple[MemRefType, Slice]):
    source, piece = case
    index = tuple(
        slice(start, start + (size - 1) * step + 1, step)
        for start, size, step in zip(piece.offsets, piece.sizes, piece.strides, strict=True)
        if start is not None
    )
    found = window(subview_type(source, piece, piece.sizes))
    np.testing.assert_array_equal(found, window(source)[index])
    reduced = tuple(size for size in piece.sizes if size != 1)
    np.testing.assert_array_equal(
        window(subview_type(source, piece, reduced)), found.reshape(reduced)
    )


@given(sliced(), st.data())
def test_reshapes_are_numpy_reshapes(case: tuple[MemRefType, Slice], data: st.DataObject):
    source = subview_type(*case, case[1].sizes)
    shape = source.get_shape()
    if not shape:
        return
    borders = sorted(data.draw(st.sets(st.integers(1, len(shape)))) | {len(shape)})
    groups = [tuple(range(a, b)) for a, b in zip([0, *borders], borders, strict=False)]
    collapsed = collapsed_type(source, groups)
    view = window(source)
    merged = tuple(int(np.prod([shape[d] for d in group])) for group in groups)
    if collapsed is None:
        assert not np.shares_memory(view.reshape(merged), view)
        return
    np.testing.assert_array_equal(window(collapsed), view.reshape(merged))
    again = expanded_type(collapsed, groups, shape)
    np.testing.assert_array_equal(window(again), view)
    assert is_same_memory(again, source)


def test_collapse_of_what_is_not_evenly_spaced_is_no_view():
    assert collapsed_type(memref((4, 4), (8, 1)), [(0, 1)]) is None
    assert collapsed_type(memref((4, 4), (4, 1), None), [(0, 1)]) == memref((16,), (1,), None)
    # The strides of dimensions of size 1 mean nothing.
    assert collapsed_type(memref((4, 1), (3, 7)), [(0, 1)]) == memref((4,), (3,))
    assert collapsed_type(memref((1, 4), (99, 2)), [(0, 1)]) == memref((4,), (2,))
    assert collapsed_type(memref((1, 1), (9, 2)), []) == memref((), ())


def test_offsets_known_at_run_time_are_left_open():
    piece = Slice((None, 1), (1, 2), (1, 1))
    found = subview_type(memref((4, 4)), piece, (2,))
    assert found == memref((2,), (1,), None)
    assert with_dynamic_offset(memref((2,), (1,), 5)) == found
    assert not is_same_memory(found, memref((2,), (1,), 1))
    # A dimension beside one of size 0 has stride 0: any offset in it is 0.
    empty = Slice((None, 0), (1, 0), (1, 1))
    assert strides_and_offset(subview_type(memref((4, 0)), empty, (1, 0)))[1] == 0


def test_the_same_memory_may_have_different_types():
    assert is_same_memory(memref((2, 3)), memref((2, 3), (3, 1)))
    assert is_same_memory(memref((1, 3)), memref((1, 3), (77, 1)))
    assert not is_same_memory(memref((2, 3)), memref((2, 3), (4, 1)))
    assert not is_same_memory(memref((2, 3)), memref((3, 2)))


def test_kept_dimensions():
    assert kept_dimensions((1, 4, 1, 5), (4, 5)) == (1, 3)
    assert kept_dimensions((1, 1, 4), (1, 4)) == (0, 2)
    assert kept_dimensions((1, 1), ()) == ()
    with pytest.raises(ValueError, match="not a rank reduction"):
        kept_dimensions((2, 4), (4,))


def test_slices_apart_from_each_other():
    a = Slice((0, 0), (2, 4), (1, 1))
    assert a.is_disjoint_from(Slice((2, 0), (2, 4), (1, 1)))
    assert a.is_disjoint_from(Slice((None, 4), (2, 4), (1, 1)))
    assert a.is_disjoint_from(Slice((0, 0), (0, 4), (1, 1)))
    assert not a.is_disjoint_from(Slice((1, 3), (2, 4), (1, 1)))
    even = Slice((0, 0), (4, 4), (2, 1))
    assert even.is_disjoint_from(Slice((1, 0), (4, 4), (2, 1)))
    assert even.is_disjoint_from(Slice((3, 0), (2, 4), (4, 1)))
    assert not even.is_disjoint_from(Slice((1, 0), (4, 4), (3, 1)))
    assert not even.is_disjoint_from(Slice((2, 0), (4, 4), (2, 1)))
    assert not a.is_disjoint_from(Slice((None, 0), (2, 4), (1, 1)))


@pytest.mark.mlir_opt
@pytest.mark.parametrize(
    ("source", "groups", "shape"),
    [
        ((8, 1, 4), [(0, 1), (2,)], (8, 4)),
        ((1, 8, 4), [(0, 1), (2,)], (8, 4)),
        ((1, 1, 4), [(0, 1), (2,)], (1, 4)),
        ((2, 3, 4), [(0,), (1, 2)], (2, 12)),
        ((1, 1), [], ()),
    ],
)
def test_mlir_opt_infers_the_same_types(
    mlir_opt_path: str,
    source: tuple[int, ...],
    groups: list[tuple[int, ...]],
    shape: tuple[int, ...],
):
    strides = tuple({4: 2, 3: 8, 8: 8, 2: 24, 1: 50 + d}[n] for d, n in enumerate(source))
    from_type: MemRefType = memref(source, strides, 3)
    collapsed = collapsed_type(from_type, groups)
    expanded = None if collapsed is None else expanded_type(collapsed, groups, source)
    listed = str([list(group) for group in groups])
    text = f"""
    func.func @f(%a: {from_type}) {{
      %b = memref.collapse_shape %a {listed} : {from_type} into {collapsed}
      %c = memref.expand_shape %b {listed} output_shape {list(source)}
        : {collapsed} into {expanded}
      return
    }}"""
    answer = subprocess.run(
        [mlir_opt_path], input=text, capture_output=True, text=True, check=False
    )
    assert answer.returncode == 0, answer.stderr
