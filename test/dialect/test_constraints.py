"""Every numbered constraint of the structural operations, broken alone."""

from collections.abc import Sequence
from typing import Any

import pytest
from small_programs import computation, constant, shape, tuple_of, value
from violations import accepts, assert_violates, cases
from xdsl.dialects.builtin import (
    ArrayAttr,
    BytesAttr,
    DenseIntOrFPElementsAttr,
    IndexType,
    StringAttr,
    VectorType,
    i64,
)
from xdsl.ir import Block, Region

from xla_dialect.op import XlaOp
from xla_dialect.ops.contraction import DotOp
from xla_dialect.ops.control_flow import ConditionalOp, FusionOp, ReturnOp, WhileOp
from xla_dialect.ops.creation import ConstantOp, IotaOp
from xla_dialect.ops.data_movement import (
    BitcastOp,
    BroadcastOp,
    ConcatenateOp,
    CopyOp,
    DynamicSliceOp,
    DynamicUpdateSliceOp,
    PadOp,
    ReshapeOp,
    ReverseOp,
    SliceOp,
    TransposeOp,
)
from xla_dialect.ops.elementwise_binary import AddOp, CompareOp
from xla_dialect.ops.reduction import ReduceOp
from xla_dialect.ops.tuples import GetTupleElementOp, TupleOp
from xla_dialect.types import TokenType, array

Ints = Sequence[int]
TOKEN = TokenType()


def constant_of(literal: Any) -> XlaOp:
    return ConstantOp(value=literal)


def iota(result: Any, dimension: int) -> XlaOp:
    return IotaOp(iota_dimension=dimension, result_types=[value(result).type])


def broadcast(operand: Any, result: str, dimensions: Ints) -> XlaOp:
    return BroadcastOp(value(operand), dimensions=dimensions, result_types=[shape(result)])


def reshape(operand: Any, result: str) -> XlaOp:
    return ReshapeOp(value(operand), result_types=[shape(result)])


def transpose(operand: Any, dimensions: Ints) -> XlaOp:
    return TransposeOp(value(operand), dimensions=dimensions)


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


def reverse(operand: Any, dimensions: Ints) -> XlaOp:
    return ReverseOp(value(operand), dimensions=dimensions)


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


def get_tuple_element(operand: Any, index: int) -> XlaOp:
    return GetTupleElementOp(value(operand), index=index)


S32 = "s32[]"


