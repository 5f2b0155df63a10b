// RUN: xla-opt %s -p convert-linalg-to-vector-loops | filecheck %s
// RUN: xla-opt %s | xla-opt | filecheck %s --check-prefix=TEXT

// What schedules that are written by hand become.

// Without a schedule: loops over scalars, in the order of the dimensions.
// xla-update-checks: CHECK @plain
// CHECK-LABEL:   func.func @plain(%a: memref<8x9xf32>, %b: memref<8x9xf32>) {
// CHECK-NEXT:      %c0 = arith.constant 0 : index
// CHECK-NEXT:      %c9 = arith.constant 9 : index
// CHECK-NEXT:      %c1 = arith.constant 1 : index
// CHECK-NEXT:      %c8 = arith.constant 8 : index
// CHECK-NEXT:      scf.for %d0 = %c0 to %c9 step %c1 {
// CHECK-NEXT:        scf.for %d1 = %c0 to %c8 step %c1 {
// CHECK-NEXT:          %[[LOAD:.*]] = memref.load %a[%d1, %d0] : memref<8x9xf32>
// CHECK-NEXT:          memref.store %[[LOAD]], %b[%d1, %d0] : memref<8x9xf32>
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:      func.return
// CHECK-NEXT:    }
func.func @plain(%a: memref<8x9xf32>, %b: memref<8x9xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d1, d0)>], iterator_types = ["parallel", "parallel"]} ins(%a : memref<8x9xf32>) outs(%b : memref<8x9xf32>) {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  }
  func.return
}

