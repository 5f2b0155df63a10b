// RUN: xla-opt %s -p "xla-plan-schedules,convert-linalg-to-vector-loops" | filecheck %s
// RUN: xla-opt %s -p "xla-plan-schedules,convert-linalg-to-vector-loops" | xla-opt -f mlir - | filecheck %s

// CHECK-LABEL: func.func @fill
// CHECK:         %[[V:.*]] = vector.broadcast %x : f32 to vector<16xf32>
// CHECK-NEXT:    scf.for %d1 = %c0 to %c96 step %c16 {
// CHECK-NEXT:      vector.store %[[V]]
func.func @fill(%x: f32, %a: memref<3x33xf32>) {
  linalg.fill ins(%x : f32) outs(%a : memref<3x33xf32>)
  func.return
}

// Part of an array, at an offset known at run time: its rows are apart, its planes are not.
// CHECK-LABEL: func.func @slice
// CHECK:         %[[START:[0-9]+]], %[[OFFSET:[0-9]+]], {{.*}} = memref.extract_strided_metadata %{{.*}} : memref<2x4x8xf32, strided<[128, 8, 1], offset: ?>> -> memref<f32>, index, index, index, index, index, index, index
// CHECK-NEXT:    memref.reinterpret_cast %[[START]] to offset: {{\[}}%[[OFFSET]]{{\]}}, sizes: [2, 32], strides: [128, 1] : memref<f32> to memref<2x32xf32, strided<[128, 1], offset: ?>>
// CHECK:         scf.for %d0 = %c0 to %c2 step %c1 {
// CHECK-NEXT:      scf.for %d2 = %c0 to %c32 step %c16 {
// CHECK-NEXT:        vector.load %{{.*}}[%d0, %d2] : memref<2x32xf32, strided<[128, 1], offset: ?>>, vector<16xf32>
func.func @slice(%a: memref<2x16x8xf32>, %i: index, %b: memref<2x4x8xf32>) {
  %0 = memref.subview %a[0, %i, 0] [2, 4, 8] [1, 1, 1] : memref<2x16x8xf32> to memref<2x4x8xf32, strided<[128, 8, 1], offset: ?>>
  "memref.copy"(%0, %b) : (memref<2x4x8xf32, strided<[128, 8, 1], offset: ?>>, memref<2x4x8xf32>) -> ()
  func.return
}

// Blocks of 16 by 16 are read row by row, turned in registers, and written row by row.
// CHECK-LABEL: func.func @transpose
// CHECK-NOT:     reinterpret_cast
// CHECK:         scf.for %[[J:.*]] = %c0 to %c32 step %c16 {
// CHECK:           scf.for %[[I:.*]] = %c0 to %c64 step %c16 {
// CHECK-COUNT-16:    vector.load %a[%{{.*}}, %[[I]]] : memref<32x64xf32>, vector<16xf32>
// CHECK-COUNT-64:    vector.shuffle
// CHECK-COUNT-16:    vector.store %{{.*}}, %b[%{{.*}}, %[[J]]] : memref<64x32xf32>, vector<16xf32>
func.func @transpose(%a: memref<32x64xf32>, %b: memref<64x32xf32>) {
  linalg.generic {
      indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<32x64xf32>) outs(%b : memref<64x32xf32>) {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  }
  func.return
}

// Of a part whose offset is known at run time as well. What is no block is read one by one.
// CHECK-LABEL: func.func @transpose_slice
// CHECK:         %[[A:.*]] = memref.subview
// CHECK:         scf.for %[[I:.*]] = %c0 to %c32 step %c16 {
// CHECK-COUNT-16:  vector.load %[[A]][%{{.*}}, %[[I]]] : memref<24x35xf32, strided<[35, 1], offset: ?>>, vector<16xf32>
// CHECK-COUNT-64:  vector.shuffle
// CHECK:           vector.store
// CHECK:         memref.load %[[A]]
// CHECK-NEXT:    vector.insert %{{.*}}, %{{.*}}[0] : f32 into vector<16xf32>
// CHECK-NOT:     vector.gather
// CHECK:         func.return
func.func @transpose_slice(%a: memref<99x35xf32>, %i: index, %b: memref<35x24xf32>) {
  %0 = memref.subview %a[%i, 0] [24, 35] [1, 1] : memref<99x35xf32> to memref<24x35xf32, strided<[35, 1], offset: ?>>
  linalg.generic {
      indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%0 : memref<24x35xf32, strided<[35, 1], offset: ?>>) outs(%b : memref<35x24xf32>) {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  }
  func.return
}

