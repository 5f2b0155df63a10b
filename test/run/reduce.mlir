// RUN: xla-run %s --all-functions --backend reference

// Folds along dimensions: row by row, the accumulator first, rounded after every step.

func.func @worked() {
  %x = xla.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %zero = xla.constant dense<0> : tensor<i32>
  %rows = xla.reduce %x, %zero {dimensions = [1]} : (tensor<2x3xi32>, tensor<i32>) -> tensor<2xi32> to_apply (%a: tensor<i32>, %b: tensor<i32>) {
    %c = xla.add %a, %b : tensor<i32>
    xla.return %c : tensor<i32>
  }
  check.expect_eq_const %rows, dense<[6, 15]> : tensor<2xi32>
  %columns = xla.reduce %x, %zero {dimensions = [0]} : (tensor<2x3xi32>, tensor<i32>) -> tensor<3xi32> to_apply (%a: tensor<i32>, %b: tensor<i32>) {
    %c = xla.add %a, %b : tensor<i32>
    xla.return %c : tensor<i32>
  }
  check.expect_eq_const %columns, dense<[5, 7, 9]> : tensor<3xi32>
  %all = xla.reduce %x, %zero {dimensions = [0, 1]} : (tensor<2x3xi32>, tensor<i32>) -> tensor<i32> to_apply (%a: tensor<i32>, %b: tensor<i32>) {
    %c = xla.add %a, %b : tensor<i32>
    xla.return %c : tensor<i32>
  }
  check.expect_eq_const %all, dense<21> : tensor<i32>
  // Not commutative: ((((1 * 2 + 1) * 2 + 2) * 2) + 3).
  %one = xla.constant dense<1> : tensor<i32>
  %digits = xla.constant dense<[1, 2, 3]> : tensor<3xi32>
  %in_order = xla.reduce %digits, %one {dimensions = [0]} : (tensor<3xi32>, tensor<i32>) -> tensor<i32> to_apply (%a: tensor<i32>, %b: tensor<i32>) {
    %two = xla.constant dense<2> : tensor<i32>
    %c = xla.multiply %a, %two : tensor<i32>
    %d = xla.add %c, %b : tensor<i32>
    xla.return %d : tensor<i32>
  }
  check.expect_eq_const %in_order, dense<19> : tensor<i32>
  func.return
}

func.func @worked_dimensions() {
  %zero = xla.constant dense<0.0> : tensor<f32>
  %tens = xla.constant dense<[10.0, 11.0, 12.0, 13.0]> : tensor<4xf32>
  %total = xla.reduce %tens, %zero {dimensions = [0]} : (tensor<4xf32>, tensor<f32>) -> tensor<f32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %c = xla.add %a, %b : tensor<f32>
    xla.return %c : tensor<f32>
  }
  check.expect_eq_const %total, dense<46.0> : tensor<f32>
  %x = xla.constant dense<[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]]> : tensor<4x2x3xf32>
  %first = xla.reduce %x, %zero {dimensions = [0]} : (tensor<4x2x3xf32>, tensor<f32>) -> tensor<2x3xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %c = xla.add %a, %b : tensor<f32>
    xla.return %c : tensor<f32>
  }
  check.expect_eq_const %first, dense<[[4.0, 8.0, 12.0], [16.0, 20.0, 24.0]]> : tensor<2x3xf32>
  %last = xla.reduce %x, %zero {dimensions = [2]} : (tensor<4x2x3xf32>, tensor<f32>) -> tensor<4x2xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %c = xla.add %a, %b : tensor<f32>
    xla.return %c : tensor<f32>
  }
  check.expect_eq_const %last, dense<[[6.0, 15.0], [6.0, 15.0], [6.0, 15.0], [6.0, 15.0]]> : tensor<4x2xf32>
  %outer = xla.reduce %x, %zero {dimensions = [0, 1]} : (tensor<4x2x3xf32>, tensor<f32>) -> tensor<3xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %c = xla.add %a, %b : tensor<f32>
    xla.return %c : tensor<f32>
  }
  check.expect_eq_const %outer, dense<[20.0, 28.0, 36.0]> : tensor<3xf32>
  %all = xla.reduce %x, %zero {dimensions = [0, 1, 2]} : (tensor<4x2x3xf32>, tensor<f32>) -> tensor<f32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %c = xla.add %a, %b : tensor<f32>
    xla.return %c : tensor<f32>
  }
  check.expect_eq_const %all, dense<84.0> : tensor<f32>
  func.return
}

