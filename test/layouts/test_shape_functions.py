"""Shapes: docs/specification/shapes.md and docs/specification/layouts.md, and what follows."""

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from layouts_by_hand import laid_out, shape, typed
from specification_tables import table
from xdsl.dialects.builtin import TensorType, TupleType

from xla_dialect import types
from xla_dialect.layout import Layout, LayoutAttr, LayoutError
from xla_dialect.layouts.physical_order import to_physical
from xla_dialect.layouts.shape_functions import (
    append_minor_dimension,
    bits_per_element,
    byte_size_of,
    byte_size_of_elements,
    byte_size_of_tuple_index_table,
    change_element_type,
    compatible_ignoring_element_type,
    delete_dimension,
    elements_in,
    equal,
    for_each_index,
    get_dimension,
    get_dimension_number,
    human_string,
    human_string_with_layout,
    is_zero_element_array,
    make_shape,
    make_shape_with_layout,
    make_tuple_shape,
    permute_dimensions,
    rank,
    reshape_is_bitcast,
    same_dimensions,
    total_byte_size_of,
    transpose_is_bitcast,
    true_rank,
)
from xla_dialect.types import BY_NAME, ELEMENT_TYPES, ElementClass, compatible
from xla_dialect.violations import Violation

F32 = BY_NAME["f32"].type
CLASSES = {
    "pred": ElementClass.PRED,
    "signed integers": ElementClass.SIGNED,
    "unsigned integers": ElementClass.UNSIGNED,
    "floats": ElementClass.FLOAT,
    "complex": ElementClass.COMPLEX,
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (text, (int(rank_), int(true_rank_)))
        for text, rank_, true_rank_ in table("shapes.md", "shape", "rank", "true rank")
    ],
)
def test_rank_and_true_rank(text: str, expected: tuple[int, int]):
    assert (rank(shape(text)), true_rank(shape(text))) == expected


@pytest.mark.parametrize(("name", "elements"), table("shapes.md", "class", "names"))
def test_element_types(name: str, elements: str):
    """S8"""
    names = {row.name for row in ELEMENT_TYPES if row.element_class in CLASSES[name]}
    assert names == set(re.findall(r"\w+", elements))


def test_zero_is_a_size():
    """S3"""
    assert elements_in(shape("f32[0,5]")) == 0
    assert is_zero_element_array(shape("f32[0,5]"))
    assert not is_zero_element_array(shape("f32[]"))
    assert not is_zero_element_array(shape("token[]"))
    assert byte_size_of(shape("f32[0,5]")) == 0


@pytest.mark.parametrize(
    ("dimension", "number", "size"),
    [(0, 0, 7), (1, 1, 8), (2, 2, 9), (-1, 2, 9), (-2, 1, 8), (-3, 0, 7)],
    ids="S5 {}".format,
)
def test_dimensions_from_the_end(dimension: int, number: int, size: int):
    """S5"""
    assert get_dimension_number(shape("f32[7,8,9]"), dimension) == number
    assert get_dimension(shape("f32[7,8,9]"), dimension) == size


@pytest.mark.parametrize("dimension", [3, -4])
def test_no_such_dimension(dimension: int):
    """S5"""
    with pytest.raises(IndexError, match=rf"f32\[7,8,9\] has no dimension {dimension}"):
        get_dimension(shape("f32[7,8,9]"), dimension)
    with pytest.raises(IndexError):
        get_dimension_number(shape("f32[]"), 0)


def test_make_shape():
    """S7: sizes are given by increasing number of the dimension."""
    made = make_shape(F32, [2, 3, 5, 7])
    assert [get_dimension(made, d) for d in range(4)] == [2, 3, 5, 7]
    assert made == shape("f32[2,3,5,7]{3,2,1,0}")
    column_major = make_shape_with_layout(F32, [2, 3], Layout((0, 1)))
    assert column_major == shape("f32[2,3]{0,1}")
    assert make_shape_with_layout(F32, [2, 3], Layout((1, 0))) == shape("f32[2,3]")
    pair = make_tuple_shape([column_major, shape("token[]")])
    assert pair == shape("(f32[2,3]{0,1}, token[])")
    with pytest.raises(LayoutError, match=r"\(C1\)"):
        make_shape_with_layout(F32, [2, 3], Layout((0,)))


