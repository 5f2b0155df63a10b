// RUN: xla-run %s --all-functions --backend reference

// Sizes that are data.

func.func @worked() {
  %x = xla.iota {iota_dimension = 0} : tensor<6xi32>
  %two = xla.constant dense<2> : tensor<i32>
  %three = xla.constant dense<3> : tensor<i32>
  %0 = xla.dynamic_reshape %x, %two, %three : (tensor<6xi32>, tensor<i32>, tensor<i32>) -> tensor<?x?xi32, #xla.layout<{1,0}, bounds = [2, 3]>>
  %rows = xla.get_dimension_size %0 {dimension = 0} : (tensor<?x?xi32, #xla.layout<{1,0}, bounds = [2, 3]>>) -> tensor<i32>
  check.expect_eq_const %rows, dense<2> : tensor<i32>
  %zero = xla.constant dense<0> : tensor<i32>
  %sum = xla.reduce %0, %zero {dimensions = [0, 1]} : (tensor<?x?xi32, #xla.layout<{1,0}, bounds = [2, 3]>>, tensor<i32>) -> tensor<i32> to_apply (%a: tensor<i32>, %b: tensor<i32>) {
    %c = xla.add %a, %b : tensor<i32>
    xla.return %c : tensor<i32>
  }
  check.expect_eq_const %sum, dense<15> : tensor<i32>
  func.return
}

// for f32 in types
func.func @types() -> tensor<f32> {
  %0 = xla.constant dense<[1, 0, 1, 100, 1, -1]> : tensor<6xi64>
  %1 = xla.constant dense<0> : tensor<i64>
  %x = xla.convert %0 : (tensor<6xi64>) -> tensor<6xf32>
  %zero = xla.convert %1 : (tensor<i64>) -> tensor<f32>
  %two = xla.constant dense<2> : tensor<i32>
  %three = xla.constant dense<3> : tensor<i32>
  %reshaped = xla.dynamic_reshape %x, %two, %three : (tensor<6xf32>, tensor<i32>, tensor<i32>) -> tensor<?x?xf32, #xla.layout<{1,0}, bounds = [2, 3]>>
  %sum = xla.reduce %reshaped, %zero {dimensions = [0, 1]} : (tensor<?x?xf32, #xla.layout<{1,0}, bounds = [2, 3]>>, tensor<f32>) -> tensor<f32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %c = xla.add %a, %b : tensor<f32>
    xla.return %c : tensor<f32>
  }
  func.return %sum : tensor<f32>
}
