// RUN: xla-opt %s -p convert-linalg-to-vector-loops --split-input-file --verify-diagnostics
// RUN: not xla-opt %s -p convert-linalg-to-vector-loops 2>&1 | filecheck %s --check-prefix=PLACE

// Each rule of docs/specification/schedules.md, broken, with the place of the operation.
// PLACE: {{^}}{{.*}}schedule_errors.mlir:9:3: error: convert-linalg-to-vector-loops: linalg.generic: schedule: (SR1)

// expected-error@+2 {{linalg.generic: schedule: (SR1) d2 is no dimension of 2}}
func.func @no_such_dimension(%a: memref<8x9xf32>, %b: memref<8x9xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a : memref<8x9xf32>) outs(%b : memref<8x9xf32>) attrs = {schedule.nest = #schedule.nest<loops = [d0, d1, d2]>} {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  }
  func.return
}

// -----

// expected-error@+2 {{linalg.generic: schedule: (SR1) no loop over d1}}
func.func @no_loop(%a: memref<8x9xf32>, %b: memref<8x9xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a : memref<8x9xf32>) outs(%b : memref<8x9xf32>) attrs = {schedule.nest = #schedule.nest<loops = [d0]>} {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  }
  func.return
}

// -----

// expected-error@+2 {{linalg.generic: schedule: (SR1) d0 is collapsed into another dimension}}
func.func @collapsed_away(%a: memref<8x9xf32>, %b: memref<8x9xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a : memref<8x9xf32>) outs(%b : memref<8x9xf32>) attrs = {schedule.nest = #schedule.nest<collapse = [[d0, d1]], loops = [d0, d1]>} {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  }
  func.return
}

// -----

// expected-error@+2 {{linalg.generic: schedule: (SR1) d1 and d0 do not follow each other in every operand}}
func.func @not_dense(%a: memref<8x9xf32>, %b: memref<8x9xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a : memref<8x9xf32>) outs(%b : memref<8x9xf32>) attrs = {schedule.nest = #schedule.nest<collapse = [[d1, d0]], loops = [d0]>} {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  }
  func.return
}

// -----

// expected-error@+2 {{linalg.generic: schedule: (SR1) vectors along d7, which has no loop}}
func.func @vector_without_loop(%a: memref<8x9xf32>, %b: memref<8x9xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a : memref<8x9xf32>) outs(%b : memref<8x9xf32>) attrs = {schedule.nest = #schedule.nest<loops = [d0, d1], vector = d7 x 4>} {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  }
  func.return
}

// -----

// expected-error@+2 {{linalg.generic: schedule: (SR2) d0 is tiled by 0, allowed: 1 to 8}}
func.func @no_iterations(%a: memref<8x9xf32>, %b: memref<8x9xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a : memref<8x9xf32>) outs(%b : memref<8x9xf32>) attrs = {schedule.nest = #schedule.nest<loops = [d0 by 0, d1]>} {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  }
  func.return
}

// -----

// expected-error@+2 {{linalg.generic: schedule: (SR2) d1 is tiled by 10, allowed: 1 to 9}}
func.func @tile_beyond_the_extent(%a: memref<8x9xf32>, %b: memref<8x9xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a : memref<8x9xf32>) outs(%b : memref<8x9xf32>) attrs = {schedule.nest = #schedule.nest<loops = [d0, d1 by 10]>} {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  }
  func.return
}

// -----

// expected-error@+2 {{linalg.generic: schedule: (SR2) d1 is tiled by 5, allowed: 1 to 4}}
func.func @tile_beyond_the_tile(%a: memref<8x9xf32>, %b: memref<8x9xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a : memref<8x9xf32>) outs(%b : memref<8x9xf32>) attrs = {schedule.nest = #schedule.nest<loops = [d1 by 4, d0, d1 by 5]>} {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  }
  func.return
}

// -----

// expected-error@+2 {{linalg.generic: schedule: (SR2) a tile of 6 iterations in vectors of 4 lanes}}
func.func @tile_and_lanes(%a: memref<8x9xf32>, %b: memref<8x9xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a : memref<8x9xf32>) outs(%b : memref<8x9xf32>) attrs = {schedule.nest = #schedule.nest<loops = [d0, d1 by 6], vector = d1 x 4>} {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  }
  func.return
}

// -----

// expected-error@+2 {{linalg.generic: schedule: (SR3) d0 by 2 is outside of other tiles or copies}}
func.func @unrolled_outside(%a: memref<8x9xf32>, %b: memref<8x9xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a : memref<8x9xf32>) outs(%b : memref<8x9xf32>) attrs = {schedule.nest = #schedule.nest<loops = [d0 by 2, d1 by 4, d1]>} {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  }
  func.return
}

