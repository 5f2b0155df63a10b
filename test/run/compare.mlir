// RUN: xla-run %s --all-functions --backend reference

// All directions; floats in the order of IEEE, where NaN is not even equal to itself, and in the total order
// of their bits.

func.func @worked() {
  %total.left = xla.constant dense<[0x7FC00000, -0.0, 0.0, 0xFFC00000, 1.0]> : tensor<5xf32>
  %total.right = xla.constant dense<[0x7FC00000, 0.0, -0.0, 0xFF800000, 0x7F800000]> : tensor<5xf32>
  %equal = xla.compare %total.left, %total.right {direction = EQ} : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xi1>
  check.expect_eq_const %equal, dense<[false, true, true, false, false]> : tensor<5xi1>
  %total.equal = xla.compare %total.left, %total.right {direction = EQ, comparison_type = TOTALORDER} : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xi1>
  check.expect_eq_const %total.equal, dense<[true, false, false, false, false]> : tensor<5xi1>
  %less = xla.compare %total.left, %total.right {direction = LT, comparison_type = TOTALORDER} : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xi1>
  check.expect_eq_const %less, dense<[false, true, false, true, true]> : tensor<5xi1>
  // The payloads of NaNs are ordered too.
  %nan.left = xla.constant dense<[0x7FC00001, 0x7F800001, 0xFFC00001, 0x7FC00000]> : tensor<4xf32>
  %nan.right = xla.constant dense<[0x7FC00000, 0x7FC00000, 0xFFC00000, 0x7FC00000]> : tensor<4xf32>
  %nan.less = xla.compare %nan.left, %nan.right {direction = LT, comparison_type = TOTALORDER} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  check.expect_eq_const %nan.less, dense<[false, true, true, false]> : tensor<4xi1>
  %signed.left = xla.constant dense<[-1, 1]> : tensor<2xi8>
  %signed.right = xla.constant dense<[1, -128]> : tensor<2xi8>
  %signed = xla.compare %signed.left, %signed.right {direction = LT} : (tensor<2xi8>, tensor<2xi8>) -> tensor<2xi1>
  check.expect_eq_const %signed, dense<[true, false]> : tensor<2xi1>
  %unsigned.left = xla.constant dense<[255, 1]> : tensor<2xui8>
  %unsigned.right = xla.constant dense<[1, 128]> : tensor<2xui8>
  %unsigned = xla.compare %unsigned.left, %unsigned.right {direction = LT} : (tensor<2xui8>, tensor<2xui8>) -> tensor<2xi1>
  check.expect_eq_const %unsigned, dense<[false, true]> : tensor<2xi1>
  %nan.eq = xla.compare %nan.left, %nan.right {direction = EQ, comparison_type = TOTALORDER} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  check.expect_eq_const %nan.eq, dense<[false, false, false, true]> : tensor<4xi1>
  %nan.gt = xla.compare %nan.left, %nan.right {direction = GT, comparison_type = TOTALORDER} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  check.expect_eq_const %nan.gt, dense<[true, false, false, false]> : tensor<4xi1>
  // Both orders of a NaN and itself, and of -0 and 0.
  %edges.left = xla.constant dense<[0x7FC00000, -0.0]> : tensor<2xf32>
  %edges.right = xla.constant dense<[0x7FC00000, 0.0]> : tensor<2xf32>
  %edges.eq.float = xla.compare %edges.left, %edges.right {direction = EQ} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  check.expect_eq_const %edges.eq.float, dense<[false, true]> : tensor<2xi1>
  %edges.eq.total = xla.compare %edges.left, %edges.right {direction = EQ, comparison_type = TOTALORDER} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  check.expect_eq_const %edges.eq.total, dense<[true, false]> : tensor<2xi1>
  %edges.ne.float = xla.compare %edges.left, %edges.right {direction = NE} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  check.expect_eq_const %edges.ne.float, dense<[true, false]> : tensor<2xi1>
  %edges.ne.total = xla.compare %edges.left, %edges.right {direction = NE, comparison_type = TOTALORDER} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  check.expect_eq_const %edges.ne.total, dense<[false, true]> : tensor<2xi1>
  %edges.ge.float = xla.compare %edges.left, %edges.right {direction = GE} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  check.expect_eq_const %edges.ge.float, dense<[false, true]> : tensor<2xi1>
  %edges.ge.total = xla.compare %edges.left, %edges.right {direction = GE, comparison_type = TOTALORDER} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  check.expect_eq_const %edges.ge.total, dense<[true, false]> : tensor<2xi1>
  %edges.gt.float = xla.compare %edges.left, %edges.right {direction = GT} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  check.expect_eq_const %edges.gt.float, dense<[false, false]> : tensor<2xi1>
  %edges.gt.total = xla.compare %edges.left, %edges.right {direction = GT, comparison_type = TOTALORDER} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  check.expect_eq_const %edges.gt.total, dense<[false, false]> : tensor<2xi1>
  %edges.le.float = xla.compare %edges.left, %edges.right {direction = LE} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  check.expect_eq_const %edges.le.float, dense<[false, true]> : tensor<2xi1>
  %edges.le.total = xla.compare %edges.left, %edges.right {direction = LE, comparison_type = TOTALORDER} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  check.expect_eq_const %edges.le.total, dense<[true, true]> : tensor<2xi1>
  %edges.lt.float = xla.compare %edges.left, %edges.right {direction = LT} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  check.expect_eq_const %edges.lt.float, dense<[false, false]> : tensor<2xi1>
  %edges.lt.total = xla.compare %edges.left, %edges.right {direction = LT, comparison_type = TOTALORDER} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  check.expect_eq_const %edges.lt.total, dense<[false, true]> : tensor<2xi1>
  // In ascending order, each below the next.
  %below = xla.constant dense<[0xFFC00000, 0xFF800000, -1.0, -0.0, 0.0, 1.0, 0x7F800000]> : tensor<7xf32>
  %above = xla.constant dense<[0xFF800000, -1.0, -0.0, 0.0, 1.0, 0x7F800000, 0x7FC00000]> : tensor<7xf32>
  %ascending = xla.compare %below, %above {direction = LT, comparison_type = TOTALORDER} : (tensor<7xf32>, tensor<7xf32>) -> tensor<7xi1>
  check.expect_eq_const %ascending, dense<true> : tensor<7xi1>
  func.return
}

