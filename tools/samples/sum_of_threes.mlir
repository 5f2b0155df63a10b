module @sum_of_threes attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<30001x3xf32>) -> (tensor<30001xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<30001x3xf32>, tensor<f32>) -> tensor<30001xf32>
    return %0 : tensor<30001xf32>
  }
}