// -----

// expected-error@+2 {{linalg.generic: schedule: (SR4) output 0 is folded over the lanes by what may not be reassociated}}
func.func @lanes_of_a_subtraction(%a: memref<8x9xf32>, %b: memref<8xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%a : memref<8x9xf32>) outs(%b : memref<8xf32>) attrs = {schedule.nest = #schedule.nest<loops = [d0, d1 by 4], vector = d1 x 4>} {
  ^bb0(%x: f32, %y: f32):
    %r = arith.subf %y, %x : f32
    linalg.yield %r : f32
  }
  func.return
}

// -----

// expected-error@+2 {{linalg.generic: schedule: (SR4) output 0 is folded over lanes, and d0, which chooses its element, is innermost}}
func.func @lanes_outside(%a: memref<8x9xf32>, %b: memref<8xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%a : memref<8x9xf32>) outs(%b : memref<8xf32>) attrs = {schedule.nest = #schedule.nest<loops = [d1 by 4, d0], vector = d1 x 4>} {
  ^bb0(%x: f32, %y: f32):
    %r = arith.addf %y, %x : f32
    linalg.yield %r : f32
  }
  func.return
}

// -----

// expected-error@+2 {{linalg.generic: schedule: (SR5) a transposed block has as many rows as vectors have lanes, a power of two up to 16; found 4 rows of 8 lanes}}
func.func @no_square(%a: memref<9x8xf32>, %b: memref<8x9xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a : memref<9x8xf32>) outs(%b : memref<8x9xf32>) attrs = {schedule.nest = #schedule.nest<loops = [d0 by 4, d1 by 8], vector = d1 x 8, transpose = d0>} {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  }
  func.return
}

// -----

// expected-error@+2 {{linalg.generic: schedule: (SR5) no input has unit stride along the transposed dimension only}}
func.func @nothing_to_transpose(%a: memref<8x9xf32>, %b: memref<8x9xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a : memref<8x9xf32>) outs(%b : memref<8x9xf32>) attrs = {schedule.nest = #schedule.nest<loops = [d0 by 8, d1 by 8], vector = d1 x 8, transpose = d0>} {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  }
  func.return
}

// -----

// expected-error@+2 {{linalg.generic: schedule: (SR6) 2 parallel loops}}
func.func @two_parallel_loops(%a: memref<8x9xf32>, %b: memref<8x9xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a : memref<8x9xf32>) outs(%b : memref<8x9xf32>) attrs = {schedule.nest = #schedule.nest<loops = [d0 parallel, d1 parallel]>} {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  }
  func.return
}

// -----

// expected-error@+2 {{linalg.generic: schedule: (SR6) iterations of d1 depend on each other}}
func.func @parallel_sum(%a: memref<8x9xf32>, %b: memref<8xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%a : memref<8x9xf32>) outs(%b : memref<8xf32>) attrs = {schedule.nest = #schedule.nest<loops = [d0, d1 parallel]>} {
  ^bb0(%x: f32, %y: f32):
    %r = arith.addf %y, %x : f32
    linalg.yield %r : f32
  }
  func.return
}

// -----

// expected-error@+2 {{linalg.generic: schedule: (SR7) output 0 would take its terms in another order}}
func.func @another_order(%a: memref<8x9xf32>, %b: memref<1xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (0)>], iterator_types = ["reduction", "reduction"]} ins(%a : memref<8x9xf32>) outs(%b : memref<1xf32>) attrs = {schedule.nest = #schedule.nest<loops = [d1, d0]>} {
  ^bb0(%x: f32, %y: f32):
    %r = arith.subf %y, %x : f32
    linalg.yield %r : f32
  }
  func.return
}

// -----

// expected-error@+2 {{linalg.generic: schedule: (SR8) tiles that unroll 4096 points; at most 1024}}
func.func @too_much_unrolled(%a: memref<64x64xf32>, %b: memref<64x64xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a : memref<64x64xf32>) outs(%b : memref<64x64xf32>) attrs = {schedule.nest = #schedule.nest<loops = [d0 by 64, d1 by 64]>} {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  }
  func.return
}

// -----

// expected-error@+2 {{linalg.generic: schedule: (SR8) vectors of 512 lanes; from 1 to 256}}
func.func @too_many_lanes(%a: memref<512xf32>, %b: memref<512xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%a : memref<512xf32>) outs(%b : memref<512xf32>) attrs = {schedule.nest = #schedule.nest<loops = [d0 by 512], vector = d0 x 512>} {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  }
  func.return
}

// -----

