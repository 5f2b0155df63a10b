// RUN: xla-run %s --all-functions --backend reference

// More dimensions, along which elements repeat; those of the operand go where `dimensions` says, in any order.

func.func @worked() {
  %two = xla.constant dense<2.0> : tensor<f32>
  %filled = xla.broadcast %two {dimensions = []} : (tensor<f32>) -> tensor<2x3xf32>
  check.expect_eq_const %filled, dense<[[2.0, 2.0, 2.0], [2.0, 2.0, 2.0]]> : tensor<2x3xf32>
  %x = xla.constant dense<[7, 8, 9]> : tensor<3xi32>
  %rows = xla.broadcast %x {dimensions = [1]} : (tensor<3xi32>) -> tensor<2x3xi32>
  check.expect_eq_const %rows, dense<[[7, 8, 9], [7, 8, 9]]> : tensor<2x3xi32>
  %columns = xla.broadcast %x {dimensions = [0]} : (tensor<3xi32>) -> tensor<3x3xi32>
  check.expect_eq_const %columns, dense<[[7, 7, 7], [8, 8, 8], [9, 9, 9]]> : tensor<3x3xi32>
  %matrix = xla.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %turned = xla.broadcast %matrix {dimensions = [1, 0]} : (tensor<2x3xi32>) -> tensor<3x2xi32>
  check.expect_eq_const %turned, dense<[[1, 4], [2, 5], [3, 6]]> : tensor<3x2xi32>
  func.return
}

// Operands of two shapes, brought to one.
func.func @worked_sums() {
  %matrix = xla.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %seven = xla.constant dense<7> : tensor<i32>
  %sevens = xla.broadcast %seven {dimensions = []} : (tensor<i32>) -> tensor<2x3xi32>
  %plus_scalar = xla.add %matrix, %sevens : tensor<2x3xi32>
  check.expect_eq_const %plus_scalar, dense<[[8, 9, 10], [11, 12, 13]]> : tensor<2x3xi32>
  %vector = xla.constant dense<[7, 8, 9]> : tensor<3xi32>
  %rows = xla.broadcast %vector {dimensions = [1]} : (tensor<3xi32>) -> tensor<2x3xi32>
  %plus_vector = xla.add %matrix, %rows : tensor<2x3xi32>
  check.expect_eq_const %plus_vector, dense<[[8, 10, 12], [11, 13, 15]]> : tensor<2x3xi32>
  // Along either dimension of a square.
  %square.rows = xla.broadcast %vector {dimensions = [1]} : (tensor<3xi32>) -> tensor<3x3xi32>
  check.expect_eq_const %square.rows, dense<[[7, 8, 9], [7, 8, 9], [7, 8, 9]]> : tensor<3x3xi32>
  // A matrix on every layer of a box.
  %layer.line = xla.iota {iota_dimension = 0} : tensor<12xi32>
  %layer = xla.reshape %layer.line : (tensor<12xi32>) -> tensor<3x4xi32>
  %layers = xla.broadcast %layer {dimensions = [1, 2]} : (tensor<3x4xi32>) -> tensor<2x3x4xi32>
  check.expect_eq_const %layers, dense<[[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]], [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]]> : tensor<2x3x4xi32>
  // A dimension of size 1 is reshaped away and broadcast to the size of the other operand.
  %four = xla.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %four.columns = xla.broadcast %four {dimensions = [0]} : (tensor<4xi32>) -> tensor<4x2xi32>
  %pair = xla.constant dense<[[5, 6]]> : tensor<1x2xi32>
  %pair.line = xla.reshape %pair : (tensor<1x2xi32>) -> tensor<2xi32>
  %pair.rows = xla.broadcast %pair.line {dimensions = [1]} : (tensor<2xi32>) -> tensor<4x2xi32>
  %outer = xla.add %four.columns, %pair.rows : tensor<4x2xi32>
  check.expect_eq_const %outer, dense<[[6, 7], [7, 8], [8, 9], [9, 10]]> : tensor<4x2xi32>
  %box = xla.iota {iota_dimension = 0} : tensor<12xi32>
  %box.columns = xla.reshape %box : (tensor<12xi32>) -> tensor<4x3xi32>
  %box.wide = xla.broadcast %box.columns {dimensions = [0, 1]} : (tensor<4x3xi32>) -> tensor<4x3x2xi32>
  %pair.wide = xla.broadcast %pair.line {dimensions = [2]} : (tensor<2xi32>) -> tensor<4x3x2xi32>
  %sums = xla.add %box.wide, %pair.wide : tensor<4x3x2xi32>
  check.expect_eq_const %sums, dense<[[[5, 6], [6, 7], [7, 8]], [[8, 9], [9, 10], [10, 11]], [[11, 12], [12, 13], [13, 14]], [[14, 15], [15, 16], [16, 17]]]> : tensor<4x3x2xi32>
  func.return
}

// for i32 in types
func.func @types() -> (tensor<2x5x3xi32>, tensor<4x3x5xi32>) {
  %0 = xla.constant dense<[[0, 1, -1, 2, 3], [4, 5, 6, 7, 8], [100, -100, 1, 0, 127]]> : tensor<3x5xi64>
  %x = xla.convert %0 : (tensor<3x5xi64>) -> tensor<3x5xi32>
  %turned = xla.broadcast %x {dimensions = [2, 1]} : (tensor<3x5xi32>) -> tensor<2x5x3xi32>
  %outside = xla.broadcast %x {dimensions = [1, 2]} : (tensor<3x5xi32>) -> tensor<4x3x5xi32>
  func.return %turned, %outside : tensor<2x5x3xi32>, tensor<4x3x5xi32>
}

func.func @layouts() -> tensor<4x2x3xi32, #xla.layout<{0,2,1}>> {
  %0 = xla.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32, #xla.layout<{0,1}>>
  %1 = xla.broadcast %0 {dimensions = [1, 2]} : (tensor<2x3xi32, #xla.layout<{0,1}>>) -> tensor<4x2x3xi32, #xla.layout<{0,2,1}>>
  func.return %1 : tensor<4x2x3xi32, #xla.layout<{0,2,1}>>
}

func.func @sizes() -> (tensor<f32>, tensor<0x3xf32>, tensor<3x0xf32>, tensor<1x1xf32>) {
  %x = xla.constant dense<-0.0> : tensor<f32>
  %same = xla.broadcast %x {dimensions = []} : (tensor<f32>) -> tensor<f32>
  %empty = xla.broadcast %x {dimensions = []} : (tensor<f32>) -> tensor<0x3xf32>
  %nothing = xla.constant dense<> : tensor<0xf32>
  %none = xla.broadcast %nothing {dimensions = [1]} : (tensor<0xf32>) -> tensor<3x0xf32>
  %one = xla.broadcast %x {dimensions = []} : (tensor<f32>) -> tensor<1x1xf32>
  func.return %same, %empty, %none, %one : tensor<f32>, tensor<0x3xf32>, tensor<3x0xf32>, tensor<1x1xf32>
}
