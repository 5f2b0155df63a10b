// RUN: xla-run %s --all-functions --backend reference

// A box of fixed size that begins where indices say; they are moved so that it lies inside.

func.func @worked() {
  %a = xla.constant dense<[0, 1, 2, 3, 4]> : tensor<5xi32>
  %two = xla.constant dense<2> : tensor<i32>
  %inside = xla.dynamic_slice %a, %two {dynamic_slice_sizes = [2]} : (tensor<5xi32>, tensor<i32>) -> tensor<2xi32>
  check.expect_eq_const %inside, dense<[2, 3]> : tensor<2xi32>
  %four = xla.constant dense<4> : tensor<i32>
  %moved = xla.dynamic_slice %a, %four {dynamic_slice_sizes = [2]} : (tensor<5xi32>, tensor<i32>) -> tensor<2xi32>
  check.expect_eq_const %moved, dense<[3, 4]> : tensor<2xi32>
  %below = xla.constant dense<-3> : tensor<i32>
  %first = xla.dynamic_slice %a, %below {dynamic_slice_sizes = [2]} : (tensor<5xi32>, tensor<i32>) -> tensor<2xi32>
  check.expect_eq_const %first, dense<[0, 1]> : tensor<2xi32>
  %b = xla.constant dense<[[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]]> : tensor<4x3xi32>
  %one = xla.constant dense<1> : tensor<i32>
  %box = xla.dynamic_slice %b, %two, %one {dynamic_slice_sizes = [2, 2]} : (tensor<4x3xi32>, tensor<i32>, tensor<i32>) -> tensor<2x2xi32>
  check.expect_eq_const %box, dense<[[7, 8], [10, 11]]> : tensor<2x2xi32>
  func.return
}

// The limits of the types of indices, read with or without a sign.
func.func @worked_indices() {
  %a = xla.constant dense<[0, 1, 2, 3, 4]> : tensor<5xi32>
  %i8 = xla.constant dense<-1> : tensor<i8>
  %0 = xla.dynamic_slice %a, %i8 {dynamic_slice_sizes = [2]} : (tensor<5xi32>, tensor<i8>) -> tensor<2xi32>
  check.expect_eq_const %0, dense<[0, 1]> : tensor<2xi32>
  %ui8 = xla.constant dense<255> : tensor<ui8>
  %1 = xla.dynamic_slice %a, %ui8 {dynamic_slice_sizes = [2]} : (tensor<5xi32>, tensor<ui8>) -> tensor<2xi32>
  check.expect_eq_const %1, dense<[3, 4]> : tensor<2xi32>
  %ui64 = xla.constant dense<18446744073709551615> : tensor<ui64>
  %2 = xla.dynamic_slice %a, %ui64 {dynamic_slice_sizes = [2]} : (tensor<5xi32>, tensor<ui64>) -> tensor<2xi32>
  check.expect_eq_const %2, dense<[3, 4]> : tensor<2xi32>
  %i64 = xla.constant dense<-9223372036854775808> : tensor<i64>
  %3 = xla.dynamic_slice %a, %i64 {dynamic_slice_sizes = [2]} : (tensor<5xi32>, tensor<i64>) -> tensor<2xi32>
  check.expect_eq_const %3, dense<[0, 1]> : tensor<2xi32>
  %long = xla.iota {iota_dimension = 0} : tensor<300xi32>
  %ui8.200 = xla.constant dense<200> : tensor<ui8>
  %4 = xla.dynamic_slice %long, %ui8.200 {dynamic_slice_sizes = [2]} : (tensor<300xi32>, tensor<ui8>) -> tensor<2xi32>
  check.expect_eq_const %4, dense<[200, 201]> : tensor<2xi32>
  %ui32 = xla.constant dense<4294967295> : tensor<ui32>
  %5 = xla.dynamic_slice %a, %ui32 {dynamic_slice_sizes = [2]} : (tensor<5xi32>, tensor<ui32>) -> tensor<2xi32>
  check.expect_eq_const %5, dense<[3, 4]> : tensor<2xi32>
  %i8.200 = xla.constant dense<-56> : tensor<i8>
  %6 = xla.dynamic_slice %long, %i8.200 {dynamic_slice_sizes = [2]} : (tensor<300xi32>, tensor<i8>) -> tensor<2xi32>
  check.expect_eq_const %6, dense<[0, 1]> : tensor<2xi32>
  func.return
}

