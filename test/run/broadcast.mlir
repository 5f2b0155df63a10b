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
