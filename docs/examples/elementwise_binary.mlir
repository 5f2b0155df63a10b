func.func @add() -> tensor<2xi8> {
  %lhs = xla.constant dense<[127, 1]> : tensor<2xi8>
  %rhs = xla.constant dense<[1, 2]> : tensor<2xi8>
  %result = xla.add %lhs, %rhs : tensor<2xi8>
  // 2xi8=[-128, 3]
  func.return %result : tensor<2xi8>
}

// -----

func.func @subtract() -> tensor<2xui8> {
  %lhs = xla.constant dense<[0, 7]> : tensor<2xui8>
  %rhs = xla.constant dense<[1, 5]> : tensor<2xui8>
  %result = xla.subtract %lhs, %rhs : tensor<2xui8>
  // 2xui8=[255, 2]
  func.return %result : tensor<2xui8>
}

// -----

func.func @multiply() -> tensor<3xi1> {
  %lhs = xla.constant dense<[true, true, false]> : tensor<3xi1>
  %rhs = xla.constant dense<[true, false, false]> : tensor<3xi1>
  %result = xla.multiply %lhs, %rhs : tensor<3xi1>
  // 3xi1=[true, false, false]
  func.return %result : tensor<3xi1>
}

// -----

func.func @divide() -> tensor<4xi32> {
  %lhs = xla.constant dense<[-7, 7, 0, -2147483648]> : tensor<4xi32>
  %rhs = xla.constant dense<[2, 0, 0, -1]> : tensor<4xi32>
  %result = xla.divide %lhs, %rhs : tensor<4xi32>
  // 4xi32=[-3, -1, -1, -2147483648]
  func.return %result : tensor<4xi32>
}

// -----

func.func @power() -> tensor<9xi32> {
  %lhs = xla.constant dense<[2, 0, 1, -1, -1, 3, 0, 2, -3]> : tensor<9xi32>
  %rhs = xla.constant dense<[-1, -1, -5, -3, -4, 40, 0, 31, 3]> : tensor<9xi32>
  %result = xla.power %lhs, %rhs : tensor<9xi32>
  // 9xi32=[0, 0, 1, -1, 1, 689956897, 1, -2147483648, -27]
  func.return %result : tensor<9xi32>
}

// -----

func.func @remainder() -> tensor<5xf32> {
  %lhs = xla.constant dense<[-7.5, 7.0, -0.0, 5.0, 0x7F800000]> : tensor<5xf32>
  %rhs = xla.constant dense<[2.0, 0.0, 3.0, 0x7F800000, 2.0]> : tensor<5xf32>
  %result = xla.remainder %lhs, %rhs : tensor<5xf32>
  // 5xf32=[-1.5, nan, -0.0, 5.0, nan]
  func.return %result : tensor<5xf32>
}

// -----

func.func @maximum() -> tensor<3xf32> {
  %lhs = xla.constant dense<[-0.0, 0x7FC00000, 1.0]> : tensor<3xf32>
  %rhs = xla.constant dense<[0.0, 1.0, 2.0]> : tensor<3xf32>
  %result = xla.maximum %lhs, %rhs : tensor<3xf32>
  // 3xf32=[0.0, nan, 2.0]
  func.return %result : tensor<3xf32>
}

// -----

func.func @minimum() -> tensor<3xf32> {
  %lhs = xla.constant dense<[0.0, 0x7FC00000, 1.0]> : tensor<3xf32>
  %rhs = xla.constant dense<[-0.0, 1.0, 2.0]> : tensor<3xf32>
  %result = xla.minimum %lhs, %rhs : tensor<3xf32>
  // 3xf32=[-0.0, nan, 1.0]
  func.return %result : tensor<3xf32>
}

// -----

func.func @and() -> tensor<2xi32> {
  %lhs = xla.constant dense<[12, -1]> : tensor<2xi32>
  %rhs = xla.constant dense<[10, 5]> : tensor<2xi32>
  %result = xla.and %lhs, %rhs : tensor<2xi32>
  // 2xi32=[8, 5]
  func.return %result : tensor<2xi32>
}

