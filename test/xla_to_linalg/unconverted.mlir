// RUN: not xla-opt %s -p convert-xla-to-linalg 2>&1 | filecheck %s

// All that is left is named, with the reason.
// CHECK: convert-xla-to-linalg: 6 operations are left unconverted
// CHECK-DAG: xla.fusion: 1, {{.*}} (xla-inline puts its computation in its place)
// CHECK-DAG: xla.while: 1, {{.*}} (convert-xla-to-scf lowers it)
// CHECK-DAG: xla.conditional: 1, {{.*}} (convert-xla-to-scf lowers it)
// CHECK-DAG: xla.bitcast: 1, {{.*}} (xla-expand-bitcast lowers it)
// CHECK-DAG: xla.get_tuple_element: 1, {{.*}} (xla-flatten-tuples takes tuples apart)
// CHECK-DAG: xla.tuple: 1, {{.*}} (xla-flatten-tuples takes tuples apart)
func.func @main(%0: tensor<f32>) -> tuple<tensor<f32>> {
  %1 = xla.fusion %0 {kind = kLoop} : tensor<f32> calls (%a: tensor<f32>) {
    %2 = xla.tan %a : tensor<f32>
    xla.return %2 : tensor<f32>
  }
  %p = xla.constant dense<false> : tensor<i1>
  %4 = xla.while %1 : tensor<f32> condition (%a: tensor<f32>) {
    xla.return %p : tensor<i1>
  } body (%a: tensor<f32>) {
    xla.return %a : tensor<f32>
  }
  %5 = xla.conditional %p : (tensor<i1>) -> tensor<f32> branch () {
    xla.return %4 : tensor<f32>
  } branch () {
    xla.return %1 : tensor<f32>
  }
  %6 = xla.bitcast %5 : (tensor<f32>) -> tensor<1xi32>
  %3 = xla.tuple %5 : (tensor<f32>) -> tuple<tensor<f32>>
  %7 = xla.get_tuple_element %3 {index = 0} : (tuple<tensor<f32>>) -> tensor<f32>
  func.return %3 : tuple<tensor<f32>>
}
