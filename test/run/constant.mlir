// RUN: xla-run %s --all-functions --backend reference

// Literals of every element type, at every level, as memory holds them.

func.func @worked() {
  %0 = xla.constant dense<[[1.0, 2.5], [-0.0, 0x7F800000]]> : tensor<2x2xf32>
  check.expect_eq_const %0, dense<[[1.0, 2.5], [-0.0, 0x7F800000]]> : tensor<2x2xf32>
  %1 = xla.constant dense<7> : tensor<2x3xi8>
  check.expect_eq_const %1, dense<[[7, 7, 7], [7, 7, 7]]> : tensor<2x3xi8>
  func.return
}

// for f32 in floats
func.func @floats() -> (tensor<6xf32>, tensor<2x3xf32>, tensor<f32>, tensor<0x3xf32>) {
  %numbers = xla.constant dense<[1.0, 2.0, 0.5, 4.0, 1.0, 0.25]> : tensor<6xf32>
  %same = xla.constant dense<2.0> : tensor<2x3xf32>
  %scalar = xla.constant dense<4.0> : tensor<f32>
  %empty = xla.constant dense<> : tensor<0x3xf32>
  func.return %numbers, %same, %scalar, %empty : tensor<6xf32>, tensor<2x3xf32>, tensor<f32>, tensor<0x3xf32>
}

func.func @special_floats() -> (tensor<6xf64>, tensor<6xf32>, tensor<6xf16>, tensor<6xbf16>) {
  %f64 = xla.constant dense<[-0.0, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000, 0x0000000000000001, 1.7976931348623157e308]> : tensor<6xf64>
  %f32 = xla.constant dense<[-0.0, 0x7F800000, 0xFF800000, 0x7FC00000, 0x00000001, 3.4028234663852886e38]> : tensor<6xf32>
  %f16 = xla.constant dense<[-0.0, 0x7C00, 0xFC00, 0x7E00, 0x0001, 65504.0]> : tensor<6xf16>
  %bf16 = xla.constant dense<[-0.0, 0x7F80, 0xFF80, 0x7FC0, 0x0001, 3.3895313892515355e38]> : tensor<6xbf16>
  func.return %f64, %f32, %f16, %bf16 : tensor<6xf64>, tensor<6xf32>, tensor<6xf16>, tensor<6xbf16>
}

// for i32 in signed
func.func @signed() -> (tensor<4xi32>, tensor<2x3xi32>, tensor<i32>, tensor<0x3xi32>) {
  %numbers = xla.constant dense<[0, -1, -1, 0]> : tensor<4xi32>
  %same = xla.constant dense<-1> : tensor<2x3xi32>
  %scalar = xla.constant dense<-1> : tensor<i32>
  %empty = xla.constant dense<> : tensor<0x3xi32>
  func.return %numbers, %same, %scalar, %empty : tensor<4xi32>, tensor<2x3xi32>, tensor<i32>, tensor<0x3xi32>
}

// for ui32 in unsigned
func.func @unsigned() -> (tensor<4xui32>, tensor<2x3xui32>, tensor<ui32>, tensor<0x3xui32>) {
  %numbers = xla.constant dense<[0, 1, 1, 0]> : tensor<4xui32>
  %same = xla.constant dense<1> : tensor<2x3xui32>
  %scalar = xla.constant dense<1> : tensor<ui32>
  %empty = xla.constant dense<> : tensor<0x3xui32>
  func.return %numbers, %same, %scalar, %empty : tensor<4xui32>, tensor<2x3xui32>, tensor<ui32>, tensor<0x3xui32>
}

func.func @limits() -> (tensor<3xi4>, tensor<2xui4>, tensor<2xi8>, tensor<2xui8>, tensor<2xi64>, tensor<2xui64>, tensor<3xi1>) {
  %i4 = xla.constant dense<[-8, 7, -1]> : tensor<3xi4>
  %ui4 = xla.constant dense<[0, 15]> : tensor<2xui4>
  %i8 = xla.constant dense<[-128, 127]> : tensor<2xi8>
  %ui8 = xla.constant dense<[0, 255]> : tensor<2xui8>
  %i64 = xla.constant dense<[-9223372036854775808, 9223372036854775807]> : tensor<2xi64>
  %ui64 = xla.constant dense<[0, 18446744073709551615]> : tensor<2xui64>
  %i1 = xla.constant dense<[true, false, true]> : tensor<3xi1>
  func.return %i4, %ui4, %i8, %ui8, %i64, %ui64, %i1 : tensor<3xi4>, tensor<2xui4>, tensor<2xi8>, tensor<2xui8>, tensor<2xi64>, tensor<2xui64>, tensor<3xi1>
}

// for f32 in parts
func.func @complex() -> (tensor<2xcomplex<f32>>, tensor<2x2xcomplex<f32>>) {
  %numbers = xla.constant dense<[(1.0, -2.5), (-0.0, 0.0)]> : tensor<2xcomplex<f32>>
  %same = xla.constant dense<(0.5, 4.0)> : tensor<2x2xcomplex<f32>>
  func.return %numbers, %same : tensor<2xcomplex<f32>>, tensor<2x2xcomplex<f32>>
}

func.func @column_major() -> tensor<2x3xf32, #xla.layout<{0,1}>> {
  %0 = xla.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32, #xla.layout<{0,1}>>
  func.return %0 : tensor<2x3xf32, #xla.layout<{0,1}>>
}
