// RUN: xla-opt %s | filecheck %s
// RUN: xla-opt %s | xla-opt | filecheck %s
// RUN: xla-opt %s --mlir-print-op-generic | xla-opt | filecheck %s

// CHECK-LABEL: func.func @windows
func.func @windows(%x: tensor<4x5xf32>, %z: tensor<f32>, %s: tensor<2x3xf32>) {
  // CHECK: xla.reduce_window %x, %z {window = #xla.window<size=2x3 stride=2x1 pad=0_1x-1_0 lhs_dilate=1x2 rhs_dilate=2x1>} : (tensor<4x5xf32>, tensor<f32>) -> tensor<2x6xf32> to_apply (%{{.*}}: tensor<f32>, %{{.*}}: tensor<f32>) {
  %0 = xla.reduce_window %x, %z {window = #xla.window<size=2x3 rhs_dilate=2x1 stride=2x1 pad=0_1x-1_0 lhs_dilate=1x2 rhs_reversal=0x0>} : (tensor<4x5xf32>, tensor<f32>) -> tensor<2x6xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  // CHECK: xla.reduce_window %z, %z : tensor<f32> to_apply
  %2 = xla.reduce_window %z, %z : tensor<f32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    xla.return %b : tensor<f32>
  }
  // CHECK: xla.select_and_scatter %x, %s, %z {window = #xla.window<size=2x3 stride=2x1>} : (tensor<4x5xf32>, tensor<2x3xf32>, tensor<f32>) -> tensor<4x5xf32> select (%{{.*}}: tensor<f32>, %{{.*}}: tensor<f32>) {
  %3 = xla.select_and_scatter %x, %s, %z {window = #xla.window<size=2x3 stride=2x1>} : (tensor<4x5xf32>, tensor<2x3xf32>, tensor<f32>) -> tensor<4x5xf32> select (%a: tensor<f32>, %b: tensor<f32>) {
    %4 = xla.compare %a, %b {direction = GE} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    xla.return %4 : tensor<i1>
  // CHECK: } scatter (%{{.*}}: tensor<f32>, %{{.*}}: tensor<f32>) {
  } scatter (%a: tensor<f32>, %b: tensor<f32>) {
    xla.return %b : tensor<f32>
  }
  // CHECK: xla.map %x, %x {dimensions = [0, 1]} : tensor<4x5xf32> to_apply
  %5 = xla.map %x, %x {dimensions = [0, 1]} : tensor<4x5xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    xla.return %b : tensor<f32>
  }
  // CHECK: xla.map %x, %x : tensor<4x5xf32> to_apply
  %6 = xla.map %x, %x : tensor<4x5xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    xla.return %b : tensor<f32>
  }
  func.return
}

// CHECK-LABEL: func.func @sorting
func.func @sorting(%x: tensor<4x5xf32>, %i: tensor<4x5xi32>) {
  // CHECK: %{{.*}}, %{{.*}} = xla.sort %x, %i {dimension = 1, is_stable = true} : (tensor<4x5xf32>, tensor<4x5xi32>) -> (tensor<4x5xf32>, tensor<4x5xi32>) to_apply (%{{.*}}: tensor<f32>, %{{.*}}: tensor<f32>, %{{.*}}: tensor<i32>, %{{.*}}: tensor<i32>) {
  %0, %1 = xla.sort %x, %i {dimension = 1, is_stable = true} : (tensor<4x5xf32>, tensor<4x5xi32>) -> (tensor<4x5xf32>, tensor<4x5xi32>) to_apply (%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>) {
    %2 = xla.compare %a, %b {direction = LT, comparison_type = TOTALORDER} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    xla.return %2 : tensor<i1>
  }
  // CHECK: xla.topk %x {k = 2} : (tensor<4x5xf32>) -> (tensor<4x2xf32>, tensor<4x2xi32>)
  %3, %4 = xla.topk %x {k = 2, largest = true} : (tensor<4x5xf32>) -> (tensor<4x2xf32>, tensor<4x2xi32>)
  // CHECK: xla.topk %x {k = 0, largest = false} : (tensor<4x5xf32>) -> tuple<tensor<4x0xf32>, tensor<4x0xi32>>
  %5 = xla.topk %x {k = 0, largest = false} : (tensor<4x5xf32>) -> tuple<tensor<4x0xf32>, tensor<4x0xi32>>
  func.return
}

// CHECK-LABEL: func.func @scatter
func.func @scatter(%x: tensor<4x5xf32>, %i: tensor<3x1xui8>, %u: tensor<3x5xf32>) {
  // CHECK: xla.scatter %x, %i, %u {update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1} : (tensor<4x5xf32>, tensor<3x1xui8>, tensor<3x5xf32>) -> tensor<4x5xf32> to_apply
  %0 = xla.scatter %x, %i, %u {update_window_dims = [1], inserted_window_dims = [0], input_batching_dims = [], scatter_dims_to_operand_dims = [0], index_vector_dim = 1} : (tensor<4x5xf32>, tensor<3x1xui8>, tensor<3x5xf32>) -> tensor<4x5xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    xla.return %b : tensor<f32>
  }
  func.return
}

