// RUN: xla-run %s --all-functions --backend reference

// The larger one: NaN if either is, 0 of -0 and 0.

func.func @worked() {
  %signed.left = xla.constant dense<[-128, 3]> : tensor<2xi8>
  %signed.right = xla.constant dense<[127, -3]> : tensor<2xi8>
  %signed = xla.maximum %signed.left, %signed.right : tensor<2xi8>
  check.expect_eq_const %signed, dense<[127, 3]> : tensor<2xi8>
  %unsigned.left = xla.constant dense<[128, 3]> : tensor<2xui8>
  %unsigned.right = xla.constant dense<[127, 255]> : tensor<2xui8>
  %unsigned = xla.maximum %unsigned.left, %unsigned.right : tensor<2xui8>
  check.expect_eq_const %unsigned, dense<[128, 255]> : tensor<2xui8>
  %floats.left = xla.constant dense<[1.0, -0.0, 0x7FC00000]> : tensor<3xf32>
  %floats.right = xla.constant dense<[2.0, 0.0, 1.0]> : tensor<3xf32>
  %floats = xla.maximum %floats.left, %floats.right : tensor<3xf32>
  check.expect_eq_const %floats, dense<[2.0, 0.0, 0x7FC00000]> : tensor<3xf32>
  %pred.left = xla.constant dense<[true, false]> : tensor<2xi1>
  %pred.right = xla.constant dense<[false, false]> : tensor<2xi1>
  %pred = xla.maximum %pred.left, %pred.right : tensor<2xi1>
  check.expect_eq_const %pred, dense<[true, false]> : tensor<2xi1>
  // A check takes -0 for 0; the bits tell them apart.
  %zeros.left = xla.constant dense<[-0.0, 0.0]> : tensor<2xf32>
  %zeros.right = xla.constant dense<[0.0, -0.0]> : tensor<2xf32>
  %zeros = xla.maximum %zeros.left, %zeros.right : tensor<2xf32>
  %zeros.bits = xla.bitcast_convert %zeros : (tensor<2xf32>) -> tensor<2xi32>
  check.expect_eq_const %zeros.bits, dense<[0, 0]> : tensor<2xi32>
  func.return
}

// for f32 in floats
func.func @floats() -> tensor<11x11xf32> {
  %values = xla.constant dense<[0.0, -0.0, 1.0, -1.5, 0.5, 3.0, -7.0, 1.0e30, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000]> : tensor<11xf64>
  %x = xla.convert %values : (tensor<11xf64>) -> tensor<11xf32>
  %left = xla.broadcast %x {dimensions = [0]} : (tensor<11xf32>) -> tensor<11x11xf32>
  %right = xla.broadcast %x {dimensions = [1]} : (tensor<11xf32>) -> tensor<11x11xf32>
  %y = xla.maximum %left, %right : tensor<11x11xf32>
  func.return %y : tensor<11x11xf32>
}

// for i32 in integers pred
func.func @integers() -> tensor<14x14xi32> {
  %values = xla.constant dense<[0, 1, -1, 2, 7, -3, 127, -128, 32767, -32768, 2147483647, -2147483648, 9223372036854775807, -9223372036854775808]> : tensor<14xi64>
  %x = xla.convert %values : (tensor<14xi64>) -> tensor<14xi32>
  %left = xla.broadcast %x {dimensions = [0]} : (tensor<14xi32>) -> tensor<14x14xi32>
  %right = xla.broadcast %x {dimensions = [1]} : (tensor<14xi32>) -> tensor<14x14xi32>
  %y = xla.maximum %left, %right : tensor<14x14xi32>
  func.return %y : tensor<14x14xi32>
}

func.func @mixed_layouts() -> tensor<3x5xf32, #xla.layout<{0,1}>> {
  %left = xla.constant dense<[[0.0, 1.0, -2.0, 3.5, -4.25], [0.5, -0.5, 1.5, -1.5, 2.5], [10.0, -0.0, 100.0, -0.125, 7.0]]> : tensor<3x5xf32>
  %0 = xla.constant dense<[[1.0, 0.5, -2.0, 4.0, 3.0], [-0.25, 8.0, 1.5, 2.0, -5.0], [16.0, -1.0, 0.125, 10.0, -0.5]]> : tensor<3x5xf32>
  %right = xla.copy %0 : (tensor<3x5xf32>) -> tensor<3x5xf32, #xla.layout<{0,1}>>
  %y = xla.maximum %left, %right : (tensor<3x5xf32>, tensor<3x5xf32, #xla.layout<{0,1}>>) -> tensor<3x5xf32, #xla.layout<{0,1}>>
  func.return %y : tensor<3x5xf32, #xla.layout<{0,1}>>
}

func.func @scalar_and_empty() -> (tensor<f32>, tensor<3x0xf32>) {
  %left = xla.constant dense<3.0> : tensor<f32>
  %right = xla.constant dense<2.0> : tensor<f32>
  %scalar = xla.maximum %left, %right : tensor<f32>
  %nothing = xla.constant dense<> : tensor<3x0xf32>
  %empty = xla.maximum %nothing, %nothing : tensor<3x0xf32>
  func.return %scalar, %empty : tensor<f32>, tensor<3x0xf32>
}
