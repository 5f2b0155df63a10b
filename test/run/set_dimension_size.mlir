// RUN: xla-run %s --all-functions --backend reference

// Arrays that hold fewer elements than they have room for: what is beyond takes part in nothing.

func.func @worked() {
  %x = xla.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0]> : tensor<10xf32>
  %five = xla.constant dense<5> : tensor<i32>
  %six = xla.constant dense<6> : tensor<i32>
  %zero = xla.constant dense<0.0> : tensor<f32>
  %one = xla.constant dense<1.0> : tensor<f32>
  %first = xla.set_dimension_size %x, %five {dimension = 0} : (tensor<10xf32>, tensor<i32>) -> tensor<?xf32, #xla.layout<{0}, bounds = [10]>>
  %second = xla.set_dimension_size %x, %six {dimension = 0} : (tensor<10xf32>, tensor<i32>) -> tensor<?xf32, #xla.layout<{0}, bounds = [10]>>
  %sum = xla.reduce %first, %zero {dimensions = [0]} : (tensor<?xf32, #xla.layout<{0}, bounds = [10]>>, tensor<f32>) -> tensor<f32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %c = xla.add %a, %b : tensor<f32>
    xla.return %c : tensor<f32>
  }
  check.expect_eq_const %sum, dense<15.0> : tensor<f32>
  %product = xla.reduce %first, %one {dimensions = [0]} : (tensor<?xf32, #xla.layout<{0}, bounds = [10]>>, tensor<f32>) -> tensor<f32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %c = xla.multiply %a, %b : tensor<f32>
    xla.return %c : tensor<f32>
  }
  check.expect_eq_const %product, dense<120.0> : tensor<f32>
  %more = xla.reduce %second, %zero {dimensions = [0]} : (tensor<?xf32, #xla.layout<{0}, bounds = [10]>>, tensor<f32>) -> tensor<f32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %c = xla.add %a, %b : tensor<f32>
    xla.return %c : tensor<f32>
  }
  check.expect_eq_const %more, dense<21.0> : tensor<f32>
  func.return
}

// for f32 in types
func.func @types() -> tensor<f32> {
  %0 = xla.constant dense<[1, 0, 1, 100, 1]> : tensor<5xi64>
  %x = xla.convert %0 : (tensor<5xi64>) -> tensor<5xf32>
  %1 = xla.constant dense<0> : tensor<i64>
  %zero = xla.convert %1 : (tensor<i64>) -> tensor<f32>
  %three = xla.constant dense<3> : tensor<i32>
  %part = xla.set_dimension_size %x, %three {dimension = 0} : (tensor<5xf32>, tensor<i32>) -> tensor<?xf32, #xla.layout<{0}, bounds = [5]>>
  %sum = xla.reduce %part, %zero {dimensions = [0]} : (tensor<?xf32, #xla.layout<{0}, bounds = [5]>>, tensor<f32>) -> tensor<f32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %c = xla.add %a, %b : tensor<f32>
    xla.return %c : tensor<f32>
  }
  func.return %sum : tensor<f32>
}

// No element at all, and all of them.
func.func @limits() -> (tensor<f32>, tensor<f32>) {
  %x = xla.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %seven = xla.constant dense<7.0> : tensor<f32>
  %none = xla.constant dense<0> : tensor<i32>
  %three = xla.constant dense<3> : tensor<i32>
  %nothing = xla.set_dimension_size %x, %none {dimension = 0} : (tensor<3xf32>, tensor<i32>) -> tensor<?xf32, #xla.layout<{0}, bounds = [3]>>
  %all = xla.set_dimension_size %x, %three {dimension = 0} : (tensor<3xf32>, tensor<i32>) -> tensor<?xf32, #xla.layout<{0}, bounds = [3]>>
  %initial = xla.reduce %nothing, %seven {dimensions = [0]} : (tensor<?xf32, #xla.layout<{0}, bounds = [3]>>, tensor<f32>) -> tensor<f32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %c = xla.add %a, %b : tensor<f32>
    xla.return %c : tensor<f32>
  }
  check.expect_eq_const %initial, dense<7.0> : tensor<f32>
  %sum = xla.reduce %all, %seven {dimensions = [0]} : (tensor<?xf32, #xla.layout<{0}, bounds = [3]>>, tensor<f32>) -> tensor<f32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %c = xla.add %a, %b : tensor<f32>
    xla.return %c : tensor<f32>
  }
  check.expect_eq_const %sum, dense<13.0> : tensor<f32>
  func.return %initial, %sum : tensor<f32>, tensor<f32>
}
