// RUN: xla-opt %s -p xla-propagate-shardings --split-input-file | filecheck %s
// RUN: xla-opt %s -p "xla-propagate-shardings{strategy=basic}" --split-input-file | filecheck %s --check-prefix=BASIC

// Data parallel: the rows of the batch, forwards and to the constant of one use only.
// CHECK-LABEL: func.func @rows
// CHECK-SAME: %w: tensor<4x16xf32>)
// CHECK: xla.dot {{.*}}sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>
// CHECK: xla.constant {{.*}}sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>
// CHECK: xla.maximum {{.*}}sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>
module attributes {sdy.meshes = {mesh = #sdy.mesh<["x"=4, "y"=2]>}} {
  func.func @rows(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %w: tensor<4x16xf32>) -> tensor<8x16xf32> {
    %0 = xla.dot %x, %w {lhs_contracting_dims = [1], rhs_contracting_dims = [0]} : (tensor<8x4xf32>, tensor<4x16xf32>) -> tensor<8x16xf32>
    %zero = xla.constant dense<0.0> : tensor<8x16xf32>
    %1 = xla.maximum %0, %zero : tensor<8x16xf32>
    func.return %1 : tensor<8x16xf32>
  }
}

// -----

// A conflict: what both begin with. A closed dimension stays; the strategy basic goes nowhere then.
// CHECK-LABEL: func.func @conflict
// CHECK-SAME: %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}]>}, %c: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
// CHECK: xla.add {{.*}}sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x", "y"}]>]>
// BASIC-LABEL: func.func @conflict
// BASIC: xla.add {{.*}}sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>
module attributes {sdy.meshes = {mesh = #sdy.mesh<["x"=2, "y"=2, "z"=2]>}} {
  func.func @conflict(%b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", "y"}]>}, %c: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
    %0 = xla.add %b, %c : tensor<8xf32>
    func.return %0 : tensor<8xf32>
  }
}

// -----

// A reshape splits an axis of 4 into its parts; groups are split alike; a barrier stops.
// CHECK-LABEL: func.func @parts
// CHECK-SAME: %g: tensor<4x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}
// CHECK: xla.reshape {{.*}}sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x":(1)2}, {"x":(2)2}]>]>
// CHECK: xla.custom_call {{.*}}PropagationBarrier
// CHECK-NOT: sdy.sharding
// CHECK: xla.negate
module attributes {sdy.meshes = {mesh = #sdy.mesh<["x"=4]>}} {
  func.func @parts(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %y: tensor<4x2xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %g: tensor<4x2xf32>) -> (tensor<2x4xf32>, tensor<8xf32>) {
    xla.custom_call %y {custom_call_target = "xla.sdy.ShardingGroup"} attributes {xla.sdy.sharding_group_id = 1 : i64} : (tensor<4x2xf32>) -> ()
    xla.custom_call %g {custom_call_target = "xla.sdy.ShardingGroup"} attributes {xla.sdy.sharding_group_id = 1 : i64} : (tensor<4x2xf32>) -> ()
    %0 = xla.reshape %x : (tensor<8xf32>) -> tensor<2x4xf32>
    %1 = xla.custom_call %x {custom_call_target = "xla.sdy.PropagationBarrier"} attributes {xla.sdy.allowed_direction = "NONE"} : tensor<8xf32>
    %2 = xla.negate %1 : tensor<8xf32>
    func.return %0, %2 : tensor<2x4xf32>, tensor<8xf32>
  }
}
