// RUN: not xla-opt %s -p xla-bufferize 2>&1 | filecheck %s

// CHECK:      xla-bufferize: 2 operations are left unconverted
// CHECK-NEXT:   func.func: 2, {{.*}}.mlir:6:1 (bufferization.buffer_layout of tensor<2x3xf32> is strided<[1]>, not a known stride per dimension), {{.*}}.mlir:9:1 (bufferization.buffer_layout of tensor<2x3xf32> is strided<[?, 1]>, not a known stride per dimension)

func.func @too_few(%x: tensor<2x3xf32> {bufferization.buffer_layout = strided<[1]>}) {
  func.return
}
func.func @unknown(%x: tensor<2x3xf32>) -> (tensor<2x3xf32> {bufferization.buffer_layout = strided<[?, 1]>}) {
  func.return %x : tensor<2x3xf32>
}
