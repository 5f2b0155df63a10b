// RUN: xla-run %s --all-functions --backend reference

// The imaginary part; that of a float is 0.

func.func @worked() {
  %float = xla.constant dense<[3.0]> : tensor<1xf32>
  %float.result = xla.imag %float : tensor<1xf32>
  check.expect_eq_const %float.result, dense<[0.0]> : tensor<1xf32>
  %complex = xla.constant dense<[(1.5,-2.5)]> : tensor<1xcomplex<f32>>
  %complex.result = xla.imag %complex : (tensor<1xcomplex<f32>>) -> tensor<1xf32>
  check.expect_eq_const %complex.result, dense<[-2.5]> : tensor<1xf32>
  func.return
}

// for f32 in floats
func.func @floats() -> tensor<19xf32> {
  %values = xla.constant dense<[0.0, -0.0, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, 1.0, -1.0, 0.5, -0.5, 2.0, -2.5, 3.0, 10.0, -100.0, 0.001, 1.0e30, -1.0e300, 6.0e-8, -1.0e-40]> : tensor<19xf64>
  %x = xla.convert %values : (tensor<19xf64>) -> tensor<19xf32>
  %y = xla.imag %x : tensor<19xf32>
  func.return %y : tensor<19xf32>
}

// for f32 in parts
func.func @complex() -> tensor<16xf32> {
  %real = xla.constant dense<[0.0, -0.0, 1.0, -1.0, 0.0, 3.0, -0.5, 0.25, -2.0, 1.0e20, 1.0, 0x7FF0000000000000, 1.0, 0x7FF0000000000000, 0x7FF8000000000000, 1.0]> : tensor<16xf64>
  %imaginary = xla.constant dense<[0.0, -0.0, 0.0, 0.0, 1.0, 4.0, 2.0, -1.5, -3.0, 1.0, -1.0e20, 1.0, 0xFFF0000000000000, 0x7FF8000000000000, 1.0, 0x7FF8000000000000]> : tensor<16xf64>
  %values = xla.complex %real, %imaginary : (tensor<16xf64>, tensor<16xf64>) -> tensor<16xcomplex<f64>>
  %x = xla.convert %values : (tensor<16xcomplex<f64>>) -> tensor<16xcomplex<f32>>
  %y = xla.imag %x : (tensor<16xcomplex<f32>>) -> tensor<16xf32>
  func.return %y : tensor<16xf32>
}

func.func @column_major() -> tensor<3x5xf32, #xla.layout<{0,1}>> {
  %row_major = xla.constant dense<[[0.0, 1.0, -2.0, 3.5, -4.25], [0.5, -0.5, 1.5, -1.5, 2.5], [10.0, -0.0, 100.0, -0.125, 7.0]]> : tensor<3x5xf32>
  %x = xla.copy %row_major : (tensor<3x5xf32>) -> tensor<3x5xf32, #xla.layout<{0,1}>>
  %y = xla.imag %x : tensor<3x5xf32, #xla.layout<{0,1}>>
  func.return %y : tensor<3x5xf32, #xla.layout<{0,1}>>
}

func.func @scalar_and_empty() -> (tensor<f32>, tensor<0x3xf32>) {
  %x = xla.constant dense<-2.0> : tensor<f32>
  %scalar = xla.imag %x : tensor<f32>
  %nothing = xla.constant dense<> : tensor<0x3xf32>
  %empty = xla.imag %nothing : tensor<0x3xf32>
  func.return %scalar, %empty : tensor<f32>, tensor<0x3xf32>
}
