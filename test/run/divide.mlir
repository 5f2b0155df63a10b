// RUN: xla-run %s --all-functions --backend reference

// Quotients; those of integers are cut off towards 0. x / 0 is all ones, INT_MIN / -1 is INT_MIN.

func.func @worked() {
  %signed.left = xla.constant dense<[-7, 7, 0, -2147483648]> : tensor<4xi32>
  %signed.right = xla.constant dense<[2, 0, 0, -1]> : tensor<4xi32>
  %signed = xla.divide %signed.left, %signed.right : tensor<4xi32>
  check.expect_eq_const %signed, dense<[-3, -1, -1, -2147483648]> : tensor<4xi32>
  %unsigned.left = xla.constant dense<[7, 200]> : tensor<2xui8>
  %unsigned.right = xla.constant dense<[0, 7]> : tensor<2xui8>
  %unsigned = xla.divide %unsigned.left, %unsigned.right : tensor<2xui8>
  check.expect_eq_const %unsigned, dense<[255, 28]> : tensor<2xui8>
  %floats.left = xla.constant dense<[1.0, -1.0, 0.0, 6.0]> : tensor<4xf32>
  %floats.right = xla.constant dense<[0.0, 0.0, 0.0, 1.5]> : tensor<4xf32>
  %floats = xla.divide %floats.left, %floats.right : tensor<4xf32>
  check.expect_eq_const %floats, dense<[0x7F800000, 0xFF800000, 0x7FC00000, 4.0]> : tensor<4xf32>
  %complex.left = xla.constant dense<[(5.0,5.0)]> : tensor<1xcomplex<f32>>
  %complex.right = xla.constant dense<[(3.0,-1.0)]> : tensor<1xcomplex<f32>>
  %complex = xla.divide %complex.left, %complex.right : tensor<1xcomplex<f32>>
  %complex.expected = xla.constant dense<[(1.0, 2.0)]> : tensor<1xcomplex<f32>>
  check.expect_close %complex, %complex.expected, max_ulp_difference = 1 : tensor<1xcomplex<f32>>, tensor<1xcomplex<f32>>
  %by_zero.left = xla.constant dense<[(1.0,1.0)]> : tensor<1xcomplex<f32>>
  %by_zero.right = xla.constant dense<[(0.0,0.0)]> : tensor<1xcomplex<f32>>
  %by_zero = xla.divide %by_zero.left, %by_zero.right : tensor<1xcomplex<f32>>
  check.expect_eq_const %by_zero, dense<[(0x7F800000, 0x7F800000)]> : tensor<1xcomplex<f32>>
  // C99, G.5.1: infinite over finite, finite over infinite, and both infinite.
  %infinite.left = xla.constant dense<[(0x7F800000, 0x7FC00000), (1.0, -2.0), (0x7F800000, 1.0)]> : tensor<3xcomplex<f32>>
  %infinite.right = xla.constant dense<[(2.0, 1.0), (0x7F800000, 0xFF800000), (0x7F800000, 0x7F800000)]> : tensor<3xcomplex<f32>>
  %infinite = xla.divide %infinite.left, %infinite.right : tensor<3xcomplex<f32>>
  check.expect_eq_const %infinite, dense<[(0x7F800000, 0xFF800000), (0.0, -0.0), (0x7FC00000, 0x7FC00000)]> : tensor<3xcomplex<f32>>
  func.return
}

// for f32 in floats
func.func @floats() -> tensor<11x11xf32> {
  %values = xla.constant dense<[0.0, -0.0, 1.0, -1.5, 0.5, 3.0, -7.0, 1.0e30, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000]> : tensor<11xf64>
  %x = xla.convert %values : (tensor<11xf64>) -> tensor<11xf32>
  %left = xla.broadcast %x {dimensions = [0]} : (tensor<11xf32>) -> tensor<11x11xf32>
  %right = xla.broadcast %x {dimensions = [1]} : (tensor<11xf32>) -> tensor<11x11xf32>
  %y = xla.divide %left, %right : tensor<11x11xf32>
  func.return %y : tensor<11x11xf32>
}

// for i32 in integers
func.func @integers() -> tensor<14x14xi32> {
  %values = xla.constant dense<[0, 1, -1, 2, 7, -3, 127, -128, 32767, -32768, 2147483647, -2147483648, 9223372036854775807, -9223372036854775808]> : tensor<14xi64>
  %x = xla.convert %values : (tensor<14xi64>) -> tensor<14xi32>
  %left = xla.broadcast %x {dimensions = [0]} : (tensor<14xi32>) -> tensor<14x14xi32>
  %right = xla.broadcast %x {dimensions = [1]} : (tensor<14xi32>) -> tensor<14x14xi32>
  %y = xla.divide %left, %right : tensor<14x14xi32>
  func.return %y : tensor<14x14xi32>
}

// for f32 in parts
func.func @complex() -> tensor<9x9xcomplex<f32>> {
  %real = xla.constant dense<[0.0, -0.0, 1.0, 3.0, -0.5, 1.0e10, 0x7FF0000000000000, 1.0, 0x7FF8000000000000]> : tensor<9xf64>
  %imaginary = xla.constant dense<[0.0, 1.0, 0.0, -4.0, 2.0, -1.0, 1.0, 0xFFF0000000000000, 0.0]> : tensor<9xf64>
  %values = xla.complex %real, %imaginary : (tensor<9xf64>, tensor<9xf64>) -> tensor<9xcomplex<f64>>
  %x = xla.convert %values : (tensor<9xcomplex<f64>>) -> tensor<9xcomplex<f32>>
  %left = xla.broadcast %x {dimensions = [0]} : (tensor<9xcomplex<f32>>) -> tensor<9x9xcomplex<f32>>
  %right = xla.broadcast %x {dimensions = [1]} : (tensor<9xcomplex<f32>>) -> tensor<9x9xcomplex<f32>>
  %y = xla.divide %left, %right : tensor<9x9xcomplex<f32>>
  func.return %y : tensor<9x9xcomplex<f32>>
}

func.func @mixed_layouts() -> tensor<3x5xf32, #xla.layout<{0,1}>> {
  %left = xla.constant dense<[[0.0, 1.0, -2.0, 3.5, -4.25], [0.5, -0.5, 1.5, -1.5, 2.5], [10.0, -0.0, 100.0, -0.125, 7.0]]> : tensor<3x5xf32>
  %0 = xla.constant dense<[[1.0, 0.5, -2.0, 4.0, 3.0], [-0.25, 8.0, 1.5, 2.0, -5.0], [16.0, -1.0, 0.125, 10.0, -0.5]]> : tensor<3x5xf32>
  %right = xla.copy %0 : (tensor<3x5xf32>) -> tensor<3x5xf32, #xla.layout<{0,1}>>
  %y = xla.divide %left, %right : (tensor<3x5xf32>, tensor<3x5xf32, #xla.layout<{0,1}>>) -> tensor<3x5xf32, #xla.layout<{0,1}>>
  func.return %y : tensor<3x5xf32, #xla.layout<{0,1}>>
}

func.func @scalar_and_empty() -> (tensor<f32>, tensor<3x0xf32>) {
  %left = xla.constant dense<3.0> : tensor<f32>
  %right = xla.constant dense<2.0> : tensor<f32>
  %scalar = xla.divide %left, %right : tensor<f32>
  %nothing = xla.constant dense<> : tensor<3x0xf32>
  %empty = xla.divide %nothing, %nothing : tensor<3x0xf32>
  func.return %scalar, %empty : tensor<f32>, tensor<3x0xf32>
}