def test_element_count():
    """S9"""
    assert elements_in(shape("f32[]")) == 1
    assert elements_in(shape("f32[2,3]{1,0:T(8,128)}")) == 6
    assert elements_in(shape("f32[<=4,3]")) == 12
    with pytest.raises(Violation, match="unbounded"):
        elements_in(shape("f32[?]"))


@pytest.mark.parametrize("element", ELEMENT_TYPES, ids=lambda e: e.name)
def test_bits_per_element(element: Any):
    """Whole bytes, unless the layout says otherwise."""
    assert bits_per_element(shape(f"{element.name}[3]")) == max(8, element.bits)
    assert bits_per_element(shape(f"{element.name}[3]{{0:E(4)}}")) == 4


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *(
            pytest.param(text, int(size), id=example)
            for example, text, *_, size in table(
                *("layouts.md", "example", "layout"),
                *("physical sizes", "elements of the buffer", "bytes"),
            )
        ),
        pytest.param("s4[3,5]{1,0:E(4)}", 8, id="packed"),
        pytest.param("s4[3,5]", 15, id="not packed"),
        pytest.param("pred[3]", 3, id="pred"),
        pytest.param("f32[10]{0:SC(0:3)}", 28, id="largest part"),
        pytest.param("f32[<=10]{0:M(1024)}", 40, id="bounded"),
        pytest.param("c128[2,2]", 64, id="complex"),
        pytest.param("token[]", 0, id="token"),
        pytest.param("(f32[3], s32[2], token[])", 24, id="tuple"),
        pytest.param("()", 0, id="empty tuple"),
    ],
)
def test_byte_size(text: str, expected: int):
    assert byte_size_of(shape(text)) == expected
    if isinstance(shape(text), TensorType):
        assert byte_size_of_elements(shape(text)) == expected


def test_byte_size_of_tuples():
    """Pointers to the elements, and the elements at every depth."""
    nested = shape("(f32[3], (s4[3]{0:E(4)}, pred[2]), token[], ())")
    assert byte_size_of_tuple_index_table(nested, 8) == 32
    assert byte_size_of(nested, pointer_size=4) == 16
    assert total_byte_size_of(nested) == 12 + 2 + 2 + 8 * (4 + 2)
    assert total_byte_size_of(nested, pointer_size=0) == 16
    assert total_byte_size_of(shape("f32[3]")) == 12


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("f32[2,3]", "f32[2,3]{0,1:T(2,2)S(1)}", True),
        ("f32[<=2]", "f32[2]", True),
        ("f32[2,3]", "f32[3,2]", False),
        ("f32[2]", "s32[2]", False),
        ("(f32[2], token[])", "(f32[2]{0:T(4)}, token[])", True),
        ("(f32[2])", "f32[2]", False),
        ("(f32[2])", "(f32[2], f32[2])", False),
        ("f32[]", "f32[1]", False),
    ],
    ids="S9 {}".format,
)
def test_compatible(a: str, b: str, expected: bool):
    """S9"""
    assert compatible(shape(a), shape(b)) is expected
    assert compatible(shape(b), shape(a)) is expected
    assert equal(shape(a), shape(b), ignore_layout=True, ignore_dynamic_dimension=True) is expected


def test_compatible_ignoring_element_type():
    assert compatible_ignoring_element_type(shape("(f32[2], pred[])"), shape("(s8[2], f32[])"))
    assert not compatible_ignoring_element_type(shape("(f32[2])"), shape("(f32[2], f32[2])"))
    assert not compatible_ignoring_element_type(shape("f32[2]"), shape("f32[3]"))
    assert not compatible_ignoring_element_type(shape("f32[]"), shape("token[]"))
    assert compatible_ignoring_element_type(shape("token[]"), shape("token[]"))
    assert same_dimensions(shape("f32[2,3]"), shape("s8[2,3]{0,1}"))


