// RUN: xla-run %s --all-functions --backend reference

// A box of an array, every stride-th element of it; the limit is not part of it.

func.func @worked() {
  %a = xla.constant dense<[0, 1, 2, 3, 4]> : tensor<5xi32>
  %0 = xla.slice %a {start_indices = [2], limit_indices = [4], strides = [1]} : (tensor<5xi32>) -> tensor<2xi32>
  check.expect_eq_const %0, dense<[2, 3]> : tensor<2xi32>
  %1 = xla.slice %a {start_indices = [0], limit_indices = [5], strides = [2]} : (tensor<5xi32>) -> tensor<3xi32>
  check.expect_eq_const %1, dense<[0, 2, 4]> : tensor<3xi32>
  %b = xla.constant dense<[[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]]> : tensor<4x3xi32>
  %2 = xla.slice %b {start_indices = [2, 1], limit_indices = [4, 3], strides = [1, 1]} : (tensor<4x3xi32>) -> tensor<2x2xi32>
  check.expect_eq_const %2, dense<[[7, 8], [10, 11]]> : tensor<2x2xi32>
  func.return
}

// for i32 in types
func.func @types() -> (tensor<2x3xi32>, tensor<3x2xi32>, tensor<1x5xi32>) {
  %0 = xla.constant dense<[[0, 1, -1, 2, 3], [4, 5, 6, 7, 8], [100, -100, 1, 0, 127]]> : tensor<3x5xi64>
  %x = xla.convert %0 : (tensor<3x5xi64>) -> tensor<3x5xi32>
  %strided = xla.slice %x {start_indices = [0, 0], limit_indices = [3, 5], strides = [2, 2]} : (tensor<3x5xi32>) -> tensor<2x3xi32>
  %columns = xla.slice %x {start_indices = [0, 1], limit_indices = [3, 3], strides = [1, 1]} : (tensor<3x5xi32>) -> tensor<3x2xi32>
  %row = xla.slice %x {start_indices = [2, 0], limit_indices = [3, 5], strides = [7, 1]} : (tensor<3x5xi32>) -> tensor<1x5xi32>
  func.return %strided, %columns, %row : tensor<2x3xi32>, tensor<3x2xi32>, tensor<1x5xi32>
}

func.func @layouts() -> tensor<2x2xi32, #xla.layout<{0,1}>> {
  %x = xla.constant dense<[[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]]> : tensor<4x3xi32, #xla.layout<{0,1}>>
  %0 = xla.slice %x {start_indices = [1, 0], limit_indices = [4, 3], strides = [2, 2]} : (tensor<4x3xi32, #xla.layout<{0,1}>>) -> tensor<2x2xi32, #xla.layout<{0,1}>>
  func.return %0 : tensor<2x2xi32, #xla.layout<{0,1}>>
}

func.func @sizes() -> (tensor<f32>, tensor<0xf32>, tensor<0x2xf32>) {
  %x = xla.constant dense<-0.0> : tensor<f32>
  %scalar = xla.slice %x {start_indices = [], limit_indices = [], strides = []} : (tensor<f32>) -> tensor<f32>
  %y = xla.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %end = xla.slice %y {start_indices = [2], limit_indices = [2], strides = [1]} : (tensor<2xf32>) -> tensor<0xf32>
  %nothing = xla.constant dense<> : tensor<0x3xf32>
  %empty = xla.slice %nothing {start_indices = [0, 0], limit_indices = [0, 3], strides = [1, 2]} : (tensor<0x3xf32>) -> tensor<0x2xf32>
  func.return %scalar, %end, %empty : tensor<f32>, tensor<0xf32>, tensor<0x2xf32>
}
