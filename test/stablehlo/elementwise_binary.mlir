// RUN: xla-opt %s | filecheck %s --check-prefix=XLA
// RUN: xla-opt %s -t stablehlo | filecheck %s --check-prefix=STABLEHLO

// XLA-LABEL: @binary(
// STABLEHLO-LABEL: @binary(
func.func @binary(%f: tensor<2xf32>, %g: tensor<2xf32>, %i: tensor<2xi32>, %j: tensor<2xi32>) {
  // XLA: xla.add %f, %g : tensor<2xf32>
  // STABLEHLO: stablehlo.add %f, %g : tensor<2xf32>
  %0 = stablehlo.add %f, %g : tensor<2xf32>
  // XLA: xla.subtract %f, %g : tensor<2xf32>
  // STABLEHLO: stablehlo.subtract %f, %g : tensor<2xf32>
  %1 = stablehlo.subtract %f, %g : tensor<2xf32>
  // XLA: xla.multiply %f, %g : tensor<2xf32>
  // STABLEHLO: stablehlo.multiply %f, %g : tensor<2xf32>
  %2 = stablehlo.multiply %f, %g : tensor<2xf32>
  // XLA: xla.divide %f, %g : tensor<2xf32>
  // STABLEHLO: stablehlo.divide %f, %g : tensor<2xf32>
  %3 = stablehlo.divide %f, %g : tensor<2xf32>
  // XLA: xla.power %f, %g : tensor<2xf32>
  // STABLEHLO: stablehlo.power %f, %g : tensor<2xf32>
  %4 = stablehlo.power %f, %g : tensor<2xf32>
  // XLA: xla.remainder %f, %g : tensor<2xf32>
  // STABLEHLO: stablehlo.remainder %f, %g : tensor<2xf32>
  %5 = stablehlo.remainder %f, %g : tensor<2xf32>
  // XLA: xla.maximum %f, %g : tensor<2xf32>
  // STABLEHLO: stablehlo.maximum %f, %g : tensor<2xf32>
  %6 = stablehlo.maximum %f, %g : tensor<2xf32>
  // XLA: xla.minimum %f, %g : tensor<2xf32>
  // STABLEHLO: stablehlo.minimum %f, %g : tensor<2xf32>
  %7 = stablehlo.minimum %f, %g : tensor<2xf32>
  // XLA: xla.and %i, %j : tensor<2xi32>
  // STABLEHLO: stablehlo.and %i, %j : tensor<2xi32>
  %8 = stablehlo.and %i, %j : tensor<2xi32>
  // XLA: xla.or %i, %j : tensor<2xi32>
  // STABLEHLO: stablehlo.or %i, %j : tensor<2xi32>
  %9 = stablehlo.or %i, %j : tensor<2xi32>
  // XLA: xla.xor %i, %j : tensor<2xi32>
  // STABLEHLO: stablehlo.xor %i, %j : tensor<2xi32>
  %10 = stablehlo.xor %i, %j : tensor<2xi32>
  // XLA: xla.mulhi %i, %j : tensor<2xi32>
  // STABLEHLO: chlo.mulhi %i, %j : tensor<2xi32>, tensor<2xi32> -> tensor<2xi32>
  %11 = chlo.mulhi %i, %j : tensor<2xi32>, tensor<2xi32> -> tensor<2xi32>
  // XLA: xla.shift_left %i, %j : tensor<2xi32>
  // STABLEHLO: stablehlo.shift_left %i, %j : tensor<2xi32>
  %12 = stablehlo.shift_left %i, %j : tensor<2xi32>
  // XLA: xla.shift_right_arithmetic %i, %j : tensor<2xi32>
  // STABLEHLO: stablehlo.shift_right_arithmetic %i, %j : tensor<2xi32>
  %13 = stablehlo.shift_right_arithmetic %i, %j : tensor<2xi32>
  // XLA: xla.shift_right_logical %i, %j : tensor<2xi32>
  // STABLEHLO: stablehlo.shift_right_logical %i, %j : tensor<2xi32>
  %14 = stablehlo.shift_right_logical %i, %j : tensor<2xi32>
  // XLA: xla.atan2 %f, %g : tensor<2xf32>
  // STABLEHLO: stablehlo.atan2 %f, %g : tensor<2xf32>
  %15 = stablehlo.atan2 %f, %g : tensor<2xf32>
  // XLA: xla.complex %f, %g : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xcomplex<f32>>
  // STABLEHLO: stablehlo.complex %f, %g : tensor<2xcomplex<f32>>
  %16 = stablehlo.complex %f, %g : tensor<2xcomplex<f32>>
  // XLA: xla.compare %f, %g {direction = LT} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  // STABLEHLO: stablehlo.compare LT, %f, %g : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  %17 = stablehlo.compare LT, %f, %g : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  // XLA: xla.compare %f, %g {direction = EQ, comparison_type = TOTALORDER} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  // STABLEHLO: stablehlo.compare EQ, %f, %g, TOTALORDER : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  %18 = stablehlo.compare EQ, %f, %g, TOTALORDER : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  return
}