@pytest.mark.parametrize(
    ("a", "b", "ignored"),
    [
        ("f32[2,3]{1,0}", "f32[2,3]{0,1}", "ignore_layout"),
        ("f32[2,3]{1,0:T(2,2)}", "f32[2,3]", "ignore_tiles_in_layout"),
        ("f32[2,3]{1,0:S(1)}", "f32[2,3]", "ignore_memory_space_in_layout"),
        ("f32[2,3]", "bf16[2,3]", "ignore_element_type"),
        ("f32[<=2,3]", "f32[2,3]", "ignore_dynamic_dimension"),
        ("(f32[2,3]{0,1}, s8[])", "(f32[2,3], s8[])", "ignore_layout"),
    ],
)
def test_equal(a: str, b: str, ignored: str):
    """Shapes that differ in one thing are equal if that is ignored, and only then."""
    assert not equal(shape(a), shape(b))
    for name in ("layout", "tiles_in_layout", "memory_space_in_layout", "element_type"):
        options = {f"ignore_{name}": True}
        covers = name == "layout" and "in_layout" in ignored
        assert equal(shape(a), shape(b), **options) is (f"ignore_{name}" == ignored or covers)
    assert equal(shape(a), shape(b), **{ignored: True})


def test_a_spelled_default_layout_is_no_difference():
    plain = types.array(F32, (2, 3))
    spelled = types.array(F32, (2, 3), LayoutAttr(Layout((1, 0))))
    assert plain != spelled
    assert equal(plain, spelled)


def test_change_element_type():
    changed = change_element_type(
        shape("(f32[2]{0:T(4)}, (token[], f32[<=3]))"), BY_NAME["s8"].type
    )
    assert changed == shape("(s8[2]{0:T(4)}, (token[], s8[<=3]))")


@pytest.mark.parametrize(
    ("permutation", "before", "after"),
    [
        ((1, 0), "f32[2,3]", "f32[3,2]{0,1}"),
        ((2, 0, 1), "f32[2,3,4]{1,2,0}", "f32[4,2,3]{2,0,1}"),
        ((1, 0), "f32[2,3]{1,0:T(2,2)S(1)}", "f32[3,2]{0,1:T(2,2)S(1)}"),
        ((1, 0), "f32[<=2,3]", "f32[3,<=2]{0,1}"),
        ((), "f32[]", "f32[]"),
    ],
)
def test_permute_dimensions(permutation: tuple[int, ...], before: str, after: str):
    permuted = permute_dimensions(permutation, shape(before))
    assert permuted == shape(after)
    assert transpose_is_bitcast(shape(before), permuted, permutation)


@pytest.mark.parametrize("permutation", [(0,), (0, 0), (0, 2), (-1, 0)])
def test_no_permutation(permutation: tuple[int, ...]):
    with pytest.raises(ValueError, match="no permutation"):
        permute_dimensions(permutation, shape("f32[2,3]"))


@given(laid_out(), st.randoms(use_true_random=False))
def test_permuted_dimensions_keep_their_place(case: tuple[tuple[int, ...], Layout], random: Any):
    """What `permute_dimensions` says lies in memory as the array did before."""
    sizes, layout = case
    permutation = random.sample(range(len(sizes)), len(sizes))
    numbers = np.arange(1, 1 + int(np.prod(sizes))).reshape(sizes)
    permuted = permute_dimensions(permutation, typed("s64", sizes, layout))
    moved = numbers.transpose(permutation)
    assert permuted.get_shape() == moved.shape
    encoding = permuted.encoding
    after = encoding.data if isinstance(encoding, LayoutAttr) else Layout.default(len(sizes))
    assert to_physical(moved, after).tolist() == to_physical(numbers, layout).tolist()


def test_delete_and_append_dimensions():
    assert delete_dimension(1, shape("f32[2,3,4]{1,2,0}")) == shape("f32[2,4]{1,0}")
    assert delete_dimension(-3, shape("f32[2,3,<=4]{0,1,2}")) == shape("f32[3,<=4]{0,1}")
    assert delete_dimension(0, shape("f32[2]{0:S(1)}")) == shape("f32[]{:S(1)}")
    assert append_minor_dimension(5, shape("f32[2,3]{0,1}")) == shape("f32[2,3,5]{2,0,1}")
    assert append_minor_dimension(5, shape("f32[]")) == shape("f32[5]")
    padded = typed("f32", (2, 3), Layout((0, 1), padded_dimensions=(3, 5)))
    assert append_minor_dimension(7, padded) == typed(
        "f32", (2, 3, 7), Layout((2, 0, 1), padded_dimensions=(3, 5, 7))
    )
    assert delete_dimension(0, padded) == typed("f32", (3,), Layout((0,), padded_dimensions=(5,)))
    with pytest.raises(IndexError):
        delete_dimension(2, padded)


