// RUN: xla-opt %s | filecheck %s
// RUN: xla-opt %s | xla-opt | filecheck %s

// Collectives, tokens, transfers, random numbers, dynamic sizes and custom calls.

// CHECK-LABEL: func.func @collectives
func.func @collectives(%x: tensor<4xf32>, %m: tensor<4x6xf32>) {
  // CHECK-NEXT: xla.all_gather %x {replica_groups = #xla.replica_groups<{{..0,2.,.1,3..}}>, channel_id = 1, dimension = 0, use_global_device_ids = true} : (tensor<4xf32>) -> tensor<8xf32>
  %0 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, use_global_device_ids}> : (tensor<4xf32>) -> tensor<8xf32>
  // Groups of different sizes are filled up with -1.
  // CHECK-NEXT: xla.all_reduce %x, %x {replica_groups = #xla.replica_groups<{{..0,1.,.2..}}>{{.*}}} : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) to_apply
  %1:2 = "stablehlo.all_reduce"(%x, %x) <{replica_groups = dense<[[0, 1], [2, -1]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    // CHECK: xla.maximum
    %max = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %max : tensor<f32>
  }) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  // CHECK: xla.reduce_scatter %x {{.*}}dimension = 0} : (tensor<4xf32>) -> tensor<2xf32> to_apply
  %2 = "stablehlo.reduce_scatter"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, scatter_dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %sum = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<2xf32>
  // Channel 0 is none.
  // CHECK: xla.all_to_all %x {dimension = 0, replica_groups = #xla.replica_groups<{{..0,1..}}>} : tensor<4xf32>
  %3 = "stablehlo.all_to_all"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 0, type = 0>, concat_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, split_count = 2 : i64, split_dimension = 0 : i64}> : (tensor<4xf32>) -> tensor<4xf32>
  // What is split along one dimension and joined along another is moved there.
  // CHECK-NEXT: %[[A:.*]] = xla.all_to_all %m {dimension = 1
  // CHECK-NEXT: %[[B:.*]] = xla.reshape %[[A]] : (tensor<4x6xf32>) -> tensor<4x2x3xf32>
  // CHECK-NEXT: %[[C:.*]] = xla.transpose %[[B]] {dimensions = [1, 0, 2]} : (tensor<4x2x3xf32>) -> tensor<2x4x3xf32>
  // CHECK-NEXT: xla.reshape %[[C]] : (tensor<2x4x3xf32>) -> tensor<8x3xf32>
  %4 = "stablehlo.all_to_all"(%m) <{concat_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, split_count = 2 : i64, split_dimension = 1 : i64}> : (tensor<4x6xf32>) -> tensor<8x3xf32>
  // CHECK-NEXT: %[[D:.*]] = xla.all_to_all %m {dimension = 0
  // CHECK-NEXT: %[[E:.*]] = xla.reshape %[[D]] : (tensor<4x6xf32>) -> tensor<2x2x6xf32>
  // CHECK-NEXT: %[[F:.*]] = xla.transpose %[[E]] {dimensions = [1, 0, 2]} : tensor<2x2x6xf32>
  // CHECK-NEXT: xla.reshape %[[F]] : (tensor<2x2x6xf32>) -> tensor<2x12xf32>
  %5 = "stablehlo.all_to_all"(%m) <{concat_dimension = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, split_count = 2 : i64, split_dimension = 0 : i64}> : (tensor<4x6xf32>) -> tensor<2x12xf32>
  // CHECK-NEXT: xla.collective_permute %x {source_target_pairs = #xla.source_target_pairs<{{..0,2.,.1,3..}}>, channel_id = 1} : tensor<4xf32>
  %6 = "stablehlo.collective_permute"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: xla.collective_permute %x {source_target_pairs = #xla.source_target_pairs<{}>} : tensor<4xf32>
  %7 = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<> : tensor<0x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: xla.collective_broadcast %x {replica_groups = #xla.replica_groups<{{..0..}}>} : tensor<4xf32>
  %8 = "stablehlo.collective_broadcast"(%x) <{replica_groups = dense<0> : tensor<1x1xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: xla.partition_id : tensor<ui32>
  %9 = stablehlo.partition_id : tensor<ui32>
  // CHECK-NEXT: xla.replica_id : tensor<ui32>
  %10 = stablehlo.replica_id : tensor<ui32>
  return
}

// CHECK-LABEL: func.func @transfers
func.func @transfers(%x: tensor<4xf32>, %t: !stablehlo.token) {
  // CHECK-NEXT: xla.after_all : !xla.token
  %0 = stablehlo.create_token : !stablehlo.token
  // CHECK-NEXT: xla.after_all : !xla.token
  %1 = stablehlo.after_all  : !stablehlo.token
  // CHECK-NEXT: xla.after_all %{{.*}}, %t : !xla.token
  %2 = stablehlo.after_all %0, %t : !stablehlo.token
  // CHECK-NEXT: xla.infeed %t {infeed_config = "c"} attributes {xla.layout = {{.*}}} : (!xla.token) -> (tensor<4xf32>, tensor<i32>, !xla.token)
  %3:3 = "stablehlo.infeed"(%t) <{infeed_config = "c", layout = [[0], []]}> : (!stablehlo.token) -> (tensor<4xf32>, tensor<i32>, !stablehlo.token)
  // CHECK-NEXT: xla.outfeed %x, %x, %t : (tensor<4xf32>, tensor<4xf32>, !xla.token) -> !xla.token
  %4 = "stablehlo.outfeed"(%x, %x, %t) <{outfeed_config = ""}> : (tensor<4xf32>, tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
  // CHECK-NEXT: %[[S:.*]], %[[I:.*]], %[[T:.*]] = xla.send %x, %t {channel_id = 1, is_host_transfer = true} : (tensor<4xf32>, !xla.token) -> (tensor<4xf32>, tensor<ui32>, !xla.token)
  // CHECK-NEXT: xla.send_done %[[S]], %[[I]], %[[T]] {channel_id = 1, is_host_transfer = true} : (tensor<4xf32>, tensor<ui32>, !xla.token) -> !xla.token
  %5 = "stablehlo.send"(%x, %t) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>, is_host_transfer = true}> : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
  // CHECK-NEXT: %[[R:.*]], %[[J:.*]], %[[U:.*]] = xla.recv %t {channel_id = 2} : (!xla.token) -> (tensor<4xf32>, tensor<ui32>, !xla.token)
  // CHECK-NEXT: xla.recv_done %[[R]], %[[J]], %[[U]] {channel_id = 2} : (tensor<4xf32>, tensor<ui32>, !xla.token) -> (tensor<4xf32>, !xla.token)
  %6:2 = "stablehlo.recv"(%t) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>}> : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
  return
}

// CHECK-LABEL: func.func @random
func.func @random(%a: tensor<f32>, %s: tensor<2xui64>, %sizes: tensor<1xi64>) {
  // CHECK-NEXT: xla.rng %a, %a {distribution = rng_uniform} : (tensor<f32>, tensor<f32>) -> tensor<4xf32>
  %0 = stablehlo.rng %a, %a, %sizes, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<4xf32>
  // CHECK-NEXT: xla.rng_bit_generator %s {algorithm = rng_three_fry} : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)
  %1, %2 = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)
  return
}