@pytest.mark.parametrize(
    ("name", "label", "build"),
    [
        *cases(
            "constant",
            ("C1", lambda: constant_of(StringAttr("x"))),
            ("C1", lambda: constant_of(ArrayAttr([StringAttr("x")]))),
        ),
        *cases(
            "iota",
            ("C1", lambda: iota(tuple_of(), 0)),
            ("C2", lambda: iota("f32[2,3]", 2)),
            ("C2", lambda: iota("f32[2,3]", -1)),
            ("C2", lambda: iota("f32[]", 0)),
            ("C3", lambda: iota("pred[2]", 0)),
            ("Result", lambda: IotaOp(iota_dimension=0)),
        ),
        *cases(
            "broadcast",
            ("C1", lambda: broadcast("f32[3]", "f32[3,3]", [0, 1])),
            ("C1", lambda: broadcast("f32[3]", "f32[3]", [])),
            ("C1", lambda: broadcast(TOKEN, "f32[3]", [])),
            ("C3", lambda: broadcast("f32[3]", "f32[3]", [1])),
            ("C3", lambda: broadcast("f32[3]", "f32[3]", [-1])),
            ("C3", lambda: broadcast("f32[3,3]", "f32[3,3]", [1, 1])),
            ("C4", lambda: broadcast("f32[3]", "f32[3,4]", [1])),
            ("C4", lambda: broadcast("f32[1]", "f32[4]", [0])),
            ("Result", lambda: broadcast("f32[3]", "f64[3]", [0])),
        ),
        *cases(
            "reshape",
            ("C1", lambda: reshape(TOKEN, "f32[]")),
            ("C2", lambda: reshape("f32[2,3]", "f32[5]")),
            ("C2", lambda: reshape("f32[]", "f32[0]")),
            ("C2", lambda: reshape("f32[0,3]", "f32[3]")),
            ("Result", lambda: reshape("f32[6]", "s32[6]")),
        ),
        *cases(
            "transpose",
            ("C1", lambda: transpose("f32[2,3]", [0])),
            ("C1", lambda: transpose("f32[2,3]", [0, 0])),
            ("C1", lambda: transpose("f32[2,3]", [0, 2])),
            ("C1", lambda: transpose("f32[2,3]", [-1, 0])),
            ("C1", lambda: transpose("f32[]", [0])),
            ("C1", lambda: transpose(TOKEN, [])),
        ),
        *cases(
            "slice",
            ("C1", lambda: slice_("f32[4]", [0, 0], [4], [1])),
            ("C1", lambda: slice_("f32[4]", [0], [], [1])),
            ("C1", lambda: slice_("f32[4]", [0], [4], [1, 1])),
            ("C2", lambda: slice_("f32[4]", [-1], [4], [1])),
            ("C2", lambda: slice_("f32[4]", [3], [2], [1])),
            ("C2", lambda: slice_("f32[4]", [0], [5], [1])),
            ("C3", lambda: slice_("f32[4]", [0], [4], [0])),
            ("C3", lambda: slice_("f32[4]", [0], [4], [-1])),
        ),
        *cases(
            "concatenate",
            ("C1", lambda: concatenate([], 0)),
            ("C2", lambda: concatenate(["f32[2]", "s32[2]"], 0)),
            ("C2", lambda: concatenate(["f32[2]", "f32[2,1]"], 0)),
            ("C3", lambda: concatenate(["f32[2]", "f32[2]"], 1)),
            ("C3", lambda: concatenate(["f32[2]"], -1)),
            ("C3", lambda: concatenate(["f32[]", "f32[]"], 0)),
            ("C4", lambda: concatenate(["f32[2,3]", "f32[2,4]"], 0)),
        ),
        *cases(
            "pad",
            ("C1", lambda: pad("f32[2]", "f64[]", [0], [0], [0])),
            ("C1", lambda: pad("f32[2]", "f32[1]", [0], [0], [0])),
            ("C2", lambda: pad("f32[2]", "f32[]", [], [0], [0])),
            ("C2", lambda: pad("f32[2]", "f32[]", [0], [0, 0], [0])),
            ("C2", lambda: pad("f32[2]", "f32[]", [0], [0], [])),
            ("C3", lambda: pad("f32[2]", "f32[]", [0], [0], [-1])),
            ("C4", lambda: pad("f32[2]", "f32[]", [-1], [-2], [0])),
            ("C4", lambda: pad("f32[0]", "f32[]", [0], [-1], [3])),
        ),
        *cases(
            "reverse",
            ("C1", lambda: reverse("f32[2,3]", [2])),
            ("C1", lambda: reverse("f32[2,3]", [-1])),
            ("C1", lambda: reverse("f32[2,3]", [0, 0])),
        ),
        *cases(
            "dynamic_slice",
            ("C1", lambda: dynamic_slice("f32[4]", [], [2])),
            ("C1", lambda: dynamic_slice("f32[4]", [S32, S32], [2])),
            ("C1", lambda: dynamic_slice("f32[4]", ["f32[]"], [2])),
            ("C1", lambda: dynamic_slice("f32[4]", ["s32[1]"], [2])),
            ("C1", lambda: dynamic_slice("f32[4]", ["pred[]"], [2])),
            ("C1", lambda: dynamic_slice("f32[4,4]", [S32, "s64[]"], [2, 2])),
            ("C2", lambda: dynamic_slice("f32[4]", [S32], [2, 1])),
            ("C3", lambda: dynamic_slice("f32[4]", [S32], [5])),
            ("C3", lambda: dynamic_slice("f32[4]", [S32], [-1])),
        ),
        *cases(
            "dynamic_update_slice",
            ("C1", lambda: dynamic_update_slice("f32[4]", "f64[2]", [S32])),
            ("C1", lambda: dynamic_update_slice("f32[4]", "f32[2,1]", [S32])),
            ("C1", lambda: dynamic_update_slice("f32[4]", TOKEN, [S32])),
            ("C2", lambda: dynamic_update_slice("f32[4]", "f32[5]", [S32])),
            ("C3", lambda: dynamic_update_slice("f32[4]", "f32[2]", [])),
            ("C3", lambda: dynamic_update_slice("f32[4]", "f32[2]", ["f32[]"])),
            ("C3", lambda: dynamic_update_slice("f32[4,4]", "f32[2,2]", [S32, "u32[]"])),
        ),
        *cases("copy", ("C1", lambda: CopyOp(value(TOKEN)))),
        *cases(
            "bitcast",
            ("C1", lambda: bitcast(TOKEN, "f32[2]")),
            ("C2", lambda: bitcast("f32[2]", "f32[3]")),
            ("C2", lambda: bitcast("s4[2]", "s8[1]")),
            ("Result", lambda: bitcast("f32[2]", TOKEN)),
        ),
        *cases(
            "dot",
            ("C1", lambda: dot("f32[2]", "f64[2]", ([0], [0]))),
            ("C1", lambda: dot(TOKEN, "f64[2]", ([], [0]))),
            ("C2", lambda: dot("f32[2]", "f32[3]", ([0], [0]))),
            ("C2", lambda: dot("f32[2]", "f32[2]", ([0], []))),
            ("C3", lambda: dot("f32[2,4]", "f32[3,4]", ([1], [1]), ([0], [0]))),
            ("C3", lambda: dot("f32[2]", "f32[2]", ([], []), ([], [0]))),
            ("C4", lambda: dot("f32[2,2]", "f32[2]", ([0, 0], [0, 0]))),
            ("C4", lambda: dot("f32[2]", "f32[2]", ([0], [0]), ([0], [0]))),
            ("C4", lambda: dot("f32[2]", "f32[2]", ([1], [0]))),
            ("C4", lambda: dot("f32[2]", "f32[2]", ([0], [-1]))),
            ("Result", lambda: dot("f32[2]", "f32[2]", ([0], [0]), result="f32[1]")),
        ),
        *cases(
            "get_tuple_element",
            ("C1", lambda: get_tuple_element("f32[2]", 0)),
            ("C2", lambda: get_tuple_element(tuple_of(S32), 1)),
            ("C2", lambda: get_tuple_element(tuple_of(S32), -1)),
            ("C2", lambda: get_tuple_element(tuple_of(), 0)),
        ),
    ],
)
def test_constraints(name: str, label: str, build: Any):
    assert_violates(name, label, build)


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


