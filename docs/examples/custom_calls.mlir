func.func @custom_call() -> tensor<2xf32> {
  %x = xla.constant dense<[1.0, 2.5]> : tensor<2xf32>
  %accelerated = xla.constant dense<false> : tensor<i1>
  %result = xla.conditional %accelerated : (tensor<i1>) -> tensor<2xf32> branch () {
    %fast = xla.custom_call %x {custom_call_target = "negate_fast"} : tensor<2xf32>
    xla.return %fast : tensor<2xf32>
  } branch () {
    %slow = xla.negate %x : tensor<2xf32>
    xla.return %slow : tensor<2xf32>
  }
  // 2xf32=[-1.0, -2.5]
  func.return %result : tensor<2xf32>
}
