// REQUIRES: mlir-opt
// RUN: xla-opt %s -p 'native{to=tensors}' | mlir-opt | filecheck %s
// RUN: xla-opt %s -p 'native{to=buffers}' | mlir-opt | filecheck %s
// RUN: xla-opt %s -p 'native{to=loops}' | mlir-opt | filecheck %s

// Every level is MLIR, also with types that only MLIR knows.
// CHECK: func.func @main
// CHECK-SAME: f8E5M2
// CHECK-SAME: f4E2M1FN
// CHECK-SAME: complex<f32>
func.func @main(%x: tensor<64xf8E5M2>, %y: tensor<64xf4E2M1FN>, %z: tensor<6xcomplex<f32>>)
    -> (tensor<64xf8E8M0FNU>, tensor<f8E5M2>, tensor<64xf4E2M1FN>, tensor<6xcomplex<f32>>) {
  %0 = xla.exponential %x : tensor<64xf8E5M2>
  %1 = xla.convert %0 : (tensor<64xf8E5M2>) -> tensor<64xf8E8M0FNU>
  %2 = xla.constant dense<1.5> : tensor<f8E5M2>
  %3 = xla.reduce %x, %2 {dimensions = [0]} : (tensor<64xf8E5M2>, tensor<f8E5M2>) -> tensor<f8E5M2> to_apply (%a: tensor<f8E5M2>, %b: tensor<f8E5M2>) {
    %s = xla.maximum %a, %b : tensor<f8E5M2>
    xla.return %s : tensor<f8E5M2>
  }
  %4 = xla.multiply %y, %y : tensor<64xf4E2M1FN>
  %5 = xla.tanh %z : tensor<6xcomplex<f32>>
  %6 = xla.power %5, %z : tensor<6xcomplex<f32>>
  func.return %1, %3, %4, %6 : tensor<64xf8E8M0FNU>, tensor<f8E5M2>, tensor<64xf4E2M1FN>, tensor<6xcomplex<f32>>
}
