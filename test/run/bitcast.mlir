// RUN: xla-run %s --all-functions --backend reference

// The same memory as another type: in the order of its layout, not of its indices.

func.func @worked() {
  %x = xla.constant dense<[1.0, -0.0]> : tensor<2xf32>
  %bits = xla.bitcast %x : (tensor<2xf32>) -> tensor<2xi32>
  check.expect_eq_const %bits, dense<[1065353216, -2147483648]> : tensor<2xi32>
  // Column by column in memory.
  %y = xla.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32, #xla.layout<{0,1}>>
  %line = xla.bitcast %y : (tensor<2x3xi32, #xla.layout<{0,1}>>) -> tensor<6xi32>
  check.expect_eq_const %line, dense<[1, 4, 2, 5, 3, 6]> : tensor<6xi32>
  %transposed = xla.bitcast %y : (tensor<2x3xi32, #xla.layout<{0,1}>>) -> tensor<3x2xi32>
  check.expect_eq_const %transposed, dense<[[1, 4], [2, 5], [3, 6]]> : tensor<3x2xi32>
  func.return
}

// Element [2, 0, 1] is 13; where it is in memory depends on the layout. The last one is last in all of them.
func.func @worked_positions() {
  %line = xla.iota {iota_dimension = 0} : tensor<24xi32>
  %box = xla.reshape %line : (tensor<24xi32>) -> tensor<4x2x3xi32>
  %rows.box = xla.copy %box : (tensor<4x2x3xi32>) -> tensor<4x2x3xi32, #xla.layout<{2,1,0}>>
  %rows = xla.bitcast %rows.box : (tensor<4x2x3xi32, #xla.layout<{2,1,0}>>) -> tensor<24xi32>
  %rows.inside = xla.slice %rows {start_indices = [13], limit_indices = [14], strides = [1]} : (tensor<24xi32>) -> tensor<1xi32>
  check.expect_eq_const %rows.inside, dense<[13]> : tensor<1xi32>
  %rows.last = xla.slice %rows {start_indices = [23], limit_indices = [24], strides = [1]} : (tensor<24xi32>) -> tensor<1xi32>
  check.expect_eq_const %rows.last, dense<[23]> : tensor<1xi32>
  %columns.box = xla.copy %box : (tensor<4x2x3xi32>) -> tensor<4x2x3xi32, #xla.layout<{0,1,2}>>
  %columns = xla.bitcast %columns.box : (tensor<4x2x3xi32, #xla.layout<{0,1,2}>>) -> tensor<24xi32>
  %columns.inside = xla.slice %columns {start_indices = [10], limit_indices = [11], strides = [1]} : (tensor<24xi32>) -> tensor<1xi32>
  check.expect_eq_const %columns.inside, dense<[13]> : tensor<1xi32>
  %columns.last = xla.slice %columns {start_indices = [23], limit_indices = [24], strides = [1]} : (tensor<24xi32>) -> tensor<1xi32>
  check.expect_eq_const %columns.last, dense<[23]> : tensor<1xi32>
  %mixed.box = xla.copy %box : (tensor<4x2x3xi32>) -> tensor<4x2x3xi32, #xla.layout<{1,2,0}>>
  %mixed = xla.bitcast %mixed.box : (tensor<4x2x3xi32, #xla.layout<{1,2,0}>>) -> tensor<24xi32>
  %mixed.inside = xla.slice %mixed {start_indices = [14], limit_indices = [15], strides = [1]} : (tensor<24xi32>) -> tensor<1xi32>
  check.expect_eq_const %mixed.inside, dense<[13]> : tensor<1xi32>
  %mixed.last = xla.slice %mixed {start_indices = [23], limit_indices = [24], strides = [1]} : (tensor<24xi32>) -> tensor<1xi32>
  check.expect_eq_const %mixed.last, dense<[23]> : tensor<1xi32>
  func.return
}

// for i32 in types
func.func @types() -> (tensor<15xi32>, tensor<5x3xi32, #xla.layout<{0,1}>>) {
  %0 = xla.constant dense<[[0, 1, -1, 2, 3], [4, 5, 6, 7, 8], [100, -100, 1, 0, 127]]> : tensor<3x5xi64>
  %x = xla.convert %0 : (tensor<3x5xi64>) -> tensor<3x5xi32>
  %flat = xla.bitcast %x : (tensor<3x5xi32>) -> tensor<15xi32>
  %turned = xla.bitcast %x : (tensor<3x5xi32>) -> tensor<5x3xi32, #xla.layout<{0,1}>>
  func.return %flat, %turned : tensor<15xi32>, tensor<5x3xi32, #xla.layout<{0,1}>>
}

func.func @widths() -> (tensor<2x2xi16>, tensor<2xi64>, tensor<4xui8>) {
  %0 = xla.constant dense<[65537, -2]> : tensor<2xi32>
  %halves = xla.bitcast %0 : (tensor<2xi32>) -> tensor<2x2xi16>
  %1 = xla.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %doubles = xla.bitcast %1 : (tensor<2x2xi32>) -> tensor<2xi64>
  %2 = xla.constant dense<1.0> : tensor<f32>
  %bytes = xla.bitcast %2 : (tensor<f32>) -> tensor<4xui8>
  func.return %halves, %doubles, %bytes : tensor<2x2xi16>, tensor<2xi64>, tensor<4xui8>
}

func.func @sizes() -> (tensor<f32>, tensor<0xi32>) {
  %x = xla.constant dense<[[2.5]]> : tensor<1x1xf32>
  %scalar = xla.bitcast %x : (tensor<1x1xf32>) -> tensor<f32>
  %nothing = xla.constant dense<> : tensor<0x3xf32>
  %empty = xla.bitcast %nothing : (tensor<0x3xf32>) -> tensor<0xi32>
  func.return %scalar, %empty : tensor<f32>, tensor<0xi32>
}
