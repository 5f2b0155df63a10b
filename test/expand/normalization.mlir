// RUN: xla-opt %s -p xla-expand-compound --split-input-file | filecheck %s

// xla-update-checks: CHECK @batch_norm_training filter=xla\.(?!constant|return)|func.return
// CHECK-LABEL:   func.func @batch_norm_training(%x: tensor<2x3xf32>, %scale: tensor<3xf32>, %offset: tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) {
// CHECK-NEXT:      %[[CONVERT:.*]] = xla.convert %x : tensor<2x3xf32>
// CHECK-NEXT:      %[[CONVERT_1:.*]] = xla.convert %scale : tensor<3xf32>
// CHECK-NEXT:      %[[CONVERT_2:.*]] = xla.convert %offset : tensor<3xf32>
// CHECK:           %[[REDUCE:.*]] = xla.reduce %[[CONVERT]], %{{.*}} {dimensions = [0]} : (tensor<2x3xf32>, tensor<f32>) -> tensor<3xf32> to_apply (%lhs: tensor<f32>, %rhs: tensor<f32>) {
// CHECK-NEXT:        %{{.*}} = xla.add %lhs, %rhs : tensor<f32>
// CHECK:           %[[BROADCAST:.*]] = xla.broadcast %{{.*}} : (tensor<f32>) -> tensor<3xf32>
// CHECK-NEXT:      %[[DIVIDE:.*]] = xla.divide %[[REDUCE]], %[[BROADCAST]] : tensor<3xf32>
// CHECK-NEXT:      %[[BROADCAST_1:.*]] = xla.broadcast %[[DIVIDE]] {dimensions = [1]} : (tensor<3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:      %[[SUBTRACT:.*]] = xla.subtract %[[CONVERT]], %[[BROADCAST_1]] : tensor<2x3xf32>
// CHECK-NEXT:      %[[MULTIPLY:.*]] = xla.multiply %[[SUBTRACT]], %[[SUBTRACT]] : tensor<2x3xf32>
// CHECK:           %[[REDUCE_1:.*]] = xla.reduce %[[MULTIPLY]], %{{.*}} {dimensions = [0]} : (tensor<2x3xf32>, tensor<f32>) -> tensor<3xf32> to_apply (%[[ARG:.*]]: tensor<f32>, %[[ARG_1:.*]]: tensor<f32>) {
// CHECK-NEXT:        %{{.*}} = xla.add %[[ARG]], %[[ARG_1]] : tensor<f32>
// CHECK:           %[[BROADCAST_2:.*]] = xla.broadcast %{{.*}} : (tensor<f32>) -> tensor<3xf32>
// CHECK-NEXT:      %[[DIVIDE_1:.*]] = xla.divide %[[REDUCE_1]], %[[BROADCAST_2]] : tensor<3xf32>
// CHECK:           %[[BROADCAST_3:.*]] = xla.broadcast %{{.*}} : (tensor<f32>) -> tensor<3xf32>
// CHECK-NEXT:      %[[ADD:.*]] = xla.add %[[DIVIDE_1]], %[[BROADCAST_3]] : tensor<3xf32>
// CHECK-NEXT:      %[[RSQRT:.*]] = xla.rsqrt %[[ADD]] : tensor<3xf32>
// CHECK-NEXT:      %[[MULTIPLY_1:.*]] = xla.multiply %[[CONVERT_1]], %[[RSQRT]] : tensor<3xf32>
// CHECK-NEXT:      %[[BROADCAST_4:.*]] = xla.broadcast %[[MULTIPLY_1]] {dimensions = [1]} : (tensor<3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:      %[[BROADCAST_5:.*]] = xla.broadcast %[[DIVIDE]] {dimensions = [1]} : (tensor<3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:      %[[SUBTRACT_1:.*]] = xla.subtract %[[CONVERT]], %[[BROADCAST_5]] : tensor<2x3xf32>
// CHECK-NEXT:      %[[MULTIPLY_2:.*]] = xla.multiply %[[BROADCAST_4]], %[[SUBTRACT_1]] : tensor<2x3xf32>
// CHECK-NEXT:      %[[BROADCAST_6:.*]] = xla.broadcast %[[CONVERT_2]] {dimensions = [1]} : (tensor<3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:      %[[ADD_1:.*]] = xla.add %[[MULTIPLY_2]], %[[BROADCAST_6]] : tensor<2x3xf32>
// CHECK-NEXT:      %y = xla.convert %[[ADD_1]] : tensor<2x3xf32>
// CHECK-NEXT:      %mean = xla.convert %[[DIVIDE]] : tensor<3xf32>
// CHECK-NEXT:      %variance = xla.convert %[[DIVIDE_1]] : tensor<3xf32>
// CHECK-NEXT:      func.return %y, %mean, %variance : tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>
func.func @batch_norm_training(%x: tensor<2x3xf32>, %scale: tensor<3xf32>, %offset: tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) {
  %y, %mean, %variance = xla.batch_norm_training %x, %scale, %offset {epsilon = 1.000000e-03 : f32, feature_index = 1} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  func.return %y, %mean, %variance : tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>
}

