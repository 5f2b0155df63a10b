func.func @convert() -> tensor<7xi8> {
  %x = xla.constant dense<[0x7FC00000, 0x7F800000, 0xFF800000, 300.5, -300.5, -1.5, -0.0]> : tensor<7xf32>
  %result = xla.convert %x : (tensor<7xf32>) -> tensor<7xi8>
  // 7xi8=[0, 127, -128, 127, -128, -1, 0]
  func.return %result : tensor<7xi8>
}

// -----

func.func @bitcast_convert() -> tensor<4xui8> {
  %x = xla.constant dense<1.0> : tensor<f32>
  %result = xla.bitcast_convert %x : (tensor<f32>) -> tensor<4xui8>
  // 4xui8=[0, 0, 128, 63]
  func.return %result : tensor<4xui8>
}

// -----

func.func @reduce_precision() -> tensor<5xf32> {
  %x = xla.constant dense<[57344.0, 61439.0, 61440.0, 1.125, 1.375]> : tensor<5xf32>
  %result = xla.reduce_precision %x {exponent_bits = 5, mantissa_bits = 2} : tensor<5xf32>
  // 5xf32=[57344.0, 57344.0, inf, 1.0, 1.5]
  func.return %result : tensor<5xf32>
}
