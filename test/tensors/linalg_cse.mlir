// RUN: xla-opt %s -p linalg-cse | filecheck %s

#id1 = affine_map<(d0) -> (d0)>

// The same body on the same input is computed once, whatever it is written into.
// CHECK-LABEL: @equal
// CHECK-COUNT-1: tensor.empty
// CHECK:         %a = linalg.generic
// CHECK-NOT:     linalg.generic
// CHECK-NOT:     tensor.empty
// CHECK:         func.return %a, %a
func.func @equal(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %e0 = tensor.empty() : tensor<8xf32>
  %e1 = tensor.empty() : tensor<8xf32>
  %a = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%e0 : tensor<8xf32>) {
  ^bb0(%e: f32, %o: f32):
    %r = math.exp %e : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %b = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%e1 : tensor<8xf32>) {
  ^bb0(%e: f32, %o: f32):
    %r = math.exp %e : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  func.return %a, %b : tensor<8xf32>, tensor<8xf32>
}

// Another body, or something to start from that is not the same, gives another result.
// CHECK-LABEL: @different
// CHECK-COUNT-4: linalg.generic
func.func @different(%x: tensor<8xf32>, %y: tensor<8xf32>, %z: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %a = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%y : tensor<8xf32>) {
  ^bb0(%e: f32, %o: f32):
    %r = math.exp %e : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %b = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%y : tensor<8xf32>) {
  ^bb0(%e: f32, %o: f32):
    %r = math.log %e : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %c = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%y : tensor<8xf32>) {
  ^bb0(%e: f32, %o: f32):
    %r = arith.addf %e, %o : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %d = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%z : tensor<8xf32>) {
  ^bb0(%e: f32, %o: f32):
    %r = arith.addf %e, %o : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  func.return %a, %b, %c, %d : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// A region sees what is computed before it; what one branch computes is unknown in the other.
// CHECK-LABEL: @regions
// CHECK:         %s = arith.addi %i, %j
// CHECK:         scf.if
// CHECK-NEXT:      %[[T:.*]] = arith.muli %s, %i
// CHECK-NEXT:      scf.yield %[[T]]
// CHECK-NEXT:    } else {
// CHECK-NEXT:      %[[F:.*]] = arith.muli %s, %i
// CHECK-NEXT:      scf.yield %[[F]]
func.func @regions(%p: i1, %i: i32, %j: i32) -> (i32, i32) {
  %s = arith.addi %i, %j : i32
  %0 = scf.if %p -> (i32) {
    %1 = arith.addi %i, %j : i32
    %2 = arith.muli %1, %i : i32
    scf.yield %2 : i32
  } else {
    %1 = arith.muli %s, %i : i32
    scf.yield %1 : i32
  }
  func.return %s, %0 : i32, i32
}

// Nobody needs this.
// CHECK-LABEL: @dead
// CHECK-NEXT:    func.return
func.func @dead(%i: i32) {
  %s = arith.addi %i, %i : i32
  %t = arith.muli %s, %s : i32
  func.return
}

// What the regions inside of a body do counts; the names in them do not.
// CHECK-LABEL: @branches
// CHECK:         %[[MAGNITUDE:.*]] = linalg.generic
// CHECK:         %[[OTHER:.*]] = linalg.generic
// CHECK-NOT:     linalg.generic
// CHECK:         func.return %[[MAGNITUDE]], %[[OTHER]], %[[MAGNITUDE]]
func.func @branches(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.cmpf olt, %a, %zero : f32
    %r = scf.if %c -> (f32) {
      %n = arith.negf %a : f32
      scf.yield %n : f32
    } else {
      scf.yield %a : f32
    }
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.cmpf olt, %a, %zero : f32
    %r = scf.if %c -> (f32) {
      scf.yield %a : f32
    } else {
      %n = arith.negf %a : f32
      scf.yield %n : f32
    }
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%p: f32, %q: f32):
    %s = arith.cmpf olt, %p, %zero : f32
    %t = scf.if %s -> (f32) {
      %n = arith.negf %p : f32
      scf.yield %n : f32
    } else {
      scf.yield %p : f32
    }
    linalg.yield %t : f32
  } -> tensor<4xf32>
  func.return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
