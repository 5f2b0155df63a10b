// RUN: xla-opt %s | filecheck %s --check-prefix=XLA
// RUN: xla-opt %s -t stablehlo | filecheck %s --check-prefix=STABLEHLO

// XLA-LABEL: @reduction(
// STABLEHLO-LABEL: @reduction(
func.func @reduction(%x: tensor<4x8xf32>, %k: tensor<4x8xi32>, %f: tensor<f32>, %i: tensor<i32>) {
  // XLA: %sums = xla.reduce %x, %f {dimensions = [1]} : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32> to_apply (%{{.*}}: tensor<f32>, %{{.*}}: tensor<f32>) {
  // STABLEHLO: %sums = stablehlo.reduce(%x init: %f) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %sums = stablehlo.reduce(%x init: %f) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  // XLA: %first, %last = xla.reduce %x, %k, %f, %i {dimensions = [0, 1]} : (tensor<4x8xf32>, tensor<4x8xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>) to_apply (%e: tensor<f32>, %g: tensor<i32>, %h: tensor<f32>, %j: tensor<i32>) {
  // STABLEHLO: %first, %last = stablehlo.reduce(%x init: %f), (%k init: %i) across dimensions = [0, 1] : (tensor<4x8xf32>, tensor<4x8xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)
  %first, %last = stablehlo.reduce(%x init: %f), (%k init: %i) across dimensions = [0, 1] : (tensor<4x8xf32>, tensor<4x8xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)
   reducer(%e: tensor<f32>, %h: tensor<f32>) (%g: tensor<i32>, %j: tensor<i32>) {
    stablehlo.return %e, %j : tensor<f32>, tensor<i32>
  }
  // XLA: %all = xla.map %x, %x {dimensions = [0, 1]} : tensor<4x8xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
  // STABLEHLO: %all = "stablehlo.map"(%x, %x) <{dimensions = array<i64: 0, 1>}> ({
  %all = "stablehlo.map"(%x, %x) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// XLA-LABEL: @windows(
// STABLEHLO-LABEL: @windows(
func.func @windows(%x: tensor<4x5xf32>, %z: tensor<f32>, %s: tensor<2x3xf32>) {
  // XLA: %dilated = xla.reduce_window %x, %z {window = #xla.window<size=2x3 stride=2x1 pad=0_1x-1_0 lhs_dilate=1x2 rhs_dilate=2x1>} : (tensor<4x5xf32>, tensor<f32>) -> tensor<2x6xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
  // STABLEHLO: %dilated = "stablehlo.reduce_window"(%x, %z) <{base_dilations = array<i64: 1, 2>, padding = dense<{{[[][[]}}0, 1], [-1, 0]]> : tensor<2x2xi64>, window_dilations = array<i64: 2, 1>, window_dimensions = array<i64: 2, 3>, window_strides = array<i64: 2, 1>}> ({
  %dilated = "stablehlo.reduce_window"(%x, %z) <{base_dilations = array<i64: 1, 2>, padding = dense<[[0, 1], [-1, 0]]> : tensor<2x2xi64>, window_dilations = array<i64: 2, 1>, window_dimensions = array<i64: 2, 3>, window_strides = array<i64: 2, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %sum = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<4x5xf32>, tensor<f32>) -> tensor<2x6xf32>
  // XLA: %scalar = xla.reduce_window %z, %z : tensor<f32> to_apply (%{{.*}}: tensor<f32>, %{{.*}}: tensor<f32>) {
  // STABLEHLO: %scalar = "stablehlo.reduce_window"(%z, %z) <{base_dilations = array<i64>, padding = dense<> : tensor<0x2xi64>, window_dilations = array<i64>, window_dimensions = array<i64>, window_strides = array<i64>}> ({
  %scalar = "stablehlo.reduce_window"(%z, %z) <{base_dilations = array<i64>, padding = dense<> : tensor<0x2xi64>, window_dilations = array<i64>, window_dimensions = array<i64>, window_strides = array<i64>}> ({
  ^bb0(%a_0: tensor<f32>, %b_0: tensor<f32>):
    stablehlo.return %b_0 : tensor<f32>
  }) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // XLA: %scattered = xla.select_and_scatter %x, %s, %z {window = #xla.window<size=2x3 stride=2x1>} : (tensor<4x5xf32>, tensor<2x3xf32>, tensor<f32>) -> tensor<4x5xf32> select (%{{.*}}: tensor<f32>, %{{.*}}: tensor<f32>) {
  // STABLEHLO: %scattered = "stablehlo.select_and_scatter"(%x, %s, %z) <{padding = dense<0> : tensor<2x2xi64>, window_dimensions = array<i64: 2, 3>, window_strides = array<i64: 2, 1>}> ({
  %scattered = "stablehlo.select_and_scatter"(%x, %s, %z) <{padding = dense<0> : tensor<2x2xi64>, window_dimensions = array<i64: 2, 3>, window_strides = array<i64: 2, 1>}> ({
  ^bb0(%a_1: tensor<f32>, %b_1: tensor<f32>):
    %first = stablehlo.compare GE, %a_1, %b_1 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %first : tensor<i1>
  }, {
  ^bb0(%a_2: tensor<f32>, %b_2: tensor<f32>):
    stablehlo.return %b_2 : tensor<f32>
  }) : (tensor<4x5xf32>, tensor<2x3xf32>, tensor<f32>) -> tensor<4x5xf32>
  return
}
