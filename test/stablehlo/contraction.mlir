// RUN: xla-opt %s | filecheck %s --check-prefix=XLA
// RUN: xla-opt %s -t stablehlo | filecheck %s --check-prefix=STABLEHLO

// XLA-LABEL: @dots(
// STABLEHLO-LABEL: @dots(
func.func @dots(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %m: tensor<5x3xf32>, %g: tensor<2xi32>, %r: tensor<2x3x4xf32>, %s: tensor<1x3xf8E8M0FNU>, %t: tensor<f8E8M0FNU>) {
  // XLA: %product = xla.dot %x, %y {lhs_contracting_dims = [1], rhs_contracting_dims = [1]} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32>
  // STABLEHLO: %product = stablehlo.dot_general %x, %y, contracting_dims = [1] x [1] : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32>
  %product = stablehlo.dot_general %x, %y, contracting_dims = [1] x [1] : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32>
  // XLA: %batched = xla.dot %x, %y {lhs_batch_dims = [0], lhs_contracting_dims = [1], rhs_batch_dims = [0], rhs_contracting_dims = [1]} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4xf64>
  // STABLEHLO: %batched = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4xf64>
  %batched = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4xf64>
  // XLA: %groups = xla.ragged_dot %m, %r, %g {lhs_contracting_dims = [1], rhs_contracting_dims = [1], lhs_ragged_dims = [0], rhs_group_dims = [0]} : (tensor<5x3xf32>, tensor<2x3x4xf32>, tensor<2xi32>) -> tensor<5x4xf32>
  // STABLEHLO: %groups = "chlo.ragged_dot"(%m, %r, %g) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<5x3xf32>, tensor<2x3x4xf32>, tensor<2xi32>) -> tensor<5x4xf32>
  %groups = "chlo.ragged_dot"(%m, %r, %g) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<5x3xf32>, tensor<2x3x4xf32>, tensor<2xi32>) -> tensor<5x4xf32>
  return
}

// XLA-LABEL: @convolutions(
// STABLEHLO-LABEL: @convolutions(
func.func @convolutions(%l: tensor<2x4x5x6xf32>, %k: tensor<6x2x2x3xf32>, %m: tensor<5x3xf32>) {
  // XLA: %grouped = xla.convolution %l, %k {window = #xla.window<size=2x3 rhs_reversal=1x0>, dim_labels = #xla.dim_labels<bf01_oi01->bf01>, feature_group_count = 2} : (tensor<2x4x5x6xf32>, tensor<6x2x2x3xf32>) -> tensor<2x6x4x4xf32>
  // STABLEHLO: %grouped = stablehlo.convolution(%l, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [1, 1], pad = {{[[][[]}}0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [true, false]} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<2x4x5x6xf32>, tensor<6x2x2x3xf32>) -> tensor<2x6x4x4xf32>
  %grouped = stablehlo.convolution(%l, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [1, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [true, false]} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<2x4x5x6xf32>, tensor<6x2x2x3xf32>) -> tensor<2x6x4x4xf32>
  // XLA: %product = xla.convolution %m, %m {dim_labels = #xla.dim_labels<bf_oi->fb>} : (tensor<5x3xf32>, tensor<5x3xf32>) -> tensor<5x5xf64>
  // STABLEHLO: %product = stablehlo.convolution(%m, %m) dim_numbers = [b, f]x[o, i]->[f, b], window = {stride = [], pad = [], lhs_dilate = [], rhs_dilate = [], reverse = []} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<5x3xf32>, tensor<5x3xf32>) -> tensor<5x5xf64>
  %product = stablehlo.convolution(%m, %m) dim_numbers = [b, f]x[o, i]->[f, b], window = {stride = [], pad = [], lhs_dilate = [], rhs_dilate = [], reverse = []} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<5x3xf32>, tensor<5x3xf32>) -> tensor<5x5xf64>
  return
}
