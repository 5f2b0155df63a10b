// RUN: xla-opt %s -p xla-expand-compound --split-input-file | filecheck %s

// xla-update-checks: CHECK @batch_norm_training filter=xla\.(?!constant|broadcast|return|iota|convert|get_tuple)|func.return
// CHECK-LABEL:   func.func @batch_norm_training(%x: tensor<2x3xf32>, %v: tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) {
// CHECK:           %[[REDUCE:.*]] = xla.reduce %[[CONVERT:.*]], %{{.*}} {dimensions = [0]} : (tensor<2x3xf32>, tensor<f32>) -> tensor<3xf32> to_apply (%lhs: tensor<f32>, %rhs: tensor<f32>) {
// CHECK-NEXT:        %{{.*}} = xla.add %lhs, %rhs : tensor<f32>
// CHECK:           %{{.*}} = xla.divide %[[REDUCE]], %{{.*}} : tensor<3xf32>
// CHECK:           %[[SUBTRACT:.*]] = xla.subtract %[[CONVERT]], %{{.*}} : tensor<2x3xf32>
// CHECK-NEXT:      %[[MULTIPLY:.*]] = xla.multiply %[[SUBTRACT]], %[[SUBTRACT]] : tensor<2x3xf32>
// CHECK:           %[[REDUCE_1:.*]] = xla.reduce %[[MULTIPLY]], %{{.*}} {dimensions = [0]} : (tensor<2x3xf32>, tensor<f32>) -> tensor<3xf32> to_apply (%[[ARG:.*]]: tensor<f32>, %[[ARG_1:.*]]: tensor<f32>) {
// CHECK-NEXT:        %{{.*}} = xla.add %[[ARG]], %[[ARG_1]] : tensor<f32>
// CHECK:           %[[DIVIDE:.*]] = xla.divide %[[REDUCE_1]], %{{.*}} : tensor<3xf32>
// CHECK:           %[[ADD:.*]] = xla.add %[[DIVIDE]], %{{.*}} : tensor<3xf32>
// CHECK-NEXT:      %[[RSQRT:.*]] = xla.rsqrt %[[ADD]] : tensor<3xf32>
// CHECK-NEXT:      %{{.*}} = xla.multiply %{{.*}}, %[[RSQRT]] : tensor<3xf32>
// CHECK:           %[[SUBTRACT_1:.*]] = xla.subtract %[[CONVERT]], %{{.*}} : tensor<2x3xf32>
// CHECK-NEXT:      %[[MULTIPLY_1:.*]] = xla.multiply %{{.*}}, %[[SUBTRACT_1]] : tensor<2x3xf32>
// CHECK:           %{{.*}} = xla.add %[[MULTIPLY_1]], %{{.*}} : tensor<2x3xf32>
// CHECK:           func.return %y, %mean, %variance : tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>
func.func @batch_norm_training(%x: tensor<2x3xf32>, %v: tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) {
  %y, %mean, %variance = xla.batch_norm_training %x, %v, %v {epsilon = 1.000000e-03 : f32, feature_index = 1} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  func.return %y, %mean, %variance : tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>
}

// -----

// xla-update-checks: CHECK @batch_norm_inference filter=xla\.(?!constant|broadcast|return|iota|convert|get_tuple)|func.return
// CHECK-LABEL:   func.func @batch_norm_inference(%x: tensor<2x3xf32>, %v: tensor<3xf32>) -> tensor<2x3xf32> {
// CHECK:           %[[ADD:.*]] = xla.add %{{.*}}, %{{.*}} : tensor<3xf32>
// CHECK-NEXT:      %[[RSQRT:.*]] = xla.rsqrt %[[ADD]] : tensor<3xf32>
// CHECK-NEXT:      %{{.*}} = xla.multiply %{{.*}}, %[[RSQRT]] : tensor<3xf32>
// CHECK:           %[[SUBTRACT:.*]] = xla.subtract %{{.*}}, %{{.*}} : tensor<2x3xf32>
// CHECK-NEXT:      %[[MULTIPLY:.*]] = xla.multiply %{{.*}}, %[[SUBTRACT]] : tensor<2x3xf32>
// CHECK:           %{{.*}} = xla.add %[[MULTIPLY]], %{{.*}} : tensor<2x3xf32>
// CHECK:           func.return %z : tensor<2x3xf32>
func.func @batch_norm_inference(%x: tensor<2x3xf32>, %v: tensor<3xf32>) -> tensor<2x3xf32> {
  %z = xla.batch_norm_inference %x, %v, %v, %v, %v {epsilon = 0.000000e+00 : f32, feature_index = 1} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  func.return %z : tensor<2x3xf32>
}

