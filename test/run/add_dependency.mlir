// RUN: xla-run %s --all-functions --backend reference

// The same array, not before a token.

func.func @worked() {
  %x = xla.constant dense<[1, 2, 3]> : tensor<3xi32>
  %token = xla.after_all : !xla.token
  %0 = xla.add_dependency %x, %token : (tensor<3xi32>, !xla.token) -> tensor<3xi32>
  check.expect_eq_const %0, dense<[1, 2, 3]> : tensor<3xi32>
  // After several tokens, and after another dependency.
  %other = xla.after_all : !xla.token
  %both = xla.after_all %token, %other : !xla.token
  %1 = xla.add_dependency %0, %both : (tensor<3xi32>, !xla.token) -> tensor<3xi32>
  %2 = xla.add %1, %x : tensor<3xi32>
  check.expect_eq_const %2, dense<[2, 4, 6]> : tensor<3xi32>
  func.return
}

// for i32 in types
func.func @types() -> tensor<3xi32> {
  %values = xla.constant dense<[0, 1, -1]> : tensor<3xi64>
  %x = xla.convert %values : (tensor<3xi64>) -> tensor<3xi32>
  %token = xla.after_all : !xla.token
  %0 = xla.add_dependency %x, %token : (tensor<3xi32>, !xla.token) -> tensor<3xi32>
  func.return %0 : tensor<3xi32>
}

func.func @column_major() -> tensor<2x3xf32, #xla.layout<{0,1}>> {
  %x = xla.constant dense<[[1.0, 2.0, 3.0], [-0.0, 0x7FC00000, 6.0]]> : tensor<2x3xf32, #xla.layout<{0,1}>>
  %token = xla.after_all : !xla.token
  %0 = xla.add_dependency %x, %token : (tensor<2x3xf32, #xla.layout<{0,1}>>, !xla.token) -> tensor<2x3xf32, #xla.layout<{0,1}>>
  func.return %0 : tensor<2x3xf32, #xla.layout<{0,1}>>
}

func.func @sizes() -> tensor<0x3xf32> {
  %x = xla.constant dense<> : tensor<0x3xf32>
  %token = xla.after_all : !xla.token
  %0 = xla.add_dependency %x, %token : (tensor<0x3xf32>, !xla.token) -> tensor<0x3xf32>
  func.return %0 : tensor<0x3xf32>
}
