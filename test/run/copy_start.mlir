// RUN: xla-run %s --all-functions --backend reference

// A copy in two halves.

func.func @worked() {
  %x = xla.constant dense<[1, 2, 3]> : tensor<3xi32>
  %s = xla.copy_start %x : (tensor<3xi32>) -> tuple<tensor<3xi32>, tensor<3xi32>, tensor<ui32>>
  // Computed while the copy is made.
  %negative = xla.negate %x : tensor<3xi32>
  %0 = xla.copy_done %s : (tuple<tensor<3xi32>, tensor<3xi32>, tensor<ui32>>) -> tensor<3xi32>
  check.expect_eq_const %0, dense<[1, 2, 3]> : tensor<3xi32>
  // The copy keeps its elements when the source is overwritten.
  %zero = xla.constant dense<0> : tensor<i32>
  %other = xla.slice %negative {start_indices = [0], limit_indices = [1], strides = [1]} : (tensor<3xi32>) -> tensor<1xi32>
  %updated = xla.dynamic_update_slice %x, %other, %zero : (tensor<3xi32>, tensor<1xi32>, tensor<i32>) -> tensor<3xi32>
  check.expect_eq_const %updated, dense<[-1, 2, 3]> : tensor<3xi32>
  %sum = xla.add %0, %updated : tensor<3xi32>
  check.expect_eq_const %sum, dense<[0, 4, 6]> : tensor<3xi32>
  func.return
}

// for i32 in types
func.func @types() -> tensor<3xi32> {
  %values = xla.constant dense<[0, 1, -1]> : tensor<3xi64>
  %x = xla.convert %values : (tensor<3xi64>) -> tensor<3xi32>
  %s = xla.copy_start %x : (tensor<3xi32>) -> tuple<tensor<3xi32>, tensor<3xi32>, tensor<ui32>>
  %0 = xla.copy_done %s : (tuple<tensor<3xi32>, tensor<3xi32>, tensor<ui32>>) -> tensor<3xi32>
  func.return %0 : tensor<3xi32>
}

func.func @column_major() -> tensor<2x3xf32, #xla.layout<{0,1}>> {
  %x = xla.constant dense<[[1.0, 2.0, 3.0], [-0.0, 0x7FC00000, 6.0]]> : tensor<2x3xf32, #xla.layout<{0,1}>>
  %s = xla.copy_start %x : (tensor<2x3xf32, #xla.layout<{0,1}>>) -> tuple<tensor<2x3xf32, #xla.layout<{0,1}>>, tensor<2x3xf32, #xla.layout<{0,1}>>, tensor<ui32>>
  %0 = xla.copy_done %s : (tuple<tensor<2x3xf32, #xla.layout<{0,1}>>, tensor<2x3xf32, #xla.layout<{0,1}>>, tensor<ui32>>) -> tensor<2x3xf32, #xla.layout<{0,1}>>
  func.return %0 : tensor<2x3xf32, #xla.layout<{0,1}>>
}

func.func @sizes() -> tensor<0x3xf32> {
  %x = xla.constant dense<> : tensor<0x3xf32>
  %s = xla.copy_start %x : (tensor<0x3xf32>) -> tuple<tensor<0x3xf32>, tensor<0x3xf32>, tensor<ui32>>
  %0 = xla.copy_done %s : (tuple<tensor<0x3xf32>, tensor<0x3xf32>, tensor<ui32>>) -> tensor<0x3xf32>
  func.return %0 : tensor<0x3xf32>
}
