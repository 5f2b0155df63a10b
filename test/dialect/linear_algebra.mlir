// RUN: xla-opt %s --split-input-file --verify-diagnostics | filecheck %s
// RUN: xla-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | xla-opt --split-input-file | filecheck %s

// CHECK-LABEL: @linear_algebra(
func.func @linear_algebra(%a: tensor<4x4xcomplex<f32>>, %b: tensor<4x2xcomplex<f32>>, %x: tensor<3x8xf32>) {
  // CHECK: %spectrum = xla.fft %x {fft_type = RFFT, fft_length = [8]} : (tensor<3x8xf32>) -> tensor<3x5xcomplex<f32>>
  %spectrum = xla.fft %x {fft_type = RFFT, fft_length = [8]} : (tensor<3x8xf32>) -> tensor<3x5xcomplex<f32>>
  // CHECK: %signal = xla.fft %a {fft_type = IRFFT, fft_length = [6]} : (tensor<4x4xcomplex<f32>>) -> tensor<4x6xf32>
  %signal = xla.fft %a {fft_type = IRFFT, fft_length = [6]} : (tensor<4x4xcomplex<f32>>) -> tensor<4x6xf32>
  // CHECK: %factor = xla.cholesky %a {lower = true} : tensor<4x4xcomplex<f32>>
  %factor = xla.cholesky %a {lower = true} : tensor<4x4xcomplex<f32>>
  // CHECK: %solution = xla.triangular_solve %a, %b {left_side = true, transpose_a = ADJOINT} : (tensor<4x4xcomplex<f32>>, tensor<4x2xcomplex<f32>>) -> tensor<4x2xcomplex<f32>>
  %solution = xla.triangular_solve %a, %b {left_side = true, transpose_a = ADJOINT} : (tensor<4x4xcomplex<f32>>, tensor<4x2xcomplex<f32>>) -> tensor<4x2xcomplex<f32>>
  func.return
}

// -----

func.func @fft_C1_1(%x: tensor<4xcomplex<f32>>) {
  // expected-error @+1 {{xla.fft: (C1) fft_length has 0 entries}}
  %0 = xla.fft %x {fft_type = FFT, fft_length = []} : tensor<4xcomplex<f32>>
  func.return
}

// -----

func.func @fft_C1_2(%x: tensor<1x1x1x1xcomplex<f32>>) {
  // expected-error @+1 {{xla.fft: (C1) fft_length has 4 entries}}
  %0 = xla.fft %x {fft_type = FFT, fft_length = [1, 1, 1, 1]} : tensor<1x1x1x1xcomplex<f32>>
  func.return
}

// -----

func.func @fft_C2(%x: tensor<4xcomplex<f32>>) {
  // expected-error @+1 {{xla.fft: (C2) rank 1 for 2 lengths}}
  %0 = xla.fft %x {fft_type = FFT, fft_length = [4, 4]} : tensor<4xcomplex<f32>>
  func.return
}

// -----

func.func @fft_C3(%x: tensor<4xcomplex<f32>>) {
  // expected-error @+1 {{xla.fft: (C3) fft_length is [-4]}}
  %0 = xla.fft %x {fft_type = FFT, fft_length = [-4]} : tensor<4xcomplex<f32>>
  func.return
}

// -----

func.func @fft_C4_1(%x: tensor<4xf32>) {
  // expected-error @+1 {{xla.fft: (C4) operand has element type f32, allowed: complex}}
  %0 = xla.fft %x {fft_type = FFT, fft_length = [4]} : tensor<4xf32>
  func.return
}

// -----

func.func @fft_C4_2(%x: tensor<4xcomplex<f32>>) {
  // expected-error @+1 {{xla.fft: (C4) the last sizes are [4], expected [5]}}
  %0 = xla.fft %x {fft_type = IFFT, fft_length = [5]} : tensor<4xcomplex<f32>>
  func.return
}

// -----

