// RUN: xla-run %s --all-functions --backend reference

// From every element type to every other one. Floats become integers by cutting off, and the nearest one
// where they are too large; NaN becomes 0. Integers wrap; pred is what is not 0.

func.func @worked() {
  %floats = xla.constant dense<[0x7FC00000, 0x7F800000, 0xFF800000, 1.0e20, -1.0e20, 300.5, -300.5, -1.5, 2147483648.0, -0.0, 0.5, -0.5]> : tensor<12xf32>
  %i8 = xla.convert %floats : (tensor<12xf32>) -> tensor<12xi8>
  check.expect_eq_const %i8, dense<[0, 127, -128, 127, -128, 127, -128, -1, 127, 0, 0, 0]> : tensor<12xi8>
  %ui8 = xla.convert %floats : (tensor<12xf32>) -> tensor<12xui8>
  check.expect_eq_const %ui8, dense<[0, 255, 0, 255, 0, 255, 0, 0, 255, 0, 0, 0]> : tensor<12xui8>
  %i32 = xla.convert %floats : (tensor<12xf32>) -> tensor<12xi32>
  check.expect_eq_const %i32, dense<[0, 2147483647, -2147483648, 2147483647, -2147483648, 300, -300, -1, 2147483647, 0, 0, 0]> : tensor<12xi32>
  %ui32 = xla.convert %floats : (tensor<12xf32>) -> tensor<12xui32>
  check.expect_eq_const %ui32, dense<[0, 4294967295, 0, 4294967295, 0, 300, 0, 0, 2147483648, 0, 0, 0]> : tensor<12xui32>
  %i4 = xla.convert %floats : (tensor<12xf32>) -> tensor<12xi4>
  check.expect_eq_const %i4, dense<[0, 7, -8, 7, -8, 7, -8, -1, 7, 0, 0, 0]> : tensor<12xi4>
  %i1 = xla.convert %floats : (tensor<12xf32>) -> tensor<12xi1>
  check.expect_eq_const %i1, dense<[true, true, true, true, true, true, true, true, true, false, true, true]> : tensor<12xi1>
  %integers = xla.constant dense<[300, -300, 128, -129]> : tensor<4xi32>
  %wrapped = xla.convert %integers : (tensor<4xi32>) -> tensor<4xi8>
  check.expect_eq_const %wrapped, dense<[44, -44, -128, 127]> : tensor<4xi8>
  %unsigned = xla.convert %integers : (tensor<4xi32>) -> tensor<4xui8>
  check.expect_eq_const %unsigned, dense<[44, 212, 128, 127]> : tensor<4xui8>
  %large = xla.constant dense<[16777217, 16777219]> : tensor<2xi64>
  %to_even = xla.convert %large : (tensor<2xi64>) -> tensor<2xf32>
  check.expect_eq_const %to_even, dense<[16777216.0, 16777220.0]> : tensor<2xf32>
  %c64 = xla.constant dense<(1.5, 2.0)> : tensor<complex<f32>>
  %real = xla.convert %c64 : (tensor<complex<f32>>) -> tensor<i32>
  check.expect_eq_const %real, dense<1> : tensor<i32>
  %counts = xla.constant dense<[0, 1, 2]> : tensor<3xi32>
  %counts.f32 = xla.convert %counts : (tensor<3xi32>) -> tensor<3xf32>
  check.expect_eq_const %counts.f32, dense<[0.0, 1.0, 2.0]> : tensor<3xf32>
  %to_four_bits = xla.constant dense<[17, -1, 8]> : tensor<3xi32>
  %ui4.wrapped = xla.convert %to_four_bits : (tensor<3xi32>) -> tensor<3xui4>
  check.expect_eq_const %ui4.wrapped, dense<[1, 15, 8]> : tensor<3xui4>
  %i4.wrapped = xla.convert %to_four_bits : (tensor<3xi32>) -> tensor<3xi4>
  check.expect_eq_const %i4.wrapped, dense<[1, -1, -8]> : tensor<3xi4>
  %c64.whole = xla.constant dense<(1.0, 2.0)> : tensor<complex<f32>>
  %c64.real = xla.convert %c64.whole : (tensor<complex<f32>>) -> tensor<f32>
  check.expect_eq_const %c64.real, dense<1.0> : tensor<f32>
  func.return
}

