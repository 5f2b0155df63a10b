// RUN: xla-run %s --all-functions --backend reference

// What the host sends: item after item.

func.func private @first() -> tensor<2xf32> {
  %0 = xla.constant dense<[1.0, -0.0]> : tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

func.func private @second() -> tensor<2xf32> {
  %0 = xla.constant dense<[0x7FC00000, 2.0]> : tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

func.func private @reading() -> (tensor<2xf32>, tensor<2xf32>) {
  %token = xla.after_all : !xla.token
  %read = xla.infeed %token : (!xla.token) -> tuple<tensor<2xf32>, !xla.token>
  %0 = xla.get_tuple_element %read {index = 0} : (tuple<tensor<2xf32>, !xla.token>) -> tensor<2xf32>
  %after = xla.get_tuple_element %read {index = 1} : (tuple<tensor<2xf32>, !xla.token>) -> !xla.token
  %next = xla.infeed %after : (!xla.token) -> tuple<tensor<2xf32>, !xla.token>
  %1 = xla.get_tuple_element %next {index = 0} : (tuple<tensor<2xf32>, !xla.token>) -> tensor<2xf32>
  func.return %0, %1 : tensor<2xf32>, tensor<2xf32>
}

func.func @worked() {
  %0:2 = "interpreter.run_parallel"() {programs = [[@reading]], infeed = [@first, @second]} : () -> (tensor<2xf32>, tensor<2xf32>)
  check.expect_eq_const %0#0, dense<[1.0, -0.0]> : tensor<2xf32>
  check.expect_eq_const %0#1, dense<[0x7FC00000, 2.0]> : tensor<2xf32>
  func.return
}

func.func private @item_1() -> tensor<i32> {
  %0 = xla.constant dense<1> : tensor<i32>
  func.return %0 : tensor<i32>
}

func.func private @item_2() -> tensor<i32> {
  %0 = xla.constant dense<2> : tensor<i32>
  func.return %0 : tensor<i32>
}

func.func private @item_3() -> tensor<i32> {
  %0 = xla.constant dense<3> : tensor<i32>
  func.return %0 : tensor<i32>
}

func.func private @item_4() -> tensor<i32> {
  %0 = xla.constant dense<4> : tensor<i32>
  func.return %0 : tensor<i32>
}

func.func private @two_loops() -> tensor<i32> {
  %zero = xla.constant dense<0> : tensor<i32>
  %token = xla.after_all : !xla.token
  %first:3 = xla.while %zero, %zero, %token : (tensor<i32>, tensor<i32>, !xla.token) -> (tensor<i32>, tensor<i32>, !xla.token) condition (%n: tensor<i32>, %digits: tensor<i32>, %t: !xla.token) {
    %two = xla.constant dense<2> : tensor<i32>
    %more = xla.compare %n, %two {direction = LT} : (tensor<i32>, tensor<i32>) -> tensor<i1>
    xla.return %more : tensor<i1>
  } body (%n: tensor<i32>, %digits: tensor<i32>, %t: !xla.token) {
    %read = xla.infeed %t : (!xla.token) -> tuple<tensor<i32>, !xla.token>
    %digit = xla.get_tuple_element %read {index = 0} : (tuple<tensor<i32>, !xla.token>) -> tensor<i32>
    %next_t = xla.get_tuple_element %read {index = 1} : (tuple<tensor<i32>, !xla.token>) -> !xla.token
    %ten = xla.constant dense<10> : tensor<i32>
    %shifted = xla.multiply %digits, %ten : tensor<i32>
    %next_digits = xla.add %shifted, %digit : tensor<i32>
    %one = xla.constant dense<1> : tensor<i32>
    %next = xla.add %n, %one : tensor<i32>
    xla.return %next, %next_digits, %next_t : tensor<i32>, tensor<i32>, !xla.token
  }
  %second:3 = xla.while %zero, %first#1, %first#2 : (tensor<i32>, tensor<i32>, !xla.token) -> (tensor<i32>, tensor<i32>, !xla.token) condition (%n: tensor<i32>, %digits: tensor<i32>, %t: !xla.token) {
    %two = xla.constant dense<2> : tensor<i32>
    %more = xla.compare %n, %two {direction = LT} : (tensor<i32>, tensor<i32>) -> tensor<i1>
    xla.return %more : tensor<i1>
  } body (%n: tensor<i32>, %digits: tensor<i32>, %t: !xla.token) {
    %read = xla.infeed %t : (!xla.token) -> tuple<tensor<i32>, !xla.token>
    %digit = xla.get_tuple_element %read {index = 0} : (tuple<tensor<i32>, !xla.token>) -> tensor<i32>
    %next_t = xla.get_tuple_element %read {index = 1} : (tuple<tensor<i32>, !xla.token>) -> !xla.token
    %ten = xla.constant dense<10> : tensor<i32>
    %shifted = xla.multiply %digits, %ten : tensor<i32>
    %next_digits = xla.add %shifted, %digit : tensor<i32>
    %one = xla.constant dense<1> : tensor<i32>
    %next = xla.add %n, %one : tensor<i32>
    xla.return %next, %next_digits, %next_t : tensor<i32>, tensor<i32>, !xla.token
  }
  func.return %second#1 : tensor<i32>
}

// The second loop depends on the first: the items come in the order of the digits.
func.func @worked_loops() {
  %0 = "interpreter.run_parallel"() {programs = [[@two_loops]], infeed = [@item_1, @item_2, @item_3, @item_4]} : () -> tensor<i32>
  check.expect_eq_const %0, dense<1234> : tensor<i32>
  func.return
}

// for i32 in types
func.func private @item() -> tensor<3xi32> {
  %values = xla.constant dense<[0, 1, -1]> : tensor<3xi64>
  %0 = xla.convert %values : (tensor<3xi64>) -> tensor<3xi32>
  func.return %0 : tensor<3xi32>
}

// for i32 in types
func.func private @typed() -> tensor<3xi32> {
  %token = xla.after_all : !xla.token
  %read = xla.infeed %token : (!xla.token) -> tuple<tensor<3xi32>, !xla.token>
  %0 = xla.get_tuple_element %read {index = 0} : (tuple<tensor<3xi32>, !xla.token>) -> tensor<3xi32>
  func.return %0 : tensor<3xi32>
}

// for i32 in types
func.func @types() -> tensor<3xi32> {
  %0 = "interpreter.run_parallel"() {programs = [[@typed]], infeed = [@item]} : () -> tensor<3xi32>
  func.return %0 : tensor<3xi32>
}

// An empty tuple reads nothing.
func.func @nothing() -> tensor<2xf32> {
  %x = xla.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %token = xla.after_all : !xla.token
  %read = xla.infeed %token : (!xla.token) -> tuple<tuple<>, !xla.token>
  %after = xla.get_tuple_element %read {index = 1} : (tuple<tuple<>, !xla.token>) -> !xla.token
  %0 = xla.add_dependency %x, %after : (tensor<2xf32>, !xla.token) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}
