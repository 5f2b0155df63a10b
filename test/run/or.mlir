// RUN: xla-run %s --all-functions --backend reference

// Of pred a logical or, of integers all bits.

func.func @worked() {
  %integers.left = xla.constant dense<[12, 0]> : tensor<2xi32>
  %integers.right = xla.constant dense<[10, -2147483648]> : tensor<2xi32>
  %integers = xla.or %integers.left, %integers.right : tensor<2xi32>
  check.expect_eq_const %integers, dense<[14, -2147483648]> : tensor<2xi32>
  %pred.left = xla.constant dense<[true, true, false]> : tensor<3xi1>
  %pred.right = xla.constant dense<[true, false, false]> : tensor<3xi1>
  %pred = xla.or %pred.left, %pred.right : tensor<3xi1>
  check.expect_eq_const %pred, dense<[true, true, false]> : tensor<3xi1>
  func.return
}

// for i32 in integers pred
func.func @integers() -> tensor<14x14xi32> {
  %values = xla.constant dense<[0, 1, -1, 2, 7, -3, 127, -128, 32767, -32768, 2147483647, -2147483648, 9223372036854775807, -9223372036854775808]> : tensor<14xi64>
  %x = xla.convert %values : (tensor<14xi64>) -> tensor<14xi32>
  %left = xla.broadcast %x {dimensions = [0]} : (tensor<14xi32>) -> tensor<14x14xi32>
  %right = xla.broadcast %x {dimensions = [1]} : (tensor<14xi32>) -> tensor<14x14xi32>
  %y = xla.or %left, %right : tensor<14x14xi32>
  func.return %y : tensor<14x14xi32>
}

func.func @mixed_layouts() -> tensor<3x5xi8, #xla.layout<{0,1}>> {
  %left = xla.constant dense<[[0, 1, -2, 3, -4], [5, -6, 7, 127, -128], [100, -100, 16, -16, 85]]> : tensor<3x5xi8>
  %0 = xla.constant dense<[[3, 1, -2, 5, 4], [2, -6, 1, 7, 3], [-100, 10, 4, 2, -1]]> : tensor<3x5xi8>
  %right = xla.copy %0 : (tensor<3x5xi8>) -> tensor<3x5xi8, #xla.layout<{0,1}>>
  %y = xla.or %left, %right : (tensor<3x5xi8>, tensor<3x5xi8, #xla.layout<{0,1}>>) -> tensor<3x5xi8, #xla.layout<{0,1}>>
  func.return %y : tensor<3x5xi8, #xla.layout<{0,1}>>
}

func.func @scalar_and_empty() -> (tensor<i8>, tensor<3x0xi8>) {
  %left = xla.constant dense<12> : tensor<i8>
  %right = xla.constant dense<10> : tensor<i8>
  %scalar = xla.or %left, %right : tensor<i8>
  %nothing = xla.constant dense<> : tensor<3x0xi8>
  %empty = xla.or %nothing, %nothing : tensor<3x0xi8>
  func.return %scalar, %empty : tensor<i8>, tensor<3x0xi8>
}
