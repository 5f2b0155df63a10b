// RUN: xla-opt %s -p linalg-fold-transposes | filecheck %s

#id2 = affine_map<(d0, d1) -> (d0, d1)>
#swap = affine_map<(d0, d1) -> (d1, d0)>

// A transpose of a contraction is the order in which that writes.
// CHECK-LABEL: @transposed
// CHECK:         linalg.fill {{.*}} -> tensor<5x4xf32>
// CHECK:         linalg.generic
// CHECK-SAME:      affine_map<(d0, d1, d2) -> (d1, d0)>], iterator_types = ["parallel", "parallel", "reduction"]}
// CHECK-NOT:     linalg.generic
func.func @transposed(%x: tensor<4x3xf32>, %y: tensor<3x5xf32>) -> tensor<5x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x5xf32>
  %t = tensor.empty() : tensor<5x4xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<4x5xf32>) -> tensor<4x5xf32>
  %dot = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<4x3xf32>, tensor<3x5xf32>) outs(%init : tensor<4x5xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<4x5xf32>
  %r = linalg.generic {indexing_maps = [#swap, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%dot : tensor<4x5xf32>) outs(%t : tensor<5x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<5x4xf32>
  func.return %r : tensor<5x4xf32>
}

// Another use needs the result as it was; and what is not a fill has elements in an order of its own.
// CHECK-LABEL: @kept
// CHECK-COUNT-4: linalg.generic
func.func @kept(%x: tensor<4x5x3xf32>, %e: tensor<4x5xf32>, %t: tensor<5x4xf32>) -> (tensor<4x5xf32>, tensor<5x4xf32>, tensor<5x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<4x5xf32>) -> tensor<4x5xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x : tensor<4x5x3xf32>) outs(%init : tensor<4x5xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %o, %a : f32
    linalg.yield %r : f32
  } -> tensor<4x5xf32>
  %u = linalg.generic {indexing_maps = [#swap, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%s : tensor<4x5xf32>) outs(%t : tensor<5x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<5x4xf32>
  %v = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x : tensor<4x5x3xf32>) outs(%e : tensor<4x5xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %o, %a : f32
    linalg.yield %r : f32
  } -> tensor<4x5xf32>
  %w = linalg.generic {indexing_maps = [#swap, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%v : tensor<4x5xf32>) outs(%t : tensor<5x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<5x4xf32>
  func.return %s, %u, %w : tensor<4x5xf32>, tensor<5x4xf32>, tensor<5x4xf32>
}