func.func @fft_C4_3(%x: tensor<4xi32>) {
  // expected-error @+1 {{xla.fft: (C4) operand has element type s32, allowed: float or complex}}
  %0 = xla.fft %x {fft_type = IFFT, fft_length = [4]} : tensor<4xi32>
  func.return
}

// -----

func.func @fft_C4_4(%x: !xla.token) {
  // expected-error @+1 {{xla.fft: (C4) operand is token[], not an array}}
  %0 = xla.fft %x {fft_type = FFT, fft_length = [4]} : !xla.token
  func.return
}

// -----

func.func @fft_C5_1(%x: tensor<4xcomplex<f32>>) {
  // expected-error @+1 {{xla.fft: (C5) operand has element type c64, allowed: float}}
  %0 = xla.fft %x {fft_type = RFFT, fft_length = [4]} : tensor<4xcomplex<f32>>
  func.return
}

// -----

func.func @fft_C5_2(%x: tensor<4xbf16>) {
  // expected-error @+1 {{xla.fft: (C5) operand has element type bf16}}
  %0 = xla.fft %x {fft_type = RFFT, fft_length = [4]} : tensor<4xbf16>
  func.return
}

// -----

func.func @fft_C5_3(%x: tensor<4xf32>) {
  // expected-error @+1 {{xla.fft: (C5) the last sizes are [4], expected [5]}}
  %0 = xla.fft %x {fft_type = RFFT, fft_length = [5]} : tensor<4xf32>
  func.return
}

// -----

func.func @fft_C5_4(%x: tensor<3x4xf32>) {
  // expected-error @+1 {{xla.fft: (C5) the last sizes are [3, 4], expected [2, 4]}}
  %0 = xla.fft %x {fft_type = RFFT, fft_length = [2, 4]} : tensor<3x4xf32>
  func.return
}

// -----

func.func @fft_C6_1(%x: tensor<3xf32>) {
  // expected-error @+1 {{xla.fft: (C6) operand has element type f32, allowed: complex}}
  %0 = xla.fft %x {fft_type = IRFFT, fft_length = [4]} : tensor<3xf32>
  func.return
}

// -----

func.func @fft_C6_2(%x: tensor<4xcomplex<f32>>) {
  // expected-error @+1 {{xla.fft: (C6) the last sizes are [4], expected [3]}}
  %0 = xla.fft %x {fft_type = IRFFT, fft_length = [4]} : tensor<4xcomplex<f32>>
  func.return
}

// -----

func.func @fft_C6_3(%x: tensor<3x3xcomplex<f32>>) {
  // expected-error @+1 {{xla.fft: (C6) the last sizes are [3, 3], expected [2, 3]}}
  %0 = xla.fft %x {fft_type = IRFFT, fft_length = [2, 4]} : tensor<3x3xcomplex<f32>>
  func.return
}

// -----

func.func @fft_C6_4(%x: tensor<1xcomplex<f32>>) {
  // expected-error @+1 {{xla.fft: (C6) the last sizes are [1], expected [0]}}
  %0 = xla.fft %x {fft_type = IRFFT, fft_length = [0]} : tensor<1xcomplex<f32>>
  func.return
}

// -----

func.func @cholesky_C1_1(%x: tensor<2x2xi32>) {
  // expected-error @+1 {{xla.cholesky: (C1) a has element type s32, allowed: float or complex}}
  %0 = xla.cholesky %x {lower = true} : tensor<2x2xi32>
  func.return
}

// -----

func.func @cholesky_C1_2(%x: !xla.token) {
  // expected-error @+1 {{xla.cholesky: (C1) a is token[], not an array}}
  %0 = xla.cholesky %x {lower = true} : !xla.token
  func.return
}

// -----

func.func @cholesky_C2(%x: tensor<2xf32>) {
  // expected-error @+1 {{xla.cholesky: (C2) a has rank 1}}
  %0 = xla.cholesky %x {lower = true} : tensor<2xf32>
  func.return
}

// -----

