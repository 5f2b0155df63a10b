// RUN: xla-run %s --all-functions --backend reference

// The cube root, real of negative numbers too.

func.func @worked() {
  %cubes = xla.constant dense<[27.0, -8.0, 0.0, -0.001]> : tensor<4xf32>
  %cubes.result = xla.cubic_root %cubes : tensor<4xf32>
  %cubes.expected = xla.constant dense<[3.0, -2.0, 0.0, -0.1]> : tensor<4xf32>
  check.expect_close %cubes.result, %cubes.expected, max_ulp_difference = 1 : tensor<4xf32>, tensor<4xf32>
  // A check takes -0 for 0; the bits tell them apart.
  %zeros = xla.constant dense<[-0.0, 0.0]> : tensor<2xf32>
  %zeros.result = xla.cubic_root %zeros : tensor<2xf32>
  %zeros.bits = xla.bitcast_convert %zeros.result : (tensor<2xf32>) -> tensor<2xi32>
  check.expect_eq_const %zeros.bits, dense<[-2147483648, 0]> : tensor<2xi32>
  func.return
}

// for f32 in floats
func.func @floats() -> tensor<19xf32> {
  %values = xla.constant dense<[0.0, -0.0, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, 1.0, -1.0, 0.5, -0.5, 2.0, -2.5, 3.0, 10.0, -100.0, 0.001, 1.0e30, -1.0e300, 6.0e-8, -1.0e-40]> : tensor<19xf64>
  %x = xla.convert %values : (tensor<19xf64>) -> tensor<19xf32>
  %y = xla.cubic_root %x : tensor<19xf32>
  func.return %y : tensor<19xf32>
}

func.func @column_major() -> tensor<3x5xf32, #xla.layout<{0,1}>> {
  %row_major = xla.constant dense<[[0.0, 1.0, -2.0, 3.5, -4.25], [0.5, -0.5, 1.5, -1.5, 2.5], [10.0, -0.0, 100.0, -0.125, 7.0]]> : tensor<3x5xf32>
  %x = xla.copy %row_major : (tensor<3x5xf32>) -> tensor<3x5xf32, #xla.layout<{0,1}>>
  %y = xla.cubic_root %x : tensor<3x5xf32, #xla.layout<{0,1}>>
  func.return %y : tensor<3x5xf32, #xla.layout<{0,1}>>
}

func.func @scalar_and_empty() -> (tensor<f32>, tensor<0x3xf32>) {
  %x = xla.constant dense<8.0> : tensor<f32>
  %scalar = xla.cubic_root %x : tensor<f32>
  %nothing = xla.constant dense<> : tensor<0x3xf32>
  %empty = xla.cubic_root %nothing : tensor<0x3xf32>
  func.return %scalar, %empty : tensor<f32>, tensor<0x3xf32>
}
