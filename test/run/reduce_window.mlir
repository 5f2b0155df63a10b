// RUN: xla-run %s --all-functions --backend reference

// A fold in every window: with strides, padding that may be negative, and dilation of base and window.

func.func @worked() {
  %x = xla.constant dense<[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0, 11.0], [12.0, 13.0, 14.0, 15.0, 16.0, 17.0], [18.0, 19.0, 20.0, 21.0, 22.0, 23.0]]> : tensor<4x6xf32>
  %least = xla.constant dense<0xFF800000> : tensor<f32>
  %largest = xla.reduce_window %x, %least {window = #xla.window<size=2x3 stride=2x3>} : (tensor<4x6xf32>, tensor<f32>) -> tensor<2x2xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %c = xla.maximum %a, %b : tensor<f32>
    xla.return %c : tensor<f32>
  }
  check.expect_eq_const %largest, dense<[[8.0, 11.0], [20.0, 23.0]]> : tensor<2x2xf32>
  // 1, 2, 3 with holes is 1 0 2 0 3; windows of every second element of it.
  %y = xla.constant dense<[1, 2, 3]> : tensor<3xi32>
  %zero = xla.constant dense<0> : tensor<i32>
  %dilated = xla.reduce_window %y, %zero {window = #xla.window<size=2 pad=1_0 lhs_dilate=2 rhs_dilate=2>} : (tensor<3xi32>, tensor<i32>) -> tensor<4xi32> to_apply (%a: tensor<i32>, %b: tensor<i32>) {
    %c = xla.add %a, %b : tensor<i32>
    xla.return %c : tensor<i32>
  }
  check.expect_eq_const %dilated, dense<[0, 3, 0, 5]> : tensor<4xi32>
  func.return
}

// Windows inside of the array, and as many as elements of it in steps of two, the ends padded.
func.func @worked_padding() {
  %x = xla.constant dense<[10000.0, 1000.0, 100.0, 10.0, 1.0]> : tensor<5xf32>
  %most = xla.constant dense<3.40282347e38> : tensor<f32>
  %valid = xla.reduce_window %x, %most {window = #xla.window<size=3 stride=2>} : (tensor<5xf32>, tensor<f32>) -> tensor<2xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %c = xla.minimum %a, %b : tensor<f32>
    xla.return %c : tensor<f32>
  }
  check.expect_eq_const %valid, dense<[100.0, 1.0]> : tensor<2xf32>
  %same = xla.reduce_window %x, %most {window = #xla.window<size=3 stride=2 pad=1_1>} : (tensor<5xf32>, tensor<f32>) -> tensor<3xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %c = xla.minimum %a, %b : tensor<f32>
    xla.return %c : tensor<f32>
  }
  check.expect_eq_const %same, dense<[1000.0, 10.0, 1.0]> : tensor<3xf32>
  func.return
}

func.func @worked_dilation() {
  %x = xla.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0]> : tensor<5xf32>
  %zero = xla.constant dense<0.0> : tensor<f32>
  %holes = xla.reduce_window %x, %zero {window = #xla.window<size=2 lhs_dilate=2>} : (tensor<5xf32>, tensor<f32>) -> tensor<8xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %c = xla.add %a, %b : tensor<f32>
    xla.return %c : tensor<f32>
  }
  check.expect_eq_const %holes, dense<[1.0, 2.0, 2.0, 3.0, 3.0, 4.0, 4.0, 5.0]> : tensor<8xf32>
  %wide = xla.reduce_window %x, %zero {window = #xla.window<size=2 rhs_dilate=2>} : (tensor<5xf32>, tensor<f32>) -> tensor<3xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %c = xla.add %a, %b : tensor<f32>
    xla.return %c : tensor<f32>
  }
  check.expect_eq_const %wide, dense<[4.0, 6.0, 8.0]> : tensor<3xf32>
  %both = xla.reduce_window %x, %zero {window = #xla.window<size=2 stride=2 pad=1_1 lhs_dilate=2 rhs_dilate=3>} : (tensor<5xf32>, tensor<f32>) -> tensor<4xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %c = xla.add %a, %b : tensor<f32>
    xla.return %c : tensor<f32>
  }
  check.expect_eq_const %both, dense<[2.0, 3.0, 4.0, 5.0]> : tensor<4xf32>
  %cut = xla.reduce_window %x, %zero {window = #xla.window<size=2 pad=-1_-1>} : (tensor<5xf32>, tensor<f32>) -> tensor<2xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %c = xla.add %a, %b : tensor<f32>
    xla.return %c : tensor<f32>
  }
  check.expect_eq_const %cut, dense<[5.0, 7.0]> : tensor<2xf32>
  %cut_holes = xla.reduce_window %x, %zero {window = #xla.window<size=2 pad=-1_0 lhs_dilate=2>} : (tensor<5xf32>, tensor<f32>) -> tensor<7xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %c = xla.add %a, %b : tensor<f32>
    xla.return %c : tensor<f32>
  }
  check.expect_eq_const %cut_holes, dense<[2.0, 2.0, 3.0, 3.0, 4.0, 4.0, 5.0]> : tensor<7xf32>
  func.return
}

