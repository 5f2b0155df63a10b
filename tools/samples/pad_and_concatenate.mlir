module @pad_and_concatenate attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<101x203xf32>, %arg1: tensor<17x202xf32>) -> (tensor<71x205xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.slice %arg0 [0:101:2, 1:203] : (tensor<101x203xf32>) -> tensor<51x202xf32>
    %1 = stablehlo.concatenate %0, %arg1, dim = 0 : (tensor<51x202xf32>, tensor<17x202xf32>) -> tensor<68x202xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %2 = call @_pad(%1, %c) : (tensor<68x202xf32>, tensor<i32>) -> tensor<71x205xf32>
    return %2 : tensor<71x205xf32>
  }
  func.func private @_pad(%arg0: tensor<68x202xf32>, %arg1: tensor<i32>) -> tensor<71x205xf32> {
    %0 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.pad %arg0, %0, low = [1, 0], high = [2, 3], interior = [0, 0] : (tensor<68x202xf32>, tensor<f32>) -> tensor<71x205xf32>
    return %1 : tensor<71x205xf32>
  }
}
