func.func @abs() -> tensor<3xi32> {
  %x = xla.constant dense<[-2, 0, -2147483648]> : tensor<3xi32>
  %result = xla.abs %x : tensor<3xi32>
  // 3xi32=[2, 0, -2147483648]
  func.return %result : tensor<3xi32>
}

// -----

func.func @acos() -> tensor<4xf32> {
  %x = xla.constant dense<[1.0, 0.0, -1.0, 2.0]> : tensor<4xf32>
  %result = xla.acos %x : tensor<4xf32>
  // 4xf32=[0.0, 1.5707964, 3.1415927, nan]
  func.return %result : tensor<4xf32>
}

// -----

func.func @acosh() -> tensor<3xf32> {
  %x = xla.constant dense<[1.0, 0x7F800000, 0.5]> : tensor<3xf32>
  %result = xla.acosh %x : tensor<3xf32>
  // 3xf32=[0.0, inf, nan]
  func.return %result : tensor<3xf32>
}

// -----

func.func @asin() -> tensor<4xf32> {
  %x = xla.constant dense<[-0.0, 1.0, -1.0, 2.0]> : tensor<4xf32>
  %result = xla.asin %x : tensor<4xf32>
  // 4xf32=[-0.0, 1.5707964, -1.5707964, nan]
  func.return %result : tensor<4xf32>
}

// -----

func.func @asinh() -> tensor<3xf32> {
  %x = xla.constant dense<[-0.0, 0x7F800000, 0xFF800000]> : tensor<3xf32>
  %result = xla.asinh %x : tensor<3xf32>
  // 3xf32=[-0.0, inf, -inf]
  func.return %result : tensor<3xf32>
}

// -----

func.func @atanh() -> tensor<4xf32> {
  %x = xla.constant dense<[-0.0, 1.0, -1.0, 2.0]> : tensor<4xf32>
  %result = xla.atanh %x : tensor<4xf32>
  // 4xf32=[-0.0, inf, -inf, nan]
  func.return %result : tensor<4xf32>
}

// -----

func.func @cbrt() -> tensor<3xf32> {
  %x = xla.constant dense<[27.0, -8.0, -0.0]> : tensor<3xf32>
  %result = xla.cbrt %x : tensor<3xf32>
  // 3xf32=[3.0, -2.0, -0.0]
  func.return %result : tensor<3xf32>
}

// -----

func.func @ceil() -> tensor<3xf32> {
  %x = xla.constant dense<[1.5, -1.5, -0.5]> : tensor<3xf32>
  %result = xla.ceil %x : tensor<3xf32>
  // 3xf32=[2.0, -1.0, -0.0]
  func.return %result : tensor<3xf32>
}

// -----

func.func @count_leading_zeros() -> tensor<3xi8> {
  %x = xla.constant dense<[0, 1, -1]> : tensor<3xi8>
  %result = xla.count_leading_zeros %x : tensor<3xi8>
  // 3xi8=[8, 7, 0]
  func.return %result : tensor<3xi8>
}

// -----

func.func @cosine() -> tensor<2xf32> {
  %x = xla.constant dense<[0.0, 3.1415927]> : tensor<2xf32>
  %result = xla.cosine %x : tensor<2xf32>
  // 2xf32=[1.0, -1.0]
  func.return %result : tensor<2xf32>
}

// -----

func.func @cosh() -> tensor<2xf32> {
  %x = xla.constant dense<[0.0, 0xFF800000]> : tensor<2xf32>
  %result = xla.cosh %x : tensor<2xf32>
  // 2xf32=[1.0, inf]
  func.return %result : tensor<2xf32>
}

// -----

func.func @erf() -> tensor<3xf32> {
  %x = xla.constant dense<[-0.0, 1.0, 0xFF800000]> : tensor<3xf32>
  %result = xla.erf %x : tensor<3xf32>
  // 3xf32=[-0.0, 0.8427008, -1.0]
  func.return %result : tensor<3xf32>
}

// -----