@pytest.mark.parametrize(
    ("text", "plain", "with_layout"),
    [
        ("f32[]", "f32[]", "f32[]"),
        ("f32[5]", "f32[5]", "f32[5]{0}"),
        ("f32[2,3]{0,1:T(2,2)S(1)}", "f32[2,3]", "f32[2,3]{0,1:T(2,2)S(1)}"),
        ("f32[<=3,?]", "f32[<=3,?]", "f32[<=3,?]{1,0}"),
        ("f32[]{:T(256)}", "f32[]", "f32[]{:T(256)}"),
        (
            "(s4[2]{0:E(4)}, (token[]), ())",
            "(s4[2], (token[]), ())",
            "(s4[2]{0:E(4)}, (token[]), ())",
        ),
    ],
)
def test_human_strings(text: str, plain: str, with_layout: str):
    """G5, S8"""
    assert human_string(shape(text)) == plain
    assert human_string_with_layout(shape(text)) == with_layout


def test_for_each_index():
    assert list(for_each_index(shape("f32[2,2]{0,1}"))) == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert list(for_each_index(shape("f32[]"))) == [()]
    assert list(for_each_index(shape("f32[3,0]"))) == []


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ("f32[2,3]", "f32[6]", True),
        ("f32[2,3]{0,1}", "f32[6]", False),
        ("f32[2,3]{0,1}", "f32[2,1,3]{0,2,1}", True),
        ("f32[2,1,3]{0,1,2}", "f32[2,3]{0,1}", True),
        ("f32[4,3]{0,1}", "f32[2,2,3]{1,0,2}", True),
        ("f32[4,3]{0,1}", "f32[2,2,3]{0,1,2}", False),
        ("f32[0,3]{0,1}", "f32[3,0]", True),
        ("f32[2,3]", "s32[6]", False),
        ("f32[2,3]", "f32[7]", False),
        ("f32[4,4]{1,0:T(2,2)}", "f32[4,4]{1,0:T(2,2)}", True),
        ("f32[4,4]{1,0:T(2,2)}", "f32[16]", False),
        ("f32[]", "f32[1,1]", True),
    ],
)
def test_reshape_is_bitcast(source: str, target: str, expected: bool):
    assert reshape_is_bitcast(shape(source), shape(target)) is expected


@given(
    st.lists(st.sampled_from([1, 2, 2, 3]), max_size=4).flatmap(
        lambda sizes: st.tuples(
            st.just(sizes),
            st.permutations(range(len(sizes))),
            st.permutations(sizes).flatmap(
                lambda after: st.tuples(st.just(after), st.permutations(range(len(after))))
            ),
        )
    )
)
def test_reshapes_by_hand(case: Any):
    """A reshape moves nothing if and only if both arrays lie in memory in one order."""
    before, order, (after, other) = case
    numbers = np.arange(int(np.prod(before)))
    source, target = Layout(tuple(order)), Layout(tuple(other))
    in_place = np.array_equal(
        to_physical(numbers.reshape(before), source), to_physical(numbers.reshape(after), target)
    )
    shapes = typed("f32", tuple(before), source), typed("f32", tuple(after), target)
    assert reshape_is_bitcast(*shapes) is in_place


@pytest.mark.parametrize(
    ("source", "target", "dimensions", "expected"),
    [
        ("f32[2,3]", "f32[3,2]{0,1}", (1, 0), True),
        ("f32[2,3]", "f32[3,2]", (1, 0), False),
        ("f32[2,1]", "f32[1,2]", (1, 0), True),
        ("f32[2,3]", "f32[3,2]{0,1:S(1)}", (1, 0), True),
        ("f32[2,3]{1,0:T(2,2)}", "f32[3,2]{0,1:T(2,2)}", (1, 0), True),
        ("f32[2,3]{1,0:T(2,2)}", "f32[3,2]{0,1}", (1, 0), False),
        ("f32[2,3]", "f32[2,3]", (1, 0), False),
        ("f32[2,3]", "s32[3,2]{0,1}", (1, 0), False),
        ("f32[0,3]", "f32[3,0]", (1, 0), True),
    ],
)
def test_transpose_is_bitcast(
    source: str, target: str, dimensions: tuple[int, ...], expected: bool
):
    assert transpose_is_bitcast(shape(source), shape(target), dimensions) is expected


def test_tuples_are_builtin_tuples():
    assert isinstance(make_tuple_shape([]), TupleType)
