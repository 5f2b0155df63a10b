// RUN: xla-run %s --all-functions --backend reference

// The same bits as another type; narrower elements are the last dimension, the lowest bits first.

func.func @worked() {
  %one = xla.constant dense<1.0> : tensor<f32>
  %halves = xla.bitcast_convert %one : (tensor<f32>) -> tensor<2xui16>
  check.expect_eq_const %halves, dense<[0, 16256]> : tensor<2xui16>
  %bytes = xla.bitcast_convert %one : (tensor<f32>) -> tensor<4xui8>
  check.expect_eq_const %bytes, dense<[0, 0, 128, 63]> : tensor<4xui8>
  %pairs = xla.constant dense<[18, 244]> : tensor<2xui8>
  %nibbles = xla.bitcast_convert %pairs : (tensor<2xui8>) -> tensor<2x2xui4>
  check.expect_eq_const %nibbles, dense<[[2, 1], [4, 15]]> : tensor<2x2xui4>
  %again = xla.bitcast_convert %nibbles : (tensor<2x2xui4>) -> tensor<2xui8>
  check.expect_eq_const %again, dense<[18, 244]> : tensor<2xui8>
  %double = xla.constant dense<1.0> : tensor<f64>
  %bf16 = xla.bitcast_convert %double : (tensor<f64>) -> tensor<4xbf16>
  check.expect_eq_const %bf16, dense<[0.0, 0.0, 0.0, 1.875]> : tensor<4xbf16>
  %octets = xla.constant dense<[[1, 2, 3, 4], [5, 6, 7, 8]]> : tensor<2x4xui8>
  %words = xla.bitcast_convert %octets : (tensor<2x4xui8>) -> tensor<2xui32>
  check.expect_eq_const %words, dense<[67305985, 134678021]> : tensor<2xui32>
  %half_pair = xla.bitcast_convert %one : (tensor<f32>) -> tensor<2xf16>
  check.expect_eq_const %half_pair, dense<[0.0, 1.875]> : tensor<2xf16>
  %signed = xla.constant dense<[18, -12]> : tensor<2xi8>
  %signed.nibbles = xla.bitcast_convert %signed : (tensor<2xi8>) -> tensor<2x2xi4>
  check.expect_eq_const %signed.nibbles, dense<[[2, 1], [4, -1]]> : tensor<2x2xi4>
  %word = xla.constant dense<67305985> : tensor<i32>
  %word.bytes = xla.bitcast_convert %word : (tensor<i32>) -> tensor<4xi8>
  check.expect_eq_const %word.bytes, dense<[1, 2, 3, 4]> : tensor<4xi8>
  %bits = xla.constant dense<[1065353216, -1073741824]> : tensor<2xi32>
  %floats = xla.bitcast_convert %bits : (tensor<2xi32>) -> tensor<2xf32>
  check.expect_eq_const %floats, dense<[1.0, -2.0]> : tensor<2xf32>
  %ten = xla.iota {iota_dimension = 0} : tensor<10xf32>
  %ten.halves = xla.bitcast_convert %ten : (tensor<10xf32>) -> tensor<10x2xf16>
  %ten.again = xla.bitcast_convert %ten.halves : (tensor<10x2xf16>) -> tensor<10xf32>
  check.expect_eq_const %ten.again, dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]> : tensor<10xf32>
  func.return
}

// for i8 in i8 ui8 f8E3M4 f8E4M3 f8E4M3FN f8E4M3FNUZ f8E4M3B11FNUZ f8E5M2 f8E5M2FNUZ f8E8M0FNU
func.func @bits_8() -> (tensor<4xi8>, tensor<2xi16>, tensor<1xf32>) {
  %bits = xla.constant dense<[0, 129, 255, 124]> : tensor<4xui8>
  %x = xla.bitcast_convert %bits : (tensor<4xui8>) -> tensor<4xi8>
  %0 = xla.reshape %x : (tensor<4xi8>) -> tensor<2x2xi8>
  %pairs = xla.bitcast_convert %0 : (tensor<2x2xi8>) -> tensor<2xi16>
  %1 = xla.reshape %x : (tensor<4xi8>) -> tensor<1x4xi8>
  %all = xla.bitcast_convert %1 : (tensor<1x4xi8>) -> tensor<1xf32>
  func.return %x, %pairs, %all : tensor<4xi8>, tensor<2xi16>, tensor<1xf32>
}

