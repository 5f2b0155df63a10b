// RUN: xla-run %s --all-functions --backend reference

// Triangular factors; one triangle of the operand is read, the other one of the result is 0.

func.func @worked() {
  %below = xla.constant dense<[[4.0, 0x7FC00000], [2.0, 5.0]]> : tensor<2x2xf32>
  %lower = xla.cholesky %below {lower = true} : tensor<2x2xf32>
  check.expect_eq_const %lower, dense<[[2.0, 0.0], [1.0, 2.0]]> : tensor<2x2xf32>
  %above = xla.constant dense<[[4.0, 2.0], [0x7FC00000, 5.0]]> : tensor<2x2xf32>
  %upper = xla.cholesky %above : tensor<2x2xf32>
  check.expect_eq_const %upper, dense<[[2.0, 1.0], [0.0, 2.0]]> : tensor<2x2xf32>
  // Not positive definite: NaN, but not in the other matrices.
  %batch = xla.constant dense<[[[4.0, 2.0], [2.0, 5.0]], [[-1.0, 0.0], [0.0, 1.0]]]> : tensor<2x2x2xf32>
  %some = xla.cholesky %batch {lower = true} : tensor<2x2x2xf32>
  check.expect_eq_const %some, dense<[[[2.0, 0.0], [1.0, 2.0]], [[0x7FC00000, 0x7FC00000], [0x7FC00000, 0x7FC00000]]]> : tensor<2x2x2xf32>
  %later = xla.constant dense<[[4.0, 2.0, 1.0], [2.0, -5.0, 1.0], [1.0, 1.0, 3.0]]> : tensor<3x3xf32>
  %none = xla.cholesky %later {lower = true} : tensor<3x3xf32>
  check.expect_eq_const %none, dense<0x7FC00000> : tensor<3x3xf32>
  %zero = xla.constant dense<[[0.0, 0.0], [0.0, 1.0]]> : tensor<2x2xf32>
  %singular = xla.cholesky %zero : tensor<2x2xf32>
  check.expect_eq_const %singular, dense<0x7FC00000> : tensor<2x2xf32>
  %none.upper = xla.cholesky %later : tensor<3x3xf32>
  check.expect_eq_const %none.upper, dense<0x7FC00000> : tensor<3x3xf32>
  %singular.lower = xla.cholesky %zero {lower = true} : tensor<2x2xf32>
  check.expect_eq_const %singular.lower, dense<0x7FC00000> : tensor<2x2xf32>
  func.return
}

// for f32 in f8E4M3FN f8E5M2 bf16 f16 f32 f64
func.func @floats() -> (tensor<3x3xf32>, tensor<3x3xf32>) {
  %0 = xla.constant dense<[[4.0, 2.0, -2.0], [2.0, 10.0, 2.0], [-2.0, 2.0, 6.0]]> : tensor<3x3xf64>
  %x = xla.convert %0 : (tensor<3x3xf64>) -> tensor<3x3xf32>
  %lower = xla.cholesky %x {lower = true} : tensor<3x3xf32>
  %upper = xla.cholesky %x {lower = false} : tensor<3x3xf32>
  func.return %lower, %upper : tensor<3x3xf32>, tensor<3x3xf32>
}

// for f32 in parts
func.func @complex() -> (tensor<2x2xcomplex<f32>>, tensor<2x2xcomplex<f32>>) {
  %x = xla.constant dense<[[(4.0, 0.0), (2.0, -2.0)], [(2.0, 2.0), (6.0, 0.0)]]> : tensor<2x2xcomplex<f32>>
  %lower = xla.cholesky %x {lower = true} : tensor<2x2xcomplex<f32>>
  %upper = xla.cholesky %x : tensor<2x2xcomplex<f32>>
  func.return %lower, %upper : tensor<2x2xcomplex<f32>>, tensor<2x2xcomplex<f32>>
}

func.func @column_major() -> tensor<2x2xf32, #xla.layout<{0,1}>> {
  %x = xla.constant dense<[[4.0, 99.0], [2.0, 5.0]]> : tensor<2x2xf32, #xla.layout<{0,1}>>
  %0 = xla.cholesky %x {lower = true} : tensor<2x2xf32, #xla.layout<{0,1}>>
  check.expect_eq_const %0, dense<[[2.0, 0.0], [1.0, 2.0]]> : tensor<2x2xf32, #xla.layout<{0,1}>>
  func.return %0 : tensor<2x2xf32, #xla.layout<{0,1}>>
}

func.func @sizes() -> (tensor<1x1xf32>, tensor<0x0xf32>, tensor<0x2x2xf32>) {
  %x = xla.constant dense<[[2.25]]> : tensor<1x1xf32>
  %one = xla.cholesky %x : tensor<1x1xf32>
  check.expect_eq_const %one, dense<[[1.5]]> : tensor<1x1xf32>
  %nothing = xla.constant dense<> : tensor<0x0xf32>
  %empty = xla.cholesky %nothing : tensor<0x0xf32>
  %batch = xla.constant dense<> : tensor<0x2x2xf32>
  %none = xla.cholesky %batch : tensor<0x2x2xf32>
  func.return %one, %empty, %none : tensor<1x1xf32>, tensor<0x0xf32>, tensor<0x2x2xf32>
}
