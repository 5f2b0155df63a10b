// RUN: xla-opt %s | filecheck %s
// RUN: xla-opt %s | xla-opt -f mlir - | filecheck %s
// RUN: xla-opt %s --mlir-print-op-generic | xla-opt -f mlir - | filecheck %s
// RUN: xla-opt %s --mlir-print-op-generic | filecheck %s --check-prefix=GENERIC

// CHECK-LABEL: func.func @checks
// GENERIC-LABEL: "func.func"
func.func @checks(%x: tensor<2xf32>, %y: tensor<2xf32>) {
  %0 = stablehlo.add %x, %y : tensor<2xf32>
  // CHECK: check.expect_eq %x, %y : tensor<2xf32>
  // GENERIC: "check.expect_eq"(%x, %y) : (tensor<2xf32>, tensor<2xf32>) -> ()
  check.expect_eq %x, %y : tensor<2xf32>
  // CHECK-NEXT: check.expect_eq %x, %y {test.note = "kept"} : tensor<2xf32>
  check.expect_eq %x, %y {test.note = "kept"} : tensor<2xf32>
  // CHECK-NEXT: check.expect_eq_const %x, dense<[1.000000e+00, 0x7FC00000]> : tensor<2xf32>
  // GENERIC: "check.expect_eq_const"(%x) <{value = dense<[1.000000e+00, 0x7FC00000]> : tensor<2xf32>}> : (tensor<2xf32>) -> ()
  check.expect_eq_const %x, dense<[1.0, 0x7FC00000]> : tensor<2xf32>
  // CHECK-NEXT: check.expect_almost_eq %x, %y : tensor<2xf32>
  // GENERIC: "check.expect_almost_eq"(%x, %y) <{tolerance = 1.000000e-04 : f64}>
  check.expect_almost_eq %x, %y : tensor<2xf32>
  // CHECK-NEXT: check.expect_almost_eq %x, %y, tolerance = 1.000000e-03 : tensor<2xf32>
  check.expect_almost_eq %x, %y, tolerance = 1.0e-3 : tensor<2xf32>
  // CHECK-NEXT: check.expect_almost_eq %x, %y, tolerance = 1.000000e-03 : tensor<2xf32>
  check.expect_almost_eq %x, %y, tolerance = 0.001 : f64 : tensor<2xf32>
  // CHECK-NEXT: check.expect_almost_eq_const %x, dense<2.000000e+00> : tensor<2xf32>
  check.expect_almost_eq_const %x, dense<2.0> : tensor<2xf32>
  // CHECK-NEXT: check.expect_almost_eq_const %x, dense<2.000000e+00> : tensor<2xf32>, tolerance = 5.000000e-01
  check.expect_almost_eq_const %x, dense<2.0> : tensor<2xf32>, tolerance = 0.5
  // CHECK-NEXT: check.expect_close %x, %y, max_ulp_difference = 3, min_ulp_difference = 0 : tensor<2xf32>, tensor<2xf32>
  check.expect_close %x, %y, max_ulp_difference = 3 : tensor<2xf32>, tensor<2xf32>
  // CHECK-NEXT: check.expect_close %x, %y, max_ulp_difference = 3, min_ulp_difference = 1 : {test.note = 1 : i32} tensor<2xf32>, tensor<2xf32>
  check.expect_close %x, %y, max_ulp_difference = 3, min_ulp_difference = 1 : {test.note = 1 : i32} tensor<2xf32>, tensor<2xf32>
  // CHECK-NEXT: check.expect_close %x, %y, max_ulp_difference = 4, min_ulp_difference = 0 : tensor<2xf32>, tensor<2xf32>
  // GENERIC: "check.expect_close"(%x, %y) <{max_ulp_difference = 4 : ui64, min_ulp_difference = 0 : ui64}>
  "check.expect_close"(%x, %y) {max_ulp_difference = 4 : ui64} : (tensor<2xf32>, tensor<2xf32>) -> ()
  // CHECK-NEXT: %[[P:.*]] = interpreter.probe %x, probe_id = "probe0" : tensor<2xf32>
  %p = interpreter.probe %x, probe_id = "probe0" : tensor<2xf32>
  // CHECK-NEXT: interpreter.print %[[P]] : tensor<2xf32>
  %q = interpreter.print %p : tensor<2xf32>
  // CHECK-NEXT: check.expect_serialized_eq %[[P]], probe_id = "probe0" : tensor<2xf32>
  check.expect_serialized_eq %p, probe_id = "probe0" : tensor<2xf32>
  // CHECK-NEXT: check.expect_serialized_eq %[[P]], probe_id = "probe0", iter = 2 : tensor<2xf32>
  check.expect_serialized_eq %p, probe_id = "probe0", iter = 2 : tensor<2xf32>
  // CHECK-NEXT: interpreter.run_parallel %x {infeed = [@one, @one], programs = {{\[\[}}@same], [@one]]} : (tensor<2xf32>) -> (tensor<2xf32>, tensor<ui32>)
  // GENERIC: "interpreter.run_parallel"(%x) <{infeed = [@one, @one], programs = {{\[\[}}@same], [@one]]}> : (tensor<2xf32>) -> (tensor<2xf32>, tensor<ui32>)
  %r:2 = "interpreter.run_parallel"(%x) {
    infeed = [@one, @one], programs = [[@same], [@one]]
  } : (tensor<2xf32>) -> (tensor<2xf32>, tensor<ui32>)
  // CHECK-NEXT: interpreter.run_parallel {programs = {{\[\[}}@nothing]]} : () -> ()
  "interpreter.run_parallel"() <{programs = [[@nothing]]}> : () -> ()
  return
}
func.func private @same(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
func.func private @one() -> tensor<ui32> {
  %x = stablehlo.constant dense<1> : tensor<ui32>
  return %x : tensor<ui32>
}
func.func private @nothing() {
  return
}
