// RUN: xla-opt %s | filecheck %s --check-prefix=XLA
// RUN: xla-opt %s -t stablehlo | filecheck %s --check-prefix=STABLEHLO

// XLA-LABEL: @tuples(
// STABLEHLO-LABEL: @tuples(
func.func @tuples(%x: tensor<2xf32>, %t: !stablehlo.token) {
  return
}
