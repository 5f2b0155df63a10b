// RUN: xla-opt %s -p linalg-fuse-producers-and-siblings | filecheck %s

#id1 = affine_map<(d0) -> (d0)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#column = affine_map<(d0, d1) -> (d1)>

// The exponential is needed twice: its first user stores it. The broadcast sum is read in place.
// CHECK-LABEL: @softmax_tail
// CHECK:         %s, %e = linalg.generic
// CHECK-SAME:      iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x8xf32>)
// CHECK-NEXT:    ^bb0(%{{.*}}: f32, %{{.*}}: f32, %{{.*}}: f32):
// CHECK-NEXT:      %[[E:.*]] = math.exp
// CHECK-NEXT:      %[[S:.*]] = arith.addf %{{.*}}, %[[E]] : f32
// CHECK-NEXT:      linalg.yield %[[S]], %[[E]] : f32, f32
// CHECK-NEXT:    } -> (tensor<4xf32>, tensor<4x8xf32>)
// CHECK:         %d = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>,
// CHECK-SAME:      ins(%e, %s : tensor<4x8xf32>, tensor<4xf32>)
// CHECK:           arith.divf
// CHECK-NOT:     linalg.generic
func.func @softmax_tail(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4x8xf32>
  %row = tensor.empty() : tensor<4xf32>
  %init = linalg.fill ins(%zero : f32) outs(%row : tensor<4xf32>) -> tensor<4xf32>
  %e = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x8xf32>) outs(%empty : tensor<4x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  } -> tensor<4x8xf32>
  %s = linalg.generic {indexing_maps = [#id2, #row], iterator_types = ["parallel", "reduction"]}
      ins(%e : tensor<4x8xf32>) outs(%init : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %o, %a : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %b = linalg.generic {indexing_maps = [#row, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%s : tensor<4xf32>) outs(%empty : tensor<4x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<4x8xf32>
  %d = linalg.generic {indexing_maps = [#id2, #id2, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%e, %b : tensor<4x8xf32>, tensor<4x8xf32>) outs(%empty : tensor<4x8xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %r = arith.divf %a, %c : f32
    linalg.yield %r : f32
  } -> tensor<4x8xf32>
  func.return %d : tensor<4x8xf32>
}

// Siblings: both reductions read %x where the other does, so one loop nest computes both.
// CHECK-LABEL: @siblings
// CHECK:         %m, %s = linalg.generic
// CHECK-SAME:      ins(%x : tensor<4x8xf32>)
// CHECK:           linalg.yield %{{.*}}, %{{.*}} : f32, f32
// CHECK-NOT:     linalg.generic
func.func @siblings(%x: tensor<4x8xf32>, %a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %s = linalg.generic {indexing_maps = [#id2, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x8xf32>) outs(%a : tensor<4xf32>) {
  ^bb0(%e: f32, %o: f32):
    %r = arith.addf %o, %e : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %m = linalg.generic {indexing_maps = [#id2, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x8xf32>) outs(%b : tensor<4xf32>) {
  ^bb0(%e: f32, %o: f32):
    %r = arith.maximumf %o, %e : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  func.return %s, %m : tensor<4xf32>, tensor<4xf32>
}

// Slices of what is computed are computed alone; slices of what is stored are read.
// CHECK-LABEL: @slices
// CHECK:         %[[PART:.*]] = tensor.extract_slice %x[4] [4] [1] : tensor<8xf32> to tensor<4xf32>
// CHECK-NEXT:    linalg.generic
// CHECK-SAME:      ins(%[[PART]] : tensor<4xf32>) outs(%{{.*}} : tensor<4xf32>)
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      %[[E:.*]] = math.exp
// CHECK-NEXT:      arith.negf %[[E]]
// CHECK-NOT:     linalg.generic
func.func @slices(%x: tensor<8xf32>) -> tensor<4xf32> {
  %whole = tensor.empty() : tensor<8xf32>
  %half = tensor.empty() : tensor<4xf32>
  %e = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%whole : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %p = tensor.extract_slice %e[4] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %n = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]}
      ins(%p : tensor<4xf32>) outs(%half : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.negf %a : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  func.return %n : tensor<4xf32>
}

// A scalar that is read as such is computed as such.
// CHECK-LABEL: @scalars
// CHECK-NEXT:    %0 = tensor.extract %i[] : tensor<i32>
// CHECK-NEXT:    %1 = arith.constant 50 : i32
// CHECK-NEXT:    %s = arith.cmpi slt, %0, %1 : i32
// CHECK-NEXT:    func.return %s : i1
func.func @scalars(%i: tensor<i32>) -> i1 {
  %limit = arith.constant dense<50> : tensor<i32>
  %empty = tensor.empty() : tensor<i1>
  %c = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []}
      ins(%i, %limit : tensor<i32>, tensor<i32>) outs(%empty : tensor<i1>) {
  ^bb0(%a: i32, %b: i32, %o: i1):
    %r = arith.cmpi slt, %a, %b : i32
    linalg.yield %r : i1
  } -> tensor<i1>
  %s = tensor.extract %c[] : tensor<i1>
  func.return %s : i1
}

// A producer in one region and its user in another stay apart; each region is fused by itself.
// CHECK-LABEL: @regions
// CHECK:         %e = linalg.generic
// CHECK:         scf.if
// CHECK:           linalg.generic
// CHECK:             arith.negf
// CHECK-NEXT:        math.absf
// CHECK-NOT:       linalg.generic
// CHECK:         } else {
func.func @regions(%p: i1, %x: tensor<8xf32>) -> tensor<8xf32> {
  %empty = tensor.empty() : tensor<8xf32>
  %e = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%empty : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %0 = scf.if %p -> (tensor<8xf32>) {
    %n = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]}
        ins(%e : tensor<8xf32>) outs(%empty : tensor<8xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.negf %a : f32
      linalg.yield %r : f32
    } -> tensor<8xf32>
    %m = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]}
        ins(%n : tensor<8xf32>) outs(%empty : tensor<8xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = math.absf %a : f32
      linalg.yield %r : f32
    } -> tensor<8xf32>
    scf.yield %m : tensor<8xf32>
  } else {
    scf.yield %e : tensor<8xf32>
  }
  func.return %0 : tensor<8xf32>
}

// What works on memory is left alone.
// CHECK-LABEL: @buffers
// CHECK:         linalg.fill
// CHECK-COUNT-2: linalg.generic
// CHECK:         linalg.fill
func.func @buffers(%x: memref<8xf32>, %y: memref<8xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%x : memref<8xf32>)
  linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]}
      ins(%y : memref<8xf32>) outs(%x : memref<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %a, %o : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]}
      ins(%y : memref<8xf32>) outs(%x : memref<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %a, %o : f32
    linalg.yield %r : f32
  }
  linalg.fill ins(%zero : f32) outs(%x : memref<8xf32>)
  func.return
}