// for f32 in floats
func.func @floats() -> (tensor<9x9xi1>, tensor<9x9xi1>, tensor<9x9xi1>, tensor<9x9xi1>, tensor<9x9xi1>, tensor<9x9xi1>) {
  %values = xla.constant dense<[0.0, -0.0, 1.0, -1.0, 3.5, -1.0e-40, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000]> : tensor<9xf64>
  %x = xla.convert %values : (tensor<9xf64>) -> tensor<9xf32>
  %left = xla.broadcast %x {dimensions = [0]} : (tensor<9xf32>) -> tensor<9x9xf32>
  %right = xla.broadcast %x {dimensions = [1]} : (tensor<9xf32>) -> tensor<9x9xf32>
  %eq = xla.compare %left, %right {direction = EQ} : (tensor<9x9xf32>, tensor<9x9xf32>) -> tensor<9x9xi1>
  %ne = xla.compare %left, %right {direction = NE} : (tensor<9x9xf32>, tensor<9x9xf32>) -> tensor<9x9xi1>
  %ge = xla.compare %left, %right {direction = GE} : (tensor<9x9xf32>, tensor<9x9xf32>) -> tensor<9x9xi1>
  %gt = xla.compare %left, %right {direction = GT} : (tensor<9x9xf32>, tensor<9x9xf32>) -> tensor<9x9xi1>
  %le = xla.compare %left, %right {direction = LE} : (tensor<9x9xf32>, tensor<9x9xf32>) -> tensor<9x9xi1>
  %lt = xla.compare %left, %right {direction = LT} : (tensor<9x9xf32>, tensor<9x9xf32>) -> tensor<9x9xi1>
  func.return %eq, %ne, %ge, %gt, %le, %lt : tensor<9x9xi1>, tensor<9x9xi1>, tensor<9x9xi1>, tensor<9x9xi1>, tensor<9x9xi1>, tensor<9x9xi1>
}

