// RUN: xla-opt %s | filecheck %s --check-prefix=XLA
// RUN: xla-opt %s -t stablehlo | filecheck %s --check-prefix=STABLEHLO

// XLA-LABEL: @gather_scatter(
// STABLEHLO-LABEL: @gather_scatter(
func.func @gather_scatter(%x: tensor<4x8xf32>, %i: tensor<5x1xi32>, %j: tensor<3x1xui8>, %u: tensor<3x8xf32>) {
  // XLA: %rows = xla.gather %x, %i {offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1, slice_sizes = [1, 8]} : (tensor<4x8xf32>, tensor<5x1xi32>) -> tensor<5x8xf32>
  // STABLEHLO: %rows = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 8>}> : (tensor<4x8xf32>, tensor<5x1xi32>) -> tensor<5x8xf32>
  %rows = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 8>}> : (tensor<4x8xf32>, tensor<5x1xi32>) -> tensor<5x8xf32>
  // XLA: %blocks = xla.gather %x, %i {offset_dims = [0, 1], start_index_map = [1], index_vector_dim = 1, slice_sizes = [2, 3], indices_are_sorted = true} : (tensor<4x8xf32>, tensor<5x1xi32>) -> tensor<2x3x5xf32>
  // STABLEHLO: %blocks = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1], start_index_map = [1], index_vector_dim = 1>, indices_are_sorted = true, slice_sizes = array<i64: 2, 3>}> : (tensor<4x8xf32>, tensor<5x1xi32>) -> tensor<2x3x5xf32>
  %blocks = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1], start_index_map = [1], index_vector_dim = 1>, indices_are_sorted = true, slice_sizes = array<i64: 2, 3>}> : (tensor<4x8xf32>, tensor<5x1xi32>) -> tensor<2x3x5xf32>
  // XLA: %replaced = xla.scatter %x, %j, %u {update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1} : (tensor<4x8xf32>, tensor<3x1xui8>, tensor<3x8xf32>) -> tensor<4x8xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
  // STABLEHLO: %replaced = "stablehlo.scatter"(%x, %j, %u) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
  %replaced = "stablehlo.scatter"(%x, %j, %u) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<4x8xf32>, tensor<3x1xui8>, tensor<3x8xf32>) -> tensor<4x8xf32>
  return
}