// -----

func.func @or() -> tensor<2xi32> {
  %lhs = xla.constant dense<[12, 0]> : tensor<2xi32>
  %rhs = xla.constant dense<[10, -1]> : tensor<2xi32>
  %result = xla.or %lhs, %rhs : tensor<2xi32>
  // 2xi32=[14, -1]
  func.return %result : tensor<2xi32>
}

// -----

func.func @xor() -> tensor<2xi32> {
  %lhs = xla.constant dense<[12, -1]> : tensor<2xi32>
  %rhs = xla.constant dense<[10, 5]> : tensor<2xi32>
  %result = xla.xor %lhs, %rhs : tensor<2xi32>
  // 2xi32=[6, -6]
  func.return %result : tensor<2xi32>
}

// -----

func.func @mulhi() -> tensor<2xi8> {
  %lhs = xla.constant dense<[-128, 127]> : tensor<2xi8>
  %rhs = xla.constant dense<[-128, 2]> : tensor<2xi8>
  %result = xla.mulhi %lhs, %rhs : tensor<2xi8>
  // 2xi8=[64, 0]
  func.return %result : tensor<2xi8>
}

// -----

func.func @shift_left() -> tensor<4xi8> {
  %lhs = xla.constant dense<[-5, -5, -5, -5]> : tensor<4xi8>
  %rhs = xla.constant dense<[1, 7, 8, -1]> : tensor<4xi8>
  %result = xla.shift_left %lhs, %rhs : tensor<4xi8>
  // 4xi8=[-10, -128, 0, 0]
  func.return %result : tensor<4xi8>
}

// -----

func.func @shift_right_arithmetic() -> tensor<4xi8> {
  %lhs = xla.constant dense<[-5, -5, -5, -5]> : tensor<4xi8>
  %rhs = xla.constant dense<[1, 7, 8, -1]> : tensor<4xi8>
  %result = xla.shift_right_arithmetic %lhs, %rhs : tensor<4xi8>
  // 4xi8=[-3, -1, -1, -1]
  func.return %result : tensor<4xi8>
}

// -----

func.func @shift_right_logical() -> tensor<4xi8> {
  %lhs = xla.constant dense<[-5, -5, -5, -5]> : tensor<4xi8>
  %rhs = xla.constant dense<[1, 7, 8, -1]> : tensor<4xi8>
  %result = xla.shift_right_logical %lhs, %rhs : tensor<4xi8>
  // 4xi8=[125, 1, 0, 0]
  func.return %result : tensor<4xi8>
}

// -----

func.func @atan2() -> tensor<4xf32> {
  %lhs = xla.constant dense<[1.0, 0.0, -0.0, 0.0]> : tensor<4xf32>
  %rhs = xla.constant dense<[-1.0, -0.0, -0.0, 0.0]> : tensor<4xf32>
  %result = xla.atan2 %lhs, %rhs : tensor<4xf32>
  // 4xf32=[2.3561945, 3.1415927, -3.1415927, 0.0]
  func.return %result : tensor<4xf32>
}

// -----

func.func @complex() -> tensor<2xcomplex<f32>> {
  %lhs = xla.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %rhs = xla.constant dense<[3.0, -4.0]> : tensor<2xf32>
  %result = xla.complex %lhs, %rhs : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xcomplex<f32>>
  // 2xcomplex<f32>=[1+3j, 2-4j]
  func.return %result : tensor<2xcomplex<f32>>
}

// -----

func.func @compare() -> tensor<3xi1> {
  %lhs = xla.constant dense<[-0.0, 0x7FC00000, 1.0]> : tensor<3xf32>
  %rhs = xla.constant dense<[0.0, 0x7FC00000, 2.0]> : tensor<3xf32>
  %result = xla.compare %lhs, %rhs {direction = LT, comparison_type = TOTALORDER} : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
  // 3xi1=[true, false, true]
  func.return %result : tensor<3xi1>
}