// -----

// xla-update-checks: CHECK @batch_norm_grad filter=xla\.(?!constant|broadcast|return|iota|convert|get_tuple)|func.return
// CHECK-LABEL:   func.func @batch_norm_grad(%x: tensor<2x3xf32>, %v: tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) {
// CHECK:           %[[SUBTRACT:.*]] = xla.subtract %{{.*}}, %{{.*}} : tensor<2x3xf32>
// CHECK:           %[[ADD:.*]] = xla.add %{{.*}}, %{{.*}} : tensor<3xf32>
// CHECK-NEXT:      %[[RSQRT:.*]] = xla.rsqrt %[[ADD]] : tensor<3xf32>
// CHECK-NEXT:      %[[MULTIPLY:.*]] = xla.multiply %[[CONVERT:.*]], %[[SUBTRACT]] : tensor<2x3xf32>
// CHECK:           %[[REDUCE:.*]] = xla.reduce %[[MULTIPLY]], %{{.*}} {dimensions = [0]} : (tensor<2x3xf32>, tensor<f32>) -> tensor<3xf32> to_apply (%lhs: tensor<f32>, %rhs: tensor<f32>) {
// CHECK-NEXT:        %{{.*}} = xla.add %lhs, %rhs : tensor<f32>
// CHECK:           %[[REDUCE_1:.*]] = xla.reduce %[[CONVERT]], %{{.*}} {dimensions = [0]} : (tensor<2x3xf32>, tensor<f32>) -> tensor<3xf32> to_apply (%[[ARG:.*]]: tensor<f32>, %[[ARG_1:.*]]: tensor<f32>) {
// CHECK-NEXT:        %{{.*}} = xla.add %[[ARG]], %[[ARG_1]] : tensor<f32>
// CHECK:           %[[MULTIPLY_1:.*]] = xla.multiply %[[REDUCE]], %[[RSQRT]] : tensor<3xf32>
// CHECK-NEXT:      %[[MULTIPLY_2:.*]] = xla.multiply %[[MULTIPLY_1]], %[[RSQRT]] : tensor<3xf32>
// CHECK:           %{{.*}} = xla.divide %[[MULTIPLY_2]], %{{.*}} : tensor<3xf32>
// CHECK:           %{{.*}} = xla.divide %[[REDUCE_1]], %{{.*}} : tensor<3xf32>
// CHECK:           %[[SUBTRACT_1:.*]] = xla.subtract %[[CONVERT]], %{{.*}} : tensor<2x3xf32>
// CHECK-NEXT:      %[[MULTIPLY_3:.*]] = xla.multiply %{{.*}}, %[[SUBTRACT]] : tensor<2x3xf32>
// CHECK-NEXT:      %[[SUBTRACT_2:.*]] = xla.subtract %[[SUBTRACT_1]], %[[MULTIPLY_3]] : tensor<2x3xf32>
// CHECK-NEXT:      %{{.*}} = xla.multiply %{{.*}}, %[[RSQRT]] : tensor<3xf32>
// CHECK:           %{{.*}} = xla.multiply %{{.*}}, %[[SUBTRACT_2]] : tensor<2x3xf32>
// CHECK-NEXT:      %{{.*}} = xla.multiply %[[REDUCE]], %[[RSQRT]] : tensor<3xf32>
// CHECK:           func.return %dx, %dscale, %doffset : tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>
func.func @batch_norm_grad(%x: tensor<2x3xf32>, %v: tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) {
  %dx, %dscale, %doffset = xla.batch_norm_grad %x, %v, %v, %v, %x {epsilon = 0x7fc00000 : f32, feature_index = 1} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  func.return %dx, %dscale, %doffset : tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>
}
