// RUN: xla-opt %s | filecheck %s --check-prefix=XLA
// RUN: xla-opt %s -t stablehlo | filecheck %s --check-prefix=STABLEHLO

// XLA-LABEL: @conversion(
// STABLEHLO-LABEL: @conversion(
func.func @conversion(%x: tensor<2xf32>, %bytes: tensor<2x4xui8>) {
  // XLA: %narrow = xla.convert %x : (tensor<2xf32>) -> tensor<2xf8E4M3FN>
  // STABLEHLO: %narrow = stablehlo.convert %x : (tensor<2xf32>) -> tensor<2xf8E4M3FN>
  %narrow = stablehlo.convert %x : (tensor<2xf32>) -> tensor<2xf8E4M3FN>
  // XLA: %halves = xla.bitcast_convert %x : (tensor<2xf32>) -> tensor<2x2xui16>
  // STABLEHLO: %halves = stablehlo.bitcast_convert %x : (tensor<2xf32>) -> tensor<2x2xui16>
  %halves = stablehlo.bitcast_convert %x : (tensor<2xf32>) -> tensor<2x2xui16>
  // XLA: %words = xla.bitcast_convert %bytes : (tensor<2x4xui8>) -> tensor<2xi32>
  // STABLEHLO: %words = stablehlo.bitcast_convert %bytes : (tensor<2x4xui8>) -> tensor<2xi32>
  %words = stablehlo.bitcast_convert %bytes : (tensor<2x4xui8>) -> tensor<2xi32>
  // XLA: %same = xla.bitcast_convert %x : (tensor<2xf32>) -> tensor<2xi32>
  // STABLEHLO: %same = stablehlo.bitcast_convert %x : (tensor<2xf32>) -> tensor<2xi32>
  %same = stablehlo.bitcast_convert %x : (tensor<2xf32>) -> tensor<2xi32>
  // XLA: %rounded = xla.reduce_precision %x {exponent_bits = 5, mantissa_bits = 2} : tensor<2xf32>
  // STABLEHLO: %rounded = stablehlo.reduce_precision %x, format = e5m2 : tensor<2xf32>
  %rounded = stablehlo.reduce_precision %x, format = e5m2 : tensor<2xf32>
  return
}
