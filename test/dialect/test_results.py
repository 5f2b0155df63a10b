"""The inferred result types of the structural operations."""

from typing import Any

import numpy as np
import pytest
from small_programs import computation, shape, tuple_of, value
from xdsl.dialects.builtin import TupleType
from xdsl.ir import Attribute

from xla_dialect.layout import Layout, LayoutAttr
from xla_dialect.literals.arrays import literal_of
from xla_dialect.op import XlaOp
from xla_dialect.ops.contraction import DotOp
from xla_dialect.ops.control_flow import ConditionalOp, FusionOp, OptBarrierOp, WhileOp
from xla_dialect.ops.conversion import BitcastConvertOp
from xla_dialect.ops.creation import ConstantOp
from xla_dialect.ops.data_movement import (
    ConcatenateOp,
    CopyOp,
    DynamicSliceOp,
    DynamicUpdateSliceOp,
    PadOp,
    ReverseOp,
    SliceOp,
    TransposeOp,
)
from xla_dialect.ops.elementwise import AddOp, ClampOp, CompareOp, SelectOp
from xla_dialect.ops.reduction import ReduceOp
from xla_dialect.ops.tuples import GetTupleElementOp, TupleOp
from xla_dialect.types import BY_NAME, array, spell, spell_all


def adding(name: str) -> Any:
    return computation([f"{name}[]"] * 2, AddOp)


def dot(lhs: str, rhs: str, contracting: Any, batch: Any = ((), ())) -> XlaOp:
    return DotOp(
        value(lhs),
        value(rhs),
        lhs_contracting_dims=contracting[0],
        rhs_contracting_dims=contracting[1],
        lhs_batch_dims=batch[0],
        rhs_batch_dims=batch[1],
    )


def pad(operand: str, low: int, high: int, interior: int) -> XlaOp:
    return PadOp(
        value(operand),
        value("f32[]"),
        edge_padding_low=[low],
        edge_padding_high=[high],
        interior_padding=[interior],
    )


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (lambda: TransposeOp(value("f32[2,3,5]"), dimensions=[2, 0, 1]), "f32[5,2,3]"),
        (
            lambda: SliceOp(
                value("f32[5,4]"), start_indices=[0, 1], limit_indices=[5, 1], strides=[2, 1]
            ),
            "f32[3,0]",
        ),
        (lambda: ConcatenateOp([value("s4[2,3]"), value("s4[2,4]")], dimension=1), "s4[2,7]"),
        (lambda: pad("f32[3]", 1, 2, 1), "f32[8]"),
        (lambda: pad("f32[3]", -1, -2, 2), "f32[4]"),
        (lambda: pad("f32[0]", 1, 1, 5), "f32[2]"),
        (lambda: ReverseOp(value("pred[2]"), dimensions=[0]), "pred[2]"),
        (
            lambda: DynamicSliceOp(
                value("c64[4,3]"), [value("s32[]")] * 2, dynamic_slice_sizes=[2, 0]
            ),
            "c64[2,0]",
        ),
        (
            lambda: DynamicUpdateSliceOp(value("u2[4]"), value("u2[2]"), [value("u64[]")]),
            "u2[4]",
        ),
        (lambda: dot("f32[2,3,4]", "f32[2,4,5]", ([2], [1]), ([0], [0])), "f32[2,3,5]"),
        (
            lambda: dot("f32[2,6,3,4]", "f32[2,6,4,5]", ([3], [2]), ([0, 1], [0, 1])),
            "f32[2,6,3,5]",
        ),
        (lambda: dot("bf16[2]", "bf16[3]", ([], [])), "bf16[2,3]"),
        (lambda: dot("s8[7,2,3]", "s8[5,3,7]", ([0], [2]), ([2], [1])), "s8[3,2,5]"),
        (lambda: ClampOp(value("s32[]"), value("s32[3]"), value("s32[]")), "s32[3]"),
        (lambda: SelectOp(value("pred[]"), value("f32[3]"), value("f32[3]")), "f32[3]"),
        (lambda: CompareOp(value("f32[0]"), value("f32[0]"), direction="EQ"), "pred[0]"),
        (lambda: TupleOp([]), "()"),
        (lambda: TupleOp([value("f32[10]"), value("s32[]")]), "(f32[10], s32[])"),
        (lambda: GetTupleElementOp(value(tuple_of("f32[10]", "s32[]")), index=1), "s32[]"),
        (lambda: OptBarrierOp(value(tuple_of("f32[2]"))), "(f32[2])"),
        (lambda: ConstantOp(value=literal_of(())), "()"),
        (
            lambda: FusionOp([value("f32[2]")], regions=[computation(["f32[2]"], lambda x: x)]),
            "f32[2]",
        ),
    ],
)
def test_only_result(build: Any, expected: str):
    op: XlaOp = build()
    op.verify()
    assert spell(op.results[0].type) == expected


