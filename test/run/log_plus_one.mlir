// RUN: xla-run %s --all-functions --backend reference

// ln(1 + x), exact near 0: -infinity at -1, NaN below.

func.func @worked() {
  %ends = xla.constant dense<[0.0, -1.0, 0x7F800000, -2.0, 1.0e-10]> : tensor<5xf32>
  %ends.result = xla.log_plus_one %ends : tensor<5xf32>
  check.expect_eq_const %ends.result, dense<[0.0, 0xFF800000, 0x7F800000, 0x7FC00000, 1.0e-10]> : tensor<5xf32>
  // A check takes -0 for 0; the bits tell them apart.
  %zeros = xla.constant dense<[-0.0, 0.0]> : tensor<2xf32>
  %zeros.result = xla.log_plus_one %zeros : tensor<2xf32>
  %zeros.bits = xla.bitcast_convert %zeros.result : (tensor<2xf32>) -> tensor<2xi32>
  check.expect_eq_const %zeros.bits, dense<[-2147483648, 0]> : tensor<2xi32>
  func.return
}

// for f32 in floats
func.func @floats() -> tensor<19xf32> {
  %values = xla.constant dense<[0.0, -0.0, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, 1.0, -1.0, 0.5, -0.5, 2.0, -0.9375, -2.0, 10.0, 100.0, 0.001, -0.001, 1.0e30, 6.0e-8, -1.0e-10]> : tensor<19xf64>
  %x = xla.convert %values : (tensor<19xf64>) -> tensor<19xf32>
  %y = xla.log_plus_one %x : tensor<19xf32>
  func.return %y : tensor<19xf32>
}

// for f32 in parts
func.func @complex() -> tensor<20xcomplex<f32>> {
  %real = xla.constant dense<[0.0, -0.0, 1.0, -1.0, 0.0, 0.0, 0.5, -0.5, 0.25, -2.0, 3.0, 0.001, 5.0, -4.0, 0x7FF0000000000000, 0xFFF0000000000000, 1.0, -1.0, 0x7FF8000000000000, 1.0]> : tensor<20xf64>
  %imaginary = xla.constant dense<[0.0, 0.0, 0.0, 0.0, 1.0, -1.0, 0.25, 2.0, -1.5, -3.0, 4.0, -0.002, -0.5, 1.5, 1.0, -1.0, 0x7FF0000000000000, 0xFFF0000000000000, 1.0, 0x7FF8000000000000]> : tensor<20xf64>
  %values = xla.complex %real, %imaginary : (tensor<20xf64>, tensor<20xf64>) -> tensor<20xcomplex<f64>>
  %x = xla.convert %values : (tensor<20xcomplex<f64>>) -> tensor<20xcomplex<f32>>
  %y = xla.log_plus_one %x : tensor<20xcomplex<f32>>
  func.return %y : tensor<20xcomplex<f32>>
}

func.func @column_major() -> tensor<3x5xf32, #xla.layout<{0,1}>> {
  %row_major = xla.constant dense<[[1.0, 1.75, 2.25, 3.5, 4.0], [5.5, 6.5, 10.125, 7.875, 8.25], [1.0625, 9.0, 100.0, 30.5, 20.375]]> : tensor<3x5xf32>
  %x = xla.copy %row_major : (tensor<3x5xf32>) -> tensor<3x5xf32, #xla.layout<{0,1}>>
  %y = xla.log_plus_one %x : tensor<3x5xf32, #xla.layout<{0,1}>>
  func.return %y : tensor<3x5xf32, #xla.layout<{0,1}>>
}

func.func @scalar_and_empty() -> (tensor<f32>, tensor<0x3xf32>) {
  %x = xla.constant dense<0.5> : tensor<f32>
  %scalar = xla.log_plus_one %x : tensor<f32>
  %nothing = xla.constant dense<> : tensor<0x3xf32>
  %empty = xla.log_plus_one %nothing : tensor<0x3xf32>
  func.return %scalar, %empty : tensor<f32>, tensor<0x3xf32>
}
