// RUN: xla-run %s --all-functions --backend reference

// What the program sends to its host; the program goes on with what it had.

func.func @worked() {
  %x = xla.constant dense<[1, 2, 3]> : tensor<3xi32>
  %token = xla.after_all : !xla.token
  %first = xla.outfeed %x, %token : (tensor<3xi32>, !xla.token) -> !xla.token
  // What was sent is overwritten and sent again.
  %x.after = xla.add_dependency %x, %first : (tensor<3xi32>, !xla.token) -> tensor<3xi32>
  %zero = xla.constant dense<0> : tensor<i32>
  %nine = xla.constant dense<[9]> : tensor<1xi32>
  %updated = xla.dynamic_update_slice %x.after, %nine, %zero : (tensor<3xi32>, tensor<1xi32>, tensor<i32>) -> tensor<3xi32>
  %second = xla.outfeed %updated, %first : (tensor<3xi32>, !xla.token) -> !xla.token
  %0 = xla.add_dependency %updated, %second : (tensor<3xi32>, !xla.token) -> tensor<3xi32>
  check.expect_eq_const %0, dense<[9, 2, 3]> : tensor<3xi32>
  check.expect_eq_const %x, dense<[1, 2, 3]> : tensor<3xi32>
  func.return
}

// for i32 in types
func.func @types() -> tensor<3xi32> {
  %values = xla.constant dense<[0, 1, -1]> : tensor<3xi64>
  %x = xla.convert %values : (tensor<3xi64>) -> tensor<3xi32>
  %token = xla.after_all : !xla.token
  %written = xla.outfeed %x, %token : (tensor<3xi32>, !xla.token) -> !xla.token
  %0 = xla.add_dependency %x, %written : (tensor<3xi32>, !xla.token) -> tensor<3xi32>
  func.return %0 : tensor<3xi32>
}

func.func @several() -> tensor<2xf32> {
  %x = xla.constant dense<[1.0, -0.0]> : tensor<2xf32>
  %n = xla.constant dense<5> : tensor<i32>
  %token = xla.after_all : !xla.token
  %pair = xla.tuple %x, %n : (tensor<2xf32>, tensor<i32>) -> tuple<tensor<2xf32>, tensor<i32>>
  %first = xla.outfeed %pair, %token : (tuple<tensor<2xf32>, tensor<i32>>, !xla.token) -> !xla.token
  %second = xla.outfeed %n, %first : (tensor<i32>, !xla.token) -> !xla.token
  %0 = xla.add_dependency %x, %second : (tensor<2xf32>, !xla.token) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

func.func @column_major() -> tensor<2x3xf32, #xla.layout<{0,1}>> {
  %x = xla.constant dense<[[1.0, 2.0, 3.0], [-0.0, 0x7FC00000, 6.0]]> : tensor<2x3xf32, #xla.layout<{0,1}>>
  %token = xla.after_all : !xla.token
  %written = xla.outfeed %x, %token : (tensor<2x3xf32, #xla.layout<{0,1}>>, !xla.token) -> !xla.token
  %0 = xla.add_dependency %x, %written : (tensor<2x3xf32, #xla.layout<{0,1}>>, !xla.token) -> tensor<2x3xf32, #xla.layout<{0,1}>>
  func.return %0 : tensor<2x3xf32, #xla.layout<{0,1}>>
}
