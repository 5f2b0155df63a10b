// RUN: xla-run %s --all-functions --backend reference

// Every feature brought to mean 0 and variance 1, then scaled and moved; its mean and variance are results.

func.func @worked() {
  %x = xla.constant dense<[[1.0, 10.0], [3.0, 30.0]]> : tensor<2x2xf32>
  %scale = xla.constant dense<[2.0, 1.0]> : tensor<2xf32>
  %offset = xla.constant dense<[0.0, 5.0]> : tensor<2xf32>
  %0, %mean, %variance = xla.batch_norm_training %x, %scale, %offset {epsilon = 0.0 : f32, feature_index = 1} : (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>)
  check.expect_eq_const %0, dense<[[-2.0, 4.0], [2.0, 6.0]]> : tensor<2x2xf32>
  check.expect_eq_const %mean, dense<[2.0, 20.0]> : tensor<2xf32>
  check.expect_eq_const %variance, dense<[1.0, 100.0]> : tensor<2xf32>
  func.return
}

// for f32 in f8E4M3FN f8E5M2 bf16 f16 f32 f64
func.func @floats() -> (tensor<2x3x2xf32>, tensor<3xf32>, tensor<3xf32>) {
  %0 = xla.constant dense<[[[1.0, 2.0], [0.5, -1.0], [4.0, 0.0]], [[3.0, -2.0], [1.5, 2.0], [-1.0, 1.0]]]> : tensor<2x3x2xf64>
  %1 = xla.constant dense<[1.0, 2.0, -0.5]> : tensor<3xf64>
  %2 = xla.constant dense<[0.0, 1.0, -2.0]> : tensor<3xf64>
  %x = xla.convert %0 : (tensor<2x3x2xf64>) -> tensor<2x3x2xf32>
  %scale = xla.convert %1 : (tensor<3xf64>) -> tensor<3xf32>
  %offset = xla.convert %2 : (tensor<3xf64>) -> tensor<3xf32>
  %3, %mean, %variance = xla.batch_norm_training %x, %scale, %offset {epsilon = 0.0625 : f32, feature_index = 1} : (tensor<2x3x2xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3x2xf32>, tensor<3xf32>, tensor<3xf32>)
  func.return %3, %mean, %variance : tensor<2x3x2xf32>, tensor<3xf32>, tensor<3xf32>
}

func.func @column_major() -> (tensor<2x2xf32, #xla.layout<{0,1}>>, tensor<2xf32>, tensor<2xf32>) {
  %x = xla.constant dense<[[1.0, 10.0], [3.0, 30.0]]> : tensor<2x2xf32, #xla.layout<{0,1}>>
  %scale = xla.constant dense<[2.0, 1.0]> : tensor<2xf32>
  %offset = xla.constant dense<[0.0, 5.0]> : tensor<2xf32>
  %0, %mean, %variance = xla.batch_norm_training %x, %scale, %offset {epsilon = 0.0 : f32, feature_index = 0} : (tensor<2x2xf32, #xla.layout<{0,1}>>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2x2xf32, #xla.layout<{0,1}>>, tensor<2xf32>, tensor<2xf32>)
  func.return %0, %mean, %variance : tensor<2x2xf32, #xla.layout<{0,1}>>, tensor<2xf32>, tensor<2xf32>
}

// The mean of nothing is NaN; one element has the variance 0.
func.func @sizes() -> (tensor<0x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %nothing = xla.constant dense<> : tensor<0x2xf32>
  %scale = xla.constant dense<[2.0, 1.0]> : tensor<2xf32>
  %empty, %mean, %variance = xla.batch_norm_training %nothing, %scale, %scale {epsilon = 0.0 : f32, feature_index = 1} : (tensor<0x2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<0x2xf32>, tensor<2xf32>, tensor<2xf32>)
  check.expect_eq_const %mean, dense<0x7FC00000> : tensor<2xf32>
  check.expect_eq_const %variance, dense<0x7FC00000> : tensor<2xf32>
  %x = xla.constant dense<[3.0, -4.0]> : tensor<2xf32>
  %one, %itself, %zero = xla.batch_norm_training %x, %scale, %scale {epsilon = 1.0 : f32, feature_index = 0} : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
  check.expect_eq_const %zero, dense<0.0> : tensor<2xf32>
  func.return %empty, %mean, %variance, %one, %itself, %zero : tensor<0x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}
