// RUN: xla-run %s --all-functions --backend reference

// An element of a tuple, which may be a tuple.

func.func @worked() {
  %v = xla.iota {iota_dimension = 0} : tensor<10xf32>
  %s = xla.constant dense<5> : tensor<i32>
  %pair = xla.tuple %v, %s : (tensor<10xf32>, tensor<i32>) -> tuple<tensor<10xf32>, tensor<i32>>
  %0 = xla.get_tuple_element %pair {index = 1} : (tuple<tensor<10xf32>, tensor<i32>>) -> tensor<i32>
  check.expect_eq_const %0, dense<5> : tensor<i32>
  func.return
}

// for i32 in types
func.func @types() -> tensor<2xi32> {
  %0 = xla.constant dense<[1, -1]> : tensor<2xi64>
  %x = xla.convert %0 : (tensor<2xi64>) -> tensor<2xi32>
  %inner = xla.tuple %0, %x : (tensor<2xi64>, tensor<2xi32>) -> tuple<tensor<2xi64>, tensor<2xi32>>
  %outer = xla.tuple %x, %inner : (tensor<2xi32>, tuple<tensor<2xi64>, tensor<2xi32>>) -> tuple<tensor<2xi32>, tuple<tensor<2xi64>, tensor<2xi32>>>
  %1 = xla.get_tuple_element %outer {index = 1} : (tuple<tensor<2xi32>, tuple<tensor<2xi64>, tensor<2xi32>>>) -> tuple<tensor<2xi64>, tensor<2xi32>>
  %2 = xla.get_tuple_element %1 {index = 1} : (tuple<tensor<2xi64>, tensor<2xi32>>) -> tensor<2xi32>
  func.return %2 : tensor<2xi32>
}

func.func @column_major() -> tensor<2x3xi32, #xla.layout<{0,1}>> {
  %x = xla.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32, #xla.layout<{0,1}>>
  %0 = xla.tuple %x : (tensor<2x3xi32, #xla.layout<{0,1}>>) -> tuple<tensor<2x3xi32, #xla.layout<{0,1}>>>
  %1 = xla.get_tuple_element %0 {index = 0} : (tuple<tensor<2x3xi32, #xla.layout<{0,1}>>>) -> tensor<2x3xi32, #xla.layout<{0,1}>>
  func.return %1 : tensor<2x3xi32, #xla.layout<{0,1}>>
}

func.func @sizes() -> (tensor<f32>, tensor<0xf32>) {
  %x = xla.constant dense<-0.0> : tensor<f32>
  %nothing = xla.constant dense<> : tensor<0xf32>
  %0 = xla.tuple %x, %nothing : (tensor<f32>, tensor<0xf32>) -> tuple<tensor<f32>, tensor<0xf32>>
  %1 = xla.get_tuple_element %0 {index = 0} : (tuple<tensor<f32>, tensor<0xf32>>) -> tensor<f32>
  %2 = xla.get_tuple_element %0 {index = 1} : (tuple<tensor<f32>, tensor<0xf32>>) -> tensor<0xf32>
  func.return %1, %2 : tensor<f32>, tensor<0xf32>
}