def positive(*types: Any) -> Region:
    return computation(types or [S32], lambda *xs: CompareOp(xs[0], xs[0], direction="GT"))


def identity(*types: Any) -> Region:
    return computation(types, lambda *xs: list(xs))


def conditional(index: Any, operands: Sequence[Any], *branches: Region) -> XlaOp:
    return ConditionalOp(value(index), [value(x) for x in operands], regions=[branches])


def fusion(operands: Sequence[Any], calls: Region) -> XlaOp:
    return FusionOp([value(x) for x in operands], kind="kLoop", regions=[calls])


def without_return() -> Region:
    block = Block(arg_types=[shape("f32[]")] * 2)
    return Region(block)


def with_two_blocks() -> Region:
    region = adding()
    region.add_block(Block([ReturnOp([])]))
    return region


@pytest.mark.parametrize(
    ("name", "label", "build"),
    [
        *cases(
            "reduce",
            ("C1", lambda: reduce_([], [], [], adding())),
            ("C1", lambda: reduce_([TOKEN], ["f32[]"], [], adding())),
            ("C2", lambda: reduce_(["f32[2]", "f32[3]"], ["f32[]"] * 2, [0], identity())),
            ("C4", lambda: reduce_(["f32[2]"], ["f32[]"], [1], adding())),
            ("C4", lambda: reduce_(["f32[2]"], ["f32[]"], [0, 0], adding())),
            ("C4", lambda: reduce_(["f32[2]"], ["f32[]"], [-1], adding())),
            ("RC1", lambda: reduce_(["f32[2]"], ["f32[]"], [0], identity("f32[]"))),
            ("RC1", lambda: reduce_(["f32[2]"], ["f32[]"], [0], adding("f64"))),
            ("RC1", lambda: reduce_(["f32[2]"], ["f32[]"], [0], identity("f32[1]", "f32[1]"))),
            ("RC1", lambda: reduce_(["f32[2]"], ["f32[]"], [0], Region())),
            ("RC1", lambda: reduce_(["f32[2]"], ["f32[]"], [0], without_return())),
            ("RC1", lambda: reduce_(["f32[2]"], ["f32[]"], [0], with_two_blocks())),
            ("RC2", lambda: reduce_(["f32[2]"], ["f32[]"], [0], identity("f32[]", "f32[]"))),
            ("RC2", lambda: reduce_(["f32[2]"], ["f32[]"], [0], positive("f32[]", "f32[]"))),
            (
                "RC2",
                lambda: reduce_(
                    ["f32[2]"],
                    ["f32[]"],
                    [0],
                    computation(["f32[]"] * 2, lambda a, b: TupleOp([a])),
                ),
            ),
            ("RC3", lambda: reduce_(["f32[2]"], ["f64[]"], [0], adding())),
            ("RC3", lambda: reduce_(["f32[2]"], ["f32[1]"], [0], adding())),
        ),
        *cases(
            "while",
            ("C1", lambda: while_([S32], positive(S32, S32), identity(S32))),
            ("C1", lambda: while_([S32], positive(S32), identity(S32, S32))),
            ("C1", lambda: while_([S32], identity(S32), identity(S32))),
            ("C1", lambda: while_(["s32[2]"], positive("s32[2]"), identity("s32[2]"))),
            ("C1", lambda: while_([S32], without_return(), identity(S32))),
            ("C2", lambda: while_([S32], positive("s64[]"), identity(S32))),
            ("C2", lambda: while_([S32], positive(S32), identity("s64[]"))),
            ("C2", lambda: while_([S32], positive(S32), positive(S32))),
            (
                "C2",
                lambda: while_([S32], positive(S32), computation([S32], lambda x: [x, x])),
            ),
        ),
        *cases(
            "conditional",
            ("C1", lambda: conditional("s64[]", [S32], identity(S32))),
            ("C1", lambda: conditional("s32[1]", [S32], identity(S32))),
            ("C1", lambda: conditional("f32[]", [S32], identity(S32))),
            ("C1", lambda: conditional("pred[]", [S32], identity(S32))),
            ("C1", lambda: conditional("pred[]", [S32] * 3, *[identity(S32) for _ in range(3)])),
            ("C2", lambda: conditional(S32, [])),
            ("C2", lambda: conditional(S32, [S32], identity(S32), identity(S32))),
            ("C2", lambda: conditional(S32, [S32, S32], identity(S32))),
            ("C3", lambda: conditional(S32, ["f32[]"], identity(S32))),
            ("C3", lambda: conditional(S32, [S32, S32], without_return())),
            ("C4", lambda: conditional(S32, [S32, "f32[]"], identity(S32), identity("f32[]"))),
            ("C4", lambda: conditional(S32, [S32, S32, S32], identity(S32), identity(S32, S32))),
        ),
        *cases(
            "fusion",
            ("C1", lambda: fusion([S32], identity(S32, S32))),
            ("C1", lambda: fusion([S32], without_return())),
            ("C2", lambda: fusion([S32], identity("s64[]"))),
        ),
    ],
)
def test_constraints_of_computations(name: str, label: str, build: Any):
    assert_violates(name, label, build)


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
    for wrong in ("f32[3]", "f64[2]", "f32[2,1]"):
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
