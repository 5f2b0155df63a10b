// RUN: xla-run %s --all-functions --backend reference

// Sums of products of operands whose blocks are multiplied by scales.

func.func @worked() {
  %x = xla.constant dense<[[1.0, 2.0, 3.0, 4.0]]> : tensor<1x4xf32>
  %y = xla.constant dense<[[1.0], [1.0], [1.0], [1.0]]> : tensor<4x1xf32>
  %scale = xla.constant dense<[[10.0, 0.5]]> : tensor<1x2xf32>
  %none = xla.constant dense<1.0> : tensor<f32>
  %0 = xla.scaled_dot %x, %y, %scale, %none {lhs_contracting_dims = [1], rhs_contracting_dims = [0]} : (tensor<1x4xf32>, tensor<4x1xf32>, tensor<1x2xf32>, tensor<f32>) -> tensor<1x1xf32>
  check.expect_eq_const %0, dense<[[33.5]]> : tensor<1x1xf32>
  func.return
}

// for f16 in f4E2M1FN f8E4M3FN f8E5M2 bf16 f16 f32
func.func @types() -> tensor<2x3xf32> {
  %0 = xla.constant dense<[[1.0, 2.0, -1.0, 0.5], [4.0, 0.0, 3.0, -2.0]]> : tensor<2x4xf64>
  %1 = xla.constant dense<[[1.0, 0.5, 2.0], [-1.0, 1.0, 0.0], [2.0, 2.0, 1.0], [0.5, -1.5, 1.0]]> : tensor<4x3xf64>
  %2 = xla.constant dense<[[2.0, 0.5], [1.0, 4.0]]> : tensor<2x2xf64>
  %3 = xla.constant dense<[[1.0, 2.0, 0.5], [0.25, 1.0, 2.0]]> : tensor<2x3xf64>
  %x = xla.convert %0 : (tensor<2x4xf64>) -> tensor<2x4xf16>
  %y = xla.convert %1 : (tensor<4x3xf64>) -> tensor<4x3xf16>
  %left = xla.convert %2 : (tensor<2x2xf64>) -> tensor<2x2xf8E8M0FNU>
  %right = xla.convert %3 : (tensor<2x3xf64>) -> tensor<2x3xf8E8M0FNU>
  %4 = xla.scaled_dot %x, %y, %left, %right {lhs_contracting_dims = [1], rhs_contracting_dims = [0]} : (tensor<2x4xf16>, tensor<4x3xf16>, tensor<2x2xf8E8M0FNU>, tensor<2x3xf8E8M0FNU>) -> tensor<2x3xf32>
  func.return %4 : tensor<2x3xf32>
}

func.func @mixed_layouts() -> tensor<2x2xf32, #xla.layout<{0,1}>> {
  %x = xla.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32, #xla.layout<{0,1}>>
  %y = xla.constant dense<[[5.0, 6.0], [7.0, 8.0]]> : tensor<2x2xf32>
  %scale = xla.constant dense<[[2.0, 0.5]]> : tensor<1x2xf32>
  %none = xla.constant dense<1.0> : tensor<f32>
  %0 = xla.scaled_dot %x, %y, %scale, %none {lhs_contracting_dims = [1], rhs_contracting_dims = [0]} : (tensor<2x2xf32, #xla.layout<{0,1}>>, tensor<2x2xf32>, tensor<1x2xf32>, tensor<f32>) -> tensor<2x2xf32, #xla.layout<{0,1}>>
  // 1 * 2 * 5 + 2 * 0.5 * 7, and so on.
  check.expect_eq_const %0, dense<[[17.0, 20.0], [44.0, 52.0]]> : tensor<2x2xf32, #xla.layout<{0,1}>>
  func.return %0 : tensor<2x2xf32, #xla.layout<{0,1}>>
}