func.func @exponential() -> tensor<3xf32> {
  %x = xla.constant dense<[0.0, 1.0, 0xFF800000]> : tensor<3xf32>
  %result = xla.exponential %x : tensor<3xf32>
  // 3xf32=[1.0, 2.7182817, 0.0]
  func.return %result : tensor<3xf32>
}

// -----

func.func @exponential_minus_one() -> tensor<3xf32> {
  %x = xla.constant dense<[-0.0, 1.0, 0xFF800000]> : tensor<3xf32>
  %result = xla.exponential_minus_one %x : tensor<3xf32>
  // 3xf32=[-0.0, 1.7182819, -1.0]
  func.return %result : tensor<3xf32>
}

// -----

func.func @floor() -> tensor<3xf32> {
  %x = xla.constant dense<[1.5, -1.5, -0.0]> : tensor<3xf32>
  %result = xla.floor %x : tensor<3xf32>
  // 3xf32=[1.0, -2.0, -0.0]
  func.return %result : tensor<3xf32>
}

// -----

func.func @imag() -> tensor<2xf32> {
  %x = xla.constant dense<[(1.0, 2.0), (3.0, -4.0)]> : tensor<2xcomplex<f32>>
  %result = xla.imag %x : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  // 2xf32=[2.0, -4.0]
  func.return %result : tensor<2xf32>
}

// -----

func.func @is_finite() -> tensor<4xi1> {
  %x = xla.constant dense<[1.0, 0x7F800000, 0xFF800000, 0x7FC00000]> : tensor<4xf32>
  %result = xla.is_finite %x : (tensor<4xf32>) -> tensor<4xi1>
  // 4xi1=[true, false, false, false]
  func.return %result : tensor<4xi1>
}

// -----

func.func @log() -> tensor<4xf32> {
  %x = xla.constant dense<[1.0, 0.0, -0.0, -1.0]> : tensor<4xf32>
  %result = xla.log %x : tensor<4xf32>
  // 4xf32=[0.0, -inf, -inf, nan]
  func.return %result : tensor<4xf32>
}

// -----

func.func @log_plus_one() -> tensor<3xf32> {
  %x = xla.constant dense<[-0.0, -1.0, -2.0]> : tensor<3xf32>
  %result = xla.log_plus_one %x : tensor<3xf32>
  // 3xf32=[-0.0, -inf, nan]
  func.return %result : tensor<3xf32>
}

// -----

func.func @logistic() -> tensor<3xf32> {
  %x = xla.constant dense<[0.0, 0x7F800000, 0xFF800000]> : tensor<3xf32>
  %result = xla.logistic %x : tensor<3xf32>
  // 3xf32=[0.5, 1.0, 0.0]
  func.return %result : tensor<3xf32>
}

// -----

func.func @negate() -> tensor<3xui8> {
  %x = xla.constant dense<[1, 0, 200]> : tensor<3xui8>
  %result = xla.negate %x : tensor<3xui8>
  // 3xui8=[255, 0, 56]
  func.return %result : tensor<3xui8>
}

// -----

func.func @not() -> tensor<3xi32> {
  %x = xla.constant dense<[0, -1, 5]> : tensor<3xi32>
  %result = xla.not %x : tensor<3xi32>
  // 3xi32=[-1, 0, -6]
  func.return %result : tensor<3xi32>
}

// -----

func.func @popcnt() -> tensor<3xi32> {
  %x = xla.constant dense<[-1, 0, 6]> : tensor<3xi32>
  %result = xla.popcnt %x : tensor<3xi32>
  // 3xi32=[32, 0, 2]
  func.return %result : tensor<3xi32>
}

// -----

func.func @real() -> tensor<2xf32> {
  %x = xla.constant dense<[(1.0, 2.0), (3.0, -4.0)]> : tensor<2xcomplex<f32>>
  %result = xla.real %x : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  // 2xf32=[1.0, 3.0]
  func.return %result : tensor<2xf32>
}

// -----

