// Named operations of linalg on memrefs have the schedules of their `linalg.generic`, and run.

// RUN: xla-opt %s -p 'native{from=buffers to=schedules}' | filecheck %s --check-prefix=SCHEDULES
// RUN: xla-opt %s -p convert-linalg-to-vector-loops | filecheck %s --check-prefix=LOOPS
// RUN: xla-run %s --input '2x3xf32=[[1, 2, 3], [4, 5, 6]]' --input '3x2xf32=[[1, 0], [-1, 2], [0.5, 3]]' | filecheck %s

// SCHEDULES: linalg.generic {{.*}}outs(%product : memref<2x2xf32>) attrs = {schedule.nest = #schedule.nest<
// SCHEDULES: linalg.generic {{.*}}outs(%transposed : memref<2x2xf32>) attrs = {schedule.nest = #schedule.nest<
// SCHEDULES: linalg.generic {{.*}}outs(%sum : memref<2x2xf32>) attrs = {schedule.nest = #schedule.nest<

// LOOPS-NOT: linalg.
// LOOPS: scf.for

// By hand: [[1 - 2 + 1.5, 4 + 9], [4 - 5 + 3, 10 + 18]], and its transpose added.
// CHECK: f32[2,2] {{\[\[}} 1., 15.],
// CHECK-NEXT: [15., 56.]]
func.func @main(%a: memref<2x3xf32>, %b: memref<3x2xf32>, %sum: memref<2x2xf32>) {
  %zero = arith.constant 0.0 : f32
  %product = memref.alloc() : memref<2x2xf32>
  %transposed = memref.alloc() : memref<2x2xf32>
  linalg.fill ins(%zero : f32) outs(%product : memref<2x2xf32>)
  linalg.matmul ins(%a, %b : memref<2x3xf32>, memref<3x2xf32>) outs(%product : memref<2x2xf32>)
  linalg.transpose ins(%product : memref<2x2xf32>) outs(%transposed : memref<2x2xf32>) permutation = [1, 0]
  linalg.add ins(%product, %transposed : memref<2x2xf32>, memref<2x2xf32>) outs(%sum : memref<2x2xf32>)
  return
}
