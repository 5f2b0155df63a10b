// RUN: xla-opt %s --split-input-file --verify-diagnostics | filecheck %s
// RUN: xla-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | xla-opt --split-input-file | filecheck %s

// CHECK-LABEL: @normalization(
func.func @normalization(%x: tensor<2x3xf32>, %scale: tensor<3xf32>, %offset: tensor<3xf32>, %m: tensor<3xf32>, %v: tensor<3xf32>, %dy: tensor<2x3xf32>) {
  // CHECK: %y, %mean, %variance = xla.batch_norm_training %x, %scale, %offset {epsilon = 1.000000e-03 : f32, feature_index = 1} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  %y, %mean, %variance = xla.batch_norm_training %x, %scale, %offset {epsilon = 1.000000e-03 : f32, feature_index = 1} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  // CHECK: %z = xla.batch_norm_inference %x, %scale, %offset, %m, %v {epsilon = 0.000000e+00 : f32, feature_index = 1} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %z = xla.batch_norm_inference %x, %scale, %offset, %m, %v {epsilon = 0.000000e+00 : f32, feature_index = 1} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  // Not a number is written by its bits.
  // CHECK: %dx, %dscale, %doffset = xla.batch_norm_grad %x, %scale, %m, %v, %dy {epsilon = 0x7fc00000 : f32, feature_index = 1} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  %dx, %dscale, %doffset = xla.batch_norm_grad %x, %scale, %m, %v, %dy {epsilon = 0x7fc00000 : f32, feature_index = 1} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  func.return
}

// -----

func.func @batch_norm_training_C1_1(%x: tensor<2x3xi32>, %y: tensor<3xi32>, %z: tensor<3xi32>) {
  // expected-error @+1 {{xla.batch_norm_training: (C1) operand has element type s32, allowed: float}}
  %0 = xla.batch_norm_training %x, %y, %z {epsilon = 1.000000e-03 : f32, feature_index = 1} : (tensor<2x3xi32>, tensor<3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  func.return
}

// -----

func.func @batch_norm_training_C1_2(%x: tensor<2x3xf32>, %y: tensor<3xf32>, %z: tensor<3xf64>) {
  // expected-error @+1 {{xla.batch_norm_training: (C1) operand and offset have element types f32 and f64}}
  %0 = xla.batch_norm_training %x, %y, %z {epsilon = 1.000000e-03 : f32, feature_index = 1} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf64>) -> tensor<2x3xf32>
  func.return
}

// -----

