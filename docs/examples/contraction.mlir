func.func @dot() -> tensor<2x2xf32> {
  %lhs = xla.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %rhs = xla.constant dense<[[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]]> : tensor<2x3xf32>
  %result = xla.dot %lhs, %rhs {lhs_contracting_dims = [1], rhs_contracting_dims = [1]} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x2xf32>
  // 2x2xf32=[[6.0, 12.0], [15.0, 30.0]]
  func.return %result : tensor<2x2xf32>
}

// -----

func.func @ragged_dot() -> tensor<3x1xi32> {
  %lhs = xla.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32>
  %rhs = xla.constant dense<[[[1], [1]], [[10], [100]]]> : tensor<2x2x1xi32>
  %group_sizes = xla.constant dense<[1, 2]> : tensor<2xi32>
  %result = xla.ragged_dot %lhs, %rhs, %group_sizes {lhs_contracting_dims = [1], rhs_contracting_dims = [1], lhs_ragged_dims = [0], rhs_group_dims = [0]} : (tensor<3x2xi32>, tensor<2x2x1xi32>, tensor<2xi32>) -> tensor<3x1xi32>
  // 3x1xi32=[[3], [430], [650]]
  func.return %result : tensor<3x1xi32>
}

// -----

func.func @scaled_dot() -> tensor<1x1xf32> {
  %lhs = xla.constant dense<[[1.0, 2.0, 3.0, 4.0]]> : tensor<1x4xf32>
  %rhs = xla.constant dense<[[1.0], [1.0], [1.0], [1.0]]> : tensor<4x1xf32>
  %lhs_scale = xla.constant dense<[[10.0, 0.5]]> : tensor<1x2xf32>
  %rhs_scale = xla.constant dense<1.0> : tensor<f32>
  %result = xla.scaled_dot %lhs, %rhs, %lhs_scale, %rhs_scale {lhs_contracting_dims = [1], rhs_contracting_dims = [0]} : (tensor<1x4xf32>, tensor<4x1xf32>, tensor<1x2xf32>, tensor<f32>) -> tensor<1x1xf32>
  // 1x1xf32=[[33.5]]
  func.return %result : tensor<1x1xf32>
}

// -----

func.func @convolution() -> tensor<1x1x3x3xf32> {
  %lhs = xla.constant dense<[[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]]]> : tensor<1x1x3x3xf32>
  %rhs = xla.constant dense<[[[[1.0, 2.0], [3.0, 4.0]]]]> : tensor<1x1x2x2xf32>
  %result = xla.convolution %lhs, %rhs {window = #xla.window<size=2x2 pad=0_1x0_1>, dim_labels = #xla.dim_labels<bf01_oi01->bf01>} : (tensor<1x1x3x3xf32>, tensor<1x1x2x2xf32>) -> tensor<1x1x3x3xf32>
  // 1x1x3x3xf32=[[[[37.0, 47.0, 21.0], [67.0, 77.0, 33.0], [23.0, 26.0, 9.0]]]]
  func.return %result : tensor<1x1x3x3xf32>
}
