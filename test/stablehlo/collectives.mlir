// RUN: xla-opt %s | filecheck %s --check-prefix=XLA
// RUN: xla-opt %s -t stablehlo | filecheck %s --check-prefix=STABLEHLO

// XLA-LABEL: @collectives(
// STABLEHLO-LABEL: @collectives(
func.func @collectives(%x: tensor<2x4xf32>, %k: tensor<3xi32>, %n: tensor<2xi32>, %v: tensor<8xf32>) {
  // XLA: %gathered = xla.all_gather %x {replica_groups = #xla.replica_groups<{{[{][{]}}0,1},{2,3}}>, dimension = 1} : (tensor<2x4xf32>) -> tensor<2x8xf32>
  // STABLEHLO: %gathered = "stablehlo.all_gather"(%x) <{all_gather_dim = 1 : i64, replica_groups = dense<{{[[][[]}}0, 1], [2, 3]]> : tensor<2x2xi64>}> : (tensor<2x4xf32>) -> tensor<2x8xf32>
  %gathered = "stablehlo.all_gather"(%x) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>}> : (tensor<2x4xf32>) -> tensor<2x8xf32>
  // XLA: %sum, %sums = xla.all_reduce %x, %v {replica_groups = #xla.replica_groups<{{[{][{]}}0,1},{2,3}}>, channel_id = 1, use_global_device_ids = true} : (tensor<2x4xf32>, tensor<8xf32>) -> (tensor<2x4xf32>, tensor<8xf32>) to_apply (%a: tensor<f32>, %b: tensor<f32>) {
  // STABLEHLO: %sum, %sums = "stablehlo.all_reduce"(%x, %v) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<{{[[][[]}}0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
  %sum, %sums = "stablehlo.all_reduce"(%x, %v) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<2x4xf32>, tensor<8xf32>) -> (tensor<2x4xf32>, tensor<8xf32>)
  // XLA: %part = xla.reduce_scatter %x {replica_groups = #xla.replica_groups<{{[{][{]}}0,1}}>, dimension = 0} : (tensor<2x4xf32>) -> tensor<1x4xf32> to_apply (%{{.*}}: tensor<f32>, %{{.*}}: tensor<f32>) {
  // STABLEHLO: %part = "stablehlo.reduce_scatter"(%x) <{replica_groups = dense<{{[[][[]}}0, 1]]> : tensor<1x2xi64>, scatter_dimension = 0 : i64}> ({
  %part = "stablehlo.reduce_scatter"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, scatter_dimension = 0 : i64}> ({
  ^bb0(%a_0: tensor<f32>, %b_0: tensor<f32>):
    %s_0 = stablehlo.maximum %a_0, %b_0 : tensor<f32>
    stablehlo.return %s_0 : tensor<f32>
  }) : (tensor<2x4xf32>) -> tensor<1x4xf32>
  // XLA: %exchanged = xla.all_to_all %x {dimension = 0, replica_groups = #xla.replica_groups<{{[{][{]}}1,0}}>} : tensor<2x4xf32>
  // STABLEHLO: %exchanged = "stablehlo.all_to_all"(%x) <{concat_dimension = 0 : i64, replica_groups = dense<{{[[][[]}}1, 0]]> : tensor<1x2xi64>, split_count = 2 : i64, split_dimension = 0 : i64}> : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %exchanged = "stablehlo.all_to_all"(%x) <{concat_dimension = 0 : i64, replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>, split_count = 2 : i64, split_dimension = 0 : i64}> : (tensor<2x4xf32>) -> tensor<2x4xf32>
  // XLA: xla.reshape %x : (tensor<2x4xf32>) -> tensor<1x2x4xf32>
  // STABLEHLO: stablehlo.reshape %x : (tensor<2x4xf32>) -> tensor<1x2x4xf32>
  %0 = stablehlo.reshape %x : (tensor<2x4xf32>) -> tensor<1x2x4xf32>
  // XLA: xla.reshape %x : (tensor<2x4xf32>) -> tensor<1x2x4xf32>
  // STABLEHLO: stablehlo.reshape %x : (tensor<2x4xf32>) -> tensor<1x2x4xf32>
  %1 = stablehlo.reshape %x : (tensor<2x4xf32>) -> tensor<1x2x4xf32>
  // XLA: xla.concatenate %{{.*}}, %{{.*}} {dimension = 0} : (tensor<1x2x4xf32>, tensor<1x2x4xf32>) -> tensor<2x2x4xf32>
  // STABLEHLO: stablehlo.concatenate %{{.*}}, %{{.*}}, dim = 0 : (tensor<1x2x4xf32>, tensor<1x2x4xf32>) -> tensor<2x2x4xf32>
  %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<1x2x4xf32>, tensor<1x2x4xf32>) -> tensor<2x2x4xf32>
  // XLA: xla.all_to_all %{{.*}} {dimension = 0, replica_groups = #xla.replica_groups<{{[{][{]}}0,1}}>} : tensor<2x2x4xf32>
  // STABLEHLO: "stablehlo.all_to_all"(%{{.*}}) <{concat_dimension = 0 : i64, replica_groups = dense<{{[[][[]}}0, 1]]> : tensor<1x2xi64>, split_count = 2 : i64, split_dimension = 0 : i64}> : (tensor<2x2x4xf32>) -> tensor<2x2x4xf32>
  %3 = "stablehlo.all_to_all"(%2) <{concat_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, split_count = 2 : i64, split_dimension = 0 : i64}> : (tensor<2x2x4xf32>) -> tensor<2x2x4xf32>
  // XLA: xla.slice %{{.*}} {start_indices = [0, 0, 0], limit_indices = [1, 2, 4], strides = [1, 1, 1]} : (tensor<2x2x4xf32>) -> tensor<1x2x4xf32>
  // STABLEHLO: stablehlo.slice %{{.*}} [0:1, 0:2, 0:4] : (tensor<2x2x4xf32>) -> tensor<1x2x4xf32>
  %4 = stablehlo.slice %3 [0:1, 0:2, 0:4] : (tensor<2x2x4xf32>) -> tensor<1x2x4xf32>
  // XLA: xla.reshape %{{.*}} : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
  // STABLEHLO: stablehlo.reshape %{{.*}} : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
  %5 = stablehlo.reshape %4 : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
  // XLA: xla.slice %{{.*}} {start_indices = [1, 0, 0], limit_indices = [2, 2, 4], strides = [1, 1, 1]} : (tensor<2x2x4xf32>) -> tensor<1x2x4xf32>
  // STABLEHLO: stablehlo.slice %{{.*}} [1:2, 0:2, 0:4] : (tensor<2x2x4xf32>) -> tensor<1x2x4xf32>
  %6 = stablehlo.slice %3 [1:2, 0:2, 0:4] : (tensor<2x2x4xf32>) -> tensor<1x2x4xf32>
  // XLA: xla.reshape %{{.*}} : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
  // STABLEHLO: stablehlo.reshape %{{.*}} : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
  %7 = stablehlo.reshape %6 : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
  // XLA: %moved = xla.collective_permute %x {source_target_pairs = #xla.source_target_pairs<{{[{][{]}}0,1},{1,0}}>, channel_id = 2} : tensor<2x4xf32>
  // STABLEHLO: %moved = "stablehlo.collective_permute"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, source_target_pairs = dense<{{[[][[]}}0, 1], [1, 0]]> : tensor<2x2xi64>}> : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %moved = "stablehlo.collective_permute"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>}> : (tensor<2x4xf32>) -> tensor<2x4xf32>
  // XLA: %told = xla.collective_broadcast %x {replica_groups = #xla.replica_groups<{{[{][{]}}1,0}}>} : tensor<2x4xf32>
  // STABLEHLO: %told = "stablehlo.collective_broadcast"(%x) <{replica_groups = dense<{{[[][[]}}1, 0]]> : tensor<1x2xi64>}> : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %told = "stablehlo.collective_broadcast"(%x) <{replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>}> : (tensor<2x4xf32>) -> tensor<2x4xf32>
  // XLA: %ragged = xla.custom_call %k, %k, %n, %n, %n, %n {custom_call_target = "ragged_all_to_all", api_version = API_VERSION_TYPED_FFI} attributes {xla.backend_config = {replica_groups = dense<{{[[][[]}}0, 1]]> : tensor<1x2xi64>}} : (tensor<3xi32>, tensor<3xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<3xi32>
  // STABLEHLO: %ragged = stablehlo.custom_call @ragged_all_to_all(%k, %k, %n, %n, %n, %n) {api_version = 4 : i32, backend_config = {replica_groups = dense<{{[[][[]}}0, 1]]> : tensor<1x2xi64>}} : (tensor<3xi32>, tensor<3xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<3xi32>
  %ragged = stablehlo.custom_call @ragged_all_to_all(%k, %k, %n, %n, %n, %n) {api_version = 4 : i32, backend_config = {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}} : (tensor<3xi32>, tensor<3xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<3xi32>
  // XLA: %replica = xla.replica_id : tensor<ui32>
  // STABLEHLO: %replica = stablehlo.replica_id : tensor<ui32>
  %replica = stablehlo.replica_id : tensor<ui32>
  // XLA: %partition = xla.partition_id : tensor<ui32>
  // STABLEHLO: %partition = stablehlo.partition_id : tensor<ui32>
  %partition = stablehlo.partition_id : tensor<ui32>
  return
}
