// RUN: xla-run %s --all-functions --backend reference

// Powers. Integers wrap; to negative ones 1 and -1 stay units, and all else is 0. x^0 is 1, of NaN too.

func.func @worked() {
  %signed.left = xla.constant dense<[2, 0, 1, -1, -1, 3, 0, 2, -3]> : tensor<9xi32>
  %signed.right = xla.constant dense<[-1, -1, -5, -3, -4, 40, 0, 31, 3]> : tensor<9xi32>
  %signed = xla.power %signed.left, %signed.right : tensor<9xi32>
  check.expect_eq_const %signed, dense<[0, 0, 1, -1, 1, 689956897, 1, -2147483648, -27]> : tensor<9xi32>
  %unsigned.left = xla.constant dense<[3]> : tensor<1xui8>
  %unsigned.right = xla.constant dense<[200]> : tensor<1xui8>
  %unsigned = xla.power %unsigned.left, %unsigned.right : tensor<1xui8>
  check.expect_eq_const %unsigned, dense<[161]> : tensor<1xui8>
  %floats.left = xla.constant dense<[0.0, -0.0, -0.0, -1.0, -8.0, 0xFF800000, 0xFF800000, -1.0, 2.0, 0x7FC00000, 1.0]> : tensor<11xf32>
  %floats.right = xla.constant dense<[-1.0, -1.0, 3.0, 0x7F800000, 0.33333334, 3.0, -3.0, 0xFF800000, 0xFF800000, 0.0, 0x7FC00000]> : tensor<11xf32>
  %floats = xla.power %floats.left, %floats.right : tensor<11xf32>
  check.expect_eq_const %floats, dense<[0x7F800000, 0xFF800000, -0.0, 1.0, 0x7FC00000, 0xFF800000, -0.0, 1.0, 0.0, 1.0, 1.0]> : tensor<11xf32>
  // A check takes -0 for 0; the bits tell them apart.
  %zeros.left = xla.constant dense<[-0.0, -0.0]> : tensor<2xf32>
  %zeros.right = xla.constant dense<[3.0, 0.5]> : tensor<2xf32>
  %zeros = xla.power %zeros.left, %zeros.right : tensor<2xf32>
  %zeros.bits = xla.bitcast_convert %zeros : (tensor<2xf32>) -> tensor<2xi32>
  check.expect_eq_const %zeros.bits, dense<[-2147483648, 0]> : tensor<2xi32>
  %roots.left = xla.constant dense<[-0.0, 0xFF800000]> : tensor<2xf32>
  %roots.right = xla.constant dense<[-0.5, -3.0]> : tensor<2xf32>
  %roots = xla.power %roots.left, %roots.right : tensor<2xf32>
  check.expect_eq_const %roots, dense<[0x7F800000, -0.0]> : tensor<2xf32>
  %complex.left = xla.constant dense<[(0.0, 0.0), (0.0, 0.0)]> : tensor<2xcomplex<f32>>
  %complex.right = xla.constant dense<[(0.0, 0.0), (1.0, 0.0)]> : tensor<2xcomplex<f32>>
  %complex = xla.power %complex.left, %complex.right : tensor<2xcomplex<f32>>
  check.expect_eq_const %complex, dense<[(1.0, 0.0), (0.0, 0.0)]> : tensor<2xcomplex<f32>>
  func.return
}

// for f32 in floats
func.func @floats() -> tensor<12x12xf32> {
  %values = xla.constant dense<[0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 3.0, -8.0, 10.0, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000]> : tensor<12xf64>
  %x = xla.convert %values : (tensor<12xf64>) -> tensor<12xf32>
  %left = xla.broadcast %x {dimensions = [0]} : (tensor<12xf32>) -> tensor<12x12xf32>
  %right = xla.broadcast %x {dimensions = [1]} : (tensor<12xf32>) -> tensor<12x12xf32>
  %y = xla.power %left, %right : tensor<12x12xf32>
  func.return %y : tensor<12x12xf32>
}

// for i32 in integers
func.func @integers() -> tensor<11x11xi32> {
  %values = xla.constant dense<[0, 1, -1, 2, 3, -3, 7, 8, -128, 127, 40]> : tensor<11xi64>
  %x = xla.convert %values : (tensor<11xi64>) -> tensor<11xi32>
  %left = xla.broadcast %x {dimensions = [0]} : (tensor<11xi32>) -> tensor<11x11xi32>
  %right = xla.broadcast %x {dimensions = [1]} : (tensor<11xi32>) -> tensor<11x11xi32>
  %y = xla.power %left, %right : tensor<11x11xi32>
  func.return %y : tensor<11x11xi32>
}

// for f32 in parts
func.func @complex() -> tensor<8x8xcomplex<f32>> {
  %real = xla.constant dense<[0.0, 1.0, -1.0, 0.0, 3.0, -0.5, 0.25, 2.0]> : tensor<8xf64>
  %imaginary = xla.constant dense<[0.0, 0.0, 0.0, 1.0, -4.0, 2.0, -1.5, 0.5]> : tensor<8xf64>
  %values = xla.complex %real, %imaginary : (tensor<8xf64>, tensor<8xf64>) -> tensor<8xcomplex<f64>>
  %x = xla.convert %values : (tensor<8xcomplex<f64>>) -> tensor<8xcomplex<f32>>
  %left = xla.broadcast %x {dimensions = [0]} : (tensor<8xcomplex<f32>>) -> tensor<8x8xcomplex<f32>>
  %right = xla.broadcast %x {dimensions = [1]} : (tensor<8xcomplex<f32>>) -> tensor<8x8xcomplex<f32>>
  %y = xla.power %left, %right : tensor<8x8xcomplex<f32>>
  func.return %y : tensor<8x8xcomplex<f32>>
}

func.func @mixed_layouts() -> tensor<3x5xf32, #xla.layout<{0,1}>> {
  %left = xla.constant dense<[[1.0, 1.75, 2.25, 3.5, 4.0], [5.5, 6.5, 10.125, 7.875, 8.25], [1.0625, 9.0, 100.0, 30.5, 20.375]]> : tensor<3x5xf32>
  %0 = xla.constant dense<[[1.0, 0.5, -2.0, 4.0, 3.0], [-0.25, 8.0, 1.5, 2.0, -5.0], [16.0, -1.0, 0.125, 10.0, -0.5]]> : tensor<3x5xf32>
  %right = xla.copy %0 : (tensor<3x5xf32>) -> tensor<3x5xf32, #xla.layout<{0,1}>>
  %y = xla.power %left, %right : (tensor<3x5xf32>, tensor<3x5xf32, #xla.layout<{0,1}>>) -> tensor<3x5xf32, #xla.layout<{0,1}>>
  func.return %y : tensor<3x5xf32, #xla.layout<{0,1}>>
}

func.func @scalar_and_empty() -> (tensor<f32>, tensor<3x0xf32>) {
  %left = xla.constant dense<3.0> : tensor<f32>
  %right = xla.constant dense<2.0> : tensor<f32>
  %scalar = xla.power %left, %right : tensor<f32>
  %nothing = xla.constant dense<> : tensor<3x0xf32>
  %empty = xla.power %nothing, %nothing : tensor<3x0xf32>
  func.return %scalar, %empty : tensor<f32>, tensor<3x0xf32>
}
