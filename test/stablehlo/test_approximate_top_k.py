"""`@ApproxTopK`, as JAX prints `approx_max_k` and `approx_min_k`; against XLA in `jax_programs`."""

import numpy as np
import pytest

import lowerings
from xla_dialect.diagnostics import LocatedError
from xla_dialect.stablehlo import read_stablehlo

CONFIGURATION = {
    "aggregate_to_topk": "true",
    "is_fallback": "true",
    "recall_target": "0.95 : f32",
    "reduction_dim": "1 : i64",
    "reduction_input_size_override": "-1 : i64",
    "top_k": "2 : i64",
}


def program(
    operands: str = "%x, %i, %c, %d",
    result: str = "2x2x",
    called: str = "[@largest]",
    **changes: str,
) -> str:
    configuration = ", ".join(
        f"{name} = {value}" for name, value in {**CONFIGURATION, **changes}.items() if value
    )
    types = {"%x": "2x4xf32", "%i": "2x4xi32", "%c": "f32", "%d": "i32"}
    given = ", ".join(f"tensor<{types[name]}>" for name in operands.split(", "))
    results = f"tensor<{result}f32>, tensor<{result}i32>"
    return f"""
func.func @largest(%a: tensor<f32>, %b: tensor<f32>, %m: tensor<i32>, %n: tensor<i32>)
    -> tensor<i1> {{
  %0 = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
  stablehlo.return %0 : tensor<i1>
}}
func.func @main(%x: tensor<2x4xf32>, %i: tensor<2x4xi32>) -> ({results}) {{
  %c = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %d = stablehlo.constant dense<-1> : tensor<i32>
  %0:2 = stablehlo.custom_call @ApproxTopK({operands}) {{backend_config = "",
    called_computations = {called}, mhlo.backend_config = {{{configuration}}}}}
    : ({given}) -> ({results})
  return %0#0, %0#1 : {results}
}}
"""


X = np.array([[3, 1, np.inf, 2], [-1, -np.inf, -4, 0]], np.float32)
PLACES = np.arange(8, dtype=np.int32).reshape(2, 4)


@pytest.mark.parametrize("backend", ["reference", "llvm"])
def test_the_answer_is_exact(backend: str) -> None:
    values, places = lowerings.compile(program(), backend=backend)(X, PLACES)
    assert values.tolist() == [[np.inf, 3], [0, -1]]
    assert places.tolist() == [[2, 0], [7, 4]]


@pytest.mark.parametrize("backend", ["reference", "llvm"])
def test_candidates_are_as_many_as_the_program_wants(backend: str) -> None:
    text = program(result="2x4x", aggregate_to_topk="false")
    _, places = lowerings.compile(text, backend=backend)(X, PLACES)
    assert places.tolist() == [[2, 0, 3, 1], [7, 4, 6, 5]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (program(reduction_dim="2 : i64"), "reduction_dim is 2, the arrays have 2 dimensions"),
        (program(reduction_dim="-1 : i64"), "reduction_dim is -1, the arrays have 2 dimensions"),
        (program(top_k=""), "top_k of its configuration is None, not a number"),
        (program(top_k='"2"'), 'top_k of its configuration is "2", not a number'),
        (program(top_k="5 : i64"), "keeps 5 of the 4 elements of dimension 1"),
        (program(result="2x3x"), "the result for tensor<2x4xf32> is tensor<2x3xf32>, expected"),
        (program("%x, %i, %c"), "takes arrays and as many initial values"),
        (program(called="[]"), "names one comparator as its called computation"),
        (program(called="[@smallest]"), "there is no function @smallest with static types"),
        (program().replace("mhlo.backend_config", "mhlo.config"), "its configuration is missing"),
        (program().replace("%m: tensor<i32>, %n", "%m: tensor<i32>, %k: tensor<i32>, %n"), "sort"),
    ],
)
def test_what_is_wrong(text: str, message: str) -> None:
    with pytest.raises(LocatedError, match=r"<input>:\d+:\d+: error: ") as caught:
        read_stablehlo(text)
    assert message in str(caught.value)
