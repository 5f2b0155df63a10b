// RUN: xla-run %s --all-functions --backend reference

// The state of the generator, which every execution moves on.

func.func @worked() -> tensor<2xui64> {
  %first = xla.rng_get_and_update_state {delta = 4} : tensor<2xui64>
  %second = xla.rng_get_and_update_state {delta = 1} : tensor<2xui64>
  %0 = xla.subtract %second, %first : tensor<2xui64>
  check.expect_eq_const %0, dense<[4, 0]> : tensor<2xui64>
  func.return %0 : tensor<2xui64>
}
