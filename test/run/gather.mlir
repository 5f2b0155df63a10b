// RUN: xla-run %s --all-functions --backend reference

// Slices from many places, whose starts are moved so that all of each lies inside.

func.func @worked() {
  %x = xla.constant dense<[[1, 2, 3], [4, 5, 6], [7, 8, 9]]> : tensor<3x3xi32>
  %ends = xla.constant dense<[0, 2]> : tensor<2xi32>
  %rows = xla.gather %x, %ends {offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1, slice_sizes = [1, 3]} : (tensor<3x3xi32>, tensor<2xi32>) -> tensor<2x3xi32>
  check.expect_eq_const %rows, dense<[[1, 2, 3], [7, 8, 9]]> : tensor<2x3xi32>
  %columns = xla.gather %x, %ends {offset_dims = [0], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1, slice_sizes = [3, 1]} : (tensor<3x3xi32>, tensor<2xi32>) -> tensor<3x2xi32>
  check.expect_eq_const %columns, dense<[[1, 3], [4, 6], [7, 9]]> : tensor<3x2xi32>
  %places = xla.constant dense<[[0, 2], [2, 1]]> : tensor<2x2xi32>
  %points = xla.gather %x, %places {offset_dims = [], collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1, slice_sizes = [1, 1]} : (tensor<3x3xi32>, tensor<2x2xi32>) -> tensor<2xi32>
  check.expect_eq_const %points, dense<[3, 8]> : tensor<2xi32>
  %outside = xla.constant dense<[2, 5]> : tensor<2xi32>
  %last = xla.gather %x, %outside {offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1, slice_sizes = [1, 3]} : (tensor<3x3xi32>, tensor<2xi32>) -> tensor<2x3xi32>
  check.expect_eq_const %last, dense<[[7, 8, 9], [7, 8, 9]]> : tensor<2x3xi32>
  %negative = xla.constant dense<[-1, 1]> : tensor<2xi32>
  %first = xla.gather %x, %negative {offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1, slice_sizes = [1, 3]} : (tensor<3x3xi32>, tensor<2xi32>) -> tensor<2x3xi32>
  check.expect_eq_const %first, dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %huge = xla.constant dense<[4294967295, 1]> : tensor<2xui32>
  %unsigned = xla.gather %x, %huge {offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1, slice_sizes = [1, 3]} : (tensor<3x3xi32>, tensor<2xui32>) -> tensor<2x3xi32>
  check.expect_eq_const %unsigned, dense<[[7, 8, 9], [4, 5, 6]]> : tensor<2x3xi32>
  func.return
}

func.func @worked_batches() {
  %x = xla.constant dense<[[0, 1, 2], [3, 4, 5]]> : tensor<2x3xi32>
  %places = xla.constant dense<[2, 0]> : tensor<2xi32>
  %elements = xla.gather %x, %places {offset_dims = [], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1, slice_sizes = [1, 1], operand_batching_dims = [0], start_indices_batching_dims = [0]} : (tensor<2x3xi32>, tensor<2xi32>) -> tensor<2xi32>
  check.expect_eq_const %elements, dense<[2, 3]> : tensor<2xi32>
  %slices = xla.gather %x, %places {offset_dims = [1], collapsed_slice_dims = [], start_index_map = [1], index_vector_dim = 1, slice_sizes = [1, 2], operand_batching_dims = [0], start_indices_batching_dims = [0]} : (tensor<2x3xi32>, tensor<2xi32>) -> tensor<2x2xi32>
  check.expect_eq_const %slices, dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  func.return
}

// Boxes of 8 x 6 of a matrix of 11i + j: some of their corners.
func.func @worked_boxes() {
  %0 = xla.iota {iota_dimension = 0} : tensor<176xi32>
  %x = xla.reshape %0 : (tensor<176xi32>) -> tensor<16x11xi32>
  %starts = xla.constant dense<[[0, 0], [8, 5], [3, 2], [9, 9], [1, 4]]> : tensor<5x2xi64>
  %boxes = xla.gather %x, %starts {offset_dims = [1, 2], collapsed_slice_dims = [], start_index_map = [0, 1], index_vector_dim = 1, slice_sizes = [8, 6]} : (tensor<16x11xi32>, tensor<5x2xi64>) -> tensor<5x8x6xi32>
  %first = xla.slice %boxes {start_indices = [0, 0, 0], limit_indices = [5, 1, 1], strides = [1, 1, 1]} : (tensor<5x8x6xi32>) -> tensor<5x1x1xi32>
  check.expect_eq_const %first, dense<[[[0]], [[93]], [[35]], [[93]], [[15]]]> : tensor<5x1x1xi32>
  %last = xla.slice %boxes {start_indices = [0, 7, 5], limit_indices = [5, 8, 6], strides = [1, 1, 1]} : (tensor<5x8x6xi32>) -> tensor<5x1x1xi32>
  check.expect_eq_const %last, dense<[[[82]], [[175]], [[117]], [[175]], [[97]]]> : tensor<5x1x1xi32>
  func.return
}

