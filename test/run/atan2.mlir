// RUN: xla-run %s --all-functions --backend reference

// The angle of the point (right, left), with the signs of zeros.

func.func @worked() {
  %quadrants.left = xla.constant dense<[1.0, 0.0, -0.0, 0.0, -0.0]> : tensor<5xf32>
  %quadrants.right = xla.constant dense<[-1.0, -0.0, -0.0, 0.0, 0.0]> : tensor<5xf32>
  %quadrants = xla.atan2 %quadrants.left, %quadrants.right : tensor<5xf32>
  %quadrants.expected = xla.constant dense<[2.3561945, 3.1415927, -3.1415927, 0.0, -0.0]> : tensor<5xf32>
  check.expect_close %quadrants, %quadrants.expected, max_ulp_difference = 1 : tensor<5xf32>, tensor<5xf32>
  // A check takes -0 for 0; the bits tell them apart.
  %zeros.left = xla.constant dense<[0.0, -0.0]> : tensor<2xf32>
  %zeros.right = xla.constant dense<[0.0, 0.0]> : tensor<2xf32>
  %zeros = xla.atan2 %zeros.left, %zeros.right : tensor<2xf32>
  %zeros.bits = xla.bitcast_convert %zeros : (tensor<2xf32>) -> tensor<2xi32>
  check.expect_eq_const %zeros.bits, dense<[0, -2147483648]> : tensor<2xi32>
  func.return
}

// for f32 in floats
func.func @floats() -> tensor<11x11xf32> {
  %values = xla.constant dense<[0.0, -0.0, 1.0, -1.5, 0.5, 3.0, -7.0, 1.0e30, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000]> : tensor<11xf64>
  %x = xla.convert %values : (tensor<11xf64>) -> tensor<11xf32>
  %left = xla.broadcast %x {dimensions = [0]} : (tensor<11xf32>) -> tensor<11x11xf32>
  %right = xla.broadcast %x {dimensions = [1]} : (tensor<11xf32>) -> tensor<11x11xf32>
  %y = xla.atan2 %left, %right : tensor<11x11xf32>
  func.return %y : tensor<11x11xf32>
}

// for f32 in parts
func.func @complex() -> tensor<8x8xcomplex<f32>> {
  %real = xla.constant dense<[0.0, 1.0, -1.0, 0.0, 3.0, -0.5, 0.25, 2.0]> : tensor<8xf64>
  %imaginary = xla.constant dense<[0.0, 0.0, 0.0, 1.0, -4.0, 2.0, -1.5, 0.5]> : tensor<8xf64>
  %values = xla.complex %real, %imaginary : (tensor<8xf64>, tensor<8xf64>) -> tensor<8xcomplex<f64>>
  %x = xla.convert %values : (tensor<8xcomplex<f64>>) -> tensor<8xcomplex<f32>>
  %left = xla.broadcast %x {dimensions = [0]} : (tensor<8xcomplex<f32>>) -> tensor<8x8xcomplex<f32>>
  %right = xla.broadcast %x {dimensions = [1]} : (tensor<8xcomplex<f32>>) -> tensor<8x8xcomplex<f32>>
  %y = xla.atan2 %left, %right : tensor<8x8xcomplex<f32>>
  func.return %y : tensor<8x8xcomplex<f32>>
}

func.func @mixed_layouts() -> tensor<3x5xf32, #xla.layout<{0,1}>> {
  %left = xla.constant dense<[[0.0, 1.0, -2.0, 3.5, -4.25], [0.5, -0.5, 1.5, -1.5, 2.5], [10.0, -0.0, 100.0, -0.125, 7.0]]> : tensor<3x5xf32>
  %0 = xla.constant dense<[[1.0, 0.5, -2.0, 4.0, 3.0], [-0.25, 8.0, 1.5, 2.0, -5.0], [16.0, -1.0, 0.125, 10.0, -0.5]]> : tensor<3x5xf32>
  %right = xla.copy %0 : (tensor<3x5xf32>) -> tensor<3x5xf32, #xla.layout<{0,1}>>
  %y = xla.atan2 %left, %right : (tensor<3x5xf32>, tensor<3x5xf32, #xla.layout<{0,1}>>) -> tensor<3x5xf32, #xla.layout<{0,1}>>
  func.return %y : tensor<3x5xf32, #xla.layout<{0,1}>>
}

func.func @scalar_and_empty() -> (tensor<f32>, tensor<3x0xf32>) {
  %left = xla.constant dense<3.0> : tensor<f32>
  %right = xla.constant dense<2.0> : tensor<f32>
  %scalar = xla.atan2 %left, %right : tensor<f32>
  %nothing = xla.constant dense<> : tensor<3x0xf32>
  %empty = xla.atan2 %nothing, %nothing : tensor<3x0xf32>
  func.return %scalar, %empty : tensor<f32>, tensor<3x0xf32>
}
