// RUN: xla-opt %s --split-input-file --verify-diagnostics | filecheck %s
// RUN: xla-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | xla-opt --split-input-file | filecheck %s

// CHECK-LABEL: @dots(
func.func @dots(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %m: tensor<5x3xf32>, %g: tensor<2xi32>, %r: tensor<2x3x4xf32>, %s: tensor<1x3xf8E8M0FNU>, %t: tensor<f8E8M0FNU>) {
  // CHECK: %product = xla.dot %x, %y {lhs_contracting_dims = [1], rhs_contracting_dims = [1]} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32>
  %product = xla.dot %x, %y {lhs_contracting_dims = [1], rhs_contracting_dims = [1]} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32>
  // The result may be wider than the operands.
  // CHECK: %batched = xla.dot %x, %y {lhs_batch_dims = [0], lhs_contracting_dims = [1], rhs_batch_dims = [0], rhs_contracting_dims = [1]} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4xf64>
  %batched = xla.dot %x, %y {lhs_batch_dims = [0], lhs_contracting_dims = [1], rhs_batch_dims = [0], rhs_contracting_dims = [1]} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4xf64>
  // CHECK: %groups = xla.ragged_dot %m, %r, %g {lhs_contracting_dims = [1], rhs_contracting_dims = [1], lhs_ragged_dims = [0], rhs_group_dims = [0]} : (tensor<5x3xf32>, tensor<2x3x4xf32>, tensor<2xi32>) -> tensor<5x4xf32>
  %groups = xla.ragged_dot %m, %r, %g {lhs_contracting_dims = [1], rhs_contracting_dims = [1], lhs_ragged_dims = [0], rhs_group_dims = [0]} : (tensor<5x3xf32>, tensor<2x3x4xf32>, tensor<2xi32>) -> tensor<5x4xf32>
  // CHECK: %scaled = xla.scaled_dot %m, %m, %s, %t {lhs_contracting_dims = [0], rhs_contracting_dims = [0]} : (tensor<5x3xf32>, tensor<5x3xf32>, tensor<1x3xf8E8M0FNU>, tensor<f8E8M0FNU>) -> tensor<3x3xf32>
  %scaled = xla.scaled_dot %m, %m, %s, %t {lhs_contracting_dims = [0], rhs_contracting_dims = [0]} : (tensor<5x3xf32>, tensor<5x3xf32>, tensor<1x3xf8E8M0FNU>, tensor<f8E8M0FNU>) -> tensor<3x3xf32>
  func.return
}

