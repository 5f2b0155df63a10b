// RUN: xla-opt %s -p convert-xla-to-linalg --split-input-file | filecheck %s

// xla-update-checks: CHECK @dot
// CHECK-LABEL:   func.func @dot(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x4xf32> {
// CHECK-NEXT:      %[[CONSTANT:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:      %[[EMPTY:.*]] = tensor.empty() : tensor<4x4xf32>
// CHECK-NEXT:      %[[FILL:.*]] = linalg.fill ins(%[[CONSTANT]] : f32) outs(%[[EMPTY]] : tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK-NEXT:      %product = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>,
// CHECK-SAME:        affine_map<(d0, d1, d2) -> (d1, d2)>,
// CHECK-SAME:        affine_map<(d0, d1, d2) -> (d0, d1)>],
// CHECK-SAME:        iterator_types = ["parallel", "parallel", "reduction"]}
// CHECK-SAME:        ins(%x, %y : tensor<4x8xf32>, tensor<4x8xf32>) outs(%[[FILL]] : tensor<4x4xf32>) {
// CHECK-NEXT:      ^bb0(%[[ARG:.*]]: f32, %[[ARG_1:.*]]: f32, %[[ARG_2:.*]]: f32):
// CHECK-NEXT:        %[[MULF:.*]] = arith.mulf %[[ARG]], %[[ARG_1]] : f32
// CHECK-NEXT:        %[[ADDF:.*]] = arith.addf %[[ARG_2]], %[[MULF]] : f32
// CHECK-NEXT:        linalg.yield %[[ADDF]] : f32
// CHECK-NEXT:      } -> tensor<4x4xf32>
// CHECK-NEXT:      func.return %product : tensor<4x4xf32>
// CHECK-NEXT:    }
func.func @dot(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x4xf32> {
  %product = xla.dot %x, %y {lhs_contracting_dims = [1], rhs_contracting_dims = [1]} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32>
  func.return %product : tensor<4x4xf32>
}

// -----

// xla-update-checks: CHECK @dot_batched
// CHECK-LABEL:   func.func @dot_batched(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4xf64> {
// CHECK-NEXT:      %[[CONSTANT:.*]] = arith.constant 0.000000e+00 : f64
// CHECK-NEXT:      %[[EMPTY:.*]] = tensor.empty() : tensor<4xf64>
// CHECK-NEXT:      %[[FILL:.*]] = linalg.fill ins(%[[CONSTANT]] : f64) outs(%[[EMPTY]] : tensor<4xf64>) -> tensor<4xf64>
// CHECK-NEXT:      %batched = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>,
// CHECK-SAME:        affine_map<(d0, d1) -> (d0, d1)>,
// CHECK-SAME:        affine_map<(d0, d1) -> (d0)>],
// CHECK-SAME:        iterator_types = ["parallel", "reduction"]}
// CHECK-SAME:        ins(%x, %y : tensor<4x8xf32>, tensor<4x8xf32>) outs(%[[FILL]] : tensor<4xf64>) {
// CHECK-NEXT:      ^bb0(%[[ARG:.*]]: f32, %[[ARG_1:.*]]: f32, %[[ARG_2:.*]]: f64):
// CHECK-NEXT:        %[[EXTF:.*]] = arith.extf %[[ARG]] : f32 to f64
// CHECK-NEXT:        %[[EXTF_1:.*]] = arith.extf %[[ARG_1]] : f32 to f64
// CHECK-NEXT:        %[[MULF:.*]] = arith.mulf %[[EXTF]], %[[EXTF_1]] : f64
// CHECK-NEXT:        %[[ADDF:.*]] = arith.addf %[[ARG_2]], %[[MULF]] : f64
// CHECK-NEXT:        linalg.yield %[[ADDF]] : f64
// CHECK-NEXT:      } -> tensor<4xf64>
// CHECK-NEXT:      func.return %batched : tensor<4xf64>
// CHECK-NEXT:    }
func.func @dot_batched(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4xf64> {
  %batched = xla.dot %x, %y {lhs_batch_dims = [0], lhs_contracting_dims = [1], rhs_batch_dims = [0], rhs_contracting_dims = [1]} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4xf64>
  func.return %batched : tensor<4xf64>
}

// -----

// xla-update-checks: CHECK @convolution_grouped
// CHECK-LABEL:   func.func @convolution_grouped(%l: tensor<2x4x5x6xf32>, %k: tensor<6x2x2x3xf32>) -> tensor<2x6x4x4xf32> {
// CHECK-NEXT:      %[[EXPAND_SHAPE:.*]] = tensor.expand_shape %l {{\[\[}}0 : i64], [1 : i64, 2 : i64], [3 : i64], [4 : i64]] output_shape [2, 2, 2, 5, 6] : tensor<2x4x5x6xf32> into tensor<2x2x2x5x6xf32>
// CHECK-NEXT:      %[[EXPAND_SHAPE_1:.*]] = tensor.expand_shape %k {{\[\[}}0 : i64, 1 : i64], [2 : i64], [3 : i64], [4 : i64]] output_shape [2, 3, 2, 2, 3] : tensor<6x2x2x3xf32> into tensor<2x3x2x2x3xf32>
// CHECK-NEXT:      %[[CONSTANT:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:      %[[EMPTY:.*]] = tensor.empty() : tensor<2x2x3x4x4xf32>
// CHECK-NEXT:      %[[FILL:.*]] = linalg.fill ins(%[[CONSTANT]] : f32) outs(%[[EMPTY]] : tensor<2x2x3x4x4xf32>) -> tensor<2x2x3x4x4xf32>
// CHECK-NEXT:      %[[GENERIC:.*]] = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d1, d0, d7, ((d3 + (d5 * -1)) + 1), (d4 + d6))>,
// CHECK-SAME:        affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d2, d7, d5, d6)>,
// CHECK-SAME:        affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d1, d0, d2, d3, d4)>],
// CHECK-SAME:        iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
// CHECK-SAME:        ins(%[[EXPAND_SHAPE]], %[[EXPAND_SHAPE_1]] : tensor<2x2x2x5x6xf32>, tensor<2x3x2x2x3xf32>) outs(%[[FILL]] : tensor<2x2x3x4x4xf32>) {
// CHECK-NEXT:      ^bb0(%[[ARG:.*]]: f32, %[[ARG_1:.*]]: f32, %[[ARG_2:.*]]: f32):
// CHECK-NEXT:        %[[MULF:.*]] = arith.mulf %[[ARG]], %[[ARG_1]] : f32
// CHECK-NEXT:        %[[ADDF:.*]] = arith.addf %[[ARG_2]], %[[MULF]] : f32
// CHECK-NEXT:        linalg.yield %[[ADDF]] : f32
// CHECK-NEXT:      } -> tensor<2x2x3x4x4xf32>
// CHECK-NEXT:      %grouped = tensor.collapse_shape %[[GENERIC]] {{\[\[}}0 : i64], [1 : i64, 2 : i64], [3 : i64], [4 : i64]] : tensor<2x2x3x4x4xf32> into tensor<2x6x4x4xf32>
// CHECK-NEXT:      func.return %grouped : tensor<2x6x4x4xf32>
// CHECK-NEXT:    }
func.func @convolution_grouped(%l: tensor<2x4x5x6xf32>, %k: tensor<6x2x2x3xf32>) -> tensor<2x6x4x4xf32> {
  %grouped = xla.convolution %l, %k {window = #xla.window<size=2x3 rhs_reversal=1x0>, dim_labels = #xla.dim_labels<bf01_oi01->bf01>, feature_group_count = 2} : (tensor<2x4x5x6xf32>, tensor<6x2x2x3xf32>) -> tensor<2x6x4x4xf32>
  func.return %grouped : tensor<2x6x4x4xf32>
}

// -----

// xla-update-checks: CHECK @convolution_without_space
// CHECK-LABEL:   func.func @convolution_without_space(%m: tensor<5x3xf32>) -> tensor<5x5xf64> {
// CHECK-NEXT:      %[[CONSTANT:.*]] = arith.constant 0.000000e+00 : f64
// CHECK-NEXT:      %[[EMPTY:.*]] = tensor.empty() : tensor<5x5xf64>
// CHECK-NEXT:      %[[FILL:.*]] = linalg.fill ins(%[[CONSTANT]] : f64) outs(%[[EMPTY]] : tensor<5x5xf64>) -> tensor<5x5xf64>
// CHECK-NEXT:      %product = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>,
// CHECK-SAME:        affine_map<(d0, d1, d2) -> (d1, d2)>,
// CHECK-SAME:        affine_map<(d0, d1, d2) -> (d1, d0)>],
// CHECK-SAME:        iterator_types = ["parallel", "parallel", "reduction"]}
// CHECK-SAME:        ins(%m, %m : tensor<5x3xf32>, tensor<5x3xf32>) outs(%[[FILL]] : tensor<5x5xf64>) {
// CHECK-NEXT:      ^bb0(%[[ARG:.*]]: f32, %[[ARG_1:.*]]: f32, %[[ARG_2:.*]]: f64):
// CHECK-NEXT:        %[[EXTF:.*]] = arith.extf %[[ARG]] : f32 to f64
// CHECK-NEXT:        %[[EXTF_1:.*]] = arith.extf %[[ARG_1]] : f32 to f64
// CHECK-NEXT:        %[[MULF:.*]] = arith.mulf %[[EXTF]], %[[EXTF_1]] : f64
// CHECK-NEXT:        %[[ADDF:.*]] = arith.addf %[[ARG_2]], %[[MULF]] : f64
// CHECK-NEXT:        linalg.yield %[[ADDF]] : f64
// CHECK-NEXT:      } -> tensor<5x5xf64>
// CHECK-NEXT:      func.return %product : tensor<5x5xf64>
// CHECK-NEXT:    }
func.func @convolution_without_space(%m: tensor<5x3xf32>) -> tensor<5x5xf64> {
  %product = xla.convolution %m, %m {dim_labels = #xla.dim_labels<bf_oi->fb>} : (tensor<5x3xf32>, tensor<5x3xf32>) -> tensor<5x5xf64>
  func.return %product : tensor<5x5xf64>
}
