"""Bytes that operations move because of layouts, counted by hand."""

import pytest
from laid_out_programs import bytes_moved
from xdsl.dialects.builtin import ModuleOp

from lowerings.driver.program import load_program
from lowerings.layouts.alignment import is_free_reshape, renamed_order, reshaped_order
from lowerings.layouts.memory_order import MemoryOrder
from lowerings.layouts.movement import (
    LAYOUT_RULES,
    bytes_read_apart,
    declared_order,
)
from lowerings.layouts.xla_expand_layouts import FAMILIES
from xla_dialect.builder import XlaBuilder
from xla_dialect.op import Ints
from xla_dialect.ops.data_movement import CopyOp, TransposeOp

COLUMN = ", #xla.layout<{0,1}>"


def module_of(line: str, result: str = "tensor<2x3xf32>") -> ModuleOp:
    """One operation `%r` of `%x` (row-major) and `%y` (column-major), both f32[2,3]."""
    return load_program(
        f"""
        func.func @main(%x: tensor<2x3xf32>, %y: tensor<2x3xf32{COLUMN}>, %i: tensor<i32>) -> {result} {{
          %zero = xla.constant dense<0.0> : tensor<f32>
          {line}
          func.return %r : {result}
        }}
        """,
        "mlir",
    )


X, Y = "tensor<2x3xf32>", f"tensor<2x3xf32{COLUMN}>"


@pytest.mark.parametrize(
    ("line", "result", "expected"),
    [
        (f"%r = xla.add %x, %x : {X}", X, 0),
        (f"%r = xla.add %y, %y : {Y}", Y, 0),
        (f"%r = xla.add %x, %y : ({X}, {Y}) -> {X}", X, 24),
        (f"%r = xla.add %x, %x : ({X}, {X}) -> {Y}", Y, 48),
        (f"%r = xla.copy %x : ({X}) -> {Y}", Y, 24),
        (f"%r = xla.copy %y : {Y}", Y, 0),
        (
            f"%r = xla.transpose %x {{dimensions = [1, 0]}} : ({X}) -> tensor<3x2xf32>",
            "tensor<3x2xf32>",
            24,
        ),
        (
            f"%r = xla.transpose %y {{dimensions = [1, 0]}} : ({Y}) -> tensor<3x2xf32>",
            "tensor<3x2xf32>",
            0,
        ),
        (f"%r = xla.reshape %x : ({X}) -> tensor<6xf32>", "tensor<6xf32>", 0),
        (f"%r = xla.reshape %y : ({Y}) -> tensor<6xf32>", "tensor<6xf32>", 24),
        (
            f"%r = xla.reshape %y : ({Y}) -> tensor<2x1x3xf32, #xla.layout<{{0,1,2}}>>",
            "tensor<2x1x3xf32, #xla.layout<{0,1,2}>>",
            0,
        ),
        (
            "%r = xla.dot %y, %x {lhs_contracting_dims = [1], rhs_contracting_dims = [1]} : "
            f"({Y}, {X}) -> tensor<2x2xf32{COLUMN}>",
            f"tensor<2x2xf32{COLUMN}>",
            0,
        ),
        (
            f"%r = xla.sort %y {{dimension = 0}} : {Y} to_apply (%a: tensor<f32>, %b: tensor<f32>) {{ "
            "%c = xla.compare %a, %b {direction = LT} : (tensor<f32>, tensor<f32>) -> tensor<i1> "
            "xla.return %c : tensor<i1> }",
            Y,
            0,
        ),
        (
            f"%r = xla.negate %x : ({X}) -> tensor<2x3xf32, #xla.layout<{{1,0:T(2,2)}}>>",
            "tensor<2x3xf32, #xla.layout<{1,0:T(2,2)}>>",
            24,
        ),
    ],
)
def test_bytes_of_one_operation(line: str, result: str, expected: int) -> None:
    assert bytes_moved(module_of(line, result)) == expected


def test_loops_count_once() -> None:
    line = f"""
      %r = xla.while %y : ({Y}) -> {X}
        condition (%c: {X}) {{
          %t = xla.constant dense<false> : tensor<i1>
          xla.return %t : tensor<i1>
        }}
        body (%b: {X}) {{
          %n = xla.negate %b : ({X}) -> {Y}
          xla.return %n : {Y}
        }}
    """
    # Once for the initial value, once inside, once for what the body returns.
    assert bytes_moved(module_of(line)) == 72


@pytest.mark.parametrize(
    ("operand", "sizes", "expected"),
    [("%y", "1, 3", 24), ("%y", "2, 1", 0), ("%x", "2, 1", 0), ("%x", "1, 3", 0)],
)
def test_rows_that_are_read_apart(operand: str, sizes: str, expected: int) -> None:
    type_ = X if operand == "%x" else Y
    result = f"tensor<{sizes.replace(', ', 'x')}xf32>"
    line = (
        f"%r = xla.dynamic_slice {operand}, %i, %i {{dynamic_slice_sizes = [{sizes}]}} : "
        f"({type_}, tensor<i32>, tensor<i32>) -> {result}"
    )
    module = module_of(line, result)
    assert bytes_moved(module) == 0
    found = [bytes_read_apart(op, declared_order) for op in module.walk()]
    assert sum(found) == expected


def test_what_is_computed_in_a_way_of_its_own_has_a_rule() -> None:
    """But for copies, which count as elementwise, and transposes, whose dimensions are related."""
    assert set(LAYOUT_RULES) == set(FAMILIES) - {CopyOp, TransposeOp}


@pytest.mark.parametrize(
    ("dimensions", "before", "after"),
    [((1, 0), (0, 1), (1, 0)), ((1, 2, 0), (2, 0, 1), (1, 2, 0))],
)
def test_orders_of_a_transpose(dimensions: Ints, before: Ints, after: Ints) -> None:
    sizes = ",".join(map(str, range(2, 2 + len(before))))
    b = XlaBuilder("transposed")
    module = b.build(b.transpose(b.parameter(0, f"f32[{sizes}]"), dimensions))
    (transpose,) = (op for op in module.walk() if isinstance(op, TransposeOp))
    assert renamed_order(transpose, MemoryOrder(before)) == MemoryOrder(after)


@pytest.mark.parametrize(
    ("before", "order", "after", "expected"),
    [
        ((2, 3), (0, 1), (6,), (0,)),
        ((2, 3), (1, 0), (6,), None),
        ((4, 6, 5), (2, 0, 1), (24, 5), (1, 0)),
        ((4, 6, 5), (1, 2, 0), (4, 30), (1, 0)),
        ((4, 6, 5), (2, 1, 0), (2, 2, 6, 5), (3, 2, 0, 1)),
        ((4, 1, 6), (2, 1, 0), (1, 4, 6, 1), (2, 0, 1, 3)),
        ((0, 3), (1, 0), (3, 0, 7), (0, 1, 2)),
        ((), (), (1, 1), (0, 1)),
    ],
)
def test_orders_of_a_reshape(
    before: tuple[int, ...],
    order: tuple[int, ...],
    after: tuple[int, ...],
    expected: tuple[int, ...] | None,
) -> None:
    found = reshaped_order(before, MemoryOrder(order), after)
    assert found == (None if expected is None else MemoryOrder(expected))
    if found is not None:
        assert is_free_reshape(before, MemoryOrder(order), after, found)
