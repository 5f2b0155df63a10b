// RUN: xla-opt %s --verify-diagnostics -p xla-flatten-tuples

// expected-error@below {{sharding {{devices=[4]<=[4]}} has 1 elements for 2 arrays}}
func.func @main(%x: tuple<tensor<8xf32>, tensor<8xf32>> {xla.sharding = #xla.hlo_sharding<{{devices=[4]<=[4]}}>}) -> tensor<8xf32> {
  %0 = xla.get_tuple_element %x {index = 0} : (tuple<tensor<8xf32>, tensor<8xf32>>) -> tensor<8xf32>
  func.return %0 : tensor<8xf32>
}