// CHECK-LABEL: func.func @dynamic_shapes
func.func @dynamic_shapes(%x: tensor<2x3xf32>, %n: tensor<i32>, %sizes: tensor<1xi64>, %d: tensor<?x4xf32, #stablehlo.bounds<8, ?>>) {
  // CHECK-NEXT: xla.get_dimension_size %d {dimension = 0} : (tensor<?x4xf32, #xla.layout<{1,0}, bounds = [8, ?]>>) -> tensor<i32>
  %0 = stablehlo.get_dimension_size %d, dim = 0 : (tensor<?x4xf32, #stablehlo.bounds<8, ?>>) -> tensor<i32>
  // CHECK-NEXT: xla.set_dimension_size %x, %n {dimension = 1} : (tensor<2x3xf32>, tensor<i32>) -> tensor<2x?xf32, #xla.layout<{1,0}, bounds = [?, 3]>>
  %1 = stablehlo.set_dimension_size %x, %n, dim = 1 : (tensor<2x3xf32>, tensor<i32>) -> tensor<2x?xf32, #stablehlo.bounds<?, 3>>
  // CHECK-NEXT: xla.negate %d : tensor<?x4xf32, #xla.layout<{1,0}, bounds = [8, ?]>>
  %2 = stablehlo.negate %d : tensor<?x4xf32, #stablehlo.bounds<8, ?>>
  // The sizes become scalars.
  // CHECK-NEXT: %[[P:.*]] = xla.slice %sizes {start_indices = [0], limit_indices = [1], strides = [1]}
  // CHECK-NEXT: %[[Q:.*]] = xla.reshape %[[P]] : (tensor<1xi64>) -> tensor<i64>
  // CHECK-NEXT: %[[R:.*]] = xla.convert %[[Q]] : (tensor<i64>) -> tensor<i32>
  // CHECK-NEXT: xla.dynamic_reshape %x, %[[R]] : (tensor<2x3xf32>, tensor<i32>) -> tensor<?xf32, #xla.layout<{0}, bounds = [6]>>
  %3 = stablehlo.dynamic_reshape %x, %sizes : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<?xf32, #stablehlo.bounds<6>>
  return
}

// CHECK-LABEL: func.func @custom_calls
func.func @custom_calls(%x: tensor<4xf32>) {
  // CHECK-NEXT: xla.custom_call %x {custom_call_target = "foo", custom_call_has_side_effect = true, api_version = API_VERSION_TYPED_FFI} attributes {
  // CHECK-SAME: mhlo.sharding = #xla.hlo_sharding<{replicated}>
  // CHECK-SAME: xla.backend_config = {a = 1 : i32}
  // CHECK-SAME: xla.operand_layouts = [dense<0> : tensor<1xindex>]
  // CHECK-SAME: : tensor<4xf32>
  %0 = stablehlo.custom_call @foo(%x) {api_version = 4 : i32, backend_config = {a = 1 : i32}, has_side_effect = true, mhlo.sharding = "{replicated}", operand_layouts = [dense<0> : tensor<1xindex>], result_layouts = [dense<0> : tensor<1xindex>]} : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: xla.custom_call %x, %x {custom_call_target = "foo.bar baz"} attributes {xla.backend_config = "\22x\22"} : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<f32>)
  %1:2 = stablehlo.custom_call @"foo.bar baz"(%x, %x) {backend_config = "x"} : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<f32>)
  // CHECK-NEXT: xla.custom_call {custom_call_target = "foo"} : () -> ()
  stablehlo.custom_call @foo() : () -> ()
  // CHECK-NEXT: xla.custom_call %x {custom_call_target = "foo"} attributes {xla.output_to_operand_aliasing = "{{...}}: (0, {})}"}
  %2 = stablehlo.custom_call @foo(%x) {backend_config = "", output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]} : (tensor<4xf32>) -> tensor<4xf32>
  return
}
