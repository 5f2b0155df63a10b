// RUN: xla-opt %s --split-input-file -p xla-insert-reshards,xla-partition | filecheck %s
// RUN: xla-opt %s --split-input-file -p xla-insert-reshards,xla-partition,xla-report-communication -o /dev/null 2>&1 | filecheck %s --check-prefix=REPORT

// Parts of the batch; the gradient-like product is summed over devices.
// CHECK: builtin.module attributes {xla.replica_count = 1 : i64, xla.num_partitions = 2 : i64}
// CHECK: func.func @main(%x: tensor<4x6xf32>, %y: tensor<4x3xf32>) -> tensor<6x3xf32>
// CHECK-NEXT: %[[DOT:.*]] = xla.dot %x, %y {{.*}} : (tensor<4x6xf32>, tensor<4x3xf32>) -> tensor<6x3xf32>
// CHECK-NEXT: %[[ALL:.*]] = xla.all_reduce %[[DOT]] {replica_groups = #xla.replica_groups<mesh['x'=2] {'x'}>
// CHECK: func.return %[[ALL]]
// REPORT: all_reduce {{ *}}"x" {{ *}}1 {{ *}}72
// REPORT: a device of 2: 144 floating-point operations
module attributes {sdy.meshes = {mesh = #sdy.mesh<["x"=2]>}} {
  func.func @main(
      %x: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
      %y: tensor<8x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
      -> (tensor<6x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
    %0 = xla.dot %x, %y {lhs_contracting_dims = [0], rhs_contracting_dims = [0]} : (tensor<8x6xf32>, tensor<8x3xf32>) -> tensor<6x3xf32>
    func.return %0 : tensor<6x3xf32>
  }
}

// -----

// 7 rows over 2 devices are 4 and 4: the last one is masked before the sum.
// CHECK: func.func @main(%x: tensor<4x3xf32>) -> tensor<3xf32>
// CHECK: %[[MASKED:.*]] = xla.select %{{.*}}, %x, %{{.*}} : (tensor<4x3xi1>, tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
// CHECK: xla.reduce %[[MASKED]]
// REPORT: all_reduce {{ *}}"x" {{ *}}1 {{ *}}12
module attributes {sdy.meshes = {mesh = #sdy.mesh<["x"=2]>}} {
  func.func @main(%x: tensor<7x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
      -> (tensor<3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
    %z = xla.constant dense<0.0> : tensor<f32>
    %0 = xla.reduce %x, %z {dimensions = [0]} : (tensor<7x3xf32>, tensor<f32>) -> tensor<3xf32>
      to_apply (%a: tensor<f32>, %b: tensor<f32>) {
        %1 = xla.add %a, %b : (tensor<f32>, tensor<f32>) -> tensor<f32>
        xla.return %1 : tensor<f32>
      }
    func.return %0 : tensor<3xf32>
  }
}

// -----

// A window of 3 needs a row of each neighbour.
// CHECK: func.func @main(%x: tensor<4x3xf32>) -> tensor<4x3xf32>
// CHECK: %[[LAST:.*]] = xla.slice %x {start_indices = [3, 0], limit_indices = [4, 3], strides = [1, 1]}
// CHECK: xla.collective_permute %[[LAST]] {source_target_pairs = #xla.source_target_pairs<{{[{][{]}}0,1}}>, channel_id = 1}
// CHECK: %[[FIRST:.*]] = xla.slice %x {start_indices = [0, 0], limit_indices = [1, 3], strides = [1, 1]}
// CHECK: xla.collective_permute %[[FIRST]] {source_target_pairs = #xla.source_target_pairs<{{[{][{]}}1,0}}>, channel_id = 1}
// CHECK: xla.reduce_window %{{.*}} : (tensor<6x3xf32>, tensor<f32>) -> tensor<4x3xf32>
// REPORT: collective_permute {{.*}} 2 {{ *}}24
module attributes {sdy.meshes = {mesh = #sdy.mesh<["x"=2]>}} {
  func.func @main(%x: tensor<8x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
      -> (tensor<8x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
    %z = xla.constant dense<0.0> : tensor<f32>
    %0 = xla.reduce_window %x, %z {window = #xla.window<size=3x1 pad=1_1x0_0>} : (tensor<8x3xf32>, tensor<f32>) -> tensor<8x3xf32>
      to_apply (%a: tensor<f32>, %b: tensor<f32>) {
        %1 = xla.add %a, %b : (tensor<f32>, tensor<f32>) -> tensor<f32>
        xla.return %1 : tensor<f32>
      }
    func.return %0 : tensor<8x3xf32>
  }
}

// -----

// A computation uses a constant of outside, whose operation is made anew, and its own shardings go.
// CHECK: func.func @main(%x: tensor<4x3xf32>) -> tensor<4x3xf32>
// CHECK: %[[Z:.*]] = xla.constant dense<0.000000e+00> : tensor<f32>
// CHECK: xla.sort %x {{.*}} : tensor<4x3xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
// CHECK-NEXT: %[[N:.*]] = xla.negate %a : tensor<f32>
// CHECK-NEXT: xla.compare %[[N]], %[[Z]]
module attributes {sdy.meshes = {mesh = #sdy.mesh<["x"=2]>}} {
  func.func @main(%x: tensor<8x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
      -> (tensor<8x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
    %z = xla.constant dense<0.0> : tensor<f32>
    %0 = xla.sort %x {dimension = 1, is_stable = true} : tensor<8x3xf32>
      to_apply (%a: tensor<f32>, %b: tensor<f32>) {
        %1 = xla.negate %a attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, []>]>} : tensor<f32>
        %2 = xla.compare %1, %z {direction = LT} : (tensor<f32>, tensor<f32>) -> tensor<i1>
        xla.return %2 : tensor<i1>
      }
    func.return %0 : tensor<8x3xf32>
  }
}

// -----

// Each device calls with the part that it has, although the call names a device of its own.
// CHECK: func.func @main(%x: tensor<4xf32>)
// CHECK-NEXT: xla.custom_call %x {{.*}}"xla_ffi_partitioned_python_cpu_callback"{{.*}} : (tensor<4xf32>) -> ()
module attributes {sdy.meshes = {mesh = #sdy.mesh<["x"=2]>, one = #sdy.mesh<[], device_ids=[0]>}} {
  func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
    xla.custom_call %x {custom_call_target = "xla_ffi_partitioned_python_cpu_callback", custom_call_has_side_effect = true} attributes {sdy.sharding = #sdy.sharding_per_value<[<@one, []>]>} : (tensor<8xf32>) -> ()
    func.return
  }
}

// -----

// To terms: the first device has the whole array, the other zeros; or each its block among zeros.
// CHECK: func.func @main(%x: tensor<4xf32>, %y: tensor<2xf32>)
// CHECK: %[[FIRST:.*]] = xla.compare %{{.*}}, %{{.*}} {direction = EQ}
// CHECK: xla.select %{{.*}}, %x, %{{.*}} : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK: xla.dynamic_update_slice %{{.*}}, %y, %{{.*}} : (tensor<4xf32>, tensor<2xf32>, tensor<i32>) -> tensor<4xf32>
module attributes {sdy.meshes = {mesh = #sdy.mesh<["x"=2]>}} {
  func.func @main(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}, %y: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
      -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}, tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], unreduced={"x"}>}) {
    func.return %x, %y : tensor<4xf32>, tensor<4xf32>
  }
}

// -----

// A reshape drops a dimension of size 1, which one device of two has: all need it.
// CHECK: func.func @main(%x: tensor<1x3xi32>) -> tensor<3xi32>
// CHECK: %[[BOTH:.*]] = xla.all_gather %{{.*}} -> tensor<2x3xi32>
// CHECK: %[[ROW:.*]] = xla.slice %[[BOTH]] {start_indices = [0, 0], limit_indices = [1, 3], strides = [1, 1]}
// CHECK: xla.reshape %[[ROW]] : (tensor<1x3xi32>) -> tensor<3xi32>
module attributes {sdy.meshes = {mesh = #sdy.mesh<["x"=2]>}} {
  func.func @main(%x: tensor<2x3xi32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
      -> (tensor<3xi32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
    %0 = xla.slice %x {start_indices = [0, 0], limit_indices = [1, 3], strides = [1, 1]} attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : (tensor<2x3xi32>) -> tensor<1x3xi32>
    %1 = xla.reshape %0 : (tensor<1x3xi32>) -> tensor<3xi32>
    func.return %1 : tensor<3xi32>
  }
}

// -----

// Random bits from where the part begins: two blocks of four words for each device.
// CHECK: func.func @main(%k: tensor<2xui64>) -> (tensor<2xui64>, tensor<2x4xui32>)
// CHECK: xla.constant dense<[0, 2]> : tensor<2xi32>
// CHECK: xla.rng_bit_generator %{{.*}} {algorithm = rng_default} : (tensor<3xui64>) -> (tensor<3xui64>, tensor<2x4xui32>)
// CHECK-NOT: tensor<4x4xui32>
module attributes {sdy.meshes = {mesh = #sdy.mesh<["x"=2]>}} {
  func.func @main(%k: tensor<2xui64>)
      -> (tensor<2xui64>, tensor<4x4xui32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
    %0, %1 = xla.rng_bit_generator %k {algorithm = rng_default} attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>, <@mesh, [{"x"}, {}]>]>} : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4x4xui32>)
    func.return %0, %1 : tensor<2xui64>, tensor<4x4xui32>
  }
}
