// RUN: xla-opt %s -p convert-xla-to-linalg --split-input-file | filecheck %s

// xla-update-checks: CHECK @fft_of_reals filter=linalg.generic
// CHECK-LABEL:   func.func @fft_of_reals(%x: tensor<3x8xf32>) -> tensor<3x5xcomplex<f32>> {
// CHECK:           %{{.*}}, %{{.*}} = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d2, (d1 * 2))>,
// CHECK-SAME:        affine_map<(d0, d1, d2) -> (d2, ((d1 * 2) + 1))>,
// CHECK-SAME:        affine_map<(d0, d1, d2) -> (d0, d1, d2)>,
// CHECK-SAME:        affine_map<(d0, d1, d2) -> (d0, d1, d2)>],
// CHECK-SAME:        iterator_types = ["parallel", "parallel", "parallel"]}
// CHECK-SAME:        ins(%x, %x : tensor<3x8xf32>, tensor<3x8xf32>) outs(%{{.*}}, %{{.*}} : tensor<1x4x3xf32>, tensor<1x4x3xf32>) {
// CHECK:           %{{.*}} = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (0, (d1 + 1), d0)>,
// CHECK-SAME:        affine_map<(d0, d1) -> (1, (d1 + 1), d0)>,
// CHECK-SAME:        affine_map<(d0, d1) -> (0, ((d1 * -1) + 3), d0)>,
// CHECK-SAME:        affine_map<(d0, d1) -> (1, ((d1 * -1) + 3), d0)>,
// CHECK-SAME:        affine_map<(d0, d1) -> (0, d1)>,
// CHECK-SAME:        affine_map<(d0, d1) -> (1, d1)>,
// CHECK-SAME:        affine_map<(d0, d1) -> (d0, d1)>],
// CHECK-SAME:        iterator_types = ["parallel", "parallel"]}
// CHECK-SAME:        ins(%[[CALL:.*]], %[[CALL]], %[[CALL]], %[[CALL]], %[[CONSTANT:.*]], %[[CONSTANT]] : tensor<2x4x3xf32>, tensor<2x4x3xf32>, tensor<2x4x3xf32>, tensor<2x4x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) outs(%{{.*}} : tensor<3x3xcomplex<f32>>) {
// CHECK:           %{{.*}} = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (0, 0, d0)>,
// CHECK-SAME:        affine_map<(d0, d1) -> (1, 0, d0)>,
// CHECK-SAME:        affine_map<(d0, d1) -> (0, d1)>,
// CHECK-SAME:        affine_map<(d0, d1) -> (d0, d1)>],
// CHECK-SAME:        iterator_types = ["parallel", "parallel"]}
// CHECK-SAME:        ins(%[[CALL]], %[[CALL]], %{{.*}} : tensor<2x4x3xf32>, tensor<2x4x3xf32>, tensor<2x2xf32>) outs(%{{.*}} : tensor<3x2xcomplex<f32>>) {
func.func @fft_of_reals(%x: tensor<3x8xf32>) -> tensor<3x5xcomplex<f32>> {
  %spectrum = xla.fft %x {fft_type = RFFT, fft_length = [8]} : (tensor<3x8xf32>) -> tensor<3x5xcomplex<f32>>
  func.return %spectrum : tensor<3x5xcomplex<f32>>
}

// -----

// xla-update-checks: CHECK @fft_to_reals filter=linalg.generic
// CHECK-LABEL:   func.func @fft_to_reals(%a: tensor<4x4xcomplex<f32>>) -> tensor<4x6xf32> {
// CHECK:           %{{.*}}, %{{.*}} = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d2, d1)>,
// CHECK-SAME:        affine_map<(d0, d1, d2) -> (d2, ((d1 * -1) + 3))>,
// CHECK-SAME:        affine_map<(d0, d1, d2) -> (0, d1)>,
// CHECK-SAME:        affine_map<(d0, d1, d2) -> (1, d1)>,
// CHECK-SAME:        affine_map<(d0, d1, d2) -> (d0, d1, d2)>,
// CHECK-SAME:        affine_map<(d0, d1, d2) -> (d0, d1, d2)>],
// CHECK-SAME:        iterator_types = ["parallel", "parallel", "parallel"]}
// CHECK-SAME:        ins(%{{.*}}, %a, %[[CONSTANT:.*]], %[[CONSTANT]] : tensor<4x3xcomplex<f32>>, tensor<4x4xcomplex<f32>>, tensor<2x3xf32>, tensor<2x3xf32>) outs(%{{.*}}, %{{.*}} : tensor<1x3x4xf32>, tensor<1x3x4xf32>) {
// CHECK:           %{{.*}} = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (0, d1, d0)>,
// CHECK-SAME:        affine_map<(d0, d1) -> (d0, d1)>],
// CHECK-SAME:        iterator_types = ["parallel", "parallel"]}
// CHECK-SAME:        ins(%[[CALL:.*]] : tensor<2x3x4xf32>) outs(%{{.*}} : tensor<4x3xf32>) {
// CHECK:           %{{.*}} = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (1, d1, d0)>,
// CHECK-SAME:        affine_map<(d0, d1) -> (d0, d1)>],
// CHECK-SAME:        iterator_types = ["parallel", "parallel"]}
// CHECK-SAME:        ins(%[[CALL]] : tensor<2x3x4xf32>) outs(%{{.*}} : tensor<4x3xf32>) {
func.func @fft_to_reals(%a: tensor<4x4xcomplex<f32>>) -> tensor<4x6xf32> {
  %signal = xla.fft %a {fft_type = IRFFT, fft_length = [6]} : (tensor<4x4xcomplex<f32>>) -> tensor<4x6xf32>
  func.return %signal : tensor<4x6xf32>
}
