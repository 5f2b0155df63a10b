func.func @fft() -> tensor<3xcomplex<f32>> {
  %x = xla.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %result = xla.fft %x {fft_type = RFFT, fft_length = [4]} : (tensor<4xf32>) -> tensor<3xcomplex<f32>>
  // 3xcomplex<f32>=[10, -2+2j, -2]
  func.return %result : tensor<3xcomplex<f32>>
}

// -----

func.func @cholesky() -> tensor<2x2xf32> {
  %a = xla.constant dense<[[4.0, 0x7FC00000], [2.0, 5.0]]> : tensor<2x2xf32>
  %result = xla.cholesky %a {lower = true} : tensor<2x2xf32>
  // 2x2xf32=[[2.0, 0.0], [1.0, 2.0]]
  func.return %result : tensor<2x2xf32>
}

// -----

func.func @triangular_solve() -> tensor<2x1xf32> {
  %a = xla.constant dense<[[2.0, 99.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %b = xla.constant dense<[[2.0], [11.0]]> : tensor<2x1xf32>
  %result = xla.triangular_solve %a, %b {left_side = true, lower = true, transpose_a = NO_TRANSPOSE} : (tensor<2x2xf32>, tensor<2x1xf32>) -> tensor<2x1xf32>
  // 2x1xf32=[[1.0], [2.0]]
  func.return %result : tensor<2x1xf32>
}
