// RUN: xla-opt %s -p convert-xla-to-linalg --split-input-file | filecheck %s

// xla-update-checks: CHECK @clamp
// CHECK-LABEL:   func.func @clamp(%low: tensor<f32>, %x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
// CHECK-NEXT:      %[[EMPTY:.*]] = tensor.empty() : tensor<2xf32>
// CHECK-NEXT:      %clamped = linalg.generic {indexing_maps = [affine_map<(d0) -> ()>,
// CHECK-SAME:        affine_map<(d0) -> (d0)>,
// CHECK-SAME:        affine_map<(d0) -> (d0)>,
// CHECK-SAME:        affine_map<(d0) -> (d0)>],
// CHECK-SAME:        iterator_types = ["parallel"]}
// CHECK-SAME:        ins(%low, %x, %y : tensor<f32>, tensor<2xf32>, tensor<2xf32>) outs(%[[EMPTY]] : tensor<2xf32>) {
// CHECK-NEXT:      ^bb0(%[[ARG:.*]]: f32, %[[ARG_1:.*]]: f32, %[[ARG_2:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:        %[[MAXIMUMF:.*]] = arith.maximumf %[[ARG]], %[[ARG_1]] : f32
// CHECK-NEXT:        %[[MINIMUMF:.*]] = arith.minimumf %[[MAXIMUMF]], %[[ARG_2]] : f32
// CHECK-NEXT:        linalg.yield %[[MINIMUMF]] : f32
// CHECK-NEXT:      } -> tensor<2xf32>
// CHECK-NEXT:      func.return %clamped : tensor<2xf32>
// CHECK-NEXT:    }
func.func @clamp(%low: tensor<f32>, %x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
  %clamped = xla.clamp %low, %x, %y : (tensor<f32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %clamped : tensor<2xf32>
}

// -----

// xla-update-checks: CHECK @select
// CHECK-LABEL:   func.func @select(%p: tensor<2xi1>, %x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
// CHECK-NEXT:      %[[EMPTY:.*]] = tensor.empty() : tensor<2xf32>
// CHECK-NEXT:      %chosen = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>,
// CHECK-SAME:        affine_map<(d0) -> (d0)>,
// CHECK-SAME:        affine_map<(d0) -> (d0)>,
// CHECK-SAME:        affine_map<(d0) -> (d0)>],
// CHECK-SAME:        iterator_types = ["parallel"]}
// CHECK-SAME:        ins(%p, %x, %y : tensor<2xi1>, tensor<2xf32>, tensor<2xf32>) outs(%[[EMPTY]] : tensor<2xf32>) {
// CHECK-NEXT:      ^bb0(%[[ARG:.*]]: i1, %[[ARG_1:.*]]: f32, %[[ARG_2:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:        %[[SELECT:.*]] = arith.select %[[ARG]], %[[ARG_1]], %[[ARG_2]] : f32
// CHECK-NEXT:        linalg.yield %[[SELECT]] : f32
// CHECK-NEXT:      } -> tensor<2xf32>
// CHECK-NEXT:      func.return %chosen : tensor<2xf32>
// CHECK-NEXT:    }
func.func @select(%p: tensor<2xi1>, %x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
  %chosen = xla.select %p, %x, %y : (tensor<2xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %chosen : tensor<2xf32>
}

// -----

// xla-update-checks: CHECK @select_by_scalar
// CHECK-LABEL:   func.func @select_by_scalar(%q: tensor<i1>, %x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
// CHECK-NEXT:      %[[EMPTY:.*]] = tensor.empty() : tensor<2xf32>
// CHECK-NEXT:      %one_of_two = linalg.generic {indexing_maps = [affine_map<(d0) -> ()>,
// CHECK-SAME:        affine_map<(d0) -> (d0)>,
// CHECK-SAME:        affine_map<(d0) -> (d0)>,
// CHECK-SAME:        affine_map<(d0) -> (d0)>],
// CHECK-SAME:        iterator_types = ["parallel"]}
// CHECK-SAME:        ins(%q, %x, %y : tensor<i1>, tensor<2xf32>, tensor<2xf32>) outs(%[[EMPTY]] : tensor<2xf32>) {
// CHECK-NEXT:      ^bb0(%[[ARG:.*]]: i1, %[[ARG_1:.*]]: f32, %[[ARG_2:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:        %[[SELECT:.*]] = arith.select %[[ARG]], %[[ARG_1]], %[[ARG_2]] : f32
// CHECK-NEXT:        linalg.yield %[[SELECT]] : f32
// CHECK-NEXT:      } -> tensor<2xf32>
// CHECK-NEXT:      func.return %one_of_two : tensor<2xf32>
// CHECK-NEXT:    }
func.func @select_by_scalar(%q: tensor<i1>, %x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
  %one_of_two = xla.select %q, %x, %y : (tensor<i1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %one_of_two : tensor<2xf32>
}
