// RUN: xla-run %s --all-functions --backend reference

// In every window one element is selected; what the source has for the window goes to its place.

func.func @worked() {
  %overlapping = xla.constant dense<[[7.0, 2.0, 5.0, 3.0, 8.0], [3.0, 8.0, 9.0, 3.0, 4.0], [1.0, 5.0, 7.0, 5.0, 6.0], [0.0, 6.0, 2.0, 10.0, 2.0]]> : tensor<4x5xf32>
  %source = xla.constant dense<[[2.0, 6.0], [3.0, 1.0]]> : tensor<2x2xf32>
  %zero = xla.constant dense<0.0> : tensor<f32>
  %0 = xla.select_and_scatter %overlapping, %source, %zero {window = #xla.window<size=2x3 stride=2x2>} : (tensor<4x5xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x5xf32> select (%a: tensor<f32>, %b: tensor<f32>) {
    %first = xla.compare %a, %b {direction = GE} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    xla.return %first : tensor<i1>
  } scatter (%a: tensor<f32>, %b: tensor<f32>) {
    %c = xla.add %a, %b : tensor<f32>
    xla.return %c : tensor<f32>
  }
  check.expect_eq_const %0, dense<[[0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 8.0, 0.0, 0.0], [0.0, 0.0, 3.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0, 0.0]]> : tensor<4x5xf32>
  %apart = xla.constant dense<[[7.0, 2.0, 5.0, 3.0, 10.0, 2.0], [3.0, 8.0, 9.0, 3.0, 4.0, 2.0], [1.0, 5.0, 7.0, 5.0, 6.0, 1.0], [0.0, 6.0, 2.0, 7.0, 2.0, 8.0]]> : tensor<4x6xf32>
  %1 = xla.select_and_scatter %apart, %source, %zero {window = #xla.window<size=2x3 stride=2x3>} : (tensor<4x6xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x6xf32> select (%a: tensor<f32>, %b: tensor<f32>) {
    %first = xla.compare %a, %b {direction = GE} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    xla.return %first : tensor<i1>
  } scatter (%a: tensor<f32>, %b: tensor<f32>) {
    %c = xla.add %a, %b : tensor<f32>
    xla.return %c : tensor<f32>
  }
  check.expect_eq_const %1, dense<[[0.0, 0.0, 0.0, 0.0, 6.0, 0.0], [0.0, 0.0, 2.0, 0.0, 0.0, 0.0], [0.0, 0.0, 3.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0, 1.0]]> : tensor<4x6xf32>
  func.return
}