func.func @batch_norm_training_C2_1(%x: tensor<2x3xf32>, %y: tensor<3xf32>, %z: tensor<3xf32>) {
  // expected-error @+1 {{xla.batch_norm_training: (C2) feature_index 2 of an operand of rank 2}}
  %0 = xla.batch_norm_training %x, %y, %z {epsilon = 1.000000e-03 : f32, feature_index = 2} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

func.func @batch_norm_training_C2_2(%x: tensor<2x3xf32>, %y: tensor<3xf32>, %z: tensor<3xf32>) {
  // expected-error @+1 {{xla.batch_norm_training: (C2) feature_index -1 of an operand of rank 2}}
  %0 = xla.batch_norm_training %x, %y, %z {epsilon = 1.000000e-03 : f32, feature_index = -1} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

func.func @batch_norm_training_C2_3(%x: tensor<f32>, %y: tensor<3xf32>, %z: tensor<3xf32>) {
  // expected-error @+1 {{xla.batch_norm_training: (C2) feature_index 0 of an operand of rank 0}}
  %0 = xla.batch_norm_training %x, %y, %z {epsilon = 1.000000e-03 : f32, feature_index = 0} : (tensor<f32>, tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
  func.return
}

// -----

func.func @batch_norm_training_C3_1(%x: tensor<2x3xf32>, %y: tensor<2xf32>, %z: tensor<3xf32>) {
  // expected-error @+1 {{xla.batch_norm_training: (C3) features and scale have shapes f32[3] and f32[2]}}
  %0 = xla.batch_norm_training %x, %y, %z {epsilon = 1.000000e-03 : f32, feature_index = 1} : (tensor<2x3xf32>, tensor<2xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

func.func @batch_norm_training_C3_2(%x: tensor<2x3xf32>, %y: tensor<3xf32>, %z: tensor<1x3xf32>) {
  // expected-error @+1 {{xla.batch_norm_training: (C3) features and offset have shapes f32[3] and f32[1,3]}}
  %0 = xla.batch_norm_training %x, %y, %z {epsilon = 1.000000e-03 : f32, feature_index = 1} : (tensor<2x3xf32>, tensor<3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

func.func @batch_norm_inference_C1(%x: tensor<2x3xi32>, %y: tensor<3xf32>, %z: tensor<3xf32>, %w: tensor<3xf32>, %u: tensor<3xf32>) {
  // expected-error @+1 {{xla.batch_norm_inference: (C1) operand has element type s32, allowed: float}}
  %0 = xla.batch_norm_inference %x, %y, %z, %w, %u {epsilon = 1.000000e-03 : f32, feature_index = 1} : (tensor<2x3xi32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xi32>
  func.return
}

// -----

func.func @batch_norm_inference_C2(%x: tensor<2x3xf32>, %y: tensor<3xf32>, %z: tensor<3xf32>, %w: tensor<3xf32>, %u: tensor<3xf32>) {
  // expected-error @+1 {{xla.batch_norm_inference: (C2) feature_index 2 of an operand of rank 2}}
  %0 = xla.batch_norm_inference %x, %y, %z, %w, %u {epsilon = 1.000000e-03 : f32, feature_index = 2} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

func.func @batch_norm_inference_C3(%x: tensor<2x3xf32>, %y: tensor<3xf32>, %z: tensor<3xf32>, %w: tensor<3xf32>, %u: tensor<2xf32>) {
  // expected-error @+1 {{xla.batch_norm_inference: (C3) features and variance have shapes f32[3] and f32[2]}}
  %0 = xla.batch_norm_inference %x, %y, %z, %w, %u {epsilon = 1.000000e-03 : f32, feature_index = 1} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

func.func @batch_norm_grad_C1_1(%x: tensor<2x3xf32>, %y: tensor<3xf32>, %z: tensor<3xf32>, %w: tensor<3xf32>, %u: tensor<2x3xf64>) {
  // expected-error @+1 {{xla.batch_norm_grad: (C1) operand and grad_output have element types f32 and f64}}
  %0 = xla.batch_norm_grad %x, %y, %z, %w, %u {epsilon = 1.000000e-03 : f32, feature_index = 1} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x3xf64>) -> tensor<2x3xf32>
  func.return
}

// -----

func.func @batch_norm_grad_C1_2(%x: tensor<2x3xf32>, %y: tensor<3xf32>, %z: tensor<3xf32>, %w: tensor<3xf32>, %u: !xla.token) {
  // expected-error @+1 {{xla.batch_norm_grad: (C1) grad_output is token[], not an array}}
  %0 = xla.batch_norm_grad %x, %y, %z, %w, %u {epsilon = 1.000000e-03 : f32, feature_index = 1} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, !xla.token) -> tensor<2x3xf32>
  func.return
}

// -----

func.func @batch_norm_grad_C2(%x: tensor<2x3xf32>, %y: tensor<3xf32>, %z: tensor<3xf32>, %w: tensor<3xf32>, %u: tensor<2x3xf32>) {
  // expected-error @+1 {{xla.batch_norm_grad: (C2) feature_index 2 of an operand of rank 2}}
  %0 = xla.batch_norm_grad %x, %y, %z, %w, %u {epsilon = 1.000000e-03 : f32, feature_index = 2} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

func.func @batch_norm_grad_C3(%x: tensor<2x3xf32>, %y: tensor<3xf32>, %z: tensor<3xf32>, %w: tensor<2xf32>, %u: tensor<2x3xf32>) {
  // expected-error @+1 {{xla.batch_norm_grad: (C3) features and variance have shapes f32[3] and f32[2]}}
  %0 = xla.batch_norm_grad %x, %y, %z, %w, %u {epsilon = 1.000000e-03 : f32, feature_index = 1} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

func.func @batch_norm_grad_C4(%x: tensor<2x3xf32>, %y: tensor<3xf32>, %z: tensor<3xf32>, %w: tensor<3xf32>, %u: tensor<3x2xf32>) {
  // expected-error @+1 {{xla.batch_norm_grad: (C4) operand and grad_output have shapes f32[2,3] and f32[3,2]}}
  %0 = xla.batch_norm_grad %x, %y, %z, %w, %u {epsilon = 1.000000e-03 : f32, feature_index = 1} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3x2xf32>) -> tensor<2x3xf32>
  func.return
}
