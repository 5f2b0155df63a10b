// RUN: xla-run %s --all-functions --backend reference

// Of pred the other value, of integers all bits turned over.

func.func @worked() {
  %pred = xla.constant dense<[true, false]> : tensor<2xi1>
  %pred.result = xla.not %pred : tensor<2xi1>
  check.expect_eq_const %pred.result, dense<[false, true]> : tensor<2xi1>
  %signed = xla.constant dense<[0, -1]> : tensor<2xi32>
  %signed.result = xla.not %signed : tensor<2xi32>
  check.expect_eq_const %signed.result, dense<[-1, 0]> : tensor<2xi32>
  %unsigned = xla.constant dense<[0, 129]> : tensor<2xui8>
  %unsigned.result = xla.not %unsigned : tensor<2xui8>
  check.expect_eq_const %unsigned.result, dense<[255, 126]> : tensor<2xui8>
  func.return
}

// for i32 in integers pred
func.func @integers() -> tensor<18xi32> {
  %values = xla.constant dense<[0, 1, -1, 2, -2, 7, -7, 85, 127, -128, 128, 255, 32767, -32768, 2147483647, -2147483648, 9223372036854775807, -9223372036854775808]> : tensor<18xi64>
  %x = xla.convert %values : (tensor<18xi64>) -> tensor<18xi32>
  %y = xla.not %x : tensor<18xi32>
  func.return %y : tensor<18xi32>
}

func.func @column_major() -> tensor<3x5xi8, #xla.layout<{0,1}>> {
  %row_major = xla.constant dense<[[0, 1, -2, 3, -4], [5, -6, 7, 127, -128], [100, -100, 16, -16, 85]]> : tensor<3x5xi8>
  %x = xla.copy %row_major : (tensor<3x5xi8>) -> tensor<3x5xi8, #xla.layout<{0,1}>>
  %y = xla.not %x : tensor<3x5xi8, #xla.layout<{0,1}>>
  func.return %y : tensor<3x5xi8, #xla.layout<{0,1}>>
}

func.func @scalar_and_empty() -> (tensor<i32>, tensor<0x3xi32>) {
  %x = xla.constant dense<5> : tensor<i32>
  %scalar = xla.not %x : tensor<i32>
  %nothing = xla.constant dense<> : tensor<0x3xi32>
  %empty = xla.not %nothing : tensor<0x3xi32>
  func.return %scalar, %empty : tensor<i32>, tensor<0x3xi32>
}
