// RUN: xla-opt %s --split-input-file --verify-diagnostics | filecheck %s
// RUN: xla-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | xla-opt --split-input-file | filecheck %s

// CHECK-LABEL: @unary(
func.func @unary(%f: tensor<2xf32>, %i: tensor<2xi32>, %p: tensor<2xi1>, %c: tensor<2xcomplex<f32>>) {
  // CHECK: xla.abs %f : tensor<2xf32>
  %0 = xla.abs %f : tensor<2xf32>
  // CHECK: xla.abs %c : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  %1 = xla.abs %c : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  // CHECK: xla.acos %f : tensor<2xf32>
  %2 = xla.acos %f : tensor<2xf32>
  // CHECK: xla.acosh %f : tensor<2xf32>
  %3 = xla.acosh %f : tensor<2xf32>
  // CHECK: xla.asin %f : tensor<2xf32>
  %4 = xla.asin %f : tensor<2xf32>
  // CHECK: xla.asinh %f : tensor<2xf32>
  %5 = xla.asinh %f : tensor<2xf32>
  // CHECK: xla.atanh %f : tensor<2xf32>
  %6 = xla.atanh %f : tensor<2xf32>
  // CHECK: xla.cbrt %f : tensor<2xf32>
  %7 = xla.cbrt %f : tensor<2xf32>
  // CHECK: xla.ceil %f : tensor<2xf32>
  %8 = xla.ceil %f : tensor<2xf32>
  // CHECK: xla.count_leading_zeros %i : tensor<2xi32>
  %9 = xla.count_leading_zeros %i : tensor<2xi32>
  // CHECK: xla.cosine %f : tensor<2xf32>
  %10 = xla.cosine %f : tensor<2xf32>
  // CHECK: xla.cosh %f : tensor<2xf32>
  %11 = xla.cosh %f : tensor<2xf32>
  // CHECK: xla.erf %f : tensor<2xf32>
  %12 = xla.erf %f : tensor<2xf32>
  // CHECK: xla.exponential %f : tensor<2xf32>
  %13 = xla.exponential %f : tensor<2xf32>
  // CHECK: xla.exponential_minus_one %f : tensor<2xf32>
  %14 = xla.exponential_minus_one %f : tensor<2xf32>
  // CHECK: xla.floor %f : tensor<2xf32>
  %15 = xla.floor %f : tensor<2xf32>
  // CHECK: xla.imag %c : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  %16 = xla.imag %c : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  // CHECK: xla.is_finite %f : (tensor<2xf32>) -> tensor<2xi1>
  %17 = xla.is_finite %f : (tensor<2xf32>) -> tensor<2xi1>
  // CHECK: xla.log %f : tensor<2xf32>
  %18 = xla.log %f : tensor<2xf32>
  // CHECK: xla.log_plus_one %f : tensor<2xf32>
  %19 = xla.log_plus_one %f : tensor<2xf32>
  // CHECK: xla.logistic %f : tensor<2xf32>
  %20 = xla.logistic %f : tensor<2xf32>
  // CHECK: xla.negate %i : tensor<2xi32>
  %21 = xla.negate %i : tensor<2xi32>
  // CHECK: xla.not %p : tensor<2xi1>
  %22 = xla.not %p : tensor<2xi1>
  // CHECK: xla.popcnt %i : tensor<2xi32>
  %23 = xla.popcnt %i : tensor<2xi32>
  // CHECK: xla.real %c : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  %24 = xla.real %c : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  // CHECK: xla.round_nearest_afz %f : tensor<2xf32>
  %25 = xla.round_nearest_afz %f : tensor<2xf32>
  // CHECK: xla.round_nearest_even %f : tensor<2xf32>
  %26 = xla.round_nearest_even %f : tensor<2xf32>
  // CHECK: xla.rsqrt %f : tensor<2xf32>
  %27 = xla.rsqrt %f : tensor<2xf32>
  // CHECK: xla.sign %f : tensor<2xf32>
  %28 = xla.sign %f : tensor<2xf32>
  // CHECK: xla.sine %f : tensor<2xf32>
  %29 = xla.sine %f : tensor<2xf32>
  // CHECK: xla.sinh %f : tensor<2xf32>
  %30 = xla.sinh %f : tensor<2xf32>
  // CHECK: xla.sqrt %f : tensor<2xf32>
  %31 = xla.sqrt %f : tensor<2xf32>
  // CHECK: xla.tan %f : tensor<2xf32>
  %32 = xla.tan %f : tensor<2xf32>
  // CHECK: xla.tanh %f attributes {xla.metadata = "x"} : tensor<2xf32>
  %33 = xla.tanh %f attributes {xla.metadata = "x"} : tensor<2xf32>
  func.return
}

