// RUN: xla-opt %s -p convert-xla-to-linalg --split-input-file | filecheck %s

// xla-update-checks: CHECK @gather_rows
// CHECK-LABEL:   func.func @gather_rows(%x: tensor<4x8xf32>, %i: tensor<5x1xi32>) -> tensor<5x8xf32> {
// CHECK-NEXT:      %[[COLLAPSE_SHAPE:.*]] = tensor.collapse_shape %i {{\[\[}}0 : i64, 1 : i64]] : tensor<5x1xi32> into tensor<5xi32>
// CHECK-NEXT:      %[[EMPTY:.*]] = tensor.empty() : tensor<5x8xf32>
// CHECK-NEXT:      %rows = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>,
// CHECK-SAME:        affine_map<(d0, d1) -> (d0, d1)>],
// CHECK-SAME:        iterator_types = ["parallel", "parallel"]}
// CHECK-SAME:        ins(%[[COLLAPSE_SHAPE]] : tensor<5xi32>) outs(%[[EMPTY]] : tensor<5x8xf32>) {
// CHECK-NEXT:      ^bb0(%[[ARG:.*]]: i32, %{{.*}}: f32):
// CHECK-NEXT:        %[[CONSTANT:.*]] = arith.constant 3 : i32
// CHECK-NEXT:        %[[CONSTANT_1:.*]] = arith.constant 0 : i32
// CHECK-NEXT:        %[[MAXSI:.*]] = arith.maxsi %[[ARG]], %[[CONSTANT_1]] : i32
// CHECK-NEXT:        %[[MINSI:.*]] = arith.minsi %[[MAXSI]], %[[CONSTANT]] : i32
// CHECK-NEXT:        %[[INDEX_CAST:.*]] = arith.index_cast %[[MINSI]] : i32 to index
// CHECK-NEXT:        %[[INDEX:.*]] = linalg.index 1 : index
// CHECK-NEXT:        %[[EXTRACT:.*]] = tensor.extract %x[%[[INDEX_CAST]], %[[INDEX]]] : tensor<4x8xf32>
// CHECK-NEXT:        linalg.yield %[[EXTRACT]] : f32
// CHECK-NEXT:      } -> tensor<5x8xf32>
// CHECK-NEXT:      func.return %rows : tensor<5x8xf32>
// CHECK-NEXT:    }
func.func @gather_rows(%x: tensor<4x8xf32>, %i: tensor<5x1xi32>) -> tensor<5x8xf32> {
  %rows = xla.gather %x, %i {offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1, slice_sizes = [1, 8]} : (tensor<4x8xf32>, tensor<5x1xi32>) -> tensor<5x8xf32>
  func.return %rows : tensor<5x8xf32>
}

// -----

