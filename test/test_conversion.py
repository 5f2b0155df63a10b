"""`ConversionPass`: the order of its walk and what its error says."""

import pytest
from xdsl.context import Context
from xdsl.dialects import arith, builtin, func, test
from xdsl.ir import Block, Region

from lowerings.rewriting.conversion import (
    ConversionBuilder,
    ConversionFailed,
    ConversionPass,
    conversion_table,
)
from xla_dialect.mlir_text import print_mlir
from xla_dialect.xdsl.text import MlirParser


def parse(text: str) -> tuple[Context, builtin.ModuleOp]:
    ctx = Context()
    for dialect in (builtin.Builtin, arith.Arith, func.Func, test.Test):
        ctx.load_dialect(dialect)
    return ctx, MlirParser(ctx, text, "input.mlir").parse_module()


def negate_by_subtraction(op: arith.NegfOp, builder: ConversionBuilder) -> None:
    zero = builder.insert(arith.ConstantOp(builtin.FloatAttr(-0.0, builtin.f32)))
    builder.replace(builder.insert(arith.SubfOp(zero, op.operand)).results)


def subtract_by_addition(op: arith.SubfOp, builder: ConversionBuilder) -> str | None:
    if op.lhs is op.rhs:
        return "the operands are the same"
    inner = builder.insert(arith.MulfOp(op.rhs, op.rhs))
    builder.replace(builder.insert(arith.AddfOp(op.lhs, inner)).results)
    return None


class Convert(ConversionPass):
    name = "convert-for-test"
    conversions = conversion_table(negate_by_subtraction, subtract_by_addition)
    illegal = ("test", arith.SubfOp, arith.NegfOp)


def test_what_a_conversion_makes_is_converted_too():
    ctx, module = parse("""
    func.func @main(%a: f32) -> f32 {
      %b = arith.negf %a : f32
      %c = arith.negf %b : f32 loc("input.mlir":4:6)
      func.return %c : f32
    }""")
    Convert().apply(ctx, module)
    assert [op.name for op in module.walk()] == [
        "builtin.module",
        "func.func",
        "arith.constant",
        "arith.mulf",
        "arith.addf",
        "arith.constant",
        "arith.mulf",
        "arith.addf",
        "func.return",
    ]
    module.verify()
    assert "%c" in print_mlir(module)
    locations = {
        op.name: op.location.line.data
        for op in module.walk()
        if isinstance(op.location, builtin.FileLineColLoc)
    }
    assert locations["arith.addf"] == 4


def test_regions_are_entered_after_their_operation():
    seen: list[str] = []

    def outer(op: test.TestOp, builder: ConversionBuilder) -> None:
        seen.append("outer")
        regions = [op.detach_region(region) for region in tuple(op.regions)]
        builder.replace(builder.insert(test.TestPureOp(regions=regions)).results)

    def inner(op: arith.NegfOp, builder: ConversionBuilder) -> None:
        parent = op.parent_op()
        assert parent is not None
        seen.append(f"inner of {parent.name}")
        builder.replace([op.operand])

    class Nested(ConversionPass):
        name = "nested"
        conversions = conversion_table(outer, inner)
        illegal = (test.TestOp, arith.NegfOp)

    ctx, module = parse("""
    func.func @main(%a: f32) {
      "test.op"() ({
        %b = arith.negf %a : f32
        "test.op"() ({
          %c = arith.negf %b : f32
        }) : () -> ()
      }) : () -> ()
      func.return
    }""")
    Nested().apply(ctx, module)
    assert seen == ["outer", "inner of test.pureop"] * 2


def test_the_error_names_every_leftover():
    ctx, module = parse("""
    func.func @main(%a: f32) -> f32 {
      %b = arith.subf %a, %a : f32 loc("input.mlir":3:6)
      "test.op"() : () -> () loc("input.mlir":4:6)
      "test.op"() : () -> () loc(fused[unknown, "here"("input.mlir":5:6)])
      func.return %b : f32
    }""")
    with pytest.raises(ConversionFailed) as error:
        Convert().apply(ctx, module)
    assert str(error.value) == (
        "convert-for-test: 3 operations are left unconverted\n"
        "  arith.subf: 1, input.mlir:3:6 (the operands are the same)\n"
        "  test.op: 2, input.mlir:4:6, input.mlir:5:6"
    )


def test_leftovers_without_a_location_are_placed_by_their_function():
    ctx = Context()
    function = func.FuncOp("f", ((), ()), Region(Block()))
    function.body.block.add_ops([test.TestOp() for _ in range(7)])
    with pytest.raises(ConversionFailed) as error:
        Convert().apply(ctx, builtin.ModuleOp([function]))
    assert str(error.value) == (
        "convert-for-test: 7 operations are left unconverted\n"
        "  test.op: 7, in @f, in @f, in @f, in @f, in @f, and 2 more"
    )
