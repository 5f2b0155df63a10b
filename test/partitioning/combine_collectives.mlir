// RUN: xla-opt %s -p xla-combine-collectives | filecheck %s
// RUN: xla-opt %s -p 'xla-combine-collectives{bytes=20}' | filecheck %s --check-prefix=FEW

// The third all-reduce needs the first, so it waits alone; a maximum is no sum.
// CHECK: %[[BOTH:.*]], %{{.*}} = xla.all_reduce %x, %y
// CHECK: %{{.*}} = xla.all_reduce %x {
// CHECK-NEXT: xla.maximum
// CHECK: xla.negate %[[BOTH]]
// FEW-NOT: xla.all_reduce %x, %y
module attributes {xla.num_partitions = 2 : i64} {
  func.func @main(%x: tensor<4xf32>, %y: tensor<2x3xf32>) -> (tensor<4xf32>, tensor<2x3xf32>, tensor<4xf32>, tensor<4xf32>) {
    %0 = xla.all_reduce %x {channel_id = 1, replica_groups = #xla.replica_groups<{{0,1}}>, use_global_device_ids = true} : tensor<4xf32>
      to_apply (%a: tensor<f32>, %b: tensor<f32>) {
        %4 = xla.add %a, %b : tensor<f32>
        xla.return %4 : tensor<f32>
      }
    %1 = xla.all_reduce %y {channel_id = 1, replica_groups = #xla.replica_groups<{{0,1}}>, use_global_device_ids = true} : tensor<2x3xf32>
      to_apply (%c: tensor<f32>, %d: tensor<f32>) {
        %5 = xla.add %c, %d : tensor<f32>
        xla.return %5 : tensor<f32>
      }
    %2 = xla.all_reduce %x {channel_id = 1, replica_groups = #xla.replica_groups<{{0,1}}>, use_global_device_ids = true} : tensor<4xf32>
      to_apply (%e: tensor<f32>, %f: tensor<f32>) {
        %6 = xla.maximum %e, %f : tensor<f32>
        xla.return %6 : tensor<f32>
      }
    %n = xla.negate %0 : tensor<4xf32>
    %3 = xla.all_reduce %n {channel_id = 1, replica_groups = #xla.replica_groups<{{0,1}}>, use_global_device_ids = true} : tensor<4xf32>
      to_apply (%g: tensor<f32>, %h: tensor<f32>) {
        %7 = xla.add %g, %h : tensor<f32>
        xla.return %7 : tensor<f32>
      }
    func.return %0, %1, %2, %3 : tensor<4xf32>, tensor<2x3xf32>, tensor<4xf32>, tensor<4xf32>
  }
}
