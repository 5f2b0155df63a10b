// RUN: xla-opt %s -p linalg-plan-fusion | filecheck %s
// RUN: xla-opt %s -p linalg-plan-fusion | xla-opt - -p linalg-plan-fusion | filecheck %s
// RUN: xla-opt %s -p linalg-plan-fusion | xla-opt - -p linalg-fuse-producers-and-siblings | filecheck %s --check-prefix=FUSED
// RUN: xla-opt %s -p linalg-fuse-producers-and-siblings | filecheck %s --check-prefix=FUSED

#id1 = affine_map<(d0) -> (d0)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// The sum stores the exponential; the broadcast sum is computed in the quotient.
// CHECK-LABEL: @softmax_tail
// CHECK:         %e = linalg.generic {{.*}} attrs = {fusion.group = 0 : i64}
// CHECK:         %s = linalg.generic {{.*}} attrs = {fusion.group = 0 : i64}
// CHECK:         %b = linalg.generic {{.*}} attrs = {fusion.inline}
// CHECK:         %d = linalg.generic {{.*}} attrs = {fusion.group = 1 : i64}
// FUSED-LABEL: @softmax_tail
// FUSED:         %s, %e = linalg.generic
// FUSED-NOT:     fusion.
// FUSED:         %d = linalg.generic
// FUSED-NOT:     linalg.generic
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

// Decisions that are there stay, and others are made around them; numbers are those of the module.
// What nothing uses has no group, and inner blocks have groups of their own.
// CHECK-LABEL: @decided
// CHECK:         %e = linalg.generic {{.*}} attrs = {fusion.alone}
// CHECK:         %n = linalg.generic {{.*}} attrs = {fusion.group = 7 : i64}
// CHECK:         %dead = linalg.generic {{.*}} outs(%empty : tensor<8xf32>) {
// CHECK:           %i = linalg.generic {{.*}} attrs = {fusion.group = 3 : i64}
// FUSED-LABEL: @decided
// FUSED:         %e = linalg.generic
// FUSED-NOT:     fusion.
// FUSED:         %n = linalg.generic
// FUSED-NOT:     linalg.generic
// FUSED:         scf.if
// FUSED:           %i = linalg.generic
func.func @decided(%x: tensor<8xf32>, %p: i1) -> (tensor<8xf32>, tensor<8xf32>) {
  %empty = tensor.empty() : tensor<8xf32>
  %e = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%empty : tensor<8xf32>) attrs = {fusion.alone} {
  ^bb0(%a: f32, %o: f32):
    %r = arith.negf %a : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %n = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]}
      ins(%e : tensor<8xf32>) outs(%empty : tensor<8xf32>) attrs = {fusion.group = 7} {
  ^bb0(%a: f32, %o: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %dead = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]}
      ins(%e : tensor<8xf32>) outs(%empty : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %f = scf.if %p -> (tensor<8xf32>) {
    %i = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]}
        ins(%x : tensor<8xf32>) outs(%empty : tensor<8xf32>) {
    ^bb0(%a: f32, %o: f32):
      %r = math.absf %a : f32
      linalg.yield %r : f32
    } -> tensor<8xf32>
    scf.yield %i : tensor<8xf32>
  } else {
    scf.yield %n : tensor<8xf32>
  }
  func.return %n, %f : tensor<8xf32>, tensor<8xf32>
}
