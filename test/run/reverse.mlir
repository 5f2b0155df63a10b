// RUN: xla-run %s --all-functions --backend reference

// The order of elements turned round along some dimensions.

func.func @worked() {
  %x = xla.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %both = xla.reverse %x {dimensions = [0, 1]} : tensor<2x3xi32>
  check.expect_eq_const %both, dense<[[6, 5, 4], [3, 2, 1]]> : tensor<2x3xi32>
  %rows = xla.reverse %x {dimensions = [0]} : tensor<2x3xi32>
  check.expect_eq_const %rows, dense<[[4, 5, 6], [1, 2, 3]]> : tensor<2x3xi32>
  %line = xla.constant dense<[1, 2, 3, 4, 5]> : tensor<5xi32>
  %backwards = xla.reverse %line {dimensions = [0]} : tensor<5xi32>
  check.expect_eq_const %backwards, dense<[5, 4, 3, 2, 1]> : tensor<5xi32>
  %unchanged = xla.reverse %x {dimensions = []} : tensor<2x3xi32>
  check.expect_eq_const %unchanged, dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  func.return
}

// for i32 in types
func.func @types() -> (tensor<3x19xi32>, tensor<3x19xi32>, tensor<3x19xi32>) {
  %0 = xla.iota {iota_dimension = 0} : tensor<57xi64>
  %1 = xla.convert %0 : (tensor<57xi64>) -> tensor<57xi32>
  %x = xla.reshape %1 : (tensor<57xi32>) -> tensor<3x19xi32>
  %rows = xla.reverse %x {dimensions = [0]} : tensor<3x19xi32>
  %columns = xla.reverse %x {dimensions = [1]} : tensor<3x19xi32>
  %both = xla.reverse %x {dimensions = [0, 1]} : tensor<3x19xi32>
  func.return %rows, %columns, %both : tensor<3x19xi32>, tensor<3x19xi32>, tensor<3x19xi32>
}

func.func @layouts() -> tensor<2x3xi32, #xla.layout<{0,1}>> {
  %x = xla.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32, #xla.layout<{0,1}>>
  %0 = xla.reverse %x {dimensions = [1]} : tensor<2x3xi32, #xla.layout<{0,1}>>
  func.return %0 : tensor<2x3xi32, #xla.layout<{0,1}>>
}

func.func @sizes() -> (tensor<f32>, tensor<2x3xf32>, tensor<0x3xf32>) {
  %x = xla.constant dense<-0.0> : tensor<f32>
  %scalar = xla.reverse %x {dimensions = []} : tensor<f32>
  %y = xla.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %same = xla.reverse %y {dimensions = []} : tensor<2x3xf32>
  %nothing = xla.constant dense<> : tensor<0x3xf32>
  %empty = xla.reverse %nothing {dimensions = [0, 1]} : tensor<0x3xf32>
  func.return %scalar, %same, %empty : tensor<f32>, tensor<2x3xf32>, tensor<0x3xf32>
}
