"""Attributes that no operation defines are kept, with the operation that they stand at."""

import re
from dataclasses import replace

import pytest
from stablehlo_operations import USES
from stablehlo_uses import F, Use

from xla_dialect.stablehlo import read_stablehlo
from xla_dialect.stablehlo.writing import print_stablehlo

GIVEN = 'xla_shape = "f32[2,3]{0,1}"'

# Tuples are taken apart.
TAKEN_APART = ("stablehlo.tuple", "stablehlo.get_tuple_element")


@pytest.mark.parametrize("use", USES, ids=[f"{i}-{use.name}" for i, use in enumerate(USES)])
def test_of_every_operation(use: Use) -> None:
    module = read_stablehlo(replace(use, discardable=GIVEN).text())
    if use.name == "chlo.conj" and use.operands == (F,):
        return  # It is its operand.
    assert str(module).count(GIVEN) == 1
    written = print_stablehlo(module)
    assert written.count(GIVEN) == (use.name not in TAKEN_APART)
    assert print_stablehlo(read_stablehlo(written)) == written


PROGRAM = """module attributes {mode = 1 : i32} {
  func.func @main(%a: tensor<2xf32> {name = "a"}) -> (tensor<2xf32> {name = "b"}) attributes {inline} {
    %0 = stablehlo.tanh %a {result_acuracy = 2 : i64} : tensor<2xf32>
    %1 = call @f(%0) {level = 3 : i32} : (tensor<2xf32>) -> tensor<2xf32>
    return %1 : tensor<2xf32>
  }
  func.func private @f(%a: tensor<2xf32>) -> tensor<2xf32> {
    return %a : tensor<2xf32>
  }
}
"""


def test_of_functions_arguments_and_modules() -> None:
    with pytest.warns(
        UserWarning, match=re.escape("f.mlir:3:10: stablehlo.tanh: attribute")
    ) as seen:
        assert print_stablehlo(read_stablehlo(PROGRAM, "f.mlir")) == PROGRAM
    assert [str(each.message).partition("; ")[2] for each in seen] == [
        "did you mean 'result_accuracy'?"
    ]
