// RUN: xla-opt %s | filecheck %s --check-prefix=XLA
// RUN: xla-opt %s -t stablehlo | filecheck %s --check-prefix=STABLEHLO

// XLA-LABEL: @data_movement(
// STABLEHLO-LABEL: @data_movement(
func.func @data_movement(%x: tensor<4x3xf32>, %v: tensor<3xf32>, %s: tensor<f32>, %i: tensor<i32>, %u: tensor<2x1xf32>) {
  // XLA: xla.broadcast %v {dimensions = [1]} : (tensor<3xf32>) -> tensor<4x3xf32>
  // STABLEHLO: stablehlo.broadcast_in_dim %v, dims = [1] : (tensor<3xf32>) -> tensor<4x3xf32>
  %0 = stablehlo.broadcast_in_dim %v, dims = [1] : (tensor<3xf32>) -> tensor<4x3xf32>
  // XLA: xla.broadcast %s : (tensor<f32>) -> tensor<0xf32>
  // STABLEHLO: stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<0xf32>
  %1 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<0xf32>
  // XLA: xla.reshape %x : (tensor<4x3xf32>) -> tensor<2x6xf32>
  // STABLEHLO: stablehlo.reshape %x : (tensor<4x3xf32>) -> tensor<2x6xf32>
  %2 = stablehlo.reshape %x : (tensor<4x3xf32>) -> tensor<2x6xf32>
  // XLA: xla.transpose %x {dimensions = [1, 0]} : (tensor<4x3xf32>) -> tensor<3x4xf32>
  // STABLEHLO: stablehlo.transpose %x, dims = [1, 0] : (tensor<4x3xf32>) -> tensor<3x4xf32>
  %3 = stablehlo.transpose %x, dims = [1, 0] : (tensor<4x3xf32>) -> tensor<3x4xf32>
  // XLA: xla.slice %x {start_indices = [0, 1], limit_indices = [4, 3], strides = [2, 1]} : (tensor<4x3xf32>) -> tensor<2x2xf32>
  // STABLEHLO: stablehlo.slice %x [0:4:2, 1:3] : (tensor<4x3xf32>) -> tensor<2x2xf32>
  %4 = stablehlo.slice %x [0:4:2, 1:3] : (tensor<4x3xf32>) -> tensor<2x2xf32>
  // XLA: xla.concatenate %x, %x {dimension = 0} : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<8x3xf32>
  // STABLEHLO: stablehlo.concatenate %x, %x, dim = 0 : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<8x3xf32>
  %5 = stablehlo.concatenate %x, %x, dim = 0 : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<8x3xf32>
  // XLA: xla.pad %v, %s {edge_padding_low = [-1], edge_padding_high = [2], interior_padding = [1]} : (tensor<3xf32>, tensor<f32>) -> tensor<6xf32>
  // STABLEHLO: stablehlo.pad %v, %s, low = [-1], high = [2], interior = [1] : (tensor<3xf32>, tensor<f32>) -> tensor<6xf32>
  %6 = stablehlo.pad %v, %s, low = [-1], high = [2], interior = [1] : (tensor<3xf32>, tensor<f32>) -> tensor<6xf32>
  // XLA: xla.reverse %x {dimensions = [0, 1]} : tensor<4x3xf32>
  // STABLEHLO: stablehlo.reverse %x, dims = [0, 1] : tensor<4x3xf32>
  %7 = stablehlo.reverse %x, dims = [0, 1] : tensor<4x3xf32>
  // XLA: xla.dynamic_slice %x, %i, %i {dynamic_slice_sizes = [2, 1]} : (tensor<4x3xf32>, tensor<i32>, tensor<i32>) -> tensor<2x1xf32>
  // STABLEHLO: stablehlo.dynamic_slice %x, %i, %i, sizes = [2, 1] : (tensor<4x3xf32>, tensor<i32>, tensor<i32>) -> tensor<2x1xf32>
  %8 = stablehlo.dynamic_slice %x, %i, %i, sizes = [2, 1] : (tensor<4x3xf32>, tensor<i32>, tensor<i32>) -> tensor<2x1xf32>
  // XLA: xla.dynamic_update_slice %x, %u, %i, %i : (tensor<4x3xf32>, tensor<2x1xf32>, tensor<i32>, tensor<i32>) -> tensor<4x3xf32>
  // STABLEHLO: stablehlo.dynamic_update_slice %x, %u, %i, %i : (tensor<4x3xf32>, tensor<2x1xf32>, tensor<i32>, tensor<i32>) -> tensor<4x3xf32>
  %9 = stablehlo.dynamic_update_slice %x, %u, %i, %i : (tensor<4x3xf32>, tensor<2x1xf32>, tensor<i32>, tensor<i32>) -> tensor<4x3xf32>
  // XLA: xla.transpose %x {dimensions = [1, 0]} : (tensor<4x3xf32>) -> tensor<3x4xf32>
  // STABLEHLO: stablehlo.transpose %x, dims = [1, 0] : (tensor<4x3xf32>) -> tensor<3x4xf32>
  %10 = stablehlo.transpose %x, dims = [1, 0] : (tensor<4x3xf32>) -> tensor<3x4xf32>
  return
}
