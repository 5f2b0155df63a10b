// RUN: xdsl-opt %s | filecheck %s
// RUN: xdsl-opt %s --print-op-generic | xdsl-opt | filecheck %s

// A tool that knows nothing of us reads, verifies and prints StableHLO with our universe.

// CHECK: func.func @main(%x: tensor<4x8xf32>, %zero: tensor<f32>)
func.func @main(%x: tensor<4x8xf32>, %zero: tensor<f32>) -> tensor<4x8xf32> {
  // CHECK-NEXT: %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<4xf32>) -> tensor<4x8xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<4xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: %2 = stablehlo.divide %x, %1 : tensor<4x8xf32>
  %2 = stablehlo.divide %x, %1 : tensor<4x8xf32>
  // CHECK-NEXT: func.return %2 : tensor<4x8xf32>
  func.return %2 : tensor<4x8xf32>
}