// -----

// xla-update-checks: CHECK @batch_norm_inference filter=xla\.(?!constant|return)|func.return
// CHECK-LABEL:   func.func @batch_norm_inference(%x: tensor<2x3xf32>, %scale: tensor<3xf32>, %offset: tensor<3xf32>, %m: tensor<3xf32>, %v: tensor<3xf32>) -> tensor<2x3xf32> {
// CHECK-NEXT:      %[[CONVERT:.*]] = xla.convert %x : tensor<2x3xf32>
// CHECK-NEXT:      %[[CONVERT_1:.*]] = xla.convert %scale : tensor<3xf32>
// CHECK-NEXT:      %[[CONVERT_2:.*]] = xla.convert %offset : tensor<3xf32>
// CHECK-NEXT:      %[[CONVERT_3:.*]] = xla.convert %m : tensor<3xf32>
// CHECK-NEXT:      %[[CONVERT_4:.*]] = xla.convert %v : tensor<3xf32>
// CHECK:           %[[BROADCAST:.*]] = xla.broadcast %{{.*}} : (tensor<f32>) -> tensor<3xf32>
// CHECK-NEXT:      %[[ADD:.*]] = xla.add %[[CONVERT_4]], %[[BROADCAST]] : tensor<3xf32>
// CHECK-NEXT:      %[[RSQRT:.*]] = xla.rsqrt %[[ADD]] : tensor<3xf32>
// CHECK-NEXT:      %[[MULTIPLY:.*]] = xla.multiply %[[CONVERT_1]], %[[RSQRT]] : tensor<3xf32>
// CHECK-NEXT:      %[[BROADCAST_1:.*]] = xla.broadcast %[[MULTIPLY]] {dimensions = [1]} : (tensor<3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:      %[[BROADCAST_2:.*]] = xla.broadcast %[[CONVERT_3]] {dimensions = [1]} : (tensor<3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:      %[[SUBTRACT:.*]] = xla.subtract %[[CONVERT]], %[[BROADCAST_2]] : tensor<2x3xf32>
// CHECK-NEXT:      %[[MULTIPLY_1:.*]] = xla.multiply %[[BROADCAST_1]], %[[SUBTRACT]] : tensor<2x3xf32>
// CHECK-NEXT:      %[[BROADCAST_3:.*]] = xla.broadcast %[[CONVERT_2]] {dimensions = [1]} : (tensor<3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:      %[[ADD_1:.*]] = xla.add %[[MULTIPLY_1]], %[[BROADCAST_3]] : tensor<2x3xf32>
// CHECK-NEXT:      %z = xla.convert %[[ADD_1]] : tensor<2x3xf32>
// CHECK-NEXT:      func.return %z : tensor<2x3xf32>
func.func @batch_norm_inference(%x: tensor<2x3xf32>, %scale: tensor<3xf32>, %offset: tensor<3xf32>, %m: tensor<3xf32>, %v: tensor<3xf32>) -> tensor<2x3xf32> {
  %z = xla.batch_norm_inference %x, %scale, %offset, %m, %v {epsilon = 0.000000e+00 : f32, feature_index = 1} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  func.return %z : tensor<2x3xf32>
}

// -----