// CHECK-LABEL: @convolutions(
func.func @convolutions(%l: tensor<2x4x5x6xf32>, %k: tensor<6x2x2x3xf32>, %m: tensor<5x3xf32>) {
  // CHECK: %grouped = xla.convolution %l, %k {window = #xla.window<size=2x3 rhs_reversal=1x0>, dim_labels = #xla.dim_labels<bf01_oi01->bf01>, feature_group_count = 2} : (tensor<2x4x5x6xf32>, tensor<6x2x2x3xf32>) -> tensor<2x6x4x4xf32>
  %grouped = xla.convolution %l, %k {window = #xla.window<size=2x3 rhs_reversal=1x0>, dim_labels = #xla.dim_labels<bf01_oi01->bf01>, feature_group_count = 2} : (tensor<2x4x5x6xf32>, tensor<6x2x2x3xf32>) -> tensor<2x6x4x4xf32>
  // Without spatial dimensions it is a product of matrices.
  // CHECK: %product = xla.convolution %m, %m {dim_labels = #xla.dim_labels<bf_oi->fb>} : (tensor<5x3xf32>, tensor<5x3xf32>) -> tensor<5x5xf64>
  %product = xla.convolution %m, %m {dim_labels = #xla.dim_labels<bf_oi->fb>} : (tensor<5x3xf32>, tensor<5x3xf32>) -> tensor<5x5xf64>
  func.return
}

// -----

func.func @dot_C1(%x: !xla.token, %y: tensor<2xf64>) {
  // expected-error @+1 {{xla.dot: (C1) lhs is token[], not an array}}
  %0 = xla.dot %x, %y {rhs_contracting_dims = [0]} : (!xla.token, tensor<2xf64>) -> !xla.token
  func.return
}

// -----

func.func @dot_C2_1(%x: tensor<2xf32>, %y: tensor<3xf32>) {
  // expected-error @+1 {{xla.dot: (C2) contracting sizes are [2] and [3]}}
  %0 = xla.dot %x, %y {lhs_contracting_dims = [0], rhs_contracting_dims = [0]} : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
  func.return
}

// -----

func.func @dot_C2_2(%x: tensor<2xf32>, %y: tensor<2xf32>) {
  // expected-error @+1 {{xla.dot: (C2) contracting sizes are [2] and []}}
  %0 = xla.dot %x, %y {lhs_contracting_dims = [0]} : tensor<2xf32>
  func.return
}

// -----

func.func @dot_C3_1(%x: tensor<2x4xf32>, %y: tensor<3x4xf32>) {
  // expected-error @+1 {{xla.dot: (C3) batch sizes are [2] and [3]}}
  %0 = xla.dot %x, %y {lhs_contracting_dims = [1], rhs_contracting_dims = [1], lhs_batch_dims = [0], rhs_batch_dims = [0]} : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  func.return
}

// -----

func.func @dot_C3_2(%x: tensor<2xf32>, %y: tensor<2xf32>) {
  // expected-error @+1 {{xla.dot: (C3) batch sizes are [] and [2]}}
  %0 = xla.dot %x, %y {rhs_batch_dims = [0]} : tensor<2xf32>
  func.return
}

// -----

func.func @dot_C4_1(%x: tensor<2x2xf32>, %y: tensor<2xf32>) {
  // expected-error @+1 {{xla.dot: (C4) lhs dimensions = [0, 0] are not distinct dimensions of rank 2}}
  %0 = xla.dot %x, %y {lhs_contracting_dims = [0, 0], rhs_contracting_dims = [0, 0]} : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  func.return
}

// -----

func.func @dot_C4_2(%x: tensor<2xf32>, %y: tensor<2xf32>) {
  // expected-error @+1 {{xla.dot: (C4) lhs dimensions = [0, 0] are not distinct dimensions of rank 1}}
  %0 = xla.dot %x, %y {lhs_contracting_dims = [0], rhs_contracting_dims = [0], lhs_batch_dims = [0], rhs_batch_dims = [0]} : tensor<2xf32>
  func.return
}

// -----

func.func @dot_C4_3(%x: tensor<2xf32>, %y: tensor<2xf32>) {
  // expected-error @+1 {{xla.dot: (C4) lhs dimensions = [1] are not distinct dimensions of rank 1}}
  %0 = xla.dot %x, %y {lhs_contracting_dims = [1], rhs_contracting_dims = [0]} : tensor<2xf32>
  func.return
}

// -----

func.func @dot_C4_4(%x: tensor<2xf32>, %y: tensor<2xf32>) {
  // expected-error @+1 {{xla.dot: (C4) rhs dimensions = [-1] are not distinct dimensions of rank 1}}
  %0 = xla.dot %x, %y {lhs_contracting_dims = [0], rhs_contracting_dims = [-1]} : tensor<2xf32>
  func.return
}

// -----

func.func @dot_Result(%x: tensor<2xf32>, %y: tensor<2xf32>) {
  // expected-error @+1 {{xla.dot: (Result) declared (f32[1]), inferred (f32[])}}
  %0 = xla.dot %x, %y {lhs_contracting_dims = [0], rhs_contracting_dims = [0]} : (tensor<2xf32>, tensor<2xf32>) -> tensor<1xf32>
  func.return
}

// -----

func.func @ragged_dot_C1(%x: tensor<5x3xf32>, %y: tensor<2x3x4xf32>, %z: tensor<2xf32>) {
  // expected-error @+1 {{xla.ragged_dot: (C1) group_sizes has element type f32, allowed: integer}}
  %0 = xla.ragged_dot %x, %y, %z {lhs_contracting_dims = [1], rhs_contracting_dims = [1], lhs_ragged_dims = [0], rhs_group_dims = [0]} : (tensor<5x3xf32>, tensor<2x3x4xf32>, tensor<2xf32>) -> tensor<5x4xf32>
  func.return
}

// -----

func.func @ragged_dot_C2(%x: tensor<5x3xf32>, %y: tensor<2x5x4xf32>, %z: tensor<2xi32>) {
  // expected-error @+1 {{xla.ragged_dot: (C2) contracting sizes are [3] and [5]}}
  %0 = xla.ragged_dot %x, %y, %z {lhs_contracting_dims = [1], rhs_contracting_dims = [1], lhs_ragged_dims = [0], rhs_group_dims = [0]} : (tensor<5x3xf32>, tensor<2x5x4xf32>, tensor<2xi32>) -> tensor<5x4xf32>
  func.return
}

// -----

func.func @ragged_dot_C3(%x: tensor<2x5x3xf32>, %y: tensor<2x4x3xf32>, %z: tensor<2xi32>) {
  // expected-error @+1 {{xla.ragged_dot: (C3) batch sizes are [2] and [4]}}
  %0 = xla.ragged_dot %x, %y, %z {lhs_contracting_dims = [2], rhs_contracting_dims = [2], lhs_batch_dims = [0], rhs_batch_dims = [1], lhs_ragged_dims = [1], rhs_group_dims = [0]} : (tensor<2x5x3xf32>, tensor<2x4x3xf32>, tensor<2xi32>) -> tensor<5x4xf32>
  func.return
}

// -----

func.func @ragged_dot_C4_1(%x: tensor<5x3xf32>, %y: tensor<2x3x4xf32>, %z: tensor<2xi32>) {
  // expected-error @+1 {{xla.ragged_dot: (C4) lhs dimensions = [2] are not distinct dimensions of rank 2}}
  %0 = xla.ragged_dot %x, %y, %z {lhs_contracting_dims = [2], rhs_contracting_dims = [1], lhs_ragged_dims = [0], rhs_group_dims = [0]} : (tensor<5x3xf32>, tensor<2x3x4xf32>, tensor<2xi32>) -> tensor<5x4xf32>
  func.return
}

// -----

func.func @ragged_dot_C4_2(%x: tensor<5x3xf32>, %y: tensor<2x3x4xf32>, %z: tensor<2xi32>) {
  // expected-error @+1 {{xla.ragged_dot: (C4) lhs dimensions = [1, 1] are not distinct dimensions of rank 2}}
  %0 = xla.ragged_dot %x, %y, %z {lhs_contracting_dims = [1], rhs_contracting_dims = [1], lhs_batch_dims = [1], rhs_batch_dims = [1], lhs_ragged_dims = [0], rhs_group_dims = [0]} : (tensor<5x3xf32>, tensor<2x3x4xf32>, tensor<2xi32>) -> tensor<5x4xf32>
  func.return
}

// -----

func.func @ragged_dot_C5_1(%x: tensor<5x3xf32>, %y: tensor<2x3x4xf32>, %z: tensor<2xi32>) {
  // expected-error @+1 {{xla.ragged_dot: (C5) lhs_ragged_dims has 0 entries, not 1}}
  %0 = xla.ragged_dot %x, %y, %z {lhs_contracting_dims = [1], rhs_contracting_dims = [1], lhs_ragged_dims = [], rhs_group_dims = [0]} : (tensor<5x3xf32>, tensor<2x3x4xf32>, tensor<2xi32>) -> tensor<5x4xf32>
  func.return
}

// -----

func.func @ragged_dot_C5_2(%x: tensor<5x3xf32>, %y: tensor<2x3x4xf32>, %z: tensor<2xi32>) {
  // expected-error @+1 {{xla.ragged_dot: (C5) lhs_ragged_dims has 2 entries, not 1}}
  %0 = xla.ragged_dot %x, %y, %z {lhs_contracting_dims = [1], rhs_contracting_dims = [1], lhs_ragged_dims = [0, 1], rhs_group_dims = [0]} : (tensor<5x3xf32>, tensor<2x3x4xf32>, tensor<2xi32>) -> tensor<5x4xf32>
  func.return
}

// -----

func.func @ragged_dot_C5_3(%x: tensor<5x3xf32>, %y: tensor<2x3x4xf32>, %z: tensor<2xi32>) {
  // expected-error @+1 {{xla.ragged_dot: (C5) lhs_ragged_dims = [2] are not distinct dimensions of rank 2}}
  %0 = xla.ragged_dot %x, %y, %z {lhs_contracting_dims = [1], rhs_contracting_dims = [1], lhs_ragged_dims = [2], rhs_group_dims = [0]} : (tensor<5x3xf32>, tensor<2x3x4xf32>, tensor<2xi32>) -> tensor<5x4xf32>
  func.return
}

// -----

func.func @ragged_dot_C6_1(%x: tensor<5x3xf32>, %y: tensor<2x3x4xf32>, %z: tensor<2xi32>) {
  // expected-error @+1 {{xla.ragged_dot: (C6) rhs_group_dims has 0 entries, not 1}}
  %0 = xla.ragged_dot %x, %y, %z {lhs_contracting_dims = [1], rhs_contracting_dims = [1], lhs_ragged_dims = [0]} : (tensor<5x3xf32>, tensor<2x3x4xf32>, tensor<2xi32>) -> tensor<5x4xf32>
  func.return
}

// -----

func.func @ragged_dot_C6_2(%x: tensor<5x3xf32>, %y: tensor<2x3x4xf32>, %z: tensor<2xi32>) {
  // expected-error @+1 {{xla.ragged_dot: (C6) rhs_group_dims = [1, 1] are not distinct dimensions of rank 3}}
  %0 = xla.ragged_dot %x, %y, %z {lhs_contracting_dims = [1], rhs_contracting_dims = [1], lhs_ragged_dims = [0], rhs_group_dims = [1]} : (tensor<5x3xf32>, tensor<2x3x4xf32>, tensor<2xi32>) -> tensor<5x4xf32>
  func.return
}

// -----

func.func @ragged_dot_C6_3(%x: tensor<5x3xf32>, %y: tensor<2x3x4xf32>, %z: tensor<2xi32>) {
  // expected-error @+1 {{xla.ragged_dot: (C6) rhs_group_dims = [1, 3] are not distinct dimensions of rank 3}}
  %0 = xla.ragged_dot %x, %y, %z {lhs_contracting_dims = [1], rhs_contracting_dims = [1], lhs_ragged_dims = [0], rhs_group_dims = [3]} : (tensor<5x3xf32>, tensor<2x3x4xf32>, tensor<2xi32>) -> tensor<5x4xf32>
  func.return
}

// -----

func.func @ragged_dot_C6_4(%x: tensor<5x3xf32>, %y: tensor<2x3x4xf32>, %z: tensor<3xi32>) {
  // expected-error @+1 {{xla.ragged_dot: (C6) 2 groups in rhs, not 3}}
  %0 = xla.ragged_dot %x, %y, %z {lhs_contracting_dims = [1], rhs_contracting_dims = [1], lhs_ragged_dims = [0], rhs_group_dims = [0]} : (tensor<5x3xf32>, tensor<2x3x4xf32>, tensor<3xi32>) -> tensor<5x4xf32>
  func.return
}

// -----

func.func @ragged_dot_C6_5(%x: tensor<5x3xf32>, %y: tensor<5x4xf32>, %z: tensor<2xi32>) {
  // expected-error @+1 {{xla.ragged_dot: (C6) rhs_group_dims has 1 entries, not 0}}
  %0 = xla.ragged_dot %x, %y, %z {lhs_contracting_dims = [0], rhs_contracting_dims = [0], lhs_ragged_dims = [0], rhs_group_dims = [0]} : (tensor<5x3xf32>, tensor<5x4xf32>, tensor<2xi32>) -> tensor<5x4xf32>
  func.return
}

// -----

func.func @ragged_dot_C7_1(%x: tensor<5x3xf32>, %y: tensor<2x3x4xf32>, %z: tensor<i32>) {
  // expected-error @+1 {{xla.ragged_dot: (C7) group_sizes has sizes [], expected [g] or ['g']}}
  %0 = xla.ragged_dot %x, %y, %z {lhs_contracting_dims = [1], rhs_contracting_dims = [1], lhs_ragged_dims = [0], rhs_group_dims = [0]} : (tensor<5x3xf32>, tensor<2x3x4xf32>, tensor<i32>) -> tensor<5x4xf32>
  func.return
}

// -----

func.func @ragged_dot_C7_2(%x: tensor<5x3xf32>, %y: tensor<2x3x4xf32>, %z: tensor<5x2xi32>) {
  // expected-error @+1 {{xla.ragged_dot: (C7) group_sizes has sizes [5, 2], expected [g] or ['g']}}
  %0 = xla.ragged_dot %x, %y, %z {lhs_contracting_dims = [1], rhs_contracting_dims = [1], lhs_ragged_dims = [0], rhs_group_dims = [0]} : (tensor<5x3xf32>, tensor<2x3x4xf32>, tensor<5x2xi32>) -> tensor<5x4xf32>
  func.return
}

// -----

func.func @ragged_dot_Result(%x: tensor<5x3xf32>, %y: tensor<2x3x4xf32>, %z: tensor<2xi32>) {
  // expected-error @+1 {{xla.ragged_dot: (Result) declared (f32[5,3]), inferred (f32[5,4])}}
  %0 = xla.ragged_dot %x, %y, %z {lhs_contracting_dims = [1], rhs_contracting_dims = [1], lhs_ragged_dims = [0], rhs_group_dims = [0]} : (tensor<5x3xf32>, tensor<2x3x4xf32>, tensor<2xi32>) -> tensor<5x3xf32>
  func.return
}

// -----

func.func @scaled_dot_C1(%x: !xla.token, %y: tensor<8x3xf32>, %z: tensor<1x4xf32>, %w: tensor<f32>) {
  // expected-error @+1 {{xla.scaled_dot: (C1) lhs is token[], not an array}}
  %0 = xla.scaled_dot %x, %y, %z, %w {lhs_contracting_dims = [1], rhs_contracting_dims = [0]} : (!xla.token, tensor<8x3xf32>, tensor<1x4xf32>, tensor<f32>) -> tensor<2x3xf32>
  func.return
}

// -----

func.func @scaled_dot_C2(%x: tensor<2x8xf32>, %y: tensor<4x3xf32>, %z: tensor<1x4xf32>, %w: tensor<f32>) {
  // expected-error @+1 {{xla.scaled_dot: (C2) contracting sizes are [8] and [4]}}
  %0 = xla.scaled_dot %x, %y, %z, %w {lhs_contracting_dims = [1], rhs_contracting_dims = [0]} : (tensor<2x8xf32>, tensor<4x3xf32>, tensor<1x4xf32>, tensor<f32>) -> tensor<2x3xf32>
  func.return
}

// -----

func.func @scaled_dot_C3(%x: tensor<2x8xf32>, %y: tensor<8x3xf32>, %z: tensor<1x4xf32>, %w: tensor<f32>) {
  // expected-error @+1 {{xla.scaled_dot: (C3) batch sizes are [2] and [3]}}
  %0 = xla.scaled_dot %x, %y, %z, %w {lhs_contracting_dims = [1], rhs_contracting_dims = [0], lhs_batch_dims = [0], rhs_batch_dims = [1]} : (tensor<2x8xf32>, tensor<8x3xf32>, tensor<1x4xf32>, tensor<f32>) -> tensor<2x3xf32>
  func.return
}

// -----

func.func @scaled_dot_C4(%x: tensor<2x8xf32>, %y: tensor<8x3xf32>, %z: tensor<1x4xf32>, %w: tensor<f32>) {
  // expected-error @+1 {{xla.scaled_dot: (C4) lhs dimensions = [2] are not distinct dimensions of rank 2}}
  %0 = xla.scaled_dot %x, %y, %z, %w {lhs_contracting_dims = [2], rhs_contracting_dims = [0]} : (tensor<2x8xf32>, tensor<8x3xf32>, tensor<1x4xf32>, tensor<f32>) -> tensor<2x3xf32>
  func.return
}

// -----

func.func @scaled_dot_C5_1(%x: tensor<2x8xf32>, %y: tensor<8x3xf32>, %z: tensor<1x4xf32>, %w: tensor<f32>) {
  // expected-error @+1 {{xla.scaled_dot: (C5) lhs_contracting_dims has 0 entries, not 1}}
  %0 = xla.scaled_dot %x, %y, %z, %w : (tensor<2x8xf32>, tensor<8x3xf32>, tensor<1x4xf32>, tensor<f32>) -> tensor<2x3xf32>
  func.return
}

// -----

func.func @scaled_dot_C5_2(%x: tensor<2x8xf32>, %y: tensor<2x8xf32>, %z: tensor<1x4xf32>, %w: tensor<f32>) {
  // expected-error @+1 {{xla.scaled_dot: (C5) lhs_contracting_dims has 2 entries, not 1}}
  %0 = xla.scaled_dot %x, %y, %z, %w {lhs_contracting_dims = [0, 1], rhs_contracting_dims = [0, 1]} : (tensor<2x8xf32>, tensor<2x8xf32>, tensor<1x4xf32>, tensor<f32>) -> tensor<2x3xf32>
  func.return
}

// -----

func.func @scaled_dot_C6_1(%x: tensor<2x8xf32>, %y: tensor<8x3xf32>, %z: tensor<1x3xf32>, %w: tensor<f32>) {
  // expected-error @+1 {{xla.scaled_dot: (C6) lhs_scale has sizes [1, 3], its operand [2, 8]}}
  %0 = xla.scaled_dot %x, %y, %z, %w {lhs_contracting_dims = [1], rhs_contracting_dims = [0]} : (tensor<2x8xf32>, tensor<8x3xf32>, tensor<1x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  func.return
}

// -----

func.func @scaled_dot_C6_2(%x: tensor<2x8xf32>, %y: tensor<8x3xf32>, %z: tensor<4xf32>, %w: tensor<f32>) {
  // expected-error @+1 {{xla.scaled_dot: (C6) lhs_scale has sizes [4], its operand [2, 8]}}
  %0 = xla.scaled_dot %x, %y, %z, %w {lhs_contracting_dims = [1], rhs_contracting_dims = [0]} : (tensor<2x8xf32>, tensor<8x3xf32>, tensor<4xf32>, tensor<f32>) -> tensor<2x3xf32>
  func.return
}

// -----

func.func @scaled_dot_C6_3(%x: tensor<2x8xf32>, %y: tensor<8x3xf32>, %z: tensor<1x0xf32>, %w: tensor<f32>) {
  // expected-error @+1 {{xla.scaled_dot: (C6) lhs_scale has sizes [1, 0], its operand [2, 8]}}
  %0 = xla.scaled_dot %x, %y, %z, %w {lhs_contracting_dims = [1], rhs_contracting_dims = [0]} : (tensor<2x8xf32>, tensor<8x3xf32>, tensor<1x0xf32>, tensor<f32>) -> tensor<2x3xf32>
  func.return
}

// -----

func.func @scaled_dot_C6_4(%x: tensor<2x8xf32>, %y: tensor<8x3xf32>, %z: tensor<1x4xi32>, %w: tensor<f32>) {
  // expected-error @+1 {{xla.scaled_dot: (C6) lhs_scale has element type s32, allowed: float}}
  %0 = xla.scaled_dot %x, %y, %z, %w {lhs_contracting_dims = [1], rhs_contracting_dims = [0]} : (tensor<2x8xf32>, tensor<8x3xf32>, tensor<1x4xi32>, tensor<f32>) -> tensor<2x3xf32>
  func.return
}

// -----

func.func @scaled_dot_C7(%x: tensor<2x8xf32>, %y: tensor<8x3xf32>, %z: tensor<f32>, %w: tensor<f32>) {
  // expected-error @+1 {{xla.scaled_dot: (C7) both scales are scalars}}
  %0 = xla.scaled_dot %x, %y, %z, %w {lhs_contracting_dims = [1], rhs_contracting_dims = [0]} : (tensor<2x8xf32>, tensor<8x3xf32>, tensor<f32>, tensor<f32>) -> tensor<2x3xf32>
  func.return
}

// -----

func.func @convolution_C1_1(%x: tensor<2x4x5xf32>, %y: tensor<6x4x2x3xf32>) {
  // expected-error @+1 {{xla.convolution: (C1) dim_labels bf01_oi01->bf01 for lhs of rank 3}}
  %0 = xla.convolution %x, %y {window = #xla.window<size=2x3>, dim_labels = #xla.dim_labels<bf01_oi01->bf01>} : (tensor<2x4x5xf32>, tensor<6x4x2x3xf32>) -> tensor<2x6x4x4xf32>
  func.return
}

// -----

func.func @convolution_C1_2(%x: tensor<2x4x5x6xf32>, %y: tensor<6x4x2xf32>) {
  // expected-error @+1 {{xla.convolution: (C1) dim_labels bf01_oi01->bf01 for rhs of rank 3}}
  %0 = xla.convolution %x, %y {window = #xla.window<size=2x3>, dim_labels = #xla.dim_labels<bf01_oi01->bf01>} : (tensor<2x4x5x6xf32>, tensor<6x4x2xf32>) -> tensor<2x6x4x4xf32>
  func.return
}

// -----

func.func @convolution_C1_3(%x: tensor<2x4x5x6xf32>, %y: tensor<6x4x2x3xf32>) {
  // expected-error @+1 {{xla.convolution: (C1) window has 1 dimensions, not 2}}
  %0 = xla.convolution %x, %y {window = #xla.window<size=2>, dim_labels = #xla.dim_labels<bf01_oi01->bf01>} : (tensor<2x4x5x6xf32>, tensor<6x4x2x3xf32>) -> tensor<2x6x4x4xf32>
  func.return
}

// -----

func.func @convolution_C1_4(%x: tensor<2x4x5x6xf32>, %y: tensor<6x4x2x3xf32>) {
  // expected-error @+1 {{xla.convolution: (C1) the window has sizes [2, 2], the kernel [2, 3]}}
  %0 = xla.convolution %x, %y {window = #xla.window<size=2x2>, dim_labels = #xla.dim_labels<bf01_oi01->bf01>} : (tensor<2x4x5x6xf32>, tensor<6x4x2x3xf32>) -> tensor<2x6x4x4xf32>
  func.return
}

// -----

func.func @convolution_C1_5(%x: tensor<2x4x5x6xf32>, %y: tensor<6x4x2x3xf32>) {
  // expected-error @+1 {{xla.convolution: (C1) window has 0 dimensions, not 2}}
  %0 = xla.convolution %x, %y {dim_labels = #xla.dim_labels<bf01_oi01->bf01>} : (tensor<2x4x5x6xf32>, tensor<6x4x2x3xf32>) -> tensor<2x6x4x4xf32>
  func.return
}

// -----

func.func @convolution_C1_6(%x: tensor<2x4x5x6xf32>, %y: tensor<6x4x2x3xf32>) {
  // expected-error @+1 {{xla.convolution: (C1) dim_labels bf00_oi01->bf01: bf00 is no permutation}}
  %0 = xla.convolution %x, %y {window = #xla.window<size=2x3>, dim_labels = #xla.dim_labels<bf00_oi01->bf01>} : (tensor<2x4x5x6xf32>, tensor<6x4x2x3xf32>) -> tensor<2x6x4x4xf32>
  func.return
}

// -----

func.func @convolution_C1_7(%x: tensor<2x4x5x6xf32>, %y: tensor<6x4x2x3xf32>) {
  // expected-error @+1 {{xla.convolution: (C1) dim_labels bb01_oi01->bf01: bb01 is no permutation}}
  %0 = xla.convolution %x, %y {window = #xla.window<size=2x3>, dim_labels = #xla.dim_labels<bb01_oi01->bf01>} : (tensor<2x4x5x6xf32>, tensor<6x4x2x3xf32>) -> tensor<2x6x4x4xf32>
  func.return
}

// -----

func.func @convolution_C1_8(%x: tensor<2x4x5x6xf32>, %y: tensor<6x4x2x3xf32>) {
  // expected-error @+1 {{xla.convolution: (C1) dim_labels bf01_oo01->bf01: oo01 is no permutation}}
  %0 = xla.convolution %x, %y {window = #xla.window<size=2x3>, dim_labels = #xla.dim_labels<bf01_oo01->bf01>} : (tensor<2x4x5x6xf32>, tensor<6x4x2x3xf32>) -> tensor<2x6x4x4xf32>
  func.return
}

// -----

func.func @convolution_C1_9(%x: tensor<2x4x5x6xf32>, %y: tensor<6x4x2x3xf32>) {
  // expected-error @+1 {{xla.convolution: (C1) dim_labels bf01_oi01->bf02: bf02 is no permutation}}
  %0 = xla.convolution %x, %y {window = #xla.window<size=2x3>, dim_labels = #xla.dim_labels<bf01_oi01->bf02>} : (tensor<2x4x5x6xf32>, tensor<6x4x2x3xf32>) -> tensor<2x6x4x4xf32>
  func.return
}

// -----

func.func @convolution_C1_10(%x: tensor<2x4x5x6xf32>, %y: tensor<6x4x2x3xf32>) {
  // expected-error @+1 {{xla.convolution: (C1) dim_labels bf01_oi01->bf0: bf0 is no permutation}}
  %0 = xla.convolution %x, %y {window = #xla.window<size=2x3>, dim_labels = #xla.dim_labels<bf01_oi01->bf0>} : (tensor<2x4x5x6xf32>, tensor<6x4x2x3xf32>) -> tensor<2x6x4x4xf32>
  func.return
}

// -----

func.func @convolution_C1_11(%x: tensor<2x4x5x6xf32>, %y: tensor<6x4x2x3xf32>) {
  // expected-error @+1 {{xla.convolution: (C1) dim_labels b?01_oi01->bf01: b?01 is no permutation}}
  %0 = xla.convolution %x, %y {window = #xla.window<size=2x3>, dim_labels = #xla.dim_labels<b?01_oi01->bf01>} : (tensor<2x4x5x6xf32>, tensor<6x4x2x3xf32>) -> tensor<2x6x4x4xf32>
  func.return
}

// -----

func.func @convolution_C2_1(%x: !xla.token, %y: tensor<6x4x2x3xf32>) {
  // expected-error @+1 {{xla.convolution: (C2) lhs is token[], not an array}}
  %0 = xla.convolution %x, %y {window = #xla.window<size=2x3>, dim_labels = #xla.dim_labels<bf01_oi01->bf01>} : (!xla.token, tensor<6x4x2x3xf32>) -> tensor<2x6x4x4xf32>
  func.return
}

// -----

func.func @convolution_C3_1(%x: tensor<2x4x5x6xf32>, %y: tensor<6x4x2x3xf32>) {
  // expected-error @+1 {{xla.convolution: (C3) stride of window dimension 0 is 0}}
  %0 = xla.convolution %x, %y {window = #xla.window<size=2x3 stride=0x1>, dim_labels = #xla.dim_labels<bf01_oi01->bf01>} : (tensor<2x4x5x6xf32>, tensor<6x4x2x3xf32>) -> tensor<2x6x4x4xf32>
  func.return
}

// -----

func.func @convolution_C3_2(%x: tensor<2x4x5x6xf32>, %y: tensor<6x4x2x3xf32>) {
  // expected-error @+1 {{xla.convolution: (C3) base dilation of window dimension 1 is 0}}
  %0 = xla.convolution %x, %y {window = #xla.window<size=2x3 lhs_dilate=1x0>, dim_labels = #xla.dim_labels<bf01_oi01->bf01>} : (tensor<2x4x5x6xf32>, tensor<6x4x2x3xf32>) -> tensor<2x6x4x4xf32>
  func.return
}

// -----

func.func @convolution_C3_3(%x: tensor<2x4x5x6xf32>, %y: tensor<6x4x2x3xf32>) {
  // expected-error @+1 {{xla.convolution: (C3) window dilation of window dimension 0 is -1}}
  %0 = xla.convolution %x, %y {window = #xla.window<size=2x3 rhs_dilate=-1x1>, dim_labels = #xla.dim_labels<bf01_oi01->bf01>} : (tensor<2x4x5x6xf32>, tensor<6x4x2x3xf32>) -> tensor<2x6x4x4xf32>
  func.return
}

// -----

func.func @convolution_C3_4(%x: tensor<2x4x5x6xf32>, %y: tensor<6x4x0x3xf32>) {
  // expected-error @+1 {{xla.convolution: (C3) size of window dimension 0 is 0}}
  %0 = xla.convolution %x, %y {window = #xla.window<size=0x3>, dim_labels = #xla.dim_labels<bf01_oi01->bf01>} : (tensor<2x4x5x6xf32>, tensor<6x4x0x3xf32>) -> tensor<2x6x4x4xf32>
  func.return
}

// -----

func.func @convolution_C4_1(%x: tensor<2x4x5x6xf32>, %y: tensor<6x4x2x3xf32>) {
  // expected-error @+1 {{xla.convolution: (C4) group counts are 0 and 1}}
  %0 = xla.convolution %x, %y {window = #xla.window<size=2x3>, dim_labels = #xla.dim_labels<bf01_oi01->bf01>, feature_group_count = 0} : (tensor<2x4x5x6xf32>, tensor<6x4x2x3xf32>) -> tensor<2x6x4x4xf32>
  func.return
}

// -----

func.func @convolution_C4_2(%x: tensor<2x4x5x6xf32>, %y: tensor<6x4x2x3xf32>) {
  // expected-error @+1 {{xla.convolution: (C4) group counts are 1 and -1}}
  %0 = xla.convolution %x, %y {window = #xla.window<size=2x3>, dim_labels = #xla.dim_labels<bf01_oi01->bf01>, batch_group_count = -1} : (tensor<2x4x5x6xf32>, tensor<6x4x2x3xf32>) -> tensor<2x6x4x4xf32>
  func.return
}

// -----

func.func @convolution_C5(%x: tensor<2x4x5x6xf32>, %y: tensor<6x2x2x3xf32>) {
  // expected-error @+1 {{xla.convolution: (C5) feature and batch groups at once: 2 and 2}}
  %0 = xla.convolution %x, %y {window = #xla.window<size=2x3>, dim_labels = #xla.dim_labels<bf01_oi01->bf01>, feature_group_count = 2, batch_group_count = 2} : (tensor<2x4x5x6xf32>, tensor<6x2x2x3xf32>) -> tensor<2x6x4x4xf32>
  func.return
}

// -----

func.func @convolution_C6_1(%x: tensor<2x4x5x6xf32>, %y: tensor<6x4x2x3xf32>) {
  // expected-error @+1 {{xla.convolution: (C6) 2 feature groups of 4 input features in rhs, 4 in lhs, 6 output features}}
  %0 = xla.convolution %x, %y {window = #xla.window<size=2x3>, dim_labels = #xla.dim_labels<bf01_oi01->bf01>, feature_group_count = 2} : (tensor<2x4x5x6xf32>, tensor<6x4x2x3xf32>) -> tensor<2x6x4x4xf32>
  func.return
}

// -----

func.func @convolution_C6_2(%x: tensor<2x4x5x6xf32>, %y: tensor<6x3x2x3xf32>) {
  // expected-error @+1 {{xla.convolution: (C6) 1 feature groups of 3 input features in rhs, 4 in lhs, 6 output features}}
  %0 = xla.convolution %x, %y {window = #xla.window<size=2x3>, dim_labels = #xla.dim_labels<bf01_oi01->bf01>} : (tensor<2x4x5x6xf32>, tensor<6x3x2x3xf32>) -> tensor<2x6x4x4xf32>
  func.return
}

// -----

func.func @convolution_C6_3(%x: tensor<2x4x5x6xf32>, %y: tensor<7x2x2x3xf32>) {
  // expected-error @+1 {{xla.convolution: (C6) 2 feature groups of 2 input features in rhs, 4 in lhs, 7 output features}}
  %0 = xla.convolution %x, %y {window = #xla.window<size=2x3>, dim_labels = #xla.dim_labels<bf01_oi01->bf01>, feature_group_count = 2} : (tensor<2x4x5x6xf32>, tensor<7x2x2x3xf32>) -> tensor<2x6x4x4xf32>
  func.return
}

// -----

func.func @convolution_C7_1(%x: tensor<2x4x5x6xf32>, %y: tensor<6x4x2x3xf32>) {
  // expected-error @+1 {{xla.convolution: (C7) 3 batch groups for a batch of 2 and 6 output features}}
  %0 = xla.convolution %x, %y {window = #xla.window<size=2x3>, dim_labels = #xla.dim_labels<bf01_oi01->bf01>, batch_group_count = 3} : (tensor<2x4x5x6xf32>, tensor<6x4x2x3xf32>) -> tensor<2x6x4x4xf32>
  func.return
}

// -----

func.func @convolution_C7_2(%x: tensor<2x4x5x6xf32>, %y: tensor<7x4x2x3xf32>) {
  // expected-error @+1 {{xla.convolution: (C7) 2 batch groups for a batch of 2 and 7 output features}}
  %0 = xla.convolution %x, %y {window = #xla.window<size=2x3>, dim_labels = #xla.dim_labels<bf01_oi01->bf01>, batch_group_count = 2} : (tensor<2x4x5x6xf32>, tensor<7x4x2x3xf32>) -> tensor<2x6x4x4xf32>
  func.return
}

// -----

func.func @convolution_Result_1(%x: tensor<2x4x5x6xf32>, %y: tensor<6x4x2x3xf32>) {
  // expected-error @+1 {{xla.convolution: (Result) declared (f32[2,6,4,5]), inferred (f32[2,6,4,4])}}
  %0 = xla.convolution %x, %y {window = #xla.window<size=2x3>, dim_labels = #xla.dim_labels<bf01_oi01->bf01>} : (tensor<2x4x5x6xf32>, tensor<6x4x2x3xf32>) -> tensor<2x6x4x5xf32>
  func.return
}

// -----

func.func @convolution_Result_2(%x: tensor<2x4x5x6xf32>, %y: tensor<6x4x2x3xf32>) {
  // expected-error @+1 {{xla.convolution: (Result) declared (f32[]), inferred (f32[2,6,4,4])}}
  %0 = xla.convolution %x, %y {window = #xla.window<size=2x3>, dim_labels = #xla.dim_labels<bf01_oi01->bf01>} : (tensor<2x4x5x6xf32>, tensor<6x4x2x3xf32>) -> tensor<f32>
  func.return
}
