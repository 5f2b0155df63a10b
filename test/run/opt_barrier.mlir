// RUN: xla-run %s --all-functions --backend reference

// The same values; no pass looks through.

// for i32 in types
func.func @types() -> tensor<3x5xi32> {
  %0 = xla.constant dense<[[0, 1, -1, 2, 3], [4, 5, 6, 7, 8], [100, -100, 1, 0, 127]]> : tensor<3x5xi64>
  %x = xla.convert %0 : (tensor<3x5xi64>) -> tensor<3x5xi32>
  %1 = xla.opt_barrier %x : tensor<3x5xi32>
  func.return %1 : tensor<3x5xi32>
}

func.func @several() -> (tensor<2xf32>, tensor<i32>) {
  %x = xla.constant dense<[-0.0, 0x7FC00000]> : tensor<2xf32>
  %n = xla.constant dense<5> : tensor<i32>
  %0 = xla.tuple %x, %n : (tensor<2xf32>, tensor<i32>) -> tuple<tensor<2xf32>, tensor<i32>>
  %1 = xla.opt_barrier %0 : tuple<tensor<2xf32>, tensor<i32>>
  %2 = xla.get_tuple_element %1 {index = 0} : (tuple<tensor<2xf32>, tensor<i32>>) -> tensor<2xf32>
  %3 = xla.get_tuple_element %1 {index = 1} : (tuple<tensor<2xf32>, tensor<i32>>) -> tensor<i32>
  check.expect_eq %3, %n : tensor<i32>
  func.return %2, %3 : tensor<2xf32>, tensor<i32>
}

func.func @column_major() -> tensor<2x3xi32, #xla.layout<{0,1}>> {
  %x = xla.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32, #xla.layout<{0,1}>>
  %0 = xla.opt_barrier %x : tensor<2x3xi32, #xla.layout<{0,1}>>
  check.expect_eq %0, %x : tensor<2x3xi32, #xla.layout<{0,1}>>
  func.return %0 : tensor<2x3xi32, #xla.layout<{0,1}>>
}

func.func @sizes() -> (tensor<f32>, tensor<0x3xf32>) {
  %x = xla.constant dense<-0.0> : tensor<f32>
  %scalar = xla.opt_barrier %x : tensor<f32>
  %nothing = xla.constant dense<> : tensor<0x3xf32>
  %empty = xla.opt_barrier %nothing : tensor<0x3xf32>
  func.return %scalar, %empty : tensor<f32>, tensor<0x3xf32>
}
