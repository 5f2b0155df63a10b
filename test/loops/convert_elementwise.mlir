// RUN: xla-opt %s -p "xla-plan-schedules,convert-linalg-to-vector-loops" | filecheck %s
// RUN: xla-opt %s -p "xla-plan-schedules,convert-linalg-to-vector-loops" | xla-opt -f mlir - | filecheck %s
// RUN: xla-opt %s -p "xla-plan-schedules{vector-bits=0},convert-linalg-to-vector-loops" | filecheck %s --check-prefix=SCALAR

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// Dense dimensions run as one loop; what is left over is a shorter vector.
// CHECK-LABEL: func.func @dense
// CHECK:         %[[A:.*]] = memref.reinterpret_cast %a to offset: [0], sizes: [404], strides: [1] : memref<4x101xf32> to memref<404xf32>
// CHECK:         %[[B:.*]] = memref.reinterpret_cast %b
// CHECK:         scf.for %d1 = %c0 to %c400 step %c16 {
// CHECK-NEXT:      %[[X:.*]] = vector.load %[[A]][%d1] : memref<404xf32>, vector<16xf32>
// CHECK-NEXT:      %[[Y:.*]] = arith.mulf %[[X]], %[[X]] : vector<16xf32>
// CHECK-NEXT:      vector.store %[[Y]], %[[B]][%d1] : memref<404xf32>, vector<16xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    %[[X:.*]] = vector.load %[[A]][%c400] : memref<404xf32>, vector<4xf32>
// CHECK-NEXT:    %[[Y:.*]] = arith.mulf %[[X]], %[[X]] : vector<4xf32>
// CHECK-NEXT:    vector.store %[[Y]], %[[B]][%c400] : memref<404xf32>, vector<4xf32>
// CHECK-NEXT:    func.return
// SCALAR-LABEL: func.func @dense
// SCALAR:         scf.for %d1 = %c0 to %c404 step %c1 {
// SCALAR-NEXT:      memref.load
// SCALAR-NEXT:      arith.mulf {{.*}} : f32
// SCALAR-NEXT:      memref.store
func.func @dense(%a: memref<4x101xf32>, %b: memref<4x101xf32>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<4x101xf32>) outs(%b : memref<4x101xf32>) {
  ^bb0(%x: f32, %y: f32):
    %0 = arith.mulf %x, %x : f32
    linalg.yield %0 : f32
  }
  func.return
}

// Memory that is transposed alike is walked in the order it lies in.
// CHECK-LABEL: func.func @column_major
// CHECK:         memref.reinterpret_cast %a to offset: [0], sizes: [32], strides: [1]
// CHECK:         scf.for %{{.*}} = %c0 to %c32 step %c16
func.func @column_major(%a: memref<4x8xf32, strided<[1, 4]>>, %b: memref<4x8xf32, strided<[1, 4]>>) {
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<4x8xf32, strided<[1, 4]>>) outs(%b : memref<4x8xf32, strided<[1, 4]>>) {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  }
  func.return
}

// What a row has in common is computed once for the row; indices grow from lane to lane.
// CHECK-LABEL: func.func @causal
// CHECK:         scf.for %d0 = %c0 to %c4 step %c1 {
// CHECK-NEXT:      %[[M:.*]] = memref.load %m[%d0] : memref<4xf32>
// CHECK-NEXT:      vector.broadcast %[[M]] : f32 to vector<16xf32>
// CHECK:           %[[I:.*]] = arith.index_cast %d0 : index to i32
// CHECK:           scf.for %d1 = %c0 to %c32 step %c16 {
// CHECK:             %[[J:.*]] = arith.index_cast %d1 : index to i32
// CHECK-NEXT:        %[[JS:.*]] = vector.broadcast %[[J]] : i32 to vector<16xi32>
// CHECK-NEXT:        %[[JL:.*]] = arith.addi %[[JS]], %{{.*}} : vector<16xi32>
// CHECK-NEXT:        arith.cmpi sge, %{{.*}}, %[[JL]] : vector<16xi32>
// CHECK:             arith.select {{.*}} : vector<16xi1>, vector<16xf32>
func.func @causal(%a: memref<4x32xf32>, %m: memref<4xf32>, %b: memref<4x32xf32>) {
  %low = arith.constant -1.0e9 : f32
  linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a, %m : memref<4x32xf32>, memref<4xf32>) outs(%b : memref<4x32xf32>) {
  ^bb0(%x: f32, %max: f32, %y: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %i32 = arith.index_cast %i : index to i32
    %j32 = arith.index_cast %j : index to i32
    %seen = arith.cmpi sge, %i32, %j32 : i32
    %0 = arith.subf %x, %max : f32
    %1 = arith.select %seen, %0, %low : f32
    linalg.yield %1 : f32
  }
  func.return
}

// A row is looked up at an index from memory and copied in vectors.
// CHECK-LABEL: func.func @embedding
// CHECK:         scf.for %d0 = %c0 to %c6 step %c1 {
// CHECK-NEXT:      %[[T:.*]] = memref.load %tokens[%d0]
// CHECK-NEXT:      %[[R:.*]] = arith.index_cast %[[T]] : i32 to index
// CHECK:           scf.for %d1 = %c0 to %c64 step %c16 {
// CHECK-NEXT:        %[[E:.*]] = vector.load %table[%[[R]], %d1] : memref<100x64xf32>, vector<16xf32>
// CHECK-NEXT:        vector.store %[[E]], %b[%d0, %d1]
func.func @embedding(%tokens: memref<6xi32>, %table: memref<100x64xf32>, %b: memref<6x64xf32>) {
  linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%tokens : memref<6xi32>) outs(%b : memref<6x64xf32>) {
  ^bb0(%token: i32, %y: f32):
    %row = arith.index_cast %token : i32 to index
    %column = linalg.index 1 : index
    %0 = memref.load %table[%row, %column] : memref<100x64xf32>
    linalg.yield %0 : f32
  }
  func.return
}

