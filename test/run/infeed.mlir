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
