// RUN: xla-opt %s -p "xla-plan-schedules,convert-linalg-to-vector-loops" | filecheck %s
// RUN: xla-opt %s -p "xla-plan-schedules,convert-linalg-to-vector-loops" | xla-opt -f mlir - | filecheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#column = affine_map<(d0, d1) -> (d1)>

// Along the row in vectors, several at a time; the fill becomes the initial value.
// CHECK-LABEL: func.func @row_sums
// CHECK:         scf.for %d0 = %c0 to %c8 step %c1 {
// CHECK-NEXT:      %[[S0:.*]], %[[S1:.*]], %[[S2:.*]], %[[S3:.*]] = scf.for %d1 = %c0 to %c256 step %c64 iter_args(%[[P0:.*]] = %0, %{{.*}} = %0, %{{.*}} = %0, %{{.*}} = %0)
// CHECK:             %[[X0:.*]] = vector.load %a[%d0, %d1] : memref<8x256xf32>, vector<16xf32>
// CHECK-NEXT:        arith.addf %[[P0]], %[[X0]] : vector<16xf32>
// CHECK:             scf.yield
// CHECK:           arith.addf %[[S0]], %[[S1]] : vector<16xf32>
// CHECK-NEXT:      arith.addf %[[S2]], %[[S3]] : vector<16xf32>
// CHECK-NEXT:      %[[V:.*]] = arith.addf
// CHECK-NEXT:      %[[R:.*]] = vector.reduction <add>, %[[V]] fastmath<reassoc> : vector<16xf32> into f32
// CHECK-NEXT:      %[[SUM:.*]] = arith.addf %zero, %[[R]] : f32
// CHECK-NEXT:      memref.store %[[SUM]], %b[%d0] : memref<8xf32>
func.func @row_sums(%a: memref<8x256xf32>, %b: memref<8xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%b : memref<8xf32>)
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : memref<8x256xf32>) outs(%b : memref<8xf32>) {
  ^bb0(%x: f32, %sum: f32):
    %0 = arith.addf %sum, %x : f32
    linalg.yield %0 : f32
  }
  func.return
}

// A row that is no multiple of the vectors: a shorter vector of partial results of its own.
// CHECK-LABEL: func.func @short_rows
// CHECK:         vector.reduction <maximumf>, %{{.*}} fastmath<reassoc> : vector<16xf32> into f32
// CHECK:         vector.reduction <maximumf>, %{{.*}} fastmath<reassoc> : vector<4xf32> into f32
func.func @short_rows(%a: memref<8x20xf32>, %b: memref<8xf32>) {
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : memref<8x20xf32>) outs(%b : memref<8xf32>) {
  ^bb0(%x: f32, %max: f32):
    %0 = arith.maximumf %max, %x : f32
    linalg.yield %0 : f32
  }
  func.return
}

