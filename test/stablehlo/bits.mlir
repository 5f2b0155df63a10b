// RUN: xla-run %s --all-functions --backend reference
// RUN: xla-run %s --all-functions --backend llvm

// In StableHLO i1 is one bit wide: element i of a row is bit i, from the least significant one.

func.func @floats() {
  %x = stablehlo.constant dense<[1.0, -2.5]> : tensor<2xf32>
  %b = stablehlo.bitcast_convert %x : (tensor<2xf32>) -> tensor<2x32xi1>
  %y = stablehlo.bitcast_convert %b : (tensor<2x32xi1>) -> tensor<2xf32>
  check.expect_eq %x, %y : tensor<2xf32>
  %sign = stablehlo.slice %b [0:2, 31:32] : (tensor<2x32xi1>) -> tensor<2x1xi1>
  check.expect_eq_const %sign, dense<[[false], [true]]> : tensor<2x1xi1>
  func.return
}

func.func @narrow() {
  %i = stablehlo.constant dense<[5, -8]> : tensor<2xi4>
  %j = stablehlo.bitcast_convert %i : (tensor<2xi4>) -> tensor<2x4xi1>
  check.expect_eq_const %j, dense<[[true, false, true, false], [false, false, false, true]]> : tensor<2x4xi1>
  %k = stablehlo.bitcast_convert %j : (tensor<2x4xi1>) -> tensor<2xi4>
  check.expect_eq %i, %k : tensor<2xi4>
  func.return
}