// Two levels of tiles. 9 columns are a tile of 8, in two of 4, and one more.
// xla-update-checks: CHECK @tiles
// CHECK-LABEL:   func.func @tiles(%a: memref<6x9xf32>, %b: memref<6x9xf32>) {
// CHECK-NEXT:      %c0 = arith.constant 0 : index
// CHECK-NEXT:      %c6 = arith.constant 6 : index
// CHECK-NEXT:      %c1 = arith.constant 1 : index
// CHECK-NEXT:      %c8 = arith.constant 8 : index
// CHECK-NEXT:      %c4 = arith.constant 4 : index
// CHECK-NEXT:      scf.for %d0 = %c0 to %c6 step %c1 {
// CHECK-NEXT:        scf.for %d1 = %c0 to %c8 step %c4 {
// CHECK-NEXT:          %[[LOAD:.*]] = vector.load %a[%d0, %d1] : memref<6x9xf32>, vector<4xf32>
// CHECK-NEXT:          vector.store %[[LOAD]], %b[%d0, %d1] : memref<6x9xf32>, vector<4xf32>
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:      scf.for %[[ARG:.*]] = %c0 to %c6 step %c1 {
// CHECK-NEXT:        %[[LOAD_1:.*]] = memref.load %a[%[[ARG]], %c8] : memref<6x9xf32>
// CHECK-NEXT:        memref.store %[[LOAD_1]], %b[%[[ARG]], %c8] : memref<6x9xf32>
// CHECK-NEXT:      }
// CHECK-NEXT:      func.return
// CHECK-NEXT:    }
func.func @tiles(%a: memref<6x9xf32>, %b: memref<6x9xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a : memref<6x9xf32>) outs(%b : memref<6x9xf32>) attrs = {schedule.nest = #schedule.nest<loops = [d1 by 8, d0, d1 by 4], vector = d1 x 4>} {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  }
  func.return
}

// Rows are one dimension with their columns, and threads share it in blocks.
// xla-update-checks: CHECK @blocks
// CHECK-LABEL:   func.func @blocks(%a: memref<16x8xf32>, %b: memref<16x8xf32>) {
// CHECK-NEXT:      %c0 = arith.constant 0 : index
// CHECK-NEXT:      %c2 = arith.constant 2 : index
// CHECK-NEXT:      %c1 = arith.constant 1 : index
// CHECK-NEXT:      %c64 = arith.constant 64 : index
// CHECK-NEXT:      %c16 = arith.constant 16 : index
// CHECK-NEXT:      "scf.parallel"(%c0, %c2, %c1) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
// CHECK-NEXT:      ^bb0(%d1: index):
// CHECK-NEXT:        %[[A:.*]] = memref.reinterpret_cast %a to offset: [0], sizes: [2, 64], strides: [64, 1] : memref<16x8xf32> to memref<2x64xf32>
// CHECK-NEXT:        %[[B:.*]] = memref.reinterpret_cast %b to offset: [0], sizes: [2, 64], strides: [64, 1] : memref<16x8xf32> to memref<2x64xf32>
// CHECK-NEXT:        scf.for %d2 = %c0 to %c64 step %c16 {
// CHECK-NEXT:          %[[LOAD:.*]] = vector.load %[[A]][%d1, %d2] : memref<2x64xf32>, vector<16xf32>
// CHECK-NEXT:          vector.store %[[LOAD]], %[[B]][%d1, %d2] : memref<2x64xf32>, vector<16xf32>
// CHECK-NEXT:        }
// CHECK-NEXT:        scf.reduce
// CHECK-NEXT:      }) : (index, index, index) -> ()
// CHECK-NEXT:      func.return
// CHECK-NEXT:    }
func.func @blocks(%a: memref<16x8xf32>, %b: memref<16x8xf32>) {
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%a : memref<16x8xf32>) outs(%b : memref<16x8xf32>) attrs = {schedule.nest = #schedule.nest<collapse = [[d0, d1]], loops = [d1 by 64 parallel, d1 by 16], vector = d1 x 16>} {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  }
  func.return
}

// Two vectors of partial sums, from what the fill writes.
// xla-update-checks: CHECK @sums
// CHECK-LABEL:   func.func @sums(%a: memref<4x64xf32>, %b: memref<4xf32>) {
// CHECK-NEXT:      %zero = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:      %c0 = arith.constant 0 : index
// CHECK-NEXT:      %c4 = arith.constant 4 : index
// CHECK-NEXT:      %c1 = arith.constant 1 : index
// CHECK-NEXT:      %[[CONSTANT:.*]] = arith.constant dense<-0.000000e+00> : vector<8xf32>
// CHECK-NEXT:      %c64 = arith.constant 64 : index
// CHECK-NEXT:      %c16 = arith.constant 16 : index
// CHECK-NEXT:      %c8 = arith.constant 8 : index
// CHECK-NEXT:      scf.for %d0 = %c0 to %c4 step %c1 {
// CHECK-NEXT:        %[[FOR:.*]], %[[FOR_1:.*]] = scf.for %d1 = %c0 to %c64 step %c16 iter_args(%[[ARG:.*]] = %[[CONSTANT]], %[[ARG_1:.*]] = %[[CONSTANT]]) -> (vector<8xf32>, vector<8xf32>) {
// CHECK-NEXT:          %[[ADDI:.*]] = arith.addi %d1, %c8 : index
// CHECK-NEXT:          %[[LOAD:.*]] = vector.load %a[%d0, %d1] : memref<4x64xf32>, vector<8xf32>
// CHECK-NEXT:          %[[ADDF:.*]] = arith.addf %[[ARG]], %[[LOAD]] : vector<8xf32>
// CHECK-NEXT:          %[[LOAD_1:.*]] = vector.load %a[%d0, %[[ADDI]]] : memref<4x64xf32>, vector<8xf32>
// CHECK-NEXT:          %[[ADDF_1:.*]] = arith.addf %[[ARG_1]], %[[LOAD_1]] : vector<8xf32>
// CHECK-NEXT:          scf.yield %[[ADDF]], %[[ADDF_1]] : vector<8xf32>, vector<8xf32>
// CHECK-NEXT:        }
// CHECK-NEXT:        %[[ADDF_2:.*]] = arith.addf %[[FOR]], %[[FOR_1]] : vector<8xf32>
// CHECK-NEXT:        %[[REDUCTION:.*]] = vector.reduction <add>, %[[ADDF_2]] fastmath<reassoc> : vector<8xf32> into f32
// CHECK-NEXT:        %[[ADDF_3:.*]] = arith.addf %zero, %[[REDUCTION]] : f32
// CHECK-NEXT:        memref.store %[[ADDF_3]], %b[%d0] : memref<4xf32>
// CHECK-NEXT:      }
// CHECK-NEXT:      func.return
// CHECK-NEXT:    }
func.func @sums(%a: memref<4x64xf32>, %b: memref<4xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%b : memref<4xf32>)
  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%a : memref<4x64xf32>) outs(%b : memref<4xf32>) attrs = {schedule.nest = #schedule.nest<loops = [d0, d1 by 16], vector = d1 x 8, fold_fills = [0]>} {
  ^bb0(%x: f32, %y: f32):
    %r = arith.addf %y, %x : f32
    linalg.yield %r : f32
  }
  func.return
}

