// RUN: xla-run %s --all-functions --backend reference

// A computation along a dimension, which hands values on from element to element.

func.func @worked() {
  %x = xla.constant dense<[1, 2, 3]> : tensor<3xi32>
  %carry = xla.constant dense<10> : tensor<i32>
  %0:2 = xla.scan %x, %carry {dimension = 0, num_carries = 1} : (tensor<3xi32>, tensor<i32>) -> (tensor<3xi32>, tensor<i32>) to_apply (%a: tensor<i32>, %b: tensor<i32>) {
    %sum = xla.add %a, %b : tensor<i32>
    xla.return %sum, %sum : tensor<i32>, tensor<i32>
  }
  check.expect_eq_const %0#0, dense<[11, 13, 16]> : tensor<3xi32>
  check.expect_eq_const %0#1, dense<16> : tensor<i32>
  %1:2 = xla.scan %x, %carry {dimension = 0, num_carries = 1, is_reverse = true} : (tensor<3xi32>, tensor<i32>) -> (tensor<3xi32>, tensor<i32>) to_apply (%a: tensor<i32>, %b: tensor<i32>) {
    %sum = xla.add %a, %b : tensor<i32>
    xla.return %sum, %sum : tensor<i32>, tensor<i32>
  }
  check.expect_eq_const %1#0, dense<[16, 15, 13]> : tensor<3xi32>
  check.expect_eq_const %1#1, dense<16> : tensor<i32>
  func.return
}

// for i32 in types
func.func @types() -> (tensor<3x5xi32>, tensor<5xi32>) {
  %0 = xla.constant dense<[[0, 1, -1, 2, 3], [4, 5, 6, 7, 8], [100, -100, 1, 0, 127]]> : tensor<3x5xi64>
  %1 = xla.constant dense<[1, 0, 1, 0, 1]> : tensor<5xi64>
  %x = xla.convert %0 : (tensor<3x5xi64>) -> tensor<3x5xi32>
  %carry = xla.convert %1 : (tensor<5xi64>) -> tensor<5xi32>
  %2:2 = xla.scan %x, %carry {dimension = 0, num_carries = 1} : (tensor<3x5xi32>, tensor<5xi32>) -> (tensor<3x5xi32>, tensor<5xi32>) to_apply (%a: tensor<5xi32>, %b: tensor<5xi32>) {
    %sum = xla.add %a, %b : tensor<5xi32>
    xla.return %b, %sum : tensor<5xi32>, tensor<5xi32>
  }
  func.return %2#0, %2#1 : tensor<3x5xi32>, tensor<5xi32>
}

// Along the last dimension, in columns.
func.func @column_major() -> (tensor<2x3xi32, #xla.layout<{0,1}>>, tensor<2xi32>) {
  %x = xla.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32, #xla.layout<{0,1}>>
  %carry = xla.constant dense<[0, 100]> : tensor<2xi32>
  %0:2 = xla.scan %x, %carry {dimension = 1, num_carries = 1} : (tensor<2x3xi32, #xla.layout<{0,1}>>, tensor<2xi32>) -> (tensor<2x3xi32, #xla.layout<{0,1}>>, tensor<2xi32>) to_apply (%a: tensor<2xi32>, %b: tensor<2xi32>) {
    %sum = xla.add %a, %b : tensor<2xi32>
    xla.return %sum, %sum : tensor<2xi32>, tensor<2xi32>
  }
  check.expect_eq_const %0#0, dense<[[1, 3, 6], [104, 109, 115]]> : tensor<2x3xi32, #xla.layout<{0,1}>>
  func.return %0#0, %0#1 : tensor<2x3xi32, #xla.layout<{0,1}>>, tensor<2xi32>
}

// Over nothing: the carry as it was.
func.func @sizes() -> (tensor<0xi32>, tensor<i32>) {
  %nothing = xla.constant dense<> : tensor<0xi32>
  %carry = xla.constant dense<10> : tensor<i32>
  %0:2 = xla.scan %nothing, %carry {dimension = 0, num_carries = 1} : (tensor<0xi32>, tensor<i32>) -> (tensor<0xi32>, tensor<i32>) to_apply (%a: tensor<i32>, %b: tensor<i32>) {
    %sum = xla.add %a, %b : tensor<i32>
    xla.return %sum, %sum : tensor<i32>, tensor<i32>
  }
  check.expect_eq_const %0#1, dense<10> : tensor<i32>
  func.return %0#0, %0#1 : tensor<0xi32>, tensor<i32>
}
