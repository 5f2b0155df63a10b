// RUN: xla-run %s --all-functions --backend reference

// The k largest or smallest of every row with their indices, in the total order; the first of equal ones comes first.

func.func @worked() {
  %x = xla.constant dense<[3, 1, 3, 2]> : tensor<4xi32>
  %largest, %places = xla.topk %x {k = 2} : (tensor<4xi32>) -> (tensor<2xi32>, tensor<2xi32>)
  check.expect_eq_const %largest, dense<[3, 3]> : tensor<2xi32>
  check.expect_eq_const %places, dense<[0, 2]> : tensor<2xi32>
  %smallest, %from = xla.topk %x {k = 2, largest = false} : (tensor<4xi32>) -> (tensor<2xi32>, tensor<2xi32>)
  check.expect_eq_const %smallest, dense<[1, 2]> : tensor<2xi32>
  check.expect_eq_const %from, dense<[1, 3]> : tensor<2xi32>
  %y = xla.constant dense<[3.0, 0x7FC00000, -0.0, 0.0, 0xFF800000, 0xFFC00000, 1.0, 0x7F800000, -0.0]> : tensor<9xf32>
  %down, %down.places = xla.topk %y {k = 9} : (tensor<9xf32>) -> (tensor<9xf32>, tensor<9xi32>)
  check.expect_eq_const %down.places, dense<[1, 7, 0, 6, 3, 2, 8, 4, 5]> : tensor<9xi32>
  %up, %up.places = xla.topk %y {k = 9, largest = false} : (tensor<9xf32>) -> (tensor<9xf32>, tensor<9xi32>)
  check.expect_eq_const %up.places, dense<[5, 4, 2, 8, 3, 6, 0, 7, 1]> : tensor<9xi32>
  %z = xla.constant dense<[255, 0, 7]> : tensor<3xui8>
  %unsigned, %unsigned.places = xla.topk %z {k = 3} : (tensor<3xui8>) -> (tensor<3xui8>, tensor<3xi32>)
  check.expect_eq_const %unsigned, dense<[255, 7, 0]> : tensor<3xui8>
  check.expect_eq_const %unsigned.places, dense<[0, 2, 1]> : tensor<3xi32>
  check.expect_eq_const %down, dense<[0x7FC00000, 0x7F800000, 3.0, 1.0, 0.0, -0.0, -0.0, 0xFF800000, 0xFFC00000]> : tensor<9xf32>
  check.expect_eq_const %up, dense<[0xFFC00000, 0xFF800000, -0.0, -0.0, 0.0, 1.0, 3.0, 0x7F800000, 0x7FC00000]> : tensor<9xf32>
  func.return
}

// for i16 in integers floats
func.func @types() -> (tensor<2x3xi16>, tensor<2x3xi32>, tensor<2x20xi16>, tensor<2x20xi32>) {
  %0 = xla.constant dense<[[1, -2, 0, 4, 3, -1, 100, 2, 7, 15, 1, -1, 6, -3, 127, 0, 0, 2, 1, -128], [5, 4, 3, 2, 1, 0, -1, -2, -3, -4, -5, 6, 7, 8, 9, 10, 11, 12, 13, 14]]> : tensor<2x20xi64>
  %x = xla.convert %0 : (tensor<2x20xi64>) -> tensor<2x20xi16>
  %largest, %places = xla.topk %x {k = 3} : (tensor<2x20xi16>) -> (tensor<2x3xi16>, tensor<2x3xi32>)
  %up, %from = xla.topk %x {k = 20, largest = false} : (tensor<2x20xi16>) -> (tensor<2x20xi16>, tensor<2x20xi32>)
  func.return %largest, %places, %up, %from : tensor<2x3xi16>, tensor<2x3xi32>, tensor<2x20xi16>, tensor<2x20xi32>
}

func.func @column_major() -> (tensor<2x2xi32, #xla.layout<{0,1}>>, tensor<2x2xi32>) {
  %x = xla.constant dense<[[3, 1, 2], [-1, 5, 4]]> : tensor<2x3xi32, #xla.layout<{0,1}>>
  %values, %indices = xla.topk %x {k = 2} : (tensor<2x3xi32, #xla.layout<{0,1}>>) -> (tensor<2x2xi32, #xla.layout<{0,1}>>, tensor<2x2xi32>)
  func.return %values, %indices : tensor<2x2xi32, #xla.layout<{0,1}>>, tensor<2x2xi32>
}

func.func @sizes() -> (tensor<0xf32>, tensor<0xi32>, tensor<0x2xf32>, tensor<0x2xi32>) {
  %x = xla.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %none, %no_places = xla.topk %x {k = 0} : (tensor<2xf32>) -> (tensor<0xf32>, tensor<0xi32>)
  %nothing = xla.constant dense<> : tensor<0x3xf32>
  %empty, %nowhere = xla.topk %nothing {k = 2} : (tensor<0x3xf32>) -> (tensor<0x2xf32>, tensor<0x2xi32>)
  func.return %none, %no_places, %empty, %nowhere : tensor<0xf32>, tensor<0xi32>, tensor<0x2xf32>, tensor<0x2xi32>
}
