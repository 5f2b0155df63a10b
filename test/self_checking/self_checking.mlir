// RUN: not xla-run %s --all-functions --split-input-file | filecheck %s
// RUN: not xla-run %s --all-functions --split-input-file --backend reference | filecheck %s

// CHECK: chunk 1: PASS
func.func @add() {
  %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %1 = stablehlo.add %0, %0 : tensor<2xf32>
  check.expect_eq_const %1, dense<[2.0, 4.0]> : tensor<2xf32>
  func.return
}

func.func @multiply() {
  %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %1 = stablehlo.multiply %0, %0 : tensor<2xf32>
  check.expect_close %1, %1, max_ulp_difference = 0 : tensor<2xf32>, tensor<2xf32>
  func.return
}

// -----

// CHECK-NEXT: chunk 2: FAIL: {{.*}}self_checking.mlir:25:3: error: check.expect_almost_eq_const: 1 of 2 elements differ by more than 0.0001, the first at [1]: 4.0, expected 4.5 (error 1048576 ULP){{$}}
func.func @add() {
  %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %1 = stablehlo.add %0, %0 : tensor<2xf32>
  check.expect_almost_eq_const %1, dense<[2.0, 4.5]> : tensor<2xf32>
  func.return
}

// -----

// CHECK-NEXT: chunk 3: FAIL: {{.*}}self_checking.mlir:33:3: error: check.expect_eq: (C1) what is compared has types f32[] and f64[]
func.func @types(%x: tensor<f32>, %y: tensor<f64>) {
  "check.expect_eq"(%x, %y) : (tensor<f32>, tensor<f64>) -> ()
  func.return
}

// -----

// CHECK-NEXT: chunk 4: PASS
// CHECK-NOT: {{.}}
module @jit_f {
  func.func public @main() -> tensor<i1> {
    %0 = call @inputs() : () -> tensor<2xf32>
    %1 = call @expected() : () -> tensor<2xf32>
    %2 = stablehlo.sqrt %0 : tensor<2xf32>
    stablehlo.custom_call @check.expect_close(%2, %1) {has_side_effect = true} : (tensor<2xf32>, tensor<2xf32>) -> ()
    %3 = stablehlo.custom_call @check.eq(%2, %1) : (tensor<2xf32>, tensor<2xf32>) -> tensor<i1>
    return %3 : tensor<i1>
  }
  func.func private @inputs() -> tensor<2xf32> {
    %0 = stablehlo.constant dense<[4.0, 9.0]> : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
  func.func private @expected() -> tensor<2xf32> {
    %0 = stablehlo.constant dense<[2.0, 3.0]> : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}