// Panels of 8 columns, 16 columns at a time; a register tile of 2 rows.
// xla-update-checks: CHECK @packed
// CHECK-LABEL:   func.func @packed(%a: memref<6x4xf32>, %b: memref<4x32xf32>, %c: memref<6x32xf32>) {
// CHECK-NEXT:      %c0 = arith.constant 0 : index
// CHECK-NEXT:      %c2 = arith.constant 2 : index
// CHECK-NEXT:      %c1 = arith.constant 1 : index
// CHECK-NEXT:      %[[ALLOCA:.*]] = memref.alloca() {alignment = 64 : i64} : memref<2x4x8xf32>
// CHECK-NEXT:      %c4 = arith.constant 4 : index
// CHECK-NEXT:      %c16 = arith.constant 16 : index
// CHECK-NEXT:      %c8 = arith.constant 8 : index
// CHECK-NEXT:      %c6 = arith.constant 6 : index
// CHECK-NEXT:      scf.for %d1 = %c0 to %c2 step %c1 {
// CHECK-NEXT:        scf.for %d2 = %c0 to %c4 step %c1 {
// CHECK-NEXT:          scf.for %d3 = %c0 to %c2 step %c1 {
// CHECK-NEXT:            %[[MULI:.*]] = arith.muli %d1, %c16 : index
// CHECK-NEXT:            %[[MULI_1:.*]] = arith.muli %d3, %c8 : index
// CHECK-NEXT:            %[[ADDI:.*]] = arith.addi %[[MULI]], %[[MULI_1]] : index
// CHECK-NEXT:            %[[LOAD:.*]] = vector.load %b[%d2, %[[ADDI]]] : memref<4x32xf32>, vector<8xf32>
// CHECK-NEXT:            vector.store %[[LOAD]], %[[ALLOCA]][%d3, %d2, %c0] : memref<2x4x8xf32>, vector<8xf32>
// CHECK-NEXT:          }
// CHECK-NEXT:        }
// CHECK-NEXT:        scf.for %[[ARG:.*]] = %c0 to %c2 step %c1 {
// CHECK-NEXT:          scf.for %d0 = %c0 to %c6 step %c2 {
// CHECK-NEXT:            %[[ADDI_1:.*]] = arith.addi %d0, %c1 : index
// CHECK-NEXT:            %[[MULI_2:.*]] = arith.muli %d1, %c16 : index
// CHECK-NEXT:            %[[MULI_3:.*]] = arith.muli %[[ARG]], %c8 : index
// CHECK-NEXT:            %[[ADDI_2:.*]] = arith.addi %[[MULI_2]], %[[MULI_3]] : index
// CHECK-NEXT:            %[[LOAD_1:.*]] = vector.load %c[%d0, %[[ADDI_2]]] : memref<6x32xf32>, vector<8xf32>
// CHECK-NEXT:            %[[LOAD_2:.*]] = vector.load %c[%[[ADDI_1]], %[[ADDI_2]]] : memref<6x32xf32>, vector<8xf32>
// CHECK-NEXT:            %[[FOR:.*]], %[[FOR_1:.*]] = scf.for %[[ARG_1:.*]] = %c0 to %c4 step %c1 iter_args(%[[ARG_2:.*]] = %[[LOAD_1]], %[[ARG_3:.*]] = %[[LOAD_2]]) -> (vector<8xf32>, vector<8xf32>) {
// CHECK-NEXT:              %[[LOAD_3:.*]] = memref.load %a[%d0, %[[ARG_1]]] : memref<6x4xf32>
// CHECK-NEXT:              %[[BROADCAST:.*]] = vector.broadcast %[[LOAD_3]] : f32 to vector<8xf32>
// CHECK-NEXT:              %[[LOAD_4:.*]] = vector.load %[[ALLOCA]][%[[ARG]], %[[ARG_1]], %c0] : memref<2x4x8xf32>, vector<8xf32>
// CHECK-NEXT:              %[[FMA:.*]] = vector.fma %[[BROADCAST]], %[[LOAD_4]], %[[ARG_2]] : vector<8xf32>
// CHECK-NEXT:              %[[LOAD_5:.*]] = memref.load %a[%[[ADDI_1]], %[[ARG_1]]] : memref<6x4xf32>
// CHECK-NEXT:              %[[BROADCAST_1:.*]] = vector.broadcast %[[LOAD_5]] : f32 to vector<8xf32>
// CHECK-NEXT:              %[[FMA_1:.*]] = vector.fma %[[BROADCAST_1]], %[[LOAD_4]], %[[ARG_3]] : vector<8xf32>
// CHECK-NEXT:              scf.yield %[[FMA]], %[[FMA_1]] : vector<8xf32>, vector<8xf32>
// CHECK-NEXT:            }
// CHECK-NEXT:            vector.store %[[FOR]], %c[%d0, %[[ADDI_2]]] : memref<6x32xf32>, vector<8xf32>
// CHECK-NEXT:            vector.store %[[FOR_1]], %c[%[[ADDI_1]], %[[ADDI_2]]] : memref<6x32xf32>, vector<8xf32>
// CHECK-NEXT:          }
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:      func.return
// CHECK-NEXT:    }
func.func @packed(%a: memref<6x4xf32>, %b: memref<4x32xf32>, %c: memref<6x32xf32>) {
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : memref<6x4xf32>, memref<4x32xf32>) outs(%c : memref<6x32xf32>) attrs = {schedule.nest = #schedule.nest<loops = [d1 by 16, pack rhs {loops = [d2, d1 by 8], vector = d1 x 8}, d1 by 8, d0 by 2, d2], vector = d1 x 8>} {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %p = arith.mulf %x, %y : f32
    %r = arith.addf %sum, %p : f32
    linalg.yield %r : f32
  }
  func.return
}

