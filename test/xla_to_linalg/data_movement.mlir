// RUN: xla-opt %s -p convert-xla-to-linalg --split-input-file | filecheck %s

// xla-update-checks: CHECK @broadcast
// CHECK-LABEL:   func.func @broadcast(%v: tensor<3xf32>) -> tensor<4x3xf32> {
// CHECK-NEXT:      %[[EMPTY:.*]] = tensor.empty() : tensor<4x3xf32>
// CHECK-NEXT:      %[[GENERIC:.*]] = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1)>,
// CHECK-SAME:        affine_map<(d0, d1) -> (d0, d1)>],
// CHECK-SAME:        iterator_types = ["parallel", "parallel"]}
// CHECK-SAME:        ins(%v : tensor<3xf32>) outs(%[[EMPTY]] : tensor<4x3xf32>) {
// CHECK-NEXT:      ^bb0(%[[ARG:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:        linalg.yield %[[ARG]] : f32
// CHECK-NEXT:      } -> tensor<4x3xf32>
// CHECK-NEXT:      func.return %[[GENERIC]] : tensor<4x3xf32>
// CHECK-NEXT:    }
func.func @broadcast(%v: tensor<3xf32>) -> tensor<4x3xf32> {
  %0 = xla.broadcast %v {dimensions = [1]} : (tensor<3xf32>) -> tensor<4x3xf32>
  func.return %0 : tensor<4x3xf32>
}

// -----

