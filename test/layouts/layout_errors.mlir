// RUN: not xla-opt %s -p xla-expand-layouts 2>&1 | filecheck %s
// RUN: not xla-opt %s -p native 2>&1 | filecheck %s --check-prefix NATIVE

// All layouts that are not lowered are named, with the reason.
// CHECK:     xla-expand-layouts: 3 operations are left unconverted
// CHECK-DAG: func.func: 1, {{.*}} (functions without a body take default layouts)
// CHECK-DAG: xla.negate: 2, {{.*}} (the layout {1,0:SC(1:2)} splits dimensions between memories), {{.*}} (the layout {1,0:M(8)} puts sizes in front of the elements)
// NATIVE:    xla-assign-layouts: 2 operations are left unconverted
func.func private @other(tensor<2x3xf32, #xla.layout<{0,1}>>)
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = xla.negate %x : (tensor<2x3xf32>) -> tensor<2x3xf32, #xla.layout<{1,0:SC(1:2)}>>
  %1 = xla.negate %0 : (tensor<2x3xf32, #xla.layout<{1,0:SC(1:2)}>>) -> tensor<2x3xf32, #xla.layout<{1,0:M(8)}>>
  %2 = xla.negate %1 : (tensor<2x3xf32, #xla.layout<{1,0:M(8)}>>) -> tensor<2x3xf32>
  func.return %2 : tensor<2x3xf32>
}
