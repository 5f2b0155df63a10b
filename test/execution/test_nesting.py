"""Loops and branches that nest deeply, in a process with Python's usual recursion limit."""

import sys

import numpy as np
import pytest

import lowerings
from lowerings.driver.context import make_context
from lowerings.driver.program import load_program
from xla_dialect.mlir_text import print_mlir, read_mlir

LOOP = """
%one{d} = stablehlo.constant dense<1> : tensor<i32>
%zero{d} = stablehlo.constant dense<0> : tensor<i32>
%loop{d}:2 = "stablehlo.while"(%zero{d}, %in{d}) ({{
^bb0(%i{d}: tensor<i32>, %a{d}: tensor<3xf32>):
  %again{d} = stablehlo.compare LT, %i{d}, %one{d} : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.return %again{d} : tensor<i1>
}}, {{
^bb0(%j{d}: tensor<i32>, %in{next}: tensor<3xf32>):
  %next{d} = stablehlo.add %j{d}, %one{d} : tensor<i32>
"""
END_OF_LOOP = """
  %scaled{d} = stablehlo.subtract %out{next}, %in{next} : tensor<3xf32>
  stablehlo.return %next{d}, %scaled{d} : tensor<i32>, tensor<3xf32>
}}) : (tensor<i32>, tensor<3xf32>) -> (tensor<i32>, tensor<3xf32>)
%out{d} = stablehlo.add %loop{d}#1, %in{d} : tensor<3xf32>
"""
BRANCH = """
%first{d} = stablehlo.slice %in{d} [0:1] : (tensor<3xf32>) -> tensor<1xf32>
%x{d} = stablehlo.reshape %first{d} : (tensor<1xf32>) -> tensor<f32>
%half{d} = stablehlo.constant dense<0.5> : tensor<f32>
%is{d} = stablehlo.compare GT, %x{d}, %half{d} : (tensor<f32>, tensor<f32>) -> tensor<i1>
%out{d} = "stablehlo.if"(%is{d}) ({{
  %in{next} = stablehlo.sine %in{d} : tensor<3xf32>
"""
END_OF_BRANCH = """
  stablehlo.return %out{next} : tensor<3xf32>
}}, {{
  %else{d} = stablehlo.add %in{d}, %in{d} : tensor<3xf32>
  stablehlo.return %else{d} : tensor<3xf32>
}}) : (tensor<i1>) -> tensor<3xf32>
"""


def nested(begin: str, end: str, depth: int) -> str:
    """A program of regions in regions; innermost stands a cosine."""
    levels = [{"d": d, "next": d + 1} for d in range(depth)]
    return "\n".join(
        [
            "func.func @main(%in0: tensor<3xf32>) -> tensor<3xf32> {",
            *(begin.format(**level) for level in levels),
            f"%out{depth} = stablehlo.cosine %in{depth} : tensor<3xf32>",
            *(end.format(**level) for level in reversed(levels)),
            "return %out0 : tensor<3xf32>",
            "}",
        ]
    )


X = np.array([1.0, 0.25, -3.0], np.float32)


def looped(depth: int) -> np.ndarray:
    """One turn of each loop: what is inside, less its argument, and the argument again."""
    return np.cos(X)


def branched(depth: int) -> np.ndarray:
    """Sines until the first element is small."""
    values = X
    for _ in range(depth):
        if not values[0] > 0.5:
            return values + values
        values = np.sin(values)
    return np.cos(values)


KINDS = {
    "loops": (LOOP, END_OF_LOOP, looped),
    "branches": (BRANCH, END_OF_BRANCH, branched),
}


@pytest.mark.parametrize("backend", ["llvm", "interpreter", "reference"])
@pytest.mark.parametrize("kind", KINDS)
def test_deep_programs_run(kind: str, backend: str) -> None:
    begin, end, expected = KINDS[kind]
    before = sys.getrecursionlimit()
    for depth in (3, 200):
        text = nested(begin, end, depth)
        (found,) = lowerings.compile(text, backend=backend)(X)
        np.testing.assert_allclose(found, expected(depth), rtol=1e-5, atol=1e-4)
    assert sys.getrecursionlimit() == before


def test_deep_programs_print_and_parse() -> None:
    text = print_mlir(load_program(nested(LOOP, END_OF_LOOP, 200)))
    assert print_mlir(read_mlir(text, make_context())) == text