func.func @worked_rounding() {
  %0 = xla.constant dense<[65519.0, 65520.0, 5.9604645e-8, 2.98e-8]> : tensor<4xf32>
  %f16 = xla.convert %0 : (tensor<4xf32>) -> tensor<4xf16>
  check.expect_eq_const %f16, dense<[65504.0, 0x7C00, 5.9604645e-8, 0.0]> : tensor<4xf16>
  %1 = xla.constant dense<[1.00390625, 1.01171875]> : tensor<2xf32>
  %bf16 = xla.convert %1 : (tensor<2xf32>) -> tensor<2xbf16>
  check.expect_eq_const %bf16, dense<[1.0, 1.015625]> : tensor<2xbf16>
  %2 = xla.constant dense<[448.0, 464.0, 465.0, 500.0, 0x7F800000, -1.0e9]> : tensor<6xf32>
  %f8E4M3FN = xla.convert %2 : (tensor<6xf32>) -> tensor<6xf8E4M3FN>
  check.expect_eq_const %f8E4M3FN, dense<[448.0, 448.0, 0x7F, 0x7F, 0x7F, 0x7F]> : tensor<6xf8E4M3FN>
  %3 = xla.constant dense<[57344.0, 61439.0, 61440.0, 1.0e9, 0x7F800000]> : tensor<5xf32>
  %f8E5M2 = xla.convert %3 : (tensor<5xf32>) -> tensor<5xf8E5M2>
  check.expect_eq_const %f8E5M2, dense<[57344.0, 57344.0, 0x7C, 0x7C, 0x7C]> : tensor<5xf8E5M2>
  %4 = xla.constant dense<[1.0e9, -1.0e9, 0x7F800000, 0x7FC00000, -0.0, 0.3]> : tensor<6xf32>
  %f8E4M3FNUZ = xla.convert %4 : (tensor<6xf32>) -> tensor<6xf8E4M3FNUZ>
  check.expect_eq_const %f8E4M3FNUZ, dense<[0x80, 0x80, 0x80, 0x80, 0.0, 0.3125]> : tensor<6xf8E4M3FNUZ>
  %f8E5M2FNUZ = xla.convert %4 : (tensor<6xf32>) -> tensor<6xf8E5M2FNUZ>
  check.expect_eq_const %f8E5M2FNUZ, dense<[0x80, 0x80, 0x80, 0x80, 0.0, 0.3125]> : tensor<6xf8E5M2FNUZ>
  %f8E4M3B11FNUZ = xla.convert %4 : (tensor<6xf32>) -> tensor<6xf8E4M3B11FNUZ>
  check.expect_eq_const %f8E4M3B11FNUZ, dense<[0x80, 0x80, 0x80, 0x80, 0.0, 0.3125]> : tensor<6xf8E4M3B11FNUZ>
  %f8E4M3 = xla.convert %4 : (tensor<6xf32>) -> tensor<6xf8E4M3>
  check.expect_eq_const %f8E4M3, dense<[0x78, 0xF8, 0x78, 0x7C, -0.0, 0.3125]> : tensor<6xf8E4M3>
  %f8E3M4 = xla.convert %4 : (tensor<6xf32>) -> tensor<6xf8E3M4>
  check.expect_eq_const %f8E3M4, dense<[0x70, 0xF0, 0x70, 0x78, -0.0, 0.296875]> : tensor<6xf8E3M4>
  %f8E8M0FNU = xla.convert %4 : (tensor<6xf32>) -> tensor<6xf8E8M0FNU>
  check.expect_eq_const %f8E8M0FNU, dense<[1073741824.0, 0xFF, 0xFF, 0xFF, 0xFF, 0.25]> : tensor<6xf8E8M0FNU>
  %f4E2M1FN = xla.convert %4 : (tensor<6xf32>) -> tensor<6xf4E2M1FN>
  check.expect_eq_const %f4E2M1FN, dense<[6.0, -6.0, 6.0, -0.0, -0.0, 0.5]> : tensor<6xf4E2M1FN>
  // A check takes -0 for 0; the bits tell them apart.
  %f4E2M1FN.bits = xla.bitcast_convert %f4E2M1FN : (tensor<6xf4E2M1FN>) -> tensor<6xui4>
  check.expect_eq_const %f4E2M1FN.bits, dense<[7, 15, 7, 8, 8, 1]> : tensor<6xui4>
  func.return
}

// for f32 in floats complex<f32> complex<f64>
func.func @from_f64() -> tensor<20xf32> {
  %0 = xla.constant dense<[0.0, -0.0, 1.0, -1.5, 0.3, 300.5, -300.5, 65519.0, 65520.0, 448.0, 465.0, 61440.0, 1.00390625, 5.9604645e-8, -1.0e-40, 1.0e30, -1.0e300, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000]> : tensor<20xf64>
  %1 = xla.convert %0 : (tensor<20xf64>) -> tensor<20xf32>
  func.return %1 : tensor<20xf32>
}

