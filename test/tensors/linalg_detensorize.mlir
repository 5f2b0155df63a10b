// RUN: xla-opt %s -p linalg-detensorize --split-input-file | filecheck %s

#id = affine_map<(d0) -> (d0)>
#first = affine_map<(d0) -> (0)>
#none = affine_map<(d0) -> ()>
#scalar = affine_map<() -> ()>

// Each element is a value of its own; what comes from outside is read before the loop.
// CHECK-LABEL: @elements
// CHECK-SAME:    %[[X:.*]]: tensor<2xf32>, %[[N:.*]]: tensor<i32>, %[[Y:.*]]: tensor<1xf32>
// CHECK-DAG:     %[[I:.*]] = tensor.extract %[[N]][] : tensor<i32>
// CHECK-DAG:     %[[X0:.*]] = tensor.extract %[[X]][%{{.*}}] : tensor<2xf32>
// CHECK-DAG:     %[[X1:.*]] = tensor.extract %[[X]][%{{.*}}] : tensor<2xf32>
// CHECK-DAG:     %[[Y0:.*]] = tensor.extract %[[Y]][%{{.*}}] : tensor<1xf32>
// CHECK:         %[[R:.*]], %[[R0:.*]], %[[R1:.*]] = scf.while (%[[A:.*]] = %[[I]], %[[A0:.*]] = %[[X0]], %[[A1:.*]] = %[[X1]]) : (i32, f32, f32) -> (i32, f32, f32)
// CHECK:           %[[C:.*]] = arith.cmpi slt, %[[A]], %{{.*}} : i32
// CHECK-NEXT:      scf.condition(%[[C]]) %[[A]], %[[A0]], %[[A1]]
// CHECK:         ^bb0(%[[B:.*]]: i32, %[[B0:.*]]: f32, %[[B1:.*]]: f32):
// CHECK:           %[[S:.*]] = arith.addf %[[B0]], %[[Y0]] : f32
// CHECK-NEXT:      %[[T:.*]] = arith.addf %[[B1]], %[[Y0]] : f32
// CHECK:           %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT:      %[[P:.*]] = arith.addf %[[ZERO]], %[[S]] : f32
// CHECK-NEXT:      %[[SUM:.*]] = arith.addf %[[P]], %[[T]] : f32
// CHECK:           scf.yield %[[B]], %[[T]], %[[SUM]]
// CHECK:         %[[BOTH:.*]] = tensor.from_elements %[[R0]], %[[R1]] : tensor<2xf32>
// CHECK-NEXT:    func.return %[[BOTH]]
func.func @elements(%x: tensor<2xf32>, %n: tensor<i32>, %y: tensor<1xf32>) -> tensor<2xf32> {
  %0, %1 = scf.while (%i = %n, %a = %x) : (tensor<i32>, tensor<2xf32>) -> (tensor<i32>, tensor<2xf32>) {
    %v = tensor.extract %i[] : tensor<i32>
    %ten = arith.constant 10 : i32
    %c = arith.cmpi slt, %v, %ten : i32
    scf.condition(%c) %i, %a : tensor<i32>, tensor<2xf32>
  } do {
  ^bb0(%i: tensor<i32>, %a: tensor<2xf32>):
    %e = tensor.empty() : tensor<2xf32>
    %s = linalg.generic {indexing_maps = [#id, #first, #id], iterator_types = ["parallel"]}
        ins(%a, %y : tensor<2xf32>, tensor<1xf32>) outs(%e : tensor<2xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %r = arith.addf %p, %q : f32
      linalg.yield %r : f32
    } -> tensor<2xf32>
    %zero = arith.constant 0.0 : f32
    %f = tensor.empty() : tensor<f32>
    %g = linalg.fill ins(%zero : f32) outs(%f : tensor<f32>) -> tensor<f32>
    %sum = linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction"]}
        ins(%s : tensor<2xf32>) outs(%g : tensor<f32>) {
    ^bb0(%p: f32, %o: f32):
      %r = arith.addf %o, %p : f32
      linalg.yield %r : f32
    } -> tensor<f32>
    %scalar = tensor.extract %sum[] : tensor<f32>
    %one = tensor.from_elements %scalar : tensor<1xf32>
    %last = tensor.extract_slice %s[1] [1] [1] : tensor<2xf32> to tensor<1xf32>
    %u = tensor.empty() : tensor<2xf32>
    %w = tensor.insert_slice %last into %u[0] [1] [1] : tensor<1xf32> into tensor<2xf32>
    %z = tensor.insert_slice %one into %w[1] [1] [1] : tensor<1xf32> into tensor<2xf32>
    scf.yield %i, %z : tensor<i32>, tensor<2xf32>
  }
  func.return %1 : tensor<2xf32>
}

// -----

// One array that is larger, and all stay tensors.
// CHECK-LABEL: @larger
// CHECK:         scf.while {{.*}} : (tensor<i32>, tensor<8xf32>) -> (tensor<i32>, tensor<8xf32>)
func.func @larger(%x: tensor<8xf32>, %n: tensor<i32>) -> tensor<8xf32> {
  %0, %1 = scf.while (%i = %n, %a = %x) : (tensor<i32>, tensor<8xf32>) -> (tensor<i32>, tensor<8xf32>) {
    %v = tensor.extract %i[] : tensor<i32>
    %ten = arith.constant 10 : i32
    %c = arith.cmpi slt, %v, %ten : i32
    scf.condition(%c) %i, %a : tensor<i32>, tensor<8xf32>
  } do {
  ^bb0(%i: tensor<i32>, %a: tensor<8xf32>):
    scf.yield %i, %a : tensor<i32>, tensor<8xf32>
  }
  func.return %1 : tensor<8xf32>
}