// Of equal elements the first with >=, the last with >; padding is never selected, NaN never replaced by >=.
func.func @worked_choices() {
  %ones = xla.constant dense<[1.0, 1.0, 1.0, 1.0]> : tensor<4xf32>
  %source = xla.constant dense<[5.0, 7.0]> : tensor<2xf32>
  %zero = xla.constant dense<0.0> : tensor<f32>
  %first = xla.select_and_scatter %ones, %source, %zero {window = #xla.window<size=2 stride=2>} : (tensor<4xf32>, tensor<2xf32>, tensor<f32>) -> tensor<4xf32> select (%a: tensor<f32>, %b: tensor<f32>) {
    %better = xla.compare %a, %b {direction = GE} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    xla.return %better : tensor<i1>
  } scatter (%a: tensor<f32>, %b: tensor<f32>) {
    %c = xla.add %a, %b : tensor<f32>
    xla.return %c : tensor<f32>
  }
  check.expect_eq_const %first, dense<[5.0, 0.0, 7.0, 0.0]> : tensor<4xf32>
  %last = xla.select_and_scatter %ones, %source, %zero {window = #xla.window<size=2 stride=2>} : (tensor<4xf32>, tensor<2xf32>, tensor<f32>) -> tensor<4xf32> select (%a: tensor<f32>, %b: tensor<f32>) {
    %better = xla.compare %a, %b {direction = GT} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    xla.return %better : tensor<i1>
  } scatter (%a: tensor<f32>, %b: tensor<f32>) {
    %c = xla.add %a, %b : tensor<f32>
    xla.return %c : tensor<f32>
  }
  check.expect_eq_const %last, dense<[0.0, 5.0, 0.0, 7.0]> : tensor<4xf32>
  %nans = xla.constant dense<[0x7FC00000, 1.0, 2.0, 0x7FC00000]> : tensor<4xf32>
  %beside_nan = xla.select_and_scatter %nans, %source, %zero {window = #xla.window<size=2 stride=2>} : (tensor<4xf32>, tensor<2xf32>, tensor<f32>) -> tensor<4xf32> select (%a: tensor<f32>, %b: tensor<f32>) {
    %better = xla.compare %a, %b {direction = GE} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    xla.return %better : tensor<i1>
  } scatter (%a: tensor<f32>, %b: tensor<f32>) {
    %c = xla.add %a, %b : tensor<f32>
    xla.return %c : tensor<f32>
  }
  check.expect_eq_const %beside_nan, dense<[0.0, 5.0, 0.0, 7.0]> : tensor<4xf32>
  %negative = xla.constant dense<[-5.0, -1.0, -2.0]> : tensor<3xf32>
  %four = xla.constant dense<[1.0, 2.0, 4.0, 8.0]> : tensor<4xf32>
  %padded = xla.select_and_scatter %negative, %four, %zero {window = #xla.window<size=2 pad=1_1>} : (tensor<3xf32>, tensor<4xf32>, tensor<f32>) -> tensor<3xf32> select (%a: tensor<f32>, %b: tensor<f32>) {
    %better = xla.compare %a, %b {direction = GE} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    xla.return %better : tensor<i1>
  } scatter (%a: tensor<f32>, %b: tensor<f32>) {
    %c = xla.add %a, %b : tensor<f32>
    xla.return %c : tensor<f32>
  }
  check.expect_eq_const %padded, dense<[1.0, 6.0, 8.0]> : tensor<3xf32>
  %one = xla.constant dense<[-5.0]> : tensor<1xf32>
  %three = xla.constant dense<[1.0, 2.0, 4.0]> : tensor<3xf32>
  %in_padding = xla.select_and_scatter %one, %three, %zero {window = #xla.window<size=1 pad=1_1>} : (tensor<1xf32>, tensor<3xf32>, tensor<f32>) -> tensor<1xf32> select (%a: tensor<f32>, %b: tensor<f32>) {
    %better = xla.compare %a, %b {direction = GE} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    xla.return %better : tensor<i1>
  } scatter (%a: tensor<f32>, %b: tensor<f32>) {
    %c = xla.add %a, %b : tensor<f32>
    xla.return %c : tensor<f32>
  }
  check.expect_eq_const %in_padding, dense<[2.0]> : tensor<1xf32>
  %square = xla.constant dense<1.0> : tensor<2x2xf32>
  %whole = xla.constant dense<[[5.0]]> : tensor<1x1xf32>
  %corner = xla.select_and_scatter %square, %whole, %zero {window = #xla.window<size=2x2>} : (tensor<2x2xf32>, tensor<1x1xf32>, tensor<f32>) -> tensor<2x2xf32> select (%a: tensor<f32>, %b: tensor<f32>) {
    %better = xla.compare %a, %b {direction = GE} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    xla.return %better : tensor<i1>
  } scatter (%a: tensor<f32>, %b: tensor<f32>) {
    %c = xla.add %a, %b : tensor<f32>
    xla.return %c : tensor<f32>
  }
  check.expect_eq_const %corner, dense<[[5.0, 0.0], [0.0, 0.0]]> : tensor<2x2xf32>
  %ascending = xla.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %two = xla.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %ten = xla.constant dense<10.0> : tensor<f32>
  %from_ten = xla.select_and_scatter %ascending, %two, %ten {window = #xla.window<size=2>} : (tensor<3xf32>, tensor<2xf32>, tensor<f32>) -> tensor<3xf32> select (%a: tensor<f32>, %b: tensor<f32>) {
    %better = xla.compare %a, %b {direction = GE} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    xla.return %better : tensor<i1>
  } scatter (%a: tensor<f32>, %b: tensor<f32>) {
    %c = xla.add %a, %b : tensor<f32>
    xla.return %c : tensor<f32>
  }
  check.expect_eq_const %from_ten, dense<[10.0, 11.0, 12.0]> : tensor<3xf32>
  func.return
}

