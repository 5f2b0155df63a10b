// RUN: xla-opt %s -p xla-expand-manual-computations | filecheck %s
// RUN: xla-opt %s -p xla-insert-reshards,xla-partition | filecheck %s --check-prefix=PARTITIONED

// Devices that hold whole arrays cut their parts and gather; those that hold parts do neither.
// CHECK: func.func @main(%x: tensor<8xf32>) -> tensor<8xf32>
// CHECK: %[[PART:.*]] = xla.dynamic_slice %x, %{{.*}} {dynamic_slice_sizes = [4]}
// CHECK: %[[SUM:.*]] = xla.all_reduce %[[PART]]
// CHECK: %[[WHOLE:.*]] = xla.all_gather %[[SUM]]
// CHECK: func.return %[[WHOLE]]
// PARTITIONED: func.func @main(%x: tensor<4xf32>) -> tensor<4xf32>
// PARTITIONED-NEXT: %[[SUM:.*]] = xla.all_reduce %x
// PARTITIONED: func.return %[[SUM]]
module attributes {sdy.meshes = {mesh = #sdy.mesh<["x"=2]>}} {
  func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
      -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
    %0 = xla.custom_call %x {custom_call_target = "xla.sdy.GlobalToLocalShape"} attributes {mhlo.frontend_attributes = {xla.sdy.in_shardings = "#sdy.sharding_per_value<[<@mesh, [{\22x\22}]>]>", xla.sdy.manual_axes = "#sdy<manual_axes{\22x\22}>"}} : (tensor<8xf32>) -> tensor<4xf32>
    %1 = xla.all_reduce %0 {channel_id = 1, replica_groups = #xla.replica_groups<{{0,1}}>, use_global_device_ids = true} : tensor<4xf32>
      to_apply (%a: tensor<f32>, %b: tensor<f32>) {
        %3 = xla.add %a, %b : tensor<f32>
        xla.return %3 : tensor<f32>
      }
    %2 = xla.custom_call %1 {custom_call_target = "xla.sdy.LocalToGlobalShape"} attributes {mhlo.frontend_attributes = {xla.sdy.out_shardings = "#sdy.sharding_per_value<[<@mesh, [{\22x\22}]>]>", xla.sdy.manual_axes = "#sdy<manual_axes{\22x\22}>"}} : (tensor<4xf32>) -> tensor<8xf32>
    func.return %2 : tensor<8xf32>
  }
}
