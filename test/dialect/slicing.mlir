// RUN: xla-opt %s --split-input-file --verify-diagnostics | filecheck %s
// RUN: xla-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | xla-opt --split-input-file | filecheck %s

// CHECK-LABEL: @slices(
func.func @slices(%x: tensor<4x3xf32>, %i: tensor<i32>, %u: tensor<2x1xf32>) {
  // CHECK: xla.slice %x {start_indices = [0, 1], limit_indices = [4, 3], strides = [2, 1]} : (tensor<4x3xf32>) -> tensor<2x2xf32>
  %0 = xla.slice %x {start_indices = [0, 1], limit_indices = [4, 3], strides = [2, 1]} : (tensor<4x3xf32>) -> tensor<2x2xf32>
  // CHECK: xla.dynamic_slice %x, %i, %i {dynamic_slice_sizes = [2, 1]} : (tensor<4x3xf32>, tensor<i32>, tensor<i32>) -> tensor<2x1xf32>
  %1 = xla.dynamic_slice %x, %i, %i {dynamic_slice_sizes = [2, 1]} : (tensor<4x3xf32>, tensor<i32>, tensor<i32>) -> tensor<2x1xf32>
  // CHECK: xla.dynamic_update_slice %x, %u, %i, %i : (tensor<4x3xf32>, tensor<2x1xf32>, tensor<i32>, tensor<i32>) -> tensor<4x3xf32>
  %2 = xla.dynamic_update_slice %x, %u, %i, %i : (tensor<4x3xf32>, tensor<2x1xf32>, tensor<i32>, tensor<i32>) -> tensor<4x3xf32>
  func.return
}

// -----

func.func @slice_C1_1(%x: tensor<4xf32>) {
  // expected-error @+1 {{xla.slice: (C1) start_indices has 2 entries, not 1}}
  %0 = xla.slice %x {start_indices = [0, 0], limit_indices = [4], strides = [1]} : tensor<4xf32>
  func.return
}

// -----

func.func @slice_C1_2(%x: tensor<4xf32>) {
  // expected-error @+1 {{xla.slice: (C1) limit_indices has 0 entries, not 1}}
  %0 = xla.slice %x {start_indices = [0], limit_indices = [], strides = [1]} : tensor<4xf32>
  func.return
}

// -----

func.func @slice_C1_3(%x: tensor<4xf32>) {
  // expected-error @+1 {{xla.slice: (C1) strides has 2 entries, not 1}}
  %0 = xla.slice %x {start_indices = [0], limit_indices = [4], strides = [1, 1]} : tensor<4xf32>
  func.return
}

// -----

func.func @slice_C2_1(%x: tensor<4xf32>) {
  // expected-error @+1 {{xla.slice: (C2) [-1:4] of dimension 0 with size 4}}
  %0 = xla.slice %x {start_indices = [-1], limit_indices = [4], strides = [1]} : tensor<4xf32>
  func.return
}

// -----

func.func @slice_C2_2(%x: tensor<4xf32>) {
  // expected-error @+1 {{xla.slice: (C2) [3:2] of dimension 0 with size 4}}
  %0 = xla.slice %x {start_indices = [3], limit_indices = [2], strides = [1]} : tensor<4xf32>
  func.return
}

// -----

func.func @slice_C2_3(%x: tensor<4xf32>) {
  // expected-error @+1 {{xla.slice: (C2) [0:5] of dimension 0 with size 4}}
  %0 = xla.slice %x {start_indices = [0], limit_indices = [5], strides = [1]} : tensor<4xf32>
  func.return
}

// -----

func.func @slice_C3_1(%x: tensor<4xf32>) {
  // expected-error @+1 {{xla.slice: (C3) strides are [0]}}
  %0 = xla.slice %x {start_indices = [0], limit_indices = [4], strides = [0]} : tensor<4xf32>
  func.return
}

// -----

func.func @slice_C3_2(%x: tensor<4xf32>) {
  // expected-error @+1 {{xla.slice: (C3) strides are [-1]}}
  %0 = xla.slice %x {start_indices = [0], limit_indices = [4], strides = [-1]} : tensor<4xf32>
  func.return
}

// -----

func.func @dynamic_slice_C1_1(%x: tensor<4xf32>) {
  // expected-error @+1 {{xla.dynamic_slice: (C1) 0 start indices for rank 1}}
  %0 = xla.dynamic_slice %x {dynamic_slice_sizes = [2]} : tensor<4xf32>
  func.return
}

// -----