// for f32 in floats
func.func @total_order() -> (tensor<9x9xi1>, tensor<9x9xi1>, tensor<9x9xi1>, tensor<9x9xi1>, tensor<9x9xi1>, tensor<9x9xi1>) {
  %values = xla.constant dense<[0.0, -0.0, 1.0, -1.0, 3.5, -1.0e-40, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000]> : tensor<9xf64>
  %x = xla.convert %values : (tensor<9xf64>) -> tensor<9xf32>
  %left = xla.broadcast %x {dimensions = [0]} : (tensor<9xf32>) -> tensor<9x9xf32>
  %right = xla.broadcast %x {dimensions = [1]} : (tensor<9xf32>) -> tensor<9x9xf32>
  %eq = xla.compare %left, %right {direction = EQ, comparison_type = TOTALORDER} : (tensor<9x9xf32>, tensor<9x9xf32>) -> tensor<9x9xi1>
  %ne = xla.compare %left, %right {direction = NE, comparison_type = TOTALORDER} : (tensor<9x9xf32>, tensor<9x9xf32>) -> tensor<9x9xi1>
  %ge = xla.compare %left, %right {direction = GE, comparison_type = TOTALORDER} : (tensor<9x9xf32>, tensor<9x9xf32>) -> tensor<9x9xi1>
  %gt = xla.compare %left, %right {direction = GT, comparison_type = TOTALORDER} : (tensor<9x9xf32>, tensor<9x9xf32>) -> tensor<9x9xi1>
  %le = xla.compare %left, %right {direction = LE, comparison_type = TOTALORDER} : (tensor<9x9xf32>, tensor<9x9xf32>) -> tensor<9x9xi1>
  %lt = xla.compare %left, %right {direction = LT, comparison_type = TOTALORDER} : (tensor<9x9xf32>, tensor<9x9xf32>) -> tensor<9x9xi1>
  func.return %eq, %ne, %ge, %gt, %le, %lt : tensor<9x9xi1>, tensor<9x9xi1>, tensor<9x9xi1>, tensor<9x9xi1>, tensor<9x9xi1>, tensor<9x9xi1>
}

// for i32 in integers pred
func.func @integers() -> (tensor<11x11xi1>, tensor<11x11xi1>, tensor<11x11xi1>, tensor<11x11xi1>, tensor<11x11xi1>, tensor<11x11xi1>) {
  %values = xla.constant dense<[0, 1, -1, 2, 7, -3, 127, -128, 32767, 2147483647, -2147483648]> : tensor<11xi64>
  %x = xla.convert %values : (tensor<11xi64>) -> tensor<11xi32>
  %left = xla.broadcast %x {dimensions = [0]} : (tensor<11xi32>) -> tensor<11x11xi32>
  %right = xla.broadcast %x {dimensions = [1]} : (tensor<11xi32>) -> tensor<11x11xi32>
  %eq = xla.compare %left, %right {direction = EQ} : (tensor<11x11xi32>, tensor<11x11xi32>) -> tensor<11x11xi1>
  %ne = xla.compare %left, %right {direction = NE} : (tensor<11x11xi32>, tensor<11x11xi32>) -> tensor<11x11xi1>
  %ge = xla.compare %left, %right {direction = GE} : (tensor<11x11xi32>, tensor<11x11xi32>) -> tensor<11x11xi1>
  %gt = xla.compare %left, %right {direction = GT} : (tensor<11x11xi32>, tensor<11x11xi32>) -> tensor<11x11xi1>
  %le = xla.compare %left, %right {direction = LE} : (tensor<11x11xi32>, tensor<11x11xi32>) -> tensor<11x11xi1>
  %lt = xla.compare %left, %right {direction = LT} : (tensor<11x11xi32>, tensor<11x11xi32>) -> tensor<11x11xi1>
  func.return %eq, %ne, %ge, %gt, %le, %lt : tensor<11x11xi1>, tensor<11x11xi1>, tensor<11x11xi1>, tensor<11x11xi1>, tensor<11x11xi1>, tensor<11x11xi1>
}