// for i32 in integers pred floats
func.func @types() -> tensor<4x5xi32> {
  %0 = xla.constant dense<[[7, 2, 5, 3, 8], [3, 8, 9, 3, 4], [1, 5, 7, 5, 6], [0, 6, 2, 10, 2]]> : tensor<4x5xi64>
  %1 = xla.constant dense<[[2, 6], [3, 1], [1, 1]]> : tensor<3x2xi64>
  %2 = xla.constant dense<1> : tensor<i64>
  %x = xla.convert %0 : (tensor<4x5xi64>) -> tensor<4x5xi32>
  %source = xla.convert %1 : (tensor<3x2xi64>) -> tensor<3x2xi32>
  %one = xla.convert %2 : (tensor<i64>) -> tensor<i32>
  %3 = xla.select_and_scatter %x, %source, %one {window = #xla.window<size=2x3 stride=1x2>} : (tensor<4x5xi32>, tensor<3x2xi32>, tensor<i32>) -> tensor<4x5xi32> select (%a: tensor<i32>, %b: tensor<i32>) {
    %first = xla.compare %a, %b {direction = GE} : (tensor<i32>, tensor<i32>) -> tensor<i1>
    xla.return %first : tensor<i1>
  } scatter (%a: tensor<i32>, %b: tensor<i32>) {
    %c = xla.add %a, %b : tensor<i32>
    xla.return %c : tensor<i32>
  }
  func.return %3 : tensor<4x5xi32>
}

func.func @column_major() -> tensor<3x4xf32, #xla.layout<{0,1}>> {
  %x = xla.constant dense<[[1.0, 5.0, 2.0, 2.0], [4.0, 3.0, 6.0, 1.0], [0.0, 9.0, 8.0, 7.0]]> : tensor<3x4xf32, #xla.layout<{0,1}>>
  %source = xla.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32, #xla.layout<{0,1}>>
  %zero = xla.constant dense<0.0> : tensor<f32>
  %0 = xla.select_and_scatter %x, %source, %zero {window = #xla.window<size=2x2 stride=1x2>} : (tensor<3x4xf32, #xla.layout<{0,1}>>, tensor<2x2xf32, #xla.layout<{0,1}>>, tensor<f32>) -> tensor<3x4xf32, #xla.layout<{0,1}>> select (%a: tensor<f32>, %b: tensor<f32>) {
    %first = xla.compare %a, %b {direction = GE} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    xla.return %first : tensor<i1>
  } scatter (%a: tensor<f32>, %b: tensor<f32>) {
    %c = xla.add %a, %b : tensor<f32>
    xla.return %c : tensor<f32>
  }
  func.return %0 : tensor<3x4xf32, #xla.layout<{0,1}>>
}

// No window, and no operand.
func.func @sizes() -> (tensor<2xf32>, tensor<0xf32>) {
  %ten = xla.constant dense<10.0> : tensor<f32>
  %x = xla.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %nothing = xla.constant dense<> : tensor<0xf32>
  %initial = xla.select_and_scatter %x, %nothing, %ten {window = #xla.window<size=3>} : (tensor<2xf32>, tensor<0xf32>, tensor<f32>) -> tensor<2xf32> select (%a: tensor<f32>, %b: tensor<f32>) {
    %first = xla.compare %a, %b {direction = GE} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    xla.return %first : tensor<i1>
  } scatter (%a: tensor<f32>, %b: tensor<f32>) {
    %c = xla.add %a, %b : tensor<f32>
    xla.return %c : tensor<f32>
  }
  check.expect_eq_const %initial, dense<[10.0, 10.0]> : tensor<2xf32>
  %empty = xla.select_and_scatter %nothing, %x, %ten {window = #xla.window<size=1 pad=1_1>} : (tensor<0xf32>, tensor<2xf32>, tensor<f32>) -> tensor<0xf32> select (%a: tensor<f32>, %b: tensor<f32>) {
    %first = xla.compare %a, %b {direction = GE} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    xla.return %first : tensor<i1>
  } scatter (%a: tensor<f32>, %b: tensor<f32>) {
    %c = xla.add %a, %b : tensor<f32>
    xla.return %c : tensor<f32>
  }
  func.return %initial, %empty : tensor<2xf32>, tensor<0xf32>
}
