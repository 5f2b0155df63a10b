// RUN: xla-opt %s -p convert-xla-to-linalg | filecheck %s
// RUN: xla-opt %s -p 'native{to=buffers}' | filecheck %s --check-prefix=BUFFERS

// Sixteen rows at once, one in each lane. All passes are one function, called by a loop with the
// number of the pass, from one memory to the other and back: nothing is copied between them.
// CHECK-LABEL: @rows
// CHECK:         scf.for
// CHECK:           func.call @[[SORT:sort_[0-9]+]](%{{.*}}) : (tensor<16x20xf32>) -> tensor<16x20xf32>
// CHECK:       func.func private @sorting_network_pass(%[[WORDS:.*]]: tensor<32x16xi32>, %[[TABLES:.*]]: tensor<6x2x16xi32>, %[[NUMBER:.*]]: index) -> tensor<32x16xi32>
// CHECK:         tensor.extract_slice %[[TABLES]][%[[NUMBER]], 0, 0] [1, 2, 16]
// CHECK-COUNT-16: tensor.extract %[[WORDS]]
// CHECK-COUNT-32: arith.maxui
// CHECK-NOT:     arith.maxui
// CHECK:       func.func private @[[SORT]](%[[ROWS:.*]]: tensor<16x20xf32>)
// CHECK:         scf.for {{.*}} -> (tensor<32x16xi32>, tensor<32x16xi32>)
// CHECK-COUNT-2:   func.call @sorting_network_pass
// Rows with zeros of both signs or NaN: bisection finds the first of the keys that are equal.
// CHECK:         arith.cmpi ne, %{{.*}} : i32
// CHECK:         scf.for {{.*}} -> (tensor<16x20xf32>)
// CHECK:           linalg.fill {{.*}} -> tensor<16x20xi32>
// CHECK:           scf.for {{.*}} -> (i32, tensor<16x20xi32>)
// CHECK:             linalg.generic {{.*}} ins(%[[ROWS]] : tensor<16x20xf32>)
// CHECK:           scf.for {{.*}} -> (tensor<16x20xf32>, tensor<20xi32>)
// BUFFERS-LABEL: @sort_
// BUFFERS:         scf.for
// BUFFERS-COUNT-2:   call @sorting_network_pass
// BUFFERS-NOT:     copy
// BUFFERS:         func.return
func.func @rows(%x: tensor<4096x20xf32>) -> tensor<4096x20xf32> {
  %r = xla.sort %x {dimension = 1 : i64} : tensor<4096x20xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %c = xla.compare %a, %b {direction = LT} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    xla.return %c : tensor<i1>
  }
  func.return %r : tensor<4096x20xf32>
}
