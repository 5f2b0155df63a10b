module @matmul_odd attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<125x333xf32>, %arg1: tensor<333x127xf32>) -> (tensor<125x127xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<125x333xf32>, tensor<333x127xf32>) -> tensor<125x127xf32>
    return %0 : tensor<125x127xf32>
  }
}
