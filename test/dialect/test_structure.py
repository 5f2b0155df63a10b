"""What an operation is made of at all is checked first, also before its results are inferred."""

from typing import Any

import pytest
from small_programs import shape, value
from violations import assert_violates
from xdsl.dialects.builtin import (
    IndexType,
    TupleType,
    i64,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Region
from xdsl.utils.exceptions import VerifyException

from xla_dialect.op import XlaOp
from xla_dialect.ops import OPERATIONS
from xla_dialect.ops.control_flow import FusionOp, OptBarrierOp, ReturnOp
from xla_dialect.ops.elementwise import AddOp
from xla_dialect.types import array

X = value("f32[2,3]")


def test_a_block_ends_with_a_terminator() -> None:
    block = Block(arg_types=[shape("f32[2]")])
    op = AddOp(block.args[0], block.args[0])
    block.add_op(op)
    FuncOp("f", ([shape("f32[2]")], []), Region(block))
    with pytest.raises(VerifyException, match=r"xla\.add: \(Block\) "):
        op.verify()


@pytest.mark.parametrize("type_", [i64, array(IndexType(), [2]), TupleType((i64,))], ids=str)
def test_results_have_types_of_xla(type_: Any) -> None:
    assert_violates("xla.opt_barrier", "Type", lambda: OptBarrierOp.make([value(type_)], {}))


def test_nested_operations_are_verified() -> None:
    """As everywhere in xDSL, unless the caller says no."""
    inner = Block(arg_types=[X.type])
    inner.add_ops([AddOp.make([inner.args[0]], {}, result_types=[X.type]), ReturnOp(inner.args)])
    op = FusionOp.make([X], {}, [Region(inner)], [X.type])
    with pytest.raises(VerifyException, match=r"xla\.add: \(Operands\) "):
        op.verify()
    op.verify(verify_nested_ops=False)


def test_rules_are_in_infer() -> None:
    """`XlaOp.verify` calls `infer`; a `verify_` of a class would never run."""
    for operation in OPERATIONS:
        bodies = [vars(base) for base in operation.__mro__[1:] if issubclass(base, XlaOp)]
        assert not any("verify_" in body for body in bodies), operation
        assert "verify" not in vars(operation), operation