// Pairs of products, and the last of nine terms by itself.
// xla-update-checks: CHECK @pairs
// CHECK-LABEL:   func.func @pairs(%a: memref<2x9xi8>, %b: memref<9x4xi8>, %c: memref<2x4xi32>) {
// CHECK-NEXT:      %c0 = arith.constant 0 : index
// CHECK-NEXT:      %c2 = arith.constant 2 : index
// CHECK-NEXT:      %c1 = arith.constant 1 : index
// CHECK-NEXT:      %c4 = arith.constant 4 : index
// CHECK-NEXT:      %[[CONSTANT:.*]] = arith.constant 16 : i32
// CHECK-NEXT:      %c8 = arith.constant 8 : index
// CHECK-NEXT:      scf.for %d0 = %c0 to %c2 step %c1 {
// CHECK-NEXT:        %[[LOAD:.*]] = vector.load %c[%d0, %c0] : memref<2x4xi32>, vector<4xi32>
// CHECK-NEXT:        %[[FOR:.*]] = scf.for %d2 = %c0 to %c4 step %c1 iter_args(%[[ARG:.*]] = %[[LOAD]]) -> (vector<4xi32>) {
// CHECK-NEXT:          %[[MULI:.*]] = arith.muli %d2, %c2 : index
// CHECK-NEXT:          %[[LOAD_1:.*]] = memref.load %a[%d0, %[[MULI]]] : memref<2x9xi8>
// CHECK-NEXT:          %[[LOAD_2:.*]] = vector.load %b[%[[MULI]], %c0] : memref<9x4xi8>, vector<4xi8>
// CHECK-NEXT:          %[[ADDI:.*]] = arith.addi %[[MULI]], %c1 : index
// CHECK-NEXT:          %[[LOAD_3:.*]] = memref.load %a[%d0, %[[ADDI]]] : memref<2x9xi8>
// CHECK-NEXT:          %[[LOAD_4:.*]] = vector.load %b[%[[ADDI]], %c0] : memref<9x4xi8>, vector<4xi8>
// CHECK-NEXT:          %[[EXTSI:.*]] = arith.extsi %[[LOAD_1]] : i8 to i16
// CHECK-NEXT:          %[[EXTSI_1:.*]] = arith.extsi %[[LOAD_3]] : i8 to i16
// CHECK-NEXT:          %[[EXTUI:.*]] = arith.extui %[[EXTSI]] : i16 to i32
// CHECK-NEXT:          %[[EXTUI_1:.*]] = arith.extui %[[EXTSI_1]] : i16 to i32
// CHECK-NEXT:          %[[SHLI:.*]] = arith.shli %[[EXTUI_1]], %[[CONSTANT]] : i32
// CHECK-NEXT:          %[[ORI:.*]] = arith.ori %[[EXTUI]], %[[SHLI]] : i32
// CHECK-NEXT:          %[[BROADCAST:.*]] = vector.broadcast %[[ORI]] : i32 to vector<4xi32>
// CHECK-NEXT:          %[[EXTSI_2:.*]] = arith.extsi %[[LOAD_2]] : vector<4xi8> to vector<4xi16>
// CHECK-NEXT:          %[[EXTSI_3:.*]] = arith.extsi %[[LOAD_4]] : vector<4xi8> to vector<4xi16>
// CHECK-NEXT:          %[[SHUFFLE:.*]] = vector.shuffle %[[EXTSI_2]], %[[EXTSI_3]] [0, 4, 1, 5, 2, 6, 3, 7] : vector<4xi16>, vector<4xi16>
// CHECK-NEXT:          %[[BITCAST:.*]] = vector.bitcast %[[SHUFFLE]] : vector<8xi16> to vector<4xi32>
// CHECK-NEXT:          %[[BITCAST_1:.*]] = vector.bitcast %[[BROADCAST]] : vector<4xi32> to vector<8xi16>
// CHECK-NEXT:          %[[EXTSI_4:.*]] = arith.extsi %[[BITCAST_1]] : vector<8xi16> to vector<8xi32>
// CHECK-NEXT:          %[[BITCAST_2:.*]] = vector.bitcast %[[BITCAST]] : vector<4xi32> to vector<8xi16>
// CHECK-NEXT:          %[[EXTSI_5:.*]] = arith.extsi %[[BITCAST_2]] : vector<8xi16> to vector<8xi32>
// CHECK-NEXT:          %[[MULI_1:.*]] = arith.muli %[[EXTSI_4]], %[[EXTSI_5]] : vector<8xi32>
// CHECK-NEXT:          %[[SHUFFLE_1:.*]] = vector.shuffle %[[MULI_1]], %[[MULI_1]] [0, 2, 4, 6] : vector<8xi32>, vector<8xi32>
// CHECK-NEXT:          %[[SHUFFLE_2:.*]] = vector.shuffle %[[MULI_1]], %[[MULI_1]] [1, 3, 5, 7] : vector<8xi32>, vector<8xi32>
// CHECK-NEXT:          %[[ADDI_1:.*]] = arith.addi %[[SHUFFLE_1]], %[[SHUFFLE_2]] : vector<4xi32>
// CHECK-NEXT:          %[[ADDI_2:.*]] = arith.addi %[[ARG]], %[[ADDI_1]] : vector<4xi32>
// CHECK-NEXT:          scf.yield %[[ADDI_2]] : vector<4xi32>
// CHECK-NEXT:        }
// CHECK-NEXT:        vector.store %[[FOR]], %c[%d0, %c0] : memref<2x4xi32>, vector<4xi32>
// CHECK-NEXT:      }
// CHECK-NEXT:      scf.for %[[ARG_1:.*]] = %c0 to %c2 step %c1 {
// CHECK-NEXT:        %[[LOAD_5:.*]] = memref.load %a[%[[ARG_1]], %c8] : memref<2x9xi8>
// CHECK-NEXT:        %[[EXTSI_6:.*]] = arith.extsi %[[LOAD_5]] : i8 to i32
// CHECK-NEXT:        scf.for %d1 = %c0 to %c4 step %c1 {
// CHECK-NEXT:          %[[LOAD_6:.*]] = memref.load %b[%c8, %d1] : memref<9x4xi8>
// CHECK-NEXT:          %[[LOAD_7:.*]] = memref.load %c[%[[ARG_1]], %d1] : memref<2x4xi32>
// CHECK-NEXT:          %[[EXTSI_7:.*]] = arith.extsi %[[LOAD_6]] : i8 to i32
// CHECK-NEXT:          %[[MULI_2:.*]] = arith.muli %[[EXTSI_6]], %[[EXTSI_7]] : i32
// CHECK-NEXT:          %[[ADDI_3:.*]] = arith.addi %[[LOAD_7]], %[[MULI_2]] : i32
// CHECK-NEXT:          memref.store %[[ADDI_3]], %c[%[[ARG_1]], %d1] : memref<2x4xi32>
// CHECK-NEXT:        }
// CHECK-NEXT:      }
// CHECK-NEXT:      func.return
// CHECK-NEXT:    }
func.func @pairs(%a: memref<2x9xi8>, %b: memref<9x4xi8>, %c: memref<2x4xi32>) {
  linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : memref<2x9xi8>, memref<9x4xi8>) outs(%c : memref<2x4xi32>) attrs = {schedule.nest = #schedule.nest<pairs = d2, loops = [d0, d1 by 4, d2], vector = d1 x 4, odd = {loops = [d0, d1]}>} {
  ^bb0(%x: i8, %y: i8, %sum: i32):
    %v = arith.extsi %x : i8 to i32
    %w = arith.extsi %y : i8 to i32
    %p = arith.muli %v, %w : i32
    %r = arith.addi %sum, %p : i32
    linalg.yield %r : i32
  }
  func.return
}
// TEXT: pairs = d2, loops = [d0, d1 by 4, d2], vector = d1 x 4, odd = {loops = [d0, d1]}
