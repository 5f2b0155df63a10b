// RUN: not xla-opt %s -p convert-xla-to-linalg 2>&1 | filecheck %s

// All that is left is named, with the reason.
// CHECK: convert-xla-to-linalg: 3 operations are left unconverted
// CHECK-DAG: xla.fusion: 1, {{.*}} (xla-inline puts its computation in its place)
// CHECK-DAG: xla.asin: 1, {{.*}} (not lowered yet for c64)
// CHECK-DAG: xla.tuple: 1, {{.*}} (xla-flatten-tuples takes tuples apart)
func.func @main(%x: tensor<complex<f32>>) -> tuple<tensor<complex<f32>>> {
  %0 = xla.asin %x : tensor<complex<f32>>
  %1 = xla.fusion %0 {kind = kLoop} : tensor<complex<f32>> calls (%a: tensor<complex<f32>>) {
    %2 = xla.acos %a : tensor<complex<f32>>
    xla.return %2 : tensor<complex<f32>>
  }
  %3 = xla.tuple %1 : (tensor<complex<f32>>) -> tuple<tensor<complex<f32>>>
  func.return %3 : tuple<tensor<complex<f32>>>
}
