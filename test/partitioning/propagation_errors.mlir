// RUN: xla-opt %s --split-input-file --verify-diagnostics -p xla-propagate-shardings

// Manual computations see parts of one size.
module attributes {sdy.meshes = {mesh = #sdy.mesh<["x"=2]>}} {
  func.func @main(%x: tensor<5xf32>) -> tensor<3xf32> {
    // expected-error@below {{size 5 of dimension 0 for 2 devices}}
    %0 = xla.custom_call %x {custom_call_target = "xla.sdy.GlobalToLocalShape"} attributes {mhlo.frontend_attributes = {xla.sdy.in_shardings = "#sdy.sharding_per_value<[<@mesh, [{\22x\22}]>]>", xla.sdy.manual_axes = "#sdy<manual_axes{\22x\22}>"}} : (tensor<5xf32>) -> tensor<3xf32>
    func.return %0 : tensor<3xf32>
  }
}

// -----

module attributes {sdy.meshes = {mesh = #sdy.mesh<["x"=2, "y"=2]>}} {
  func.func @main(%x: tensor<2xf32>) -> tensor<8xf32> {
    // expected-error@below {{a part of [8] by <@mesh, [{"x", "y"}]> is [2], expected [4]}}
    %0 = xla.custom_call %x {custom_call_target = "xla.sdy.LocalToGlobalShape"} attributes {mhlo.frontend_attributes = {xla.sdy.out_shardings = "#sdy.sharding_per_value<[<@mesh, [{\22x\22, \22y\22}]>]>", xla.sdy.manual_axes = "#sdy<manual_axes{\22x\22}>"}} : (tensor<2xf32>) -> tensor<8xf32>
    func.return %0 : tensor<8xf32>
  }
}
