// RUN: xla-opt %s | filecheck %s --check-prefix=XLA
// RUN: xla-opt %s -t stablehlo | filecheck %s --check-prefix=STABLEHLO

// Tuples are taken apart on the way out: StableHLO deprecates them.
// XLA-LABEL: @tuples(
// STABLEHLO-LABEL: @tuples(
func.func @tuples(%x: tensor<2xf32>, %t: !stablehlo.token) -> tensor<2xf32> {
  // XLA: %pair = xla.tuple %x, %t : (tensor<2xf32>, !xla.token) -> tuple<tensor<2xf32>, !xla.token>
  %pair = stablehlo.tuple %x, %t : tuple<tensor<2xf32>, !stablehlo.token>
  // XLA: %element = xla.get_tuple_element %pair {index = 0} : (tuple<tensor<2xf32>, !xla.token>) -> tensor<2xf32>
  // STABLEHLO-NEXT: return %x : tensor<2xf32>
  %element = stablehlo.get_tuple_element %pair[0] : (tuple<tensor<2xf32>, !stablehlo.token>) -> tensor<2xf32>
  return %element : tensor<2xf32>
}
