// RUN: xla-run %s --all-functions --backend reference

// Whether a number is neither infinite nor NaN.

func.func @worked() {
  %numbers = xla.constant dense<[1.0, -0.0, 0x7F800000, 0xFF800000, 0x7FC00000]> : tensor<5xf32>
  %numbers.result = xla.is_finite %numbers : (tensor<5xf32>) -> tensor<5xi1>
  check.expect_eq_const %numbers.result, dense<[true, true, false, false, false]> : tensor<5xi1>
  func.return
}

// for f32 in floats
func.func @floats() -> tensor<19xi1> {
  %values = xla.constant dense<[0.0, -0.0, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, 1.0, -1.0, 0.5, -0.5, 2.0, -2.5, 3.0, 10.0, -100.0, 0.001, 1.0e30, -1.0e300, 6.0e-8, -1.0e-40]> : tensor<19xf64>
  %x = xla.convert %values : (tensor<19xf64>) -> tensor<19xf32>
  %y = xla.is_finite %x : (tensor<19xf32>) -> tensor<19xi1>
  func.return %y : tensor<19xi1>
}

func.func @column_major() -> tensor<3x5xi1, #xla.layout<{0,1}>> {
  %row_major = xla.constant dense<[[0.0, 1.0, -2.0, 3.5, -4.25], [0.5, -0.5, 1.5, -1.5, 2.5], [10.0, -0.0, 100.0, -0.125, 7.0]]> : tensor<3x5xf32>
  %x = xla.copy %row_major : (tensor<3x5xf32>) -> tensor<3x5xf32, #xla.layout<{0,1}>>
  %y = xla.is_finite %x : (tensor<3x5xf32, #xla.layout<{0,1}>>) -> tensor<3x5xi1, #xla.layout<{0,1}>>
  func.return %y : tensor<3x5xi1, #xla.layout<{0,1}>>
}

func.func @scalar_and_empty() -> (tensor<i1>, tensor<0x3xi1>) {
  %x = xla.constant dense<0x7F800000> : tensor<f32>
  %scalar = xla.is_finite %x : (tensor<f32>) -> tensor<i1>
  %nothing = xla.constant dense<> : tensor<0x3xf32>
  %empty = xla.is_finite %nothing : (tensor<0x3xf32>) -> tensor<0x3xi1>
  func.return %scalar, %empty : tensor<i1>, tensor<0x3xi1>
}
