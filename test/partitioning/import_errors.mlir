// RUN: xla-opt %s --split-input-file --verify-diagnostics -p xla-import-shardings

// A border without a word on the whole array.
func.func @main(%x: tensor<8xf32>) -> tensor<4xf32> {
  // expected-error@below {{SPMDFullToShardShape: nothing says how the whole array is spread over devices}}
  %0 = xla.custom_call %x {custom_call_target = "SPMDFullToShardShape"} attributes {xla.sharding = #xla.hlo_sharding<{manual}>} : (tensor<8xf32>) -> tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

// -----

// expected-error@below {{parameter 0: sharding {devices=[2,2]<=[4]} has 2 dimensions for an array of rank 1}}
func.func @main(%x: tensor<8xf32> {xla.sharding = #xla.hlo_sharding<{devices=[2,2]<=[4]}>}) -> tensor<8xf32> {
  func.return %x : tensor<8xf32>
}

// -----

module attributes {sdy.meshes = {mesh = #sdy.mesh<["x"=2]>}} {
  func.func @main(%x: tensor<8xf32>) -> tensor<4xf32> {
    // expected-error@below {{xla.sdy.in_shardings is missing}}
    %0 = xla.custom_call %x {custom_call_target = "xla.sdy.GlobalToLocalShape"} : (tensor<8xf32>) -> tensor<4xf32>
    func.return %0 : tensor<4xf32>
  }
}

// -----

module attributes {xla.num_partitions = 4 : i64} {
  // expected-error@below {{parameter 0: sharding {maximal device=9} of a program of 4 devices}}
  func.func @main(%x: tensor<8xf32> {xla.sharding = #xla.hlo_sharding<{maximal device=9}>}) -> tensor<8xf32> {
    func.return %x : tensor<8xf32>
  }
}

// -----

module attributes {xla.num_partitions = 4 : i64} {
  // expected-error@below {{parameter 0: sharding {devices=[3]<=[3]} is over 3 devices up to 2, the program has 4}}
  func.func @main(%x: tensor<8xf32> {xla.sharding = #xla.hlo_sharding<{devices=[3]<=[3]}>}) -> tensor<8xf32> {
    func.return %x : tensor<8xf32>
  }
}

// -----

module attributes {xla.num_partitions = 4 : i64} {
  func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
    // expected-error@below {{sharding {devices=[4]0,1,2,4} is over 4 devices up to 4, the program has 4}}
    %0 = xla.negate %x attributes {xla.sharding = #xla.hlo_sharding<{devices=[4]0,1,2,4}>} : tensor<8xf32>
    func.return %0 : tensor<8xf32>
  }
}

// -----

module attributes {xla.num_partitions = 2 : i64} {
  func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
    // expected-error@below {{sharding {mesh['a'=2], [{}], unreduced=max{'a'}}: only sums are made of parts}}
    %0 = xla.negate %x attributes {xla.sharding = #xla.hlo_sharding<{mesh['a'=2], [{}], unreduced=max{'a'}}>} : tensor<8xf32>
    func.return %0 : tensor<8xf32>
  }
}
