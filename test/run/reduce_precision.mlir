// RUN: xla-run %s --all-functions --backend reference

// Floats as another format would hold them: rounded to even, too large ones infinite, too small ones 0.

func.func @worked() {
  %x = xla.constant dense<[57344.0, 61439.0, 61440.0, 1.125, 1.375]> : tensor<5xf32>
  %0 = xla.reduce_precision %x {exponent_bits = 5, mantissa_bits = 2} : tensor<5xf32>
  check.expect_eq_const %0, dense<[57344.0, 57344.0, 0x7F800000, 1.0, 1.5]> : tensor<5xf32>
  %bf16_like.values = xla.constant dense<[1.0, 1.00390625, 1.01171875, 3.14159274, 3.4028235e38]> : tensor<5xf32>
  %bf16_like = xla.reduce_precision %bf16_like.values {exponent_bits = 8, mantissa_bits = 7} : tensor<5xf32>
  check.expect_eq_const %bf16_like, dense<[1.0, 1.0, 1.015625, 3.140625, 0x7F800000]> : tensor<5xf32>
  %f16_like.values = xla.constant dense<[65504.0, 65519.0, 65520.0, 1.0e-5, 6.1035156e-5, 0.333333343, 6.1e-5, 6.103e-5, -1.0e-9]> : tensor<9xf32>
  %f16_like = xla.reduce_precision %f16_like.values {exponent_bits = 5, mantissa_bits = 10} : tensor<9xf32>
  check.expect_eq_const %f16_like, dense<[65504.0, 65504.0, 0x7F800000, 0.0, 6.1035156e-5, 0.333251953125, 0.0, 6.1035156e-5, -0.0]> : tensor<9xf32>
  // A check takes -0 for 0; the bits tell them apart.
  %f16_like.bits = xla.bitcast_convert %f16_like : (tensor<9xf32>) -> tensor<9xi32>
  %last = xla.slice %f16_like.bits {start_indices = [8], limit_indices = [9], strides = [1]} : (tensor<9xi32>) -> tensor<1xi32>
  check.expect_eq_const %last, dense<[-2147483648]> : tensor<1xi32>
  %f8_like.values = xla.constant dense<[240.0, 247.0, 248.0, 448.0, 0.015625, 0.0146]> : tensor<6xf32>
  %f8_like = xla.reduce_precision %f8_like.values {exponent_bits = 4, mantissa_bits = 3} : tensor<6xf32>
  check.expect_eq_const %f8_like, dense<[240.0, 240.0, 0x7F800000, 0x7F800000, 0.015625, 0.0]> : tensor<6xf32>
  // Without mantissa bits, even is what has an even exponent field: 2 and not 1 or 4.
  %powers.values = xla.constant dense<[1.0, 1.25, 1.5, 1.75, 3.0]> : tensor<5xf32>
  %powers = xla.reduce_precision %powers.values {exponent_bits = 8, mantissa_bits = 0} : tensor<5xf32>
  check.expect_eq_const %powers, dense<[1.0, 1.0, 2.0, 2.0, 2.0]> : tensor<5xf32>
  %four_bits.values = xla.constant dense<[0.5, 1.0, 1.5, 2.0, 3.0, 3.5, 4.0, 0.75, 0.9, 0.99]> : tensor<10xf32>
  %four_bits = xla.reduce_precision %four_bits.values {exponent_bits = 2, mantissa_bits = 1} : tensor<10xf32>
  check.expect_eq_const %four_bits, dense<[0.0, 1.0, 1.5, 2.0, 3.0, 0x7F800000, 0x7F800000, 0.0, 1.0, 1.0]> : tensor<10xf32>
  %two_bits.values = xla.constant dense<[0.5, 1.0, 1.5, 2.0, 0x7FC00000]> : tensor<5xf32>
  %two_bits = xla.reduce_precision %two_bits.values {exponent_bits = 1, mantissa_bits = 0} : tensor<5xf32>
  check.expect_eq_const %two_bits, dense<[0.0, 0.0, 0x7F800000, 0x7F800000, 0x7FC00000]> : tensor<5xf32>
  %double.values = xla.constant dense<[1.0e39, 3.40282357e38, 1.0e-40]> : tensor<3xf64>
  %double = xla.reduce_precision %double.values {exponent_bits = 8, mantissa_bits = 23} : tensor<3xf64>
  check.expect_eq_const %double, dense<[0x7FF0000000000000, 0x7FF0000000000000, 0.0]> : tensor<3xf64>
  %bf16.values = xla.constant dense<[1.0e-5, 70000.0]> : tensor<2xbf16>
  %bf16 = xla.reduce_precision %bf16.values {exponent_bits = 5, mantissa_bits = 10} : tensor<2xbf16>
  check.expect_eq_const %bf16, dense<[0.0, 0x7F80]> : tensor<2xbf16>
  %f16.values = xla.constant dense<[65504.0, 1.001]> : tensor<2xf16>
  %f16 = xla.reduce_precision %f16.values {exponent_bits = 8, mantissa_bits = 7} : tensor<2xf16>
  check.expect_eq_const %f16, dense<[0x7C00, 1.0]> : tensor<2xf16>
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
