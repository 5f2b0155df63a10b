// RUN: xla-opt %s --split-input-file -p xla-plan-schedules | filecheck %s

// A program that is too short to wake threads for it.
// CHECK-LABEL: func.func @short
// CHECK-NOT:   parallel>
func.func @short(%a: memref<512x512xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%a : memref<512x512xf32>) {
  ^bb0(%x: f32):
    %r = arith.negf %x : f32
    linalg.yield %r : f32
  }
  func.return
}

// -----

// Two such loops are enough together. Then the larger ones are shared, but not what takes less than a start.
// CHECK-LABEL: func.func @longer
// CHECK:       schedule.nest = #schedule.nest<collapse = {{.*}}d1 by 16 parallel]
// CHECK:       schedule.nest = #schedule.nest<collapse = {{.*}}d1 by 16 parallel]
// CHECK:       schedule.nest = #schedule.nest<collapse = {{.*}}d1 by 16]
func.func @longer(%a: memref<512x512xf32>, %b: memref<512x512xf32>, %c: memref<32x64xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%a : memref<512x512xf32>) {
  ^bb0(%x: f32):
    %r = arith.negf %x : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%b : memref<512x512xf32>) {
  ^bb0(%x: f32):
    %r = arith.negf %x : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%c : memref<32x64xf32>) {
  ^bb0(%x: f32):
    %r = arith.negf %x : f32
    linalg.yield %r : f32
  }
  func.return
}

// -----

// The outermost loop, though the one inside of it has more iterations: a thread finds in its cache what it wrote in the
// loop before. For much work the one inside.
// CHECK-LABEL: func.func @few_matrices
// CHECK:       loops = [d0 parallel, d1, d2 by 16]
// CHECK:       loops = [d0, d1 parallel, d2 by 16]
func.func @few_matrices(%a: memref<64x4x1024xf32>, %b: memref<4x64x1024xf32>, %c: memref<64x4x16384xf32>, %d: memref<4x64x16384xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d1, d0, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%a : memref<64x4x1024xf32>) outs(%b : memref<4x64x1024xf32>) {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  }
  linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d1, d0, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%c : memref<64x4x16384xf32>) outs(%d : memref<4x64x16384xf32>) {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  }
  func.return
}
