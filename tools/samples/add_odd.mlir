module @add_odd attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<7x13x1001xf32>, %arg1: tensor<7x1001xf32>) -> (tensor<7x13x1001xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [0, 2] : (tensor<7x1001xf32>) -> tensor<7x1x1001xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1, 2] : (tensor<7x1x1001xf32>) -> tensor<7x13x1001xf32>
    %2 = stablehlo.add %arg0, %1 : tensor<7x13x1001xf32>
    return %2 : tensor<7x13x1001xf32>
  }
}
