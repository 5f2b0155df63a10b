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

module attributes {sdy.meshes = {mesh = #xla.mesh<["x"=2]>}} {
  func.func @main(%x: tensor<8xf32>) -> tensor<4xf32> {
    // expected-error@below {{xla.sdy.in_shardings is missing}}
    %0 = xla.custom_call %x {custom_call_target = "xla.sdy.GlobalToLocalShape"} : (tensor<8xf32>) -> tensor<4xf32>
    func.return %0 : tensor<4xf32>
  }
}
