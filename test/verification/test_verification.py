"""What a verified module rules out beyond single operations, and where errors point."""

import pytest
from xdsl.dialects.builtin import ModuleOp

from lowerings.driver.context import make_context
from xla_dialect.mlir_text import MlirSyntaxError, read_mlir
from xla_dialect.verification import InvalidProgram, verify

FILE = "program.mlir"


def read(body: str) -> ModuleOp:
    return read_mlir(body, make_context(), FILE)


def failure(body: str) -> InvalidProgram:
    with pytest.raises(InvalidProgram) as caught:
        verify(read(body), {FILE: body})
    return caught.value


def test_use_before_definition_is_rejected() -> None:
    error = failure(
        "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
        "  %y = xla.add %x, %z : tensor<4xf32>\n"
        "  %z = xla.add %x, %x : tensor<4xf32>\n"
        "  func.return %y : tensor<4xf32>\n"
        "}\n"
    )
    assert (error.line, error.column) == (2, 3)
    assert "operand %z is used before it is defined" in error.message
    assert str(error).splitlines()[0].startswith("program.mlir:2:3: error: xla.add:")
    assert str(error).splitlines()[2] == "  ^"


def test_values_of_a_region_are_not_visible_after_it() -> None:
    body = (
        "func.func @main(%p: tensor<i1>) -> tensor<f32> {\n"
        "  %c = xla.conditional %p : (tensor<i1>) -> tensor<f32> branch () {\n"
        "    %a = xla.constant dense<1.0> : tensor<f32>\n"
        "    xla.return %a : tensor<f32>\n"
        "  } branch () {\n"
        "    %b = xla.negate %a : tensor<f32>\n"
        "    xla.return %b : tensor<f32>\n"
        "  }\n"
        "  func.return %c : tensor<f32>\n"
        "}\n"
    )
    with pytest.raises(MlirSyntaxError, match="value %a is not defined") as caught:
        read(body)
    assert (caught.value.line, caught.value.column) == (6, 21)


def test_regions_see_values_from_around_them() -> None:
    verify(
        read(
            "func.func @main(%p: tensor<i1>, %x: tensor<f32>) -> tensor<f32> {\n"
            "  %c = xla.conditional %p : (tensor<i1>) -> tensor<f32> branch () {\n"
            "    xla.return %x : tensor<f32>\n"
            "  } branch () {\n"
            "    %b = xla.negate %x : tensor<f32>\n"
            "    xla.return %b : tensor<f32>\n"
            "  }\n"
            "  func.return %c : tensor<f32>\n"
            "}\n"
        )
    )


CALLEE = (
    "func.func private @f(%a: tensor<4xf32>) -> tensor<4xf32> {\n"
    "  func.return %a : tensor<4xf32>\n"
    "}\n"
)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("xla.call %x {to_apply = @g} : tensor<4xf32>", "(C1) there is no function @g"),
        (
            "xla.call %x, %x {to_apply = @f} : tensor<4xf32>",
            "(C1) 2 operands for 1 parameters of @f",
        ),
        (
            "xla.call %i {to_apply = @f} : (tensor<4xi32>) -> tensor<4xf32>",
            "(C2) operands (s32[4]), parameters of @f (f32[4])",
        ),
        (
            "xla.call %x {to_apply = @f} : (tensor<4xf32>) -> tensor<4xi32>",
            "(Result) declared (s32[4]), @f returns (f32[4])",
        ),
    ],
)
def test_calls_agree_with_their_functions(call: str, expected: str) -> None:
    error = failure(
        CALLEE
        + "func.func @main(%x: tensor<4xf32>, %i: tensor<4xi32>) {\n"
        + f"  %y = {call}\n  func.return\n}}\n"
    )
    assert expected in error.message
    assert error.line == 5


def test_recursion_is_rejected() -> None:
    error = failure(
        "func.func @f(%x: tensor<f32>) -> tensor<f32> {\n"
        "  %y = xla.call %x {to_apply = @g} : tensor<f32>\n"
        "  func.return %y : tensor<f32>\n"
        "}\n"
        "func.func @g(%x: tensor<f32>) -> tensor<f32> {\n"
        "  %y = xla.call %x {to_apply = @f} : tensor<f32>\n"
        "  func.return %y : tensor<f32>\n"
        "}\n"
    )
    assert "@f -> @g -> @f" in error.message


def test_shapes_beyond_64_bits_are_rejected() -> None:
    error = failure(
        "func.func @main(%x: tensor<f32>) {\n"
        "  %y = xla.broadcast %x : (tensor<f32>) -> tensor<4294967296x4294967296xf32>\n"
        "  func.return\n"
        "}\n"
    )
    assert "(Size)" in error.message


def test_layouts_are_checked_against_shapes() -> None:
    error = failure(
        "func.func @main(%x: tensor<2x3xf32>) {\n"
        "  %y = xla.copy %x : (tensor<2x3xf32>) -> tensor<2x3xf32, #xla.layout<{0,0}>>\n"
        "  func.return\n"
        "}\n"
    )
    assert "(C1) minor_to_major {0,0} is no permutation of the 2 dimensions" in error.message


def test_text_that_is_no_mlir_points_at_the_place() -> None:
    text = (
        "func.func @main(%x: tensor<4xf32>) {\n  %y = xla.ad %x, %x : tensor<4xf32>\n"
        "  func.return\n}"
    )
    with pytest.raises(MlirSyntaxError) as caught:
        read(text)
    assert caught.value.line == 2
    assert "xla.ad" in caught.value.message


def test_deep_nesting_is_an_error_not_a_crash() -> None:
    with pytest.raises(MlirSyntaxError, match="nested too deeply"):
        read('"builtin.module"() ({' * 5000)


def test_a_function_uses_no_value_from_outside() -> None:
    module = read(
        "func.func @main(%x: tensor<f32>) -> tensor<f32> {\n  func.return %x : tensor<f32>\n}\n"
        "func.func @other(%y: tensor<f32>) -> tensor<f32> {\n  func.return %y : tensor<f32>\n}\n"
    )
    main, other = module.ops
    (leaving,) = other.regions[0].block.ops
    leaving.operands[0] = main.regions[0].block.args[0]
    with pytest.raises(InvalidProgram, match="operand %x is defined outside"):
        verify(module)
