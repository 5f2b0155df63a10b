// RUN: not xla-opt %s -p convert-xla-to-linalg 2>&1 | filecheck %s

// All that is left is named, with the reason.
// CHECK: convert-xla-to-linalg: 3 operations are left unconverted
// CHECK-DAG: xla.fusion: 1, {{.*}} (xla-inline puts its computation in its place)
// CHECK-DAG: xla.reduce: 1, {{.*}} (xla.dot of tensor<f32>, tensor<f32> in a computation is not lowered yet)
// CHECK-DAG: xla.tuple: 1, {{.*}} (xla-flatten-tuples takes tuples apart)
func.func @main(%x: tensor<4xf32>, %i: tensor<f32>) -> tuple<tensor<f32>> {
  %0 = xla.reduce %x, %i {dimensions = [0]} : (tensor<4xf32>, tensor<f32>) -> tensor<f32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %d = xla.dot %a, %b : tensor<f32>
    xla.return %d : tensor<f32>
  }
  %1 = xla.fusion %0 {kind = kLoop} : tensor<f32> calls (%a: tensor<f32>) {
    %2 = xla.tan %a : tensor<f32>
    xla.return %2 : tensor<f32>
  }
  %3 = xla.tuple %1 : (tensor<f32>) -> tuple<tensor<f32>>
  func.return %3 : tuple<tensor<f32>>
}
