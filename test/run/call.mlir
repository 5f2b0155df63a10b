// RUN: xla-run %s --all-functions --backend reference

// Functions called: several times, by each other, with tuples and without arguments.

func.func private @square(%x: tensor<i32>) -> tensor<i32> {
  %0 = xla.multiply %x, %x : tensor<i32>
  func.return %0 : tensor<i32>
}

func.func private @fourth(%x: tensor<i32>) -> tensor<i32> {
  %0 = xla.call %x {to_apply = @square} : tensor<i32>
  %1 = xla.call %0 {to_apply = @square} : tensor<i32>
  func.return %1 : tensor<i32>
}

func.func private @one() -> tensor<f32> {
  %0 = xla.constant dense<1.0> : tensor<f32>
  func.return %0 : tensor<f32>
}

func.func private @swapped(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tuple<tensor<2xf32>, tensor<2xf32>> {
  %0 = xla.tuple %y, %x : (tensor<2xf32>, tensor<2xf32>) -> tuple<tensor<2xf32>, tensor<2xf32>>
  func.return %0 : tuple<tensor<2xf32>, tensor<2xf32>>
}

func.func private @sums_of_rows(%x: tensor<2x3xi32>) -> tensor<2xi32> {
  %zero = xla.constant dense<0> : tensor<i32>
  %0 = xla.reduce %x, %zero {dimensions = [1]} : (tensor<2x3xi32>, tensor<i32>) -> tensor<2xi32> to_apply (%a: tensor<i32>, %b: tensor<i32>) {
    %c = xla.add %a, %b : tensor<i32>
    xla.return %c : tensor<i32>
  }
  func.return %0 : tensor<2xi32>
}

func.func @worked() -> (tensor<i32>, tensor<i32>, tensor<f32>) {
  %x = xla.constant dense<7> : tensor<i32>
  %square = xla.call %x {to_apply = @square} : tensor<i32>
  check.expect_eq_const %square, dense<49> : tensor<i32>
  %three = xla.constant dense<3> : tensor<i32>
  %fourth = xla.call %three {to_apply = @fourth} : tensor<i32>
  check.expect_eq_const %fourth, dense<81> : tensor<i32>
  %one = xla.call {to_apply = @one} : () -> tensor<f32>
  func.return %square, %fourth, %one : tensor<i32>, tensor<i32>, tensor<f32>
}

func.func @tuples() -> (tensor<2xf32>, tensor<2xf32>) {
  %x = xla.constant dense<[1.0, -0.0]> : tensor<2xf32>
  %y = xla.constant dense<[0x7FC00000, 0x7F800000]> : tensor<2xf32>
  %pair = xla.call %x, %y {to_apply = @swapped} : (tensor<2xf32>, tensor<2xf32>) -> tuple<tensor<2xf32>, tensor<2xf32>>
  %0 = xla.get_tuple_element %pair {index = 0} : (tuple<tensor<2xf32>, tensor<2xf32>>) -> tensor<2xf32>
  %1 = xla.get_tuple_element %pair {index = 1} : (tuple<tensor<2xf32>, tensor<2xf32>>) -> tensor<2xf32>
  func.return %0, %1 : tensor<2xf32>, tensor<2xf32>
}

// The caller has its argument in another layout than the function.
func.func @column_major() -> tensor<2xi32> {
  %x = xla.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32, #xla.layout<{0,1}>>
  %0 = xla.copy %x : (tensor<2x3xi32, #xla.layout<{0,1}>>) -> tensor<2x3xi32>
  %1 = xla.call %0 {to_apply = @sums_of_rows} : (tensor<2x3xi32>) -> tensor<2xi32>
  check.expect_eq_const %1, dense<[6, 15]> : tensor<2xi32>
  func.return %1 : tensor<2xi32>
}

// The calls of `func` are calls as well.
func.func @of_func() -> tensor<i32> {
  %x = xla.constant dense<-5> : tensor<i32>
  %0 = func.call @fourth(%x) : (tensor<i32>) -> tensor<i32>
  check.expect_eq_const %0, dense<625> : tensor<i32>
  func.return %0 : tensor<i32>
}
