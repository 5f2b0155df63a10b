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

// -----

// CHECK-LABEL:   func.func @complex_convolution(
// CHECK:           %[[XR:.*]] = xla.real
// CHECK-NEXT:      %[[XI:.*]] = xla.imag
// CHECK:           %[[KR:.*]] = xla.real
// CHECK-NEXT:      %[[KI:.*]] = xla.imag
// CHECK-NEXT:      %[[RR:.*]] = xla.convolution %[[XR]], %[[KR]] {{.*}} : (tensor<1x8x1xf32>, tensor<3x1x1xf32>) -> tensor<1x6x1xf32>
// CHECK-NEXT:      %[[II:.*]] = xla.convolution %[[XI]], %[[KI]]
// CHECK-NEXT:      %[[REAL:.*]] = xla.subtract %[[RR]], %[[II]] : tensor<1x6x1xf32>
// CHECK-NEXT:      %[[RI:.*]] = xla.convolution %[[XR]], %[[KI]]
// CHECK-NEXT:      %[[IR:.*]] = xla.convolution %[[XI]], %[[KR]]
// CHECK-NEXT:      %[[IMAG:.*]] = xla.add %[[RI]], %[[IR]] : tensor<1x6x1xf32>
// CHECK-NEXT:      %{{.*}} = xla.complex %[[REAL]], %[[IMAG]] : (tensor<1x6x1xf32>, tensor<1x6x1xf32>) -> tensor<1x6x1xcomplex<f32>>
func.func @complex_convolution(%x: tensor<1x8x1xcomplex<f32>>, %k: tensor<3x1x1xcomplex<f32>>) -> tensor<1x6x1xcomplex<f32>> {
  %convolved = xla.convolution %x, %k {window = #xla.window<size=3>, dim_labels = #xla.dim_labels<b0f_0io->b0f>} : (tensor<1x8x1xcomplex<f32>>, tensor<3x1x1xcomplex<f32>>) -> tensor<1x6x1xcomplex<f32>>
  func.return %convolved : tensor<1x6x1xcomplex<f32>>
}
