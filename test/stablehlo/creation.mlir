// RUN: xla-opt %s | filecheck %s --check-prefix=XLA
// RUN: xla-opt %s -t stablehlo | filecheck %s --check-prefix=STABLEHLO

// XLA-LABEL: @creation(
// STABLEHLO-LABEL: @creation(
func.func @creation() {
  // XLA: %cst = xla.constant dense<[1.000000e+00, 2.500000e+00]> : tensor<2xf32>
  // STABLEHLO: %cst = stablehlo.constant dense<[1.000000e+00, 2.500000e+00]> : tensor<2xf32>
  %cst = stablehlo.constant dense<[1.000000e+00, 2.500000e+00]> : tensor<2xf32>
  // XLA: %{{.*}} = xla.constant dense<0xFF800000> : tensor<f32>
  // STABLEHLO: %{{.*}} = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
  // XLA: xla.constant dense<true> : tensor<i1>
  // XLA: %c = xla.broadcast %{{.*}} : (tensor<i1>) -> tensor<2xi1>
  // STABLEHLO: %c = stablehlo.constant dense<true> : tensor<2xi1>
  %c = stablehlo.constant dense<true> : tensor<2xi1>
  // XLA: %{{.*}} = xla.constant dense<1> : tensor<i32>
  // STABLEHLO: %{{.*}} = stablehlo.constant dense<1> : tensor<i32>
  %c_0 = stablehlo.constant dense<1> : tensor<i32>
  // XLA: %{{.*}} = xla.constant dense<> : tensor<0x3xf32>
  // STABLEHLO: %{{.*}} = stablehlo.constant dense<> : tensor<0x3xf32>
  %cst_1 = stablehlo.constant dense<> : tensor<0x3xf32>
  // XLA: xla.iota {iota_dimension = 1} : tensor<2x3xui8>
  // STABLEHLO: stablehlo.iota dim = 1 : tensor<2x3xui8>
  %0 = stablehlo.iota dim = 1 : tensor<2x3xui8>
  return
}