// The initial value is folded once, even over nothing; a NaN stays; integers wrap.
func.func @worked_elements() {
  %seven = xla.constant dense<7.0> : tensor<f32>
  %nothing = xla.constant dense<> : tensor<0x2xf32>
  %initial = xla.reduce %nothing, %seven {dimensions = [0]} : (tensor<0x2xf32>, tensor<f32>) -> tensor<2xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %c = xla.add %a, %b : tensor<f32>
    xla.return %c : tensor<f32>
  }
  check.expect_eq_const %initial, dense<[7.0, 7.0]> : tensor<2xf32>
  %with_nan = xla.constant dense<[1.0, 0x7FC00000, 2.0]> : tensor<3xf32>
  %least = xla.constant dense<0xFF800000> : tensor<f32>
  %nan = xla.reduce %with_nan, %least {dimensions = [0]} : (tensor<3xf32>, tensor<f32>) -> tensor<f32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %c = xla.maximum %a, %b : tensor<f32>
    xla.return %c : tensor<f32>
  }
  check.expect_eq_const %nan, dense<0x7FC00000> : tensor<f32>
  %ten = xla.constant dense<10.0> : tensor<f32>
  %pair = xla.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %from_ten = xla.reduce %pair, %ten {dimensions = [0]} : (tensor<2xf32>, tensor<f32>) -> tensor<f32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %c = xla.add %a, %b : tensor<f32>
    xla.return %c : tensor<f32>
  }
  check.expect_eq_const %from_ten, dense<13.0> : tensor<f32>
  %zero = xla.constant dense<0> : tensor<i8>
  %hundreds = xla.constant dense<[100, 100]> : tensor<2xi8>
  %wrapped = xla.reduce %hundreds, %zero {dimensions = [0]} : (tensor<2xi8>, tensor<i8>) -> tensor<i8> to_apply (%a: tensor<i8>, %b: tensor<i8>) {
    %c = xla.add %a, %b : tensor<i8>
    xla.return %c : tensor<i8>
  }
  check.expect_eq_const %wrapped, dense<-56> : tensor<i8>
  // With >= the last of equal maxima is found.
  %values = xla.constant dense<[1.0, 3.0, 3.0, 2.0]> : tensor<4xf32>
  %indices = xla.iota {iota_dimension = 0} : tensor<4xi32>
  %none = xla.constant dense<-1> : tensor<i32>
  %largest, %at = xla.reduce %values, %indices, %least, %none {dimensions = [0]} : (tensor<4xf32>, tensor<4xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>) to_apply (%a: tensor<f32>, %m: tensor<i32>, %b: tensor<f32>, %n: tensor<i32>) {
    %not_less = xla.compare %b, %a {direction = GE} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %value = xla.select %not_less, %b, %a : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
    %index = xla.select %not_less, %n, %m : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    xla.return %value, %index : tensor<f32>, tensor<i32>
  }
  check.expect_eq_const %largest, dense<3.0> : tensor<f32>
  check.expect_eq_const %at, dense<2> : tensor<i32>
  func.return
}

// 256 + 1 is 256 in bf16, but sums are accumulated in f32 and rounded once.
func.func @worked_rounding() {
  %zero = xla.constant dense<0.0> : tensor<bf16>
  %x = xla.constant dense<[256.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]> : tensor<17xbf16>
  %sum = xla.reduce %x, %zero {dimensions = [0]} : (tensor<17xbf16>, tensor<bf16>) -> tensor<bf16> to_apply (%a: tensor<bf16>, %b: tensor<bf16>) {
    %c = xla.add %a, %b : tensor<bf16>
    xla.return %c : tensor<bf16>
  }
  check.expect_eq_const %sum, dense<272.0> : tensor<bf16>
  func.return
}

