// RUN: xla-run %s --all-functions --backend reference

// Values put together: results of the function, nested ones taken apart.

func.func @worked() {
  %v = xla.iota {iota_dimension = 0} : tensor<10xf32>
  %s = xla.constant dense<5> : tensor<i32>
  %pair = xla.tuple %v, %s : (tensor<10xf32>, tensor<i32>) -> tuple<tensor<10xf32>, tensor<i32>>
  %first = xla.get_tuple_element %pair {index = 0} : (tuple<tensor<10xf32>, tensor<i32>>) -> tensor<10xf32>
  %second = xla.get_tuple_element %pair {index = 1} : (tuple<tensor<10xf32>, tensor<i32>>) -> tensor<i32>
  check.expect_eq_const %first, dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]> : tensor<10xf32>
  check.expect_eq_const %second, dense<5> : tensor<i32>
  // The same value twice, in a tuple of tuples.
  %outer = xla.tuple %pair, %s, %pair : (tuple<tensor<10xf32>, tensor<i32>>, tensor<i32>, tuple<tensor<10xf32>, tensor<i32>>) -> tuple<tuple<tensor<10xf32>, tensor<i32>>, tensor<i32>, tuple<tensor<10xf32>, tensor<i32>>>
  %inner = xla.get_tuple_element %outer {index = 2} : (tuple<tuple<tensor<10xf32>, tensor<i32>>, tensor<i32>, tuple<tensor<10xf32>, tensor<i32>>>) -> tuple<tensor<10xf32>, tensor<i32>>
  %innermost = xla.get_tuple_element %inner {index = 1} : (tuple<tensor<10xf32>, tensor<i32>>) -> tensor<i32>
  check.expect_eq_const %innermost, dense<5> : tensor<i32>
  func.return
}

// for i32 in types
func.func @types() -> tuple<tensor<2xi32>, tensor<f32>, tensor<2xi32>> {
  %0 = xla.constant dense<[1, -1]> : tensor<2xi64>
  %x = xla.convert %0 : (tensor<2xi64>) -> tensor<2xi32>
  %nan = xla.constant dense<0x7FC00000> : tensor<f32>
  %1 = xla.tuple %x, %nan, %x : (tensor<2xi32>, tensor<f32>, tensor<2xi32>) -> tuple<tensor<2xi32>, tensor<f32>, tensor<2xi32>>
  func.return %1 : tuple<tensor<2xi32>, tensor<f32>, tensor<2xi32>>
}

func.func @nested() -> tuple<tensor<2xf32>, tuple<>, tuple<tensor<i32>, tensor<0x3xi8>>> {
  %v = xla.constant dense<[0.0, 1.0]> : tensor<2xf32>
  %empty = xla.tuple : tuple<>
  %s = xla.constant dense<5> : tensor<i32>
  %nothing = xla.constant dense<> : tensor<0x3xi8>
  %inner = xla.tuple %s, %nothing : (tensor<i32>, tensor<0x3xi8>) -> tuple<tensor<i32>, tensor<0x3xi8>>
  %0 = xla.tuple %v, %empty, %inner : (tensor<2xf32>, tuple<>, tuple<tensor<i32>, tensor<0x3xi8>>) -> tuple<tensor<2xf32>, tuple<>, tuple<tensor<i32>, tensor<0x3xi8>>>
  func.return %0 : tuple<tensor<2xf32>, tuple<>, tuple<tensor<i32>, tensor<0x3xi8>>>
}

func.func @column_major() -> tuple<tensor<2x3xi32, #xla.layout<{0,1}>>, tensor<2x3xi32>> {
  %x = xla.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32, #xla.layout<{0,1}>>
  %y = xla.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %0 = xla.tuple %x, %y : (tensor<2x3xi32, #xla.layout<{0,1}>>, tensor<2x3xi32>) -> tuple<tensor<2x3xi32, #xla.layout<{0,1}>>, tensor<2x3xi32>>
  func.return %0 : tuple<tensor<2x3xi32, #xla.layout<{0,1}>>, tensor<2x3xi32>>
}
