// RUN: xla-opt %s | filecheck %s --check-prefix KEPT
// RUN: xla-opt %s -p 'convert-stablehlo-to-xla{arguments="2x3xf32,6xf32"},xla-simplify' | filecheck %s

// Shapes of type index may be arguments of a program, constants, or the shapes of arrays.

// KEPT: %c = arith.constant dense<[1, 2]> : tensor<2xindex>
// KEPT: %shape = shape.shape_of %x : tensor<?x?xf32> -> tensor<2xindex>
// KEPT: stablehlo.dynamic_reshape %y, %shape : (tensor<?xf32>, tensor<2xindex>) -> tensor<?x?xf32>

// CHECK: func.func @main(%x: tensor<2x3xf32>, %y: tensor<6xf32>) -> tensor<1x1xf32> {
// CHECK-NEXT: %{{.*}} = xla.reshape %y : (tensor<6xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: %{{.*}} = xla.slice %{{.*}} {start_indices = [1, 2], limit_indices = [2, 3], strides = [1, 2]}
// CHECK-NEXT: func.return
func.func @main(%x: tensor<?x?xf32>, %y: tensor<?xf32>) -> tensor<?x?xf32> {
  %c = arith.constant dense<[1, 2]> : tensor<2xindex>
  %shape = shape.shape_of %x : tensor<?x?xf32> -> tensor<2xindex>
  %0 = stablehlo.dynamic_reshape %y, %shape : (tensor<?xf32>, tensor<2xindex>) -> tensor<?x?xf32>
  %1 = stablehlo.real_dynamic_slice %0, %c, %shape, %c : (tensor<?x?xf32>, tensor<2xindex>, tensor<2xindex>, tensor<2xindex>) -> tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}
