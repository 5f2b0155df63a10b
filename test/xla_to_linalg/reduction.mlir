// RUN: xla-opt %s -p convert-xla-to-linalg --split-input-file | filecheck %s

// xla-update-checks: CHECK @reduce
// CHECK-LABEL:   func.func @reduce(%x: tensor<4x8xf32>, %f: tensor<f32>) -> tensor<4xf32> {
// CHECK-NEXT:      %[[EXTRACT:.*]] = tensor.extract %f[] : tensor<f32>
// CHECK-NEXT:      %[[EMPTY:.*]] = tensor.empty() : tensor<4xf32>
// CHECK-NEXT:      %[[FILL:.*]] = linalg.fill ins(%[[EXTRACT]] : f32) outs(%[[EMPTY]] : tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT:      %sums = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>,
// CHECK-SAME:        affine_map<(d0, d1) -> (d0)>],
// CHECK-SAME:        iterator_types = ["parallel", "reduction"]}
// CHECK-SAME:        ins(%x : tensor<4x8xf32>) outs(%[[FILL]] : tensor<4xf32>) {
// CHECK-NEXT:      ^bb0(%[[ARG:.*]]: f32, %[[ARG_1:.*]]: f32):
// CHECK-NEXT:        %[[ADDF:.*]] = arith.addf %[[ARG_1]], %[[ARG]] : f32
// CHECK-NEXT:        linalg.yield %[[ADDF]] : f32
// CHECK-NEXT:      } -> tensor<4xf32>
// CHECK-NEXT:      func.return %sums : tensor<4xf32>
// CHECK-NEXT:    }
func.func @reduce(%x: tensor<4x8xf32>, %f: tensor<f32>) -> tensor<4xf32> {
  %sums = xla.reduce %x, %f {dimensions = [1]} : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %sum = xla.add %a, %b : tensor<f32>
    xla.return %sum : tensor<f32>
  }
  func.return %sums : tensor<4xf32>
}

// -----

// xla-update-checks: CHECK @reduce_several
// CHECK-LABEL:   func.func @reduce_several(%x: tensor<4x8xf32>, %k: tensor<4x8xi32>, %f: tensor<f32>, %i: tensor<i32>) -> (tensor<f32>, tensor<i32>) {
// CHECK-NEXT:      %[[EXTRACT:.*]] = tensor.extract %f[] : tensor<f32>
// CHECK-NEXT:      %[[EMPTY:.*]] = tensor.empty() : tensor<f32>
// CHECK-NEXT:      %[[FILL:.*]] = linalg.fill ins(%[[EXTRACT]] : f32) outs(%[[EMPTY]] : tensor<f32>) -> tensor<f32>
// CHECK-NEXT:      %[[EXTRACT_1:.*]] = tensor.extract %i[] : tensor<i32>
// CHECK-NEXT:      %[[EMPTY_1:.*]] = tensor.empty() : tensor<i32>
// CHECK-NEXT:      %[[FILL_1:.*]] = linalg.fill ins(%[[EXTRACT_1]] : i32) outs(%[[EMPTY_1]] : tensor<i32>) -> tensor<i32>
// CHECK-NEXT:      %first, %last = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>,
// CHECK-SAME:        affine_map<(d0, d1) -> (d0, d1)>,
// CHECK-SAME:        affine_map<(d0, d1) -> ()>,
// CHECK-SAME:        affine_map<(d0, d1) -> ()>],
// CHECK-SAME:        iterator_types = ["reduction", "reduction"]}
// CHECK-SAME:        ins(%x, %k : tensor<4x8xf32>, tensor<4x8xi32>) outs(%[[FILL]], %[[FILL_1]] : tensor<f32>, tensor<i32>) {
// CHECK-NEXT:      ^bb0(%{{.*}}: f32, %[[ARG:.*]]: i32, %[[ARG_1:.*]]: f32, %{{.*}}: i32):
// CHECK-NEXT:        linalg.yield %[[ARG_1]], %[[ARG]] : f32, i32
// CHECK-NEXT:      } -> (tensor<f32>, tensor<i32>)
// CHECK-NEXT:      func.return %first, %last : tensor<f32>, tensor<i32>
// CHECK-NEXT:    }
func.func @reduce_several(%x: tensor<4x8xf32>, %k: tensor<4x8xi32>, %f: tensor<f32>, %i: tensor<i32>) -> (tensor<f32>, tensor<i32>) {
  %first, %last = xla.reduce %x, %k, %f, %i {dimensions = [0, 1]} : (tensor<4x8xf32>, tensor<4x8xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>) to_apply (%e: tensor<f32>, %g: tensor<i32>, %h: tensor<f32>, %j: tensor<i32>) {
    xla.return %e, %j : tensor<f32>, tensor<i32>
  }
  func.return %first, %last : tensor<f32>, tensor<i32>
}

