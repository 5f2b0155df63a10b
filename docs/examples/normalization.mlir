func.func @batch_norm_training() -> (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %x = xla.constant dense<[[1.0, 10.0], [3.0, 30.0]]> : tensor<2x2xf32>
  %scale = xla.constant dense<[2.0, 1.0]> : tensor<2xf32>
  %offset = xla.constant dense<[0.0, 5.0]> : tensor<2xf32>
  %result, %mean, %variance = xla.batch_norm_training %x, %scale, %offset {epsilon = 0.0 : f32, feature_index = 1} : (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>)
  // 2x2xf32=[[-2.0, 4.0], [2.0, 6.0]]
  // 2xf32=[2.0, 20.0]
  // 2xf32=[1.0, 100.0]
  func.return %result, %mean, %variance : tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>
}

// -----

func.func @batch_norm_inference() -> tensor<2x2xf32> {
  %x = xla.constant dense<[[1.0, 10.0], [3.0, 30.0]]> : tensor<2x2xf32>
  %scale = xla.constant dense<[2.0, 1.0]> : tensor<2xf32>
  %offset = xla.constant dense<[0.0, 5.0]> : tensor<2xf32>
  %mean = xla.constant dense<[2.0, 20.0]> : tensor<2xf32>
  %variance = xla.constant dense<[1.0, 100.0]> : tensor<2xf32>
  %result = xla.batch_norm_inference %x, %scale, %offset, %mean, %variance {epsilon = 0.0 : f32, feature_index = 1} : (tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  // 2x2xf32=[[-2.0, 4.0], [2.0, 6.0]]
  func.return %result : tensor<2x2xf32>
}

// -----

func.func @batch_norm_grad() -> (tensor<3x1xf32>, tensor<1xf32>, tensor<1xf32>) {
  %x = xla.constant dense<[[0.0], [0.0], [3.0]]> : tensor<3x1xf32>
  %scale = xla.constant dense<[2.0]> : tensor<1xf32>
  %mean = xla.constant dense<[1.0]> : tensor<1xf32>
  %variance = xla.constant dense<[2.0]> : tensor<1xf32>
  %grad = xla.constant dense<[[1.0], [2.0], [4.0]]> : tensor<3x1xf32>
  %grad_operand, %grad_scale, %grad_offset = xla.batch_norm_grad %x, %scale, %mean, %variance, %grad {epsilon = 0.0 : f32, feature_index = 1} : (tensor<3x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<3x1xf32>) -> (tensor<3x1xf32>, tensor<1xf32>, tensor<1xf32>)
  // 3x1xf32=[[-0.70710677], [0.70710677], [0.0]]
  // 1xf32=[3.535534]
  // 1xf32=[7.0]
  func.return %grad_operand, %grad_scale, %grad_offset : tensor<3x1xf32>, tensor<1xf32>, tensor<1xf32>
}
