"""A builder that stands before an operation of a module, as passes use it."""

import pytest
from small_programs import function, numbers, type_of
from xdsl.dialects.builtin import FileLineColLoc, IntAttr, ModuleOp, StringAttr
from xdsl.ir import Block

from xla_dialect.builder import BuildError, XlaBuilder, XlaValue
from xla_dialect.ops.elementwise import NegateOp
from xla_dialect.xdsl.traversal import operations_in


def test_operations_stand_before_another_with_its_location() -> None:
    array = numbers("f32", [1, 2])
    module = ModuleOp([function("main", [type_of(array)], lambda x: NegateOp(x))])
    (negate,) = (op for op in operations_in(module) if isinstance(op, NegateOp))
    negate.location = FileLineColLoc(StringAttr("a.py"), IntAttr(3), IntAttr(1))
    b = XlaBuilder("more", before=negate)
    x = XlaValue(b, negate.operand)
    total = b.reduce(b.mul(x, 2), 0, lambda a, c: a + c, [0])
    negate.operands[0] = b.add(x, b.broadcast(total, [2])).ssa
    module.verify()
    block = negate.parent
    assert isinstance(block, Block)
    built = [op for op in block.ops if op is not block.last_op]
    assert built[-1] is negate
    assert all(each.location == negate.location for op in built for each in operations_in(op))


def test_values_of_another_place_cannot_be_used() -> None:
    types = [type_of(numbers("f32", [1, 2]))]
    first, second = (function(name, types, lambda x: NegateOp(x)) for name in ("main", "other"))
    ModuleOp([first, second])
    anchor, elsewhere = (op.body.block.first_op for op in (first, second))
    assert anchor is not None
    assert elsewhere is not None
    b = XlaBuilder("more", before=anchor)
    with pytest.raises(BuildError, match="cannot be used here"):
        b.neg(XlaValue(b, elsewhere.results[0]))
