// RUN: xla-run %s --all-functions --backend reference

// Loops: with nothing to do, values that change place, arrays updated in place, other loops inside.

func.func @worked() {
  %zero = xla.constant dense<0> : tensor<i32>
  %zeros = xla.constant dense<0.0> : tensor<10xf32>
  %count, %total = xla.while %zero, %zeros : (tensor<i32>, tensor<10xf32>) -> (tensor<i32>, tensor<10xf32>) condition (%n: tensor<i32>, %sum: tensor<10xf32>) {
    %limit = xla.constant dense<1000> : tensor<i32>
    %more = xla.compare %n, %limit {direction = LT} : (tensor<i32>, tensor<i32>) -> tensor<i1>
    xla.return %more : tensor<i1>
  } body (%n: tensor<i32>, %sum: tensor<10xf32>) {
    %one = xla.constant dense<1> : tensor<i32>
    %step = xla.constant dense<0.5> : tensor<10xf32>
    %next = xla.add %n, %one : tensor<i32>
    %next_sum = xla.add %sum, %step : tensor<10xf32>
    xla.return %next, %next_sum : tensor<i32>, tensor<10xf32>
  }
  check.expect_eq_const %count, dense<1000> : tensor<i32>
  check.expect_eq_const %total, dense<500.0> : tensor<10xf32>
  func.return
}

// Doubled three times, or not at all.
// for i32 in types
func.func @types() -> (tensor<5xi32>, tensor<5xi32>) {
  %0 = xla.constant dense<[0, 1, -1, 2, 100]> : tensor<5xi64>
  %x = xla.convert %0 : (tensor<5xi64>) -> tensor<5xi32>
  %three = xla.constant dense<3> : tensor<i16>
  %never = xla.constant dense<0> : tensor<i16>
  %1:2 = xla.while %three, %x : (tensor<i16>, tensor<5xi32>) -> (tensor<i16>, tensor<5xi32>) condition (%n: tensor<i16>, %y: tensor<5xi32>) {
    %end = xla.constant dense<0> : tensor<i16>
    %more = xla.compare %n, %end {direction = GT} : (tensor<i16>, tensor<i16>) -> tensor<i1>
    xla.return %more : tensor<i1>
  } body (%n: tensor<i16>, %y: tensor<5xi32>) {
    %one = xla.constant dense<1> : tensor<i16>
    %less = xla.subtract %n, %one : tensor<i16>
    %double = xla.add %y, %y : tensor<5xi32>
    xla.return %less, %double : tensor<i16>, tensor<5xi32>
  }
  %2:2 = xla.while %never, %x : (tensor<i16>, tensor<5xi32>) -> (tensor<i16>, tensor<5xi32>) condition (%n: tensor<i16>, %y: tensor<5xi32>) {
    %end = xla.constant dense<0> : tensor<i16>
    %more = xla.compare %n, %end {direction = GT} : (tensor<i16>, tensor<i16>) -> tensor<i1>
    xla.return %more : tensor<i1>
  } body (%n: tensor<i16>, %y: tensor<5xi32>) {
    %double = xla.add %y, %y : tensor<5xi32>
    xla.return %n, %double : tensor<i16>, tensor<5xi32>
  }
  func.return %1#1, %2#1 : tensor<5xi32>, tensor<5xi32>
}