// -----

// xla-update-checks: CHECK @map
// CHECK-LABEL:   func.func @map(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
// CHECK-NEXT:      %[[EMPTY:.*]] = tensor.empty() : tensor<4x8xf32>
// CHECK-NEXT:      %all = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>,
// CHECK-SAME:        affine_map<(d0, d1) -> (d0, d1)>,
// CHECK-SAME:        affine_map<(d0, d1) -> (d0, d1)>],
// CHECK-SAME:        iterator_types = ["parallel", "parallel"]}
// CHECK-SAME:        ins(%x, %x : tensor<4x8xf32>, tensor<4x8xf32>) outs(%[[EMPTY]] : tensor<4x8xf32>) {
// CHECK-NEXT:      ^bb0(%{{.*}}: f32, %[[ARG:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:        linalg.yield %[[ARG]] : f32
// CHECK-NEXT:      } -> tensor<4x8xf32>
// CHECK-NEXT:      func.return %all : tensor<4x8xf32>
// CHECK-NEXT:    }
func.func @map(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %all = xla.map %x, %x {dimensions = [0, 1]} : tensor<4x8xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    xla.return %b : tensor<f32>
  }
  func.return %all : tensor<4x8xf32>
}

// -----

// xla-update-checks: CHECK @reduce_window_padded
// CHECK-LABEL:   func.func @reduce_window_padded(%x: tensor<4x5xf32>, %z: tensor<f32>) -> tensor<2x6xf32> {
// CHECK-NEXT:      %[[EXTRACT:.*]] = tensor.extract %z[] : tensor<f32>
// CHECK-NEXT:      %[[EXTRACT_SLICE:.*]] = tensor.extract_slice %x[0, 1] [4, 4] [1, 1] : tensor<4x5xf32> to tensor<4x4xf32>
// CHECK-NEXT:      %[[CONSTANT:.*]] = arith.constant -0.000000e+00 : f32
// CHECK-NEXT:      %[[EMPTY:.*]] = tensor.empty() : tensor<5x8xf32>
// CHECK-NEXT:      %[[FILL:.*]] = linalg.fill ins(%[[CONSTANT]] : f32) outs(%[[EMPTY]] : tensor<5x8xf32>) -> tensor<5x8xf32>
// CHECK-NEXT:      %[[INSERT_SLICE:.*]] = tensor.insert_slice %[[EXTRACT_SLICE]] into %[[FILL]][0, 1] [4, 4] [1, 2] : tensor<4x4xf32> into tensor<5x8xf32>
// CHECK-NEXT:      %[[EMPTY_1:.*]] = tensor.empty() : tensor<2x3xi1>
// CHECK-NEXT:      %[[EMPTY_2:.*]] = tensor.empty() : tensor<2x6xf32>
// CHECK-NEXT:      %[[FILL_1:.*]] = linalg.fill ins(%[[EXTRACT]] : f32) outs(%[[EMPTY_2]] : tensor<2x6xf32>) -> tensor<2x6xf32>
// CHECK-NEXT:      %dilated = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (((d0 * 2) + (d2 * 2)), (d1 + d3))>,
// CHECK-SAME:        affine_map<(d0, d1, d2, d3) -> (d2, d3)>,
// CHECK-SAME:        affine_map<(d0, d1, d2, d3) -> (d0, d1)>],
// CHECK-SAME:        iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
// CHECK-SAME:        ins(%[[INSERT_SLICE]], %[[EMPTY_1]] : tensor<5x8xf32>, tensor<2x3xi1>) outs(%[[FILL_1]] : tensor<2x6xf32>) {
// CHECK-NEXT:      ^bb0(%[[ARG:.*]]: f32, %{{.*}}: i1, %[[ARG_1:.*]]: f32):
// CHECK-NEXT:        %[[ADDF:.*]] = arith.addf %[[ARG_1]], %[[ARG]] : f32
// CHECK-NEXT:        linalg.yield %[[ADDF]] : f32
// CHECK-NEXT:      } -> tensor<2x6xf32>
// CHECK-NEXT:      func.return %dilated : tensor<2x6xf32>
// CHECK-NEXT:    }
func.func @reduce_window_padded(%x: tensor<4x5xf32>, %z: tensor<f32>) -> tensor<2x6xf32> {
  %dilated = xla.reduce_window %x, %z {window = #xla.window<size=2x3 stride=2x1 pad=0_1x-1_0 lhs_dilate=1x2 rhs_dilate=2x1>} : (tensor<4x5xf32>, tensor<f32>) -> tensor<2x6xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %sum = xla.add %a, %b : tensor<f32>
    xla.return %sum : tensor<f32>
  }
  func.return %dilated : tensor<2x6xf32>
}

