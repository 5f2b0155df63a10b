// RUN: xla-run %s --all-functions --backend reference

// Floats as another format would hold them: rounded to even, too large ones infinite, too small ones 0.

func.func @worked() {
  %x = xla.constant dense<[57344.0, 61439.0, 61440.0, 1.125, 1.375]> : tensor<5xf32>
  %0 = xla.reduce_precision %x {exponent_bits = 5, mantissa_bits = 2} : tensor<5xf32>
  check.expect_eq_const %0, dense<[57344.0, 57344.0, 0x7F800000, 1.0, 1.5]> : tensor<5xf32>
  func.return
}

// for f32 in floats
func.func @formats() -> (tensor<18xf32>, tensor<18xf32>, tensor<18xf32>, tensor<18xf32>, tensor<18xf32>) {
  %values = xla.constant dense<[0.0, -0.0, 1.0, -1.5, 1.00390625, 1.01171875, 0.1, 300.5, 57344.0, 61440.0, 65520.0, 1.0e10, 6.1e-5, 5.9604645e-8, -1.0e-40, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000]> : tensor<18xf64>
  %x = xla.convert %values : (tensor<18xf64>) -> tensor<18xf32>
  %half = xla.reduce_precision %x {exponent_bits = 5, mantissa_bits = 10} : tensor<18xf32>
  %brain = xla.reduce_precision %x {exponent_bits = 8, mantissa_bits = 7} : tensor<18xf32>
  %small = xla.reduce_precision %x {exponent_bits = 4, mantissa_bits = 3} : tensor<18xf32>
  %powers = xla.reduce_precision %x {exponent_bits = 3, mantissa_bits = 0} : tensor<18xf32>
  %wide = xla.reduce_precision %x {exponent_bits = 11, mantissa_bits = 52} : tensor<18xf32>
  func.return %half, %brain, %small, %powers, %wide : tensor<18xf32>, tensor<18xf32>, tensor<18xf32>, tensor<18xf32>, tensor<18xf32>
}

func.func @column_major() -> tensor<2x3xf32, #xla.layout<{0,1}>> {
  %0 = xla.constant dense<[[1.1, 2.2, 3.3], [-4.4, 1.0e9, 1.0e-9]]> : tensor<2x3xf32, #xla.layout<{0,1}>>
  %1 = xla.reduce_precision %0 {exponent_bits = 5, mantissa_bits = 4} : tensor<2x3xf32, #xla.layout<{0,1}>>
  func.return %1 : tensor<2x3xf32, #xla.layout<{0,1}>>
}

func.func @scalar_and_empty() -> (tensor<f64>, tensor<3x0xf16>) {
  %x = xla.constant dense<3.3> : tensor<f64>
  %scalar = xla.reduce_precision %x {exponent_bits = 8, mantissa_bits = 23} : tensor<f64>
  %nothing = xla.constant dense<> : tensor<3x0xf16>
  %empty = xla.reduce_precision %nothing {exponent_bits = 4, mantissa_bits = 3} : tensor<3x0xf16>
  func.return %scalar, %empty : tensor<f64>, tensor<3x0xf16>
}
