// RUN: xla-run %s --all-functions --backend reference

// A function of scalars applied to the elements of arrays.

func.func @worked() {
  %x = xla.constant dense<[1, 2, 3]> : tensor<3xi32>
  %y = xla.constant dense<[10, 20, 30]> : tensor<3xi32>
  %0 = xla.map %x, %y {dimensions = [0]} : tensor<3xi32> to_apply (%a: tensor<i32>, %b: tensor<i32>) {
    %product = xla.multiply %a, %b : tensor<i32>
    %sum = xla.add %product, %a : tensor<i32>
    xla.return %sum : tensor<i32>
  }
  check.expect_eq_const %0, dense<[11, 42, 93]> : tensor<3xi32>
  func.return
}

// for i32 in types
func.func @types() -> (tensor<3x5xi32>, tensor<3x5xi1>) {
  %0 = xla.constant dense<[[0, 1, -1, 2, 3], [4, 5, 6, 7, 8], [100, -100, 1, 0, 127]]> : tensor<3x5xi64>
  %1 = xla.constant dense<[[1, 1, 1, 2, 2], [4, 0, 6, 1, 8], [1, -1, 3, 0, 2]]> : tensor<3x5xi64>
  %x = xla.convert %0 : (tensor<3x5xi64>) -> tensor<3x5xi32>
  %y = xla.convert %1 : (tensor<3x5xi64>) -> tensor<3x5xi32>
  %sums = xla.map %x, %y {dimensions = [0, 1]} : tensor<3x5xi32> to_apply (%a: tensor<i32>, %b: tensor<i32>) {
    %c = xla.add %a, %b : tensor<i32>
    xla.return %c : tensor<i32>
  }
  %equal = xla.map %x, %y {dimensions = [0, 1]} : (tensor<3x5xi32>, tensor<3x5xi32>) -> tensor<3x5xi1> to_apply (%a: tensor<i32>, %b: tensor<i32>) {
    %c = xla.compare %a, %b {direction = EQ} : (tensor<i32>, tensor<i32>) -> tensor<i1>
    xla.return %c : tensor<i1>
  }
  func.return %sums, %equal : tensor<3x5xi32>, tensor<3x5xi1>
}

// Operands of different types, and what every element shares.
func.func @mixed_types() -> tensor<4xf32> {
  %x = xla.constant dense<[1.0, -0.0, 0x7FC00000, 2.5]> : tensor<4xf32>
  %n = xla.constant dense<[1, 2, 3, -4]> : tensor<4xi32>
  %0 = xla.map %x, %n {dimensions = [0]} : (tensor<4xf32>, tensor<4xi32>) -> tensor<4xf32> to_apply (%a: tensor<f32>, %b: tensor<i32>) {
    %half = xla.constant dense<0.5> : tensor<f32>
    %c = xla.convert %b : (tensor<i32>) -> tensor<f32>
    %d = xla.multiply %c, %half : tensor<f32>
    %e = xla.maximum %a, %d : tensor<f32>
    xla.return %e : tensor<f32>
  }
  check.expect_eq_const %0, dense<[1.0, 1.0, 0x7FC00000, 2.5]> : tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

func.func @mixed_layouts() -> tensor<2x3xi32, #xla.layout<{0,1}>> {
  %x = xla.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32, #xla.layout<{0,1}>>
  %y = xla.constant dense<[[7, 8, 9], [10, 11, 12]]> : tensor<2x3xi32>
  %0 = xla.map %x, %y {dimensions = [0, 1]} : (tensor<2x3xi32, #xla.layout<{0,1}>>, tensor<2x3xi32>) -> tensor<2x3xi32, #xla.layout<{0,1}>> to_apply (%a: tensor<i32>, %b: tensor<i32>) {
    %c = xla.subtract %a, %b : tensor<i32>
    xla.return %c : tensor<i32>
  }
  func.return %0 : tensor<2x3xi32, #xla.layout<{0,1}>>
}

func.func @scalar_and_empty() -> (tensor<f32>, tensor<0x3xf32>) {
  %x = xla.constant dense<2.0> : tensor<f32>
  %scalar = xla.map %x {dimensions = []} : tensor<f32> to_apply (%a: tensor<f32>) {
    %b = xla.negate %a : tensor<f32>
    xla.return %b : tensor<f32>
  }
  %nothing = xla.constant dense<> : tensor<0x3xf32>
  %empty = xla.map %nothing {dimensions = [0, 1]} : tensor<0x3xf32> to_apply (%a: tensor<f32>) {
    %b = xla.negate %a : tensor<f32>
    xla.return %b : tensor<f32>
  }
  func.return %scalar, %empty : tensor<f32>, tensor<0x3xf32>
}