// What a tile of rows folds into one element is folded in pairs first: one step waits for the last.
// CHECK-LABEL: func.func @maxima_of_columns
// CHECK:         scf.for {{.*}} iter_args(%[[P:.*]] = %{{.*}}, %{{.*}} = %{{.*}})
// CHECK-COUNT-4:   arith.maximumf
// CHECK-NEXT:      arith.maximumf %[[P]], %{{.*}} : vector<16xf32>
func.func @maxima_of_columns(%a: memref<512x32xf32>, %b: memref<32xf32>) {
  linalg.generic {indexing_maps = [#id, #column], iterator_types = ["reduction", "parallel"]}
      ins(%a : memref<512x32xf32>) outs(%b : memref<32xf32>) {
  ^bb0(%x: f32, %max: f32):
    %0 = arith.maximumf %max, %x : f32
    linalg.yield %0 : f32
  }
  func.return
}

// Down the columns of something small: all rows for one group of columns.
// CHECK-LABEL: func.func @small_columns
// CHECK:         scf.for %d1 = %c0 to %c128 step %c64 {
// CHECK:           scf.for %d0 = %c0 to %c8 step %c1 iter_args(
// CHECK-NEXT:        vector.load %a[%d0, %d1]
func.func @small_columns(%a: memref<8x128xf32>, %b: memref<128xf32>) {
  linalg.generic {indexing_maps = [#id, #column], iterator_types = ["reduction", "parallel"]}
      ins(%a : memref<8x128xf32>) outs(%b : memref<128xf32>) {
  ^bb0(%x: f32, %max: f32):
    %0 = arith.maximumf %max, %x : f32
    linalg.yield %0 : f32
  }
  func.return
}

// Down the columns of something large: several rows at a time, along the row. What the sums start
// from must then be in memory, and so by how much they are too large.
// CHECK-LABEL: func.func @large_columns
// CHECK:         %[[EXCESS:.*]] = memref.alloca() {alignment = 64 : i64} : memref<1024xf32>
// CHECK:         scf.for %{{.*}} = %c0 to %c1024 step %c16 {
// CHECK-NEXT:      vector.store %{{.*}}, %b
// CHECK:         scf.for %{{.*}} = %c0 to %c1024 step %c16 {
// CHECK-NEXT:      vector.store %{{.*}}, %[[EXCESS]]
// CHECK:         scf.for %{{.*}} = %c0 to %c512 step %c8 {
// CHECK:           scf.for %{{.*}} = %c0 to %c1024 step %c16 {
// CHECK-COUNT-7:     arith.addf {{.*}} : vector<16xf32>
// CHECK-NEXT:        %[[B:.*]] = vector.load %b[
// CHECK-NEXT:        %[[MORE:.*]] = vector.load %[[EXCESS]][
// CHECK-NEXT:        %[[LESS:.*]] = arith.subf %{{.*}}, %[[MORE]] : vector<16xf32>
// CHECK-NEXT:        %[[SUM:.*]] = arith.addf %[[B]], %[[LESS]] : vector<16xf32>
// CHECK:             vector.store %{{.*}}, %[[EXCESS]][
// CHECK-NEXT:        vector.store %[[SUM]], %b[
// CHECK-NEXT:      }
func.func @large_columns(%a: memref<512x1024xf32>, %b: memref<1024xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%b : memref<1024xf32>)
  linalg.generic {indexing_maps = [#id, #column], iterator_types = ["reduction", "parallel"]}
      ins(%a : memref<512x1024xf32>) outs(%b : memref<1024xf32>) {
  ^bb0(%x: f32, %sum: f32):
    %0 = arith.addf %sum, %x : f32
    linalg.yield %0 : f32
  }
  func.return
}

// Rows of one vector: the sum of all stays in a register. It is one of blocks of 128 rows, eight at
// a time; those are added with compensation.
// CHECK-LABEL: func.func @narrow_columns
// CHECK:         %[[S:.*]], %{{.*}} = scf.for %[[FIRST:.*]] = %c0 to %c4096 step %c128 iter_args(%[[TOTAL:.*]] = %{{.*}}, %[[EXCESS:.*]] = %{{.*}})
// CHECK-NEXT:      %[[END:.*]] = arith.addi %[[FIRST]], %c128 : index
// CHECK-NEXT:      %[[BLOCK:.*]] = scf.for %{{.*}} = %[[FIRST]] to %[[END]] step %c8 iter_args(%[[P:.*]] = %{{.*}}) -> (vector<16xf32>) {
// CHECK:             arith.addf %[[P]], %{{.*}} : vector<16xf32>
// CHECK-NEXT:        scf.yield
// CHECK-NEXT:      }
// CHECK-NEXT:      %[[LESS:.*]] = arith.subf %[[BLOCK]], %[[EXCESS]] : vector<16xf32>
// CHECK-NEXT:      %[[ADDED:.*]] = arith.addf %[[TOTAL]], %[[LESS]] : vector<16xf32>
// CHECK-NEXT:      %[[FOUND:.*]] = arith.subf %[[ADDED]], %[[TOTAL]] : vector<16xf32>
// CHECK-NEXT:      %[[NEXT:.*]] = arith.subf %[[FOUND]], %[[LESS]] : vector<16xf32>
// CHECK:           %[[FINITE:.*]] = arith.select %{{.*}}, %[[NEXT]], %{{.*}}
// CHECK-NEXT:      scf.yield %[[ADDED]], %[[FINITE]]
// CHECK-NEXT:    }
// CHECK-NEXT:    vector.store %[[S]], %b[
func.func @narrow_columns(%a: memref<4096x16xf32>, %b: memref<16xf32>) {
  linalg.generic {
    indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>],
    iterator_types = ["reduction", "parallel"]}
    ins(%a : memref<4096x16xf32>) outs(%b : memref<16xf32>) {
  ^bb0(%x: f32, %sum: f32):
    %1 = arith.addf %sum, %x : f32
    linalg.yield %1 : f32
  }
  func.return
}

// Exponentials are stored and summed in one loop over vectors; what is exponentiated is in place.
// CHECK-LABEL: func.func @exponentials_and_sums
// CHECK:         scf.for %d1 = %c0 to %c64 step %c16 iter_args(%[[P:.*]] = %{{.*}}) -> (vector<16xf32>) {
// CHECK-NEXT:      %[[X:.*]] = vector.load %a[%d0, %d1]
// CHECK-NEXT:      %[[E:.*]] = math.exp %[[X]] : vector<16xf32>
// CHECK-NEXT:      %[[S:.*]] = arith.addf %[[P]], %[[E]] : vector<16xf32>
// CHECK-NEXT:      vector.store %[[E]], %a[%d0, %d1]
// CHECK-NEXT:      scf.yield %[[S]] : vector<16xf32>
func.func @exponentials_and_sums(%a: memref<8x64xf32>, %b: memref<8xf32>) {
  linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "reduction"]}
      outs(%b, %a : memref<8xf32>, memref<8x64xf32>) {
  ^bb0(%sum: f32, %x: f32):
    %0 = math.exp %x : f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1, %0 : f32, f32
  }
  func.return
}

// A computation that is no simple fold keeps its order.
// CHECK-LABEL: func.func @in_order
// CHECK:         scf.for %d0 = %c0 to %c100 step %c1 iter_args(%[[H:.*]] = %{{.*}}) -> (i32) {
// CHECK:           arith.muli %[[H]], %{{.*}} : i32
func.func @in_order(%a: memref<100xi32>, %b: memref<i32>) {
  %three = arith.constant 3 : i32
  linalg.generic {
      indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>],
      iterator_types = ["reduction"]}
      ins(%a : memref<100xi32>) outs(%b : memref<i32>) {
  ^bb0(%x: i32, %hash: i32):
    %0 = arith.muli %hash, %three : i32
    %1 = arith.addi %0, %x : i32
    linalg.yield %1 : i32
  }
  func.return
}

// A sum of nothing is what it starts from.
// CHECK-LABEL: func.func @empty_sums
// CHECK-NOT:     scf.for {{.*}} to %c0
// CHECK:         vector.store %{{.*}}, %b[%c0] : memref<4xf32>, vector<4xf32>
// CHECK-NEXT:    func.return
func.func @empty_sums(%a: memref<4x0xf32>, %b: memref<4xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%b : memref<4xf32>)
  linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : memref<4x0xf32>) outs(%b : memref<4xf32>) {
  ^bb0(%x: f32, %sum: f32):
    %0 = arith.addf %sum, %x : f32
    linalg.yield %0 : f32
  }
  func.return
}