// CHECK-LABEL: func.func @contractions
func.func @contractions(%l: tensor<2x4x5x6xf32>, %k: tensor<6x2x2x3xf32>, %m: tensor<5x3xf32>, %g: tensor<2xi32>, %r: tensor<2x3x4xf32>, %s: tensor<1x3xf8E8M0FNU>, %t: tensor<f8E8M0FNU>) {
  // CHECK: xla.convolution %l, %k {window = #xla.window<size=2x3 rhs_reversal=1x0>, dim_labels = #xla.dim_labels<bf01_oi01->bf01>, feature_group_count = 2} : (tensor<2x4x5x6xf32>, tensor<6x2x2x3xf32>) -> tensor<2x6x4x4xf32>
  %0 = xla.convolution %l, %k {window = #xla.window<size=2x3 rhs_reversal=1x0>, dim_labels = #xla.dim_labels<bf01_oi01->bf01>, feature_group_count = 2, batch_group_count = 1} : (tensor<2x4x5x6xf32>, tensor<6x2x2x3xf32>) -> tensor<2x6x4x4xf32>
  // CHECK: xla.convolution %m, %m {dim_labels = #xla.dim_labels<bf_oi->fb>} : (tensor<5x3xf32>, tensor<5x3xf32>) -> tensor<5x5xf64>
  %1 = xla.convolution %m, %m {dim_labels = #xla.dim_labels<bf_oi->fb>} : (tensor<5x3xf32>, tensor<5x3xf32>) -> tensor<5x5xf64>
  // CHECK: xla.ragged_dot %m, %r, %g {lhs_contracting_dims = [1], rhs_contracting_dims = [1], lhs_ragged_dims = [0], rhs_group_dims = [0]} : (tensor<5x3xf32>, tensor<2x3x4xf32>, tensor<2xi32>) -> tensor<5x4xf32>
  %2 = xla.ragged_dot %m, %r, %g {lhs_contracting_dims = [1], rhs_contracting_dims = [1], lhs_ragged_dims = [0], rhs_group_dims = [0]} : (tensor<5x3xf32>, tensor<2x3x4xf32>, tensor<2xi32>) -> tensor<5x4xf32>
  // CHECK: xla.scaled_dot %m, %m, %s, %t {lhs_contracting_dims = [0], rhs_contracting_dims = [0]} : (tensor<5x3xf32>, tensor<5x3xf32>, tensor<1x3xf8E8M0FNU>, tensor<f8E8M0FNU>) -> tensor<3x3xf32>
  %3 = xla.scaled_dot %m, %m, %s, %t {lhs_contracting_dims = [0], rhs_contracting_dims = [0]} : (tensor<5x3xf32>, tensor<5x3xf32>, tensor<1x3xf8E8M0FNU>, tensor<f8E8M0FNU>) -> tensor<3x3xf32>
  func.return
}

// CHECK-LABEL: func.func @linear_algebra
func.func @linear_algebra(%a: tensor<4x4xcomplex<f32>>, %x: tensor<2x3xf32>, %v: tensor<3xf32>) {
  // CHECK: xla.fft %a {fft_type = IRFFT, fft_length = [6]} : (tensor<4x4xcomplex<f32>>) -> tensor<4x6xf32>
  %0 = xla.fft %a {fft_type = IRFFT, fft_length = [6]} : (tensor<4x4xcomplex<f32>>) -> tensor<4x6xf32>
  // CHECK: xla.cholesky %a {lower = true} : tensor<4x4xcomplex<f32>>
  %1 = xla.cholesky %a {lower = true} : tensor<4x4xcomplex<f32>>
  // CHECK: xla.triangular_solve %a, %a {left_side = true, transpose_a = ADJOINT} : tensor<4x4xcomplex<f32>>
  %2 = xla.triangular_solve %a, %a {left_side = true, lower = false, transpose_a = ADJOINT} : tensor<4x4xcomplex<f32>>
  // CHECK: xla.batch_norm_training %x, %v, %v {epsilon = 1.000000e-03 : f32, feature_index = 1} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  %3, %4, %5 = xla.batch_norm_training %x, %v, %v {epsilon = 0.001 : f32, feature_index = 1} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  // CHECK: xla.batch_norm_inference %x, %v, %v, %v, %v {epsilon = 0.000000e+00 : f32, feature_index = 1}
  %6 = xla.batch_norm_inference %x, %v, %v, %v, %v {epsilon = 0.0 : f32, feature_index = 1} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  // CHECK: xla.batch_norm_grad %x, %v, %v, %v, %x {epsilon = 0x7fc00000 : f32, feature_index = 1}
  %7, %8, %9 = xla.batch_norm_grad %x, %v, %v, %v, %x {epsilon = 0x7FC00000 : f32, feature_index = 1} : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  // CHECK: xla.reduce_precision %x {exponent_bits = 5, mantissa_bits = 2} : tensor<2x3xf32>
  %10 = xla.reduce_precision %x {exponent_bits = 5, mantissa_bits = 2} : tensor<2x3xf32>
  func.return
}

// CHECK-LABEL: func.func @scan
func.func @scan(%x: tensor<4xf32>, %c: tensor<f32>) {
  // CHECK: xla.scan %x, %c {dimension = 0, num_carries = 1, is_reverse = true} : (tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<f32>) to_apply
  %0, %1 = xla.scan %x, %c {dimension = 0, num_carries = 1, is_reverse = true} : (tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<f32>) to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %2 = xla.add %a, %b : tensor<f32>
    xla.return %2, %2 : tensor<f32>, tensor<f32>
  }
  func.return
}