// for i16 in i16 ui16 f16 bf16
func.func @bits_16() -> (tensor<4xi16>, tensor<4x2xui8>, tensor<2xi32>, tensor<i64>) {
  %bits = xla.constant dense<[0, 32769, 65535, 31744]> : tensor<4xui16>
  %x = xla.bitcast_convert %bits : (tensor<4xui16>) -> tensor<4xi16>
  %bytes = xla.bitcast_convert %x : (tensor<4xi16>) -> tensor<4x2xui8>
  %0 = xla.reshape %x : (tensor<4xi16>) -> tensor<2x2xi16>
  %words = xla.bitcast_convert %0 : (tensor<2x2xi16>) -> tensor<2xi32>
  %whole = xla.bitcast_convert %x : (tensor<4xi16>) -> tensor<i64>
  func.return %x, %bytes, %words, %whole : tensor<4xi16>, tensor<4x2xui8>, tensor<2xi32>, tensor<i64>
}

// for i32 in i32 ui32 f32
func.func @bits_32() -> (tensor<4xi32>, tensor<4x2xf16>, tensor<2xf64>, tensor<4x8xi4>) {
  %bits = xla.constant dense<[0, 2147483649, 4294967295, 2139095040]> : tensor<4xui32>
  %x = xla.bitcast_convert %bits : (tensor<4xui32>) -> tensor<4xi32>
  %halves = xla.bitcast_convert %x : (tensor<4xi32>) -> tensor<4x2xf16>
  %0 = xla.reshape %x : (tensor<4xi32>) -> tensor<2x2xi32>
  %doubles = xla.bitcast_convert %0 : (tensor<2x2xi32>) -> tensor<2xf64>
  %nibbles = xla.bitcast_convert %x : (tensor<4xi32>) -> tensor<4x8xi4>
  func.return %x, %halves, %doubles, %nibbles : tensor<4xi32>, tensor<4x2xf16>, tensor<2xf64>, tensor<4x8xi4>
}

// for i64 in i64 ui64 f64
func.func @bits_64() -> (tensor<3xi64>, tensor<3x2xf32>, tensor<3x8xi8>) {
  %bits = xla.constant dense<[1, 9223372036854775808, 18446744073709551615]> : tensor<3xui64>
  %x = xla.bitcast_convert %bits : (tensor<3xui64>) -> tensor<3xi64>
  %halves = xla.bitcast_convert %x : (tensor<3xi64>) -> tensor<3x2xf32>
  %bytes = xla.bitcast_convert %x : (tensor<3xi64>) -> tensor<3x8xi8>
  func.return %x, %halves, %bytes : tensor<3xi64>, tensor<3x2xf32>, tensor<3x8xi8>
}

// for i4 in i4 ui4 f4E2M1FN
func.func @bits_4() -> (tensor<4xi4>, tensor<2xi8>, tensor<ui16>) {
  %bits = xla.constant dense<[0, 9, 15, 7]> : tensor<4xui4>
  %x = xla.bitcast_convert %bits : (tensor<4xui4>) -> tensor<4xi4>
  %0 = xla.reshape %x : (tensor<4xi4>) -> tensor<2x2xi4>
  %bytes = xla.bitcast_convert %0 : (tensor<2x2xi4>) -> tensor<2xi8>
  %whole = xla.bitcast_convert %x : (tensor<4xi4>) -> tensor<ui16>
  func.return %x, %bytes, %whole : tensor<4xi4>, tensor<2xi8>, tensor<ui16>
}

// for i1 in pred
func.func @pred() -> (tensor<3xi8>, tensor<3xi1>) {
  %x = xla.constant dense<[true, false, true]> : tensor<3xi1>
  %bytes = xla.bitcast_convert %x : (tensor<3xi1>) -> tensor<3xi8>
  %0 = xla.constant dense<[0, 1, 2]> : tensor<3xui8>
  %back = xla.bitcast_convert %0 : (tensor<3xui8>) -> tensor<3xi1>
  func.return %bytes, %back : tensor<3xi8>, tensor<3xi1>
}

func.func @column_major() -> tensor<2x3x2xi16, #xla.layout<{2,0,1}>> {
  %0 = xla.constant dense<[[1, 65537, -1], [-65536, 305419896, 0]]> : tensor<2x3xi32, #xla.layout<{0,1}>>
  %1 = xla.bitcast_convert %0 : (tensor<2x3xi32, #xla.layout<{0,1}>>) -> tensor<2x3x2xi16, #xla.layout<{2,0,1}>>
  func.return %1 : tensor<2x3x2xi16, #xla.layout<{2,0,1}>>
}

func.func @empty() -> (tensor<0x2xi16>, tensor<0xi64>) {
  %0 = xla.constant dense<> : tensor<0xf32>
  %1 = xla.bitcast_convert %0 : (tensor<0xf32>) -> tensor<0x2xi16>
  %2 = xla.constant dense<> : tensor<0x2xi32>
  %3 = xla.bitcast_convert %2 : (tensor<0x2xi32>) -> tensor<0xi64>
  func.return %1, %3 : tensor<0x2xi16>, tensor<0xi64>
}
