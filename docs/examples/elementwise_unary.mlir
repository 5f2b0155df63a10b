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