// for i32 in types
func.func @types() -> tensor<2x3xi32> {
  %0 = xla.constant dense<[[0, 1, -1, 2, 3], [4, 5, 6, 7, 8], [100, -100, 1, 0, 127]]> : tensor<3x5xi64>
  %x = xla.convert %0 : (tensor<3x5xi64>) -> tensor<3x5xi32>
  %row = xla.constant dense<1> : tensor<i16>
  %column = xla.constant dense<9> : tensor<i16>
  %1 = xla.dynamic_slice %x, %row, %column {dynamic_slice_sizes = [2, 3]} : (tensor<3x5xi32>, tensor<i16>, tensor<i16>) -> tensor<2x3xi32>
  func.return %1 : tensor<2x3xi32>
}

// for i32 in integers
func.func @index_types() -> (tensor<2xf32>, tensor<2xf32>) {
  %x = xla.constant dense<[0.0, 1.0, 2.0, 3.0, 4.0]> : tensor<5xf32>
  %0 = xla.constant dense<1> : tensor<i64>
  %1 = xla.constant dense<-1> : tensor<i64>
  %one = xla.convert %0 : (tensor<i64>) -> tensor<i32>
  %ones = xla.convert %1 : (tensor<i64>) -> tensor<i32>
  %inside = xla.dynamic_slice %x, %one {dynamic_slice_sizes = [2]} : (tensor<5xf32>, tensor<i32>) -> tensor<2xf32>
  %edge = xla.dynamic_slice %x, %ones {dynamic_slice_sizes = [2]} : (tensor<5xf32>, tensor<i32>) -> tensor<2xf32>
  func.return %inside, %edge : tensor<2xf32>, tensor<2xf32>
}

func.func @layouts() -> tensor<2x2xi32, #xla.layout<{0,1}>> {
  %x = xla.constant dense<[[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]]> : tensor<4x3xi32, #xla.layout<{0,1}>>
  %row = xla.constant dense<5> : tensor<i32>
  %column = xla.constant dense<1> : tensor<i32>
  %0 = xla.dynamic_slice %x, %row, %column {dynamic_slice_sizes = [2, 2]} : (tensor<4x3xi32, #xla.layout<{0,1}>>, tensor<i32>, tensor<i32>) -> tensor<2x2xi32, #xla.layout<{0,1}>>
  func.return %0 : tensor<2x2xi32, #xla.layout<{0,1}>>
}

func.func @sizes() -> (tensor<f32>, tensor<0xf32>, tensor<0x2xf32>) {
  %x = xla.constant dense<-0.0> : tensor<f32>
  %scalar = xla.dynamic_slice %x {dynamic_slice_sizes = []} : (tensor<f32>) -> tensor<f32>
  %y = xla.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %seven = xla.constant dense<7> : tensor<i32>
  %none = xla.dynamic_slice %y, %seven {dynamic_slice_sizes = [0]} : (tensor<2xf32>, tensor<i32>) -> tensor<0xf32>
  %nothing = xla.constant dense<> : tensor<0x3xf32>
  %empty = xla.dynamic_slice %nothing, %seven, %seven {dynamic_slice_sizes = [0, 2]} : (tensor<0x3xf32>, tensor<i32>, tensor<i32>) -> tensor<0x2xf32>
  func.return %scalar, %none, %empty : tensor<f32>, tensor<0xf32>, tensor<0x2xf32>
}
