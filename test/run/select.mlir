// RUN: xla-run %s --all-functions --backend reference

// One of two arrays, element by element or whole.

func.func @worked() {
  %choice = xla.constant dense<[true, false, false, true]> : tensor<4xi1>
  %yes = xla.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %no = xla.constant dense<[100, 200, 300, 400]> : tensor<4xi32>
  %elements = xla.select %choice, %yes, %no : (tensor<4xi1>, tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  check.expect_eq_const %elements, dense<[1, 200, 300, 4]> : tensor<4xi32>
  %true = xla.constant dense<true> : tensor<i1>
  %whole = xla.select %true, %yes, %no : (tensor<i1>, tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  check.expect_eq_const %whole, dense<[1, 2, 3, 4]> : tensor<4xi32>
  func.return
}

// for i32 in types
func.func @types() -> (tensor<3x7xi32>, tensor<3x7xi32>) {
  %0 = xla.constant dense<[[0, 1, -1, 2, 3, 4, 5], [6, 7, 8, 9, 10, 11, 12], [127, -128, 0, 1, 0, 1, 0]]> : tensor<3x7xi64>
  %1 = xla.constant dense<[[1, 0, 0, 1, 1, 0, 1], [-1, -2, -3, -4, -5, -6, -7], [1, 0, 1, 0, 1, 0, 1]]> : tensor<3x7xi64>
  %choice = xla.constant dense<[[true, false, true, true, false, false, true], [false, false, false, true, true, true, true], [true, false, true, false, true, false, true]]> : tensor<3x7xi1>
  %yes = xla.convert %0 : (tensor<3x7xi64>) -> tensor<3x7xi32>
  %no = xla.convert %1 : (tensor<3x7xi64>) -> tensor<3x7xi32>
  %elements = xla.select %choice, %yes, %no : (tensor<3x7xi1>, tensor<3x7xi32>, tensor<3x7xi32>) -> tensor<3x7xi32>
  %false = xla.constant dense<false> : tensor<i1>
  %whole = xla.select %false, %yes, %no : (tensor<i1>, tensor<3x7xi32>, tensor<3x7xi32>) -> tensor<3x7xi32>
  func.return %elements, %whole : tensor<3x7xi32>, tensor<3x7xi32>
}

// What is not chosen leaves no trace.
func.func @special_floats() -> tensor<4xf32> {
  %choice = xla.constant dense<[true, false, true, false]> : tensor<4xi1>
  %yes = xla.constant dense<[-0.0, 0x7FC00000, 0x7F800000, 1.0]> : tensor<4xf32>
  %no = xla.constant dense<[0x7FC00000, -0.0, 0.0, 0xFF800000]> : tensor<4xf32>
  %0 = xla.select %choice, %yes, %no : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

func.func @mixed_layouts() -> tensor<2x3xi32, #xla.layout<{0,1}>> {
  %choice = xla.constant dense<[[true, false, true], [false, true, false]]> : tensor<2x3xi1, #xla.layout<{0,1}>>
  %yes = xla.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %no = xla.constant dense<[[-1, -2, -3], [-4, -5, -6]]> : tensor<2x3xi32, #xla.layout<{0,1}>>
  %0 = xla.select %choice, %yes, %no : (tensor<2x3xi1, #xla.layout<{0,1}>>, tensor<2x3xi32>, tensor<2x3xi32, #xla.layout<{0,1}>>) -> tensor<2x3xi32, #xla.layout<{0,1}>>
  func.return %0 : tensor<2x3xi32, #xla.layout<{0,1}>>
}

func.func @scalar_and_empty() -> (tensor<f32>, tensor<0x2xf32>) {
  %true = xla.constant dense<true> : tensor<i1>
  %one = xla.constant dense<1.0> : tensor<f32>
  %two = xla.constant dense<2.0> : tensor<f32>
  %scalar = xla.select %true, %one, %two : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
  %nothing = xla.constant dense<> : tensor<0x2xf32>
  %empty = xla.select %true, %nothing, %nothing : (tensor<i1>, tensor<0x2xf32>, tensor<0x2xf32>) -> tensor<0x2xf32>
  func.return %scalar, %empty : tensor<f32>, tensor<0x2xf32>
}
