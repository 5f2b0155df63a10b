// RUN: not xla-opt %s -p convert-xla-to-linalg 2>&1 | filecheck %s
// RUN: xla-opt %s -p xla-expand-layouts,convert-xla-to-linalg | filecheck %s --check-prefix=EXPANDED

// Whoever calls the function has the columns one after the other: that is not dropped.
// CHECK: convert-xla-to-linalg: 1 operation is left unconverted
// CHECK: func.func: 1, {{.*}} (xla-expand-layouts lowers the layouts of its parameters and results)
// EXPANDED: func.func @columns(%x: tensor<2x3xf32> {bufferization.buffer_layout = strided<[1, 2]>}
func.func @columns(%x: tensor<2x3xf32, #xla.layout<{0,1}>>) -> tensor<2x3xf32> {
  %0 = xla.negate %x : (tensor<2x3xf32, #xla.layout<{0,1}>>) -> tensor<2x3xf32>
  func.return %0 : tensor<2x3xf32>
}

func.func @rows(%x: tensor<2x3xf32, #xla.layout<{1,0}>>) -> tensor<2x3xf32> {
  %0 = xla.negate %x : (tensor<2x3xf32, #xla.layout<{1,0}>>) -> tensor<2x3xf32>
  func.return %0 : tensor<2x3xf32>
}
