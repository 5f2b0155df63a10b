// RUN: xla-opt %s -p xla-propagate-shardings | filecheck %s

// A function that is called twice is split in two ways.
// CHECK-NOT: func.call
// CHECK: xla.tanh %x attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
// CHECK: xla.tanh %y attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"x"}]>]>}
module attributes {sdy.meshes = {mesh = #sdy.mesh<["x"=2]>}} {
  func.func private @f(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
    %0 = xla.tanh %a : tensor<4x4xf32>
    func.return %0 : tensor<4x4xf32>
  }
  func.func @main(%x: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                  %y: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
    %0 = func.call @f(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %1 = xla.call %y {to_apply = @f} : tensor<4x4xf32>
    func.return %0, %1 : tensor<4x4xf32>, tensor<4x4xf32>
  }
}
