"""What FileCheck cannot say about planning memory and outlining kernels."""

import pytest
from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import (
    ComplexType,
    IndexType,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    NoneType,
    bf16,
    f32,
    f64,
)
from xdsl.utils.exceptions import PassFailedException

from lowerings.bufferize.strided import element_bytes
from lowerings.bufferize.xla_bufferize import XlaBufferizePass
from lowerings.bufferize.xla_outline_kernels import XlaOutlineKernelsPass
from lowerings.bufferize.xla_plan_buffers import XlaPlanBuffersPass
from lowerings.driver.context import make_context
from xla_dialect.xdsl.text import MlirParser


def parse(text: str) -> tuple[Context, ModuleOp]:
    ctx = make_context()
    return ctx, MlirParser(ctx, text).parse_module()


def test_functions_that_call_themselves_have_no_bound():
    ctx, module = parse("""
    func.func private @f() {
      func.call @g() : () -> ()
      func.return
    }
    func.func private @g() {
      func.call @f() : () -> ()
      func.return
    }""")
    with pytest.raises(PassFailedException, match="@f calls itself"):
        XlaPlanBuffersPass().apply(ctx, module)


def test_memory_beyond_all_addresses_is_an_error():
    ctx, module = parse("""
    func.func @main() attributes {xla.entry} {
      %a = memref.alloc() : memref<4294967296x4294967296xf32>
      func.return
    }""")
    with pytest.raises(PassFailedException, match="@main take 73786976294838206464 bytes"):
        XlaPlanBuffersPass().apply(ctx, module)


@pytest.mark.parametrize(
    ("type", "size"),
    [
        (IntegerType(1), 1),
        (IntegerType(4), 1),
        (IntegerType(8), 1),
        (IntegerType(24), 4),
        (IntegerType(64), 8),
        (IndexType(), 8),
        (bf16, 2),
        (f32, 4),
        (ComplexType(f64), 16),
        (NoneType(), None),
    ],
    ids=str,
)
def test_element_bytes(type, size):
    assert element_bytes(type) == size


LAYER = """
  %e{0} = tensor.empty() : tensor<64x64xf32>
  %f{0} = linalg.fill ins(%zero : f32) outs(%e{0} : tensor<64x64xf32>) -> tensor<64x64xf32>
  %w{0} = tensor.extract_slice %w[{0}, 0, 0][1, 64, 64][1, 1, 1]
    : tensor<12x64x64xf32> to tensor<64x64xf32>
  %m{0} = linalg.generic {{indexing_maps = [#a, #b, #c],
      iterator_types = ["parallel", "parallel", "reduction"]}}
      ins(%x{0}, %w{0} : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f{0} : tensor<64x64xf32>) {{
  ^bb0(%p: f32, %q: f32, %r: f32):
    %s = arith.mulf %p, %q : f32
    %t = arith.addf %r, %s : f32
    linalg.yield %t : f32
  }} -> tensor<64x64xf32>
  %x{1} = linalg.exp ins(%m{0} : tensor<64x64xf32>) outs(%e{0} : tensor<64x64xf32>)
    -> tensor<64x64xf32>
"""


def test_twelve_equal_layers_are_about_one():
    """The kernels of all layers but the first, whose weight has no offset, are shared."""
    layers = "".join(LAYER.format(n, n + 1) for n in range(12))
    ctx, module = parse(f"""
    #a = affine_map<(d0, d1, d2) -> (d0, d2)>
    #b = affine_map<(d0, d1, d2) -> (d2, d1)>
    #c = affine_map<(d0, d1, d2) -> (d0, d1)>
    func.func @main(%x0: tensor<64x64xf32>, %w: tensor<12x64x64xf32>) -> tensor<64x64xf32> {{
      %zero = arith.constant 0.0 : f32
      {layers}
      func.return %x12 : tensor<64x64xf32>
    }}""")
    for step in (XlaBufferizePass(), XlaOutlineKernelsPass(), XlaPlanBuffersPass()):
        step.apply(ctx, module)
    module.verify()
    kernels = [
        op.sym_name.data
        for op in module.ops
        if isinstance(op, func.FuncOp) and "xla.kernel" in op.attributes
    ]
    assert kernels == ["contraction_kernel_0", "exp_kernel_1", "contraction_kernel_2"]
    calls = [op for op in module.walk() if isinstance(op, func.CallOp)]
    assert len(calls) == 24
    main = next(op for op in module.ops if isinstance(op, func.FuncOp))
    arena = main.attributes["xla.arena_bytes"]
    assert isinstance(arena, IntegerAttr)
    # The output of one layer and the product of the next, one of them in the result.
    assert arena.value.data == 64 * 64 * 4


def outlined(body: str, attributes: str = "") -> int:
    """How many kernels `%a - %b` and an operation with this body make together."""
    ctx, module = parse(f"""
    #id = affine_map<(d0) -> (d0)>
    func.func @main(%x: memref<4xi32>, %y: memref<4xi32>, %z: memref<4xi32>)
        attributes {{xla.entry}} {{
      linalg.generic {{indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}}
          ins(%x, %y : memref<4xi32>, memref<4xi32>) outs(%z : memref<4xi32>) {{
      ^bb0(%a: i32, %b: i32, %c: i32):
        %d = arith.subi %a, %b : i32
        linalg.yield %d : i32
      }}
      linalg.generic {{indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}}
          ins(%y, %z : memref<4xi32>, memref<4xi32>) outs(%x : memref<4xi32>) {attributes} {{
      ^bb0(%a: i32, %b: i32, %c: i32):
        {body}
        linalg.yield %d : i32
      }}
      func.return
    }}""")
    XlaOutlineKernelsPass().apply(ctx, module)
    return sum(isinstance(op, func.FuncOp) for op in module.ops) - 1


def test_kernels_are_equal_if_they_do_the_same():
    assert outlined("%d = arith.subi %a, %b : i32") == 1
    assert outlined("%d = arith.subi %b, %a : i32") == 2
    assert outlined("%d = arith.subi %a, %c : i32") == 2
    assert outlined("%d = arith.subi %a, %b overflow<nsw> : i32") == 2
    assert outlined("%d = arith.muli %a, %b : i32") == 2
    assert outlined("%d = arith.subi %a, %b : i32", "attrs = {kept}") == 2
