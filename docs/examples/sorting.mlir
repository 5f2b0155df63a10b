func.func @sort() -> (tensor<2xi32>, tensor<2xi32>, tensor<2xf32>) {
  %x = xla.constant dense<[3, 1]> : tensor<2xi32>
  %y = xla.constant dense<[42, 50]> : tensor<2xi32>
  %z = xla.constant dense<[-3.0, 1.1]> : tensor<2xf32>
  %0, %1, %2 = xla.sort %x, %y, %z {dimension = 0} : (tensor<2xi32>, tensor<2xi32>, tensor<2xf32>) -> (tensor<2xi32>, tensor<2xi32>, tensor<2xf32>) to_apply (%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i32>, %d: tensor<i32>, %e: tensor<f32>, %f: tensor<f32>) {
    %less = xla.compare %a, %b {direction = LT} : (tensor<i32>, tensor<i32>) -> tensor<i1>
    xla.return %less : tensor<i1>
  }
  // 2xi32=[1, 3]
  // 2xi32=[50, 42]
  // 2xf32=[1.1, -3.0]
  func.return %0, %1, %2 : tensor<2xi32>, tensor<2xi32>, tensor<2xf32>
}

// -----

func.func @topk() -> (tensor<2xi32>, tensor<2xi32>) {
  %x = xla.constant dense<[3, 1, 3, 2]> : tensor<4xi32>
  %values, %indices = xla.topk %x {k = 2} : (tensor<4xi32>) -> (tensor<2xi32>, tensor<2xi32>)
  // 2xi32=[3, 3]
  // 2xi32=[0, 2]
  func.return %values, %indices : tensor<2xi32>, tensor<2xi32>
}
