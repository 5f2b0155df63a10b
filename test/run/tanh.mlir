// RUN: xla-run %s --all-functions --backend reference

// tanh x: between -1 and 1.

func.func @worked() {
  %ends = xla.constant dense<[0.0, 0x7F800000, 0xFF800000]> : tensor<3xf32>
  %ends.result = xla.tanh %ends : tensor<3xf32>
  check.expect_eq_const %ends.result, dense<[0.0, 1.0, -1.0]> : tensor<3xf32>
  // A check takes -0 for 0; the bits tell them apart.
  %zeros = xla.constant dense<[-0.0, 0.0]> : tensor<2xf32>
  %zeros.result = xla.tanh %zeros : tensor<2xf32>
  %zeros.bits = xla.bitcast_convert %zeros.result : (tensor<2xf32>) -> tensor<2xi32>
  check.expect_eq_const %zeros.bits, dense<[-2147483648, 0]> : tensor<2xi32>
  func.return
}

// for f32 in floats
func.func @floats() -> tensor<19xf32> {
  %values = xla.constant dense<[0.0, -0.0, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, 1.0, -1.0, 0.5, -0.5, 2.0, -2.5, 9.0, -10.0, 20.0, -50.0, 0.001, 6.0e-8, -1.0e-40, 0.625]> : tensor<19xf64>
  %x = xla.convert %values : (tensor<19xf64>) -> tensor<19xf32>
  %y = xla.tanh %x : tensor<19xf32>
  func.return %y : tensor<19xf32>
}

// for f32 in parts
func.func @complex() -> tensor<20xcomplex<f32>> {
  %real = xla.constant dense<[0.0, -0.0, 1.0, -1.0, 0.0, 0.0, 0.5, -0.5, 0.25, -2.0, 3.0, 0.001, 5.0, -4.0, 0x7FF0000000000000, 0xFFF0000000000000, 1.0, -1.0, 0x7FF8000000000000, 1.0]> : tensor<20xf64>
  %imaginary = xla.constant dense<[0.0, 0.0, 0.0, 0.0, 1.0, -1.0, 0.25, 2.0, -1.5, -3.0, 4.0, -0.002, -0.5, 1.5, 1.0, -1.0, 0x7FF0000000000000, 0xFFF0000000000000, 1.0, 0x7FF8000000000000]> : tensor<20xf64>
  %values = xla.complex %real, %imaginary : (tensor<20xf64>, tensor<20xf64>) -> tensor<20xcomplex<f64>>
  %x = xla.convert %values : (tensor<20xcomplex<f64>>) -> tensor<20xcomplex<f32>>
  %y = xla.tanh %x : tensor<20xcomplex<f32>>
  func.return %y : tensor<20xcomplex<f32>>
}

func.func @column_major() -> tensor<3x5xf32, #xla.layout<{0,1}>> {
  %row_major = xla.constant dense<[[0.0, 0.75, -0.25, 0.5, -1.0], [0.5, -0.5, 0.125, -0.875, 0.25], [1.0, -0.0, 0.0625, -0.125, 0.375]]> : tensor<3x5xf32>
  %x = xla.copy %row_major : (tensor<3x5xf32>) -> tensor<3x5xf32, #xla.layout<{0,1}>>
  %y = xla.tanh %x : tensor<3x5xf32, #xla.layout<{0,1}>>
  func.return %y : tensor<3x5xf32, #xla.layout<{0,1}>>
}

func.func @scalar_and_empty() -> (tensor<f32>, tensor<0x3xf32>) {
  %x = xla.constant dense<0.5> : tensor<f32>
  %scalar = xla.tanh %x : tensor<f32>
  %nothing = xla.constant dense<> : tensor<0x3xf32>
  %empty = xla.tanh %nothing : tensor<0x3xf32>
  func.return %scalar, %empty : tensor<f32>, tensor<0x3xf32>
}
