"""Linking operations by our functions leaves what the methods of xDSL leave."""

from collections.abc import Callable
from typing import Any

import pytest
from xdsl.dialects import arith, test
from xdsl.dialects.builtin import DenseArrayBase, TensorType, i32
from xdsl.dialects.linalg.ops import FillOp
from xdsl.ir import Block, Operation, Region, SSAValue

from xla_dialect.xdsl import linking
from xla_dialect.xdsl.traversal import ins_of, outs_of


def program() -> Block:
    """Three results, of which the second is used twice by one operation and once by another."""
    made = [test.TestOp(result_types=[i32]) for _ in range(3)]
    value = made[1].results[0]
    users = [
        test.TestOp([value, made[0].results[0], value], result_types=[i32]),
        test.TestOp([value], regions=[Region(Block([test.TestOp()]))]),
    ]
    return Block([*made, *users])


def state(block: Block) -> Any:
    """All links of a block, forwards and backwards."""
    number = {op: i for i, op in enumerate(block.ops)}
    return (
        [number[op] for op in reversed(block.ops)],
        [(op.parent is block, [number[v.owner] for v in op.operands]) for op in block.ops],  # pyright: ignore[reportArgumentType]
        [
            [(v.name_hint, [(number[use.operation], use.index) for use in v.uses])]
            for op in block.ops
            for v in op.results
        ],
        number.get(block.first_op),  # pyright: ignore[reportArgumentType]
        number.get(block.last_op),  # pyright: ignore[reportArgumentType]
    )


def ops(block: Block) -> list[Operation]:
    return list(block.ops)


def with_region() -> Operation:
    return test.TestOp(regions=[Region(Block([test.TestOp()]))])


def renamed(block: Block, replace: Callable[[SSAValue, SSAValue], None], into: int) -> None:
    ops(block)[1].results[0].name_hint = "x"
    replace(ops(block)[1].results[0], ops(block)[into].results[0])


Change = Callable[[Block], Any]
CHANGES: dict[str, tuple[Change, Change]] = {
    **{
        f"before {place}": (
            lambda b, place=place: linking.insert_before(test.TestOp(), ops(b)[place]),
            lambda b, place=place: b.insert_op_before(test.TestOp(), ops(b)[place]),
        )
        for place in (0, 2, 4)
    },
    "before, with a region": (
        lambda b: linking.insert_before(with_region(), ops(b)[1]),
        lambda b: b.insert_op_before(with_region(), ops(b)[1]),
    ),
    "at the end": (
        lambda b: linking.append(b, test.TestOp()),
        lambda b: b.add_op(test.TestOp()),
    ),
    **{
        f"erased {place}": (
            lambda b, place=place: linking.erase(ops(b)[place]),
            lambda b, place=place: b.erase_op(ops(b)[place]),
        )
        for place in (2, 3, 4)
    },
    **{
        f"replaced by {into}": (
            lambda b, into=into: renamed(b, linking.replace_uses, into),
            lambda b, into=into: renamed(b, SSAValue.replace_all_uses_with, into),
        )
        for into in (0, 1, 2)
    },
}


@pytest.mark.parametrize("change", CHANGES)
def test_as_xdsl(change: str) -> None:
    ours, theirs = program(), program()
    CHANGES[change][0](ours)
    CHANGES[change][1](theirs)
    assert state(ours) == state(theirs)


def test_first_of_a_block() -> None:
    ours, theirs = Block(), Block()
    linking.append(ours, test.TestOp())
    theirs.add_op(test.TestOp())
    assert state(ours) == state(theirs)
    assert ours.first_op is ours.last_op is not None


def test_a_name_that_is_there_stays() -> None:
    block = program()
    old, new = (op.results[0] for op in ops(block)[1:3])
    old.name_hint, new.name_hint = "old", "new"
    linking.replace_uses(old, new)
    assert new.name_hint == "new"
    assert old.first_use is None


def test_attached_already() -> None:
    block = program()
    first, second = ops(block)[:2]
    with pytest.raises(ValueError, match="already attached"):
        linking.insert_before(first, second)
    with pytest.raises(ValueError, match="already attached"):
        linking.append(block, first)


def test_into_itself() -> None:
    outer = with_region()
    block = outer.regions[0].block
    with pytest.raises(ValueError, match="contained in the operation"):
        linking.append(block, outer)


def test_erase_what_is_used() -> None:
    with pytest.raises(ValueError, match="still has uses"):
        linking.erase(ops(program())[1])


def test_segments() -> None:
    tensors = [test.TestOp(result_types=[TensorType(i32, [])]).results[0] for _ in range(3)]
    scalar = arith.ConstantOp.from_int_and_width(0, i32).result
    fill = FillOp([scalar], [tensors[0]], [tensors[0].type])
    assert (*ins_of(fill),) == (*fill.inputs,) == (scalar,)
    assert (*outs_of(fill),) == (*fill.outputs,) == (tensors[0],)
    many = test.TestOp(
        [scalar, *tensors],
        properties={"operandSegmentSizes": DenseArrayBase.from_list(i32, (1, 3))},
    )
    assert (*outs_of(many),) == (*tensors,)
    none = test.TestOp(
        tensors, properties={"operandSegmentSizes": DenseArrayBase.from_list(i32, (0, 3))}
    )
    assert (*ins_of(none),) == ()
    assert (*outs_of(none),) == (*tensors,)