func.func @dynamic_slice_C1_2(%x: tensor<4xf32>, %y: tensor<i32>, %z: tensor<i32>) {
  // expected-error @+1 {{xla.dynamic_slice: (C1) 2 start indices for rank 1}}
  %0 = xla.dynamic_slice %x, %y, %z {dynamic_slice_sizes = [2]} : (tensor<4xf32>, tensor<i32>, tensor<i32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @dynamic_slice_C1_3(%x: tensor<4xf32>, %y: tensor<f32>) {
  // expected-error @+1 {{xla.dynamic_slice: (C1) start index is f32[], not an integer scalar}}
  %0 = xla.dynamic_slice %x, %y {dynamic_slice_sizes = [2]} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @dynamic_slice_C1_4(%x: tensor<4xf32>, %y: tensor<1xi32>) {
  // expected-error @+1 {{xla.dynamic_slice: (C1) start index is s32[1], not an integer scalar}}
  %0 = xla.dynamic_slice %x, %y {dynamic_slice_sizes = [2]} : (tensor<4xf32>, tensor<1xi32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @dynamic_slice_C1_5(%x: tensor<4xf32>, %y: tensor<i1>) {
  // expected-error @+1 {{xla.dynamic_slice: (C1) start index is pred[], not an integer scalar}}
  %0 = xla.dynamic_slice %x, %y {dynamic_slice_sizes = [2]} : (tensor<4xf32>, tensor<i1>) -> tensor<4xf32>
  func.return
}

// -----

func.func @dynamic_slice_C1_6(%x: tensor<4x4xf32>, %y: tensor<i32>, %z: tensor<i64>) {
  // expected-error @+1 {{xla.dynamic_slice: (C1) start indices (s32[], s64[]) differ in type}}
  %0 = xla.dynamic_slice %x, %y, %z {dynamic_slice_sizes = [2, 2]} : (tensor<4x4xf32>, tensor<i32>, tensor<i64>) -> tensor<4x4xf32>
  func.return
}

// -----

func.func @dynamic_slice_C2(%x: tensor<4xf32>, %y: tensor<i32>) {
  // expected-error @+1 {{xla.dynamic_slice: (C2) dynamic_slice_sizes has 2 entries, not 1}}
  %0 = xla.dynamic_slice %x, %y {dynamic_slice_sizes = [2, 1]} : (tensor<4xf32>, tensor<i32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @dynamic_slice_C3_1(%x: tensor<4xf32>, %y: tensor<i32>) {
  // expected-error @+1 {{xla.dynamic_slice: (C3) slice sizes [5] of an array with sizes [4]}}
  %0 = xla.dynamic_slice %x, %y {dynamic_slice_sizes = [5]} : (tensor<4xf32>, tensor<i32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @dynamic_slice_C3_2(%x: tensor<4xf32>, %y: tensor<i32>) {
  // expected-error @+1 {{xla.dynamic_slice: (C3) slice sizes [-1] of an array with sizes [4]}}
  %0 = xla.dynamic_slice %x, %y {dynamic_slice_sizes = [-1]} : (tensor<4xf32>, tensor<i32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @dynamic_update_slice_C1_1(%x: tensor<4xf32>, %y: tensor<2xi32>, %z: tensor<i32>) {
  // expected-error @+1 {{xla.dynamic_update_slice: (C1) operand and update have element types f32 and s32}}
  %0 = xla.dynamic_update_slice %x, %y, %z : (tensor<4xf32>, tensor<2xi32>, tensor<i32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @dynamic_update_slice_C1_2(%x: tensor<4xf32>, %y: tensor<2x1xf32>, %z: tensor<i32>) {
  // expected-error @+1 {{xla.dynamic_update_slice: (C1) update has 2 entries, not 1}}
  %0 = xla.dynamic_update_slice %x, %y, %z : (tensor<4xf32>, tensor<2x1xf32>, tensor<i32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @dynamic_update_slice_C1_3(%x: tensor<4xf32>, %y: !xla.token, %z: tensor<i32>) {
  // expected-error @+1 {{xla.dynamic_update_slice: (C1) update is token[], not an array}}
  %0 = xla.dynamic_update_slice %x, %y, %z : (tensor<4xf32>, !xla.token, tensor<i32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @dynamic_update_slice_C2(%x: tensor<4xf32>, %y: tensor<5xf32>, %z: tensor<i32>) {
  // expected-error @+1 {{xla.dynamic_update_slice: (C2) update sizes [5] of an array with sizes [4]}}
  %0 = xla.dynamic_update_slice %x, %y, %z : (tensor<4xf32>, tensor<5xf32>, tensor<i32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @dynamic_update_slice_C2_beside_other_dimensions(%x: tensor<4x6xf32>, %y: tensor<5x6xf32>, %z: tensor<i32>) {
  // expected-error @+1 {{xla.dynamic_update_slice: (C2) update sizes [5, 6] of an array with sizes [4, 6]}}
  %0 = xla.dynamic_update_slice %x, %y, %z, %z : (tensor<4x6xf32>, tensor<5x6xf32>, tensor<i32>, tensor<i32>) -> tensor<4x6xf32>
  func.return
}

// -----

func.func @dynamic_update_slice_C3_1(%x: tensor<4xf32>, %y: tensor<2xf32>) {
  // expected-error @+1 {{xla.dynamic_update_slice: (C3) 0 start indices for rank 1}}
  %0 = xla.dynamic_update_slice %x, %y : (tensor<4xf32>, tensor<2xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @dynamic_update_slice_C3_2(%x: tensor<4xf32>, %y: tensor<2xf32>, %z: tensor<f32>) {
  // expected-error @+1 {{xla.dynamic_update_slice: (C3) start index is f32[], not an integer scalar}}
  %0 = xla.dynamic_update_slice %x, %y, %z : (tensor<4xf32>, tensor<2xf32>, tensor<f32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @dynamic_update_slice_C3_3(%x: tensor<4x4xf32>, %y: tensor<2x2xf32>, %z: tensor<i32>, %w: tensor<ui32>) {
  // expected-error @+1 {{xla.dynamic_update_slice: (C3) start indices (s32[], u32[]) differ in type}}
  %0 = xla.dynamic_update_slice %x, %y, %z, %w : (tensor<4x4xf32>, tensor<2x2xf32>, tensor<i32>, tensor<ui32>) -> tensor<4x4xf32>
  func.return
}
