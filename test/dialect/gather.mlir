// RUN: xla-opt %s --split-input-file --verify-diagnostics | filecheck %s
// RUN: xla-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | xla-opt --split-input-file | filecheck %s

// CHECK-LABEL: @gather(
func.func @gather(%x: tensor<4x8xf32>, %i: tensor<5x1xi32>) {
  // CHECK: %rows = xla.gather %x, %i {offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1, slice_sizes = [1, 8]} : (tensor<4x8xf32>, tensor<5x1xi32>) -> tensor<5x8xf32>
  %rows = xla.gather %x, %i {offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1, slice_sizes = [1, 8]} : (tensor<4x8xf32>, tensor<5x1xi32>) -> tensor<5x8xf32>
  // CHECK: %blocks = xla.gather %x, %i {offset_dims = [0, 1], start_index_map = [1], index_vector_dim = 1, slice_sizes = [2, 3], indices_are_sorted = true} : (tensor<4x8xf32>, tensor<5x1xi32>) -> tensor<2x3x5xf32>
  %blocks = xla.gather %x, %i {offset_dims = [0, 1], start_index_map = [1], index_vector_dim = 1, slice_sizes = [2, 3], indices_are_sorted = true} : (tensor<4x8xf32>, tensor<5x1xi32>) -> tensor<2x3x5xf32>
  func.return
}

// -----

func.func @gather_C1_1(%x: tensor<16x11xf32>, %y: tensor<5x1xf32>) {
  // expected-error @+1 {{xla.gather: (C1) start_indices has element type f32, allowed: integer}}
  %0 = xla.gather %x, %y {offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1, slice_sizes = [1, 11]} : (tensor<16x11xf32>, tensor<5x1xf32>) -> tensor<5x11xf32>
  func.return
}

// -----

func.func @gather_C1_2(%x: tensor<16x11xf32>, %y: tensor<5x1xi1>) {
  // expected-error @+1 {{xla.gather: (C1) start_indices has element type pred, allowed: integer}}
  %0 = xla.gather %x, %y {offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1, slice_sizes = [1, 11]} : (tensor<16x11xf32>, tensor<5x1xi1>) -> tensor<5x11xf32>
  func.return
}

// -----

func.func @gather_C2_1(%x: tensor<16x11xf32>, %y: tensor<5x1xi32>) {
  // expected-error @+1 {{xla.gather: (C2) index_vector_dim = 3 for indices of rank 2}}
  %0 = xla.gather %x, %y {offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 3, slice_sizes = [1, 11]} : (tensor<16x11xf32>, tensor<5x1xi32>) -> tensor<5x11xf32>
  func.return
}

// -----

func.func @gather_C2_2(%x: tensor<16x11xf32>, %y: tensor<5x1xi32>) {
  // expected-error @+1 {{xla.gather: (C2) index_vector_dim = -1 for indices of rank 2}}
  %0 = xla.gather %x, %y {offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = -1, slice_sizes = [1, 11]} : (tensor<16x11xf32>, tensor<5x1xi32>) -> tensor<5x11xf32>
  func.return
}

// -----

func.func @gather_C3_1(%x: tensor<16x11xf32>, %y: tensor<5x1xi32>) {
  // expected-error @+1 {{xla.gather: (C3) offset_dims = [2] are not distinct dimensions of rank 2}}
  %0 = xla.gather %x, %y {offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1, slice_sizes = [1, 11]} : (tensor<16x11xf32>, tensor<5x1xi32>) -> tensor<5x11xf32>
  func.return
}

// -----

