// RUN: xla-run %s --all-functions --backend reference

// A box of an array overwritten; its start is moved so that all of it lies inside.

func.func @worked() {
  %a = xla.constant dense<[0, 1, 2, 3, 4]> : tensor<5xi32>
  %u = xla.constant dense<[5, 6]> : tensor<2xi32>
  %two = xla.constant dense<2> : tensor<i32>
  %inside = xla.dynamic_update_slice %a, %u, %two : (tensor<5xi32>, tensor<2xi32>, tensor<i32>) -> tensor<5xi32>
  check.expect_eq_const %inside, dense<[0, 1, 5, 6, 4]> : tensor<5xi32>
  %nine = xla.constant dense<9> : tensor<i32>
  %moved = xla.dynamic_update_slice %a, %u, %nine : (tensor<5xi32>, tensor<2xi32>, tensor<i32>) -> tensor<5xi32>
  check.expect_eq_const %moved, dense<[0, 1, 2, 5, 6]> : tensor<5xi32>
  %ui8 = xla.constant dense<255> : tensor<ui8>
  %unsigned = xla.dynamic_update_slice %a, %u, %ui8 : (tensor<5xi32>, tensor<2xi32>, tensor<ui8>) -> tensor<5xi32>
  check.expect_eq_const %unsigned, dense<[0, 1, 2, 5, 6]> : tensor<5xi32>
  %i8 = xla.constant dense<-1> : tensor<i8>
  %signed = xla.dynamic_update_slice %a, %u, %i8 : (tensor<5xi32>, tensor<2xi32>, tensor<i8>) -> tensor<5xi32>
  check.expect_eq_const %signed, dense<[5, 6, 2, 3, 4]> : tensor<5xi32>
  %b = xla.constant dense<[[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]]> : tensor<4x3xi32>
  %v = xla.constant dense<[[12, 13], [14, 15], [16, 17]]> : tensor<3x2xi32>
  %one = xla.constant dense<1> : tensor<i32>
  %box = xla.dynamic_update_slice %b, %v, %one, %one : (tensor<4x3xi32>, tensor<3x2xi32>, tensor<i32>, tensor<i32>) -> tensor<4x3xi32>
  check.expect_eq_const %box, dense<[[0, 1, 2], [3, 12, 13], [6, 14, 15], [9, 16, 17]]> : tensor<4x3xi32>
  func.return
}

// The operand is read afterwards as it was.
// for i32 in types
func.func @types() -> (tensor<3x5xi32>, tensor<3x5xi32>) {
  %0 = xla.constant dense<[[0, 1, -1, 2, 3], [4, 5, 6, 7, 8], [100, -100, 1, 0, 127]]> : tensor<3x5xi64>
  %1 = xla.constant dense<[[1, 0, 2], [0, 3, 1]]> : tensor<2x3xi64>
  %x = xla.convert %0 : (tensor<3x5xi64>) -> tensor<3x5xi32>
  %update = xla.convert %1 : (tensor<2x3xi64>) -> tensor<2x3xi32>
  %row = xla.constant dense<-4> : tensor<i64>
  %column = xla.constant dense<1> : tensor<i64>
  %updated = xla.dynamic_update_slice %x, %update, %row, %column : (tensor<3x5xi32>, tensor<2x3xi32>, tensor<i64>, tensor<i64>) -> tensor<3x5xi32>
  func.return %updated, %x : tensor<3x5xi32>, tensor<3x5xi32>
}

// for i32 in integers
func.func @index_types() -> (tensor<5xf32>, tensor<5xf32>) {
  %x = xla.constant dense<[0.0, 1.0, 2.0, 3.0, 4.0]> : tensor<5xf32>
  %update = xla.constant dense<[-0.0, 0x7FC00000]> : tensor<2xf32>
  %0 = xla.constant dense<1> : tensor<i64>
  %1 = xla.constant dense<-1> : tensor<i64>
  %one = xla.convert %0 : (tensor<i64>) -> tensor<i32>
  %ones = xla.convert %1 : (tensor<i64>) -> tensor<i32>
  %inside = xla.dynamic_update_slice %x, %update, %one : (tensor<5xf32>, tensor<2xf32>, tensor<i32>) -> tensor<5xf32>
  %edge = xla.dynamic_update_slice %x, %update, %ones : (tensor<5xf32>, tensor<2xf32>, tensor<i32>) -> tensor<5xf32>
  func.return %inside, %edge : tensor<5xf32>, tensor<5xf32>
}

func.func @mixed_layouts() -> tensor<4x3xi32, #xla.layout<{0,1}>> {
  %x = xla.constant dense<[[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]]> : tensor<4x3xi32, #xla.layout<{0,1}>>
  %update = xla.constant dense<[[-1, -2], [-3, -4]]> : tensor<2x2xi32>
  %row = xla.constant dense<1> : tensor<i32>
  %column = xla.constant dense<7> : tensor<i32>
  %0 = xla.dynamic_update_slice %x, %update, %row, %column : (tensor<4x3xi32, #xla.layout<{0,1}>>, tensor<2x2xi32>, tensor<i32>, tensor<i32>) -> tensor<4x3xi32, #xla.layout<{0,1}>>
  func.return %0 : tensor<4x3xi32, #xla.layout<{0,1}>>
}

func.func @sizes() -> (tensor<f32>, tensor<2xf32>, tensor<0x3xf32>) {
  %x = xla.constant dense<1.0> : tensor<f32>
  %y = xla.constant dense<-0.0> : tensor<f32>
  %scalar = xla.dynamic_update_slice %x, %y : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %z = xla.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %nothing = xla.constant dense<> : tensor<0xf32>
  %seven = xla.constant dense<7> : tensor<i32>
  %same = xla.dynamic_update_slice %z, %nothing, %seven : (tensor<2xf32>, tensor<0xf32>, tensor<i32>) -> tensor<2xf32>
  %rows = xla.constant dense<> : tensor<0x3xf32>
  %none = xla.constant dense<> : tensor<0x2xf32>
  %empty = xla.dynamic_update_slice %rows, %none, %seven, %seven : (tensor<0x3xf32>, tensor<0x2xf32>, tensor<i32>, tensor<i32>) -> tensor<0x3xf32>
  func.return %scalar, %same, %empty : tensor<f32>, tensor<2xf32>, tensor<0x3xf32>
}
