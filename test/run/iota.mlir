// RUN: xla-run %s --all-functions --backend reference

// Indices as elements: those beyond a narrow integer wrap, those between two floats are rounded.

func.func @worked() {
  %rows = xla.iota {iota_dimension = 0} : tensor<4x8xi32>
  check.expect_eq_const %rows, dense<[[0, 0, 0, 0, 0, 0, 0, 0], [1, 1, 1, 1, 1, 1, 1, 1], [2, 2, 2, 2, 2, 2, 2, 2], [3, 3, 3, 3, 3, 3, 3, 3]]> : tensor<4x8xi32>
  %columns = xla.iota {iota_dimension = 1} : tensor<4x8xi32>
  check.expect_eq_const %columns, dense<[[0, 1, 2, 3, 4, 5, 6, 7], [0, 1, 2, 3, 4, 5, 6, 7], [0, 1, 2, 3, 4, 5, 6, 7], [0, 1, 2, 3, 4, 5, 6, 7]]> : tensor<4x8xi32>
  %complex = xla.iota {iota_dimension = 0} : tensor<3xcomplex<f32>>
  check.expect_eq_const %complex, dense<[(0.0, 0.0), (1.0, 0.0), (2.0, 0.0)]> : tensor<3xcomplex<f32>>
  %narrow = xla.iota {iota_dimension = 0} : tensor<20xi4>
  check.expect_eq_const %narrow, dense<[0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3]> : tensor<20xi4>
  %small = xla.iota {iota_dimension = 0} : tensor<20xf8E5M2>
  check.expect_eq_const %small, dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 8.0, 10.0, 12.0, 12.0, 12.0, 14.0, 16.0, 16.0, 16.0, 16.0, 20.0]> : tensor<20xf8E5M2>
  %bytes = xla.iota {iota_dimension = 0} : tensor<300xui8>
  %wrapped = xla.slice %bytes {start_indices = [254], limit_indices = [258], strides = [1]} : (tensor<300xui8>) -> tensor<4xui8>
  check.expect_eq_const %wrapped, dense<[254, 255, 0, 1]> : tensor<4xui8>
  %bf16 = xla.iota {iota_dimension = 0} : tensor<260xbf16>
  %rounded = xla.slice %bf16 {start_indices = [255], limit_indices = [260], strides = [1]} : (tensor<260xbf16>) -> tensor<5xbf16>
  check.expect_eq_const %rounded, dense<[255.0, 256.0, 256.0, 258.0, 260.0]> : tensor<5xbf16>
  func.return
}

// for i32 in integers floats complex<f32> complex<f64>
func.func @types() -> (tensor<300xi32>, tensor<3x20x2xi32>) {
  %long = xla.iota {iota_dimension = 0} : tensor<300xi32>
  %between = xla.iota {iota_dimension = 1} : tensor<3x20x2xi32>
  func.return %long, %between : tensor<300xi32>, tensor<3x20x2xi32>
}

func.func @sizes() -> (tensor<1xi32>, tensor<0xi32>, tensor<3x0xi32>) {
  %one = xla.iota {iota_dimension = 0} : tensor<1xi32>
  %empty = xla.iota {iota_dimension = 0} : tensor<0xi32>
  %beside = xla.iota {iota_dimension = 0} : tensor<3x0xi32>
  func.return %one, %empty, %beside : tensor<1xi32>, tensor<0xi32>, tensor<3x0xi32>
}

func.func @column_major() -> tensor<4x6xi32, #xla.layout<{0,1}>> {
  %0 = xla.iota {iota_dimension = 1} : tensor<4x6xi32, #xla.layout<{0,1}>>
  func.return %0 : tensor<4x6xi32, #xla.layout<{0,1}>>
}
