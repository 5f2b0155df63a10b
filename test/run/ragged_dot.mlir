// RUN: xla-run %s --all-functions --backend reference

// Products in groups of rows, each with a matrix of its own; the sizes of the groups are data.

func.func @worked() {
  %x = xla.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32>
  %y = xla.constant dense<[[[1], [1]], [[10], [100]]]> : tensor<2x2x1xi32>
  %sizes = xla.constant dense<[1, 2]> : tensor<2xi32>
  %0 = xla.ragged_dot %x, %y, %sizes {lhs_contracting_dims = [1], rhs_contracting_dims = [1], lhs_ragged_dims = [0], rhs_group_dims = [0]} : (tensor<3x2xi32>, tensor<2x2x1xi32>, tensor<2xi32>) -> tensor<3x1xi32>
  check.expect_eq_const %0, dense<[[3], [430], [650]]> : tensor<3x1xi32>
  func.return
}

// Rows after the last group are 0; a group may be empty.
// for f32 in f16 bf16 f32 f64 i8 i32
func.func @types() -> tensor<5x2xf32> {
  %0 = xla.constant dense<[[1, 2], [3, 0], [-1, 1], [2, 2], [7, 7]]> : tensor<5x2xi64>
  %1 = xla.constant dense<[[[1, 2], [0, 1]], [[5, 5], [5, 5]], [[-1, 0], [2, 1]]]> : tensor<3x2x2xi64>
  %x = xla.convert %0 : (tensor<5x2xi64>) -> tensor<5x2xf32>
  %y = xla.convert %1 : (tensor<3x2x2xi64>) -> tensor<3x2x2xf32>
  %sizes = xla.constant dense<[2, 0, 2]> : tensor<3xi16>
  %2 = xla.ragged_dot %x, %y, %sizes {lhs_contracting_dims = [1], rhs_contracting_dims = [1], lhs_ragged_dims = [0], rhs_group_dims = [0]} : (tensor<5x2xf32>, tensor<3x2x2xf32>, tensor<3xi16>) -> tensor<5x2xf32>
  func.return %2 : tensor<5x2xf32>
}

// The ragged dimension is summed over: one product for each group.
func.func @contracting() -> tensor<2x2x1xi32> {
  %x = xla.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %y = xla.constant dense<[[1], [10], [100]]> : tensor<3x1xi32>
  %sizes = xla.constant dense<[2, 1]> : tensor<2xi32>
  %0 = xla.ragged_dot %x, %y, %sizes {lhs_contracting_dims = [1], rhs_contracting_dims = [0], lhs_ragged_dims = [1]} : (tensor<2x3xi32>, tensor<3x1xi32>, tensor<2xi32>) -> tensor<2x2x1xi32>
  check.expect_eq_const %0, dense<[[[21], [54]], [[300], [600]]]> : tensor<2x2x1xi32>
  func.return %0 : tensor<2x2x1xi32>
}

func.func @column_major() -> tensor<3x1xi32, #xla.layout<{0,1}>> {
  %x = xla.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32, #xla.layout<{0,1}>>
  %y = xla.constant dense<[[[1], [1]], [[10], [100]]]> : tensor<2x2x1xi32, #xla.layout<{0,1,2}>>
  %sizes = xla.constant dense<[3, 0]> : tensor<2xi32>
  %0 = xla.ragged_dot %x, %y, %sizes {lhs_contracting_dims = [1], rhs_contracting_dims = [1], lhs_ragged_dims = [0], rhs_group_dims = [0]} : (tensor<3x2xi32, #xla.layout<{0,1}>>, tensor<2x2x1xi32, #xla.layout<{0,1,2}>>, tensor<2xi32>) -> tensor<3x1xi32, #xla.layout<{0,1}>>
  check.expect_eq_const %0, dense<[[3], [7], [11]]> : tensor<3x1xi32, #xla.layout<{0,1}>>
  func.return %0 : tensor<3x1xi32, #xla.layout<{0,1}>>
}

func.func @sizes() -> (tensor<0x1xf32>, tensor<2x1xf32>) {
  %nothing = xla.constant dense<> : tensor<0x2xf32>
  %y = xla.constant dense<[[[1.0], [1.0]]]> : tensor<1x2x1xf32>
  %none = xla.constant dense<[0]> : tensor<1xi32>
  %empty = xla.ragged_dot %nothing, %y, %none {lhs_contracting_dims = [1], rhs_contracting_dims = [1], lhs_ragged_dims = [0], rhs_group_dims = [0]} : (tensor<0x2xf32>, tensor<1x2x1xf32>, tensor<1xi32>) -> tensor<0x1xf32>
  %x = xla.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %zeros = xla.ragged_dot %x, %y, %none {lhs_contracting_dims = [1], rhs_contracting_dims = [1], lhs_ragged_dims = [0], rhs_group_dims = [0]} : (tensor<2x2xf32>, tensor<1x2x1xf32>, tensor<1xi32>) -> tensor<2x1xf32>
  check.expect_eq_const %zeros, dense<0.0> : tensor<2x1xf32>
  func.return %empty, %zeros : tensor<0x1xf32>, tensor<2x1xf32>
}