// The initial value is folded once in each window; padding and holes add nothing.
func.func @worked_initial_value() {
  %x = xla.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0]> : tensor<5xf32>
  %zero = xla.constant dense<0.0> : tensor<f32>
  %hundred = xla.constant dense<100.0> : tensor<f32>
  %padded = xla.reduce_window %x, %hundred {window = #xla.window<size=2 pad=1_1>} : (tensor<5xf32>, tensor<f32>) -> tensor<6xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %c = xla.add %a, %b : tensor<f32>
    xla.return %c : tensor<f32>
  }
  check.expect_eq_const %padded, dense<[101.0, 103.0, 105.0, 107.0, 109.0, 105.0]> : tensor<6xf32>
  %holes = xla.reduce_window %x, %hundred {window = #xla.window<size=2 lhs_dilate=2>} : (tensor<5xf32>, tensor<f32>) -> tensor<8xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %c = xla.add %a, %b : tensor<f32>
    xla.return %c : tensor<f32>
  }
  check.expect_eq_const %holes, dense<[101.0, 102.0, 102.0, 103.0, 103.0, 104.0, 104.0, 105.0]> : tensor<8xf32>
  %difference = xla.reduce_window %x, %zero {window = #xla.window<size=3>} : (tensor<5xf32>, tensor<f32>) -> tensor<3xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %c = xla.subtract %a, %b : tensor<f32>
    xla.return %c : tensor<f32>
  }
  check.expect_eq_const %difference, dense<[-6.0, -9.0, -12.0]> : tensor<3xf32>
  %values = xla.constant dense<[3.0, 1.0, 4.0, 4.0]> : tensor<4xf32>
  %indices = xla.iota {iota_dimension = 0} : tensor<4xi32>
  %least = xla.constant dense<0xFF800000> : tensor<f32>
  %none = xla.constant dense<-1> : tensor<i32>
  %largest, %at = xla.reduce_window %values, %indices, %least, %none {window = #xla.window<size=2>} : (tensor<4xf32>, tensor<4xi32>, tensor<f32>, tensor<i32>) -> (tensor<3xf32>, tensor<3xi32>) to_apply (%a: tensor<f32>, %m: tensor<i32>, %b: tensor<f32>, %n: tensor<i32>) {
    %more = xla.compare %b, %a {direction = GT} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %value = xla.select %more, %b, %a : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
    %index = xla.select %more, %n, %m : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    xla.return %value, %index : tensor<f32>, tensor<i32>
  }
  check.expect_eq_const %largest, dense<[3.0, 4.0, 4.0]> : tensor<3xf32>
  check.expect_eq_const %at, dense<[0, 2, 2]> : tensor<3xi32>
  func.return
}

