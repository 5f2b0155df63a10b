// RUN: xla-opt %s | filecheck %s --check-prefix=XLA
// RUN: xla-opt %s -t stablehlo | filecheck %s --check-prefix=STABLEHLO

// XLA-LABEL: @ternary(
// STABLEHLO-LABEL: @ternary(
func.func @ternary(%x: tensor<2xf32>, %y: tensor<2xf32>, %low: tensor<f32>, %p: tensor<2xi1>, %q: tensor<i1>) {
  // XLA: %clamped = xla.clamp %low, %x, %y : (tensor<f32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  // STABLEHLO: %clamped = stablehlo.clamp %low, %x, %y : (tensor<f32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %clamped = stablehlo.clamp %low, %x, %y : (tensor<f32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  // XLA: %chosen = xla.select %p, %x, %y : (tensor<2xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  // STABLEHLO: %chosen = stablehlo.select %p, %x, %y : tensor<2xi1>, tensor<2xf32>
  %chosen = stablehlo.select %p, %x, %y : tensor<2xi1>, tensor<2xf32>
  // XLA: %one_of_two = xla.select %q, %x, %y : (tensor<i1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  // STABLEHLO: %one_of_two = stablehlo.select %q, %x, %y : tensor<i1>, tensor<2xf32>
  %one_of_two = stablehlo.select %q, %x, %y : tensor<i1>, tensor<2xf32>
  return
}
