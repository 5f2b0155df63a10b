"""The signature of a function, as its user sees it."""

import re

import ml_dtypes
import numpy as np
import pytest
from loops_level import context
from xdsl.dialects.func import FuncOp

from lowerings.execution.function_signature import signature_of
from lowerings.execution.signature import ArraySpec
from lowerings.layouts.memory_order import MemoryOrder
from xla_dialect.diagnostics import XlaError
from xla_dialect.xdsl.text import MlirParser


def function(header: str) -> FuncOp:
    """The function with this header; without a body where it has no argument names."""
    module = MlirParser(context(), header).parse_module()
    (op,) = module.ops
    assert isinstance(op, FuncOp)
    return op


def test_arrays_and_tuples():
    signature = signature_of(
        function(
            """
            func.func @f(%x: tensor<8x16xf32>, %state: tuple<tensor<ui8>, tuple<tensor<2xi1>>>)
                -> (tensor<8xbf16>, tuple<tensor<i32>, tensor<0xcomplex<f32>>>) {
              %r = "test.op"() : () -> tensor<8xbf16>
              %s = "test.op"() : () -> tuple<tensor<i32>, tensor<0xcomplex<f32>>>
              func.return %r, %s : tensor<8xbf16>, tuple<tensor<i32>, tensor<0xcomplex<f32>>>
            }
            """
        )
    )
    assert str(signature) == (
        "f(%x: f32[8,16], %state.0: u8[], %state.1.0: pred[2]) -> (bf16[8], s32[], c64[0])"
    )
    assert [each.dtype for each in signature.parameters] == [np.float32, np.uint8, np.bool_]
    assert [each.byte_size for each in signature.parameters] == [512, 1, 2]
    assert signature.results[0].dtype == ml_dtypes.bfloat16


def test_parameters_without_names():
    declared = signature_of(
        function("func.func private @g(tensor<f32>, tensor<2xi4>) -> tensor<f64>")
    )
    assert str(declared) == "g(%arg0: f32[], %arg1: s4[2]) -> (f64[])"


def test_layouts_that_move_elements_are_kept():
    header = """
    func.func private @g(tensor<2x3xf32, #xla.layout<{0,1}>>, tensor<2x3xf32, #xla.layout<{1,0:S(1)}>>,
                         tensor<1x3xf32, #xla.layout<{0,1}>>, tensor<3x5xf32, #xla.layout<{1,0:T(2,2)}>>,
                         tensor<2x3xf32, #xla.layout<{1,0:SC(1:2)}>>)
    """
    signature = signature_of(function(header))
    plain = ArraySpec.of("f32", 2, 3)
    orders = [each.order for each in signature.parameters]
    assert orders == [MemoryOrder((1, 0)), None, None, MemoryOrder((0, 1), ((2, 2),)), None]
    assert signature.parameters[1] == signature.parameters[4] == plain
    in_memory = signature.in_memory
    assert [each.shape for each in in_memory.parameters[::3]] == [(3, 2), (2, 3, 2, 2)]
    assert in_memory.in_memory is in_memory


@pytest.mark.parametrize(
    ("type_", "message"),
    [
        ("tensor<?xf32>", "@g: parameter 0: f32[?] has sizes that are not known"),
        ("memref<2xf32>", "@g: parameter 0: memref<2xf32> cannot be passed as an array"),
    ],
)
def test_what_is_no_array(type_: str, message: str):
    with pytest.raises(XlaError, match=re.escape(message)):
        signature_of(function(f"func.func private @g({type_})"))
