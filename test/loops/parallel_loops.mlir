// RUN: xla-opt %s -p "xla-plan-schedules{parallel-microseconds=0},convert-linalg-to-vector-loops" | filecheck %s
// RUN: xla-opt %s -p "xla-plan-schedules{parallel-microseconds=0},convert-linalg-to-vector-loops" | xla-opt -f mlir - | filecheck %s
// RUN: xla-opt %s -p "xla-plan-schedules,convert-linalg-to-vector-loops" | filecheck %s --check-prefix=USUAL
// RUN: xla-opt %s -p "xla-plan-schedules{parallel-microseconds=-1},convert-linalg-to-vector-loops" | filecheck %s --check-prefix=NEVER

// NEVER-NOT: scf.parallel

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#column = affine_map<(d0, d1) -> (d1)>
#turned = affine_map<(d0, d1) -> (d1, d0)>

// Whole vectors are shared; the shorter one at the end is not.
// CHECK-LABEL: func.func @dense
// CHECK:         "scf.parallel"(%c0, %c400, %c16) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
// CHECK-NEXT:    ^bb0(%d1: index):
// CHECK-NEXT:      vector.load
// CHECK-NEXT:      arith.mulf
// CHECK-NEXT:      vector.store
// CHECK-NEXT:      scf.reduce
// CHECK-NEXT:    }) : (index, index, index) -> ()
// CHECK-NEXT:    vector.load %{{.*}}[%c400] : memref<404xf32>, vector<4xf32>
// USUAL-LABEL: func.func @dense
// USUAL-NOT:     scf.parallel
// USUAL-LABEL: func.func @sums_of_rows
func.func @dense(%a: memref<4x101xf32>, %b: memref<4x101xf32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<4x101xf32>) outs(%b : memref<4x101xf32>) {
  ^bb0(%x: f32, %y: f32):
    %0 = arith.mulf %x, %x : f32
    linalg.yield %0 : f32
  }
  func.return
}

// Rows are, not what folds one.
// CHECK-LABEL: func.func @sums_of_rows
// CHECK:         "scf.parallel"(%c0, %c40, %c1)
// CHECK-NEXT:    ^bb0(%d0: index):
// CHECK:           vector.load
// CHECK:           vector.reduction
// CHECK-NOT:     scf.parallel
func.func @sums_of_rows(%a: memref<40x96xf32>, %b: memref<40xf32>) {
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : memref<40x96xf32>) outs(%b : memref<40xf32>) {
  ^bb0(%x: f32, %y: f32):
    %0 = arith.addf %y, %x : f32
    linalg.yield %0 : f32
  }
  func.return
}

// Sums that run along the rows: blocks of columns are shared, what is left over is not.
// CHECK-LABEL: func.func @sums_of_columns
// CHECK:         "scf.parallel"(%c0, %c2, %c1)
// CHECK-NEXT:    ^bb0(%[[BLOCK:.*]]: index):
// CHECK:           scf.for %d0 = %c0 to %c32 step %c8
// CHECK:             scf.for %{{.*}} = %c0 to %c2048 step %c16
// CHECK:         scf.for %d0{{.*}} = %c0 to %c32 step %c8
// CHECK-NOT:     scf.parallel
func.func @sums_of_columns(%a: memref<32x4100xf32>, %b: memref<4100xf32>) {
  linalg.generic {indexing_maps = [#id, #column], iterator_types = ["reduction", "parallel"]}
      ins(%a : memref<32x4100xf32>) outs(%b : memref<4100xf32>) {
  ^bb0(%x: f32, %y: f32):
    %0 = arith.addf %y, %x : f32
    linalg.yield %0 : f32
  }
  func.return
}

// What is read at another place than it is written to keeps its order.
// CHECK-LABEL: func.func @turned_in_place
// CHECK-NOT:     scf.parallel
func.func @turned_in_place(%a: memref<64x64xf32>) {
  linalg.generic {indexing_maps = [#turned, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<64x64xf32>) outs(%a : memref<64x64xf32>) {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  }
  func.return
}

// So does what the body itself loads from where it is written to.
// CHECK-LABEL: func.func @loads_its_output
// CHECK-NOT:     scf.parallel
func.func @loads_its_output(%n: memref<64xindex>, %a: memref<64xf32>) {
  linalg.generic {
      indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]}
      ins(%n : memref<64xindex>) outs(%a : memref<64xf32>) {
  ^bb0(%i: index, %y: f32):
    %0 = memref.load %a[%i] : memref<64xf32>
    linalg.yield %0 : f32
  }
  func.return
}

// What each thread packs is in memory of its own.
// CHECK-LABEL: func.func @packed
// CHECK-NOT:     memref.alloca
// CHECK:         "scf.parallel"(%c0, %c{{[0-9]+}}, %c1)
// CHECK-NEXT:    ^bb0(%{{.*}}: index):
// CHECK-NEXT:      memref.alloca
// Work of milliseconds is shared by default.
// USUAL-LABEL: func.func @packed
// USUAL:         "scf.parallel"
func.func @packed(%a: memref<512x1024xf32>, %b: memref<1024x1024xf32>, %c: memref<512x1024xf32>) {
  linalg.generic {
      indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>,
                       affine_map<(d0, d1, d2) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<512x1024xf32>, memref<1024x1024xf32>) outs(%c : memref<512x1024xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %z, %0 : f32
    linalg.yield %1 : f32
  }
  func.return
}

// Of two matrices the rows are shared, of sixty-four the matrices.
// CHECK-LABEL: func.func @two
// CHECK:         scf.for %d0 = %c0 to %c2
// CHECK-NEXT:      "scf.parallel"(%c0, %c33, %c1)
// CHECK-LABEL: func.func @many
// CHECK:         "scf.parallel"(%c0, %c64, %c1)
// CHECK-NEXT:    ^bb0(%d0: index):
// CHECK-NEXT:      scf.for %d1
func.func @two(%a: memref<2x33x40xf32>, %b: memref<33x2x40xf32>) {
  linalg.generic {
      indexing_maps = [affine_map<(d0, d1, d2) -> (d1, d0, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%b : memref<33x2x40xf32>) outs(%a : memref<2x33x40xf32>) {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  }
  func.return
}
func.func @many(%a: memref<64x33x40xf32>, %b: memref<33x64x40xf32>) {
  linalg.generic {
      indexing_maps = [affine_map<(d0, d1, d2) -> (d1, d0, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%b : memref<33x64x40xf32>) outs(%a : memref<64x33x40xf32>) {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  }
  func.return
}

// Whoever wrote this loop says that its iterations are independent, and take a while.
// CHECK-LABEL: func.func @promised
// CHECK:         "scf.parallel"(%zero, %four, %one)
// CHECK-NEXT:    ^bb0(%i: index):
// CHECK-NEXT:      memref.store %x, %a[%i]
// CHECK-NEXT:      scf.reduce
// USUAL-LABEL: func.func @promised
// USUAL-NOT:     scf.parallel
// USUAL:         scf.for %i
func.func @promised(%x: f32, %a: memref<4xf32>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %four = arith.constant 4 : index
  scf.for %i = %zero to %four step %one {
    memref.store %x, %a[%i] : memref<4xf32>
  } {xla.independent_microseconds = 4 : i64}
  func.return
}
