// RUN: xla-run %s --all-functions --backend reference

// Other sizes for the same elements, in row-major order whatever the layouts are.

func.func @worked() {
  %x = xla.constant dense<[[[10, 11, 12], [15, 16, 17]], [[20, 21, 22], [25, 26, 27]], [[30, 31, 32], [35, 36, 37]], [[40, 41, 42], [45, 46, 47]]]> : tensor<4x2x3xi32>
  %outer = xla.reshape %x : (tensor<4x2x3xi32>) -> tensor<8x3xi32>
  check.expect_eq_const %outer, dense<[[10, 11, 12], [15, 16, 17], [20, 21, 22], [25, 26, 27], [30, 31, 32], [35, 36, 37], [40, 41, 42], [45, 46, 47]]> : tensor<8x3xi32>
  %inner = xla.reshape %x : (tensor<4x2x3xi32>) -> tensor<4x6xi32>
  check.expect_eq_const %inner, dense<[[10, 11, 12, 15, 16, 17], [20, 21, 22, 25, 26, 27], [30, 31, 32, 35, 36, 37], [40, 41, 42, 45, 46, 47]]> : tensor<4x6xi32>
  %line = xla.reshape %x : (tensor<4x2x3xi32>) -> tensor<24xi32>
  check.expect_eq_const %line, dense<[10, 11, 12, 15, 16, 17, 20, 21, 22, 25, 26, 27, 30, 31, 32, 35, 36, 37, 40, 41, 42, 45, 46, 47]> : tensor<24xi32>
  %five = xla.constant dense<5.0> : tensor<1x1xf32>
  %scalar = xla.reshape %five : (tensor<1x1xf32>) -> tensor<f32>
  check.expect_eq_const %scalar, dense<5.0> : tensor<f32>
  %matrix = xla.reshape %scalar : (tensor<f32>) -> tensor<1x1xf32>
  check.expect_eq_const %matrix, dense<[[5.0]]> : tensor<1x1xf32>
  func.return
}

// for i32 in types
func.func @types() -> (tensor<15xi32>, tensor<5x3xi32>, tensor<3x1x5x1xi32>) {
  %0 = xla.constant dense<[[0, 1, -1, 2, 3], [4, 5, 6, 7, 8], [100, -100, 1, 0, 127]]> : tensor<3x5xi64>
  %x = xla.convert %0 : (tensor<3x5xi64>) -> tensor<3x5xi32>
  %flat = xla.reshape %x : (tensor<3x5xi32>) -> tensor<15xi32>
  %across = xla.reshape %x : (tensor<3x5xi32>) -> tensor<5x3xi32>
  %ones = xla.reshape %x : (tensor<3x5xi32>) -> tensor<3x1x5x1xi32>
  func.return %flat, %across, %ones : tensor<15xi32>, tensor<5x3xi32>, tensor<3x1x5x1xi32>
}

func.func @layouts() -> (tensor<6xi32>, tensor<3x2xi32, #xla.layout<{0,1}>>) {
  %x = xla.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32, #xla.layout<{0,1}>>
  %flat = xla.reshape %x : (tensor<2x3xi32, #xla.layout<{0,1}>>) -> tensor<6xi32>
  %across = xla.reshape %x : (tensor<2x3xi32, #xla.layout<{0,1}>>) -> tensor<3x2xi32, #xla.layout<{0,1}>>
  check.expect_eq_const %flat, dense<[1, 2, 3, 4, 5, 6]> : tensor<6xi32>
  func.return %flat, %across : tensor<6xi32>, tensor<3x2xi32, #xla.layout<{0,1}>>
}

func.func @sizes() -> (tensor<f32>, tensor<1x1xf32>, tensor<0x7xf32>) {
  %x = xla.constant dense<[2.5]> : tensor<1xf32>
  %scalar = xla.reshape %x : (tensor<1xf32>) -> tensor<f32>
  %one = xla.reshape %scalar : (tensor<f32>) -> tensor<1x1xf32>
  %nothing = xla.constant dense<> : tensor<3x0xf32>
  %empty = xla.reshape %nothing : (tensor<3x0xf32>) -> tensor<0x7xf32>
  func.return %scalar, %one, %empty : tensor<f32>, tensor<1x1xf32>, tensor<0x7xf32>
}
