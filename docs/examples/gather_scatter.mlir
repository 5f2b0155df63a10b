func.func @gather() -> tensor<2x3xi32> {
  %operand = xla.constant dense<[[1, 2, 3], [4, 5, 6], [7, 8, 9]]> : tensor<3x3xi32>
  %indices = xla.constant dense<[2, 5]> : tensor<2xi32>
  %result = xla.gather %operand, %indices {offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1, slice_sizes = [1, 3]} : (tensor<3x3xi32>, tensor<2xi32>) -> tensor<2x3xi32>
  // 2x3xi32=[[7, 8, 9], [7, 8, 9]]
  func.return %result : tensor<2x3xi32>
}

// -----

func.func @scatter() -> tensor<3x3xi32> {
  %operand = xla.constant dense<[[1, 2, 3], [4, 5, 6], [7, 8, 9]]> : tensor<3x3xi32>
  %indices = xla.constant dense<[2, 5]> : tensor<2xi32>
  %updates = xla.constant dense<[[10, 20, 30], [70, 80, 90]]> : tensor<2x3xi32>
  %result = xla.scatter %operand, %indices, %updates {update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1} : (tensor<3x3xi32>, tensor<2xi32>, tensor<2x3xi32>) -> tensor<3x3xi32> to_apply (%a: tensor<i32>, %b: tensor<i32>) {
    %c = xla.add %a, %b : tensor<i32>
    xla.return %c : tensor<i32>
  }
  // 3x3xi32=[[1, 2, 3], [4, 5, 6], [17, 28, 39]]
  func.return %result : tensor<3x3xi32>
}
