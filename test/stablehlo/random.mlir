// RUN: xla-opt %s | filecheck %s --check-prefix=XLA
// RUN: xla-opt %s -t stablehlo | filecheck %s --check-prefix=STABLEHLO

// XLA-LABEL: @random(
// STABLEHLO-LABEL: @random(
func.func @random(%a: tensor<f32>, %b: tensor<f32>, %state: tensor<3xui64>, %x: tensor<4xf32>, %r: tensor<4xui32>) {
  // XLA: %c = xla.constant dense<[4, 2]> : tensor<2xi64>
  // STABLEHLO: %c = stablehlo.constant dense<[4, 2]> : tensor<2xi64>
  %c = stablehlo.constant dense<[4, 2]> : tensor<2xi64>
  // XLA: %uniform = xla.rng %a, %b {distribution = rng_uniform} : (tensor<f32>, tensor<f32>) -> tensor<4x2xf32>
  // STABLEHLO: %uniform = stablehlo.rng %a, %b, %c, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<4x2xf32>
  %uniform = stablehlo.rng %a, %b, %c, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<4x2xf32>
  // XLA: %{{.*}} = xla.constant dense<[4, 2]> : tensor<2xi64>
  // STABLEHLO: %{{.*}} = stablehlo.constant dense<[4, 2]> : tensor<2xi64>
  %c_0 = stablehlo.constant dense<[4, 2]> : tensor<2xi64>
  // XLA: %normal = xla.rng %a, %b {distribution = rng_normal} : (tensor<f32>, tensor<f32>) -> tensor<4x2xf32>
  // STABLEHLO: %normal = stablehlo.rng %a, %b, %{{.*}}, distribution = NORMAL : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<4x2xf32>
  %normal = stablehlo.rng %a, %b, %c_0, distribution = NORMAL : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<4x2xf32>
  // XLA: %next, %bits = xla.rng_bit_generator %state {algorithm = rng_philox} : (tensor<3xui64>) -> (tensor<3xui64>, tensor<2x3xui32>)
  // STABLEHLO: %next, %bits = stablehlo.rng_bit_generator %state, algorithm = PHILOX : (tensor<3xui64>) -> (tensor<3xui64>, tensor<2x3xui32>)
  %next, %bits = stablehlo.rng_bit_generator %state, algorithm = PHILOX : (tensor<3xui64>) -> (tensor<3xui64>, tensor<2x3xui32>)
  return
}
