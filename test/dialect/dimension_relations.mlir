// RUN: xla-opt %s -p xla-populate-sharding-rules --split-input-file | filecheck %s

// Sections stand in Shardy's order; scalars have no dimensions.

// CHECK-LABEL: func.func @regular
func.func @regular(%x: tensor<8x4xf32>, %y: tensor<4x16xf32>, %p: tensor<i1>) -> tensor<16x8xf32> {
  // CHECK: xla.add {{.*}}"([i, j], [i, j])->([i, j]) {i=8, j=4}"
  %0 = xla.add %x, %x : tensor<8x4xf32>
  // CHECK: xla.select {{.*}}"([], [i, j], [i, j])->([i, j]) {i=8, j=4}"
  %1 = xla.select %p, %0, %x : (tensor<i1>, tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  // CHECK: xla.dot {{.*}}"([i, k], [k, j])->([i, j]) {i=8, j=16, k=4} reduction={k}"
  %2 = xla.dot %1, %y {lhs_contracting_dims = [1], rhs_contracting_dims = [0]} : (tensor<8x4xf32>, tensor<4x16xf32>) -> tensor<8x16xf32>
  // CHECK: xla.transpose {{.*}}"([j, i])->([i, j]) {i=16, j=8}"
  %3 = xla.transpose %2 {dimensions = [1, 0]} : (tensor<8x16xf32>) -> tensor<16x8xf32>
  func.return %3 : tensor<16x8xf32>
}

// -----

// What begins inside of something else on the other side is on one side only; what ends together
// with it goes on together.

// CHECK-LABEL: func.func @regrouped
func.func @regrouped(%x: tensor<6x4xf32>, %y: tensor<1x12x5xf32>) -> (tensor<4x6xf32>, tensor<4x15xf32>) {
  // CHECK: xla.reshape {{.*}}"([ij, mn])->([ik, ln]) {i=2, j=3, k=2, l=3, m=2, n=2}"
  %0 = xla.reshape %x : (tensor<6x4xf32>) -> tensor<4x6xf32>
  // CHECK: xla.reshape {{.*}}"([i, jk, l])->([j, kl]) {i=1, j=4, k=3, l=5}"
  %1 = xla.reshape %y : (tensor<1x12x5xf32>) -> tensor<4x15xf32>
  func.return %0, %1 : tensor<4x6xf32>, tensor<4x15xf32>
}

// -----

// CHECK-LABEL: func.func @moved
func.func @moved(%x: tensor<8x4xf32>, %u: tensor<8x2xf32>, %zero: tensor<f32>, %i: tensor<i32>) -> tensor<8x4xf32> {
  // CHECK: xla.slice {{.*}}"([i, j])->([i, j]) {i=8, j=4} permutation={j}"
  %0 = xla.slice %x {start_indices = [0, 1], limit_indices = [8, 3], strides = [1, 1]} : (tensor<8x4xf32>) -> tensor<8x2xf32>
  // CHECK: xla.pad {{.*}}"([i, j], [])->([i, j]) {i=8, j=2} permutation={j}"
  %1 = xla.pad %0, %zero {edge_padding_low = [0, 1], edge_padding_high = [0, 1], interior_padding = [0, 0]} : (tensor<8x2xf32>, tensor<f32>) -> tensor<8x4xf32>
  // CHECK: xla.dynamic_slice {{.*}}"([i, j], [], [])->([i, j]) {i=8, j=4} need_replication={j} blocked_propagation={j}"
  %2 = xla.dynamic_slice %1, %i, %i {dynamic_slice_sizes = [8, 2]} : (tensor<8x4xf32>, tensor<i32>, tensor<i32>) -> tensor<8x2xf32>
  // CHECK: xla.dynamic_update_slice {{.*}}"([i, j], [i, k], [], [])->([i, j]) {i=8, j=4, k=2} need_replication={k}"
  %3 = xla.dynamic_update_slice %1, %2, %i, %i : (tensor<8x4xf32>, tensor<8x2xf32>, tensor<i32>, tensor<i32>) -> tensor<8x4xf32>
  func.return %3 : tensor<8x4xf32>
}

// -----

// Where windows lie side by side a dimension is a product of which window and where in it.

// CHECK-LABEL: func.func @windows
func.func @windows(%x: tensor<2x8x3xf32>, %w: tensor<2x3x16xf32>) -> (tensor<2x4x16xf32>, tensor<2x7x16xf32>) {
  // CHECK: xla.convolution {{.*}}"([i, jk, l], [k, l, m])->([i, j, m]) {i=2, j=4, k=2, l=3, m=16} reduction={k, l}"
  %0 = xla.convolution %x, %w {window = #xla.window<size=2 stride=2>, dim_labels = #xla.dim_labels<b0f_0io->b0f>} : (tensor<2x8x3xf32>, tensor<2x3x16xf32>) -> tensor<2x4x16xf32>
  // CHECK: xla.convolution {{.*}}"([i, j, k], [m, k, l])->([i, j, l]) {i=2, j=7, k=3, l=16, m=1} reduction={k} permutation={j}"
  %1 = xla.convolution %x, %w {window = #xla.window<size=2>, dim_labels = #xla.dim_labels<b0f_0io->b0f>} : (tensor<2x8x3xf32>, tensor<2x3x16xf32>) -> tensor<2x7x16xf32>
  func.return %0, %1 : tensor<2x4x16xf32>, tensor<2x7x16xf32>
}

// -----

// Nothing is said of values that go through computations, and of tuples.

// CHECK-LABEL: func.func @undeclared
// CHECK-NOT: dimension_relations
func.func @undeclared(%x: tensor<2xf32>) -> tuple<tensor<2xf32>> {
  %0 = xla.tuple %x : (tensor<2xf32>) -> tuple<tensor<2xf32>>
  %1 = xla.opt_barrier %0 : tuple<tensor<2xf32>>
  func.return %1 : tuple<tensor<2xf32>>
}

// -----

// Loops, branches and fusions forward values: whatever a loop's body returns is a parameter of both
// computations next time, and the result at the end; the condition's result is forwarded nowhere. The
// operands of a conditional follow each other branch by branch, behind the index.

// CHECK-LABEL: func.func @forwarded
// CHECK: xla.while
// CHECK: attributes {xla.dimension_relations = "(operand 0, body 0)->(condition 0, body 0, result 0), (operand 1, body 1)->(condition 1, body 1, result 1)"}
// CHECK: xla.conditional
// CHECK: attributes {xla.dimension_relations = "(operand 1)->(branch[0] 0), (operand 2)->(branch[0] 1), (operand 3)->(branch[1] 0), (branch[0] 0, branch[1] 0)->(result 0)"}
// CHECK: xla.fusion
// CHECK: attributes {xla.dimension_relations = "(operand 0)->(calls 0), (operand 1)->(calls 1), (calls 0)->(result 0)"}
func.func @forwarded(%x: tensor<8x4xf32>, %n: tensor<i32>) -> tensor<8x4xf32> {
  %0, %1 = xla.while %x, %n : (tensor<8x4xf32>, tensor<i32>) -> (tensor<8x4xf32>, tensor<i32>)
    condition (%c: tensor<8x4xf32>, %i: tensor<i32>) {
      %p = xla.compare %i, %i {direction = NE} : (tensor<i32>, tensor<i32>) -> tensor<i1>
      xla.return %p : tensor<i1>
    }
    body (%b: tensor<8x4xf32>, %j: tensor<i32>) {
      xla.return %b, %j : tensor<8x4xf32>, tensor<i32>
    }
  %2 = xla.conditional %1, %0, %x, %x : (tensor<i32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    branch (%a: tensor<8x4xf32>, %d: tensor<8x4xf32>) {
      xla.return %d : tensor<8x4xf32>
    }
    branch (%e: tensor<8x4xf32>) {
      xla.return %e : tensor<8x4xf32>
    }
  %3 = xla.fusion %2, %x : tensor<8x4xf32> calls (%f: tensor<8x4xf32>, %g: tensor<8x4xf32>) {
    %4 = xla.add %f, %g : tensor<8x4xf32>
    xla.return %4 : tensor<8x4xf32>
  }
  func.return %3 : tensor<8x4xf32>
}
