// RUN: xla-opt %s | filecheck %s --check-prefix=XLA
// RUN: xla-opt %s -t stablehlo | filecheck %s --check-prefix=STABLEHLO

// A future is the context of HLO's operation.
// XLA-LABEL: @asynchronous(
// STABLEHLO-LABEL: @asynchronous(
func.func @asynchronous(%x: tensor<2xf32>) -> tensor<4xf32> {
  // XLA: %begun = xla.async_start %x : (tensor<2xf32>) -> tuple<tuple<tensor<2xf32>>, tensor<4xf32>, tensor<i32>> calls (%a: tensor<2xf32>) {
  // XLA-NEXT: %all = xla.all_gather %a {{.*}} : (tensor<2xf32>) -> tensor<4xf32>
  // STABLEHLO: %begun = "stablehlo.async_start"(%x) ({
  %begun = "stablehlo.async_start"(%x) ({
  ^bb0(%a: tensor<2xf32>):
    %all = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2xf32>) -> tensor<4xf32>
    stablehlo.return %all : tensor<4xf32>
  }) : (tensor<2xf32>) -> !stablehlo.future<tensor<4xf32>>
  // XLA: %result = xla.async_done %begun : (tuple<tuple<tensor<2xf32>>, tensor<4xf32>, tensor<i32>>) -> tensor<4xf32>
  // STABLEHLO: %result = "stablehlo.async_done"(%begun) : (!stablehlo.future<tensor<4xf32>>) -> tensor<4xf32>
  %result = "stablehlo.async_done"(%begun) : (!stablehlo.future<tensor<4xf32>>) -> tensor<4xf32>
  return %result : tensor<4xf32>
}
