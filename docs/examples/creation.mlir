func.func @constant() -> tensor<2x2xf32> {
  %result = xla.constant dense<[[1.0, 2.5], [-0.0, 0x7F800000]]> : tensor<2x2xf32>
  // 2x2xf32=[[1.0, 2.5], [-0.0, inf]]
  func.return %result : tensor<2x2xf32>
}

// -----

func.func @iota() -> tensor<2x4xi32> {
  %result = xla.iota {iota_dimension = 1} : tensor<2x4xi32>
  // 2x4xi32=[[0, 1, 2, 3], [0, 1, 2, 3]]
  func.return %result : tensor<2x4xi32>
}
