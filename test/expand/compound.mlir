// RUN: xla-opt %s -p xla-expand-compound | filecheck %s

// Sums are those of the operand's features; narrow floats are computed in f32.
// CHECK-LABEL: @training
// CHECK:         %[[X:.*]] = xla.convert %x : (tensor<4x3xbf16>) -> tensor<4x3xf32>
// CHECK:         %[[SUM:.*]] = xla.reduce %[[X]], %{{.*}} {dimensions = [0]}
// CHECK:         xla.add
// CHECK:         %[[MEAN:.*]] = xla.divide %[[SUM]], %{{.*}} : tensor<3xf32>
// CHECK:         xla.rsqrt
// CHECK:         xla.convert %[[MEAN]] : (tensor<3xf32>) -> tensor<3xbf16>
func.func @training(%x: tensor<4x3xbf16>, %scale: tensor<3xbf16>, %offset: tensor<3xbf16>)
    -> (tensor<4x3xbf16>, tensor<3xbf16>, tensor<3xbf16>) {
  %y, %mean, %variance = xla.batch_norm_training %x, %scale, %offset
      {epsilon = 1.0e-3 : f32, feature_index = 1 : i64}
      : (tensor<4x3xbf16>, tensor<3xbf16>, tensor<3xbf16>) -> (tensor<4x3xbf16>, tensor<3xbf16>, tensor<3xbf16>)
  func.return %y, %mean, %variance : tensor<4x3xbf16>, tensor<3xbf16>, tensor<3xbf16>
}

// A layout that the result has is kept by a copy.
// CHECK-LABEL: @bits
// CHECK:         xla.iota
// CHECK-NOT:     xla.rng_bit_generator
// CHECK:         xla.copy %{{.*}} : (tensor<4x3xui32>) -> tensor<4x3xui32, #xla.layout<{0,1}>>
func.func @bits(%s: tensor<2xui64>) -> (tensor<2xui64>, tensor<4x3xui32, #xla.layout<{0,1}>>) {
  %n, %b = xla.rng_bit_generator %s {algorithm = rng_three_fry}
      : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4x3xui32, #xla.layout<{0,1}>>)
  func.return %n, %b : tensor<2xui64>, tensor<4x3xui32, #xla.layout<{0,1}>>
}
