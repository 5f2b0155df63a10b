// RUN: xla-opt %s -p linalg-fuse-producers-and-siblings | filecheck %s
// RUN: xla-opt %s -p 'linalg-fuse-producers-and-siblings{file="%S/fusion_decisions.fusion"}' | filecheck %s --check-prefix=FILE

#id1 = affine_map<(d0) -> (d0)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// Forced: an exponential that two operations use, neither of which may store it, is computed twice.
// CHECK-LABEL: @inline
// CHECK-COUNT-2: math.exp
// CHECK-NOT:     linalg.generic
// FILE-LABEL: @inline
func.func @inline(%x: tensor<8xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %whole = tensor.empty() : tensor<8xf32>
  %half = tensor.empty() : tensor<4xf32>
  %e = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%whole : tensor<8xf32>) attrs = {fusion.inline} {
  ^bb0(%a: f32, %o: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %p = tensor.extract_slice %e[0] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %q = tensor.extract_slice %e[2] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %n = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]}
      ins(%p : tensor<4xf32>) outs(%half : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.negf %a : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %m = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]}
      ins(%q : tensor<4xf32>) outs(%half : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.absf %a : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  func.return %n, %m : tensor<4xf32>, tensor<4xf32>
}

// Forced: operations that have nothing but their iteration space in common.
// CHECK-LABEL: @group
// CHECK:         %n, %m = linalg.generic
// CHECK-NOT:     linalg.generic
func.func @group(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %empty = tensor.empty() : tensor<8xf32>
  %m = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]}
      ins(%y : tensor<8xf32>) outs(%empty : tensor<8xf32>) attrs = {fusion.group = 3} {
  ^bb0(%a: f32, %o: f32):
    %r = math.absf %a : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %n = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%empty : tensor<8xf32>) attrs = {fusion.group = 3} {
  ^bb0(%a: f32, %o: f32):
    %r = arith.negf %a : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  func.return %n, %m : tensor<8xf32>, tensor<8xf32>
}

// Forbidden: a chain that would be one operation, and three by the file.
// CHECK-LABEL: @chain
// CHECK:         %c = linalg.generic
// CHECK-NOT:     linalg.generic
// FILE-LABEL: @chain
// FILE-COUNT-3: linalg.generic
// FILE-NOT:     linalg.generic
func.func @chain(%x: tensor<8xf32>) -> tensor<8xf32> {
  %empty = tensor.empty() : tensor<8xf32>
  %first = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%empty : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.absf %a : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %second = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]}
      ins(%first : tensor<8xf32>) outs(%empty : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.negf %a : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %c = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]}
      ins(%second : tensor<8xf32>) outs(%empty : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  func.return %c : tensor<8xf32>
}

// Siblings that numbers keep apart; the file would not, but the numbers were there before.
// CHECK-LABEL: @apart
// CHECK-COUNT-2: linalg.generic
// FILE-LABEL: @apart
// FILE-COUNT-2: linalg.generic
func.func @apart(%x: tensor<4x8xf32>, %a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %s = linalg.generic {indexing_maps = [#id2, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x8xf32>) outs(%a : tensor<4xf32>) attrs = {fusion.group = 0} {
  ^bb0(%e: f32, %o: f32):
    %r = arith.addf %o, %e : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %t = linalg.generic {indexing_maps = [#id2, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x8xf32>) outs(%b : tensor<4xf32>) attrs = {fusion.group = 1} {
  ^bb0(%e: f32, %o: f32):
    %r = arith.maximumf %o, %e : f32
    linalg.yield %r : f32
  } -> tensor<4xf32>
  func.return %s, %t : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: @together
// CHECK-COUNT-2: linalg.generic
// FILE-LABEL: @together
// FILE:         %v, %u = linalg.generic
// FILE-NOT:     linalg.generic
func.func @together(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %empty = tensor.empty() : tensor<8xf32>
  %u = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]}
      ins(%y : tensor<8xf32>) outs(%empty : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.absf %a : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  %v = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%empty : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.negf %a : f32
    linalg.yield %r : f32
  } -> tensor<8xf32>
  func.return %u, %v : tensor<8xf32>, tensor<8xf32>
}
