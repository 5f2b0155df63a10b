// RUN: xla-opt %s -t stablehlo | filecheck %s

// A domain says where its operand is, which nothing of StableHLO asks.
// CHECK-LABEL: @domain(
// CHECK-NEXT:    return %x : tensor<2xf32>
func.func @domain(%x: tensor<2xf32>) -> tensor<2xf32> {
  %there = xla.domain %x {domain = "{kind=\22sharding\22, entry={replicated}, exit={replicated}}"} : tensor<2xf32>
  func.return %there : tensor<2xf32>
}

// The call that JAX writes for it.
// CHECK-LABEL: @ragged_all_to_all(
// CHECK-NEXT:    %ragged = stablehlo.custom_call @ragged_all_to_all(%k, %k, %n, %n, %n, %n)
// CHECK-SAME:      {api_version = 4 : i32, backend_config = {replica_groups = dense<{{\[\[}}0, 1]]> : tensor<1x2xi64>}}
func.func @ragged_all_to_all(%k: tensor<3xi32>, %n: tensor<2xi32>) -> tensor<3xi32> {
  %ragged = xla.ragged_all_to_all %k, %k, %n, %n, %n, %n {replica_groups = #xla.replica_groups<{{0,1}}>} : (tensor<3xi32>, tensor<3xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<3xi32>
  func.return %ragged : tensor<3xi32>
}
