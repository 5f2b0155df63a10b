// RUN: xla-opt %s | filecheck %s --check-prefix=XLA
// RUN: xla-opt %s -t stablehlo | filecheck %s --check-prefix=STABLEHLO

// XLA-LABEL: @normalization(
// STABLEHLO-LABEL: @normalization(
func.func @normalization(%x: tensor<2x3xf32>, %scale: tensor<3xf32>, %offset: tensor<3xf32>, %m: tensor<3xf32>, %v: tensor<3xf32>, %dy: tensor<2x3xf32>) {
  // XLA: %y, %mean, %variance = xla.batch_norm_training %x, %scale, %offset {epsilon = 1.000000e-03 : f32, feature_index = 1} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  // STABLEHLO: %y, %mean, %variance = "stablehlo.batch_norm_training"(%x, %scale, %offset) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}> : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  %y, %mean, %variance = "stablehlo.batch_norm_training"(%x, %scale, %offset) <{epsilon = 0.0010000000474974513 : f32, feature_index = 1 : i64}> : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  // XLA: %z = xla.batch_norm_inference %x, %scale, %offset, %m, %v {epsilon = 0.000000e+00 : f32, feature_index = 1} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  // STABLEHLO: %z = "stablehlo.batch_norm_inference"(%x, %scale, %offset, %m, %v) <{epsilon = 0.000000e+00 : f32, feature_index = 1 : i64}> : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %z = "stablehlo.batch_norm_inference"(%x, %scale, %offset, %m, %v) <{epsilon = 0.0 : f32, feature_index = 1 : i64}> : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  // XLA: %dx, %dscale, %doffset = xla.batch_norm_grad %x, %scale, %m, %v, %dy {epsilon = 0x7fc00000 : f32, feature_index = 1} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  // STABLEHLO: %dx, %dscale, %doffset = "stablehlo.batch_norm_grad"(%x, %scale, %m, %v, %dy) <{epsilon = 0x7fc00000 : f32, feature_index = 1 : i64}> : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  %dx, %dscale, %doffset = "stablehlo.batch_norm_grad"(%x, %scale, %m, %v, %dy) <{epsilon = 0x7FC00000 : f32, feature_index = 1 : i64}> : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}
