module @scalars attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<f32>, %arg1: tensor<f32>) -> (tensor<f32> {jax.result_info = "result"}) {
    %0 = stablehlo.compare GT, %arg0, %arg1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %1 = stablehlo.multiply %arg0, %arg1 : tensor<f32>
    %2 = stablehlo.abs %arg1 : tensor<f32>
    %3 = stablehlo.sqrt %2 : tensor<f32>
    %4 = call @_where(%0, %1, %3) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
    return %4 : tensor<f32>
  }
  func.func private @_where(%arg0: tensor<i1>, %arg1: tensor<f32>, %arg2: tensor<f32>) -> tensor<f32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<f32>
    return %0 : tensor<f32>
  }
}