// expected-error@+2 {{linalg.generic: schedule: (SR9) a copy of a factor, of what is no contraction}}
func.func @copy_of_no_factor(%a: memref<8x9xf32>, %b: memref<8x9xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a : memref<8x9xf32>) outs(%b : memref<8x9xf32>) attrs = {schedule.nest = #schedule.nest<loops = [pack rhs {loops = [d1]}, d0, d1 by 8], vector = d1 x 8>} {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  }
  func.return
}

// -----

// expected-error@+2 {{linalg.generic: schedule: (SR9) a second copy}}
func.func @two_copies(%a: memref<40x10xf32>, %b: memref<10x48xf32>, %c: memref<40x48xf32>) {
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : memref<40x10xf32>, memref<10x48xf32>) outs(%c : memref<40x48xf32>) attrs = {schedule.nest = #schedule.nest<loops = [pack rhs {loops = [d2, d1]}, pack lhs {loops = [d2, d0]}, d0, d1 by 16, d2], vector = d1 x 16>} {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %p = arith.mulf %x, %y : f32
    %r = arith.addf %sum, %p : f32
    linalg.yield %r : f32
  }
  func.return
}

// -----

// expected-error@+2 {{linalg.generic: schedule: (SR9) panels along no dimension of lhs alone}}
func.func @copy_of_the_rows(%a: memref<40x10xf32>, %b: memref<10x48xf32>, %c: memref<40x48xf32>) {
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : memref<40x10xf32>, memref<10x48xf32>) outs(%c : memref<40x48xf32>) attrs = {schedule.nest = #schedule.nest<loops = [pack lhs {loops = [d2, d0]}, d0, d1 by 16, d2], vector = d1 x 16>} {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %p = arith.mulf %x, %y : f32
    %r = arith.addf %sum, %p : f32
    linalg.yield %r : f32
  }
  func.return
}

// -----

// expected-error@+2 {{linalg.generic: schedule: (SR1) no loop of the copy over d2}}
func.func @copy_without_a_loop(%a: memref<40x10xf32>, %b: memref<10x48xf32>, %c: memref<40x48xf32>) {
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : memref<40x10xf32>, memref<10x48xf32>) outs(%c : memref<40x48xf32>) attrs = {schedule.nest = #schedule.nest<loops = [pack rhs {loops = [d1 by 16], vector = d1 x 16}, d0, d1 by 16, d2], vector = d1 x 16>} {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %p = arith.mulf %x, %y : f32
    %r = arith.addf %sum, %p : f32
    linalg.yield %r : f32
  }
  func.return
}

// -----

// expected-error@+2 {{linalg.generic: schedule: (SR9) a copy of 4194304 bytes; at most 1048576}}
func.func @large_copy(%a: memref<8x1024xf32>, %b: memref<1024x1024xf32>, %c: memref<8x1024xf32>) {
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : memref<8x1024xf32>, memref<1024x1024xf32>) outs(%c : memref<8x1024xf32>) attrs = {schedule.nest = #schedule.nest<loops = [pack rhs {loops = [d2, d1 by 16], vector = d1 x 16}, d0, d1 by 16, d2], vector = d1 x 16>} {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %p = arith.mulf %x, %y : f32
    %r = arith.addf %sum, %p : f32
    linalg.yield %r : f32
  }
  func.return
}

// -----

// expected-error@+2 {{linalg.generic: schedule: (SR10) wide factors, a sum of other than 32 bits, or few terms}}
func.func @pairs_of_floats(%a: memref<40x10xf32>, %b: memref<10x48xf32>, %c: memref<40x48xf32>) {
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : memref<40x10xf32>, memref<10x48xf32>) outs(%c : memref<40x48xf32>) attrs = {schedule.nest = #schedule.nest<pairs = d2, loops = [d0, d1 by 16, d2], vector = d1 x 16>} {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %p = arith.mulf %x, %y : f32
    %r = arith.addf %sum, %p : f32
    linalg.yield %r : f32
  }
  func.return
}

// -----

// expected-error@+2 {{linalg.generic: schedule: (SR10) d0 is not summed by a contraction}}
func.func @pairs_of_rows(%a: memref<40x10xi8>, %b: memref<10x48xi8>, %c: memref<40x48xi32>) {
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : memref<40x10xi8>, memref<10x48xi8>) outs(%c : memref<40x48xi32>) attrs = {schedule.nest = #schedule.nest<pairs = d0, loops = [d0, d1 by 16, d2], vector = d1 x 16>} {
  ^bb0(%x: i8, %y: i8, %sum: i32):
    %v = arith.extsi %x : i8 to i32
    %w = arith.extsi %y : i8 to i32
    %p = arith.muli %v, %w : i32
    %r = arith.addi %sum, %p : i32
    linalg.yield %r : i32
  }
  func.return
}

