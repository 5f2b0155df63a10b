// RUN: xla-opt %s -p linalg-fold-reshapes-by-expansion | filecheck %s

#id1 = affine_map<(d0) -> (d0)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>

// The producer computes the expanded result; its operand in memory is expanded in its place.
// CHECK-LABEL: @producer
// CHECK:         %[[X:.*]] = tensor.expand_shape %x {{.*}} output_shape [2, 3]
// CHECK:         %[[R:.*]] = linalg.generic
// CHECK-SAME:      iterator_types = ["parallel", "parallel"]} ins(%[[X]] : tensor<2x3xf32>)
// CHECK-NOT:     tensor.expand_shape
// CHECK:         func.return %[[R]]
func.func @producer(%x: tensor<6xf32>) -> tensor<2x3xf32> {
  %empty = tensor.empty() : tensor<6xf32>
  %e = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]}
      ins(%x : tensor<6xf32>) outs(%empty : tensor<6xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  } -> tensor<6xf32>
  %0 = tensor.expand_shape %e [[0, 1]] output_shape [2, 3] : tensor<6xf32> into tensor<2x3xf32>
  func.return %0 : tensor<2x3xf32>
}

// The consumer reads what was computed before it is collapsed; positions count as they did.
// CHECK-LABEL: @consumer
// CHECK:         %e = linalg.generic
// CHECK:         linalg.generic
// CHECK-SAME:      iterator_types = ["parallel", "parallel"]} ins(%e : tensor<2x3xf32>)
// CHECK:           %[[I:.*]] = linalg.index 0 : index
// CHECK-NEXT:      %[[N:.*]] = arith.constant 3 : index
// CHECK-NEXT:      %[[W:.*]] = arith.muli %[[I]], %[[N]] : index
// CHECK-NEXT:      %[[J:.*]] = linalg.index 1 : index
// CHECK-NEXT:      arith.addi %[[W]], %[[J]] : index
// CHECK:         tensor.collapse_shape
func.func @consumer(%x: tensor<2x3xf32>) -> tensor<6xf32> {
  %empty = tensor.empty() : tensor<2x3xf32>
  %flat = tensor.empty() : tensor<6xf32>
  %e = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<2x3xf32>) outs(%empty : tensor<2x3xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  } -> tensor<2x3xf32>
  %c = tensor.collapse_shape %e [[0, 1]] : tensor<2x3xf32> into tensor<6xf32>
  %s = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]}
      ins(%c : tensor<6xf32>) outs(%flat : tensor<6xf32>) {
  ^bb0(%a: f32, %o: f32):
    %i = linalg.index 0 : index
    %k = arith.index_cast %i : index to i32
    %f = arith.sitofp %k : i32 to f32
    %r = arith.addf %a, %f : f32
    linalg.yield %r : f32
  } -> tensor<6xf32>
  func.return %s : tensor<6xf32>
}

// What is used as it is stays as it is.
// CHECK-LABEL: @used_twice
// CHECK:         %e = linalg.generic
// CHECK-SAME:      iterator_types = ["parallel"]}
// CHECK:         %0 = tensor.expand_shape %e
// CHECK:         func.return %e, %0
func.func @used_twice(%x: tensor<6xf32>) -> (tensor<6xf32>, tensor<2x3xf32>) {
  %empty = tensor.empty() : tensor<6xf32>
  %e = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]}
      ins(%x : tensor<6xf32>) outs(%empty : tensor<6xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  } -> tensor<6xf32>
  %0 = tensor.expand_shape %e [[0, 1]] output_shape [2, 3] : tensor<6xf32> into tensor<2x3xf32>
  func.return %e, %0 : tensor<6xf32>, tensor<2x3xf32>
}
