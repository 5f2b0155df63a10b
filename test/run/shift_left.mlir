// RUN: xla-run %s --all-functions --backend reference

// Shifts; the amount has no sign, and one of all bits or more leaves 0.

func.func @worked() {
  %signed.left = xla.constant dense<[1, -8]> : tensor<2xi32>
  %signed.right = xla.constant dense<[32, 1]> : tensor<2xi32>
  %signed = xla.shift_left %signed.left, %signed.right : tensor<2xi32>
  check.expect_eq_const %signed, dense<[0, -16]> : tensor<2xi32>
  %narrow.left = xla.constant dense<[-5, -5, -5, -5]> : tensor<4xi8>
  %narrow.right = xla.constant dense<[1, 7, 8, -1]> : tensor<4xi8>
  %narrow = xla.shift_left %narrow.left, %narrow.right : tensor<4xi8>
  check.expect_eq_const %narrow, dense<[-10, -128, 0, 0]> : tensor<4xi8>
  func.return
}

// for i32 in integers
func.func @integers() -> tensor<16x16xi32> {
  %values = xla.constant dense<[0, 1, -1, 2, 3, 5, 7, 8, 15, 16, 31, 32, 63, 64, -128, -8]> : tensor<16xi64>
  %x = xla.convert %values : (tensor<16xi64>) -> tensor<16xi32>
  %left = xla.broadcast %x {dimensions = [0]} : (tensor<16xi32>) -> tensor<16x16xi32>
  %right = xla.broadcast %x {dimensions = [1]} : (tensor<16xi32>) -> tensor<16x16xi32>
  %y = xla.shift_left %left, %right : tensor<16x16xi32>
  func.return %y : tensor<16x16xi32>
}

func.func @mixed_layouts() -> tensor<3x5xi8, #xla.layout<{0,1}>> {
  %left = xla.constant dense<[[0, 1, -2, 3, -4], [5, -6, 7, 127, -128], [100, -100, 16, -16, 85]]> : tensor<3x5xi8>
  %0 = xla.constant dense<[[3, 1, -2, 5, 4], [2, -6, 1, 7, 3], [-100, 10, 4, 2, -1]]> : tensor<3x5xi8>
  %right = xla.copy %0 : (tensor<3x5xi8>) -> tensor<3x5xi8, #xla.layout<{0,1}>>
  %y = xla.shift_left %left, %right : (tensor<3x5xi8>, tensor<3x5xi8, #xla.layout<{0,1}>>) -> tensor<3x5xi8, #xla.layout<{0,1}>>
  func.return %y : tensor<3x5xi8, #xla.layout<{0,1}>>
}

func.func @scalar_and_empty() -> (tensor<i8>, tensor<3x0xi8>) {
  %left = xla.constant dense<12> : tensor<i8>
  %right = xla.constant dense<2> : tensor<i8>
  %scalar = xla.shift_left %left, %right : tensor<i8>
  %nothing = xla.constant dense<> : tensor<3x0xi8>
  %empty = xla.shift_left %nothing, %nothing : tensor<3x0xi8>
  func.return %scalar, %empty : tensor<i8>, tensor<3x0xi8>
}
