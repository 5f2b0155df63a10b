// RUN: xla-run %s --all-functions --backend reference

// The number of the replica that runs the program.

func.func private @own() -> tensor<ui32> {
  %0 = xla.replica_id : tensor<ui32>
  func.return %0 : tensor<ui32>
}

func.func @worked() {
  %0:3 = "interpreter.run_parallel"() {programs = [[@own], [@own], [@own]]} : () -> (tensor<ui32>, tensor<ui32>, tensor<ui32>)
  check.expect_eq_const %0#0, dense<0> : tensor<ui32>
  check.expect_eq_const %0#1, dense<1> : tensor<ui32>
  check.expect_eq_const %0#2, dense<2> : tensor<ui32>
  func.return
}

// The only process is the first one.
func.func @alone() -> tensor<ui32> {
  %0 = xla.replica_id : tensor<ui32>
  check.expect_eq_const %0, dense<0> : tensor<ui32>
  func.return %0 : tensor<ui32>
}