func.func @gather_C3_2(%x: tensor<16x11xf32>, %y: tensor<5x1xi32>) {
  // expected-error @+1 {{xla.gather: (C3) offset_dims = [-1] are not distinct dimensions of rank 2}}
  %0 = xla.gather %x, %y {offset_dims = [-1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1, slice_sizes = [1, 11]} : (tensor<16x11xf32>, tensor<5x1xi32>) -> tensor<5x11xf32>
  func.return
}

// -----

func.func @gather_C3_3(%x: tensor<16x11xf32>, %y: tensor<5x1xi32>) {
  // expected-error @+1 {{xla.gather: (C3) offset_dims = [1, 0] do not ascend}}
  %0 = xla.gather %x, %y {offset_dims = [1, 0], start_index_map = [0], index_vector_dim = 1, slice_sizes = [1, 11]} : (tensor<16x11xf32>, tensor<5x1xi32>) -> tensor<5x11xf32>
  func.return
}

// -----

func.func @gather_C3_4(%x: tensor<16x11xf32>, %y: tensor<5x1xi32>) {
  // expected-error @+1 {{xla.gather: (C3) offset_dims = [1, 1] are not distinct dimensions of rank 3}}
  %0 = xla.gather %x, %y {offset_dims = [1, 1], start_index_map = [0], index_vector_dim = 1, slice_sizes = [1, 11]} : (tensor<16x11xf32>, tensor<5x1xi32>) -> tensor<5x11xf32>
  func.return
}

// -----

func.func @gather_C4_1(%x: tensor<16x11xf32>, %y: tensor<5x1xi32>) {
  // expected-error @+1 {{xla.gather: (C4) collapsed_slice_dims = [2] are not distinct dimensions of rank 2}}
  %0 = xla.gather %x, %y {offset_dims = [1], collapsed_slice_dims = [2], start_index_map = [0], index_vector_dim = 1, slice_sizes = [1, 11]} : (tensor<16x11xf32>, tensor<5x1xi32>) -> tensor<5x11xf32>
  func.return
}

// -----

func.func @gather_C4_2(%x: tensor<16x11xf32>, %y: tensor<5x1xi32>) {
  // expected-error @+1 {{xla.gather: (C4) collapsed_slice_dims = [1, 0] do not ascend}}
  %0 = xla.gather %x, %y {offset_dims = [], collapsed_slice_dims = [1, 0], start_index_map = [0], index_vector_dim = 1, slice_sizes = [1, 1]} : (tensor<16x11xf32>, tensor<5x1xi32>) -> tensor<5x11xf32>
  func.return
}

// -----

func.func @gather_C4_3(%x: tensor<16x11xf32>, %y: tensor<5x1xi32>) {
  // expected-error @+1 {{xla.gather: (C4) collapsed slice size is 2}}
  %0 = xla.gather %x, %y {offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1, slice_sizes = [2, 11]} : (tensor<16x11xf32>, tensor<5x1xi32>) -> tensor<5x11xf32>
  func.return
}

// -----

func.func @gather_C5_1(%x: tensor<16x11xf32>, %y: tensor<5x1xi32>) {
  // expected-error @+1 {{xla.gather: (C5) slice_sizes has 1 entries, not 2}}
  %0 = xla.gather %x, %y {offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1, slice_sizes = [1]} : (tensor<16x11xf32>, tensor<5x1xi32>) -> tensor<5x11xf32>
  func.return
}

// -----

func.func @gather_C5_2(%x: tensor<16x11xf32>, %y: tensor<5x1xi32>) {
  // expected-error @+1 {{xla.gather: (C5) 0 offset, 1 collapsed and 0 batching dimensions for an operand of rank 2}}
  %0 = xla.gather %x, %y {offset_dims = [], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1, slice_sizes = [1, 11]} : (tensor<16x11xf32>, tensor<5x1xi32>) -> tensor<5x11xf32>
  func.return
}

// -----

func.func @gather_C6_1(%x: tensor<16x11xf32>, %y: tensor<5x1xi32>) {
  // expected-error @+1 {{xla.gather: (C6) slice sizes [1, 12] of an operand with sizes [16, 11]}}
  %0 = xla.gather %x, %y {offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1, slice_sizes = [1, 12]} : (tensor<16x11xf32>, tensor<5x1xi32>) -> tensor<5x11xf32>
  func.return
}

// -----

func.func @gather_C6_2(%x: tensor<16x11xf32>, %y: tensor<5x1xi32>) {
  // expected-error @+1 {{xla.gather: (C6) slice sizes [1, -1] of an operand with sizes [16, 11]}}
  %0 = xla.gather %x, %y {offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1, slice_sizes = [1, -1]} : (tensor<16x11xf32>, tensor<5x1xi32>) -> tensor<5x11xf32>
  func.return
}

// -----

func.func @gather_C7_1(%x: tensor<16x11xf32>, %y: tensor<5x1xi32>) {
  // expected-error @+1 {{xla.gather: (C7) start_index_map has 0 entries, not 1}}
  %0 = xla.gather %x, %y {offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [], index_vector_dim = 1, slice_sizes = [1, 11]} : (tensor<16x11xf32>, tensor<5x1xi32>) -> tensor<5x11xf32>
  func.return
}

// -----

func.func @gather_C7_2(%x: tensor<16x11xf32>, %y: tensor<5x1xi32>) {
  // expected-error @+1 {{xla.gather: (C7) start_index_map = [2] are not distinct dimensions of rank 2}}
  %0 = xla.gather %x, %y {offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [2], index_vector_dim = 1, slice_sizes = [1, 11]} : (tensor<16x11xf32>, tensor<5x1xi32>) -> tensor<5x11xf32>
  func.return
}

// -----

func.func @gather_C7_3(%x: tensor<16x11xf32>, %y: tensor<5x2xi32>) {
  // expected-error @+1 {{xla.gather: (C7) start_index_map = [0, 0] are not distinct dimensions of rank 2}}
  %0 = xla.gather %x, %y {offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0, 0], index_vector_dim = 1, slice_sizes = [1, 11]} : (tensor<16x11xf32>, tensor<5x2xi32>) -> tensor<16x11xf32>
  func.return
}

