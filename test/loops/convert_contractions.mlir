// RUN: xla-opt %s -p "xla-plan-schedules,convert-linalg-to-vector-loops" | filecheck %s
// RUN: xla-opt %s -p "xla-plan-schedules,convert-linalg-to-vector-loops" | xla-opt -f mlir - | filecheck %s

#left = affine_map<(m, n, k) -> (m, k)>
#right = affine_map<(m, n, k) -> (k, n)>
#right_turned = affine_map<(m, n, k) -> (n, k)>
#out = affine_map<(m, n, k) -> (m, n)>

// A register tile: 4 rows by 4 vectors of running values, in fused multiply-adds.
// CHECK-LABEL: func.func @product
// CHECK:         scf.for %d1 = %c0 to %c128 step %c64 {
// CHECK:           scf.for %d0 = %c0 to %c64 step %c4 {
// CHECK:             scf.for %d2 = %c0 to %c256 step %c1 iter_args(
// CHECK-NEXT:          %[[A:.*]] = memref.load %a[%d0, %d2] : memref<64x256xf32>
// CHECK-NEXT:          %[[AS:.*]] = vector.broadcast %[[A]] : f32 to vector<16xf32>
// CHECK-NEXT:          %[[B0:.*]] = vector.load %b[%d2, %d1] : memref<256x128xf32>, vector<16xf32>
// CHECK-NEXT:          vector.fma %[[AS]], %[[B0]], %{{.*}} : vector<16xf32>
// CHECK-NEXT:          %[[B1:.*]] = vector.load %b[%d2, %{{.*}}]
// CHECK-NEXT:          vector.fma %[[AS]], %[[B1]], %{{.*}}
// CHECK-COUNT-14:      vector.fma
// CHECK:               scf.yield
// CHECK-COUNT-16:    vector.store %{{.*}}, %c[%{{.*}}, %{{.*}}] : memref<64x128xf32>, vector<16xf32>
// CHECK-NOT:       vector.store
// CHECK:         func.return
func.func @product(%a: memref<64x256xf32>, %b: memref<256x128xf32>, %c: memref<64x128xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<64x128xf32>)
  linalg.generic {indexing_maps = [#left, #right, #out],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<64x256xf32>, memref<256x128xf32>) outs(%c : memref<64x128xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  }
  func.return
}

// The columns do not have unit stride: they are turned into a panel on the stack.
// CHECK-LABEL: func.func @turned
// CHECK:         %[[P:.*]] = memref.alloca() {alignment = 64 : i64} : memref<
// CHECK:         vector.load %b[
// CHECK:         vector.shuffle
// CHECK:         vector.store %{{.*}}, %[[P]][
// CHECK:         scf.for {{.*}} iter_args(
// CHECK:           vector.load %[[P]][
// CHECK:           vector.fma
func.func @turned(%a: memref<64x64xf32>, %b: memref<32x64xf32>, %c: memref<64x32xf32>) {
  linalg.generic {indexing_maps = [#left, #right_turned, #out],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<64x64xf32>, memref<32x64xf32>) outs(%c : memref<64x32xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %0 = arith.mulf %x, %y : f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  }
  func.return
}

// A matrix times a vector: rows in parallel, vectors along them.
// CHECK-LABEL: func.func @matrix_vector
// CHECK:         scf.for %d0 = %c0 to %c64 step %c4 {
// CHECK:           scf.for %d1 = %c0 to %c96 step %c32 iter_args(
// CHECK:             %[[X:.*]] = vector.load %x[%d1]
// CHECK:           vector.reduction <add>, %{{.*}} fastmath<reassoc> : vector<16xf32> into f32
func.func @matrix_vector(%a: memref<64x96xf32>, %x: memref<96xf32>, %y: memref<64xf32>) {
  linalg.generic {
      indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (k)>,
                       affine_map<(m, k) -> (m)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%a, %x : memref<64x96xf32>, memref<96xf32>) outs(%y : memref<64xf32>) {
  ^bb0(%p: f32, %q: f32, %sum: f32):
    %0 = arith.mulf %p, %q : f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  }
  func.return
}
