// RUN: xla-run %s --all-functions --backend reference

// The same array; a mark of where a sharding begins or ends.

// for i32 in types
func.func @types() -> tensor<3x5xi32> {
  %0 = xla.constant dense<[[0, 1, -1, 2, 3], [4, 5, 6, 7, 8], [100, -100, 1, 0, 127]]> : tensor<3x5xi64>
  %x = xla.convert %0 : (tensor<3x5xi64>) -> tensor<3x5xi32>
  %1 = xla.domain %x {domain = "{kind=\22sharding\22, entry={maximal device=0}, exit={replicated}}"} : tensor<3x5xi32>
  func.return %1 : tensor<3x5xi32>
}

func.func @column_major() -> tensor<2x3xi32, #xla.layout<{0,1}>> {
  %x = xla.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32, #xla.layout<{0,1}>>
  %0 = xla.domain %x {domain = "{kind=\22sharding\22, entry={maximal device=0}, exit={replicated}}"} : tensor<2x3xi32, #xla.layout<{0,1}>>
  check.expect_eq %0, %x : tensor<2x3xi32, #xla.layout<{0,1}>>
  func.return %0 : tensor<2x3xi32, #xla.layout<{0,1}>>
}

func.func @sizes() -> (tensor<f32>, tensor<0x3xf32>) {
  %x = xla.constant dense<-0.0> : tensor<f32>
  %scalar = xla.domain %x {domain = "{kind=\22sharding\22, entry={maximal device=0}, exit={replicated}}"} : tensor<f32>
  %nothing = xla.constant dense<> : tensor<0x3xf32>
  %empty = xla.domain %nothing {domain = "{kind=\22sharding\22, entry={maximal device=0}, exit={replicated}}"} : tensor<0x3xf32>
  func.return %scalar, %empty : tensor<f32>, tensor<0x3xf32>
}