// xla-update-checks: CHECK @identities
// CHECK-LABEL:   func.func @identities(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>, %z: tensor<f32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<f32>) {
// CHECK-NEXT:      func.return %x, %y, %z : tensor<2x3xf32>, tensor<2x3xf32>, tensor<f32>
// CHECK-NEXT:    }
func.func @identities(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>, %z: tensor<f32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<f32>) {
  %0 = xla.broadcast %x {dimensions = [0, 1]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = xla.transpose %y {dimensions = [0, 1]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = xla.reverse %z {dimensions = []} : tensor<f32>
  func.return %0, %1, %2 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<f32>
}

// -----

// xla-update-checks: CHECK @broadcast_to_nothing
// CHECK-LABEL:   func.func @broadcast_to_nothing(%s: tensor<f32>) -> tensor<0xf32> {
// CHECK-NEXT:      %[[EMPTY:.*]] = tensor.empty() : tensor<0xf32>
// CHECK-NEXT:      func.return %[[EMPTY]] : tensor<0xf32>
// CHECK-NEXT:    }
func.func @broadcast_to_nothing(%s: tensor<f32>) -> tensor<0xf32> {
  %0 = xla.broadcast %s : (tensor<f32>) -> tensor<0xf32>
  func.return %0 : tensor<0xf32>
}

// -----

// xla-update-checks: CHECK @reshape
// CHECK-LABEL:   func.func @reshape(%x: tensor<4x3xf32>) -> tensor<2x6xf32> {
// CHECK-NEXT:      %[[EXPAND_SHAPE:.*]] = tensor.expand_shape %x {{\[\[}}0 : i64, 1 : i64], [2 : i64]] output_shape [2, 2, 3] : tensor<4x3xf32> into tensor<2x2x3xf32>
// CHECK-NEXT:      %[[COLLAPSE_SHAPE:.*]] = tensor.collapse_shape %[[EXPAND_SHAPE]] {{\[\[}}0 : i64], [1 : i64, 2 : i64]] : tensor<2x2x3xf32> into tensor<2x6xf32>
// CHECK-NEXT:      func.return %[[COLLAPSE_SHAPE]] : tensor<2x6xf32>
// CHECK-NEXT:    }
func.func @reshape(%x: tensor<4x3xf32>) -> tensor<2x6xf32> {
  %0 = xla.reshape %x : (tensor<4x3xf32>) -> tensor<2x6xf32>
  func.return %0 : tensor<2x6xf32>
}

// -----

// xla-update-checks: CHECK @transpose
// CHECK-LABEL:   func.func @transpose(%x: tensor<4x3xf32>) -> tensor<3x4xf32> {
// CHECK-NEXT:      %[[EMPTY:.*]] = tensor.empty() : tensor<3x4xf32>
// CHECK-NEXT:      %[[GENERIC:.*]] = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>,
// CHECK-SAME:        affine_map<(d0, d1) -> (d0, d1)>],
// CHECK-SAME:        iterator_types = ["parallel", "parallel"]}
// CHECK-SAME:        ins(%x : tensor<4x3xf32>) outs(%[[EMPTY]] : tensor<3x4xf32>) {
// CHECK-NEXT:      ^bb0(%[[ARG:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:        linalg.yield %[[ARG]] : f32
// CHECK-NEXT:      } -> tensor<3x4xf32>
// CHECK-NEXT:      func.return %[[GENERIC]] : tensor<3x4xf32>
// CHECK-NEXT:    }
func.func @transpose(%x: tensor<4x3xf32>) -> tensor<3x4xf32> {
  %0 = xla.transpose %x {dimensions = [1, 0]} : (tensor<4x3xf32>) -> tensor<3x4xf32>
  func.return %0 : tensor<3x4xf32>
}

// -----

// xla-update-checks: CHECK @slice
// CHECK-LABEL:   func.func @slice(%x: tensor<4x3xf32>) -> tensor<2x2xf32> {
// CHECK-NEXT:      %[[EXTRACT_SLICE:.*]] = tensor.extract_slice %x[0, 1] [2, 2] [2, 1] : tensor<4x3xf32> to tensor<2x2xf32>
// CHECK-NEXT:      func.return %[[EXTRACT_SLICE]] : tensor<2x2xf32>
// CHECK-NEXT:    }
func.func @slice(%x: tensor<4x3xf32>) -> tensor<2x2xf32> {
  %0 = xla.slice %x {start_indices = [0, 1], limit_indices = [4, 3], strides = [2, 1]} : (tensor<4x3xf32>) -> tensor<2x2xf32>
  func.return %0 : tensor<2x2xf32>
}

// -----

// xla-update-checks: CHECK @concatenate
// CHECK-LABEL:   func.func @concatenate(%x: tensor<4x3xf32>) -> tensor<8x3xf32> {
// CHECK-NEXT:      %[[EMPTY:.*]] = tensor.empty() : tensor<8x3xf32>
// CHECK-NEXT:      %[[INSERT_SLICE:.*]] = tensor.insert_slice %x into %[[EMPTY]][0, 0] [4, 3] [1, 1] : tensor<4x3xf32> into tensor<8x3xf32>
// CHECK-NEXT:      %[[INSERT_SLICE_1:.*]] = tensor.insert_slice %x into %[[INSERT_SLICE]][4, 0] [4, 3] [1, 1] : tensor<4x3xf32> into tensor<8x3xf32>
// CHECK-NEXT:      func.return %[[INSERT_SLICE_1]] : tensor<8x3xf32>
// CHECK-NEXT:    }
func.func @concatenate(%x: tensor<4x3xf32>) -> tensor<8x3xf32> {
  %0 = xla.concatenate %x, %x {dimension = 0} : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<8x3xf32>
  func.return %0 : tensor<8x3xf32>
}

// -----

// xla-update-checks: CHECK @pad
// CHECK-LABEL:   func.func @pad(%v: tensor<3xf32>, %s: tensor<f32>) -> tensor<6xf32> {
// CHECK-NEXT:      %[[EXTRACT_SLICE:.*]] = tensor.extract_slice %v[1] [2] [1] : tensor<3xf32> to tensor<2xf32>
// CHECK-NEXT:      %[[EXTRACT:.*]] = tensor.extract %s[] : tensor<f32>
// CHECK-NEXT:      %[[EMPTY:.*]] = tensor.empty() : tensor<6xf32>
// CHECK-NEXT:      %[[FILL:.*]] = linalg.fill ins(%[[EXTRACT]] : f32) outs(%[[EMPTY]] : tensor<6xf32>) -> tensor<6xf32>
// CHECK-NEXT:      %[[INSERT_SLICE:.*]] = tensor.insert_slice %[[EXTRACT_SLICE]] into %[[FILL]][1] [2] [2] : tensor<2xf32> into tensor<6xf32>
// CHECK-NEXT:      func.return %[[INSERT_SLICE]] : tensor<6xf32>
// CHECK-NEXT:    }
func.func @pad(%v: tensor<3xf32>, %s: tensor<f32>) -> tensor<6xf32> {
  %0 = xla.pad %v, %s {edge_padding_low = [-1], edge_padding_high = [2], interior_padding = [1]} : (tensor<3xf32>, tensor<f32>) -> tensor<6xf32>
  func.return %0 : tensor<6xf32>
}

// -----

// xla-update-checks: CHECK @reverse
// CHECK-LABEL:   func.func @reverse(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
// CHECK-NEXT:      %[[EMPTY:.*]] = tensor.empty() : tensor<4x3xf32>
// CHECK-NEXT:      %[[GENERIC:.*]] = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (((d0 * -1) + 3), ((d1 * -1) + 2))>,
// CHECK-SAME:        affine_map<(d0, d1) -> (d0, d1)>],
// CHECK-SAME:        iterator_types = ["parallel", "parallel"]}
// CHECK-SAME:        ins(%x : tensor<4x3xf32>) outs(%[[EMPTY]] : tensor<4x3xf32>) {
// CHECK-NEXT:      ^bb0(%[[ARG:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:        linalg.yield %[[ARG]] : f32
// CHECK-NEXT:      } -> tensor<4x3xf32>
// CHECK-NEXT:      func.return %[[GENERIC]] : tensor<4x3xf32>
// CHECK-NEXT:    }
func.func @reverse(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %0 = xla.reverse %x {dimensions = [0, 1]} : tensor<4x3xf32>
  func.return %0 : tensor<4x3xf32>
}

// -----

// xla-update-checks: CHECK @dynamic_slice
// CHECK-LABEL:   func.func @dynamic_slice(%x: tensor<4x3xf32>, %i: tensor<i32>) -> tensor<2x1xf32> {
// CHECK-NEXT:      %[[EXTRACT:.*]] = tensor.extract %i[] : tensor<i32>
// CHECK-NEXT:      %[[CONSTANT:.*]] = arith.constant 2 : i32
// CHECK-NEXT:      %[[CONSTANT_1:.*]] = arith.constant 0 : i32
// CHECK-NEXT:      %[[MAXSI:.*]] = arith.maxsi %[[EXTRACT]], %[[CONSTANT_1]] : i32
// CHECK-NEXT:      %[[MINSI:.*]] = arith.minsi %[[MAXSI]], %[[CONSTANT]] : i32
// CHECK-NEXT:      %[[INDEX_CAST:.*]] = arith.index_cast %[[MINSI]] : i32 to index
// CHECK-NEXT:      %[[EXTRACT_1:.*]] = tensor.extract %i[] : tensor<i32>
// CHECK-NEXT:      %[[CONSTANT_2:.*]] = arith.constant 2 : i32
// CHECK-NEXT:      %[[CONSTANT_3:.*]] = arith.constant 0 : i32
// CHECK-NEXT:      %[[MAXSI_1:.*]] = arith.maxsi %[[EXTRACT_1]], %[[CONSTANT_3]] : i32
// CHECK-NEXT:      %[[MINSI_1:.*]] = arith.minsi %[[MAXSI_1]], %[[CONSTANT_2]] : i32
// CHECK-NEXT:      %[[INDEX_CAST_1:.*]] = arith.index_cast %[[MINSI_1]] : i32 to index
// CHECK-NEXT:      %[[EXTRACT_SLICE:.*]] = tensor.extract_slice %x[%[[INDEX_CAST]], %[[INDEX_CAST_1]]] [2, 1] [1, 1] : tensor<4x3xf32> to tensor<2x1xf32>
// CHECK-NEXT:      func.return %[[EXTRACT_SLICE]] : tensor<2x1xf32>
// CHECK-NEXT:    }
func.func @dynamic_slice(%x: tensor<4x3xf32>, %i: tensor<i32>) -> tensor<2x1xf32> {
  %0 = xla.dynamic_slice %x, %i, %i {dynamic_slice_sizes = [2, 1]} : (tensor<4x3xf32>, tensor<i32>, tensor<i32>) -> tensor<2x1xf32>
  func.return %0 : tensor<2x1xf32>
}

// -----

// xla-update-checks: CHECK @dynamic_update_slice
// CHECK-LABEL:   func.func @dynamic_update_slice(%x: tensor<4x3xf32>, %u: tensor<2x1xf32>, %i: tensor<i32>) -> tensor<4x3xf32> {
// CHECK-NEXT:      %[[EXTRACT:.*]] = tensor.extract %i[] : tensor<i32>
// CHECK-NEXT:      %[[CONSTANT:.*]] = arith.constant 2 : i32
// CHECK-NEXT:      %[[CONSTANT_1:.*]] = arith.constant 0 : i32
// CHECK-NEXT:      %[[MAXSI:.*]] = arith.maxsi %[[EXTRACT]], %[[CONSTANT_1]] : i32
// CHECK-NEXT:      %[[MINSI:.*]] = arith.minsi %[[MAXSI]], %[[CONSTANT]] : i32
// CHECK-NEXT:      %[[INDEX_CAST:.*]] = arith.index_cast %[[MINSI]] : i32 to index
// CHECK-NEXT:      %[[EXTRACT_1:.*]] = tensor.extract %i[] : tensor<i32>
// CHECK-NEXT:      %[[CONSTANT_2:.*]] = arith.constant 2 : i32
// CHECK-NEXT:      %[[CONSTANT_3:.*]] = arith.constant 0 : i32
// CHECK-NEXT:      %[[MAXSI_1:.*]] = arith.maxsi %[[EXTRACT_1]], %[[CONSTANT_3]] : i32
// CHECK-NEXT:      %[[MINSI_1:.*]] = arith.minsi %[[MAXSI_1]], %[[CONSTANT_2]] : i32
// CHECK-NEXT:      %[[INDEX_CAST_1:.*]] = arith.index_cast %[[MINSI_1]] : i32 to index
// CHECK-NEXT:      %[[INSERT_SLICE:.*]] = tensor.insert_slice %u into %x[%[[INDEX_CAST]], %[[INDEX_CAST_1]]] [2, 1] [1, 1] : tensor<2x1xf32> into tensor<4x3xf32>
// CHECK-NEXT:      func.return %[[INSERT_SLICE]] : tensor<4x3xf32>
// CHECK-NEXT:    }
func.func @dynamic_update_slice(%x: tensor<4x3xf32>, %u: tensor<2x1xf32>, %i: tensor<i32>) -> tensor<4x3xf32> {
  %0 = xla.dynamic_update_slice %x, %u, %i, %i : (tensor<4x3xf32>, tensor<2x1xf32>, tensor<i32>, tensor<i32>) -> tensor<4x3xf32>
  func.return %0 : tensor<4x3xf32>
}

// -----

// xla-update-checks: CHECK @copy
// CHECK-LABEL:   func.func private @copy(%x: tensor<4x3xf32>) -> tensor<4x3xf32> {
// CHECK-NEXT:      func.return %x : tensor<4x3xf32>
// CHECK-NEXT:    }
func.func private @copy(%x: tensor<4x3xf32>) -> tensor<4x3xf32, #xla.layout<{0,1:T(2,2)S(1)}>> {
  %0 = xla.copy %x : (tensor<4x3xf32>) -> tensor<4x3xf32, #xla.layout<{0,1:T(2,2)S(1)}>>
  func.return %0 : tensor<4x3xf32, #xla.layout<{0,1:T(2,2)S(1)}>>
}
