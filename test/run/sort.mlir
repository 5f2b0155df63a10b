// RUN: xla-run %s --all-functions --backend reference

// Lines sorted, stably, by any comparator; several arrays together.

func.func @worked() {
  %x = xla.constant dense<[3, 1]> : tensor<2xi32>
  %y = xla.constant dense<[42, 50]> : tensor<2xi32>
  %z = xla.constant dense<[-3.0, 1.1]> : tensor<2xf32>
  %0, %1, %2 = xla.sort %x, %y, %z {dimension = 0} : (tensor<2xi32>, tensor<2xi32>, tensor<2xf32>) -> (tensor<2xi32>, tensor<2xi32>, tensor<2xf32>) to_apply (%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i32>, %d: tensor<i32>, %e: tensor<f32>, %f: tensor<f32>) {
    %less = xla.compare %a, %b {direction = LT} : (tensor<i32>, tensor<i32>) -> tensor<i1>
    xla.return %less : tensor<i1>
  }
  check.expect_eq_const %0, dense<[1, 3]> : tensor<2xi32>
  check.expect_eq_const %1, dense<[50, 42]> : tensor<2xi32>
  check.expect_eq_const %2, dense<[1.1, -3.0]> : tensor<2xf32>
  func.return
}

// A NaN is above infinity, or below -infinity if it is negative.
func.func @worked_order() -> tensor<9xf32> {
  %x = xla.constant dense<[3.0, 0x7FC00000, -0.0, 0.0, 0xFF800000, 0xFFC00000, 1.0, 0x7F800000, -0.0]> : tensor<9xf32>
  %0 = xla.sort %x {dimension = 0, is_stable = true} : tensor<9xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %less = xla.compare %a, %b {direction = LT, comparison_type = TOTALORDER} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    xla.return %less : tensor<i1>
  }
  check.expect_eq_const %0, dense<[0xFFC00000, 0xFF800000, -0.0, -0.0, 0.0, 1.0, 3.0, 0x7F800000, 0x7FC00000]> : tensor<9xf32>
  func.return %0 : tensor<9xf32>
}

// for f32 in floats
func.func @floats() -> (tensor<24xf32>, tensor<24xf32>, tensor<24xi32>) {
  %0 = xla.constant dense<[3.0, 0x7FF8000000000000, -0.0, 0.0, 0xFFF0000000000000, -1.5, 1.0, 0x7FF0000000000000, -0.0, 0.5, -2.0, 4.0, 1.0, -1.0, 0.25, 2.0, 6.0, -3.0, 0.0, 1.5, 3.0, -0.5, 1.0, -4.0]> : tensor<24xf64>
  %x = xla.convert %0 : (tensor<24xf64>) -> tensor<24xf32>
  %total = xla.sort %x {dimension = 0, is_stable = true} : tensor<24xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %less = xla.compare %a, %b {direction = LT, comparison_type = TOTALORDER} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    xla.return %less : tensor<i1>
  }
  // By size and without NaN, so that the order is one; equal ones stay as they were.
  %zero = xla.constant dense<0.0> : tensor<f64>
  %1 = xla.convert %zero : (tensor<f64>) -> tensor<f32>
  %zeros = xla.broadcast %1 {dimensions = []} : (tensor<f32>) -> tensor<24xf32>
  %number = xla.compare %x, %x {direction = EQ} : (tensor<24xf32>, tensor<24xf32>) -> tensor<24xi1>
  %y = xla.select %number, %x, %zeros : (tensor<24xi1>, tensor<24xf32>, tensor<24xf32>) -> tensor<24xf32>
  %places = xla.iota {iota_dimension = 0} : tensor<24xi32>
  %down, %from = xla.sort %y, %places {dimension = 0, is_stable = true} : (tensor<24xf32>, tensor<24xi32>) -> (tensor<24xf32>, tensor<24xi32>) to_apply (%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>) {
    %more = xla.compare %a, %b {direction = GT} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    xla.return %more : tensor<i1>
  }
  func.return %total, %down, %from : tensor<24xf32>, tensor<24xf32>, tensor<24xi32>
}

// for i32 in integers pred
func.func @integers() -> (tensor<20xi32>, tensor<20xi32>, tensor<20xi16>) {
  %0 = xla.constant dense<[1, -2, 0, 4, 3, -1, 100, 2, 7, 15, 1, -1, 6, -3, 127, 0, 0, 2, 1, -128]> : tensor<20xi64>
  %x = xla.convert %0 : (tensor<20xi64>) -> tensor<20xi32>
  %places = xla.iota {iota_dimension = 0} : tensor<20xi16>
  %up = xla.sort %x {dimension = 0} : tensor<20xi32> to_apply (%a: tensor<i32>, %b: tensor<i32>) {
    %less = xla.compare %a, %b {direction = LT} : (tensor<i32>, tensor<i32>) -> tensor<i1>
    xla.return %less : tensor<i1>
  }
  %down, %from = xla.sort %x, %places {dimension = 0, is_stable = true} : (tensor<20xi32>, tensor<20xi16>) -> (tensor<20xi32>, tensor<20xi16>) to_apply (%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i16>, %d: tensor<i16>) {
    %more = xla.compare %a, %b {direction = GT} : (tensor<i32>, tensor<i32>) -> tensor<i1>
    xla.return %more : tensor<i1>
  }
  func.return %up, %down, %from : tensor<20xi32>, tensor<20xi32>, tensor<20xi16>
}