// -----

func.func @abs_C1(%x: tensor<2xi1>) {
  // expected-error @+1 {{xla.abs: (C1) operand has element type pred, allowed: integer or float or complex}}
  %0 = xla.abs %x : tensor<2xi1>
  func.return
}

// -----

func.func @acos_C1(%x: tensor<2xi1>) {
  // expected-error @+1 {{xla.acos: (C1) operand has element type pred, allowed: float or complex}}
  %0 = xla.acos %x : tensor<2xi1>
  func.return
}

// -----

func.func @acosh_C1(%x: tensor<2xi1>) {
  // expected-error @+1 {{xla.acosh: (C1) operand has element type pred, allowed: float or complex}}
  %0 = xla.acosh %x : tensor<2xi1>
  func.return
}

// -----

func.func @asin_C1(%x: tensor<2xi1>) {
  // expected-error @+1 {{xla.asin: (C1) operand has element type pred, allowed: float or complex}}
  %0 = xla.asin %x : tensor<2xi1>
  func.return
}

// -----

func.func @asinh_C1(%x: tensor<2xi1>) {
  // expected-error @+1 {{xla.asinh: (C1) operand has element type pred, allowed: float or complex}}
  %0 = xla.asinh %x : tensor<2xi1>
  func.return
}

// -----

func.func @atanh_C1(%x: tensor<2xi1>) {
  // expected-error @+1 {{xla.atanh: (C1) operand has element type pred, allowed: float or complex}}
  %0 = xla.atanh %x : tensor<2xi1>
  func.return
}

// -----

func.func @cbrt_C1(%x: tensor<2xi1>) {
  // expected-error @+1 {{xla.cbrt: (C1) operand has element type pred, allowed: float}}
  %0 = xla.cbrt %x : tensor<2xi1>
  func.return
}

// -----

func.func @ceil_C1(%x: tensor<2xi1>) {
  // expected-error @+1 {{xla.ceil: (C1) operand has element type pred, allowed: float}}
  %0 = xla.ceil %x : tensor<2xi1>
  func.return
}

// -----

func.func @count_leading_zeros_C1(%x: tensor<2xi1>) {
  // expected-error @+1 {{xla.count_leading_zeros: (C1) operand has element type pred, allowed: integer}}
  %0 = xla.count_leading_zeros %x : tensor<2xi1>
  func.return
}

// -----

func.func @cosine_C1(%x: tensor<2xi1>) {
  // expected-error @+1 {{xla.cosine: (C1) operand has element type pred, allowed: float or complex}}
  %0 = xla.cosine %x : tensor<2xi1>
  func.return
}

// -----

func.func @cosh_C1(%x: tensor<2xi1>) {
  // expected-error @+1 {{xla.cosh: (C1) operand has element type pred, allowed: float or complex}}
  %0 = xla.cosh %x : tensor<2xi1>
  func.return
}

// -----

func.func @erf_C1(%x: tensor<2xi1>) {
  // expected-error @+1 {{xla.erf: (C1) operand has element type pred, allowed: float}}
  %0 = xla.erf %x : tensor<2xi1>
  func.return
}

// -----

func.func @exponential_C1(%x: tensor<2xi1>) {
  // expected-error @+1 {{xla.exponential: (C1) operand has element type pred, allowed: float or complex}}
  %0 = xla.exponential %x : tensor<2xi1>
  func.return
}

// -----

func.func @exponential_minus_one_C1(%x: tensor<2xi1>) {
  // expected-error @+1 {{xla.exponential_minus_one: (C1) operand has element type pred, allowed: float or complex}}
  %0 = xla.exponential_minus_one %x : tensor<2xi1>
  func.return
}

// -----

func.func @floor_C1(%x: tensor<2xi1>) {
  // expected-error @+1 {{xla.floor: (C1) operand has element type pred, allowed: float}}
  %0 = xla.floor %x : tensor<2xi1>
  func.return
}

// -----

func.func @imag_C1(%x: tensor<2xi1>) {
  // expected-error @+1 {{xla.imag: (C1) operand has element type pred, allowed: float or complex}}
  %0 = xla.imag %x : tensor<2xi1>
  func.return
}

// -----

