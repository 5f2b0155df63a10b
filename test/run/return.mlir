// RUN: xla-run %s --all-functions --backend reference

// What a computation returns: its arguments, too, several times and in another order.

// for i32 in types
func.func @types() -> tensor<3xi32> {
  %0 = xla.constant dense<[0, 1, -1]> : tensor<3xi64>
  %x = xla.convert %0 : (tensor<3xi64>) -> tensor<3xi32>
  %1 = xla.fusion %x : tensor<3xi32> calls (%a: tensor<3xi32>) {
    xla.return %a : tensor<3xi32>
  }
  func.return %1 : tensor<3xi32>
}

func.func @several() -> (tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) {
  %x = xla.constant dense<[1, 2]> : tensor<2xi32>
  %y = xla.constant dense<[3, 4]> : tensor<2xi32>
  %true = xla.constant dense<true> : tensor<i1>
  %0:3 = xla.conditional %true : (tensor<i1>) -> (tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) branch () {
    xla.return %y, %x, %y : tensor<2xi32>, tensor<2xi32>, tensor<2xi32>
  } branch () {
    xla.return %x, %x, %x : tensor<2xi32>, tensor<2xi32>, tensor<2xi32>
  }
  check.expect_eq %0#0, %y : tensor<2xi32>
  check.expect_eq %0#1, %x : tensor<2xi32>
  check.expect_eq %0#2, %y : tensor<2xi32>
  func.return %0#0, %0#1, %0#2 : tensor<2xi32>, tensor<2xi32>, tensor<2xi32>
}

func.func @column_major() -> tensor<2x3xi32, #xla.layout<{0,1}>> {
  %x = xla.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32, #xla.layout<{0,1}>>
  %0 = xla.fusion %x : tensor<2x3xi32, #xla.layout<{0,1}>> calls (%a: tensor<2x3xi32, #xla.layout<{0,1}>>) {
    xla.return %a : tensor<2x3xi32, #xla.layout<{0,1}>>
  }
  func.return %0 : tensor<2x3xi32, #xla.layout<{0,1}>>
}