def reduction(*operands: str, dimensions: list[int]) -> XlaOp:
    inits = [value(f"{operand.split('[')[0]}[]") for operand in operands]
    types = [init.type for init in inits]
    region = computation(types * 2, lambda *xs: list(xs[: len(operands)]))
    return ReduceOp([value(x) for x in operands], inits, dimensions=dimensions, regions=[region])


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (lambda: reduction("f32[4,2,3]", dimensions=[0, 2]), "(f32[2])"),
        (lambda: reduction("f32[4,2,3]", dimensions=[]), "(f32[4,2,3])"),
        (lambda: reduction("f32[5,2]", "s32[5,2]", dimensions=[0]), "(f32[2], s32[2])"),
        (
            lambda: WhileOp(
                [value("s32[]"), value("f32[2]")],
                regions=[
                    computation(["s32[]", "f32[2]"], lambda n, x: CompareOp(n, n, direction="LT")),
                    computation(["s32[]", "f32[2]"], lambda n, x: [n, x]),
                ],
            ),
            "(s32[], f32[2])",
        ),
        (
            lambda: ConditionalOp(
                value("pred[]"),
                [value("f32[2]"), value("s32[]")],
                regions=[
                    [
                        computation(["f32[2]"], lambda x: [x, x]),
                        computation(["s32[]"], lambda n: [literal("f32[2]")] * 2),
                    ]
                ],
            ),
            "(f32[2], f32[2])",
        ),
    ],
)
def test_several_results(build: Any, expected: str):
    op: XlaOp = build()
    op.verify()
    assert spell_all([result.type for result in op.results]) == expected


def literal(type_: str) -> XlaOp:
    return ConstantOp(value=literal_of(np.zeros(shape(type_).get_shape(), np.float32)))


@pytest.mark.parametrize(
    ("operand", "result"),
    [
        ("f32[10]", "f16[10,2]"),
        ("f32[]", "f16[2]"),
        ("f16[10,2]", "f32[10]"),
        ("s32[]", "f32[]"),
        ("s32[]", "s8[4]"),
        ("s8[2]", "u4[2,2]"),
        ("u4[2,4]", "u16[2]"),
        ("pred[3]", "u8[3]"),
        ("c128[2]", "c64[2,2]"),
    ],
)
def test_bitcast_convert(operand: str, result: str):
    """Worked examples: docs/generated/worked_examples.md#bitcast_convert."""
    BitcastConvertOp(value(operand), result_types=[shape(result)]).verify()


def test_several_results_as_one_tuple():
    """Where HLO has one tuple, both forms are legal."""
    op = reduction("f32[5,2]", "s32[5,2]", dimensions=[0])
    pair = tuple_of("f32[2]", "s32[2]")
    tupled = ReduceOp.make(
        op.operands, op.properties, [op.regions[0].clone()], [pair], op.attributes
    )
    tupled.verify()
    assert isinstance(tupled.results[0].type, TupleType)


def laid_out(name: str, sizes: list[int], layout: str) -> Attribute:
    return array(BY_NAME[name].type, sizes, LayoutAttr(Layout.parse(layout)))


def test_layouts_take_no_part():
    """Inferred types have the default layout; operands and declared results may have any."""
    x = value(laid_out("f32", [2, 3], "{0,1}"))
    assert AddOp(x, x).results[0].type == shape("f32[2,3]")
    AddOp(x, value("f32[2,3]")).verify()
    CopyOp(x, result_types=[laid_out("f32", [2, 3], "{1,0:T(2,2)S(1)}")]).verify()