func.func @is_finite_C1(%x: tensor<2xi1>) {
  // expected-error @+1 {{xla.is_finite: (C1) operand has element type pred, allowed: float}}
  %0 = xla.is_finite %x : tensor<2xi1>
  func.return
}

// -----

func.func @log_C1(%x: tensor<2xi1>) {
  // expected-error @+1 {{xla.log: (C1) operand has element type pred, allowed: float or complex}}
  %0 = xla.log %x : tensor<2xi1>
  func.return
}

// -----

func.func @log_plus_one_C1(%x: tensor<2xi1>) {
  // expected-error @+1 {{xla.log_plus_one: (C1) operand has element type pred, allowed: float or complex}}
  %0 = xla.log_plus_one %x : tensor<2xi1>
  func.return
}

// -----

func.func @logistic_C1(%x: tensor<2xi1>) {
  // expected-error @+1 {{xla.logistic: (C1) operand has element type pred, allowed: float or complex}}
  %0 = xla.logistic %x : tensor<2xi1>
  func.return
}

// -----

func.func @negate_C1(%x: tensor<2xi1>) {
  // expected-error @+1 {{xla.negate: (C1) operand has element type pred, allowed: integer or float or complex}}
  %0 = xla.negate %x : tensor<2xi1>
  func.return
}

// -----

func.func @not_C1(%x: tensor<2xf32>) {
  // expected-error @+1 {{xla.not: (C1) operand has element type f32, allowed: integer or pred}}
  %0 = xla.not %x : tensor<2xf32>
  func.return
}

// -----

func.func @popcnt_C1(%x: tensor<2xi1>) {
  // expected-error @+1 {{xla.popcnt: (C1) operand has element type pred, allowed: integer}}
  %0 = xla.popcnt %x : tensor<2xi1>
  func.return
}

// -----

func.func @real_C1(%x: tensor<2xi1>) {
  // expected-error @+1 {{xla.real: (C1) operand has element type pred, allowed: float or complex}}
  %0 = xla.real %x : tensor<2xi1>
  func.return
}

// -----

func.func @round_nearest_afz_C1(%x: tensor<2xi1>) {
  // expected-error @+1 {{xla.round_nearest_afz: (C1) operand has element type pred, allowed: float}}
  %0 = xla.round_nearest_afz %x : tensor<2xi1>
  func.return
}

// -----

func.func @round_nearest_even_C1(%x: tensor<2xi1>) {
  // expected-error @+1 {{xla.round_nearest_even: (C1) operand has element type pred, allowed: float}}
  %0 = xla.round_nearest_even %x : tensor<2xi1>
  func.return
}

// -----

func.func @rsqrt_C1(%x: tensor<2xi1>) {
  // expected-error @+1 {{xla.rsqrt: (C1) operand has element type pred, allowed: float or complex}}
  %0 = xla.rsqrt %x : tensor<2xi1>
  func.return
}

// -----

func.func @sign_C1(%x: tensor<2xi1>) {
  // expected-error @+1 {{xla.sign: (C1) operand has element type pred, allowed: signed integer or float or complex}}
  %0 = xla.sign %x : tensor<2xi1>
  func.return
}

// -----

func.func @sine_C1(%x: tensor<2xi1>) {
  // expected-error @+1 {{xla.sine: (C1) operand has element type pred, allowed: float or complex}}
  %0 = xla.sine %x : tensor<2xi1>
  func.return
}

// -----

func.func @sinh_C1(%x: tensor<2xi1>) {
  // expected-error @+1 {{xla.sinh: (C1) operand has element type pred, allowed: float or complex}}
  %0 = xla.sinh %x : tensor<2xi1>
  func.return
}

// -----

func.func @sqrt_C1(%x: tensor<2xi1>) {
  // expected-error @+1 {{xla.sqrt: (C1) operand has element type pred, allowed: float or complex}}
  %0 = xla.sqrt %x : tensor<2xi1>
  func.return
}

// -----

func.func @tan_C1(%x: tensor<2xi1>) {
  // expected-error @+1 {{xla.tan: (C1) operand has element type pred, allowed: float or complex}}
  %0 = xla.tan %x : tensor<2xi1>
  func.return
}

// -----

func.func @tanh_C1(%x: tensor<2xi1>) {
  // expected-error @+1 {{xla.tanh: (C1) operand has element type pred, allowed: float or complex}}
  %0 = xla.tanh %x : tensor<2xi1>
  func.return
}