// -----

func.func @gather_C8_1(%x: tensor<2x3xf32>, %y: tensor<3x1xi32>) {
  // expected-error @+1 {{xla.gather: (C8) batching sizes are [2] and [3]}}
  %0 = xla.gather %x, %y {offset_dims = [], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1, slice_sizes = [1, 1], operand_batching_dims = [0], start_indices_batching_dims = [0]} : (tensor<2x3xf32>, tensor<3x1xi32>) -> tensor<2x3xf32>
  func.return
}

// -----

func.func @gather_C8_2(%x: tensor<2x3xf32>, %y: tensor<2x1xi32>) {
  // expected-error @+1 {{xla.gather: (C8) batching sizes are [2] and []}}
  %0 = xla.gather %x, %y {offset_dims = [], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1, slice_sizes = [1, 1], operand_batching_dims = [0]} : (tensor<2x3xf32>, tensor<2x1xi32>) -> tensor<2x3xf32>
  func.return
}

// -----

func.func @gather_C8_3(%x: tensor<2x3xf32>, %y: tensor<2x1xi32>) {
  // expected-error @+1 {{xla.gather: (C8) start_indices_batching_dims = [2] are not distinct dimensions of rank 2}}
  %0 = xla.gather %x, %y {offset_dims = [], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1, slice_sizes = [1, 1], operand_batching_dims = [0], start_indices_batching_dims = [2]} : (tensor<2x3xf32>, tensor<2x1xi32>) -> tensor<2x3xf32>
  func.return
}

// -----

func.func @gather_C8_4(%x: tensor<1x3xf32>, %y: tensor<2x1xi32>) {
  // expected-error @+1 {{xla.gather: (C8) index_vector_dim 1 is a batching dimension}}
  %0 = xla.gather %x, %y {offset_dims = [], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1, slice_sizes = [1, 1], operand_batching_dims = [0], start_indices_batching_dims = [1]} : (tensor<1x3xf32>, tensor<2x1xi32>) -> tensor<1x3xf32>
  func.return
}

// -----

func.func @gather_C8_5(%x: tensor<2x3xf32>, %y: tensor<2x1xi32>) {
  // expected-error @+1 {{xla.gather: (C8) operand_batching_dims = [0] are inserted, collapsed or indexed}}
  %0 = xla.gather %x, %y {offset_dims = [], collapsed_slice_dims = [1], start_index_map = [0], index_vector_dim = 1, slice_sizes = [1, 1], operand_batching_dims = [0], start_indices_batching_dims = [0]} : (tensor<2x3xf32>, tensor<2x1xi32>) -> tensor<2x3xf32>
  func.return
}

// -----

func.func @gather_C8_6(%x: tensor<2x3xf32>, %y: tensor<2x1xi32>) {
  // expected-error @+1 {{xla.gather: (C8) batching slice sizes exceed 1}}
  %0 = xla.gather %x, %y {offset_dims = [], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1, slice_sizes = [2, 1], operand_batching_dims = [0], start_indices_batching_dims = [0]} : (tensor<2x3xf32>, tensor<2x1xi32>) -> tensor<2x3xf32>
  func.return
}

// -----

func.func @gather_C8_7(%x: tensor<2x3xf32>, %y: tensor<2x1xi32>) {
  // expected-error @+1 {{xla.gather: (C8) operand_batching_dims = [2] are not distinct dimensions of rank 2}}
  %0 = xla.gather %x, %y {offset_dims = [], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1, slice_sizes = [1, 1], operand_batching_dims = [2], start_indices_batching_dims = [0]} : (tensor<2x3xf32>, tensor<2x1xi32>) -> tensor<2x3xf32>
  func.return
}