// for f32 in parts
func.func @complex() -> (tensor<9x9xi1>, tensor<9x9xi1>) {
  %real = xla.constant dense<[0.0, -0.0, 1.0, 3.0, -0.5, 1.0e10, 0x7FF0000000000000, 1.0, 0x7FF8000000000000]> : tensor<9xf64>
  %imaginary = xla.constant dense<[0.0, 1.0, 0.0, -4.0, 2.0, -1.0, 1.0, 0xFFF0000000000000, 0.0]> : tensor<9xf64>
  %values = xla.complex %real, %imaginary : (tensor<9xf64>, tensor<9xf64>) -> tensor<9xcomplex<f64>>
  %x = xla.convert %values : (tensor<9xcomplex<f64>>) -> tensor<9xcomplex<f32>>
  %left = xla.broadcast %x {dimensions = [0]} : (tensor<9xcomplex<f32>>) -> tensor<9x9xcomplex<f32>>
  %right = xla.broadcast %x {dimensions = [1]} : (tensor<9xcomplex<f32>>) -> tensor<9x9xcomplex<f32>>
  %eq = xla.compare %left, %right {direction = EQ} : (tensor<9x9xcomplex<f32>>, tensor<9x9xcomplex<f32>>) -> tensor<9x9xi1>
  %ne = xla.compare %left, %right {direction = NE} : (tensor<9x9xcomplex<f32>>, tensor<9x9xcomplex<f32>>) -> tensor<9x9xi1>
  func.return %eq, %ne : tensor<9x9xi1>, tensor<9x9xi1>
}

func.func @mixed_layouts() -> tensor<3x5xi1, #xla.layout<{0,1}>> {
  %left = xla.constant dense<[[0.0, 1.0, -2.0, 3.5, -4.25], [0.5, -0.5, 1.5, -1.5, 2.5], [10.0, -0.0, 100.0, -0.125, 7.0]]> : tensor<3x5xf32>
  %0 = xla.constant dense<[[1.0, 0.5, -2.0, 4.0, 3.0], [-0.25, 8.0, 1.5, 2.0, -5.0], [16.0, -1.0, 0.125, 10.0, -0.5]]> : tensor<3x5xf32>
  %right = xla.copy %0 : (tensor<3x5xf32>) -> tensor<3x5xf32, #xla.layout<{0,1}>>
  %y = xla.compare %left, %right {direction = LT} : (tensor<3x5xf32>, tensor<3x5xf32, #xla.layout<{0,1}>>) -> tensor<3x5xi1, #xla.layout<{0,1}>>
  func.return %y : tensor<3x5xi1, #xla.layout<{0,1}>>
}

func.func @scalar_and_empty() -> (tensor<i1>, tensor<3x0xi1>) {
  %left = xla.constant dense<3.0> : tensor<f32>
  %right = xla.constant dense<2.0> : tensor<f32>
  %scalar = xla.compare %left, %right {direction = GE} : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %nothing = xla.constant dense<> : tensor<3x0xf32>
  %empty = xla.compare %nothing, %nothing {direction = GE} : (tensor<3x0xf32>, tensor<3x0xf32>) -> tensor<3x0xi1>
  func.return %scalar, %empty : tensor<i1>, tensor<3x0xi1>
}