// Sums that are exact in the wider types.
// for f32 in floats
func.func @floats() -> (tensor<3xf32>, tensor<20xf32>, tensor<f32>, tensor<3xf32>, tensor<20xf32>) {
  %0 = xla.constant dense<[[1.0, -2.0, 0.5, 4.0, 3.0, -1.0, 0.25, 2.0, -0.5, 1.5, 1.0, -1.0, 6.0, -3.0, 0.125, 0.0, -0.0, 2.0, 1.0, -4.0], [-0.0, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0], [3.0, 1.0, 2.0, 0.5, 1.0, 1.0, 1.0, 2.0, 3.0, 4.0, 0.5, 0.25, 1.0, 2.0, 1.0, 1.0, 1.0, 0.5, 2.0, 1.0]]> : tensor<3x20xf64>
  %1 = xla.constant dense<-0.0> : tensor<f64>
  %2 = xla.constant dense<0xFFF0000000000000> : tensor<f64>
  %x = xla.convert %0 : (tensor<3x20xf64>) -> tensor<3x20xf32>
  %zero = xla.convert %1 : (tensor<f64>) -> tensor<f32>
  %least = xla.convert %2 : (tensor<f64>) -> tensor<f32>
  %rows = xla.reduce %x, %zero {dimensions = [1]} : (tensor<3x20xf32>, tensor<f32>) -> tensor<3xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %c = xla.add %a, %b : tensor<f32>
    xla.return %c : tensor<f32>
  }
  %columns = xla.reduce %x, %zero {dimensions = [0]} : (tensor<3x20xf32>, tensor<f32>) -> tensor<20xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %c = xla.add %a, %b : tensor<f32>
    xla.return %c : tensor<f32>
  }
  %all = xla.reduce %x, %zero {dimensions = [0, 1]} : (tensor<3x20xf32>, tensor<f32>) -> tensor<f32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %c = xla.add %a, %b : tensor<f32>
    xla.return %c : tensor<f32>
  }
  %largest = xla.reduce %x, %least {dimensions = [1]} : (tensor<3x20xf32>, tensor<f32>) -> tensor<3xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %c = xla.maximum %a, %b : tensor<f32>
    xla.return %c : tensor<f32>
  }
  %products = xla.reduce %x, %zero {dimensions = [0]} : (tensor<3x20xf32>, tensor<f32>) -> tensor<20xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %c = xla.multiply %a, %b : tensor<f32>
    xla.return %c : tensor<f32>
  }
  func.return %rows, %columns, %all, %largest, %products : tensor<3xf32>, tensor<20xf32>, tensor<f32>, tensor<3xf32>, tensor<20xf32>
}

