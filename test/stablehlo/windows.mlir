// RUN: xla-opt %s | filecheck %s
// RUN: xla-opt %s | xla-opt | filecheck %s

// Operations with windows, regions and transforms, in the forms that StableHLO prints.

// CHECK-LABEL: func.func public @windows
func.func public @windows(%x: tensor<4x6xf32>, %z: tensor<f32>, %s: tensor<2x3xf32>) {
  // CHECK: xla.reduce_window %x, %z {window = #xla.window<size=2x2 stride=1x2 pad=0_1x0_0 lhs_dilate=2x1 rhs_dilate=1x2>} : (tensor<4x6xf32>, tensor<f32>) -> tensor<7x2xf32>
  %0 = "stablehlo.reduce_window"(%x, %z) <{base_dilations = array<i64: 2, 1>, padding = dense<[[0, 1], [0, 0]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 2>, window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<7x2xf32>
  // CHECK: %{{.*}}, %{{.*}} = xla.reduce_window %x, %x, %z, %z {window = #xla.window<size=4x6>}
  %2:2 = "stablehlo.reduce_window"(%x, %x, %z, %z) <{padding = dense<0> : tensor<2x2xi64>, window_dimensions = array<i64: 4, 6>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>):
    stablehlo.return %a, %b : tensor<f32>, tensor<f32>
  }) : (tensor<4x6xf32>, tensor<4x6xf32>, tensor<f32>, tensor<f32>) -> (tensor<1x1xf32>, tensor<1x1xf32>)
  // CHECK: xla.select_and_scatter %x, %s, %z {window = #xla.window<size=2x2 stride=2x2>}
  // CHECK-SAME: select (
  // CHECK: xla.compare
  // CHECK: } scatter (
  %3 = "stablehlo.select_and_scatter"(%x, %s, %z) <{padding = dense<0> : tensor<2x2xi64>, window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %4 = stablehlo.compare GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %4 : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %4 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %4 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<2x3xf32>, tensor<f32>) -> tensor<4x6xf32>
  // CHECK: xla.select_and_scatter %x, %x, %z {window = #xla.window<size=1x1>}
  %5 = "stablehlo.select_and_scatter"(%x, %x, %z) <{window_dimensions = array<i64: 1, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %4 = stablehlo.compare GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %4 : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32>
  // CHECK: xla.map %x, %x {dimensions = [0, 1]} : tensor<4x6xf32> to_apply
  %6 = "stablehlo.map"(%x, %x) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
  return
}

// CHECK-LABEL: func.func @convolutions
func.func @convolutions(%x: tensor<1x4x6x3xf32>, %k: tensor<2x2x3x4xf32>, %p: tensor<1x3x5x5xf32>, %q: tensor<2x3x1x1xf32>, %l: tensor<1x3xf32>, %m: tensor<2x3xf32>) {
  // CHECK: xla.convolution %x, %k {window = #xla.window<size=2x2 stride=2x1 pad=1_0x0_2 lhs_dilate=1x2 rhs_dilate=2x1 rhs_reversal=0x1>, dim_labels = #xla.dim_labels<b01f_01io->b01f>} attributes {xla.operand_precision = "{highest,highest}"} : (tensor<1x4x6x3xf32>, tensor<2x2x3x4xf32>) -> tensor<1x2x12x4xf32>
  %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 1], pad = [[1, 0], [0, 2]], lhs_dilate = [1, 2], rhs_dilate = [2, 1], reverse = [false, true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]} : (tensor<1x4x6x3xf32>, tensor<2x2x3x4xf32>) -> tensor<1x2x12x4xf32>
  // CHECK: xla.convolution %x, %k {window = #xla.window<size=2x2 stride=2x1 pad=1_0x0_2 lhs_dilate=1x2 rhs_dilate=2x1 rhs_reversal=0x1>, dim_labels = #xla.dim_labels<b01f_01io->b01f>} attributes
  %1 = "stablehlo.convolution"(%x, %k) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1, 2>, padding = dense<[[1, 0], [0, 2]]> : tensor<2x2xi64>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>], rhs_dilation = array<i64: 2, 1>, window_reversal = array<i1: false, true>, window_strides = array<i64: 2, 1>}> : (tensor<1x4x6x3xf32>, tensor<2x2x3x4xf32>) -> tensor<1x2x12x4xf32>
  // CHECK: xla.convolution %p, %q {window = #xla.window<size=1x1>, dim_labels = #xla.dim_labels<bf01_oi01->bf01>} : (tensor<1x3x5x5xf32>, tensor<2x3x1x1xf32>) -> tensor<1x2x5x5xf32>
  %2 = stablehlo.convolution(%p, %q) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x3x5x5xf32>, tensor<2x3x1x1xf32>) -> tensor<1x2x5x5xf32>
  // CHECK: xla.convolution %l, %m {dim_labels = #xla.dim_labels<bf_oi->bf>} : (tensor<1x3xf32>, tensor<2x3xf32>) -> tensor<1x2xf32>
  %3 = stablehlo.convolution(%l, %m) dim_numbers = [b, f]x[o, i]->[b, f], window = {stride = [], pad = [], lhs_dilate = [], rhs_dilate = [], reverse = []} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x3xf32>, tensor<2x3xf32>) -> tensor<1x2xf32>
  return
}