func.func @cholesky_C3(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{xla.cholesky: (C3) matrices have 2 rows, 3 columns}}
  %0 = xla.cholesky %x {lower = true} : tensor<2x3xf32>
  func.return
}

// -----

func.func @cholesky_C3_beside_other_dimensions(%x: tensor<5x2x3xf32>) {
  // expected-error @+1 {{xla.cholesky: (C3) matrices have 2 rows, 3 columns}}
  %0 = xla.cholesky %x {lower = true} : tensor<5x2x3xf32>
  func.return
}

// -----

func.func @triangular_solve_C1_1(%x: tensor<2x2xf32>, %y: tensor<2x2xcomplex<f32>>) {
  // expected-error @+1 {{xla.triangular_solve: (C1) a and b have element types f32 and c64}}
  %0 = xla.triangular_solve %x, %y {left_side = true, transpose_a = NO_TRANSPOSE} : (tensor<2x2xf32>, tensor<2x2xcomplex<f32>>) -> tensor<2x2xf32>
  func.return
}

// -----

func.func @triangular_solve_C1_2(%x: tensor<2x2xi32>, %y: tensor<2x2xi32>) {
  // expected-error @+1 {{xla.triangular_solve: (C1) a has element type s32, allowed: float or complex}}
  %0 = xla.triangular_solve %x, %y {left_side = true, transpose_a = NO_TRANSPOSE} : tensor<2x2xi32>
  func.return
}

// -----

func.func @triangular_solve_C2_1(%x: tensor<2x2xf32>, %y: tensor<1x2x2xf32>) {
  // expected-error @+1 {{xla.triangular_solve: (C2) a has rank 2, b 3}}
  %0 = xla.triangular_solve %x, %y {left_side = true, transpose_a = NO_TRANSPOSE} : (tensor<2x2xf32>, tensor<1x2x2xf32>) -> tensor<2x2xf32>
  func.return
}

// -----

func.func @triangular_solve_C2_2(%x: tensor<2xf32>, %y: tensor<2xf32>) {
  // expected-error @+1 {{xla.triangular_solve: (C2) a has rank 1}}
  %0 = xla.triangular_solve %x, %y {left_side = true, transpose_a = NO_TRANSPOSE} : tensor<2xf32>
  func.return
}

// -----

func.func @triangular_solve_C3(%x: tensor<3x2xf32>, %y: tensor<2x2xf32>) {
  // expected-error @+1 {{xla.triangular_solve: (C3) matrices have 3 rows, 2 columns}}
  %0 = xla.triangular_solve %x, %y {left_side = true, transpose_a = NO_TRANSPOSE} : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  func.return
}

// -----

func.func @triangular_solve_C4_1(%x: tensor<2x2xf32>, %y: tensor<3x2xf32>) {
  // expected-error @+1 {{xla.triangular_solve: (C4) a has 2 rows, b has 3}}
  %0 = xla.triangular_solve %x, %y {left_side = true, transpose_a = NO_TRANSPOSE} : (tensor<2x2xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  func.return
}

// -----

func.func @triangular_solve_C4_2(%x: tensor<2x2xf32>, %y: tensor<2x3xf32>) {
  // expected-error @+1 {{xla.triangular_solve: (C4) a has 2 rows, b has 3}}
  %0 = xla.triangular_solve %x, %y {transpose_a = NO_TRANSPOSE} : (tensor<2x2xf32>, tensor<2x3xf32>) -> tensor<2x2xf32>
  func.return
}

// -----

func.func @triangular_solve_C5(%x: tensor<4x2x2xf32>, %y: tensor<1x2x2xf32>) {
  // expected-error @+1 {{xla.triangular_solve: (C5) batch sizes are [4] and [1]}}
  %0 = xla.triangular_solve %x, %y {left_side = true, transpose_a = NO_TRANSPOSE} : (tensor<4x2x2xf32>, tensor<1x2x2xf32>) -> tensor<4x2x2xf32>
  func.return
}
