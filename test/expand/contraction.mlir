// RUN: xla-opt %s -p xla-expand-compound --split-input-file | filecheck %s

// xla-update-checks: CHECK @ragged_dot filter=xla\.(while|dynamic_slice|dot|dynamic_update_slice)|func.return
// CHECK-LABEL:   func.func @ragged_dot(%m: tensor<5x3xf32>, %r: tensor<2x3x4xf32>, %g: tensor<2xi32>) -> tensor<5x4xf32> {
// CHECK:           %{{.*}}, %groups = xla.while %{{.*}}, %{{.*}} : (tensor<i64>, tensor<5x4xf32>) -> (tensor<i64>, tensor<5x4xf32>) condition (%turn: tensor<i64>, %_found: tensor<5x4xf32>) {
// CHECK:             %{{.*}} = xla.dynamic_slice %r, %[[REMAINDER:.*]], %{{.*}}, %{{.*}} {dynamic_slice_sizes = [1, 3, 4]} : (tensor<2x3x4xf32>, tensor<i64>, tensor<i64>, tensor<i64>) -> tensor<1x3x4xf32>
// CHECK:             %{{.*}} = xla.dynamic_slice %{{.*}}, %[[DIVIDE:.*]], %[[REMAINDER]] {dynamic_slice_sizes = [1, 1]} : (tensor<1x2xi64>, tensor<i64>, tensor<i64>) -> tensor<1x1xi64>
// CHECK:             %{{.*}} = xla.dynamic_slice %{{.*}}, %[[DIVIDE]], %[[REMAINDER]] {dynamic_slice_sizes = [1, 1]} : (tensor<1x2xi64>, tensor<i64>, tensor<i64>) -> tensor<1x1xi64>
// CHECK:             %{{.*}}, %{{.*}} = xla.while %{{.*}}, %found : (tensor<i64>, tensor<5x4xf32>) -> (tensor<i64>, tensor<5x4xf32>) condition (%row: tensor<i64>, %{{.*}}: tensor<5x4xf32>) {
// CHECK:               %[[DYNAMIC_SLICE:.*]] = xla.dynamic_slice %m, %[[MINIMUM:.*]], %{{.*}} {dynamic_slice_sizes = [5, 3]} : (tensor<5x3xf32>, tensor<i64>, tensor<i64>) -> tensor<5x3xf32>
// CHECK-NEXT:          %{{.*}} = xla.dot %[[DYNAMIC_SLICE]], %{{.*}} {lhs_contracting_dims = [1], rhs_contracting_dims = [0]} : (tensor<5x3xf32>, tensor<3x4xf32>) -> tensor<5x4xf32>
// CHECK:               %{{.*}} = xla.dynamic_slice %[[ARG:.*]], %[[MINIMUM]], %{{.*}} {dynamic_slice_sizes = [5, 4]} : (tensor<5x4xf32>, tensor<i64>, tensor<i64>) -> tensor<5x4xf32>
// CHECK:               %{{.*}} = xla.dynamic_update_slice %[[ARG]], %{{.*}}, %[[MINIMUM]], %{{.*}} : (tensor<5x4xf32>, tensor<5x4xf32>, tensor<i64>, tensor<i64>) -> tensor<5x4xf32>
// CHECK:           func.return %groups : tensor<5x4xf32>
func.func @ragged_dot(%m: tensor<5x3xf32>, %r: tensor<2x3x4xf32>, %g: tensor<2xi32>) -> tensor<5x4xf32> {
  %groups = xla.ragged_dot %m, %r, %g {lhs_contracting_dims = [1], rhs_contracting_dims = [1], lhs_ragged_dims = [0], rhs_group_dims = [0]} : (tensor<5x3xf32>, tensor<2x3x4xf32>, tensor<2xi32>) -> tensor<5x4xf32>
  func.return %groups : tensor<5x4xf32>
}

// -----

// xla-update-checks: CHECK @scaled_dot filter=xla\.(?!constant|broadcast|return|iota|convert|get_tuple)|func.return
// CHECK-LABEL:   func.func @scaled_dot(%m: tensor<5x3xf32>, %s: tensor<1x3xf8E8M0FNU>, %t: tensor<f8E8M0FNU>) -> tensor<3x3xf32> {
// CHECK:           %[[RESHAPE:.*]] = xla.reshape %{{.*}} : (tensor<1x5x3x1xf32>) -> tensor<5x3xf32>
// CHECK-NEXT:      %[[MULTIPLY:.*]] = xla.multiply %{{.*}}, %[[RESHAPE]] : tensor<5x3xf32>
// CHECK:           %{{.*}} = xla.dot %[[MULTIPLY]], %{{.*}} {lhs_contracting_dims = [0], rhs_contracting_dims = [0]} : (tensor<5x3xf32>, tensor<5x3xf32>) -> tensor<3x3xf32>
// CHECK:           func.return %scaled : tensor<3x3xf32>
func.func @scaled_dot(%m: tensor<5x3xf32>, %s: tensor<1x3xf8E8M0FNU>, %t: tensor<f8E8M0FNU>) -> tensor<3x3xf32> {
  %scaled = xla.scaled_dot %m, %m, %s, %t {lhs_contracting_dims = [0], rhs_contracting_dims = [0]} : (tensor<5x3xf32>, tensor<5x3xf32>, tensor<1x3xf8E8M0FNU>, tensor<f8E8M0FNU>) -> tensor<3x3xf32>
  func.return %scaled : tensor<3x3xf32>
}
