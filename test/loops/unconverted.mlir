// Operations of linalg that have no nest are an error of the pass that should convert them.

// RUN: not xla-opt %s -p 'native{from=buffers}' 2>&1 | filecheck %s

// CHECK: convert-linalg-to-vector-loops: 2 operations are left unconverted
// CHECK-NEXT: linalg.broadcast: 1, {{.*}}unconverted.mlir:9:3 (write it as a linalg.generic)
// CHECK-NEXT: linalg.reduce: 1, {{.*}}unconverted.mlir:10:3 (write it as a linalg.generic)
func.func @main(%a: memref<4xf32>, %b: memref<4x8xf32>, %c: memref<4xf32>) {
  linalg.broadcast ins(%a : memref<4xf32>) outs(%b : memref<4x8xf32>) dimensions = [1]
  linalg.reduce ins(%b : memref<4x8xf32>) outs(%c : memref<4xf32>) dimensions = [1] (%x : f32, %sum : f32) {
    %next = arith.addf %x, %sum : f32
    linalg.yield %next : f32
  }
  return
}
