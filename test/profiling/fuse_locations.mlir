// RUN: xla-opt %s -p linalg-fuse-locations --print-debuginfo | filecheck %s

// Each location once, that of the operation first; that of the terminator says nothing.

#row = affine_map<(d0) -> (d0)>

// CHECK: linalg.yield
// CHECK: } -> tensor<8xf32> loc(fused["a.py":1:0, "b.py":2:0])
// CHECK: } -> tensor<8xf32> loc("c.py":3:0)
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = linalg.generic {indexing_maps = [#row], iterator_types = ["parallel"]} outs(%x : tensor<8xf32>) {
  ^bb0(%p: f32):
    %s = arith.negf %p : f32 loc("b.py":2:0)
    %t = arith.addf %s, %p : f32 loc("a.py":1:0)
    %u = arith.addf %s, %t : f32 loc("b.py":2:0)
    linalg.yield %u : f32
  } -> tensor<8xf32> loc("a.py":1:0)
  %1 = linalg.generic {indexing_maps = [#row], iterator_types = ["parallel"]} outs(%0 : tensor<8xf32>) {
  ^bb0(%p: f32):
    %s = arith.negf %p : f32 loc("c.py":3:0)
    linalg.yield %s : f32
  } -> tensor<8xf32> loc("c.py":3:0)
  func.return %1 : tensor<8xf32>
}
