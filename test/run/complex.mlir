// RUN: xla-run %s --all-functions --backend reference

// Complex numbers of their parts.

func.func @worked() {
  %real = xla.constant dense<[1.0, -0.0]> : tensor<2xf32>
  %imaginary = xla.constant dense<[-2.5, 3.0]> : tensor<2xf32>
  %0 = xla.complex %real, %imaginary : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xcomplex<f32>>
  check.expect_eq_const %0, dense<[(1.0, -2.5), (-0.0, 3.0)]> : tensor<2xcomplex<f32>>
  func.return
}

// for f32 in parts
func.func @parts() -> tensor<6x6xcomplex<f32>> {
  %values = xla.constant dense<[0.0, -0.0, -1.5, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000]> : tensor<6xf64>
  %x = xla.convert %values : (tensor<6xf64>) -> tensor<6xf32>
  %real = xla.broadcast %x {dimensions = [0]} : (tensor<6xf32>) -> tensor<6x6xf32>
  %imaginary = xla.broadcast %x {dimensions = [1]} : (tensor<6xf32>) -> tensor<6x6xf32>
  %0 = xla.complex %real, %imaginary : (tensor<6x6xf32>, tensor<6x6xf32>) -> tensor<6x6xcomplex<f32>>
  func.return %0 : tensor<6x6xcomplex<f32>>
}

func.func @mixed_layouts() -> tensor<2x3xcomplex<f32>, #xla.layout<{0,1}>> {
  %real = xla.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %imaginary = xla.constant dense<[[0.5, 1.5, 2.5], [-1.0, -2.0, -3.0]]> : tensor<2x3xf32, #xla.layout<{0,1}>>
  %0 = xla.complex %real, %imaginary : (tensor<2x3xf32>, tensor<2x3xf32, #xla.layout<{0,1}>>) -> tensor<2x3xcomplex<f32>, #xla.layout<{0,1}>>
  func.return %0 : tensor<2x3xcomplex<f32>, #xla.layout<{0,1}>>
}

func.func @scalar_and_empty() -> (tensor<complex<f32>>, tensor<0x2xcomplex<f64>>) {
  %one = xla.constant dense<1.0> : tensor<f32>
  %scalar = xla.complex %one, %one : (tensor<f32>, tensor<f32>) -> tensor<complex<f32>>
  %nothing = xla.constant dense<> : tensor<0x2xf64>
  %empty = xla.complex %nothing, %nothing : (tensor<0x2xf64>, tensor<0x2xf64>) -> tensor<0x2xcomplex<f64>>
  func.return %scalar, %empty : tensor<complex<f32>>, tensor<0x2xcomplex<f64>>
}
