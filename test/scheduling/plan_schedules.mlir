// RUN: xla-opt %s -p xla-plan-schedules | filecheck %s
// RUN: xla-opt %s -p "xla-plan-schedules{vector-bits=0}" | filecheck %s --check-prefix=SCALAR
// RUN: xla-opt %s -p "xla-plan-schedules{vector-bits=256 parallel-microseconds=0}" | filecheck %s --check-prefix=PARALLEL

// The planner's choices; what an operation has already, it keeps.

// CHECK-LABEL:    @sums
// CHECK:          linalg.fill {schedule.nest = #schedule.nest<loops = [d0 by 4], vector = d0 x 4>}
// CHECK:          schedule.nest = #schedule.nest<loops = [d0, d1 by 64], vector = d1 x 16, fold_fills = [0]>
// SCALAR-LABEL:   @sums
// SCALAR:         schedule.nest = #schedule.nest<loops = [d0, d1], fold_fills = [0]>
// PARALLEL-LABEL: @sums
// PARALLEL:       schedule.nest = #schedule.nest<loops = [d0 parallel, d1 by 64], vector = d1 x 8, fold_fills = [0]>
func.func @sums(%a: memref<4x256xf32>, %b: memref<4xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%b : memref<4xf32>)
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%a : memref<4x256xf32>) outs(%b : memref<4xf32>) {
  ^bb0(%x: f32, %y: f32):
    %r = arith.addf %y, %x : f32
    linalg.yield %r : f32
  }
  func.return
}

// CHECK-LABEL:  @transpose
// CHECK:        schedule.nest = #schedule.nest<loops = [d0 by 16, d1 by 16], vector = d0 x 16, transpose = d1>
// SCALAR-LABEL: @transpose
// SCALAR:       schedule.nest = #schedule.nest<loops = [d1, d0]>
func.func @transpose(%a: memref<64x48xf32>, %b: memref<48x64xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1, d0)>], iterator_types = ["parallel", "parallel"]} ins(%a : memref<64x48xf32>) outs(%b : memref<48x64xf32>) {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  }
  func.return
}

// Rows are read on for some vectors; by as many as leave no others.
// CHECK-LABEL: @transpose_in_blocks
// CHECK:       schedule.nest = #schedule.nest<loops = [d1 by 112 parallel, d0 by 16, d1 by 16], vector = d0 x 16, transpose = d1>
// PARALLEL-LABEL: @transpose_in_blocks
// PARALLEL:       schedule.nest = #schedule.nest<loops = [d1 by 64, d0 by 8 parallel, d1 by 8], vector = d0 x 8, transpose = d1>
func.func @transpose_in_blocks(%a: memref<1024x448xf32>, %b: memref<448x1024xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1, d0)>], iterator_types = ["parallel", "parallel"]} ins(%a : memref<1024x448xf32>) outs(%b : memref<448x1024xf32>) {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  }
  func.return
}

// An index that is asked for is that of one loop.
// CHECK-LABEL: @transpose_of_a_triangle
// CHECK:       schedule.nest = #schedule.nest<loops = [d0 by 16 parallel, d1 by 16], vector = d0 x 16, transpose = d1>
func.func @transpose_of_a_triangle(%a: memref<256x256xf32>, %b: memref<256x256xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1, d0)>], iterator_types = ["parallel", "parallel"]} ins(%a : memref<256x256xf32>) outs(%b : memref<256x256xf32>) {
  ^bb0(%x: f32, %y: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %zero = arith.constant 0.0 : f32
    %below = arith.cmpi sle, %j, %i : index
    %r = arith.select %below, %x, %zero : f32
    linalg.yield %r : f32
  }
  func.return
}

// CHECK-LABEL: @dense
// CHECK:       schedule.nest = #schedule.nest<collapse = {{.*}}d0, d1{{.*}}, loops = [d1 by 16], vector = d1 x 16>
func.func @dense(%a: memref<64x48xf32>, %b: memref<64x48xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a : memref<64x48xf32>) outs(%b : memref<64x48xf32>) {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  }
  func.return
}

// CHECK-LABEL: @kept
// CHECK:       "memref.copy"(%a, %b) {schedule.nest = #schedule.nest<loops = [d0 by 2]>}
// SCALAR-LABEL: @kept
// SCALAR:       "memref.copy"(%a, %b) {schedule.nest = #schedule.nest<loops = [d0 by 2]>}
func.func @kept(%a: memref<64xf32>, %b: memref<64xf32>) {
  "memref.copy"(%a, %b) {schedule.nest = #schedule.nest<loops = [d0 by 2]>} : (memref<64xf32>, memref<64xf32>) -> ()
  func.return
}

// Blocks of columns are no larger than what has room for the rounding of long sums.
// CHECK-LABEL: func.func @sums_of_columns
// CHECK:       schedule.nest = #schedule.nest<loops = [d0, d1 by 65536 parallel, d2 by 8, d1 by 16], vector = d1 x 16>
func.func @sums_of_columns(%a: memref<2x1000x4000000xf32>, %b: memref<2x4000000xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a : memref<2x1000x4000000xf32>) outs(%b : memref<2x4000000xf32>) {
  ^bb0(%x: f32, %acc: f32):
    %sum = arith.addf %acc, %x : f32
    linalg.yield %sum : f32
  }
  func.return
}

// Weights of a window that slides are in registers for several pixels.
// CHECK-LABEL: func.func @weighted_windows
// CHECK:       schedule.nest = #schedule.nest<loops = [d0 by 4, d1 by 32, d2 by 3], vector = d1 x 16>
func.func @weighted_windows(%a: memref<58x64xf32>, %w: memref<3x64xf32>, %b: memref<56x64xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0 + d2, d1)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %w : memref<58x64xf32>, memref<3x64xf32>) outs(%b : memref<56x64xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %product = arith.mulf %x, %y : f32
    %sum = arith.addf %acc, %product : f32
    linalg.yield %sum : f32
  }
  func.return
}

// Windows whose base stays in the second-level cache slide over it for some of its columns at a time, in rows that leave no edges.
// CHECK-LABEL: func.func @windows_of_many_columns
// CHECK:       schedule.nest = #schedule.nest<loops = [d0 parallel, d2 by 32, d1 by 7, d3 by 3], vector = d2 x 16>
func.func @windows_of_many_columns(%a: memref<8x16x2048xf32>, %w: memref<3x2048xf32>, %b: memref<8x14x2048xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1 + d3, d2)>, affine_map<(d0, d1, d2, d3) -> (d3, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%a, %w : memref<8x16x2048xf32>, memref<3x2048xf32>) outs(%b : memref<8x14x2048xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %product = arith.mulf %x, %y : f32
    %sum = arith.addf %acc, %product : f32
    linalg.yield %sum : f32
  }
  func.return
}

// Rows with vectors of their own, from many places at once, are summed one by one.
// CHECK-LABEL: func.func @weighted_rows
// CHECK:       schedule.nest = #schedule.nest<loops = [d0, d1 by 64, d2 by 2], vector = d1 x 16>
func.func @weighted_rows(%a: memref<56x3x64xf32>, %w: memref<3x64xf32>, %b: memref<56x64xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2, d1)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %w : memref<56x3x64xf32>, memref<3x64xf32>) outs(%b : memref<56x64xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %product = arith.mulf %x, %y : f32
    %sum = arith.addf %acc, %product : f32
    linalg.yield %sum : f32
  }
  func.return
}
