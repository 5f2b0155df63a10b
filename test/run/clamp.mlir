// RUN: xla-run %s --all-functions --backend reference

// Between two bounds, which may be scalars: the upper one wins, and so does any NaN.

func.func @worked() {
  %low = xla.constant dense<0> : tensor<i32>
  %high = xla.constant dense<6> : tensor<i32>
  %x = xla.constant dense<[-1, 5, 9]> : tensor<3xi32>
  %scalars = xla.clamp %low, %x, %high : (tensor<i32>, tensor<3xi32>, tensor<i32>) -> tensor<3xi32>
  check.expect_eq_const %scalars, dense<[0, 5, 6]> : tensor<3xi32>
  %lows = xla.constant dense<[0x7FC00000, 0.0, 0.0, 5.0]> : tensor<4xf32>
  %values = xla.constant dense<[1.0, 0x7FC00000, 1.0, 1.0]> : tensor<4xf32>
  %highs = xla.constant dense<[2.0, 2.0, 0x7FC00000, 3.0]> : tensor<4xf32>
  %floats = xla.clamp %lows, %values, %highs : tensor<4xf32>
  check.expect_eq_const %floats, dense<[0x7FC00000, 0x7FC00000, 0x7FC00000, 3.0]> : tensor<4xf32>
  %five = xla.constant dense<5> : tensor<i32>
  %one = xla.constant dense<1> : tensor<i32>
  %three = xla.constant dense<3> : tensor<i32>
  %crossed = xla.clamp %five, %one, %three : tensor<i32>
  check.expect_eq_const %crossed, dense<3> : tensor<i32>
  func.return
}

// for f32 in floats
func.func @floats() -> (tensor<7x7xf32>, tensor<7x7xf32>) {
  %0 = xla.constant dense<[0.0, -0.0, 1.0, -2.0, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000]> : tensor<7xf64>
  %1 = xla.constant dense<0.5> : tensor<f64>
  %values = xla.convert %0 : (tensor<7xf64>) -> tensor<7xf32>
  %half = xla.convert %1 : (tensor<f64>) -> tensor<f32>
  %rows = xla.broadcast %values {dimensions = [0]} : (tensor<7xf32>) -> tensor<7x7xf32>
  %columns = xla.broadcast %values {dimensions = [1]} : (tensor<7xf32>) -> tensor<7x7xf32>
  %below = xla.clamp %rows, %columns, %half : (tensor<7x7xf32>, tensor<7x7xf32>, tensor<f32>) -> tensor<7x7xf32>
  %above = xla.clamp %half, %columns, %rows : (tensor<f32>, tensor<7x7xf32>, tensor<7x7xf32>) -> tensor<7x7xf32>
  func.return %below, %above : tensor<7x7xf32>, tensor<7x7xf32>
}

// for i32 in integers pred
func.func @integers() -> (tensor<8x8xi32>, tensor<8x8xi32>) {
  %0 = xla.constant dense<[0, 1, -1, 2, 127, -128, 2147483647, -9223372036854775808]> : tensor<8xi64>
  %1 = xla.constant dense<1> : tensor<i64>
  %values = xla.convert %0 : (tensor<8xi64>) -> tensor<8xi32>
  %one = xla.convert %1 : (tensor<i64>) -> tensor<i32>
  %rows = xla.broadcast %values {dimensions = [0]} : (tensor<8xi32>) -> tensor<8x8xi32>
  %columns = xla.broadcast %values {dimensions = [1]} : (tensor<8xi32>) -> tensor<8x8xi32>
  %below = xla.clamp %rows, %columns, %one : (tensor<8x8xi32>, tensor<8x8xi32>, tensor<i32>) -> tensor<8x8xi32>
  %above = xla.clamp %one, %columns, %rows : (tensor<i32>, tensor<8x8xi32>, tensor<8x8xi32>) -> tensor<8x8xi32>
  func.return %below, %above : tensor<8x8xi32>, tensor<8x8xi32>
}

func.func @mixed_layouts() -> tensor<2x3xi32, #xla.layout<{0,1}>> {
  %low = xla.constant dense<[[0, 1, 2], [3, 4, 5]]> : tensor<2x3xi32, #xla.layout<{0,1}>>
  %x = xla.constant dense<[[-5, 7, 2], [9, 0, 5]]> : tensor<2x3xi32>
  %high = xla.constant dense<6> : tensor<i32>
  %0 = xla.clamp %low, %x, %high : (tensor<2x3xi32, #xla.layout<{0,1}>>, tensor<2x3xi32>, tensor<i32>) -> tensor<2x3xi32, #xla.layout<{0,1}>>
  func.return %0 : tensor<2x3xi32, #xla.layout<{0,1}>>
}

func.func @scalar_and_empty() -> (tensor<f32>, tensor<0x2xf32>) {
  %one = xla.constant dense<1.0> : tensor<f32>
  %two = xla.constant dense<2.0> : tensor<f32>
  %scalar = xla.clamp %two, %one, %two : tensor<f32>
  %nothing = xla.constant dense<> : tensor<0x2xf32>
  %empty = xla.clamp %one, %nothing, %two : (tensor<f32>, tensor<0x2xf32>, tensor<f32>) -> tensor<0x2xf32>
  func.return %scalar, %empty : tensor<f32>, tensor<0x2xf32>
}