// for i32 in types
func.func @types() -> (tensor<4x5xi32>, tensor<3x2x2xi32>) {
  %0 = xla.constant dense<[[0, 1, -1, 2, 3], [4, 5, 6, 7, 8], [100, -100, 1, 0, 127]]> : tensor<3x5xi64>
  %x = xla.convert %0 : (tensor<3x5xi64>) -> tensor<3x5xi32>
  %rows = xla.constant dense<[2, 0, -7, 1]> : tensor<4xi64>
  %1 = xla.gather %x, %rows {offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1, slice_sizes = [1, 5]} : (tensor<3x5xi32>, tensor<4xi64>) -> tensor<4x5xi32>
  // The vectors of indices are columns, and their first component is that of the columns.
  %corners = xla.constant dense<[[3, 9, 0], [1, 0, 5]]> : tensor<2x3xi64>
  %2 = xla.gather %x, %corners {offset_dims = [1, 2], collapsed_slice_dims = [], start_index_map = [1, 0], index_vector_dim = 0, slice_sizes = [2, 2]} : (tensor<3x5xi32>, tensor<2x3xi64>) -> tensor<3x2x2xi32>
  func.return %1, %2 : tensor<4x5xi32>, tensor<3x2x2xi32>
}

// for i32 in integers
func.func @index_types() -> tensor<3x2xf32> {
  %x = xla.constant dense<[0.0, 1.0, 2.0, 3.0, 4.0]> : tensor<5xf32>
  %0 = xla.constant dense<[0, 1, -1]> : tensor<3xi64>
  %places = xla.convert %0 : (tensor<3xi64>) -> tensor<3xi32>
  %1 = xla.gather %x, %places {offset_dims = [1], collapsed_slice_dims = [], start_index_map = [0], index_vector_dim = 1, slice_sizes = [2]} : (tensor<5xf32>, tensor<3xi32>) -> tensor<3x2xf32>
  func.return %1 : tensor<3x2xf32>
}

func.func @layouts() -> tensor<2x2x3xi32, #xla.layout<{0,2,1}>> {
  %x = xla.constant dense<[[1, 2, 3], [4, 5, 6], [7, 8, 9]]> : tensor<3x3xi32, #xla.layout<{0,1}>>
  %places = xla.constant dense<[[0, 2], [1, 5]]> : tensor<2x2xi32, #xla.layout<{0,1}>>
  %0 = xla.gather %x, %places {offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2, slice_sizes = [1, 3]} : (tensor<3x3xi32, #xla.layout<{0,1}>>, tensor<2x2xi32, #xla.layout<{0,1}>>) -> tensor<2x2x3xi32, #xla.layout<{0,2,1}>>
  func.return %0 : tensor<2x2x3xi32, #xla.layout<{0,2,1}>>
}

// A start that is a scalar, no starts, slices of no size.
func.func @sizes() -> (tensor<f32>, tensor<0x3xf32>, tensor<2x0xf32>) {
  %x = xla.constant dense<[1.0, -0.0, 0x7FC00000]> : tensor<3xf32>
  %one = xla.constant dense<1> : tensor<i32>
  %scalar = xla.gather %x, %one {offset_dims = [], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 0, slice_sizes = [1]} : (tensor<3xf32>, tensor<i32>) -> tensor<f32>
  %nowhere = xla.constant dense<> : tensor<0x1xi32>
  %empty = xla.gather %x, %nowhere {offset_dims = [1], collapsed_slice_dims = [], start_index_map = [0], index_vector_dim = 1, slice_sizes = [3]} : (tensor<3xf32>, tensor<0x1xi32>) -> tensor<0x3xf32>
  %places = xla.constant dense<[[1], [7]]> : tensor<2x1xi32>
  %none = xla.gather %x, %places {offset_dims = [1], collapsed_slice_dims = [], start_index_map = [0], index_vector_dim = 1, slice_sizes = [0]} : (tensor<3xf32>, tensor<2x1xi32>) -> tensor<2x0xf32>
  func.return %scalar, %empty, %none : tensor<f32>, tensor<0x3xf32>, tensor<2x0xf32>
}
