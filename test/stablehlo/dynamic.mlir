// RUN: xla-opt %s | filecheck %s --check-prefix KEPT
// RUN: xla-opt %s -p 'convert-stablehlo-to-xla{arguments="2x3xf32"}' | filecheck %s

// Until its argument types are known the program stays what it is.

// KEPT: func.func public @main(%x: tensor<?x3xf32>) -> tensor<?xf32> {
// KEPT-NEXT: %size = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>

// CHECK: func.func public @main(%x: tensor<2x3xf32>) -> tensor<6xf32> {
func.func public @main(%x: tensor<?x3xf32>) -> tensor<?xf32> {
  %size = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
  %0 = call @flat(%size, %x) : (tensor<i32>, tensor<?x3xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// The function is put in the place of its call; sizes are those of the arguments.
// CHECK: %{{.*}} = xla.reshape %x : (tensor<2x3xf32>) -> tensor<6xf32>
// CHECK-NEXT: %{{.*}} = xla.negate %{{.*}} : tensor<6xf32>
// CHECK-NEXT: func.return %{{.*}} : tensor<6xf32>
// CHECK-NOT: func.func
func.func private @flat(%size: tensor<i32>, %x: tensor<?x3xf32>) -> tensor<?xf32> {
  %three = stablehlo.constant dense<3> : tensor<i32>
  %0 = stablehlo.multiply %size, %three : tensor<i32>
  %1 = stablehlo.reshape %0 : (tensor<i32>) -> tensor<1xi32>
  %2 = stablehlo.dynamic_reshape %x, %1 : (tensor<?x3xf32>, tensor<1xi32>) -> tensor<?xf32>
  %3 = stablehlo.negate %2 : tensor<?xf32>
  return %3 : tensor<?xf32>
}
