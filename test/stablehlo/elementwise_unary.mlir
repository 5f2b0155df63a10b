// RUN: xla-opt %s | filecheck %s --check-prefix=XLA
// RUN: xla-opt %s -t stablehlo | filecheck %s --check-prefix=STABLEHLO

// XLA-LABEL: @unary(
// STABLEHLO-LABEL: @unary(
func.func @unary(%f: tensor<2xf32>, %i: tensor<2xi32>, %p: tensor<2xi1>, %c: tensor<2xcomplex<f32>>) {
  // XLA: xla.abs %f : tensor<2xf32>
  // STABLEHLO: stablehlo.abs %f : tensor<2xf32>
  %0 = stablehlo.abs %f : tensor<2xf32>
  // XLA: xla.abs %c : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  // STABLEHLO: stablehlo.abs %c : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  %1 = stablehlo.abs %c : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  // XLA: xla.acos %f : tensor<2xf32>
  // STABLEHLO: chlo.acos %f : tensor<2xf32> -> tensor<2xf32>
  %2 = chlo.acos %f : tensor<2xf32> -> tensor<2xf32>
  // XLA: xla.acosh %f : tensor<2xf32>
  // STABLEHLO: chlo.acosh %f : tensor<2xf32> -> tensor<2xf32>
  %3 = chlo.acosh %f : tensor<2xf32> -> tensor<2xf32>
  // XLA: xla.asin %f : tensor<2xf32>
  // STABLEHLO: chlo.asin %f : tensor<2xf32> -> tensor<2xf32>
  %4 = chlo.asin %f : tensor<2xf32> -> tensor<2xf32>
  // XLA: xla.asinh %f : tensor<2xf32>
  // STABLEHLO: chlo.asinh %f : tensor<2xf32> -> tensor<2xf32>
  %5 = chlo.asinh %f : tensor<2xf32> -> tensor<2xf32>
  // XLA: xla.atanh %f : tensor<2xf32>
  // STABLEHLO: chlo.atanh %f : tensor<2xf32> -> tensor<2xf32>
  %6 = chlo.atanh %f : tensor<2xf32> -> tensor<2xf32>
  // XLA: xla.cbrt %f : tensor<2xf32>
  // STABLEHLO: stablehlo.cbrt %f : tensor<2xf32>
  %7 = stablehlo.cbrt %f : tensor<2xf32>
  // XLA: xla.ceil %f : tensor<2xf32>
  // STABLEHLO: stablehlo.ceil %f : tensor<2xf32>
  %8 = stablehlo.ceil %f : tensor<2xf32>
  // XLA: xla.count_leading_zeros %i : tensor<2xi32>
  // STABLEHLO: stablehlo.count_leading_zeros %i : tensor<2xi32>
  %9 = stablehlo.count_leading_zeros %i : tensor<2xi32>
  // XLA: xla.cosine %f : tensor<2xf32>
  // STABLEHLO: stablehlo.cosine %f : tensor<2xf32>
  %10 = stablehlo.cosine %f : tensor<2xf32>
  // XLA: xla.cosh %f : tensor<2xf32>
  // STABLEHLO: chlo.cosh %f : tensor<2xf32> -> tensor<2xf32>
  %11 = chlo.cosh %f : tensor<2xf32> -> tensor<2xf32>
  // XLA: xla.erf %f : tensor<2xf32>
  // STABLEHLO: chlo.erf %f : tensor<2xf32> -> tensor<2xf32>
  %12 = chlo.erf %f : tensor<2xf32> -> tensor<2xf32>
  // XLA: xla.exponential %f : tensor<2xf32>
  // STABLEHLO: stablehlo.exponential %f : tensor<2xf32>
  %13 = stablehlo.exponential %f : tensor<2xf32>
  // XLA: xla.exponential_minus_one %f : tensor<2xf32>
  // STABLEHLO: stablehlo.exponential_minus_one %f : tensor<2xf32>
  %14 = stablehlo.exponential_minus_one %f : tensor<2xf32>
  // XLA: xla.floor %f : tensor<2xf32>
  // STABLEHLO: stablehlo.floor %f : tensor<2xf32>
  %15 = stablehlo.floor %f : tensor<2xf32>
  // XLA: xla.imag %c : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  // STABLEHLO: stablehlo.imag %c : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  %16 = stablehlo.imag %c : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  // XLA: xla.is_finite %f : (tensor<2xf32>) -> tensor<2xi1>
  // STABLEHLO: stablehlo.is_finite %f : (tensor<2xf32>) -> tensor<2xi1>
  %17 = stablehlo.is_finite %f : (tensor<2xf32>) -> tensor<2xi1>
  // XLA: xla.log %f : tensor<2xf32>
  // STABLEHLO: stablehlo.log %f : tensor<2xf32>
  %18 = stablehlo.log %f : tensor<2xf32>
  // XLA: xla.log_plus_one %f : tensor<2xf32>
  // STABLEHLO: stablehlo.log_plus_one %f : tensor<2xf32>
  %19 = stablehlo.log_plus_one %f : tensor<2xf32>
  // XLA: xla.logistic %f : tensor<2xf32>
  // STABLEHLO: stablehlo.logistic %f : tensor<2xf32>
  %20 = stablehlo.logistic %f : tensor<2xf32>
  // XLA: xla.negate %i : tensor<2xi32>
  // STABLEHLO: stablehlo.negate %i : tensor<2xi32>
  %21 = stablehlo.negate %i : tensor<2xi32>
  // XLA: xla.not %p : tensor<2xi1>
  // STABLEHLO: stablehlo.not %p : tensor<2xi1>
  %22 = stablehlo.not %p : tensor<2xi1>
  // XLA: xla.popcnt %i : tensor<2xi32>
  // STABLEHLO: stablehlo.popcnt %i : tensor<2xi32>
  %23 = stablehlo.popcnt %i : tensor<2xi32>
  // XLA: xla.real %c : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  // STABLEHLO: stablehlo.real %c : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  %24 = stablehlo.real %c : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  // XLA: xla.round_nearest_afz %f : tensor<2xf32>
  // STABLEHLO: stablehlo.round_nearest_afz %f : tensor<2xf32>
  %25 = stablehlo.round_nearest_afz %f : tensor<2xf32>
  // XLA: xla.round_nearest_even %f : tensor<2xf32>
  // STABLEHLO: stablehlo.round_nearest_even %f : tensor<2xf32>
  %26 = stablehlo.round_nearest_even %f : tensor<2xf32>
  // XLA: xla.rsqrt %f : tensor<2xf32>
  // STABLEHLO: stablehlo.rsqrt %f : tensor<2xf32>
  %27 = stablehlo.rsqrt %f : tensor<2xf32>
  // XLA: xla.sign %f : tensor<2xf32>
  // STABLEHLO: stablehlo.sign %f : tensor<2xf32>
  %28 = stablehlo.sign %f : tensor<2xf32>
  // XLA: xla.sine %f : tensor<2xf32>
  // STABLEHLO: stablehlo.sine %f : tensor<2xf32>
  %29 = stablehlo.sine %f : tensor<2xf32>
  // XLA: xla.sinh %f : tensor<2xf32>
  // STABLEHLO: chlo.sinh %f : tensor<2xf32> -> tensor<2xf32>
  %30 = chlo.sinh %f : tensor<2xf32> -> tensor<2xf32>
  // XLA: xla.sqrt %f : tensor<2xf32>
  // STABLEHLO: stablehlo.sqrt %f : tensor<2xf32>
  %31 = stablehlo.sqrt %f : tensor<2xf32>
  // XLA: xla.tan %f : tensor<2xf32>
  // STABLEHLO: stablehlo.tan %f : tensor<2xf32>
  %32 = stablehlo.tan %f : tensor<2xf32>
  // XLA: xla.tanh %f : tensor<2xf32>
  // STABLEHLO: stablehlo.tanh %f : tensor<2xf32>
  %33 = stablehlo.tanh %f : tensor<2xf32>
  return
}