// CHECK-LABEL: func.func @sorting
func.func @sorting(%x: tensor<2x3xi32>) {
  // CHECK: %{{.*}}, %{{.*}} = xla.sort %x, %x {dimension = 1, is_stable = true}
  %0:2 = "stablehlo.sort"(%x, %x) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i32>, %d: tensor<i32>):
    %1 = stablehlo.compare LT, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<2x3xi32>, tensor<2x3xi32>) -> (tensor<2x3xi32>, tensor<2x3xi32>)
  // CHECK: xla.sort %x {dimension = 1} : tensor<2x3xi32>
  %2 = "stablehlo.sort"(%x) ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %1 = stablehlo.compare LT, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<2x3xi32>) -> tensor<2x3xi32>
  // CHECK: xla.topk %x {k = 2} : (tensor<2x3xi32>) -> (tensor<2x2xi32>, tensor<2x2xi32>)
  %values, %indices = chlo.top_k(%x, k = 2) : tensor<2x3xi32> -> (tensor<2x2xi32>, tensor<2x2xi32>)
  // CHECK: xla.topk %x {k = 1} : (tensor<2x3xi32>) -> (tensor<2x1xi32>, tensor<2x1xi32>)
  %3:2 = "chlo.top_k"(%x) <{k = 1 : i64}> : (tensor<2x3xi32>) -> (tensor<2x1xi32>, tensor<2x1xi32>)
  return
}

// CHECK-LABEL: func.func @scatter
func.func @scatter(%x: tensor<4x3xf32>, %i: tensor<4x1xi32>, %u: tensor<4xf32>) {
  // CHECK: xla.scatter %x, %i, %u {update_window_dims = [], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 1, indices_are_sorted = true, unique_indices = true}
  %0 = "stablehlo.scatter"(%x, %i, %u) <{indices_are_sorted = true, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>, unique_indices = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4x3xf32>, tensor<4x1xi32>, tensor<4xf32>) -> tensor<4x3xf32>
  return
}

// CHECK-LABEL: func.func @linear_algebra
func.func @linear_algebra(%a: tensor<4x4xcomplex<f32>>, %x: tensor<2x3xf32>, %v: tensor<3xf32>, %r: tensor<2x3x4xf32>, %g: tensor<2xi32>) {
  // CHECK: xla.fft %x {fft_type = RFFT, fft_length = [3]} : (tensor<2x3xf32>) -> tensor<2x2xcomplex<f32>>
  %0 = stablehlo.fft %x, type = RFFT, length = [3] : (tensor<2x3xf32>) -> tensor<2x2xcomplex<f32>>
  // CHECK: xla.fft %a {fft_type = IRFFT, fft_length = [6]} : (tensor<4x4xcomplex<f32>>) -> tensor<4x6xf32>
  %1 = "stablehlo.fft"(%a) <{fft_length = array<i64: 6>, fft_type = #stablehlo<fft_type IRFFT>}> : (tensor<4x4xcomplex<f32>>) -> tensor<4x6xf32>
  // CHECK: xla.cholesky %a {lower = true} : tensor<4x4xcomplex<f32>>
  %2 = stablehlo.cholesky %a, lower = true : tensor<4x4xcomplex<f32>>
  // CHECK: xla.cholesky %a : tensor<4x4xcomplex<f32>>
  %3 = stablehlo.cholesky %a : tensor<4x4xcomplex<f32>>
  // CHECK: xla.triangular_solve %a, %a {left_side = true, transpose_a = TRANSPOSE} : tensor<4x4xcomplex<f32>>
  %4 = "stablehlo.triangular_solve"(%a, %a) <{left_side = true, lower = false, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = false}> : (tensor<4x4xcomplex<f32>>, tensor<4x4xcomplex<f32>>) -> tensor<4x4xcomplex<f32>>
  // CHECK: xla.batch_norm_training %x, %v, %v {epsilon = 1.000000e-03 : f32, feature_index = 1}
  %output, %batch_mean, %batch_var = "stablehlo.batch_norm_training"(%x, %v, %v) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}> : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  // CHECK: xla.batch_norm_inference %x, %v, %v, %v, %v {epsilon = 1.000000e-03 : f32, feature_index = 1}
  %5 = "stablehlo.batch_norm_inference"(%x, %v, %v, %v, %v) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}> : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  // CHECK: xla.batch_norm_grad %x, %v, %v, %v, %x {epsilon = 1.000000e-03 : f32, feature_index = 1}
  %6:3 = "stablehlo.batch_norm_grad"(%x, %v, %v, %v, %x) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}> : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  // CHECK: xla.reduce_precision %x {exponent_bits = 5, mantissa_bits = 2} : tensor<2x3xf32>
  %7 = stablehlo.reduce_precision %x, format = e5m2 : tensor<2x3xf32>
  // CHECK: xla.reduce_precision %x {exponent_bits = 8, mantissa_bits = 7} : tensor<2x3xf32>
  %8 = "stablehlo.reduce_precision"(%x) <{exponent_bits = 8 : i32, mantissa_bits = 7 : i32}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: xla.ragged_dot %x, %r, %g {lhs_contracting_dims = [1], rhs_contracting_dims = [1], lhs_ragged_dims = [0], rhs_group_dims = [0]}
  %9 = "chlo.ragged_dot"(%x, %r, %g) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<2x3xf32>, tensor<2x3x4xf32>, tensor<2xi32>) -> tensor<2x4xf32>
  return
}