// for f32 in floats
func.func @from_floats() -> (tensor<14xi8>, tensor<14xui8>, tensor<14xi32>, tensor<14xui64>, tensor<14xi2>, tensor<14xi1>, tensor<14xf16>, tensor<14xf64>, tensor<14xcomplex<f64>>) {
  %0 = xla.constant dense<[0.0, -0.0, 1.0, -1.5, 0.75, 2.5, 300.5, -300.5, 1.0e10, -1.0e20, 1.0e30, 0x7FF0000000000000, 0xFFF0000000000000, 0x7FF8000000000000]> : tensor<14xf64>
  %x = xla.convert %0 : (tensor<14xf64>) -> tensor<14xf32>
  %i8 = xla.convert %x : (tensor<14xf32>) -> tensor<14xi8>
  %ui8 = xla.convert %x : (tensor<14xf32>) -> tensor<14xui8>
  %i32 = xla.convert %x : (tensor<14xf32>) -> tensor<14xi32>
  %ui64 = xla.convert %x : (tensor<14xf32>) -> tensor<14xui64>
  %i2 = xla.convert %x : (tensor<14xf32>) -> tensor<14xi2>
  %i1 = xla.convert %x : (tensor<14xf32>) -> tensor<14xi1>
  %f16 = xla.convert %x : (tensor<14xf32>) -> tensor<14xf16>
  %f64 = xla.convert %x : (tensor<14xf32>) -> tensor<14xf64>
  %c64 = xla.convert %x : (tensor<14xf32>) -> tensor<14xcomplex<f64>>
  func.return %i8, %ui8, %i32, %ui64, %i2, %i1, %f16, %f64, %c64 : tensor<14xi8>, tensor<14xui8>, tensor<14xi32>, tensor<14xui64>, tensor<14xi2>, tensor<14xi1>, tensor<14xf16>, tensor<14xf64>, tensor<14xcomplex<f64>>
}

// for i32 in integers pred
func.func @from_integers() -> (tensor<12xi8>, tensor<12xui16>, tensor<12xui64>, tensor<12xi4>, tensor<12xi1>, tensor<12xf8E4M3FN>, tensor<12xbf16>, tensor<12xf32>, tensor<12xf64>, tensor<12xcomplex<f64>>) {
  %0 = xla.constant dense<[0, 1, -1, 2, 100, -100, 255, 32768, 16777219, 2147483647, 9223372036854775807, -9223372036854775808]> : tensor<12xi64>
  %x = xla.convert %0 : (tensor<12xi64>) -> tensor<12xi32>
  %i8 = xla.convert %x : (tensor<12xi32>) -> tensor<12xi8>
  %ui16 = xla.convert %x : (tensor<12xi32>) -> tensor<12xui16>
  %ui64 = xla.convert %x : (tensor<12xi32>) -> tensor<12xui64>
  %i4 = xla.convert %x : (tensor<12xi32>) -> tensor<12xi4>
  %i1 = xla.convert %x : (tensor<12xi32>) -> tensor<12xi1>
  %f8 = xla.convert %x : (tensor<12xi32>) -> tensor<12xf8E4M3FN>
  %bf16 = xla.convert %x : (tensor<12xi32>) -> tensor<12xbf16>
  %f32 = xla.convert %x : (tensor<12xi32>) -> tensor<12xf32>
  %f64 = xla.convert %x : (tensor<12xi32>) -> tensor<12xf64>
  %c128 = xla.convert %x : (tensor<12xi32>) -> tensor<12xcomplex<f64>>
  func.return %i8, %ui16, %ui64, %i4, %i1, %f8, %bf16, %f32, %f64, %c128 : tensor<12xi8>, tensor<12xui16>, tensor<12xui64>, tensor<12xi4>, tensor<12xi1>, tensor<12xf8E4M3FN>, tensor<12xbf16>, tensor<12xf32>, tensor<12xf64>, tensor<12xcomplex<f64>>
}

// for i32 in types
func.func @from_complex() -> tensor<6xi32> {
  %0 = xla.constant dense<[(1.5, 2.0), (0.0, 1.0), (-0.0, 0.0), (-300.5, 1.0), (3.0e9, 0.0), (0.0, -0.0)]> : tensor<6xcomplex<f64>>
  %1 = xla.convert %0 : (tensor<6xcomplex<f64>>) -> tensor<6xi32>
  func.return %1 : tensor<6xi32>
}

func.func @column_major() -> tensor<3x5xi8, #xla.layout<{0,1}>> {
  %0 = xla.constant dense<[[0.0, 1.0, -2.5, 3.5, -4.25], [300.0, -0.5, 1.5, -1.5, 2.5], [10.0, -0.0, 100.0, -0.125, 7.0]]> : tensor<3x5xf32, #xla.layout<{0,1}>>
  %1 = xla.convert %0 : (tensor<3x5xf32, #xla.layout<{0,1}>>) -> tensor<3x5xi8, #xla.layout<{0,1}>>
  func.return %1 : tensor<3x5xi8, #xla.layout<{0,1}>>
}

func.func @scalar_and_empty() -> (tensor<i32>, tensor<0x3xf16>) {
  %x = xla.constant dense<-2.5> : tensor<f32>
  %scalar = xla.convert %x : (tensor<f32>) -> tensor<i32>
  %nothing = xla.constant dense<> : tensor<0x3xi64>
  %empty = xla.convert %nothing : (tensor<0x3xi64>) -> tensor<0x3xf16>
  func.return %scalar, %empty : tensor<i32>, tensor<0x3xf16>
}
