// RUN: xla-opt %s -p convert-xla-to-scf | filecheck %s

// CHECK-LABEL: @backwards
// CHECK:         %[[EMPTY:.*]] = tensor.empty() : tensor<4x3xf32>
// CHECK-NEXT:    scf.for %[[STEP:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[OUT:.*]] = %[[EMPTY]], %[[SUM:.*]] = %c)
// CHECK:           %[[PLACE:.*]] = arith.subi %{{.*}}, %[[STEP]] : index
// CHECK-NEXT:      %[[ROW:.*]] = tensor.extract_slice %x[%[[PLACE]], 0] [1, 3] [1, 1] : tensor<4x3xf32> to tensor<3xf32>
// CHECK-NEXT:      %[[NEW:.*]] = xla.add %[[SUM]], %[[ROW]] : tensor<3xf32>
// CHECK-NEXT:      %[[PUT:.*]] = tensor.insert_slice %[[NEW]] into %[[OUT]][%[[PLACE]], 0] [1, 3] [1, 1]
// CHECK-NEXT:      scf.yield %[[PUT]], %[[NEW]]
func.func @backwards(%x: tensor<4x3xf32>, %c: tensor<3xf32>) -> (tensor<4x3xf32>, tensor<3xf32>) {
  %0, %1 = xla.scan %x, %c {dimension = 0 : i64, num_carries = 1 : i64, is_reverse = true}
      : (tensor<4x3xf32>, tensor<3xf32>) -> (tensor<4x3xf32>, tensor<3xf32>)
      to_apply (%a: tensor<3xf32>, %b: tensor<3xf32>) {
    %s = xla.add %b, %a : tensor<3xf32>
    xla.return %s, %s : tensor<3xf32>, tensor<3xf32>
  }
  func.return %0, %1 : tensor<4x3xf32>, tensor<3xf32>
}
