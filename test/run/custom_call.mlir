// RUN: xla-run %s --all-functions --backend reference

// Calls of what is outside: here one that never runs, and the checks of programs.

func.func @not_reached() -> tensor<2xf32> {
  %x = xla.constant dense<[1.0, 2.5]> : tensor<2xf32>
  %accelerated = xla.constant dense<false> : tensor<i1>
  %0 = xla.conditional %accelerated : (tensor<i1>) -> tensor<2xf32> branch () {
    %fast = xla.custom_call %x {custom_call_target = "negate_fast"} : tensor<2xf32>
    xla.return %fast : tensor<2xf32>
  } branch () {
    %slow = xla.negate %x : tensor<2xf32>
    xla.return %slow : tensor<2xf32>
  }
  check.expect_eq_const %0, dense<[-1.0, -2.5]> : tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

// for i32 in types
func.func @checks() -> tensor<3xi32> {
  %0 = xla.constant dense<[0, 1, -1]> : tensor<3xi64>
  %x = xla.convert %0 : (tensor<3xi64>) -> tensor<3xi32>
  xla.custom_call %x, %x {custom_call_target = "check.expect_eq", custom_call_has_side_effect = true} : (tensor<3xi32>, tensor<3xi32>) -> tuple<>
  func.return %x : tensor<3xi32>
}

func.func @column_major() -> tensor<i1> {
  %x = xla.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32, #xla.layout<{0,1}>>
  %y = xla.constant dense<[[1.0, 2.0], [3.0, 4.00001]]> : tensor<2x2xf32>
  %0 = xla.custom_call %x, %y {custom_call_target = "check.eq"} : (tensor<2x2xf32, #xla.layout<{0,1}>>, tensor<2x2xf32>) -> tensor<i1>
  func.return %0 : tensor<i1>
}
