// RUN: xla-opt %s -t stablehlo | filecheck %s
// RUN: xla-opt %s -t stablehlo | xla-opt -t stablehlo - | filecheck %s

// Checks and probes stand beside both dialects; in generic form every reader of MLIR takes them.

func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.add %a, %a : tensor<2xf32>
  // CHECK: "check.expect_almost_eq"(%0, %a) <{tolerance = 5.000000e-01 : f64}> : (tensor<2xf32>, tensor<2xf32>) -> ()
  check.expect_almost_eq %0, %a, tolerance = 5.0e-01 : tensor<2xf32>
  // CHECK-NEXT: %1 = "interpreter.probe"(%0) <{probe_id = "x"}> : (tensor<2xf32>) -> tensor<2xf32>
  %1 = interpreter.probe %0, probe_id = "x" : tensor<2xf32>
  return %1 : tensor<2xf32>
}
