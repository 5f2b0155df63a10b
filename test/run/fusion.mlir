// RUN: xla-run %s --all-functions --backend reference

// Computations that XLA has fused: the same as their operations one by one.

// for i32 in types
func.func @types() -> tensor<3x5xi32> {
  %0 = xla.constant dense<[[0, 1, -1, 2, 3], [4, 5, 6, 7, 8], [100, -100, 1, 0, 127]]> : tensor<3x5xi64>
  %x = xla.convert %0 : (tensor<3x5xi64>) -> tensor<3x5xi32>
  %1 = xla.fusion %x {kind = kLoop} : tensor<3x5xi32> calls (%a: tensor<3x5xi32>) {
    %b = xla.add %a, %a : tensor<3x5xi32>
    %c = xla.reverse %b {dimensions = [1]} : tensor<3x5xi32>
    xla.return %c : tensor<3x5xi32>
  }
  func.return %1 : tensor<3x5xi32>
}

func.func @worked() {
  %x = xla.constant dense<[1.0, 2.5]> : tensor<2xf32>
  %0 = xla.fusion %x {kind = kLoop} : tensor<2xf32> calls (%a: tensor<2xf32>) {
    %double = xla.add %a, %a : tensor<2xf32>
    %negated = xla.negate %double : tensor<2xf32>
    xla.return %negated : tensor<2xf32>
  }
  check.expect_eq_const %0, dense<[-2.0, -5.0]> : tensor<2xf32>
  func.return
}

// Fusions inside one another, with a reduction as root.
func.func @nested() -> tensor<2xf32> {
  %x = xla.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %0 = xla.fusion %x {kind = kInput} : (tensor<2x3xf32>) -> tensor<2xf32> calls (%a: tensor<2x3xf32>) {
    %squares = xla.fusion %a {kind = kLoop} : tensor<2x3xf32> calls (%b: tensor<2x3xf32>) {
      %c = xla.multiply %b, %b : tensor<2x3xf32>
      xla.return %c : tensor<2x3xf32>
    }
    %zero = xla.constant dense<0.0> : tensor<f32>
    %sums = xla.reduce %squares, %zero {dimensions = [1]} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32> to_apply (%b: tensor<f32>, %c: tensor<f32>) {
      %d = xla.add %b, %c : tensor<f32>
      xla.return %d : tensor<f32>
    }
    xla.return %sums : tensor<2xf32>
  }
  check.expect_eq_const %0, dense<[14.0, 77.0]> : tensor<2xf32>
  func.return %0 : tensor<2xf32>
}

func.func @mixed_layouts() -> tensor<2x3xi32, #xla.layout<{0,1}>> {
  %x = xla.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32, #xla.layout<{0,1}>>
  %y = xla.constant dense<[[7, 8, 9], [10, 11, 12]]> : tensor<2x3xi32>
  %0 = xla.fusion %x, %y {kind = kLoop} : (tensor<2x3xi32, #xla.layout<{0,1}>>, tensor<2x3xi32>) -> tensor<2x3xi32, #xla.layout<{0,1}>> calls (%a: tensor<2x3xi32, #xla.layout<{0,1}>>, %b: tensor<2x3xi32>) {
    %c = xla.subtract %a, %b : (tensor<2x3xi32, #xla.layout<{0,1}>>, tensor<2x3xi32>) -> tensor<2x3xi32, #xla.layout<{0,1}>>
    xla.return %c : tensor<2x3xi32, #xla.layout<{0,1}>>
  }
  func.return %0 : tensor<2x3xi32, #xla.layout<{0,1}>>
}

func.func @sizes() -> (tensor<f32>, tensor<0xf32>) {
  %x = xla.constant dense<2.0> : tensor<f32>
  %scalar = xla.fusion %x {kind = kLoop} : tensor<f32> calls (%a: tensor<f32>) {
    xla.return %a : tensor<f32>
  }
  %nothing = xla.constant dense<> : tensor<0xf32>
  %empty = xla.fusion %nothing {kind = kLoop} : tensor<0xf32> calls (%a: tensor<0xf32>) {
    %b = xla.negate %a : tensor<0xf32>
    xla.return %b : tensor<0xf32>
  }
  func.return %scalar, %empty : tensor<f32>, tensor<0xf32>
}
