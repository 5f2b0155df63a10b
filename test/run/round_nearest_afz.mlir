// RUN: xla-run %s --all-functions --backend reference

// Rounds to whole numbers, ties away from zero; zeros keep their sign.

func.func @worked() {
  %halves = xla.constant dense<[-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 0.49999997, 8388609.0]> : tensor<8xf32>
  %halves.result = xla.round_nearest_afz %halves : tensor<8xf32>
  check.expect_eq_const %halves.result, dense<[-3.0, -2.0, -1.0, 1.0, 2.0, 3.0, 0.0, 8388609.0]> : tensor<8xf32>
  // A check takes -0 for 0; the bits tell them apart.
  %zeros = xla.constant dense<[-0.3, -0.0, 0.0]> : tensor<3xf32>
  %zeros.result = xla.round_nearest_afz %zeros : tensor<3xf32>
  %zeros.bits = xla.bitcast_convert %zeros.result : (tensor<3xf32>) -> tensor<3xi32>
  check.expect_eq_const %zeros.bits, dense<[-2147483648, -2147483648, 0]> : tensor<3xi32>
  func.return
}

// for f32 in floats
func.func @floats() -> tensor<19xf32> {
  %values = xla.constant dense<[0.0, -0.0, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, 0.5, -0.5, 1.5, -1.5, 2.5, -2.5, 0.3, -0.3, 0.49999997, -0.75, 8388609.0, 1.0e30, -1.0e300, 100.4]> : tensor<19xf64>
  %x = xla.convert %values : (tensor<19xf64>) -> tensor<19xf32>
  %y = xla.round_nearest_afz %x : tensor<19xf32>
  func.return %y : tensor<19xf32>
}

func.func @column_major() -> tensor<3x5xf32, #xla.layout<{0,1}>> {
  %row_major = xla.constant dense<[[0.0, 1.0, -2.0, 3.5, -4.25], [0.5, -0.5, 1.5, -1.5, 2.5], [10.0, -0.0, 100.0, -0.125, 7.0]]> : tensor<3x5xf32>
  %x = xla.copy %row_major : (tensor<3x5xf32>) -> tensor<3x5xf32, #xla.layout<{0,1}>>
  %y = xla.round_nearest_afz %x : tensor<3x5xf32, #xla.layout<{0,1}>>
  func.return %y : tensor<3x5xf32, #xla.layout<{0,1}>>
}

func.func @scalar_and_empty() -> (tensor<f32>, tensor<0x3xf32>) {
  %x = xla.constant dense<-0.3> : tensor<f32>
  %scalar = xla.round_nearest_afz %x : tensor<f32>
  %nothing = xla.constant dense<> : tensor<0x3xf32>
  %empty = xla.round_nearest_afz %nothing : tensor<0x3xf32>
  func.return %scalar, %empty : tensor<f32>, tensor<0x3xf32>
}
