// RUN: xla-opt %s | filecheck %s
// RUN: xla-opt %s | xla-opt | filecheck %s

// CHECK-LABEL: func.func @constants
func.func @constants() {
  // CHECK-NEXT: xla.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
  // CHECK-NEXT: xla.constant dense<[0x7FC00000, 0x7F800000, -0.000000e+00]> : tensor<3xf32>
  %1 = stablehlo.constant dense<[0x7FC00000, 0x7F800000, -0.000000e+00]> : tensor<3xf32>
  // CHECK-NEXT: xla.constant dense<[-0.000000e+00, 0.000000e+00]> : tensor<2xf64>
  %2 = stablehlo.constant dense<[-0.0, 0.0]> : tensor<2xf64>
  // CHECK-NEXT: xla.constant dense<> : tensor<0x4xbf16>
  %3 = stablehlo.constant dense<> : tensor<0x4xbf16>
  // CHECK-NEXT: xla.constant dense<[true, false, false]> : tensor<3xi1>
  %4 = stablehlo.constant dense<[true, false, false]> : tensor<3xi1>
  // CHECK-NEXT: xla.constant dense<[1, 15, -8]> : tensor<3xi8>
  %5 = stablehlo.constant dense<"0x010FF8"> : tensor<3xi8>
  // CHECK-NEXT: xla.constant dense<[(1.000000e+00,2.000000e+00), (0x7FC00000,0.000000e+00)]> : tensor<2xcomplex<f32>>
  %6 = stablehlo.constant dense<[(1.0, 2.0), (0x7FC00000, 0.0)]> : tensor<2xcomplex<f32>>
  // CHECK-NEXT: xla.constant dense<[1.000000e+00, 5.000000e-01]> : tensor<2xf8E4M3FN>
  %7 = stablehlo.constant dense<[1.0, 0.5]> : tensor<2xf8E4M3FN>
  // CHECK-NEXT: xla.constant dense<[-8, 7]> : tensor<2xi4>
  %8 = stablehlo.constant dense<[-8, 7]> : tensor<2xi4>
  // CHECK-NEXT: xla.constant dense<[[1], [2]]> : tensor<2x1xui64> attributes {mhlo.note = "kept"}
  %9 = stablehlo.constant {mhlo.note = "kept"} dense<[[1], [2]]> : tensor<2x1xui64>
  // CHECK-NEXT: xla.constant dense<3> : tensor<1x1xi32>
  %10 = stablehlo.constant dense<3> : tensor<1x1xi32>
  return
}

// One value everywhere is a scalar that is broadcast, whatever the declared shape.
// CHECK-LABEL: func.func @splats
func.func @splats() {
  // CHECK-NEXT: %[[Z:.*]] = xla.constant dense<0.000000e+00> : tensor<f32>
  // CHECK-NEXT: xla.broadcast %[[Z]] {{.*}}: (tensor<f32>) -> tensor<100000x100000x100000xf32>
  %0 = stablehlo.constant dense<0.0> : tensor<100000x100000x100000xf32>
  // CHECK-NEXT: %[[T:.*]] = xla.constant dense<true> : tensor<i1>
  // CHECK-NEXT: xla.broadcast %[[T]] {{.*}}: (tensor<i1>) -> tensor<2x2xi1>
  %1 = stablehlo.constant dense<[[true, true], [true, true]]> : tensor<2x2xi1>
  // CHECK-NEXT: %[[N:.*]] = xla.constant dense<0x7FC00001> : tensor<f32>
  // CHECK-NEXT: xla.broadcast %[[N]] {{.*}}: (tensor<f32>) -> tensor<2xf32>
  %2 = "stablehlo.constant"() <{value = dense<0x7FC00001> : tensor<2xf32>}> : () -> tensor<2xf32>
  // CHECK-NEXT: %[[C:.*]] = xla.constant dense<(1.000000e+00,2.000000e+00)> : tensor<complex<f64>>
  // CHECK-NEXT: xla.broadcast %[[C]] {{.*}}: (tensor<complex<f64>>) -> tensor<9xcomplex<f64>>
  %3 = stablehlo.constant dense<(1.0, 2.0)> : tensor<9xcomplex<f64>>
  return
}

// CHECK-LABEL: func.func @resources
func.func @resources() {
  // CHECK-NEXT: xla.constant dense<[1.000000e+00, -2.000000e+00]> : tensor<2xf32>
  %0 = stablehlo.constant dense_resource<weights> : tensor<2xf32>
  // CHECK-NEXT: xla.constant dense<[true, false, true]> : tensor<3xi1>
  %1 = "stablehlo.constant"() <{value = dense_resource<mask> : tensor<3xi1>}> : () -> tensor<3xi1>
  // CHECK-NEXT: xla.constant dense<[1, -1, -8]> : tensor<3xi4>
  %2 = stablehlo.constant dense_resource<nibbles> : tensor<3xi4>
  // CHECK-NEXT: check.expect_eq_const %{{.*}}, dense<[1, -1, -8]> : tensor<3xi4>
  check.expect_eq_const %2, dense_resource<nibbles> : tensor<3xi4>
  // CHECK-NEXT: check.expect_almost_eq_const %{{.*}}, dense<[1.000000e+00, -2.000000e+00]> : tensor<2xf32>, tolerance = 5.000000e-01
  check.expect_almost_eq_const %0, dense_resource<weights> : tensor<2xf32>, tolerance = 0.5
  // CHECK-NEXT: check.expect_eq_const %{{.*}}, dense<[1.000000e+00, -2.000000e+00]> : tensor<2xf32>
  "check.expect_eq_const"(%0) <{value = dense_resource<weights> : tensor<2xf32>}> : (tensor<2xf32>) -> ()
  return
}

{-#
  dialect_resources: {
    builtin: {
      weights: "0x040000000000803F000000C0",
      mask: "0x01000000010001",
      nibbles: "0x01000000010F08"
    }
  }
#-}