// -----

// expected-error@+2 {{linalg.generic: schedule: (SR10) d2 has 11 terms}}
func.func @odd_pairs(%a: memref<40x11xi8>, %b: memref<11x48xi8>, %c: memref<40x48xi32>) {
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : memref<40x11xi8>, memref<11x48xi8>) outs(%c : memref<40x48xi32>) attrs = {schedule.nest = #schedule.nest<pairs = d2, loops = [d0, d1 by 16, d2], vector = d1 x 16>} {
  ^bb0(%x: i8, %y: i8, %sum: i32):
    %v = arith.extsi %x : i8 to i32
    %w = arith.extsi %y : i8 to i32
    %p = arith.muli %v, %w : i32
    %r = arith.addi %sum, %p : i32
    linalg.yield %r : i32
  }
  func.return
}

// -----

// expected-error@+2 {{linalg.generic: schedule: (SR11) output 0 cannot start from a fill before}}
func.func @no_fill(%a: memref<40x10xf32>, %b: memref<10x48xf32>, %c: memref<40x48xf32>) {
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : memref<40x10xf32>, memref<10x48xf32>) outs(%c : memref<40x48xf32>) attrs = {schedule.nest = #schedule.nest<loops = [d0, d1 by 16, d2], vector = d1 x 16, fold_fills = [0]>} {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %p = arith.mulf %x, %y : f32
    %r = arith.addf %sum, %p : f32
    linalg.yield %r : f32
  }
  func.return
}

// -----

// expected-error@+2 {{linalg.generic: schedule: (SR12) the operation asks for the index of d1}}
func.func @tiles_of_an_index(%a: memref<8x9xf32>, %b: memref<8x9xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a : memref<8x9xf32>) outs(%b : memref<8x9xf32>) attrs = {schedule.nest = #schedule.nest<loops = [d1 by 3, d0, d1]>} {
  ^bb0(%x: f32, %y: f32):
    %i = linalg.index 1 : index
    %j = arith.index_cast %i : index to i32
    %r = arith.sitofp %j : i32 to f32
    linalg.yield %r : f32
  }
  func.return
}

// -----

// expected-error@+2 {{linalg.generic: schedule: (SR10) four terms at a time without a copy of a factor}}
func.func @quads_without_copy(%a: memref<40x12xi8>, %b: memref<12x48xi8>, %c: memref<40x48xi32>) {
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : memref<40x12xi8>, memref<12x48xi8>) outs(%c : memref<40x48xi32>) attrs = {schedule.nest = #schedule.nest<quads = d2, loops = [d0, d1 by 16, d2], vector = d1 x 16>} {
  ^bb0(%x: i8, %y: i8, %sum: i32):
    %v = arith.extsi %x : i8 to i32
    %w = arith.extsi %y : i8 to i32
    %p = arith.muli %v, %w : i32
    %r = arith.addi %sum, %p : i32
    linalg.yield %r : i32
  }
  func.return
}

// -----

// expected-error@+2 {{linalg.generic: schedule: (SR10) sums of 16 lanes at most, not 32}}
func.func @wide_pairs(%a: memref<40x12xbf16>, %b: memref<12x64xbf16>, %c: memref<40x64xf32>) {
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : memref<40x12xbf16>, memref<12x64xbf16>) outs(%c : memref<40x64xf32>) attrs = {schedule.nest = #schedule.nest<pairs = d2, loops = [d0, d1 by 32, d2], vector = d1 x 32>} {
  ^bb0(%x: bf16, %y: bf16, %sum: f32):
    %v = arith.extf %x : bf16 to f32
    %w = arith.extf %y : bf16 to f32
    %p = arith.mulf %v, %w : f32
    %r = arith.addf %sum, %p : f32
    linalg.yield %r : f32
  }
  func.return
}

// -----

// expected-error@+2 {{linalg.generic: schedule: (SR10) quads summed outside of loops over rows or columns}}
func.func @quads_outside(%a: memref<40x12xi8>, %b: memref<12x48xi8>, %c: memref<40x48xi32>) {
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : memref<40x12xi8>, memref<12x48xi8>) outs(%c : memref<40x48xi32>) attrs = {schedule.nest = #schedule.nest<quads = d2, loops = [pack rhs {loops = [d2, d1 by 16], vector = d1 x 16}, d0, d2, d1 by 16], vector = d1 x 16>} {
  ^bb0(%x: i8, %y: i8, %sum: i32):
    %v = arith.extsi %x : i8 to i32
    %w = arith.extsi %y : i8 to i32
    %p = arith.muli %v, %w : i32
    %r = arith.addi %sum, %p : i32
    linalg.yield %r : i32
  }
  func.return
}
