// RUN: xla-run %s --all-functions --backend reference

// Tokens joined: none, one, several and the same twice.

func.func @worked() -> tensor<2xf32> {
  %x = xla.constant dense<[1.0, -0.0]> : tensor<2xf32>
  %none = xla.after_all : !xla.token
  %one = xla.after_all %none : !xla.token
  %several = xla.after_all %none, %one, %one : !xla.token
  %0 = xla.add_dependency %x, %several : (tensor<2xf32>, !xla.token) -> tensor<2xf32>
  check.expect_eq %0, %x : tensor<2xf32>
  func.return %0 : tensor<2xf32>
}
