module @transpose_odd attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<33x65x127xf32>) -> (tensor<127x33x65xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.transpose %arg0, dims = [2, 0, 1] : (tensor<33x65x127xf32>) -> tensor<127x33x65xf32>
    return %0 : tensor<127x33x65xf32>
  }
}
