// RUN: xla-opt %s -p xla-expand-compound --split-input-file | filecheck %s

// xla-update-checks: CHECK @cholesky filter=xla\.(while|dot|subtract|divide|sqrt|transpose|dynamic_update_slice)|func.return
// CHECK-LABEL:   func.func @cholesky(%a: tensor<4x4xcomplex<f32>>) -> tensor<4x4xcomplex<f32>> {
// CHECK:           %{{.*}} = xla.transpose %{{.*}} {dimensions = [0, 2, 1]} : tensor<1x4x4xcomplex<f32>>
// CHECK:           %{{.*}}, %{{.*}}, %{{.*}} = xla.while %{{.*}}, %{{.*}}, %{{.*}} : (tensor<i32>, tensor<1x4x4xcomplex<f32>>, tensor<1xi1>) -> (tensor<i32>, tensor<1x4x4xcomplex<f32>>, tensor<1xi1>) condition (%index: tensor<i32>, %{{.*}}: tensor<1x4x4xcomplex<f32>>, %{{.*}}: tensor<1xi1>) {
// CHECK:             %[[DOT:.*]] = xla.dot %[[REAL:.*]], %[[REAL_1:.*]] {lhs_batch_dims = [0], lhs_contracting_dims = [1], rhs_batch_dims = [0], rhs_contracting_dims = [1]} : (tensor<1x4xf32>, tensor<1x4x4xf32>) -> tensor<1x4xf32>
// CHECK-NEXT:        %[[DOT_1:.*]] = xla.dot %[[IMAG:.*]], %[[IMAG_1:.*]] {lhs_batch_dims = [0], lhs_contracting_dims = [1], rhs_batch_dims = [0], rhs_contracting_dims = [1]} : (tensor<1x4xf32>, tensor<1x4x4xf32>) -> tensor<1x4xf32>
// CHECK-NEXT:        %{{.*}} = xla.subtract %[[DOT]], %[[DOT_1]] : tensor<1x4xf32>
// CHECK-NEXT:        %{{.*}} = xla.dot %[[REAL]], %[[IMAG_1]] {lhs_batch_dims = [0], lhs_contracting_dims = [1], rhs_batch_dims = [0], rhs_contracting_dims = [1]} : (tensor<1x4xf32>, tensor<1x4x4xf32>) -> tensor<1x4xf32>
// CHECK-NEXT:        %{{.*}} = xla.dot %[[IMAG]], %[[REAL_1]] {lhs_batch_dims = [0], lhs_contracting_dims = [1], rhs_batch_dims = [0], rhs_contracting_dims = [1]} : (tensor<1x4xf32>, tensor<1x4x4xf32>) -> tensor<1x4xf32>
// CHECK:             %[[SUBTRACT:.*]] = xla.subtract %{{.*}}, %{{.*}} : tensor<1x4xcomplex<f32>>
// CHECK:             %{{.*}} = xla.sqrt %{{.*}} : tensor<1xf32>
// CHECK:             %{{.*}} = xla.divide %[[SUBTRACT]], %{{.*}} : tensor<1x4xcomplex<f32>>
// CHECK:             %{{.*}} = xla.dynamic_update_slice %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : (tensor<1x4x4xcomplex<f32>>, tensor<1x1x4xcomplex<f32>>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x4xcomplex<f32>>
// CHECK:           %{{.*}} = xla.transpose %{{.*}} {dimensions = [0, 2, 1]} : tensor<1x4x4xcomplex<f32>>
// CHECK:           func.return %factor : tensor<4x4xcomplex<f32>>
func.func @cholesky(%a: tensor<4x4xcomplex<f32>>) -> tensor<4x4xcomplex<f32>> {
  %factor = xla.cholesky %a {lower = true} : tensor<4x4xcomplex<f32>>
  func.return %factor : tensor<4x4xcomplex<f32>>
}

// -----

// xla-update-checks: CHECK @triangular_solve filter=xla\.(while|dot|subtract|divide|sqrt|transpose|dynamic_update_slice)|func.return
// CHECK-LABEL:   func.func @triangular_solve(%a: tensor<4x4xcomplex<f32>>, %b: tensor<4x2xcomplex<f32>>) -> tensor<4x2xcomplex<f32>> {
// CHECK:           %{{.*}} = xla.transpose %{{.*}} {dimensions = [0, 2, 1]} : tensor<1x4x4xcomplex<f32>>
// CHECK:           %{{.*}}, %{{.*}} = xla.while %{{.*}}, %{{.*}} : (tensor<i32>, tensor<1x4x2xcomplex<f32>>) -> (tensor<i32>, tensor<1x4x2xcomplex<f32>>) condition (%index: tensor<i32>, %{{.*}}: tensor<1x4x2xcomplex<f32>>) {
// CHECK:             %[[DOT:.*]] = xla.dot %[[REAL:.*]], %[[REAL_1:.*]] {lhs_batch_dims = [0], lhs_contracting_dims = [1], rhs_batch_dims = [0], rhs_contracting_dims = [1]} : (tensor<1x4xf32>, tensor<1x4x2xf32>) -> tensor<1x2xf32>
// CHECK-NEXT:        %[[DOT_1:.*]] = xla.dot %[[IMAG:.*]], %[[IMAG_1:.*]] {lhs_batch_dims = [0], lhs_contracting_dims = [1], rhs_batch_dims = [0], rhs_contracting_dims = [1]} : (tensor<1x4xf32>, tensor<1x4x2xf32>) -> tensor<1x2xf32>
// CHECK-NEXT:        %{{.*}} = xla.subtract %[[DOT]], %[[DOT_1]] : tensor<1x2xf32>
// CHECK-NEXT:        %{{.*}} = xla.dot %[[REAL]], %[[IMAG_1]] {lhs_batch_dims = [0], lhs_contracting_dims = [1], rhs_batch_dims = [0], rhs_contracting_dims = [1]} : (tensor<1x4xf32>, tensor<1x4x2xf32>) -> tensor<1x2xf32>
// CHECK-NEXT:        %{{.*}} = xla.dot %[[IMAG]], %[[REAL_1]] {lhs_batch_dims = [0], lhs_contracting_dims = [1], rhs_batch_dims = [0], rhs_contracting_dims = [1]} : (tensor<1x4xf32>, tensor<1x4x2xf32>) -> tensor<1x2xf32>
// CHECK:             %[[SUBTRACT:.*]] = xla.subtract %{{.*}}, %{{.*}} : tensor<1x2xcomplex<f32>>
// CHECK:             %{{.*}} = xla.divide %[[SUBTRACT]], %{{.*}} : tensor<1x2xcomplex<f32>>
// CHECK:             %{{.*}} = xla.dynamic_update_slice %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : (tensor<1x4x2xcomplex<f32>>, tensor<1x1x2xcomplex<f32>>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x2xcomplex<f32>>
// CHECK:           func.return %solution : tensor<4x2xcomplex<f32>>
func.func @triangular_solve(%a: tensor<4x4xcomplex<f32>>, %b: tensor<4x2xcomplex<f32>>) -> tensor<4x2xcomplex<f32>> {
  %solution = xla.triangular_solve %a, %b {left_side = true, transpose_a = ADJOINT} : (tensor<4x4xcomplex<f32>>, tensor<4x2xcomplex<f32>>) -> tensor<4x2xcomplex<f32>>
  func.return %solution : tensor<4x2xcomplex<f32>>
}
