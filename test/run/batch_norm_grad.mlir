// RUN: xla-run %s --all-functions --backend reference

// The gradient of batch_norm_training with respect to operand, scale and offset.

func.func @worked() {
  %x = xla.constant dense<[[0.0], [0.0], [3.0]]> : tensor<3x1xf32>
  %scale = xla.constant dense<[2.0]> : tensor<1xf32>
  %mean = xla.constant dense<[1.0]> : tensor<1xf32>
  %variance = xla.constant dense<[2.0]> : tensor<1xf32>
  %grad = xla.constant dense<[[1.0], [2.0], [4.0]]> : tensor<3x1xf32>
  %operand, %of_scale, %of_offset = xla.batch_norm_grad %x, %scale, %mean, %variance, %grad {epsilon = 0.0 : f32, feature_index = 1} : (tensor<3x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<3x1xf32>) -> (tensor<3x1xf32>, tensor<1xf32>, tensor<1xf32>)
  check.expect_almost_eq_const %operand, dense<[[-0.70710677], [0.70710677], [0.0]]> : tensor<3x1xf32>
  check.expect_almost_eq_const %of_scale, dense<[3.535534]> : tensor<1xf32>
  check.expect_almost_eq_const %of_offset, dense<[7.0]> : tensor<1xf32>
  func.return
}

// for f32 in f8E4M3FN f8E5M2 bf16 f16 f32 f64
func.func @floats() -> (tensor<2x3x2xf32>, tensor<3xf32>, tensor<3xf32>) {
  %0 = xla.constant dense<[[[1.0, 2.0], [0.5, -1.0], [4.0, 0.0]], [[3.0, -2.0], [1.5, 2.0], [-1.0, 1.0]]]> : tensor<2x3x2xf64>
  %1 = xla.constant dense<[[[0.5, 1.0], [2.0, -1.0], [1.0, 0.0]], [[-1.0, 1.0], [0.25, 2.0], [1.0, 3.0]]]> : tensor<2x3x2xf64>
  %2 = xla.constant dense<[1.0, 2.0, -0.5]> : tensor<3xf64>
  %3 = xla.constant dense<[1.0, 0.75, 1.0]> : tensor<3xf64>
  %4 = xla.constant dense<[3.5, 1.25, 3.5]> : tensor<3xf64>
  %x = xla.convert %0 : (tensor<2x3x2xf64>) -> tensor<2x3x2xf32>
  %grad = xla.convert %1 : (tensor<2x3x2xf64>) -> tensor<2x3x2xf32>
  %scale = xla.convert %2 : (tensor<3xf64>) -> tensor<3xf32>
  %mean = xla.convert %3 : (tensor<3xf64>) -> tensor<3xf32>
  %variance = xla.convert %4 : (tensor<3xf64>) -> tensor<3xf32>
  %operand, %of_scale, %of_offset = xla.batch_norm_grad %x, %scale, %mean, %variance, %grad {epsilon = 0.0625 : f32, feature_index = 1} : (tensor<2x3x2xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x3x2xf32>) -> (tensor<2x3x2xf32>, tensor<3xf32>, tensor<3xf32>)
  func.return %operand, %of_scale, %of_offset : tensor<2x3x2xf32>, tensor<3xf32>, tensor<3xf32>
}

func.func @column_major() -> (tensor<2x2xf32, #xla.layout<{0,1}>>, tensor<2xf32>, tensor<2xf32>) {
  %x = xla.constant dense<[[1.0, 10.0], [3.0, 30.0]]> : tensor<2x2xf32, #xla.layout<{0,1}>>
  %two = xla.constant dense<[2.0, 1.0]> : tensor<2xf32>
  %operand, %of_scale, %of_offset = xla.batch_norm_grad %x, %two, %two, %two, %x {epsilon = 0.5 : f32, feature_index = 0} : (tensor<2x2xf32, #xla.layout<{0,1}>>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2x2xf32, #xla.layout<{0,1}>>) -> (tensor<2x2xf32, #xla.layout<{0,1}>>, tensor<2xf32>, tensor<2xf32>)
  func.return %operand, %of_scale, %of_offset : tensor<2x2xf32, #xla.layout<{0,1}>>, tensor<2xf32>, tensor<2xf32>
}

// Sums over nothing are 0.
func.func @sizes() -> (tensor<0x2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %nothing = xla.constant dense<> : tensor<0x2xf32>
  %two = xla.constant dense<[2.0, 1.0]> : tensor<2xf32>
  %empty, %of_scale, %of_offset = xla.batch_norm_grad %nothing, %two, %two, %two, %nothing {epsilon = 0.0 : f32, feature_index = 1} : (tensor<0x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<0x2xf32>) -> (tensor<0x2xf32>, tensor<2xf32>, tensor<2xf32>)
  check.expect_eq_const %of_scale, dense<0.0> : tensor<2xf32>
  check.expect_eq_const %of_offset, dense<0.0> : tensor<2xf32>
  func.return %empty, %of_scale, %of_offset : tensor<0x2xf32>, tensor<2xf32>, tensor<2xf32>
}