// Two values that change places, a tuple as state, and one that never changes.
func.func @swapping() -> (tensor<2xi32>, tensor<2xi32>) {
  %zero = xla.constant dense<0> : tensor<i32>
  %x = xla.constant dense<[1, 2]> : tensor<2xi32>
  %y = xla.constant dense<[10, 20]> : tensor<2xi32>
  %init = xla.tuple %zero, %x, %y : (tensor<i32>, tensor<2xi32>, tensor<2xi32>) -> tuple<tensor<i32>, tensor<2xi32>, tensor<2xi32>>
  %last = xla.while %init : tuple<tensor<i32>, tensor<2xi32>, tensor<2xi32>> condition (%s: tuple<tensor<i32>, tensor<2xi32>, tensor<2xi32>>) {
    %n = xla.get_tuple_element %s {index = 0} : (tuple<tensor<i32>, tensor<2xi32>, tensor<2xi32>>) -> tensor<i32>
    %five = xla.constant dense<5> : tensor<i32>
    %more = xla.compare %n, %five {direction = LT} : (tensor<i32>, tensor<i32>) -> tensor<i1>
    xla.return %more : tensor<i1>
  } body (%s: tuple<tensor<i32>, tensor<2xi32>, tensor<2xi32>>) {
    %n = xla.get_tuple_element %s {index = 0} : (tuple<tensor<i32>, tensor<2xi32>, tensor<2xi32>>) -> tensor<i32>
    %a = xla.get_tuple_element %s {index = 1} : (tuple<tensor<i32>, tensor<2xi32>, tensor<2xi32>>) -> tensor<2xi32>
    %b = xla.get_tuple_element %s {index = 2} : (tuple<tensor<i32>, tensor<2xi32>, tensor<2xi32>>) -> tensor<2xi32>
    %one = xla.constant dense<1> : tensor<i32>
    %next = xla.add %n, %one : tensor<i32>
    %swapped = xla.tuple %next, %b, %a : (tensor<i32>, tensor<2xi32>, tensor<2xi32>) -> tuple<tensor<i32>, tensor<2xi32>, tensor<2xi32>>
    xla.return %swapped : tuple<tensor<i32>, tensor<2xi32>, tensor<2xi32>>
  }
  %0 = xla.get_tuple_element %last {index = 1} : (tuple<tensor<i32>, tensor<2xi32>, tensor<2xi32>>) -> tensor<2xi32>
  %1 = xla.get_tuple_element %last {index = 2} : (tuple<tensor<i32>, tensor<2xi32>, tensor<2xi32>>) -> tensor<2xi32>
  check.expect_eq %0, %y : tensor<2xi32>
  check.expect_eq %1, %x : tensor<2xi32>
  func.return %0, %1 : tensor<2xi32>, tensor<2xi32>
}

// Squares written into an array element by element; the array from before the loop is read afterwards.
func.func @in_place() -> (tensor<6xi32>, tensor<6xi32>) {
  %zero = xla.constant dense<0> : tensor<i32>
  %0 = xla.iota {iota_dimension = 0} : tensor<6xi32>
  %x = xla.negate %0 : tensor<6xi32>
  %count, %filled = xla.while %zero, %x : (tensor<i32>, tensor<6xi32>) -> (tensor<i32>, tensor<6xi32>) condition (%n: tensor<i32>, %y: tensor<6xi32>) {
    %limit = xla.constant dense<4> : tensor<i32>
    %more = xla.compare %n, %limit {direction = LT} : (tensor<i32>, tensor<i32>) -> tensor<i1>
    xla.return %more : tensor<i1>
  } body (%n: tensor<i32>, %y: tensor<6xi32>) {
    %one = xla.constant dense<1> : tensor<i32>
    %square = xla.multiply %n, %n : tensor<i32>
    %update = xla.reshape %square : (tensor<i32>) -> tensor<1xi32>
    %updated = xla.dynamic_update_slice %y, %update, %n : (tensor<6xi32>, tensor<1xi32>, tensor<i32>) -> tensor<6xi32>
    %next = xla.add %n, %one : tensor<i32>
    xla.return %next, %updated : tensor<i32>, tensor<6xi32>
  }
  check.expect_eq_const %filled, dense<[0, 1, 4, 9, -4, -5]> : tensor<6xi32>
  check.expect_eq_const %x, dense<[0, -1, -2, -3, -4, -5]> : tensor<6xi32>
  func.return %filled, %x : tensor<6xi32>, tensor<6xi32>
}

