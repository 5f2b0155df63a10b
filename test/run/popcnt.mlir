// RUN: xla-run %s --all-functions --backend reference

// The number of bits that are set, in the type of the operand.

func.func @worked() {
  %signed = xla.constant dense<[-1, 0, 5]> : tensor<3xi32>
  %signed.result = xla.popcnt %signed : tensor<3xi32>
  check.expect_eq_const %signed.result, dense<[32, 0, 2]> : tensor<3xi32>
  %unsigned = xla.constant dense<[240, 255, 1]> : tensor<3xui8>
  %unsigned.result = xla.popcnt %unsigned : tensor<3xui8>
  check.expect_eq_const %unsigned.result, dense<[4, 8, 1]> : tensor<3xui8>
  func.return
}

// for i32 in integers
func.func @integers() -> tensor<18xi32> {
  %values = xla.constant dense<[0, 1, -1, 2, -2, 7, -7, 85, 127, -128, 128, 255, 32767, -32768, 2147483647, -2147483648, 9223372036854775807, -9223372036854775808]> : tensor<18xi64>
  %x = xla.convert %values : (tensor<18xi64>) -> tensor<18xi32>
  %y = xla.popcnt %x : tensor<18xi32>
  func.return %y : tensor<18xi32>
}

func.func @column_major() -> tensor<3x5xi8, #xla.layout<{0,1}>> {
  %row_major = xla.constant dense<[[0, 1, -2, 3, -4], [5, -6, 7, 127, -128], [100, -100, 16, -16, 85]]> : tensor<3x5xi8>
  %x = xla.copy %row_major : (tensor<3x5xi8>) -> tensor<3x5xi8, #xla.layout<{0,1}>>
  %y = xla.popcnt %x : tensor<3x5xi8, #xla.layout<{0,1}>>
  func.return %y : tensor<3x5xi8, #xla.layout<{0,1}>>
}

func.func @scalar_and_empty() -> (tensor<i32>, tensor<0x3xi32>) {
  %x = xla.constant dense<7> : tensor<i32>
  %scalar = xla.popcnt %x : tensor<i32>
  %nothing = xla.constant dense<> : tensor<0x3xi32>
  %empty = xla.popcnt %nothing : tensor<0x3xi32>
  func.return %scalar, %empty : tensor<i32>, tensor<0x3xi32>
}
