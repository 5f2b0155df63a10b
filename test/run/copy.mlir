// RUN: xla-run %s --all-functions --backend reference

// The same array, perhaps in another layout.

// for i32 in types
func.func @types() -> (tensor<3x5xi32>, tensor<3x5xi32, #xla.layout<{0,1}>>, tensor<3x5xi32>) {
  %0 = xla.constant dense<[[0, 1, -1, 2, 3], [4, 5, 6, 7, 8], [100, -100, 1, 0, 127]]> : tensor<3x5xi64>
  %x = xla.convert %0 : (tensor<3x5xi64>) -> tensor<3x5xi32>
  %same = xla.copy %x : tensor<3x5xi32>
  %turned = xla.copy %x : (tensor<3x5xi32>) -> tensor<3x5xi32, #xla.layout<{0,1}>>
  %back = xla.copy %turned : (tensor<3x5xi32, #xla.layout<{0,1}>>) -> tensor<3x5xi32>
  func.return %same, %turned, %back : tensor<3x5xi32>, tensor<3x5xi32, #xla.layout<{0,1}>>, tensor<3x5xi32>
}

// Tiles are padded at the edges of the array.
func.func @tiled() -> (tensor<3x5xi32, #xla.layout<{1,0:T(2,4)}>>, tensor<3x5xi32>) {
  %x = xla.constant dense<[[0, 1, -1, 2, 3], [4, 5, 6, 7, 8], [100, -100, 1, 0, 127]]> : tensor<3x5xi32>
  %tiled = xla.copy %x : (tensor<3x5xi32>) -> tensor<3x5xi32, #xla.layout<{1,0:T(2,4)}>>
  %back = xla.copy %tiled : (tensor<3x5xi32, #xla.layout<{1,0:T(2,4)}>>) -> tensor<3x5xi32>
  check.expect_eq %back, %x : tensor<3x5xi32>
  func.return %tiled, %back : tensor<3x5xi32, #xla.layout<{1,0:T(2,4)}>>, tensor<3x5xi32>
}

func.func @special_floats() -> tensor<4xf32> {
  %x = xla.constant dense<[-0.0, 0x7FC00000, 0xFF800000, 0x00000001]> : tensor<4xf32>
  %0 = xla.copy %x : tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

func.func @sizes() -> (tensor<f32>, tensor<0x3xf32, #xla.layout<{0,1}>>) {
  %x = xla.constant dense<2.5> : tensor<f32>
  %scalar = xla.copy %x : tensor<f32>
  %nothing = xla.constant dense<> : tensor<0x3xf32>
  %empty = xla.copy %nothing : (tensor<0x3xf32>) -> tensor<0x3xf32, #xla.layout<{0,1}>>
  func.return %scalar, %empty : tensor<f32>, tensor<0x3xf32, #xla.layout<{0,1}>>
}
