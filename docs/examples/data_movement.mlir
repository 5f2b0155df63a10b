func.func @broadcast() -> tensor<2x3xi32> {
  %x = xla.constant dense<[7, 8, 9]> : tensor<3xi32>
  %result = xla.broadcast %x {dimensions = [1]} : (tensor<3xi32>) -> tensor<2x3xi32>
  // 2x3xi32=[[7, 8, 9], [7, 8, 9]]
  func.return %result : tensor<2x3xi32>
}

// -----

func.func @reshape() -> tensor<3x2xi32> {
  %x = xla.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %result = xla.reshape %x : (tensor<2x3xi32>) -> tensor<3x2xi32>
  // 3x2xi32=[[1, 2], [3, 4], [5, 6]]
  func.return %result : tensor<3x2xi32>
}

// -----

func.func @transpose() -> tensor<3x2xi32> {
  %x = xla.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %result = xla.transpose %x {dimensions = [1, 0]} : (tensor<2x3xi32>) -> tensor<3x2xi32>
  // 3x2xi32=[[1, 4], [2, 5], [3, 6]]
  func.return %result : tensor<3x2xi32>
}

// -----

func.func @slice() -> tensor<2x2xi32> {
  %x = xla.constant dense<[[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]]> : tensor<4x3xi32>
  %result = xla.slice %x {start_indices = [2, 1], limit_indices = [4, 3], strides = [1, 1]} : (tensor<4x3xi32>) -> tensor<2x2xi32>
  // 2x2xi32=[[7, 8], [10, 11]]
  func.return %result : tensor<2x2xi32>
}

// -----

func.func @concatenate() -> tensor<4x2xi32> {
  %a = xla.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32>
  %b = xla.constant dense<[[7, 8]]> : tensor<1x2xi32>
  %result = xla.concatenate %a, %b {dimension = 0} : (tensor<3x2xi32>, tensor<1x2xi32>) -> tensor<4x2xi32>
  // 4x2xi32=[[1, 2], [3, 4], [5, 6], [7, 8]]
  func.return %result : tensor<4x2xi32>
}

// -----

func.func @pad() -> tensor<6xi32> {
  %x = xla.constant dense<[1, 2, 3]> : tensor<3xi32>
  %value = xla.constant dense<0> : tensor<i32>
  %result = xla.pad %x, %value {edge_padding_low = [-1], edge_padding_high = [2], interior_padding = [1]} : (tensor<3xi32>, tensor<i32>) -> tensor<6xi32>
  // 6xi32=[0, 2, 0, 3, 0, 0]
  func.return %result : tensor<6xi32>
}

// -----

func.func @reverse() -> tensor<2x3xi32> {
  %x = xla.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %result = xla.reverse %x {dimensions = [0, 1]} : tensor<2x3xi32>
  // 2x3xi32=[[6, 5, 4], [3, 2, 1]]
  func.return %result : tensor<2x3xi32>
}

// -----

func.func @dynamic_slice() -> tensor<2xi32> {
  %x = xla.constant dense<[0, 1, 2, 3, 4]> : tensor<5xi32>
  %start = xla.constant dense<4> : tensor<i32>
  %result = xla.dynamic_slice %x, %start {dynamic_slice_sizes = [2]} : (tensor<5xi32>, tensor<i32>) -> tensor<2xi32>
  // 2xi32=[3, 4]
  func.return %result : tensor<2xi32>
}

// -----

func.func @dynamic_update_slice() -> tensor<5xi32> {
  %x = xla.constant dense<[0, 1, 2, 3, 4]> : tensor<5xi32>
  %update = xla.constant dense<[5, 6]> : tensor<2xi32>
  %start = xla.constant dense<9> : tensor<i32>
  %result = xla.dynamic_update_slice %x, %update, %start : (tensor<5xi32>, tensor<2xi32>, tensor<i32>) -> tensor<5xi32>
  // 5xi32=[0, 1, 2, 5, 6]
  func.return %result : tensor<5xi32>
}

// -----

func.func @copy() -> tensor<2x3xi32> {
  %x = xla.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %result = xla.copy %x : tensor<2x3xi32>
  // 2x3xi32=[[1, 2, 3], [4, 5, 6]]
  func.return %result : tensor<2x3xi32>
}

// -----

func.func @bitcast() -> tensor<2xi32> {
  %x = xla.constant dense<[1.0, -0.0]> : tensor<2xf32>
  %result = xla.bitcast %x : (tensor<2xf32>) -> tensor<2xi32>
  // 2xi32=[1065353216, -2147483648]
  func.return %result : tensor<2xi32>
}
