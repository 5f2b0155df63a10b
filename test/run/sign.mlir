// RUN: xla-run %s --all-functions --backend reference

// -1, 0 or 1; zeros keep their sign. x / |x| of complex numbers.

func.func @worked() {
  %integers = xla.constant dense<[-7, 0, 2147483647, -2147483648]> : tensor<4xi32>
  %integers.result = xla.sign %integers : tensor<4xi32>
  check.expect_eq_const %integers.result, dense<[-1, 0, 1, -1]> : tensor<4xi32>
  %floats = xla.constant dense<[-1.5, -0.0, 0.0, 0x7F800000, 0x7FC00000]> : tensor<5xf32>
  %floats.result = xla.sign %floats : tensor<5xf32>
  check.expect_eq_const %floats.result, dense<[-1.0, -0.0, 0.0, 1.0, 0x7FC00000]> : tensor<5xf32>
  %complex = xla.constant dense<[(3.0,4.0), (0.0,0.0)]> : tensor<2xcomplex<f32>>
  %complex.result = xla.sign %complex : tensor<2xcomplex<f32>>
  %complex.expected = xla.constant dense<[(0.6,0.8), (0.0,0.0)]> : tensor<2xcomplex<f32>>
  check.expect_close %complex.result, %complex.expected, max_ulp_difference = 1 : tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>
  // A check takes -0 for 0; the bits tell them apart.
  %zeros = xla.constant dense<[-0.0, 0.0]> : tensor<2xf32>
  %zeros.result = xla.sign %zeros : tensor<2xf32>
  %zeros.bits = xla.bitcast_convert %zeros.result : (tensor<2xf32>) -> tensor<2xi32>
  check.expect_eq_const %zeros.bits, dense<[-2147483648, 0]> : tensor<2xi32>
  func.return
}

// for f32 in floats
func.func @floats() -> tensor<19xf32> {
  %values = xla.constant dense<[0.0, -0.0, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, 1.0, -1.0, 0.5, -0.5, 2.0, -2.5, 3.0, 10.0, -100.0, 0.001, 1.0e30, -1.0e300, 6.0e-8, -1.0e-40]> : tensor<19xf64>
  %x = xla.convert %values : (tensor<19xf64>) -> tensor<19xf32>
  %y = xla.sign %x : tensor<19xf32>
  func.return %y : tensor<19xf32>
}

// for i32 in signed
func.func @integers() -> tensor<18xi32> {
  %values = xla.constant dense<[0, 1, -1, 2, -2, 7, -7, 85, 127, -128, 128, 255, 32767, -32768, 2147483647, -2147483648, 9223372036854775807, -9223372036854775808]> : tensor<18xi64>
  %x = xla.convert %values : (tensor<18xi64>) -> tensor<18xi32>
  %y = xla.sign %x : tensor<18xi32>
  func.return %y : tensor<18xi32>
}

// for f32 in parts
func.func @complex() -> tensor<16xcomplex<f32>> {
  %real = xla.constant dense<[0.0, -0.0, 1.0, -1.0, 0.0, 0.0, 0.5, -0.5, 0.25, -2.0, 3.0, 0.001, 5.0, -4.0, 0x7FF8000000000000, 1.0]> : tensor<16xf64>
  %imaginary = xla.constant dense<[0.0, 0.0, 0.0, 0.0, 1.0, -1.0, 0.25, 2.0, -1.5, -3.0, 4.0, -0.002, -0.5, 1.5, 1.0, 0x7FF8000000000000]> : tensor<16xf64>
  %values = xla.complex %real, %imaginary : (tensor<16xf64>, tensor<16xf64>) -> tensor<16xcomplex<f64>>
  %x = xla.convert %values : (tensor<16xcomplex<f64>>) -> tensor<16xcomplex<f32>>
  %y = xla.sign %x : tensor<16xcomplex<f32>>
  func.return %y : tensor<16xcomplex<f32>>
}

func.func @column_major() -> tensor<3x5xf32, #xla.layout<{0,1}>> {
  %row_major = xla.constant dense<[[0.0, 1.0, -2.0, 3.5, -4.25], [0.5, -0.5, 1.5, -1.5, 2.5], [10.0, -0.0, 100.0, -0.125, 7.0]]> : tensor<3x5xf32>
  %x = xla.copy %row_major : (tensor<3x5xf32>) -> tensor<3x5xf32, #xla.layout<{0,1}>>
  %y = xla.sign %x : tensor<3x5xf32, #xla.layout<{0,1}>>
  func.return %y : tensor<3x5xf32, #xla.layout<{0,1}>>
}

func.func @scalar_and_empty() -> (tensor<f32>, tensor<0x3xf32>) {
  %x = xla.constant dense<-0.0> : tensor<f32>
  %scalar = xla.sign %x : tensor<f32>
  %nothing = xla.constant dense<> : tensor<0x3xf32>
  %empty = xla.sign %nothing : tensor<0x3xf32>
  func.return %scalar, %empty : tensor<f32>, tensor<0x3xf32>
}
