"""What the structural operations accept, and rules that text cannot break."""

from collections.abc import Sequence
from typing import Any

import pytest
from small_programs import computation, constant, shape, value
from violations import accepts, assert_violates
from xdsl.dialects.builtin import (
    ArrayAttr,
    BytesAttr,
    DenseIntOrFPElementsAttr,
    IndexType,
    VectorType,
    i64,
)
from xdsl.ir import Region

from xla_dialect.op import XlaOp
from xla_dialect.ops.contraction import DotOp
from xla_dialect.ops.control_flow import ConditionalOp, FusionOp, WhileOp
from xla_dialect.ops.creation import ConstantOp
from xla_dialect.ops.data_movement import (
    BitcastOp,
    BroadcastOp,
    ConcatenateOp,
    DynamicSliceOp,
    DynamicUpdateSliceOp,
    PadOp,
    ReshapeOp,
    SliceOp,
)
from xla_dialect.ops.elementwise import AddOp
from xla_dialect.ops.reduction import ReduceOp
from xla_dialect.types import TokenType, array

Ints = Sequence[int]
TOKEN = TokenType()


def constant_of(literal: Any) -> XlaOp:
    return ConstantOp(value=literal)


def broadcast(operand: Any, result: str, dimensions: Ints) -> XlaOp:
    return BroadcastOp(value(operand), dimensions=dimensions, result_types=[shape(result)])


def reshape(operand: Any, result: str) -> XlaOp:
    return ReshapeOp(value(operand), result_types=[shape(result)])


def slice_(operand: Any, start: Ints, limit: Ints, strides: Ints) -> XlaOp:
    return SliceOp(value(operand), start_indices=start, limit_indices=limit, strides=strides)


def concatenate(operands: Sequence[Any], dimension: int) -> XlaOp:
    return ConcatenateOp([value(operand) for operand in operands], dimension=dimension)


def pad(operand: Any, padding: Any, low: Ints, high: Ints, interior: Ints) -> XlaOp:
    return PadOp(
        value(operand),
        value(padding),
        edge_padding_low=low,
        edge_padding_high=high,
        interior_padding=interior,
    )


def dynamic_slice(operand: Any, starts: Sequence[Any], sizes: Ints) -> XlaOp:
    return DynamicSliceOp(value(operand), [value(s) for s in starts], dynamic_slice_sizes=sizes)


def dynamic_update_slice(operand: Any, update: Any, starts: Sequence[Any]) -> XlaOp:
    return DynamicUpdateSliceOp(value(operand), value(update), [value(s) for s in starts])


def bitcast(operand: Any, result: Any) -> XlaOp:
    return BitcastOp(value(operand), result_types=[value(result).type])


def dot(
    lhs: Any,
    rhs: Any,
    contracting: tuple[Ints, Ints] = ((), ()),
    batch: tuple[Ints, Ints] = ((), ()),
    result: str | None = None,
) -> XlaOp:
    return DotOp(
        value(lhs),
        value(rhs),
        lhs_contracting_dims=contracting[0],
        rhs_contracting_dims=contracting[1],
        lhs_batch_dims=batch[0],
        rhs_batch_dims=batch[1],
        result_types=None if result is None else [shape(result)],
    )


def reduce_(
    inputs: Sequence[Any], inits: Sequence[Any], dimensions: Ints, to_apply: Region
) -> XlaOp:
    return ReduceOp(
        [value(x) for x in inputs],
        [value(x) for x in inits],
        dimensions=dimensions,
        regions=[to_apply],
    )


def adding(name: str = "f32") -> Region:
    return computation([f"{name}[]"] * 2, AddOp)


def while_(init: Sequence[Any], condition: Region, body: Region) -> XlaOp:
    return WhileOp([value(x) for x in init], regions=[condition, body])


def identity(*types: Any) -> Region:
    return computation(types, lambda *xs: list(xs))


def conditional(index: Any, operands: Sequence[Any], *branches: Region) -> XlaOp:
    return ConditionalOp(value(index), [value(x) for x in operands], regions=[branches])


def fusion(operands: Sequence[Any], calls: Region) -> XlaOp:
    return FusionOp([value(x) for x in operands], kind="kLoop", regions=[calls])


@pytest.mark.parametrize("type_", [array(IndexType(), [1]), VectorType(i64, [1])], ids=str)
def test_constants_of_other_types(type_: Any):
    """Dense elements whose type is none of XLA's."""
    literal = DenseIntOrFPElementsAttr(type_, BytesAttr(bytes(8)))
    assert_violates("xla.constant", "C1", lambda: constant_of(literal))


def test_sizes_are_bounded():
    """More elements than 63 bits count are an error of any operation."""
    assert_violates(
        "xla.broadcast",
        "Size",
        lambda: broadcast("f32[]", "f32[4294967296,4294967296]", []),
    )


def test_declared_results():
    """The verifier compares the declared types with the inferred ones; layouts may differ."""
    x = value("f32[2]")
    for wrong in ("f32[3]", "s32[2]", "f32[2,1]"):
        types = [shape(wrong)]
        assert_violates("xla.add", "Result", lambda t=types: AddOp.make([x, x], {}, result_types=t))


def test_what_is_legal():
    """Corners that look wrong and are not."""
    for build in (
        lambda: broadcast("f32[3,2]", "f32[2,3]", [1, 0]),
        lambda: reshape("f32[0,3]", "f32[7,0]"),
        lambda: slice_("f32[4]", [4], [4], [9]),
        lambda: concatenate(["f32[0]", "f32[2]"], 0),
        lambda: pad("f32[2]", "f32[]", [-1], [-1], [0]),
        lambda: dynamic_slice("f32[4]", ["u8[]"], [0]),
        lambda: dynamic_update_slice("f32[]", "f32[]", []),
        lambda: bitcast("f32[2]", "u16[2,2]"),
        lambda: dot("u8[2]", "s8[2]", ([0], [0]), result="s32[]"),
        lambda: dot("pred[2]", "pred[3]"),
        lambda: reduce_(["pred[2]"], ["pred[]"], [], adding("pred")),
        lambda: while_([], computation([], lambda: constant("pred", True)), identity()),
        lambda: conditional("pred[]", [], identity(), identity()),
        lambda: fusion([TOKEN], identity(TOKEN)),
        lambda: constant_of(ArrayAttr([])),
    ):
        accepts(build)
