// RUN: xla-opt %s -p 'stablehlo-refine-arguments{types="2x3xf32,?xf32"}' | filecheck %s --check-prefix ARGUMENTS
// RUN: xla-opt %s -p 'stablehlo-refine-arguments{types="2x3xf32,4xf32"},stablehlo-check-shape-assertions,stablehlo-refine-shapes' | filecheck %s
// RUN: xla-opt %s -p 'stablehlo-refine-arguments{types="2x3xf32,4xf32"},stablehlo-refine-shapes' -t stablehlo | filecheck %s --check-prefix WRITTEN
// RUN: xla-opt %s -p stablehlo-canonicalize-dynamism | filecheck %s --check-prefix CANONICAL
// RUN: not xla-opt %s -p 'stablehlo-refine-arguments{types="1x3xf32,4xf32"},stablehlo-check-shape-assertions' 2>&1 | filecheck %s --check-prefix WRONG
// RUN: not xla-opt %s -p 'stablehlo-refine-arguments{types="2x4xf32,4xf32"}' 2>&1 | filecheck %s --check-prefix TYPES

// WRONG: refinement.mlir:{{.*}}: error: stablehlo.custom_call: at least two rows, found 1
// TYPES: error: {{.*}}@main takes (f32[?,3], f32[?]), the types are (f32[2,4], f32[4])

// ARGUMENTS: func.func public @main(%x: tensor<2x3xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
// CHECK: func.func public @main(%x: tensor<2x3xf32>, %y: tensor<4xf32>) -> tensor<6xf32> {
// WRITTEN: func.func public @main(%x: tensor<2x3xf32>, %y: tensor<4xf32>) -> tensor<6xf32> {
// CANONICAL: func.func public @main(%x: tensor<?x3xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
func.func public @main(%x: tensor<?x3xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  // ARGUMENTS: [[S:%.*]] = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  // ARGUMENTS: [[X:%.*]] = stablehlo.custom_call @stablehlo.shape_refinement_operand_wrapper(%x, [[S]]) {indices_of_shape_operands = dense<1> : tensor<1xi64>} : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<?x3xf32>
  // ARGUMENTS: %size = stablehlo.get_dimension_size [[X]], dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
  %size = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %ok = stablehlo.compare GE, %size, %two : (tensor<i32>, tensor<i32>) -> tensor<i1>
  // CANONICAL: shape_assertion
  // CHECK-NOT: shape_assertion
  stablehlo.custom_call @shape_assertion(%ok, %size) {error_message = "at least two rows, found {0}", has_side_effect = true} : (tensor<i1>, tensor<i32>) -> ()
  %three = stablehlo.constant dense<3> : tensor<i32>
  %count = stablehlo.multiply %size, %three : tensor<i32>
  %shape = stablehlo.reshape %count : (tensor<i32>) -> tensor<1xi32>
  // CANONICAL: %flat = stablehlo.dynamic_reshape
  // CHECK: %flat = xla.reshape %x : (tensor<2x3xf32>) -> tensor<6xf32>
  // WRITTEN: %flat = stablehlo.reshape %x : (tensor<2x3xf32>) -> tensor<6xf32>
  %flat = stablehlo.dynamic_reshape %x, %shape : (tensor<?x3xf32>, tensor<1xi32>) -> tensor<?xf32>
  // A constant shape, and lists that are constant.
  %c = stablehlo.constant dense<[2, 3]> : tensor<2xi32>
  // CANONICAL: %places = stablehlo.iota dim = 1 : tensor<2x3xi32>
  %places = stablehlo.dynamic_iota %c, dim = 1 : (tensor<2xi32>) -> tensor<2x3xi32>
  %zero = stablehlo.constant dense<0> : tensor<1xi32>
  %one = stablehlo.constant dense<1> : tensor<1xi32>
  // CANONICAL: %part = stablehlo.slice %y [0:1] : (tensor<?xf32>) -> tensor<1xf32>
  %part = stablehlo.real_dynamic_slice %y, %zero, %one, %one : (tensor<?xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<1xf32>
  return %flat : tensor<?xf32>
}
