// RUN: xla-opt %s | filecheck %s --check-prefix=XLA
// RUN: xla-opt %s -t stablehlo | filecheck %s --check-prefix=STABLEHLO

// XLA-LABEL: @linear_algebra(
// STABLEHLO-LABEL: @linear_algebra(
func.func @linear_algebra(%a: tensor<4x4xcomplex<f32>>, %b: tensor<4x2xcomplex<f32>>, %x: tensor<3x8xf32>) {
  // XLA: %spectrum = xla.fft %x {fft_type = RFFT, fft_length = [8]} : (tensor<3x8xf32>) -> tensor<3x5xcomplex<f32>>
  // STABLEHLO: %spectrum = stablehlo.fft %x, type = RFFT, length = [8] : (tensor<3x8xf32>) -> tensor<3x5xcomplex<f32>>
  %spectrum = stablehlo.fft %x, type = RFFT, length = [8] : (tensor<3x8xf32>) -> tensor<3x5xcomplex<f32>>
  // XLA: %signal = xla.fft %a {fft_type = IRFFT, fft_length = [6]} : (tensor<4x4xcomplex<f32>>) -> tensor<4x6xf32>
  // STABLEHLO: %signal = stablehlo.fft %a, type = IRFFT, length = [6] : (tensor<4x4xcomplex<f32>>) -> tensor<4x6xf32>
  %signal = stablehlo.fft %a, type = IRFFT, length = [6] : (tensor<4x4xcomplex<f32>>) -> tensor<4x6xf32>
  // XLA: %factor = xla.cholesky %a {lower = true} : tensor<4x4xcomplex<f32>>
  // STABLEHLO: %factor = stablehlo.cholesky %a, lower = true : tensor<4x4xcomplex<f32>>
  %factor = stablehlo.cholesky %a, lower = true : tensor<4x4xcomplex<f32>>
  // XLA: %solution = xla.triangular_solve %a, %b {left_side = true, transpose_a = ADJOINT} : (tensor<4x4xcomplex<f32>>, tensor<4x2xcomplex<f32>>) -> tensor<4x2xcomplex<f32>>
  // STABLEHLO: %solution = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = false, transpose_a = #stablehlo<transpose ADJOINT>, unit_diagonal = false}> : (tensor<4x4xcomplex<f32>>, tensor<4x2xcomplex<f32>>) -> tensor<4x2xcomplex<f32>>
  %solution = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = false, transpose_a = #stablehlo<transpose ADJOINT>, unit_diagonal = false}> : (tensor<4x4xcomplex<f32>>, tensor<4x2xcomplex<f32>>) -> tensor<4x2xcomplex<f32>>
  return
}