// A loop in a loop: 1 + 2 + ... of as many as the outer one counts.
func.func @nested() -> tensor<i32> {
  %zero = xla.constant dense<0> : tensor<i32>
  %i, %total = xla.while %zero, %zero : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>) condition (%n: tensor<i32>, %sum: tensor<i32>) {
    %limit = xla.constant dense<5> : tensor<i32>
    %more = xla.compare %n, %limit {direction = LT} : (tensor<i32>, tensor<i32>) -> tensor<i1>
    xla.return %more : tensor<i1>
  } body (%n: tensor<i32>, %sum: tensor<i32>) {
    %one = xla.constant dense<1> : tensor<i32>
    %j, %inner = xla.while %n, %sum : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>) condition (%m: tensor<i32>, %s: tensor<i32>) {
      %end = xla.constant dense<0> : tensor<i32>
      %more = xla.compare %m, %end {direction = GT} : (tensor<i32>, tensor<i32>) -> tensor<i1>
      xla.return %more : tensor<i1>
    } body (%m: tensor<i32>, %s: tensor<i32>) {
      %1 = xla.constant dense<1> : tensor<i32>
      %less = xla.subtract %m, %1 : tensor<i32>
      %more_sum = xla.add %s, %m : tensor<i32>
      xla.return %less, %more_sum : tensor<i32>, tensor<i32>
    }
    %next = xla.add %n, %one : tensor<i32>
    xla.return %next, %inner : tensor<i32>, tensor<i32>
  }
  check.expect_eq_const %total, dense<20> : tensor<i32>
  func.return %total : tensor<i32>
}

func.func @column_major() -> tensor<2x3xi32, #xla.layout<{0,1}>> {
  %x = xla.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32, #xla.layout<{0,1}>>
  %three = xla.constant dense<3> : tensor<i32>
  %0:2 = xla.while %three, %x : (tensor<i32>, tensor<2x3xi32, #xla.layout<{0,1}>>) -> (tensor<i32>, tensor<2x3xi32, #xla.layout<{0,1}>>) condition (%n: tensor<i32>, %y: tensor<2x3xi32, #xla.layout<{0,1}>>) {
    %end = xla.constant dense<0> : tensor<i32>
    %more = xla.compare %n, %end {direction = GT} : (tensor<i32>, tensor<i32>) -> tensor<i1>
    xla.return %more : tensor<i1>
  } body (%n: tensor<i32>, %y: tensor<2x3xi32, #xla.layout<{0,1}>>) {
    %one = xla.constant dense<1> : tensor<i32>
    %less = xla.subtract %n, %one : tensor<i32>
    %turned = xla.reverse %y {dimensions = [1]} : tensor<2x3xi32, #xla.layout<{0,1}>>
    xla.return %less, %turned : tensor<i32>, tensor<2x3xi32, #xla.layout<{0,1}>>
  }
  check.expect_eq_const %0#1, dense<[[3, 2, 1], [6, 5, 4]]> : tensor<2x3xi32, #xla.layout<{0,1}>>
  func.return %0#1 : tensor<2x3xi32, #xla.layout<{0,1}>>
}

// A NaN ends the loop: no comparison with it is true.
func.func @nan() -> (tensor<f32>, tensor<0xf32>) {
  %x = xla.constant dense<1.0> : tensor<f32>
  %nothing = xla.constant dense<> : tensor<0xf32>
  %0:2 = xla.while %x, %nothing : (tensor<f32>, tensor<0xf32>) -> (tensor<f32>, tensor<0xf32>) condition (%y: tensor<f32>, %e: tensor<0xf32>) {
    %zero = xla.constant dense<0.0> : tensor<f32>
    %more = xla.compare %y, %zero {direction = GE} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    xla.return %more : tensor<i1>
  } body (%y: tensor<f32>, %e: tensor<0xf32>) {
    %huge = xla.constant dense<1.0e30> : tensor<f32>
    %larger = xla.multiply %y, %huge : tensor<f32>
    %difference = xla.subtract %larger, %larger : tensor<f32>
    %sum = xla.add %larger, %difference : tensor<f32>
    xla.return %sum, %e : tensor<f32>, tensor<0xf32>
  }
  check.expect_eq_const %0#0, dense<0x7FC00000> : tensor<f32>
  func.return %0#0, %0#1 : tensor<f32>, tensor<0xf32>
}