// for f32 in parts
func.func @complex() -> tensor<5xcomplex<f32>> {
  %x = xla.constant dense<[(1.0, 2.0), (0.5, -1.0), (0.0, 1.0), (4.0, 0.0), (0.5, 3.0)]> : tensor<5xcomplex<f32>>
  %0 = xla.sort %x {dimension = 0, is_stable = true} : tensor<5xcomplex<f32>> to_apply (%a: tensor<complex<f32>>, %b: tensor<complex<f32>>) {
    %c = xla.real %a : (tensor<complex<f32>>) -> tensor<f32>
    %d = xla.real %b : (tensor<complex<f32>>) -> tensor<f32>
    %less = xla.compare %c, %d {direction = LT} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    xla.return %less : tensor<i1>
  }
  func.return %0 : tensor<5xcomplex<f32>>
}

// By the second array, then by the size of the first one: a comparator with a tie-break.
func.func @two_keys() -> (tensor<8xi32>, tensor<8xi32>) {
  %x = xla.constant dense<[5, -1, 4, -4, 3, 2, -9, 0]> : tensor<8xi32>
  %y = xla.constant dense<[1, 0, 1, 1, 0, 0, 1, 0]> : tensor<8xi32>
  %0, %1 = xla.sort %x, %y {dimension = 0} : (tensor<8xi32>, tensor<8xi32>) -> (tensor<8xi32>, tensor<8xi32>) to_apply (%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i32>, %d: tensor<i32>) {
    %same = xla.compare %c, %d {direction = EQ} : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %before = xla.compare %c, %d {direction = LT} : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %e = xla.abs %a : tensor<i32>
    %f = xla.abs %b : tensor<i32>
    %smaller = xla.compare %e, %f {direction = LT} : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %less = xla.select %same, %smaller, %before : (tensor<i1>, tensor<i1>, tensor<i1>) -> tensor<i1>
    xla.return %less : tensor<i1>
  }
  check.expect_eq_const %0, dense<[0, -1, 2, 3, 4, -4, 5, -9]> : tensor<8xi32>
  func.return %0, %1 : tensor<8xi32>, tensor<8xi32>
}

// The rows and the columns of a matrix, in both layouts.
func.func @layouts() -> (tensor<3x4xi32>, tensor<3x4xi32>, tensor<3x4xi32, #xla.layout<{0,1}>>) {
  %x = xla.constant dense<[[3, 1, 2, 0], [-1, 5, 4, 4], [9, 7, 8, -6]]> : tensor<3x4xi32>
  %rows = xla.sort %x {dimension = 1} : tensor<3x4xi32> to_apply (%a: tensor<i32>, %b: tensor<i32>) {
    %less = xla.compare %a, %b {direction = LT} : (tensor<i32>, tensor<i32>) -> tensor<i1>
    xla.return %less : tensor<i1>
  }
  check.expect_eq_const %rows, dense<[[0, 1, 2, 3], [-1, 4, 4, 5], [-6, 7, 8, 9]]> : tensor<3x4xi32>
  %columns = xla.sort %x {dimension = 0} : tensor<3x4xi32> to_apply (%a: tensor<i32>, %b: tensor<i32>) {
    %less = xla.compare %a, %b {direction = LT} : (tensor<i32>, tensor<i32>) -> tensor<i1>
    xla.return %less : tensor<i1>
  }
  check.expect_eq_const %columns, dense<[[-1, 1, 2, -6], [3, 5, 4, 0], [9, 7, 8, 4]]> : tensor<3x4xi32>
  %y = xla.copy %x : (tensor<3x4xi32>) -> tensor<3x4xi32, #xla.layout<{0,1}>>
  %turned = xla.sort %y {dimension = 0} : tensor<3x4xi32, #xla.layout<{0,1}>> to_apply (%a: tensor<i32>, %b: tensor<i32>) {
    %more = xla.compare %a, %b {direction = GT} : (tensor<i32>, tensor<i32>) -> tensor<i1>
    xla.return %more : tensor<i1>
  }
  func.return %rows, %columns, %turned : tensor<3x4xi32>, tensor<3x4xi32>, tensor<3x4xi32, #xla.layout<{0,1}>>
}

func.func @sizes() -> (tensor<1xf32>, tensor<0xf32>, tensor<2x0xf32>) {
  %x = xla.constant dense<[-0.0]> : tensor<1xf32>
  %one = xla.sort %x {dimension = 0} : tensor<1xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %less = xla.compare %a, %b {direction = LT} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    xla.return %less : tensor<i1>
  }
  %nothing = xla.constant dense<> : tensor<0xf32>
  %empty = xla.sort %nothing {dimension = 0} : tensor<0xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %less = xla.compare %a, %b {direction = LT} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    xla.return %less : tensor<i1>
  }
  %lines = xla.constant dense<> : tensor<2x0xf32>
  %none = xla.sort %lines {dimension = 0} : tensor<2x0xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %less = xla.compare %a, %b {direction = LT} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    xla.return %less : tensor<i1>
  }
  func.return %one, %empty, %none : tensor<1xf32>, tensor<0xf32>, tensor<2x0xf32>
}