// -----

// xla-update-checks: CHECK @reduce_window_of_scalar
// CHECK-LABEL:   func.func @reduce_window_of_scalar(%z: tensor<f32>) -> tensor<f32> {
// CHECK-NEXT:      %[[EXTRACT:.*]] = tensor.extract %z[] : tensor<f32>
// CHECK-NEXT:      %[[EMPTY:.*]] = tensor.empty() : tensor<f32>
// CHECK-NEXT:      %[[FILL:.*]] = linalg.fill ins(%[[EXTRACT]] : f32) outs(%[[EMPTY]] : tensor<f32>) -> tensor<f32>
// CHECK-NEXT:      %scalar = linalg.generic {indexing_maps = [affine_map<() -> ()>,
// CHECK-SAME:        affine_map<() -> ()>],
// CHECK-SAME:        iterator_types = []}
// CHECK-SAME:        ins(%z : tensor<f32>) outs(%[[FILL]] : tensor<f32>) {
// CHECK-NEXT:      ^bb0(%[[ARG:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:        linalg.yield %[[ARG]] : f32
// CHECK-NEXT:      } -> tensor<f32>
// CHECK-NEXT:      func.return %scalar : tensor<f32>
// CHECK-NEXT:    }
func.func @reduce_window_of_scalar(%z: tensor<f32>) -> tensor<f32> {
  %scalar = xla.reduce_window %z, %z : tensor<f32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    xla.return %b : tensor<f32>
  }
  func.return %scalar : tensor<f32>
}

// -----

// xla-update-checks: CHECK @select_and_scatter filter=linalg.generic|scf\.|cmpf|tensor.insert
// CHECK-LABEL:   func.func @select_and_scatter(%x: tensor<4x5xf32>, %s: tensor<2x3xf32>, %z: tensor<f32>) -> tensor<4x5xf32> {
// CHECK:           %{{.*}}, %[[GENERIC:.*]] = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (((d0 * 2) + d2), (d1 + d3))>,
// CHECK-SAME:        affine_map<(d0, d1, d2, d3) -> (d2, d3)>,
// CHECK-SAME:        affine_map<(d0, d1, d2, d3) -> (d0, d1)>,
// CHECK-SAME:        affine_map<(d0, d1, d2, d3) -> (d0, d1)>],
// CHECK-SAME:        iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
// CHECK-SAME:        ins(%x, %{{.*}} : tensor<4x5xf32>, tensor<2x3xi1>) outs(%{{.*}}, %{{.*}} : tensor<2x3xf32>, tensor<2x3xi32>) {
// CHECK:             %{{.*}} = arith.cmpf oge, %{{.*}}, %{{.*}} : f32
// CHECK:           %[[INSERT_SLICE:.*]] = tensor.insert_slice %[[GENERIC]] into %{{.*}}[0, 2] [2, 3] [1, 1] : tensor<2x3xi32> into tensor<2x7xi32>
// CHECK:           %[[INSERT_SLICE_1:.*]] = tensor.insert_slice %s into %{{.*}}[0, 2] [2, 3] [1, 1] : tensor<2x3xf32> into tensor<2x7xf32>
// CHECK:           %{{.*}} = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, (d2 + d3))>,
// CHECK-SAME:        affine_map<(d0, d1, d2, d3) -> (d0, (d2 + d3))>,
// CHECK-SAME:        affine_map<(d0, d1, d2, d3) -> (d3)>,
// CHECK-SAME:        affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>],
// CHECK-SAME:        iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
// CHECK-SAME:        ins(%[[INSERT_SLICE]], %[[INSERT_SLICE_1]], %{{.*}} : tensor<2x7xi32>, tensor<2x7xf32>, tensor<3xi1>) outs(%{{.*}} : tensor<2x2x5xf32>) {
func.func @select_and_scatter(%x: tensor<4x5xf32>, %s: tensor<2x3xf32>, %z: tensor<f32>) -> tensor<4x5xf32> {
  %scattered = xla.select_and_scatter %x, %s, %z {window = #xla.window<size=2x3 stride=2x1>} : (tensor<4x5xf32>, tensor<2x3xf32>, tensor<f32>) -> tensor<4x5xf32> select (%a: tensor<f32>, %b: tensor<f32>) {
    %first = xla.compare %a, %b {direction = GE} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    xla.return %first : tensor<i1>
  } scatter (%a_1: tensor<f32>, %b_1: tensor<f32>) {
    xla.return %b_1 : tensor<f32>
  }
  func.return %scattered : tensor<4x5xf32>
}
