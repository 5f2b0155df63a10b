// RUN: xla-opt %s -p 'convert-linalg-to-memref-stream,memref-stream-drop-unused-inputs' | filecheck %s

// CHECK-LABEL: @window
// CHECK: memref_stream.generic
// CHECK-NEXT: bounds = [6, 3]
// CHECK: affine_map<(d0, d1) -> ((d0 + d1))>
// CHECK-NEXT: affine_map<(d0, d1) -> (d0)>
// CHECK: ins(%{{.+}} : memref<8xf64>) outs(%{{.+}} : memref<6xf64>)
func.func @window(%a: memref<8xf64>, %w: memref<3xi1>, %c: memref<6xf64>) {
  linalg.generic {
    indexing_maps = [
      affine_map<(i, k) -> (i + k)>, affine_map<(i, k) -> (k)>, affine_map<(i, k) -> (i)>
    ],
    iterator_types = ["parallel", "reduction"]
  } ins(%a, %w : memref<8xf64>, memref<3xi1>) outs(%c : memref<6xf64>) {
  ^bb0(%x: f64, %unused: i1, %s: f64):
    %t = arith.addf %s, %x : f64
    linalg.yield %t : f64
  }
  func.return
}
