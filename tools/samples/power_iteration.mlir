module @power_iteration attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<200x200xf32>, %arg1: tensor<200xf32>) -> (tensor<200xf32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0:3 = stablehlo.while(%iterArg = %arg0, %iterArg_0 = %c, %iterArg_1 = %arg1) : tensor<200x200xf32>, tensor<i32>, tensor<200xf32>
    cond {
      %c_2 = stablehlo.constant dense<20> : tensor<i32>
      %1 = stablehlo.compare LT, %iterArg_0, %c_2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1 = func.call @closed_call(%iterArg, %iterArg_1) : (tensor<200x200xf32>, tensor<200xf32>) -> tensor<200xf32>
      %c_2 = stablehlo.constant dense<1> : tensor<i32>
      %2 = stablehlo.add %iterArg_0, %c_2 : tensor<i32>
      stablehlo.return %iterArg, %2, %1 : tensor<200x200xf32>, tensor<i32>, tensor<200xf32>
    }
    return %0#2 : tensor<200xf32>
  }
  func.func private @closed_call(%arg0: tensor<200x200xf32>, %arg1: tensor<200xf32>) -> tensor<200xf32> {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<200x200xf32>, tensor<200xf32>) -> tensor<200xf32>
    %1 = stablehlo.multiply %0, %0 : tensor<200xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.reduce(%1 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<200xf32>, tensor<f32>) -> tensor<f32>
    %3 = stablehlo.sqrt %2 : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f32>) -> tensor<200xf32>
    %5 = stablehlo.divide %0, %4 : tensor<200xf32>
    return %5 : tensor<200xf32>
  }
}