// for f32 in floats
func.func @floats() -> (tensor<3x5xf32>, tensor<2x7xf32>, tensor<2x4xf32>, tensor<3x9xf32>) {
  %0 = xla.constant dense<[[1.0, -2.0, 0.5, 4.0, 3.0], [-1.0, 0.25, 2.0, -0.5, 1.5], [6.0, -3.0, 1.0, 0.0, -4.0]]> : tensor<3x5xf64>
  %1 = xla.constant dense<0.0> : tensor<f64>
  %2 = xla.constant dense<0xFFF0000000000000> : tensor<f64>
  %x = xla.convert %0 : (tensor<3x5xf64>) -> tensor<3x5xf32>
  %zero = xla.convert %1 : (tensor<f64>) -> tensor<f32>
  %least = xla.convert %2 : (tensor<f64>) -> tensor<f32>
  %same = xla.reduce_window %x, %least {window = #xla.window<size=3x3 pad=1_1x1_1>} : (tensor<3x5xf32>, tensor<f32>) -> tensor<3x5xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %c = xla.maximum %a, %b : tensor<f32>
    xla.return %c : tensor<f32>
  }
  %sums = xla.reduce_window %x, %zero {window = #xla.window<size=2x1 pad=0_0x1_1>} : (tensor<3x5xf32>, tensor<f32>) -> tensor<2x7xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %c = xla.add %a, %b : tensor<f32>
    xla.return %c : tensor<f32>
  }
  %cut = xla.reduce_window %x, %zero {window = #xla.window<size=1x2 pad=-1_0x-1_1>} : (tensor<3x5xf32>, tensor<f32>) -> tensor<2x4xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %c = xla.add %a, %b : tensor<f32>
    xla.return %c : tensor<f32>
  }
  %dilated = xla.reduce_window %x, %zero {window = #xla.window<size=2x2 stride=1x1 pad=1_1x1_1 lhs_dilate=1x2 rhs_dilate=2x2>} : (tensor<3x5xf32>, tensor<f32>) -> tensor<3x9xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %c = xla.add %a, %b : tensor<f32>
    xla.return %c : tensor<f32>
  }
  func.return %same, %sums, %cut, %dilated : tensor<3x5xf32>, tensor<2x7xf32>, tensor<2x4xf32>, tensor<3x9xf32>
}

// for i32 in integers pred
func.func @integers() -> (tensor<2x4xi32>, tensor<3x5xi32>) {
  %0 = xla.constant dense<[[1, -2, 0, 4, 3], [-1, 100, 2, 7, 15], [6, -3, 127, 0, -128]]> : tensor<3x5xi64>
  %1 = xla.constant dense<1> : tensor<i64>
  %x = xla.convert %0 : (tensor<3x5xi64>) -> tensor<3x5xi32>
  %one = xla.convert %1 : (tensor<i64>) -> tensor<i32>
  %least = xla.reduce_window %x, %one {window = #xla.window<size=2x2>} : (tensor<3x5xi32>, tensor<i32>) -> tensor<2x4xi32> to_apply (%a: tensor<i32>, %b: tensor<i32>) {
    %c = xla.minimum %a, %b : tensor<i32>
    xla.return %c : tensor<i32>
  }
  %products = xla.reduce_window %x, %one {window = #xla.window<size=3x1 pad=2_0x0_0>} : (tensor<3x5xi32>, tensor<i32>) -> tensor<3x5xi32> to_apply (%a: tensor<i32>, %b: tensor<i32>) {
    %c = xla.multiply %a, %b : tensor<i32>
    xla.return %c : tensor<i32>
  }
  func.return %least, %products : tensor<2x4xi32>, tensor<3x5xi32>
}

// for f32 in parts
func.func @complex() -> tensor<3xcomplex<f32>> {
  %x = xla.constant dense<[(1.0, 2.0), (0.5, -1.0), (0.0, 1.0), (4.0, 0.0)]> : tensor<4xcomplex<f32>>
  %zero = xla.constant dense<(0.0, 0.0)> : tensor<complex<f32>>
  %sums = xla.reduce_window %x, %zero {window = #xla.window<size=2>} : (tensor<4xcomplex<f32>>, tensor<complex<f32>>) -> tensor<3xcomplex<f32>> to_apply (%a: tensor<complex<f32>>, %b: tensor<complex<f32>>) {
    %c = xla.add %a, %b : tensor<complex<f32>>
    xla.return %c : tensor<complex<f32>>
  }
  func.return %sums : tensor<3xcomplex<f32>>
}

