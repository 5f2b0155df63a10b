// RUN: xla-run %s --all-functions --backend reference

// Sums of products, for every index of the batch dimensions.

func.func @worked() {
  %x = xla.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %y = xla.constant dense<[[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]]> : tensor<2x3xf32>
  %0 = xla.dot %x, %y {lhs_contracting_dims = [1], rhs_contracting_dims = [1]} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x2xf32>
  check.expect_eq_const %0, dense<[[6.0, 12.0], [15.0, 30.0]]> : tensor<2x2xf32>
  %matrices = xla.constant dense<[[[1, 2], [3, 4]], [[5, 6], [7, 8]]]> : tensor<2x2x2xi32>
  %units = xla.constant dense<[[[1, 0], [0, 1]], [[1, 0], [0, 1]]]> : tensor<2x2x2xi32>
  %same = xla.dot %matrices, %units {lhs_batch_dims = [0], rhs_batch_dims = [0], lhs_contracting_dims = [2], rhs_contracting_dims = [1]} : (tensor<2x2x2xi32>, tensor<2x2x2xi32>) -> tensor<2x2x2xi32>
  check.expect_eq_const %same, dense<[[[1, 2], [3, 4]], [[5, 6], [7, 8]]]> : tensor<2x2x2xi32>
  // Converted first: 100 * 100 does not wrap.
  %bytes = xla.constant dense<[100, 100]> : tensor<2xi8>
  %wide = xla.dot %bytes, %bytes {lhs_contracting_dims = [0], rhs_contracting_dims = [0]} : (tensor<2xi8>, tensor<2xi8>) -> tensor<i32>
  check.expect_eq_const %wide, dense<20000> : tensor<i32>
  %narrow = xla.dot %bytes, %bytes {lhs_contracting_dims = [0], rhs_contracting_dims = [0]} : (tensor<2xi8>, tensor<2xi8>) -> tensor<i8>
  check.expect_eq_const %narrow, dense<32> : tensor<i8>
  // Summed in f32 and rounded once; rounded at every step, 256 + 1 would stay 256.
  %terms = xla.constant dense<[256.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]> : tensor<17xbf16>
  %ones = xla.constant dense<1.0> : tensor<17xbf16>
  %sum = xla.dot %terms, %ones {lhs_contracting_dims = [0], rhs_contracting_dims = [0]} : (tensor<17xbf16>, tensor<17xbf16>) -> tensor<bf16>
  check.expect_eq_const %sum, dense<272.0> : tensor<bf16>
  func.return
}

// Products that are exact in every order of summing. The last one is wide enough for the kernels of matrices.
// for f32 in types
func.func @types() -> (tensor<3x4xf32>, tensor<2x3xf32>, tensor<f32>, tensor<9x40xf32>) {
  %0 = xla.constant dense<[[1, 2, 0, -1, 1], [0, 1, 1, 2, 0], [-2, 1, 0, 0, 1]]> : tensor<3x5xi64>
  %1 = xla.constant dense<[[1, 0, 2, 1], [0, 1, -1, 0], [1, 1, 1, 1], [0, -1, 0, 1], [2, 0, 0, -2]]> : tensor<5x4xi64>
  %x = xla.convert %0 : (tensor<3x5xi64>) -> tensor<3x5xf32>
  %y = xla.convert %1 : (tensor<5x4xi64>) -> tensor<5x4xf32>
  %product = xla.dot %x, %y {lhs_contracting_dims = [1], rhs_contracting_dims = [0]} : (tensor<3x5xf32>, tensor<5x4xf32>) -> tensor<3x4xf32>
  %2 = xla.slice %y {start_indices = [0, 0], limit_indices = [5, 2], strides = [1, 1]} : (tensor<5x4xf32>) -> tensor<5x2xf32>
  %turned = xla.dot %2, %x {lhs_contracting_dims = [0], rhs_contracting_dims = [1]} : (tensor<5x2xf32>, tensor<3x5xf32>) -> tensor<2x3xf32>
  %all = xla.dot %x, %x {lhs_contracting_dims = [0, 1], rhs_contracting_dims = [0, 1]} : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<f32>
  %3 = xla.broadcast %x {dimensions = [1, 2]} : (tensor<3x5xf32>) -> tensor<3x3x5xf32>
  %4 = xla.reshape %3 : (tensor<3x3x5xf32>) -> tensor<9x5xf32>
  %5 = xla.broadcast %y {dimensions = [0, 2]} : (tensor<5x4xf32>) -> tensor<5x10x4xf32>
  %6 = xla.reshape %5 : (tensor<5x10x4xf32>) -> tensor<5x40xf32>
  %large = xla.dot %4, %6 {lhs_contracting_dims = [1], rhs_contracting_dims = [0]} : (tensor<9x5xf32>, tensor<5x40xf32>) -> tensor<9x40xf32>
  func.return %product, %turned, %all, %large : tensor<3x4xf32>, tensor<2x3xf32>, tensor<f32>, tensor<9x40xf32>
}

