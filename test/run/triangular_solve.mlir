// RUN: xla-run %s --all-functions --backend reference

// Systems with a triangular matrix, from either side; the other triangle is not read.

func.func @worked() {
  %a = xla.constant dense<[[2.0, 99.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %column = xla.constant dense<[[2.0], [11.0]]> : tensor<2x1xf32>
  %row = xla.constant dense<[[2.0, 11.0]]> : tensor<1x2xf32>
  %left = xla.triangular_solve %a, %column {left_side = true, lower = true, transpose_a = NO_TRANSPOSE} : (tensor<2x2xf32>, tensor<2x1xf32>) -> tensor<2x1xf32>
  check.expect_eq_const %left, dense<[[1.0], [2.0]]> : tensor<2x1xf32>
  %transposed = xla.triangular_solve %a, %column {left_side = true, lower = true, transpose_a = TRANSPOSE} : (tensor<2x2xf32>, tensor<2x1xf32>) -> tensor<2x1xf32>
  check.expect_eq_const %transposed, dense<[[-3.125], [2.75]]> : tensor<2x1xf32>
  %unit = xla.triangular_solve %a, %column {left_side = true, lower = true, unit_diagonal = true, transpose_a = NO_TRANSPOSE} : (tensor<2x2xf32>, tensor<2x1xf32>) -> tensor<2x1xf32>
  check.expect_eq_const %unit, dense<[[2.0], [5.0]]> : tensor<2x1xf32>
  %right = xla.triangular_solve %a, %row {lower = true, transpose_a = NO_TRANSPOSE} : (tensor<2x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
  check.expect_eq_const %right, dense<[[-3.125, 2.75]]> : tensor<1x2xf32>
  %right_transposed = xla.triangular_solve %a, %row {lower = true, transpose_a = TRANSPOSE} : (tensor<2x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
  check.expect_eq_const %right_transposed, dense<[[1.0, 2.0]]> : tensor<1x2xf32>
  %upper = xla.constant dense<[[2.0, 3.0], [99.0, 4.0]]> : tensor<2x2xf32>
  %above = xla.triangular_solve %upper, %column {left_side = true, transpose_a = NO_TRANSPOSE} : (tensor<2x2xf32>, tensor<2x1xf32>) -> tensor<2x1xf32>
  check.expect_eq_const %above, dense<[[-3.125], [2.75]]> : tensor<2x1xf32>
  func.return
}

func.func @worked_complex() {
  %a = xla.constant dense<[[(2.0, 0.0), (0.0, 0.0)], [(1.0, 1.0), (0.0, 1.0)]]> : tensor<2x2xcomplex<f32>>
  %b = xla.constant dense<[[(2.0, 0.0)], [(3.0, 0.0)]]> : tensor<2x1xcomplex<f32>>
  %plain = xla.triangular_solve %a, %b {left_side = true, lower = true, transpose_a = NO_TRANSPOSE} : (tensor<2x2xcomplex<f32>>, tensor<2x1xcomplex<f32>>) -> tensor<2x1xcomplex<f32>>
  check.expect_almost_eq_const %plain, dense<[[(1.0, 0.0)], [(-1.0, -2.0)]]> : tensor<2x1xcomplex<f32>>
  %transposed = xla.triangular_solve %a, %b {left_side = true, lower = true, transpose_a = TRANSPOSE} : (tensor<2x2xcomplex<f32>>, tensor<2x1xcomplex<f32>>) -> tensor<2x1xcomplex<f32>>
  check.expect_almost_eq_const %transposed, dense<[[(-0.5, 1.5)], [(0.0, -3.0)]]> : tensor<2x1xcomplex<f32>>
  %adjoint = xla.triangular_solve %a, %b {left_side = true, lower = true, transpose_a = ADJOINT} : (tensor<2x2xcomplex<f32>>, tensor<2x1xcomplex<f32>>) -> tensor<2x1xcomplex<f32>>
  check.expect_almost_eq_const %adjoint, dense<[[(-0.5, -1.5)], [(0.0, 3.0)]]> : tensor<2x1xcomplex<f32>>
  func.return
}

// for f32 in f8E4M3FN f8E5M2 bf16 f16 f32 f64 complex<f32> complex<f64>
func.func @types() -> (tensor<2x3x2xf32>, tensor<2x3x2xf32>) {
  %0 = xla.constant dense<[[[2.0, 9.0, 9.0], [1.0, 4.0, 9.0], [-1.0, 0.5, 1.0]], [[1.0, 9.0, 9.0], [0.0, -2.0, 9.0], [3.0, 1.0, 0.5]]]> : tensor<2x3x3xf64>
  %1 = xla.constant dense<[[[2.0, 4.0], [1.0, -2.0], [0.5, 3.0]], [[1.0, 0.0], [2.0, 2.0], [-1.0, 1.0]]]> : tensor<2x3x2xf64>
  %a = xla.convert %0 : (tensor<2x3x3xf64>) -> tensor<2x3x3xf32>
  %b = xla.convert %1 : (tensor<2x3x2xf64>) -> tensor<2x3x2xf32>
  %plain = xla.triangular_solve %a, %b {left_side = true, lower = true, transpose_a = NO_TRANSPOSE} : (tensor<2x3x3xf32>, tensor<2x3x2xf32>) -> tensor<2x3x2xf32>
  %transposed = xla.triangular_solve %a, %b {left_side = true, lower = true, unit_diagonal = true, transpose_a = ADJOINT} : (tensor<2x3x3xf32>, tensor<2x3x2xf32>) -> tensor<2x3x2xf32>
  func.return %plain, %transposed : tensor<2x3x2xf32>, tensor<2x3x2xf32>
}

func.func @mixed_layouts() -> tensor<2x2xf32, #xla.layout<{0,1}>> {
  %a = xla.constant dense<[[2.0, 99.0], [3.0, 4.0]]> : tensor<2x2xf32, #xla.layout<{0,1}>>
  %b = xla.constant dense<[[2.0, 4.0], [11.0, 10.0]]> : tensor<2x2xf32>
  %0 = xla.triangular_solve %a, %b {left_side = true, lower = true, transpose_a = NO_TRANSPOSE} : (tensor<2x2xf32, #xla.layout<{0,1}>>, tensor<2x2xf32>) -> tensor<2x2xf32, #xla.layout<{0,1}>>
  check.expect_eq_const %0, dense<[[1.0, 2.0], [2.0, 1.0]]> : tensor<2x2xf32, #xla.layout<{0,1}>>
  func.return %0 : tensor<2x2xf32, #xla.layout<{0,1}>>
}

func.func @sizes() -> (tensor<1x1xf32>, tensor<0x2xf32>, tensor<2x0xf32>) {
  %a = xla.constant dense<[[4.0]]> : tensor<1x1xf32>
  %b = xla.constant dense<[[6.0]]> : tensor<1x1xf32>
  %one = xla.triangular_solve %a, %b {left_side = true, transpose_a = NO_TRANSPOSE} : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
  %nothing = xla.constant dense<> : tensor<0x0xf32>
  %rows = xla.constant dense<> : tensor<0x2xf32>
  %empty = xla.triangular_solve %nothing, %rows {left_side = true, transpose_a = NO_TRANSPOSE} : (tensor<0x0xf32>, tensor<0x2xf32>) -> tensor<0x2xf32>
  %c = xla.constant dense<[[1.0, 2.0], [0.0, 1.0]]> : tensor<2x2xf32>
  %columns = xla.constant dense<> : tensor<2x0xf32>
  %none = xla.triangular_solve %c, %columns {left_side = true, transpose_a = NO_TRANSPOSE} : (tensor<2x2xf32>, tensor<2x0xf32>) -> tensor<2x0xf32>
  func.return %one, %empty, %none : tensor<1x1xf32>, tensor<0x2xf32>, tensor<2x0xf32>
}