// Blocks of 8 by 8, which leave no edges.
// CHECK-LABEL: func.func @transpose_in_smaller_blocks
// CHECK:         scf.for %[[J:.*]] = %c0 to %c40 step %c8 {
// CHECK:           scf.for %[[I:.*]] = %c0 to %c56 step %c8 {
// CHECK-COUNT-8:     vector.load %a[%{{.*}}, %[[I]]] : memref<40x56xf32>, vector<8xf32>
// CHECK-COUNT-24:    vector.shuffle
// CHECK-COUNT-8:     vector.store %{{.*}}, %b[%{{.*}}, %[[J]]] : memref<56x40xf32>, vector<8xf32>
// CHECK-NOT:     vector.
// CHECK:         func.return
func.func @transpose_in_smaller_blocks(%a: memref<40x56xf32>, %b: memref<56x40xf32>) {
  linalg.generic {
      indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<40x56xf32>) outs(%b : memref<56x40xf32>) {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  }
  func.return
}

// Every second element: two vectors that end with the last one, from a view without gaps.
// CHECK-LABEL: func.func @every_second
// CHECK:         %[[V:.*]] = memref.reinterpret_cast %a to offset: [1], sizes: [63], strides: [1]
// CHECK:         scf.for %d0 = %c0 to %c32 step %c16 {
// CHECK-NEXT:      %[[I:.*]] = arith.muli %d0, %c2 : index
// CHECK-NEXT:      %[[LOW:.*]] = vector.load %[[V]][%[[I]]] : memref<63xf32, strided<[1], offset: 1>>, vector<16xf32>
// CHECK-NEXT:      %[[J:.*]] = arith.addi %[[I]], %c15 : index
// CHECK-NEXT:      %[[HIGH:.*]] = vector.load %[[V]][%[[J]]] : memref<63xf32, strided<[1], offset: 1>>, vector<16xf32>
// CHECK-NEXT:      vector.shuffle %[[LOW]], %[[HIGH]] [0, 2, 4, 6, 8, 10, 12, 14, 17, 19, 21, 23, 25, 27, 29, 31]
func.func @every_second(%a: memref<64xf32>, %b: memref<32xf32>) {
  linalg.generic {
      indexing_maps = [affine_map<(d0) -> (d0 * 2 + 1)>, affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]}
      ins(%a : memref<64xf32>) outs(%b : memref<32xf32>) {
  ^bb0(%x: f32, %y: f32):
    %0 = math.sqrt %x : f32
    %1 = math.exp %0 : f32
    linalg.yield %1 : f32
  }
  func.return
}

// Elements side by side: as many vectors as there are channels, taken apart.
// CHECK-LABEL: func.func @channels
// CHECK:         %[[V:.*]] = memref.reinterpret_cast %a to offset: [0], sizes: [64], strides: [1]
// CHECK:         scf.for %d0 = %c0 to %c32 step %c16 {
// CHECK-NEXT:      %[[I:.*]] = arith.muli %d0, %c2 : index
// CHECK-NEXT:      %[[FIRST:.*]] = vector.load %[[V]][%[[I]]] : memref<64xf32>, vector<16xf32>
// CHECK-NEXT:      %[[J:.*]] = arith.addi %[[I]], %c16 : index
// CHECK-NEXT:      %[[LAST:.*]] = vector.load %[[V]][%[[J]]] : memref<64xf32>, vector<16xf32>
// CHECK-NEXT:      vector.shuffle %[[FIRST]], %[[LAST]] [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30]
// CHECK-NEXT:      vector.shuffle %[[FIRST]], %[[LAST]] [1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31]
func.func @channels(%a: memref<32x2xf32>, %b: memref<32xf32>) {
  linalg.generic {
      indexing_maps = [affine_map<(d0) -> (d0, 0)>, affine_map<(d0) -> (d0, 1)>, affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]}
      ins(%a, %a : memref<32x2xf32>, memref<32x2xf32>) outs(%b : memref<32xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %0 = arith.mulf %x, %y : f32
    linalg.yield %0 : f32
  }
  func.return
}

// Every third element: one by one, without a view.
// CHECK-LABEL: func.func @every_third
// CHECK-NOT:     reinterpret_cast
// CHECK:         scf.for %d0 = %c0 to %c32 step %c16 {
// CHECK-NEXT:      %[[I:.*]] = arith.muli %d0, %c3 : index
// CHECK-NEXT:      %[[J:.*]] = arith.addi %[[I]], %c1 : index
// CHECK-NEXT:      %[[X:.*]] = memref.load %a[%[[J]]] : memref<96xf32>
// CHECK-NEXT:      vector.insert %[[X]], %{{.*}} [0] : f32 into vector<16xf32>
// CHECK-NEXT:      %[[SECOND:.*]] = arith.addi %[[I]], %c4 : index
// CHECK-NEXT:      memref.load %a[%[[SECOND]]]
func.func @every_third(%a: memref<96xf32>, %b: memref<32xf32>) {
  linalg.generic {
      indexing_maps = [affine_map<(d0) -> (d0 * 3 + 1)>, affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]}
      ins(%a : memref<96xf32>) outs(%b : memref<32xf32>) {
  ^bb0(%x: f32, %y: f32):
    %0 = math.sqrt %x : f32
    %1 = math.exp %0 : f32
    linalg.yield %1 : f32
  }
  func.return
}