// Narrow operands, wide sums.
// for i8 in i4 ui4 i8 ui8 i16
func.func @wide_integers() -> tensor<3x4xi32> {
  %0 = xla.constant dense<[[1, 200, 0, -1, 1], [0, 1, 1, 127, 0], [-2, 1, -128, 0, 1]]> : tensor<3x5xi64>
  %1 = xla.constant dense<[[1, 0, 2, 1], [0, 1, -100, 0], [1, 127, 1, 1], [0, -128, 0, 1], [2, 0, 0, -2]]> : tensor<5x4xi64>
  %x = xla.convert %0 : (tensor<3x5xi64>) -> tensor<3x5xi8>
  %y = xla.convert %1 : (tensor<5x4xi64>) -> tensor<5x4xi8>
  %product = xla.dot %x, %y {lhs_contracting_dims = [1], rhs_contracting_dims = [0]} : (tensor<3x5xi8>, tensor<5x4xi8>) -> tensor<3x4xi32>
  func.return %product : tensor<3x4xi32>
}

// for f16 in f8E4M3FN f8E5M2 bf16 f16
func.func @wide_floats() -> tensor<3x4xf32> {
  %0 = xla.constant dense<[[1.0, 2.0, 0.5, -1.0, 1.0], [0.0, 1.0, 1.0, 2.0, 0.25], [-2.0, 1.0, 4.0, 0.0, 1.0]]> : tensor<3x5xf64>
  %1 = xla.constant dense<[[1.0, 0.0, 2.0, 1.0], [0.5, 1.0, -1.0, 0.0], [1.0, 1.5, 1.0, 1.0], [0.0, -1.0, 0.0, 1.0], [2.0, 0.0, 0.0, -2.0]]> : tensor<5x4xf64>
  %x = xla.convert %0 : (tensor<3x5xf64>) -> tensor<3x5xf16>
  %y = xla.convert %1 : (tensor<5x4xf64>) -> tensor<5x4xf16>
  %product = xla.dot %x, %y {lhs_contracting_dims = [1], rhs_contracting_dims = [0]} : (tensor<3x5xf16>, tensor<5x4xf16>) -> tensor<3x4xf32>
  func.return %product : tensor<3x4xf32>
}

// for f32 in parts
func.func @complex() -> tensor<2x2xcomplex<f32>> {
  %x = xla.constant dense<[[(1.0, 2.0), (0.0, 1.0)], [(0.5, -1.0), (2.0, 0.0)]]> : tensor<2x2xcomplex<f32>>
  %y = xla.constant dense<[[(0.0, 1.0), (1.0, 1.0)], [(3.0, 0.0), (-1.0, 2.0)]]> : tensor<2x2xcomplex<f32>>
  %0 = xla.dot %x, %y {lhs_contracting_dims = [1], rhs_contracting_dims = [0]} : (tensor<2x2xcomplex<f32>>, tensor<2x2xcomplex<f32>>) -> tensor<2x2xcomplex<f32>>
  func.return %0 : tensor<2x2xcomplex<f32>>
}

