// RUN: xla-opt %s -p convert-xla-to-linalg | filecheck %s
// RUN: xla-opt %s -p convert-xla-to-linalg | xla-opt | filecheck %s
// RUN: xla-opt %s -p 'native{to=buffers}' | filecheck %s --check-prefix=BUFFERS

// A start that is negative is a large number: one comparison says whether an update is inside. The
// update is a loop with one turn or none.
// CHECK-LABEL: @elements
// CHECK:         scf.for %[[N:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[X:.*]] = %x) -> (tensor<10xf32>)
// CHECK:           %[[I:.*]] = tensor.extract %i[%[[N]]] : tensor<20xi32>
// CHECK-NEXT:      %[[START:.*]] = arith.index_cast %[[I]] : i32 to index
// CHECK:           %[[INSIDE:.*]] = arith.cmpi ule, %[[START]], %{{.*}} : index
// CHECK-NEXT:      %[[TURNS:.*]] = arith.index_castui %[[INSIDE]] : i1 to index
// CHECK:           scf.for %{{.*}} = %{{.*}} to %[[TURNS]] step %{{.*}} iter_args(%[[Y:.*]] = %[[X]])
// CHECK-NEXT:        %[[OLD:.*]] = tensor.extract %[[Y]][%[[START]]]
// CHECK-NEXT:        %[[UPDATE:.*]] = tensor.extract %u[%[[N]]]
// CHECK-NEXT:        %[[NEW:.*]] = arith.addf %[[OLD]], %[[UPDATE]] : f32
// CHECK-NEXT:        tensor.insert %[[NEW]] into %[[Y]][%[[START]]]
// Nothing is copied in the loops.
// BUFFERS-LABEL: @elements
// BUFFERS:         func.call @copy_kernel_{{.}}(%x, %result)
// BUFFERS-NOT:     call
// BUFFERS-NOT:     copy
// BUFFERS:         memref.store %{{.*}}, %result
// BUFFERS-NOT:     copy
// BUFFERS:         func.return
func.func @elements(%x: tensor<10xf32>, %i: tensor<20xi32>, %u: tensor<20xf32>) -> tensor<10xf32> {
  %r = xla.scatter %x, %i, %u {update_window_dims = [], inserted_window_dims = [0],
      scatter_dims_to_operand_dims = [0], index_vector_dim = 1 : i64}
      : (tensor<10xf32>, tensor<20xi32>, tensor<20xf32>) -> tensor<10xf32>
      to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %c = xla.add %a, %b : tensor<f32>
    xla.return %c : tensor<f32>
  }
  func.return %r : tensor<10xf32>
}

// Long windows are slices, which are changed where they are.
// CHECK-LABEL: @rows
// CHECK:         %[[UPDATE:.*]] = tensor.extract_slice %u[%{{.*}}, 0] [1, 32] [1, 1]
// CHECK-NEXT:    %[[OLD:.*]] = tensor.extract_slice %[[X:.*]][%[[START:.*]], 0] [1, 32] [1, 1]
// CHECK-NEXT:    %[[NEW:.*]] = linalg.generic {{.*}} ins(%[[UPDATE]] : {{.*}}) outs(%[[OLD]] :
// CHECK:         tensor.insert_slice %[[NEW]] into %[[X]][%[[START]], 0] [1, 32] [1, 1]
// BUFFERS-LABEL: @rows
// BUFFERS:         func.call @copy_kernel_{{.}}(%x, %result)
// BUFFERS:         %[[UPDATE:.*]] = memref.subview %u[
// BUFFERS-NEXT:    %[[ROW:.*]] = memref.subview %result[
// BUFFERS-NEXT:    func.call @addf_kernel_{{.}}(%[[UPDATE]], %[[ROW]])
// BUFFERS-NOT:     copy
// BUFFERS:         func.return
func.func @rows(%x: tensor<10x32xf32>, %i: tensor<20xi32>, %u: tensor<20x32xf32>) -> tensor<10x32xf32> {
  %r = xla.scatter %x, %i, %u {update_window_dims = [1], inserted_window_dims = [0],
      scatter_dims_to_operand_dims = [0], index_vector_dim = 1 : i64}
      : (tensor<10x32xf32>, tensor<20xi32>, tensor<20x32xf32>) -> tensor<10x32xf32>
      to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %c = xla.add %a, %b : tensor<f32>
    xla.return %c : tensor<f32>
  }
  func.return %r : tensor<10x32xf32>
}
