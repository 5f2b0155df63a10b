// RUN: xla-run %s --all-functions --backend reference

// More room at the edges and between elements; less of it where the padding of an edge is negative.

func.func @worked() {
  %x = xla.constant dense<[1, 2, 3]> : tensor<3xi32>
  %zero = xla.constant dense<0> : tensor<i32>
  %0 = xla.pad %x, %zero {edge_padding_low = [-1], edge_padding_high = [2], interior_padding = [1]} : (tensor<3xi32>, tensor<i32>) -> tensor<6xi32>
  check.expect_eq_const %0, dense<[0, 2, 0, 3, 0, 0]> : tensor<6xi32>
  %y = xla.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %nine = xla.constant dense<9> : tensor<i32>
  %1 = xla.pad %y, %nine {edge_padding_low = [1, 0], edge_padding_high = [0, 1], interior_padding = [0, 1]} : (tensor<2x2xi32>, tensor<i32>) -> tensor<3x4xi32>
  check.expect_eq_const %1, dense<[[9, 9, 9, 9], [1, 9, 2, 9], [3, 9, 4, 9]]> : tensor<3x4xi32>
  %spread = xla.pad %x, %zero {edge_padding_low = [1], edge_padding_high = [2], interior_padding = [1]} : (tensor<3xi32>, tensor<i32>) -> tensor<8xi32>
  check.expect_eq_const %spread, dense<[0, 1, 0, 2, 0, 3, 0, 0]> : tensor<8xi32>
  %cut = xla.pad %x, %zero {edge_padding_low = [-1], edge_padding_high = [-2], interior_padding = [2]} : (tensor<3xi32>, tensor<i32>) -> tensor<4xi32>
  check.expect_eq_const %cut, dense<[0, 0, 2, 0]> : tensor<4xi32>
  %only_first = xla.pad %x, %nine {edge_padding_low = [0], edge_padding_high = [-4], interior_padding = [1]} : (tensor<3xi32>, tensor<i32>) -> tensor<1xi32>
  check.expect_eq_const %only_first, dense<[1]> : tensor<1xi32>
  %both_cut = xla.pad %x, %nine {edge_padding_low = [-2], edge_padding_high = [-1], interior_padding = [1]} : (tensor<3xi32>, tensor<i32>) -> tensor<2xi32>
  check.expect_eq_const %both_cut, dense<[2, 9]> : tensor<2xi32>
  %nothing = xla.constant dense<> : tensor<0xi32>
  %edges = xla.pad %nothing, %nine {edge_padding_low = [1], edge_padding_high = [1], interior_padding = [5]} : (tensor<0xi32>, tensor<i32>) -> tensor<2xi32>
  check.expect_eq_const %edges, dense<[9, 9]> : tensor<2xi32>
  func.return
}

// for i32 in types
func.func @types() -> (tensor<6x10xi32>, tensor<2x3xi32>, tensor<7x4xi32>) {
  %0 = xla.constant dense<[[0, 1, -1, 2, 3], [4, 5, 6, 7, 8], [100, -100, 1, 0, 127]]> : tensor<3x5xi64>
  %1 = xla.constant dense<1> : tensor<i64>
  %x = xla.convert %0 : (tensor<3x5xi64>) -> tensor<3x5xi32>
  %one = xla.convert %1 : (tensor<i64>) -> tensor<i32>
  %edges = xla.pad %x, %one {edge_padding_low = [1, 2], edge_padding_high = [2, 3], interior_padding = [0, 0]} : (tensor<3x5xi32>, tensor<i32>) -> tensor<6x10xi32>
  %cut = xla.pad %x, %one {edge_padding_low = [-1, -1], edge_padding_high = [0, -1], interior_padding = [0, 0]} : (tensor<3x5xi32>, tensor<i32>) -> tensor<2x3xi32>
  %between = xla.pad %x, %one {edge_padding_low = [0, -3], edge_padding_high = [0, -2], interior_padding = [2, 1]} : (tensor<3x5xi32>, tensor<i32>) -> tensor<7x4xi32>
  func.return %edges, %cut, %between : tensor<6x10xi32>, tensor<2x3xi32>, tensor<7x4xi32>
}

func.func @layouts() -> tensor<5x4xf32, #xla.layout<{0,1}>> {
  %x = xla.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32, #xla.layout<{0,1}>>
  %nan = xla.constant dense<0x7FC00000> : tensor<f32>
  %0 = xla.pad %x, %nan {edge_padding_low = [1, -1], edge_padding_high = [1, 2], interior_padding = [1, 0]} : (tensor<2x3xf32, #xla.layout<{0,1}>>, tensor<f32>) -> tensor<5x4xf32, #xla.layout<{0,1}>>
  func.return %0 : tensor<5x4xf32, #xla.layout<{0,1}>>
}

// Of nothing, to nothing, and more cut off on one side than there is.
func.func @sizes() -> (tensor<f32>, tensor<3xf32>, tensor<0xf32>, tensor<2xf32>, tensor<2x3xf32>) {
  %scalar = xla.constant dense<-0.0> : tensor<f32>
  %same = xla.pad %scalar, %scalar {edge_padding_low = [], edge_padding_high = [], interior_padding = []} : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %nothing = xla.constant dense<> : tensor<0xf32>
  %filled = xla.pad %nothing, %scalar {edge_padding_low = [1], edge_padding_high = [2], interior_padding = [5]} : (tensor<0xf32>, tensor<f32>) -> tensor<3xf32>
  %x = xla.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %empty = xla.pad %x, %scalar {edge_padding_low = [-2], edge_padding_high = [-1], interior_padding = [0]} : (tensor<3xf32>, tensor<f32>) -> tensor<0xf32>
  %beyond = xla.pad %x, %scalar {edge_padding_low = [-5], edge_padding_high = [4], interior_padding = [0]} : (tensor<3xf32>, tensor<f32>) -> tensor<2xf32>
  %rows = xla.constant dense<> : tensor<0x3xf32>
  %only_padding = xla.pad %rows, %scalar {edge_padding_low = [2, 0], edge_padding_high = [0, 0], interior_padding = [0, 0]} : (tensor<0x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  func.return %same, %filled, %empty, %beyond, %only_padding : tensor<f32>, tensor<3xf32>, tensor<0xf32>, tensor<2xf32>, tensor<2x3xf32>
}
