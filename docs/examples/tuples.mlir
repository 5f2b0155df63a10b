func.func @tuple() -> tuple<tensor<2xf32>, tuple<>, tensor<i32>> {
  %v = xla.constant dense<[0.0, 1.0]> : tensor<2xf32>
  %empty = xla.tuple : tuple<>
  %s = xla.constant dense<5> : tensor<i32>
  %result = xla.tuple %v, %empty, %s : (tensor<2xf32>, tuple<>, tensor<i32>) -> tuple<tensor<2xf32>, tuple<>, tensor<i32>>
  // 2xf32=[0.0, 1.0]
  // i32=5
  func.return %result : tuple<tensor<2xf32>, tuple<>, tensor<i32>>
}

// -----

func.func @get_tuple_element() -> tensor<i32> {
  %v = xla.constant dense<[0.0, 1.0]> : tensor<2xf32>
  %s = xla.constant dense<5> : tensor<i32>
  %pair = xla.tuple %v, %s : (tensor<2xf32>, tensor<i32>) -> tuple<tensor<2xf32>, tensor<i32>>
  %result = xla.get_tuple_element %pair {index = 1} : (tuple<tensor<2xf32>, tensor<i32>>) -> tensor<i32>
  // i32=5
  func.return %result : tensor<i32>
}