// A running sum: the window reaches back to the first element.
func.func @running_sum() -> tensor<6xi32> {
  %x = xla.constant dense<[1, 2, 3, 4, 5, 6]> : tensor<6xi32>
  %zero = xla.constant dense<0> : tensor<i32>
  %0 = xla.reduce_window %x, %zero {window = #xla.window<size=6 pad=5_0>} : (tensor<6xi32>, tensor<i32>) -> tensor<6xi32> to_apply (%a: tensor<i32>, %b: tensor<i32>) {
    %c = xla.add %a, %b : tensor<i32>
    xla.return %c : tensor<i32>
  }
  check.expect_eq_const %0, dense<[1, 3, 6, 10, 15, 21]> : tensor<6xi32>
  func.return %0 : tensor<6xi32>
}

func.func @several_operands() -> (tensor<3xf32>, tensor<3xi32>) {
  %x = xla.constant dense<[1.0, 5.0, -3.0, 5.0]> : tensor<4xf32>
  %i = xla.iota {iota_dimension = 0} : tensor<4xi32>
  %least = xla.constant dense<0xFF800000> : tensor<f32>
  %none = xla.constant dense<-1> : tensor<i32>
  %values, %indices = xla.reduce_window %x, %i, %least, %none {window = #xla.window<size=2>} : (tensor<4xf32>, tensor<4xi32>, tensor<f32>, tensor<i32>) -> (tensor<3xf32>, tensor<3xi32>) to_apply (%a: tensor<f32>, %m: tensor<i32>, %b: tensor<f32>, %n: tensor<i32>) {
    %more = xla.compare %b, %a {direction = GT} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %value = xla.select %more, %b, %a : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
    %index = xla.select %more, %n, %m : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    xla.return %value, %index : tensor<f32>, tensor<i32>
  }
  check.expect_eq_const %indices, dense<[1, 1, 3]> : tensor<3xi32>
  func.return %values, %indices : tensor<3xf32>, tensor<3xi32>
}

func.func @column_major() -> tensor<3x2xf32, #xla.layout<{0,1}>> {
  %x = xla.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32, #xla.layout<{0,1}>>
  %zero = xla.constant dense<0.0> : tensor<f32>
  %0 = xla.reduce_window %x, %zero {window = #xla.window<size=2x2 pad=1_1x0_0>} : (tensor<2x3xf32, #xla.layout<{0,1}>>, tensor<f32>) -> tensor<3x2xf32, #xla.layout<{0,1}>> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %c = xla.add %a, %b : tensor<f32>
    xla.return %c : tensor<f32>
  }
  func.return %0 : tensor<3x2xf32, #xla.layout<{0,1}>>
}

// No window fits, every window lies in the padding, and a scalar is its own window.
func.func @sizes() -> (tensor<0xi32>, tensor<2xi32>, tensor<i32>) {
  %seven = xla.constant dense<7> : tensor<i32>
  %x = xla.constant dense<[1, 2]> : tensor<2xi32>
  %none = xla.reduce_window %x, %seven {window = #xla.window<size=3>} : (tensor<2xi32>, tensor<i32>) -> tensor<0xi32> to_apply (%a: tensor<i32>, %b: tensor<i32>) {
    %c = xla.add %a, %b : tensor<i32>
    xla.return %c : tensor<i32>
  }
  %nothing = xla.constant dense<> : tensor<0xi32>
  %padding = xla.reduce_window %nothing, %seven {window = #xla.window<size=1 pad=1_1>} : (tensor<0xi32>, tensor<i32>) -> tensor<2xi32> to_apply (%a: tensor<i32>, %b: tensor<i32>) {
    %c = xla.maximum %a, %b : tensor<i32>
    xla.return %c : tensor<i32>
  }
  %scalar = xla.reduce_window %seven, %seven {window = #xla.window<>} : (tensor<i32>, tensor<i32>) -> tensor<i32> to_apply (%a: tensor<i32>, %b: tensor<i32>) {
    %c = xla.add %a, %b : tensor<i32>
    xla.return %c : tensor<i32>
  }
  func.return %none, %padding, %scalar : tensor<0xi32>, tensor<2xi32>, tensor<i32>
}
