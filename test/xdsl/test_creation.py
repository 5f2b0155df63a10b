"""Operations made by `create` are those that `Operation.create` makes."""

from collections.abc import Callable
from typing import Any

import pytest
from xdsl.builder import ImplicitBuilder
from xdsl.dialects import arith, scf, test
from xdsl.dialects.arith import IntegerOverflowFlag
from xdsl.dialects.builtin import FileLineColLoc, IntAttr, StringAttr, i32
from xdsl.ir import Block, Operation, Region

from xla_dialect.ops.data_movement import BroadcastOp
from xla_dialect.xdsl.creation import create, location_at


def state(op: Operation) -> Any:
    """What there is to see of an operation, but for its identity."""
    return (
        type(op),
        [value.type for value in op.operands],
        [[(use.operation is op, use.index) for use in value.uses] for value in op.operands],
        [(result.type, result.index, result.op is op) for result in op.results],
        dict(op.properties),
        dict(op.attributes),
        op.location,
        len(op.successors),
        [(region.parent is op, len(region.blocks)) for region in op.regions],
        (op.parent, op.next_op, op.prev_op),
    )


PARTS: dict[str, tuple[type[Operation], Callable[[Operation], dict[str, Any]]]] = {
    # Of which the overflow flags are a property with a default.
    "defaults": (
        arith.AddiOp,
        lambda one: {"operands": [*one.results, *one.results], "result_types": [i32]},
    ),
    "properties given": (
        arith.AddiOp,
        lambda one: {
            "operands": one.results,
            "properties": {"overflowFlags": arith.IntegerOverflowAttr((IntegerOverflowFlag.NSW,))},
        },
    ),
    "all parts": (
        test.TestOp,
        lambda one: {
            "operands": (value for value in one.results),
            "result_types": (type_ for type_ in (i32, i32)),
            "attributes": {"a": i32},
            "location": FileLineColLoc(StringAttr("f"), IntAttr(1), IntAttr(2)),
            "regions": [Region(Block(arg_types=[i32])), Region()],
        },
    ),
    "nothing": (scf.YieldOp, lambda one: {}),
    "an operation of ours": (
        BroadcastOp,
        lambda one: {"operands": one.results, "result_types": [i32]},
    ),
}


@pytest.mark.parametrize("name", PARTS)
def test_the_same_operation_is_made(name: str) -> None:
    operation, parts = PARTS[name]
    one, other = (arith.ConstantOp.from_int_and_width(1, 32) for _ in range(2))
    made = create(operation, **parts(one))
    assert state(made) == state(operation.create(**parts(other)))
    # No two operations share what can be changed.
    assert made.properties is not create(operation, **parts(one)).properties


def test_a_region_of_another_operation_is_refused() -> None:
    region = Region()
    create(test.TestOp, regions=[region])
    with pytest.raises(ValueError, match="already attached"):
        create(test.TestOp, regions=[region])


def test_an_implicit_builder_takes_it() -> None:
    block = Block()
    with ImplicitBuilder(block):
        made = create(test.TestOp)
    assert list(block.ops) == [made]


def test_a_location_is_that_of_the_constructor() -> None:
    parts = StringAttr("f.mlir"), IntAttr(3), IntAttr(7)
    assert location_at(*parts) == FileLineColLoc(*parts)
    assert hash(location_at(*parts)) == hash(FileLineColLoc(*parts))
    location_at(*parts).verify()