// for i32 in integers pred
func.func @integers() -> (tensor<3xi32>, tensor<20xi32>, tensor<i32>, tensor<20xi32>) {
  %0 = xla.constant dense<[[1, -2, 0, 4, 3, -1, 100, 2, 7, 15, 1, -1, 6, -3, 127, 0, 0, 2, 1, -128], [5, 4, 3, 2, 1, 0, -1, -2, -3, -4, -5, 6, 7, 8, 9, 10, 11, 12, 13, 14], [1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]]> : tensor<3x20xi64>
  %1 = xla.constant dense<1> : tensor<i64>
  %x = xla.convert %0 : (tensor<3x20xi64>) -> tensor<3x20xi32>
  %one = xla.convert %1 : (tensor<i64>) -> tensor<i32>
  %sums = xla.reduce %x, %one {dimensions = [1]} : (tensor<3x20xi32>, tensor<i32>) -> tensor<3xi32> to_apply (%a: tensor<i32>, %b: tensor<i32>) {
    %c = xla.add %a, %b : tensor<i32>
    xla.return %c : tensor<i32>
  }
  %products = xla.reduce %x, %one {dimensions = [0]} : (tensor<3x20xi32>, tensor<i32>) -> tensor<20xi32> to_apply (%a: tensor<i32>, %b: tensor<i32>) {
    %c = xla.multiply %a, %b : tensor<i32>
    xla.return %c : tensor<i32>
  }
  %least = xla.reduce %x, %one {dimensions = [0, 1]} : (tensor<3x20xi32>, tensor<i32>) -> tensor<i32> to_apply (%a: tensor<i32>, %b: tensor<i32>) {
    %c = xla.minimum %a, %b : tensor<i32>
    xla.return %c : tensor<i32>
  }
  %bits = xla.reduce %x, %one {dimensions = [0]} : (tensor<3x20xi32>, tensor<i32>) -> tensor<20xi32> to_apply (%a: tensor<i32>, %b: tensor<i32>) {
    %c = xla.or %a, %b : tensor<i32>
    xla.return %c : tensor<i32>
  }
  func.return %sums, %products, %least, %bits : tensor<3xi32>, tensor<20xi32>, tensor<i32>, tensor<20xi32>
}

// for f32 in parts
func.func @complex() -> tensor<2xcomplex<f32>> {
  %x = xla.constant dense<[[(1.0, 2.0), (0.5, -1.0), (0.0, 1.0)], [(2.0, 0.0), (-3.0, 1.0), (1.0, 1.0)]]> : tensor<2x3xcomplex<f32>>
  %one = xla.constant dense<(1.0, 0.0)> : tensor<complex<f32>>
  %products = xla.reduce %x, %one {dimensions = [1]} : (tensor<2x3xcomplex<f32>>, tensor<complex<f32>>) -> tensor<2xcomplex<f32>> to_apply (%a: tensor<complex<f32>>, %b: tensor<complex<f32>>) {
    %c = xla.multiply %a, %b : tensor<complex<f32>>
    xla.return %c : tensor<complex<f32>>
  }
  func.return %products : tensor<2xcomplex<f32>>
}

// The largest value and its index, the first of several.
func.func @several_operands() -> (tensor<2xf32>, tensor<2xi32>) {
  %x = xla.constant dense<[[1.0, 5.0, -3.0, 5.0], [-1.0, -2.0, -0.5, -4.0]]> : tensor<2x4xf32>
  %i = xla.iota {iota_dimension = 1} : tensor<2x4xi32>
  %least = xla.constant dense<0xFF800000> : tensor<f32>
  %none = xla.constant dense<-1> : tensor<i32>
  %values, %indices = xla.reduce %x, %i, %least, %none {dimensions = [1]} : (tensor<2x4xf32>, tensor<2x4xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>) to_apply (%a: tensor<f32>, %m: tensor<i32>, %b: tensor<f32>, %n: tensor<i32>) {
    %more = xla.compare %b, %a {direction = GT} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %value = xla.select %more, %b, %a : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
    %index = xla.select %more, %n, %m : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    xla.return %value, %index : tensor<f32>, tensor<i32>
  }
  check.expect_eq_const %values, dense<[5.0, -0.5]> : tensor<2xf32>
  check.expect_eq_const %indices, dense<[1, 2]> : tensor<2xi32>
  func.return %values, %indices : tensor<2xf32>, tensor<2xi32>
}