// xla-update-checks: CHECK @batch_norm_grad filter=xla\.(?!constant|return)|func.return
// CHECK-LABEL:   func.func @batch_norm_grad(%x: tensor<2x3xf32>, %scale: tensor<3xf32>, %m: tensor<3xf32>, %v: tensor<3xf32>, %dy: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) {
// CHECK-NEXT:      %[[CONVERT:.*]] = xla.convert %x : tensor<2x3xf32>
// CHECK-NEXT:      %[[CONVERT_1:.*]] = xla.convert %scale : tensor<3xf32>
// CHECK-NEXT:      %[[CONVERT_2:.*]] = xla.convert %m : tensor<3xf32>
// CHECK-NEXT:      %[[CONVERT_3:.*]] = xla.convert %v : tensor<3xf32>
// CHECK-NEXT:      %[[CONVERT_4:.*]] = xla.convert %dy : tensor<2x3xf32>
// CHECK-NEXT:      %[[BROADCAST:.*]] = xla.broadcast %[[CONVERT_2]] {dimensions = [1]} : (tensor<3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:      %[[SUBTRACT:.*]] = xla.subtract %[[CONVERT]], %[[BROADCAST]] : tensor<2x3xf32>
// CHECK:           %[[BROADCAST_1:.*]] = xla.broadcast %{{.*}} : (tensor<f32>) -> tensor<3xf32>
// CHECK-NEXT:      %[[ADD:.*]] = xla.add %[[CONVERT_3]], %[[BROADCAST_1]] : tensor<3xf32>
// CHECK-NEXT:      %[[RSQRT:.*]] = xla.rsqrt %[[ADD]] : tensor<3xf32>
// CHECK-NEXT:      %[[MULTIPLY:.*]] = xla.multiply %[[CONVERT_4]], %[[SUBTRACT]] : tensor<2x3xf32>
// CHECK:           %[[REDUCE:.*]] = xla.reduce %[[MULTIPLY]], %{{.*}} {dimensions = [0]} : (tensor<2x3xf32>, tensor<f32>) -> tensor<3xf32> to_apply (%lhs: tensor<f32>, %rhs: tensor<f32>) {
// CHECK-NEXT:        %{{.*}} = xla.add %lhs, %rhs : tensor<f32>
// CHECK:           %[[REDUCE_1:.*]] = xla.reduce %[[CONVERT_4]], %{{.*}} {dimensions = [0]} : (tensor<2x3xf32>, tensor<f32>) -> tensor<3xf32> to_apply (%[[ARG:.*]]: tensor<f32>, %[[ARG_1:.*]]: tensor<f32>) {
// CHECK-NEXT:        %{{.*}} = xla.add %[[ARG]], %[[ARG_1]] : tensor<f32>
// CHECK:           %[[MULTIPLY_1:.*]] = xla.multiply %[[REDUCE]], %[[RSQRT]] : tensor<3xf32>
// CHECK-NEXT:      %[[MULTIPLY_2:.*]] = xla.multiply %[[MULTIPLY_1]], %[[RSQRT]] : tensor<3xf32>
// CHECK:           %[[BROADCAST_2:.*]] = xla.broadcast %{{.*}} : (tensor<f32>) -> tensor<3xf32>
// CHECK-NEXT:      %[[DIVIDE:.*]] = xla.divide %[[MULTIPLY_2]], %[[BROADCAST_2]] : tensor<3xf32>
// CHECK-NEXT:      %[[BROADCAST_3:.*]] = xla.broadcast %[[DIVIDE]] {dimensions = [1]} : (tensor<3xf32>) -> tensor<2x3xf32>
// CHECK:           %[[BROADCAST_4:.*]] = xla.broadcast %{{.*}} : (tensor<f32>) -> tensor<3xf32>
// CHECK-NEXT:      %[[DIVIDE_1:.*]] = xla.divide %[[REDUCE_1]], %[[BROADCAST_4]] : tensor<3xf32>
// CHECK-NEXT:      %[[BROADCAST_5:.*]] = xla.broadcast %[[DIVIDE_1]] {dimensions = [1]} : (tensor<3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:      %[[SUBTRACT_1:.*]] = xla.subtract %[[CONVERT_4]], %[[BROADCAST_5]] : tensor<2x3xf32>
// CHECK-NEXT:      %[[MULTIPLY_3:.*]] = xla.multiply %[[BROADCAST_3]], %[[SUBTRACT]] : tensor<2x3xf32>
// CHECK-NEXT:      %[[SUBTRACT_2:.*]] = xla.subtract %[[SUBTRACT_1]], %[[MULTIPLY_3]] : tensor<2x3xf32>
// CHECK-NEXT:      %[[MULTIPLY_4:.*]] = xla.multiply %[[CONVERT_1]], %[[RSQRT]] : tensor<3xf32>
// CHECK-NEXT:      %[[BROADCAST_6:.*]] = xla.broadcast %[[MULTIPLY_4]] {dimensions = [1]} : (tensor<3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:      %[[MULTIPLY_5:.*]] = xla.multiply %[[BROADCAST_6]], %[[SUBTRACT_2]] : tensor<2x3xf32>
// CHECK-NEXT:      %[[MULTIPLY_6:.*]] = xla.multiply %[[REDUCE]], %[[RSQRT]] : tensor<3xf32>
// CHECK-NEXT:      %dx = xla.convert %[[MULTIPLY_5]] : tensor<2x3xf32>
// CHECK-NEXT:      %dscale = xla.convert %[[MULTIPLY_6]] : tensor<3xf32>
// CHECK-NEXT:      %doffset = xla.convert %[[REDUCE_1]] : tensor<3xf32>
// CHECK-NEXT:      func.return %dx, %dscale, %doffset : tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>
func.func @batch_norm_grad(%x: tensor<2x3xf32>, %scale: tensor<3xf32>, %m: tensor<3xf32>, %v: tensor<3xf32>, %dy: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) {
  %dx, %dscale, %doffset = xla.batch_norm_grad %x, %scale, %m, %v, %dy {epsilon = 0x7fc00000 : f32, feature_index = 1} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  func.return %dx, %dscale, %doffset : tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>
}
