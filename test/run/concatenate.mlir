// RUN: xla-run %s --all-functions --backend reference

// Arrays behind one another.

func.func @worked() {
  %0 = xla.constant dense<[2, 3]> : tensor<2xi32>
  %1 = xla.constant dense<[4, 5]> : tensor<2xi32>
  %2 = xla.constant dense<[6, 7]> : tensor<2xi32>
  %line = xla.concatenate %0, %1, %2 {dimension = 0} : (tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<6xi32>
  check.expect_eq_const %line, dense<[2, 3, 4, 5, 6, 7]> : tensor<6xi32>
  %a = xla.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32>
  %b = xla.constant dense<[[7, 8]]> : tensor<1x2xi32>
  %rows = xla.concatenate %a, %b {dimension = 0} : (tensor<3x2xi32>, tensor<1x2xi32>) -> tensor<4x2xi32>
  check.expect_eq_const %rows, dense<[[1, 2], [3, 4], [5, 6], [7, 8]]> : tensor<4x2xi32>
  func.return
}

// for i32 in types
func.func @types() -> (tensor<5x5xi32>, tensor<3x8xi32>) {
  %0 = xla.constant dense<[[0, 1, -1, 2, 3], [4, 5, 6, 7, 8], [100, -100, 1, 0, 127]]> : tensor<3x5xi64>
  %1 = xla.constant dense<[[1, 2, 3, 4, 5], [0, 0, 1, 0, 0]]> : tensor<2x5xi64>
  %2 = xla.constant dense<[[9, 8, 7], [6, 0, 4], [0, 2, 1]]> : tensor<3x3xi64>
  %x = xla.convert %0 : (tensor<3x5xi64>) -> tensor<3x5xi32>
  %y = xla.convert %1 : (tensor<2x5xi64>) -> tensor<2x5xi32>
  %z = xla.convert %2 : (tensor<3x3xi64>) -> tensor<3x3xi32>
  %rows = xla.concatenate %y, %x {dimension = 0} : (tensor<2x5xi32>, tensor<3x5xi32>) -> tensor<5x5xi32>
  %columns = xla.concatenate %x, %z {dimension = 1} : (tensor<3x5xi32>, tensor<3x3xi32>) -> tensor<3x8xi32>
  func.return %rows, %columns : tensor<5x5xi32>, tensor<3x8xi32>
}

func.func @mixed_layouts() -> tensor<2x5xi32, #xla.layout<{0,1}>> {
  %x = xla.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32, #xla.layout<{0,1}>>
  %y = xla.constant dense<[[7, 8], [9, 10]]> : tensor<2x2xi32>
  %0 = xla.concatenate %x, %y {dimension = 1} : (tensor<2x3xi32, #xla.layout<{0,1}>>, tensor<2x2xi32>) -> tensor<2x5xi32, #xla.layout<{0,1}>>
  func.return %0 : tensor<2x5xi32, #xla.layout<{0,1}>>
}

// One operand, the same one twice, and some without elements.
func.func @sizes() -> (tensor<2xf32>, tensor<4xf32>, tensor<2xf32>, tensor<0xf32>) {
  %x = xla.constant dense<[1.0, -0.0]> : tensor<2xf32>
  %nothing = xla.constant dense<> : tensor<0xf32>
  %one = xla.concatenate %x {dimension = 0} : (tensor<2xf32>) -> tensor<2xf32>
  %twice = xla.concatenate %x, %x {dimension = 0} : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  %beside = xla.concatenate %nothing, %x, %nothing {dimension = 0} : (tensor<0xf32>, tensor<2xf32>, tensor<0xf32>) -> tensor<2xf32>
  %empty = xla.concatenate %nothing, %nothing {dimension = 0} : (tensor<0xf32>, tensor<0xf32>) -> tensor<0xf32>
  func.return %one, %twice, %beside, %empty : tensor<2xf32>, tensor<4xf32>, tensor<2xf32>, tensor<0xf32>
}