func.func @round_nearest_afz() -> tensor<6xf32> {
  %x = xla.constant dense<[-2.5, -1.5, -0.5, 0.5, 1.5, 2.5]> : tensor<6xf32>
  %result = xla.round_nearest_afz %x : tensor<6xf32>
  // 6xf32=[-3.0, -2.0, -1.0, 1.0, 2.0, 3.0]
  func.return %result : tensor<6xf32>
}

// -----

func.func @round_nearest_even() -> tensor<6xf32> {
  %x = xla.constant dense<[-2.5, -1.5, -0.5, 0.5, 1.5, 2.5]> : tensor<6xf32>
  %result = xla.round_nearest_even %x : tensor<6xf32>
  // 6xf32=[-2.0, -2.0, -0.0, 0.0, 2.0, 2.0]
  func.return %result : tensor<6xf32>
}

// -----

func.func @rsqrt() -> tensor<5xf32> {
  %x = xla.constant dense<[4.0, 0.0, -0.0, 0x7F800000, -1.0]> : tensor<5xf32>
  %result = xla.rsqrt %x : tensor<5xf32>
  // 5xf32=[0.5, inf, -inf, 0.0, nan]
  func.return %result : tensor<5xf32>
}

// -----

func.func @sign() -> tensor<5xf32> {
  %x = xla.constant dense<[-3.5, -0.0, 0.0, 7.0, 0x7FC00000]> : tensor<5xf32>
  %result = xla.sign %x : tensor<5xf32>
  // 5xf32=[-1.0, -0.0, 0.0, 1.0, nan]
  func.return %result : tensor<5xf32>
}

// -----

func.func @sine() -> tensor<3xf32> {
  %x = xla.constant dense<[-0.0, 1.5707964, -1.5707964]> : tensor<3xf32>
  %result = xla.sine %x : tensor<3xf32>
  // 3xf32=[-0.0, 1.0, -1.0]
  func.return %result : tensor<3xf32>
}

// -----

func.func @sinh() -> tensor<3xf32> {
  %x = xla.constant dense<[-0.0, 0x7F800000, 0xFF800000]> : tensor<3xf32>
  %result = xla.sinh %x : tensor<3xf32>
  // 3xf32=[-0.0, inf, -inf]
  func.return %result : tensor<3xf32>
}

// -----

func.func @sqrt() -> tensor<3xf32> {
  %x = xla.constant dense<[9.0, -0.0, -1.0]> : tensor<3xf32>
  %result = xla.sqrt %x : tensor<3xf32>
  // 3xf32=[3.0, -0.0, nan]
  func.return %result : tensor<3xf32>
}

// -----

func.func @tan() -> tensor<2xf32> {
  %x = xla.constant dense<[-0.0, 0.7853982]> : tensor<2xf32>
  %result = xla.tan %x : tensor<2xf32>
  // 2xf32=[-0.0, 1.0]
  func.return %result : tensor<2xf32>
}

// -----

func.func @tanh() -> tensor<3xf32> {
  %x = xla.constant dense<[-0.0, 0x7F800000, 0xFF800000]> : tensor<3xf32>
  %result = xla.tanh %x : tensor<3xf32>
  // 3xf32=[-0.0, 1.0, -1.0]
  func.return %result : tensor<3xf32>
}

// -----

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

// -----

func.func @clamp() -> tensor<3xi32> {
  %min = xla.constant dense<0> : tensor<i32>
  %x = xla.constant dense<[-1, 5, 9]> : tensor<3xi32>
  %max = xla.constant dense<6> : tensor<i32>
  %result = xla.clamp %min, %x, %max : (tensor<i32>, tensor<3xi32>, tensor<i32>) -> tensor<3xi32>
  // 3xi32=[0, 5, 6]
  func.return %result : tensor<3xi32>
}

// -----

func.func @select() -> tensor<4xi32> {
  %pred = xla.constant dense<[true, false, false, true]> : tensor<4xi1>
  %on_true = xla.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %on_false = xla.constant dense<[100, 200, 300, 400]> : tensor<4xi32>
  %result = xla.select %pred, %on_true, %on_false : (tensor<4xi1>, tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // 4xi32=[1, 200, 300, 4]
  func.return %result : tensor<4xi32>
}