// A NaN is the maximum, and what it is added to.
func.func @special_floats() -> (tensor<3xf32>, tensor<3xf32>) {
  %x = xla.constant dense<[[1.0, 0x7FC00000, 2.0], [0x7F800000, 1.0, 0xFF800000], [-0.0, -0.0, -0.0]]> : tensor<3x3xf32>
  %zero = xla.constant dense<-0.0> : tensor<f32>
  %least = xla.constant dense<0xFF800000> : tensor<f32>
  %sums = xla.reduce %x, %zero {dimensions = [1]} : (tensor<3x3xf32>, tensor<f32>) -> tensor<3xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %c = xla.add %a, %b : tensor<f32>
    xla.return %c : tensor<f32>
  }
  %largest = xla.reduce %x, %least {dimensions = [1]} : (tensor<3x3xf32>, tensor<f32>) -> tensor<3xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %c = xla.maximum %a, %b : tensor<f32>
    xla.return %c : tensor<f32>
  }
  check.expect_eq_const %sums, dense<[0x7FC00000, 0x7FC00000, -0.0]> : tensor<3xf32>
  check.expect_eq_const %largest, dense<[0x7FC00000, 0x7F800000, -0.0]> : tensor<3xf32>
  func.return %sums, %largest : tensor<3xf32>, tensor<3xf32>
}

func.func @column_major() -> (tensor<2x2xi32, #xla.layout<{0,1}>>, tensor<3xi32>) {
  %x = xla.constant dense<[[[1, 2], [3, 4], [5, 6]], [[7, 8], [9, 10], [11, 12]]]> : tensor<2x3x2xi32, #xla.layout<{0,1,2}>>
  %zero = xla.constant dense<0> : tensor<i32>
  %inside = xla.reduce %x, %zero {dimensions = [1]} : (tensor<2x3x2xi32, #xla.layout<{0,1,2}>>, tensor<i32>) -> tensor<2x2xi32, #xla.layout<{0,1}>> to_apply (%a: tensor<i32>, %b: tensor<i32>) {
    %c = xla.add %a, %b : tensor<i32>
    xla.return %c : tensor<i32>
  }
  %outside = xla.reduce %x, %zero {dimensions = [0, 2]} : (tensor<2x3x2xi32, #xla.layout<{0,1,2}>>, tensor<i32>) -> tensor<3xi32> to_apply (%a: tensor<i32>, %b: tensor<i32>) {
    %c = xla.add %a, %b : tensor<i32>
    xla.return %c : tensor<i32>
  }
  check.expect_eq_const %outside, dense<[18, 26, 34]> : tensor<3xi32>
  func.return %inside, %outside : tensor<2x2xi32, #xla.layout<{0,1}>>, tensor<3xi32>
}

// Of no elements, along no dimension, and of a scalar.
func.func @sizes() -> (tensor<2xi32>, tensor<0xi32>, tensor<2xi32>, tensor<i32>) {
  %seven = xla.constant dense<7> : tensor<i32>
  %nothing = xla.constant dense<> : tensor<2x0xi32>
  %initial = xla.reduce %nothing, %seven {dimensions = [1]} : (tensor<2x0xi32>, tensor<i32>) -> tensor<2xi32> to_apply (%a: tensor<i32>, %b: tensor<i32>) {
    %c = xla.add %a, %b : tensor<i32>
    xla.return %c : tensor<i32>
  }
  check.expect_eq_const %initial, dense<7> : tensor<2xi32>
  %empty = xla.reduce %nothing, %seven {dimensions = [0]} : (tensor<2x0xi32>, tensor<i32>) -> tensor<0xi32> to_apply (%a: tensor<i32>, %b: tensor<i32>) {
    %c = xla.add %a, %b : tensor<i32>
    xla.return %c : tensor<i32>
  }
  %x = xla.constant dense<[1, 2]> : tensor<2xi32>
  %once = xla.reduce %x, %seven {dimensions = []} : (tensor<2xi32>, tensor<i32>) -> tensor<2xi32> to_apply (%a: tensor<i32>, %b: tensor<i32>) {
    %c = xla.subtract %a, %b : tensor<i32>
    xla.return %c : tensor<i32>
  }
  %scalar = xla.reduce %seven, %seven {dimensions = []} : (tensor<i32>, tensor<i32>) -> tensor<i32> to_apply (%a: tensor<i32>, %b: tensor<i32>) {
    %c = xla.add %a, %b : tensor<i32>
    xla.return %c : tensor<i32>
  }
  func.return %initial, %empty, %once, %scalar : tensor<2xi32>, tensor<0xi32>, tensor<2xi32>, tensor<i32>
}
