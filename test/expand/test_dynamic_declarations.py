"""Operations from outside of the tree: their relations alone say what dynamic dimensions mean."""

from typing import cast

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region
from xdsl.irdl import irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure

from lowerings.driver.context import make_context
from lowerings.driver.pass_manager import PassManager, parse_passes
from xla_dialect.diagnostics import XlaError
from xla_dialect.dimensions import Factor, FactorType, RelationsBuilder, Traversal
from xla_dialect.op import Types, XlaOp
from xla_dialect.ops.elementwise import SelectOp
from xla_dialect.text.shapes import parse_type
from xla_dialect.types import Array, array, sizes_of


class LineOp(XlaOp):
    """A number for each line of an array and a weight."""

    x = operand_def()
    weights = operand_def()
    result = result_def()
    traits = traits_def(Pure())

    @staticmethod
    def infer(x: Array, weights: Array) -> Types:
        return (array(x.element_type, (sizes_of(x)[0],)),)


@irdl_op_definition
class WeightedSumOp(LineOp):
    """`result[i] = Σ_k x[i, k] · weights[k]`."""

    name = "other.weighted_sum"

    @staticmethod
    def relate(relations: RelationsBuilder) -> None:
        rows, columns = relations.operands[0]
        relations.add(rows, {0: 0}, {0: 0})
        relations.add(Factor(columns, FactorType.REDUCTION, neutral=0), {0: 1, 1: 0})


@irdl_op_definition
class UnknownReductionOp(LineOp):
    """It does not say what changes nothing."""

    name = "other.unknown"

    @staticmethod
    def relate(relations: RelationsBuilder) -> None:
        rows, columns = relations.operands[0]
        relations.add(rows, {0: 0}, {0: 0})
        relations.add(Factor(columns, FactorType.REDUCTION), {0: 1, 1: 0})


@irdl_op_definition
class WholeLineOp(LineOp):
    """All of a line is needed at once."""

    name = "other.whole"

    @staticmethod
    def relate(relations: RelationsBuilder) -> None:
        rows, columns = relations.operands[0]
        relations.add(rows, {0: 0}, {0: 0})
        relations.add(Factor(columns, FactorType.NEED_REPLICATION, Traversal.WHOLE), {0: 1, 1: 0})


@irdl_op_definition
class FixedLineOp(LineOp):
    """Its lines have a reason to be static."""

    name = "other.fixed"

    @staticmethod
    def relate(relations: RelationsBuilder) -> None:
        rows, columns = relations.operands[0]
        relations.add(rows, {0: 0}, {0: 0})
        relations.add(Factor(columns, FactorType.NEED_REPLICATION, Traversal.WHOLE), {0: 1, 1: 0})
        relations.static[0, 1] = "lines are fixed"


def expanded(operation: type[XlaOp], x: str, weights: str) -> FuncOp:
    block = Block(arg_types=[parse_type(x), parse_type(weights)])
    op = operation(*block.args)
    block.add_ops([op, ReturnOp(*op.results)])
    function = FuncOp("main", (block.arg_types, op.result_types), Region(block))
    manager = PassManager(make_context(), verify_each=True)
    manager.run(ModuleOp([function]), parse_passes("xla-expand-dynamic-dimensions"))
    return function


def test_rows_keep_their_number() -> None:
    """Nothing is masked: what a row of nothing gives is beyond the size of the result."""
    function = expanded(WeightedSumOp, "f32[<=4,3]", "f32[3]")
    x, weights, rows = function.body.block.args
    op, returned = function.body.block.ops
    assert tuple(op.operands) == (x, weights)
    assert tuple(returned.operands) == (op.results[0], rows)


def test_a_reduction_meets_zeros_in_all_operands() -> None:
    """Weights of any value would turn infinities beyond the size into NaN, and the other way."""
    function = expanded(WeightedSumOp, "f32[4,<=3]", "f32[3]")
    x, weights, _columns = function.body.block.args
    (op,) = (op for op in function.body.block.ops if isinstance(op, WeightedSumOp))
    masks = [operand.owner for operand in op.operands]
    assert [mask.on_true for mask in masks if isinstance(mask, SelectOp)] == [x, weights]
    (result,) = function.function_type.outputs
    assert sizes_of(cast(Array, result)) == (4,)


@pytest.mark.parametrize(
    ("operation", "reason"),
    [
        (UnknownReductionOp, "no rule says what that means"),
        (WholeLineOp, "no rule says what that means"),
        (FixedLineOp, "lines are fixed"),
    ],
)
def test_what_is_not_declared_is_an_error(operation: type[XlaOp], reason: str) -> None:
    with pytest.raises(XlaError, match=f"dimension 1 of operand 0 cannot be dynamic: {reason}"):
        expanded(operation, "f32[4,<=3]", "f32[3]")
    assert expanded(operation, "f32[<=4,3]", "f32[3]")