// xla-update-checks: CHECK @gather_blocks
// CHECK-LABEL:   func.func @gather_blocks(%x: tensor<4x8xf32>, %i: tensor<5x1xi32>) -> tensor<2x3x5xf32> {
// CHECK-NEXT:      %[[COLLAPSE_SHAPE:.*]] = tensor.collapse_shape %i {{\[\[}}0 : i64, 1 : i64]] : tensor<5x1xi32> into tensor<5xi32>
// CHECK-NEXT:      %[[EMPTY:.*]] = tensor.empty() : tensor<2x3x5xf32>
// CHECK-NEXT:      %blocks = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d2)>,
// CHECK-SAME:        affine_map<(d0, d1, d2) -> (d0, d1, d2)>],
// CHECK-SAME:        iterator_types = ["parallel", "parallel", "parallel"]}
// CHECK-SAME:        ins(%[[COLLAPSE_SHAPE]] : tensor<5xi32>) outs(%[[EMPTY]] : tensor<2x3x5xf32>) {
// CHECK-NEXT:      ^bb0(%[[ARG:.*]]: i32, %{{.*}}: f32):
// CHECK-NEXT:        %[[INDEX:.*]] = linalg.index 0 : index
// CHECK-NEXT:        %[[CONSTANT:.*]] = arith.constant 5 : i32
// CHECK-NEXT:        %[[CONSTANT_1:.*]] = arith.constant 0 : i32
// CHECK-NEXT:        %[[MAXSI:.*]] = arith.maxsi %[[ARG]], %[[CONSTANT_1]] : i32
// CHECK-NEXT:        %[[MINSI:.*]] = arith.minsi %[[MAXSI]], %[[CONSTANT]] : i32
// CHECK-NEXT:        %[[INDEX_CAST:.*]] = arith.index_cast %[[MINSI]] : i32 to index
// CHECK-NEXT:        %[[INDEX_1:.*]] = linalg.index 1 : index
// CHECK-NEXT:        %[[ADDI:.*]] = arith.addi %[[INDEX_CAST]], %[[INDEX_1]] : index
// CHECK-NEXT:        %[[EXTRACT:.*]] = tensor.extract %x[%[[INDEX]], %[[ADDI]]] : tensor<4x8xf32>
// CHECK-NEXT:        linalg.yield %[[EXTRACT]] : f32
// CHECK-NEXT:      } -> tensor<2x3x5xf32>
// CHECK-NEXT:      func.return %blocks : tensor<2x3x5xf32>
// CHECK-NEXT:    }
func.func @gather_blocks(%x: tensor<4x8xf32>, %i: tensor<5x1xi32>) -> tensor<2x3x5xf32> {
  %blocks = xla.gather %x, %i {offset_dims = [0, 1], start_index_map = [1], index_vector_dim = 1, slice_sizes = [2, 3], indices_are_sorted = true} : (tensor<4x8xf32>, tensor<5x1xi32>) -> tensor<2x3x5xf32>
  func.return %blocks : tensor<2x3x5xf32>
}

// -----

// xla-update-checks: CHECK @scatter filter=scf|linalg.generic|tensor.(extract|insert)
// CHECK-LABEL:   func.func @scatter(%x: tensor<4x8xf32>, %j: tensor<3x1xi8>, %u: tensor<3x8xf32>) -> tensor<4x8xf32> {
// CHECK:           %replaced = scf.for %[[ARG:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[ARG_1:.*]] = %x) -> (tensor<4x8xf32>) {
// CHECK-NEXT:        %{{.*}} = tensor.extract %{{.*}}[%[[ARG]]] : tensor<3xi8>
// CHECK:             %[[FOR:.*]] = scf.for %{{.*}} = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[ARG_2:.*]] = %[[ARG_1]]) -> (tensor<4x8xf32>) {
// CHECK:               %[[FOR_1:.*]] = scf.for %[[ARG_3:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[ARG_4:.*]] = %[[ARG_2]]) -> (tensor<4x8xf32>) {
// CHECK-NEXT:            %{{.*}} = tensor.extract %[[ARG_4]][%[[INDEX_CASTUI:.*]], %[[ARG_3]]] : tensor<4x8xf32>
// CHECK-NEXT:            %[[EXTRACT:.*]] = tensor.extract %u[%[[ARG]], %[[ARG_3]]] : tensor<3x8xf32>
// CHECK-NEXT:            %[[INSERT:.*]] = tensor.insert %[[EXTRACT]] into %[[ARG_4]][%[[INDEX_CASTUI]], %[[ARG_3]]] : tensor<4x8xf32>
// CHECK-NEXT:            scf.yield %[[INSERT]] : tensor<4x8xf32>
// CHECK:               scf.yield %[[FOR_1]] : tensor<4x8xf32>
// CHECK:             scf.yield %[[FOR]] : tensor<4x8xf32>
func.func @scatter(%x: tensor<4x8xf32>, %j: tensor<3x1xui8>, %u: tensor<3x8xf32>) -> tensor<4x8xf32> {
  %replaced = xla.scatter %x, %j, %u {update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1} : (tensor<4x8xf32>, tensor<3x1xui8>, tensor<3x8xf32>) -> tensor<4x8xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    xla.return %b : tensor<f32>
  }
  func.return %replaced : tensor<4x8xf32>
}
