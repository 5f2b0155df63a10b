// RUN: xla-run %s --all-functions --backend reference

// Dimensions in another order.

func.func @worked() {
  %x = xla.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %0 = xla.transpose %x {dimensions = [1, 0]} : (tensor<2x3xi32>) -> tensor<3x2xi32>
  check.expect_eq_const %0, dense<[[1, 4], [2, 5], [3, 6]]> : tensor<3x2xi32>
  %line = xla.iota {iota_dimension = 0} : tensor<30xi32>
  %box = xla.reshape %line : (tensor<30xi32>) -> tensor<2x3x5xi32>
  %last_first = xla.transpose %box {dimensions = [2, 0, 1]} : (tensor<2x3x5xi32>) -> tensor<5x2x3xi32>
  check.expect_eq_const %last_first, dense<[[[0, 5, 10], [15, 20, 25]], [[1, 6, 11], [16, 21, 26]], [[2, 7, 12], [17, 22, 27]], [[3, 8, 13], [18, 23, 28]], [[4, 9, 14], [19, 24, 29]]]> : tensor<5x2x3xi32>
  func.return
}

// for i32 in types
func.func @types() -> (tensor<18x17xi32>, tensor<2x9x17xi32>) {
  %0 = xla.iota {iota_dimension = 0} : tensor<306xi64>
  %1 = xla.convert %0 : (tensor<306xi64>) -> tensor<306xi32>
  %x = xla.reshape %1 : (tensor<306xi32>) -> tensor<17x18xi32>
  %y = xla.reshape %1 : (tensor<306xi32>) -> tensor<17x9x2xi32>
  %matrix = xla.transpose %x {dimensions = [1, 0]} : (tensor<17x18xi32>) -> tensor<18x17xi32>
  %cube = xla.transpose %y {dimensions = [2, 1, 0]} : (tensor<17x9x2xi32>) -> tensor<2x9x17xi32>
  func.return %matrix, %cube : tensor<18x17xi32>, tensor<2x9x17xi32>
}

func.func @layouts() -> (tensor<3x2xi32, #xla.layout<{0,1}>>, tensor<3x2xi32>, tensor<4x2x3xi32, #xla.layout<{1,2,0}>>) {
  %x = xla.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32, #xla.layout<{0,1}>>
  %kept = xla.transpose %x {dimensions = [1, 0]} : (tensor<2x3xi32, #xla.layout<{0,1}>>) -> tensor<3x2xi32, #xla.layout<{0,1}>>
  %renamed = xla.transpose %x {dimensions = [1, 0]} : (tensor<2x3xi32, #xla.layout<{0,1}>>) -> tensor<3x2xi32>
  %0 = xla.iota {iota_dimension = 0} : tensor<24xi32>
  %1 = xla.reshape %0 : (tensor<24xi32>) -> tensor<2x3x4xi32>
  %cube = xla.transpose %1 {dimensions = [2, 0, 1]} : (tensor<2x3x4xi32>) -> tensor<4x2x3xi32, #xla.layout<{1,2,0}>>
  func.return %kept, %renamed, %cube : tensor<3x2xi32, #xla.layout<{0,1}>>, tensor<3x2xi32>, tensor<4x2x3xi32, #xla.layout<{1,2,0}>>
}

func.func @sizes() -> (tensor<f32>, tensor<3xf32>, tensor<2x0x3xf32>) {
  %x = xla.constant dense<-0.0> : tensor<f32>
  %scalar = xla.transpose %x {dimensions = []} : (tensor<f32>) -> tensor<f32>
  %y = xla.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %line = xla.transpose %y {dimensions = [0]} : (tensor<3xf32>) -> tensor<3xf32>
  %nothing = xla.constant dense<> : tensor<3x0x2xf32>
  %empty = xla.transpose %nothing {dimensions = [2, 1, 0]} : (tensor<3x0x2xf32>) -> tensor<2x0x3xf32>
  func.return %scalar, %line, %empty : tensor<f32>, tensor<3xf32>, tensor<2x0x3xf32>
}
