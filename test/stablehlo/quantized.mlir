// RUN: xla-opt %s | filecheck %s --check-prefix KEPT
// RUN: xla-opt %s -p stablehlo-legalize-quant-to-math | filecheck %s
// RUN: xla-opt %s -p 'stablehlo-legalize-quant-to-math{arithmetic=float}' | filecheck %s --check-prefix FLOAT
// RUN: xla-opt %s -p stablehlo-legalize-quant-to-math -t stablehlo | filecheck %s --check-prefix WRITTEN
// RUN: xla-run %s --all-functions --backend reference
// RUN: xla-run %s --all-functions --backend interpreter
// RUN: xla-run %s --all-functions --backend llvm

!half = !quant.uniform<i8:f32, 0.5:3>
!weights = !quant.uniform<i8<-127:127>:f32:1, {0.5,0.25}>

// Products of stored integers, less what the zero point adds, a factor for each column; half way goes to the even integer, after zero points.
// KEPT-LABEL: @dot
// KEPT: %w = stablehlo.constant() <{value = dense<{{\[\[}}1, 2], [3, 5]]> : tensor<2x2xi8>}> : () -> tensor<2x2x!quant.uniform<i8<-127:127>:f32:1, {5.000000e-01,2.500000e-01}>>
// KEPT: %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] :
// CHECK-LABEL: @dot
// CHECK: [[P:%.*]] = xla.dot %x, %w {{.*}} : (tensor<2x2xi8>, tensor<2x2xi8>) -> tensor<2x2xi32>
// CHECK: [[S:%.*]] = xla.reduce {{.*}} -> tensor<2xi32>
// CHECK: [[C:%.*]] = xla.broadcast [[S]] {dimensions = [1]} : (tensor<2xi32>) -> tensor<2x2xi32>
// CHECK: [[Z:%.*]] = xla.multiply [[C]], {{.*}} : tensor<2x2xi32>
// CHECK: [[D:%.*]] = xla.subtract [[P]], [[Z]] : tensor<2x2xi32>
// CHECK: [[F:%.*]] = xla.convert [[D]] : (tensor<2x2xi32>) -> tensor<2x2xf32>
// CHECK: xla.constant dense<[5.000000e-01, 2.500000e-01]> : tensor<2xf32>
// CHECK: xla.multiply [[F]],
// CHECK: xla.round_nearest_even
// CHECK: xla.convert {{.*}} : (tensor<2x2xf32>) -> tensor<2x2xi8>
// FLOAT-LABEL: @dot
// FLOAT: xla.dot {{.*}} : tensor<2x2xf32>
// FLOAT: xla.divide
// WRITTEN-LABEL: @dot
// WRITTEN: stablehlo.dot_general {{.*}} : (tensor<2x2xi8>, tensor<2x2xi8>) -> tensor<2x2xi32>
// WRITTEN: %[[C:.*]] = stablehlo.constant dense<[5.000000e-01, 2.500000e-01]> : tensor<2xf32>
// WRITTEN: stablehlo.broadcast_in_dim %[[C]], dims = [1] : (tensor<2xf32>) -> tensor<2x2xf32>
func.func @dot() {
  %x = stablehlo.constant() <{value = dense<[[4, 5], [100, 127]]> : tensor<2x2xi8>}> : () -> tensor<2x2x!half>
  %w = stablehlo.constant() <{value = dense<[[1, 2], [3, 5]]> : tensor<2x2xi8>}> : () -> tensor<2x2x!weights>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x2x!half>, tensor<2x2x!weights>) -> tensor<2x2x!half>
  %1 = stablehlo.uniform_dequantize %0 : (tensor<2x2x!half>) -> tensor<2x2xf32>
  // 7 / 2 + 3 = 6.5 and 12 / 4 + 3; 469 / 2 + 3 and 814 / 4 + 3 are beyond the range
  check.expect_eq_const %1, dense<[[1.5, 1.5], [62.0, 62.0]]> : tensor<2x2xf32>
  return
}

// One scale: integers all the way.
// CHECK-LABEL: @sums
// CHECK-NOT: f32
// CHECK: xla.maximum {{.*}} : tensor<3xi8>
func.func @sums() {
  %x = stablehlo.constant() <{value = dense<[-128, 4, 127]> : tensor<3xi8>}> : () -> tensor<3x!half>
  %y = stablehlo.constant() <{value = dense<[0, -9, 100]> : tensor<3xi8>}> : () -> tensor<3x!half>
  %0 = stablehlo.add %x, %y : tensor<3x!half>
  %1 = stablehlo.bitcast_convert %0 : (tensor<3x!half>) -> tensor<3xi8>
  check.expect_eq_const %1, dense<[-128, -8, 127]> : tensor<3xi8>
  %2 = stablehlo.maximum %x, %y : tensor<3x!half>
  %3 = stablehlo.bitcast_convert %2 : (tensor<3x!half>) -> tensor<3xi8>
  check.expect_eq_const %3, dense<[0, 4, 127]> : tensor<3xi8>
  return
}

// Halves to even, and NaN is 0.
// KEPT-LABEL: @rounding
// KEPT: stablehlo.uniform_quantize %x
func.func @rounding() {
  %x = stablehlo.constant dense<[0.25, 0.75, -0.25, 1.0e30, 0xFF800000, 0x7FC00000]> : tensor<6xf32>
  %0 = stablehlo.uniform_quantize %x : (tensor<6xf32>) -> tensor<6x!half>
  %1 = stablehlo.bitcast_convert %0 : (tensor<6x!half>) -> tensor<6xi8>
  check.expect_eq_const %1, dense<[4, 4, 2, 127, -128, 0]> : tensor<6xi8>
  return
}

// A float on the left: numbers, by the definition.
// CHECK-LABEL: @hybrid
// CHECK: xla.dot {{.*}} : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
func.func @hybrid() {
  %x = stablehlo.constant dense<[[1.0, 0.5]]> : tensor<1x2xf32>
  %w = stablehlo.constant() <{value = dense<[[1, 2], [3, 5]]> : tensor<2x2xi8>}> : () -> tensor<2x2x!weights>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<1x2xf32>, tensor<2x2x!weights>) -> tensor<1x2xf32>
  check.expect_eq_const %0, dense<[[1.25, 1.125]]> : tensor<1x2xf32>
  return
}

// A computation on quantized values, and a control flow that hands them on.
func.func @regions() {
  %x = stablehlo.constant() <{value = dense<[[4, 5, 120], [-100, -100, 3]]> : tensor<2x3xi8>}> : () -> tensor<2x3x!half>
  %zero = stablehlo.constant() <{value = dense<3> : tensor<i8>}> : () -> tensor<!half>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<2x3x!half>, tensor<!half>) -> tensor<2x!half>
  %yes = stablehlo.constant dense<true> : tensor<i1>
  %1 = "stablehlo.if"(%yes) ({
    %2 = stablehlo.negate %0 : tensor<2x!half>
    stablehlo.return %2 : tensor<2x!half>
  }, {
    stablehlo.return %0 : tensor<2x!half>
  }) : (tensor<i1>) -> tensor<2x!half>
  %3 = stablehlo.bitcast_convert %1 : (tensor<2x!half>) -> tensor<2xi8>
  // 1 + 2 + 117 = 120 and -103 - 103, each sum saturated at -131; negated around the zero point.
  check.expect_eq_const %3, dense<[-117, 127]> : tensor<2xi8>
  return
}
