func.func @clamp() -> tensor<3xi32> {
  %min = xla.constant dense<0> : tensor<i32>
  %x = xla.constant dense<[-1, 5, 9]> : tensor<3xi32>
  %max = xla.constant dense<6> : tensor<i32>
  %result = xla.clamp %min, %x, %max : (tensor<i32>, tensor<3xi32>, tensor<i32>) -> tensor<3xi32>
  // 3xi32=[0, 5, 6]
  func.return %result : tensor<3xi32>
}

// -----

func.func @select() -> tensor<4xi32> {
  %pred = xla.constant dense<[true, false, false, true]> : tensor<4xi1>
  %on_true = xla.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %on_false = xla.constant dense<[100, 200, 300, 400]> : tensor<4xi32>
  %result = xla.select %pred, %on_true, %on_false : (tensor<4xi1>, tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // 4xi32=[1, 200, 300, 4]
  func.return %result : tensor<4xi32>
}