// Elements are looked up by two indices: the table is one row for the vectors.
// CHECK-LABEL: func.func @elements
// CHECK:           %[[I:.*]] = arith.index_cast %{{.*}} : vector<16xindex> to vector<16xi32>
// CHECK-NEXT:      %[[J:.*]] = arith.index_cast %{{.*}} : vector<16xindex> to vector<16xi32>
// CHECK-NEXT:      %[[P:.*]] = arith.muli %[[I]], %{{.*}} : vector<16xi32>
// CHECK-NEXT:      %[[D:.*]] = arith.addi %[[P]], %[[J]] : vector<16xi32>
// CHECK-NEXT:      %[[ROW:.*]] = memref.reinterpret_cast %table to offset: [0], sizes: [6400], strides: [1]
// CHECK-NEXT:      vector.gather %[[ROW]][%c0] [%[[D]]]
func.func @elements(
    %is: memref<48xi32>, %js: memref<48xi32>, %table: memref<100x64xf32>, %b: memref<48xf32>) {
  linalg.generic {
      indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]}
      ins(%is, %js : memref<48xi32>, memref<48xi32>) outs(%b : memref<48xf32>) {
  ^bb0(%i32: i32, %j32: i32, %y: f32):
    %i = arith.index_cast %i32 : i32 to index
    %j = arith.index_cast %j32 : i32 to index
    %0 = memref.load %table[%i, %j] : memref<100x64xf32>
    linalg.yield %0 : f32
  }
  func.return
}

// Backwards through memory: vectors from the other end, turned round.
// CHECK-LABEL: func.func @reverse
// CHECK:         scf.for %d0 = %c0 to %c32 step %c16 {
// CHECK-NEXT:      %[[N:.*]] = arith.muli %d0, %cm1 : index
// CHECK-NEXT:      %[[P:.*]] = arith.addi %[[N]], %c21 : index
// CHECK-NEXT:      %[[V:.*]] = vector.load %a[%[[P]]]
// CHECK-NEXT:      vector.shuffle %[[V]], %[[V]] [15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]
// CHECK:         vector.load %a[%c0] : memref<37xf32>, vector<5xf32>
func.func @reverse(%a: memref<37xf32>, %b: memref<37xf32>) {
  linalg.generic {
      indexing_maps = [affine_map<(d0) -> (-d0 + 36)>, affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]}
      ins(%a : memref<37xf32>) outs(%b : memref<37xf32>) {
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  }
  func.return
}

// Elements of different widths: as many lanes as the widest allows.
// CHECK-LABEL: func.func @widen
// CHECK:         vector.load %{{.*}} : memref<64xi8>, vector<16xi8>
// CHECK-NEXT:    arith.sitofp %{{.*}} : vector<16xi8> to vector<16xf32>
func.func @widen(%a: memref<64xi8>, %b: memref<64xf32>) {
  linalg.generic {
      indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]}
      ins(%a : memref<64xi8>) outs(%b : memref<64xf32>) {
  ^bb0(%x: i8, %y: f32):
    %0 = arith.sitofp %x : i8 to f32
    linalg.yield %0 : f32
  }
  func.return
}

// Complex numbers are twice as many reals.
// CHECK-LABEL: func.func @complex
// CHECK:         %[[A:.*]] = builtin.unrealized_conversion_cast %a : memref<5xcomplex<f32>> to memref<10xf32>
// CHECK:         %[[X:.*]] = vector.load %[[A]][%c0] : memref<10xf32>, vector<10xf32>
// CHECK-NEXT:    vector.store %[[X]], %{{.*}}[%c0] : memref<10xf32>, vector<10xf32>
func.func @complex(%a: memref<5xcomplex<f32>>, %b: memref<5xcomplex<f32>>) {
  linalg.generic {
      indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]}
      ins(%a : memref<5xcomplex<f32>>) outs(%b : memref<5xcomplex<f32>>) {
  ^bb0(%x: complex<f32>, %y: complex<f32>):
    linalg.yield %x : complex<f32>
  }
  func.return
}

// CHECK-LABEL: func.func @scalar
// CHECK-NEXT:    %[[X:.*]] = memref.load %a[] : memref<f32>
// CHECK-NEXT:    %[[Y:.*]] = arith.negf %[[X]] : f32
// CHECK-NEXT:    memref.store %[[Y]], %b[] : memref<f32>
// CHECK-NEXT:    func.return
func.func @scalar(%a: memref<f32>, %b: memref<f32>) {
  linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []}
      ins(%a : memref<f32>) outs(%b : memref<f32>) {
  ^bb0(%x: f32, %y: f32):
    %0 = arith.negf %x : f32
    linalg.yield %0 : f32
  }
  func.return
}

// CHECK-LABEL: func.func @nothing
// CHECK-NEXT:    func.return
func.func @nothing(%a: memref<4x0xf32>, %b: memref<4x0xf32>) {
  "memref.copy"(%a, %b) : (memref<4x0xf32>, memref<4x0xf32>) -> ()
  func.return
}
