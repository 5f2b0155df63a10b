func.func @reduce() -> tensor<2xi32> {
  %x = xla.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %zero = xla.constant dense<0> : tensor<i32>
  %result = xla.reduce %x, %zero {dimensions = [1]} : (tensor<2x3xi32>, tensor<i32>) -> tensor<2xi32> to_apply (%a: tensor<i32>, %b: tensor<i32>) {
    %c = xla.add %a, %b : tensor<i32>
    xla.return %c : tensor<i32>
  }
  // 2xi32=[6, 15]
  func.return %result : tensor<2xi32>
}

// -----

func.func @reduce_window() -> tensor<2x2xf32> {
  %x = xla.constant dense<[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0, 11.0], [12.0, 13.0, 14.0, 15.0, 16.0, 17.0], [18.0, 19.0, 20.0, 21.0, 22.0, 23.0]]> : tensor<4x6xf32>
  %smallest = xla.constant dense<0xFF800000> : tensor<f32>
  %result = xla.reduce_window %x, %smallest {window = #xla.window<size=2x3 stride=2x3>} : (tensor<4x6xf32>, tensor<f32>) -> tensor<2x2xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %c = xla.maximum %a, %b : tensor<f32>
    xla.return %c : tensor<f32>
  }
  // 2x2xf32=[[8.0, 11.0], [20.0, 23.0]]
  func.return %result : tensor<2x2xf32>
}

// -----

func.func @select_and_scatter() -> tensor<4x5xf32> {
  %operand = xla.constant dense<[[7.0, 2.0, 5.0, 3.0, 8.0], [3.0, 8.0, 9.0, 3.0, 4.0], [1.0, 5.0, 7.0, 5.0, 6.0], [0.0, 6.0, 2.0, 10.0, 2.0]]> : tensor<4x5xf32>
  %source = xla.constant dense<[[2.0, 6.0], [3.0, 1.0]]> : tensor<2x2xf32>
  %zero = xla.constant dense<0.0> : tensor<f32>
  %result = xla.select_and_scatter %operand, %source, %zero {window = #xla.window<size=2x3 stride=2x2>} : (tensor<4x5xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x5xf32> select (%a: tensor<f32>, %b: tensor<f32>) {
    %first = xla.compare %a, %b {direction = GE} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    xla.return %first : tensor<i1>
  } scatter (%a: tensor<f32>, %b: tensor<f32>) {
    %c = xla.add %a, %b : tensor<f32>
    xla.return %c : tensor<f32>
  }
  // 4x5xf32=[[0.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 8.0, 0.0, 0.0], [0.0, 0.0, 3.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0, 0.0]]
  func.return %result : tensor<4x5xf32>
}

// -----

func.func @map() -> tensor<3xi32> {
  %x = xla.constant dense<[1, 2, 3]> : tensor<3xi32>
  %y = xla.constant dense<[10, 20, 30]> : tensor<3xi32>
  %result = xla.map %x, %y {dimensions = [0]} : tensor<3xi32> to_apply (%a: tensor<i32>, %b: tensor<i32>) {
    %product = xla.multiply %a, %b : tensor<i32>
    %sum = xla.add %product, %a : tensor<i32>
    xla.return %sum : tensor<i32>
  }
  // 3xi32=[11, 42, 93]
  func.return %result : tensor<3xi32>
}
