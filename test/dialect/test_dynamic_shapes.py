"""Bounded dynamic dimensions: the operations on them, and how all others hand them on."""

from typing import Any

import pytest
from small_programs import computation, shape, value
from violations import accepts
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.utils.exceptions import VerifyException

from xla_dialect.diagnostics import XlaError
from xla_dialect.hlo_text import read_hlo
from xla_dialect.layout import Layout, LayoutAttr
from xla_dialect.op import XlaOp
from xla_dialect.ops.contraction import DotOp
from xla_dialect.ops.control_flow import ConditionalOp, OptBarrierOp, WhileOp
from xla_dialect.ops.conversion import BitcastConvertOp, ConvertOp
from xla_dialect.ops.data_movement import (
    BroadcastOp,
    ConcatenateOp,
    CopyOp,
    DynamicSliceOp,
    PadOp,
    ReshapeOp,
    ReverseOp,
    SliceOp,
    TransposeOp,
)
from xla_dialect.ops.dynamic_shapes import DynamicReshapeOp, GetDimensionSizeOp, SetDimensionSizeOp
from xla_dialect.ops.elementwise import AddOp, ClampOp, CompareOp, IsFiniteOp, NegateOp, SelectOp
from xla_dialect.ops.reduction import ReduceOp
from xla_dialect.types import BY_NAME, array, compatible, spell
from xla_dialect.verification import verify

S32 = "s32[]"


def get_size(operand: Any, dimension: int) -> XlaOp:
    return GetDimensionSizeOp(value(operand), dimension=dimension)


def set_size(operand: Any, size: Any, dimension: int) -> XlaOp:
    return SetDimensionSizeOp(value(operand), value(size), dimension=dimension)


def dynamic_reshape(operand: Any, sizes: list[Any], result: str) -> XlaOp:
    return DynamicReshapeOp(
        value(operand), [value(size) for size in sizes], result_types=[shape(result)]
    )


def reshape(operand: str, result: str) -> XlaOp:
    return ReshapeOp(value(operand), result_types=[shape(result)])


def broadcast(operand: str, result: str, dimensions: list[int]) -> XlaOp:
    return BroadcastOp(value(operand), dimensions=dimensions, result_types=[shape(result)])


def slice_(operand: str, limit: int, stride: int = 1) -> XlaOp:
    return SliceOp(value(operand), start_indices=[0], limit_indices=[limit], strides=[stride])


def dynamic_slice(operand: str, sizes: list[int]) -> XlaOp:
    starts = [value(S32) for _ in sizes]
    return DynamicSliceOp(value(operand), starts, dynamic_slice_sizes=sizes)


def pad(operand: str) -> XlaOp:
    return PadOp(
        value(operand),
        value("f32[]"),
        edge_padding_low=[1],
        edge_padding_high=[2],
        interior_padding=[1],
    )


def sum_of(operand: str, dimensions: list[int]) -> XlaOp:
    region = computation(["f32[]"] * 2, AddOp)
    return ReduceOp([value(operand)], [value("f32[]")], dimensions=dimensions, regions=[region])


def concatenate(*operands: str) -> XlaOp:
    return ConcatenateOp([value(operand) for operand in operands], dimension=0)


def dot(lhs: str, rhs: str) -> XlaOp:
    return DotOp(value(lhs), value(rhs), lhs_contracting_dims=[1], rhs_contracting_dims=[0])


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (lambda: get_size("f32[<=10]", 0), "s32[]"),
        (lambda: set_size("f32[4,10]", S32, 1), "f32[4,<=10]"),
        (lambda: set_size("f32[<=4,10]", S32, 1), "f32[<=4,<=10]"),
        (lambda: set_size("f32[<=10]", S32, 0), "f32[<=10]"),
        (lambda: dynamic_reshape("f32[6]", [S32, S32], "f32[<=2,3]"), "f32[<=2,3]"),
        (lambda: NegateOp(value("f32[2,<=3]")), "f32[2,<=3]"),
        (lambda: IsFiniteOp(value("f32[2,<=3]")), "pred[2,<=3]"),
        (lambda: AddOp(value("f32[2,<=3]"), value("f32[2,3]")), "f32[2,<=3]"),
        (lambda: AddOp(value("f32[2,3]"), value("f32[<=2,3]")), "f32[<=2,3]"),
        (lambda: AddOp(value("f32[2,<=3]"), value("f32[<=2,3]")), "f32[<=2,<=3]"),
        (lambda: CompareOp(value("f32[3]"), value("f32[<=3]"), direction="LT"), "pred[<=3]"),
        (lambda: ClampOp(value("f32[<=3]"), value("f32[3]"), value("f32[]")), "f32[<=3]"),
        (lambda: SelectOp(value("pred[<=3]"), value("f32[3]"), value("f32[3]")), "f32[<=3]"),
        (lambda: SelectOp(value("pred[]"), value("f32[3]"), value("f32[<=3]")), "f32[<=3]"),
        (lambda: ConvertOp(value("f32[<=3]"), result_types=[shape("s32[<=3]")]), "s32[<=3]"),
        (
            lambda: BitcastConvertOp(value("f32[<=3]"), result_types=[shape("u8[<=3,4]")]),
            "u8[<=3,4]",
        ),
        (lambda: CopyOp(value("f32[<=3]")), "f32[<=3]"),
        (lambda: OptBarrierOp(value("f32[<=3]")), "f32[<=3]"),
        (lambda: ReverseOp(value("f32[<=3]"), dimensions=[0]), "f32[<=3]"),
        (lambda: TransposeOp(value("f32[<=3,4]"), dimensions=[1, 0]), "f32[4,<=3]"),
        (lambda: broadcast("f32[<=3]", "f32[2,<=3]", [1]), "f32[2,<=3]"),
        (lambda: reshape("f32[<=3,2]", "f32[<=6]"), "f32[<=6]"),
        (lambda: slice_("f32[<=10]", 8, 2), "f32[<=4]"),
        (lambda: slice_("f32[<=10]", 1), "f32[1]"),
        (lambda: dynamic_slice("f32[<=10,<=4]", [10, 2]), "f32[<=10,2]"),
        (lambda: pad("f32[<=4]"), "f32[<=10]"),
        (lambda: concatenate("f32[2,3]", "f32[<=4,3]"), "f32[<=6,3]"),
        (lambda: concatenate("f32[2,3]", "f32[4,<=3]"), "f32[6,<=3]"),
        (lambda: sum_of("f32[2,<=3,<=4]", [2]), "f32[2,<=3]"),
        (lambda: sum_of("f32[2,<=3]", [1]), "f32[2]"),
        (lambda: dot("f32[<=2,3]", "f32[3,<=4]"), "f32[<=2,<=4]"),
        (lambda: dot("f32[2,<=3]", "f32[<=3,4]"), "f32[2,4]"),
    ],
)
def test_marks_follow(build: Any, expected: str):
    op = accepts(build)
    assert [spell(type_) for type_ in op.infer_types()] == [expected]


