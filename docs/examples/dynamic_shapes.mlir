func.func @get_dimension_size() -> tensor<i32> {
  %x = xla.iota {iota_dimension = 0} : tensor<10xf32>
  %five = xla.constant dense<5> : tensor<i32>
  %part = xla.set_dimension_size %x, %five {dimension = 0} : (tensor<10xf32>, tensor<i32>) -> tensor<?xf32, #xla.layout<{0}, bounds = [10]>>
  %result = xla.get_dimension_size %part {dimension = 0} : (tensor<?xf32, #xla.layout<{0}, bounds = [10]>>) -> tensor<i32>
  // i32=5
  func.return %result : tensor<i32>
}

// -----

func.func @set_dimension_size() -> tensor<f32> {
  %x = xla.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0]> : tensor<10xf32>
  %five = xla.constant dense<5> : tensor<i32>
  %part = xla.set_dimension_size %x, %five {dimension = 0} : (tensor<10xf32>, tensor<i32>) -> tensor<?xf32, #xla.layout<{0}, bounds = [10]>>
  %zero = xla.constant dense<0.0> : tensor<f32>
  %result = xla.reduce %part, %zero {dimensions = [0]} : (tensor<?xf32, #xla.layout<{0}, bounds = [10]>>, tensor<f32>) -> tensor<f32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %sum = xla.add %a, %b : tensor<f32>
    xla.return %sum : tensor<f32>
  }
  // f32=15.0
  func.return %result : tensor<f32>
}

// -----

func.func @dynamic_reshape() -> tensor<?x?xi32, #xla.layout<{1,0}, bounds = [2, 3]>> {
  %x = xla.iota {iota_dimension = 0} : tensor<6xi32>
  %two = xla.constant dense<2> : tensor<i32>
  %three = xla.constant dense<3> : tensor<i32>
  %result = xla.dynamic_reshape %x, %two, %three : (tensor<6xi32>, tensor<i32>, tensor<i32>) -> tensor<?x?xi32, #xla.layout<{1,0}, bounds = [2, 3]>>
  // 2x3xi32=[[0, 1, 2], [3, 4, 5]]
  func.return %result : tensor<?x?xi32, #xla.layout<{1,0}, bounds = [2, 3]>>
}
