// RUN: xla-run %s --all-functions --backend reference

// The upper half of a product of twice the width.

func.func @worked() {
  %signed.left = xla.constant dense<[127, -128, -1]> : tensor<3xi8>
  %signed.right = xla.constant dense<[127, -128, 1]> : tensor<3xi8>
  %signed = xla.mulhi %signed.left, %signed.right : tensor<3xi8>
  check.expect_eq_const %signed, dense<[63, 64, -1]> : tensor<3xi8>
  %unsigned.left = xla.constant dense<[255, 16]> : tensor<2xui8>
  %unsigned.right = xla.constant dense<[255, 16]> : tensor<2xui8>
  %unsigned = xla.mulhi %unsigned.left, %unsigned.right : tensor<2xui8>
  check.expect_eq_const %unsigned, dense<[254, 1]> : tensor<2xui8>
  func.return
}

// for i32 in integers
func.func @integers() -> tensor<14x14xi32> {
  %values = xla.constant dense<[0, 1, -1, 2, 7, -3, 127, -128, 32767, -32768, 2147483647, -2147483648, 9223372036854775807, -9223372036854775808]> : tensor<14xi64>
  %x = xla.convert %values : (tensor<14xi64>) -> tensor<14xi32>
  %left = xla.broadcast %x {dimensions = [0]} : (tensor<14xi32>) -> tensor<14x14xi32>
  %right = xla.broadcast %x {dimensions = [1]} : (tensor<14xi32>) -> tensor<14x14xi32>
  %y = xla.mulhi %left, %right : tensor<14x14xi32>
  func.return %y : tensor<14x14xi32>
}

func.func @mixed_layouts() -> tensor<3x5xi8, #xla.layout<{0,1}>> {
  %left = xla.constant dense<[[0, 1, -2, 3, -4], [5, -6, 7, 127, -128], [100, -100, 16, -16, 85]]> : tensor<3x5xi8>
  %0 = xla.constant dense<[[3, 1, -2, 5, 4], [2, -6, 1, 7, 3], [-100, 10, 4, 2, -1]]> : tensor<3x5xi8>
  %right = xla.copy %0 : (tensor<3x5xi8>) -> tensor<3x5xi8, #xla.layout<{0,1}>>
  %y = xla.mulhi %left, %right : (tensor<3x5xi8>, tensor<3x5xi8, #xla.layout<{0,1}>>) -> tensor<3x5xi8, #xla.layout<{0,1}>>
  func.return %y : tensor<3x5xi8, #xla.layout<{0,1}>>
}

func.func @scalar_and_empty() -> (tensor<i8>, tensor<3x0xi8>) {
  %left = xla.constant dense<100> : tensor<i8>
  %right = xla.constant dense<100> : tensor<i8>
  %scalar = xla.mulhi %left, %right : tensor<i8>
  %nothing = xla.constant dense<> : tensor<3x0xi8>
  %empty = xla.mulhi %nothing, %nothing : tensor<3x0xi8>
  func.return %scalar, %empty : tensor<i8>, tensor<3x0xi8>
}