def loop(init: str, parameter: str, returned: str) -> XlaOp:
    """A while whose body returns an argument of the condition's type."""
    outside = value(returned)
    regions = [
        computation([parameter], lambda _: value("pred[]")),
        computation([parameter], lambda _: outside),
    ]
    return WhileOp([value(init)], regions=regions)


def branch(*returned: str) -> XlaOp:
    regions = [computation([], lambda text=text: value(text)) for text in returned]
    return ConditionalOp(value("pred[]"), [], regions=[regions])


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (lambda: loop("f32[3]", "f32[<=3]", "f32[<=3]"), "f32[<=3]"),
        (lambda: loop("f32[<=3]", "f32[<=3]", "f32[3]"), "f32[<=3]"),
        (lambda: branch("f32[3]", "f32[<=3]"), "f32[<=3]"),
        (lambda: branch("f32[<=3,2]", "f32[3,<=2]"), "f32[<=3,<=2]"),
    ],
)
def test_marks_follow_control_flow(build: Any, expected: str):
    assert [spell(type_) for type_ in build().infer_types()] == [expected]


@pytest.mark.parametrize(
    "build", [("f32[<=3]", "f32[3]", "f32[3]"), ("f32[3]", "f32[3]", "f32[<=3]")]
)
def test_marks_are_not_dropped_by_parameters(build: tuple[str, str, str]):
    message = r"\(C2\) parameter 0 of condition is f32\[3\], a value for it f32\[<=3\]"
    with pytest.raises(VerifyException, match=message):
        loop(*build)


def test_marks_are_not_dropped_by_calls():
    text = """
    HloModule m
    f { ROOT x = f32[3] parameter(0) }
    ENTRY main { x = f32[<=3] parameter(0)  ROOT y = f32[3] call(x), to_apply=f }
    """
    with pytest.raises(XlaError, match=r"\(C2\) operands \(f32\[<=3\]\), parameters of"):
        verify(read_hlo(text))


def test_a_mark_cannot_be_dropped():
    op = NegateOp(value("f32[<=3]"), result_types=[shape("f32[3]")])
    with pytest.raises(VerifyException, match=r"\(Result\) declared \(f32\[3\]\), inferred \(f32"):
        op.verify()


def test_a_mark_can_be_added():
    NegateOp(value("f32[3]"), result_types=[shape("f32[<=3]")]).verify()


def test_bounds_count_as_sizes():
    assert compatible(shape("f32[<=3]"), shape("f32[3]"))
    assert not compatible(shape("f32[<=3]"), shape("f32[<=4]"))


def test_unbounded_dimensions_have_no_shape_rules():
    unbounded = array(BY_NAME["f32"].type, [DYNAMIC_INDEX])
    with pytest.raises(VerifyException, match=r"\(Size\) f32\[\?\] has an unbounded dynamic"):
        TransposeOp(value(unbounded), dimensions=[0])


@pytest.mark.parametrize("bounds", [(3,), (3, 4), (None, -1)])
def test_bounds_that_do_not_fit(bounds: Any):
    """A bound belongs to a dimension of size `?`."""
    type_ = array(
        BY_NAME["f32"].type, [5, DYNAMIC_INDEX], LayoutAttr(Layout((1, 0), bounds=bounds))
    )
    op = OptBarrierOp.create(operands=[value(type_)], result_types=[type_])
    with pytest.raises(VerifyException, match=r"layout of .*bound"):
        op.verify()
