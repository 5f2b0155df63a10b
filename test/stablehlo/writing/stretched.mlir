// RUN: xla-opt %s -t stablehlo | filecheck %s

// The reader makes a reshape and a broadcast of a size of 1 that is stretched; the writer one again,
// where the ranks are equal.

// CHECK-LABEL: func.func @stretched
func.func @stretched(%a: tensor<1x3x1xf32>, %b: tensor<1xf32>, %c: tensor<1x1x1xf32>, %d: tensor<2x1xf32>) {
  // CHECK-NEXT: %0 = stablehlo.broadcast_in_dim %a, dims = [0, 1, 2] : (tensor<1x3x1xf32>) -> tensor<4x3x5xf32>
  %0 = stablehlo.broadcast_in_dim %a, dims = [0, 1, 2] : (tensor<1x3x1xf32>) -> tensor<4x3x5xf32>
  // CHECK-NEXT: %1 = stablehlo.reshape %a : (tensor<1x3x1xf32>) -> tensor<3x1xf32>
  // CHECK-NEXT: %2 = stablehlo.broadcast_in_dim %1, dims = [2, 3] : (tensor<3x1xf32>) -> tensor<4x5x3x1xf32>
  %1 = stablehlo.broadcast_in_dim %a, dims = [0, 2, 3] : (tensor<1x3x1xf32>) -> tensor<4x5x3x1xf32>
  // CHECK-NEXT: %3 = stablehlo.broadcast_in_dim %b, dims = [0] : (tensor<1xf32>) -> tensor<0xf32>
  %3 = stablehlo.broadcast_in_dim %b, dims = [0] : (tensor<1xf32>) -> tensor<0xf32>
  // CHECK-NEXT: %4 = stablehlo.broadcast_in_dim %c, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<3x4x1xf32>
  %4 = stablehlo.broadcast_in_dim %c, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<3x4x1xf32>
  // CHECK-NEXT: %5 = stablehlo.reshape %d : (tensor<2x1xf32>) -> tensor<2xf32>
  %5 = stablehlo.reshape %d : (tensor<2x1xf32>) -> tensor<2xf32>
  // A reshape that somebody else uses stays.
  // CHECK-NEXT: %6 = stablehlo.reshape %b : (tensor<1xf32>) -> tensor<f32>
  %6 = stablehlo.reshape %b : (tensor<1xf32>) -> tensor<f32>
  // CHECK-NEXT: %7 = stablehlo.broadcast_in_dim %6, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %7 = stablehlo.broadcast_in_dim %6, dims = [] : (tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: %8 = stablehlo.negate %6 : tensor<f32>
  %8 = stablehlo.negate %6 : tensor<f32>
  return
}