// Two batch dimensions, not in front, and free ones on both sides.
func.func @batches() -> tensor<3x2x4x5xi32> {
  %0 = xla.iota {iota_dimension = 0} : tensor<48xi32>
  %1 = xla.iota {iota_dimension = 0} : tensor<60xi32>
  %x = xla.reshape %0 : (tensor<48xi32>) -> tensor<4x2x2x3xi32>
  %y = xla.reshape %1 : (tensor<60xi32>) -> tensor<2x3x5x2xi32>
  %2 = xla.dot %x, %y {lhs_batch_dims = [3, 1], rhs_batch_dims = [1, 0], lhs_contracting_dims = [2], rhs_contracting_dims = [3]} : (tensor<4x2x2x3xi32>, tensor<2x3x5x2xi32>) -> tensor<3x2x4x5xi32>
  func.return %2 : tensor<3x2x4x5xi32>
}

func.func @special_floats() -> tensor<2x2xf32> {
  %x = xla.constant dense<[[0x7F800000, 1.0], [0.0, -0.0]]> : tensor<2x2xf32>
  %y = xla.constant dense<[[1.0, 0.0], [2.0, 3.0]]> : tensor<2x2xf32>
  %0 = xla.dot %x, %y {lhs_contracting_dims = [1], rhs_contracting_dims = [0]} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  check.expect_eq_const %0, dense<[[0x7F800000, 0x7FC00000], [0.0, 0.0]]> : tensor<2x2xf32>
  func.return %0 : tensor<2x2xf32>
}

func.func @mixed_layouts() -> tensor<2x4xi32, #xla.layout<{0,1}>> {
  %x = xla.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32, #xla.layout<{0,1}>>
  %y = xla.constant dense<[[1, 0, 2, -1], [3, 1, 0, 5], [-2, 4, 1, 1]]> : tensor<3x4xi32>
  %0 = xla.dot %x, %y {lhs_contracting_dims = [1], rhs_contracting_dims = [0]} : (tensor<2x3xi32, #xla.layout<{0,1}>>, tensor<3x4xi32>) -> tensor<2x4xi32, #xla.layout<{0,1}>>
  func.return %0 : tensor<2x4xi32, #xla.layout<{0,1}>>
}

// An outer product, one of scalars, sums of nothing, nothing.
func.func @sizes() -> (tensor<2x3xf32>, tensor<f32>, tensor<2x3xf32>, tensor<0x3xf32>) {
  %x = xla.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %y = xla.constant dense<[3.0, 4.0, 5.0]> : tensor<3xf32>
  %outer = xla.dot %x, %y : (tensor<2xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %two = xla.constant dense<2.0> : tensor<f32>
  %scalar = xla.dot %two, %two : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %0 = xla.constant dense<> : tensor<2x0xf32>
  %1 = xla.constant dense<> : tensor<0x3xf32>
  %zeros = xla.dot %0, %1 {lhs_contracting_dims = [1], rhs_contracting_dims = [0]} : (tensor<2x0xf32>, tensor<0x3xf32>) -> tensor<2x3xf32>
  check.expect_eq_const %zeros, dense<0.0> : tensor<2x3xf32>
  %2 = xla.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %3 = xla.constant dense<> : tensor<2x0xf32>
  %none = xla.dot %3, %2 {lhs_contracting_dims = [0], rhs_contracting_dims = [0]} : (tensor<2x0xf32>, tensor<2x3xf32>) -> tensor<0x3xf32>
  func.return %outer, %scalar, %zeros, %none : tensor<2x3xf32>, tensor<f32>, tensor<2x3xf32>, tensor<0x3xf32>
}
