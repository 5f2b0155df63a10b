// RUN: xla-opt %s | filecheck %s --check-prefix=XLA
// RUN: xla-opt %s -t stablehlo | filecheck %s --check-prefix=STABLEHLO

// XLA-LABEL: @binary(
// STABLEHLO-LABEL: @binary(
func.func @binary(%f: tensor<2xf32>, %i: tensor<2xi32>) {
  // XLA: xla.add %f, %f : tensor<2xf32>
  // STABLEHLO: stablehlo.add %f, %f : tensor<2xf32>
  %0 = stablehlo.add %f, %f : tensor<2xf32>
  // XLA: xla.subtract %f, %f : tensor<2xf32>
  // STABLEHLO: stablehlo.subtract %f, %f : tensor<2xf32>
  %1 = stablehlo.subtract %f, %f : tensor<2xf32>
  // XLA: xla.multiply %f, %f : tensor<2xf32>
  // STABLEHLO: stablehlo.multiply %f, %f : tensor<2xf32>
  %2 = stablehlo.multiply %f, %f : tensor<2xf32>
  // XLA: xla.divide %f, %f : tensor<2xf32>
  // STABLEHLO: stablehlo.divide %f, %f : tensor<2xf32>
  %3 = stablehlo.divide %f, %f : tensor<2xf32>
  // XLA: xla.power %f, %f : tensor<2xf32>
  // STABLEHLO: stablehlo.power %f, %f : tensor<2xf32>
  %4 = stablehlo.power %f, %f : tensor<2xf32>
  // XLA: xla.remainder %f, %f : tensor<2xf32>
  // STABLEHLO: stablehlo.remainder %f, %f : tensor<2xf32>
  %5 = stablehlo.remainder %f, %f : tensor<2xf32>
  // XLA: xla.maximum %f, %f : tensor<2xf32>
  // STABLEHLO: stablehlo.maximum %f, %f : tensor<2xf32>
  %6 = stablehlo.maximum %f, %f : tensor<2xf32>
  // XLA: xla.minimum %f, %f : tensor<2xf32>
  // STABLEHLO: stablehlo.minimum %f, %f : tensor<2xf32>
  %7 = stablehlo.minimum %f, %f : tensor<2xf32>
  // XLA: xla.and %i, %i : tensor<2xi32>
  // STABLEHLO: stablehlo.and %i, %i : tensor<2xi32>
  %8 = stablehlo.and %i, %i : tensor<2xi32>
  // XLA: xla.or %i, %i : tensor<2xi32>
  // STABLEHLO: stablehlo.or %i, %i : tensor<2xi32>
  %9 = stablehlo.or %i, %i : tensor<2xi32>
  // XLA: xla.xor %i, %i : tensor<2xi32>
  // STABLEHLO: stablehlo.xor %i, %i : tensor<2xi32>
  %10 = stablehlo.xor %i, %i : tensor<2xi32>
  // XLA: xla.mulhi %i, %i : tensor<2xi32>
  // STABLEHLO: chlo.mulhi %i, %i : tensor<2xi32>, tensor<2xi32> -> tensor<2xi32>
  %11 = chlo.mulhi %i, %i : tensor<2xi32>, tensor<2xi32> -> tensor<2xi32>
  // XLA: xla.shift_left %i, %i : tensor<2xi32>
  // STABLEHLO: stablehlo.shift_left %i, %i : tensor<2xi32>
  %12 = stablehlo.shift_left %i, %i : tensor<2xi32>
  // XLA: xla.shift_right_arithmetic %i, %i : tensor<2xi32>
  // STABLEHLO: stablehlo.shift_right_arithmetic %i, %i : tensor<2xi32>
  %13 = stablehlo.shift_right_arithmetic %i, %i : tensor<2xi32>
  // XLA: xla.shift_right_logical %i, %i : tensor<2xi32>
  // STABLEHLO: stablehlo.shift_right_logical %i, %i : tensor<2xi32>
  %14 = stablehlo.shift_right_logical %i, %i : tensor<2xi32>
  // XLA: xla.atan2 %f, %f : tensor<2xf32>
  // STABLEHLO: stablehlo.atan2 %f, %f : tensor<2xf32>
  %15 = stablehlo.atan2 %f, %f : tensor<2xf32>
  // XLA: xla.complex %f, %f : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xcomplex<f32>>
  // STABLEHLO: stablehlo.complex %f, %f : tensor<2xcomplex<f32>>
  %16 = stablehlo.complex %f, %f : tensor<2xcomplex<f32>>
  // XLA: xla.compare %f, %f {direction = LT} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  // STABLEHLO: stablehlo.compare LT, %f, %f : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  %17 = stablehlo.compare LT, %f, %f : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  // XLA: xla.compare %f, %f {direction = EQ, comparison_type = TOTALORDER} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  // STABLEHLO: stablehlo.compare EQ, %f, %f, TOTALORDER : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  %18 = stablehlo.compare EQ, %f, %f, TOTALORDER : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  return
}
