// RUN: xla-opt %s -p xla-expand-communication --split-input-file | filecheck %s

// xla-update-checks: CHECK @all_gather filter=custom_call|xla\.(while|map|add|maximum|reshape|transpose|slice|concatenate|select)|return
// CHECK-LABEL:   func.func @all_gather(%x: tensor<2x4xf32>) -> tensor<2x8xf32> {
// CHECK-NEXT:      %gathered = xla.custom_call %x {custom_call_target = "xla.all_gather", custom_call_has_side_effect = true} attributes {site = 0 : i64, dimension = 1 : i64, replica_groups = "{{[{][{]}}0,1},{2,3}}"} : (tensor<2x4xf32>) -> tensor<2x8xf32>
// CHECK-NEXT:      func.return %gathered : tensor<2x8xf32>
func.func @all_gather(%x: tensor<2x4xf32>) -> tensor<2x8xf32> {
  %gathered = xla.all_gather %x {dimension = 1, replica_groups = #xla.replica_groups<{{0,1},{2,3}}>} : (tensor<2x4xf32>) -> tensor<2x8xf32>
  func.return %gathered : tensor<2x8xf32>
}

// -----

// xla-update-checks: CHECK @all_reduce filter=custom_call|xla\.(while|map|add|maximum|reshape|transpose|slice|concatenate|select)|return
// CHECK-LABEL:   func.func @all_reduce(%x: tensor<2x4xf32>, %v: tensor<8xf32>) -> (tensor<2x4xf32>, tensor<8xf32>) {
// CHECK-NEXT:      %[[CUSTOM_CALL:.*]], %[[CUSTOM_CALL_1:.*]], %{{.*}} = xla.custom_call %x, %v {custom_call_target = "xla.all_reduce", custom_call_has_side_effect = true} attributes {site = 0 : i64, use_global_device_ids = true, replica_groups = "[2,2]<=[4]", channel_id = 1 : i64} : (tensor<2x4xf32>, tensor<8xf32>) -> (tensor<2x2x4xf32>, tensor<2x8xf32>, tensor<i32>)
// CHECK-NEXT:      %[[SLICE:.*]] = xla.slice %[[CUSTOM_CALL]] {start_indices = [0, 0, 0], limit_indices = [1, 2, 4], strides = [1, 1, 1]} : (tensor<2x2x4xf32>) -> tensor<1x2x4xf32>
// CHECK-NEXT:      %[[RESHAPE:.*]] = xla.reshape %[[SLICE]] : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:      %[[SLICE_1:.*]] = xla.slice %[[CUSTOM_CALL]] {start_indices = [1, 0, 0], limit_indices = [2, 2, 4], strides = [1, 1, 1]} : (tensor<2x2x4xf32>) -> tensor<1x2x4xf32>
// CHECK-NEXT:      %[[RESHAPE_1:.*]] = xla.reshape %[[SLICE_1]] : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:      %sum = xla.map %[[RESHAPE]], %[[RESHAPE_1]] : tensor<2x4xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
// CHECK-NEXT:        %s = xla.add %a, %b : tensor<f32>
// CHECK-NEXT:        xla.return %s : tensor<f32>
// CHECK:           %[[SLICE_2:.*]] = xla.slice %[[CUSTOM_CALL_1]] {start_indices = [0, 0], limit_indices = [1, 8], strides = [1, 1]} : (tensor<2x8xf32>) -> tensor<1x8xf32>
// CHECK-NEXT:      %[[RESHAPE_2:.*]] = xla.reshape %[[SLICE_2]] : (tensor<1x8xf32>) -> tensor<8xf32>
// CHECK-NEXT:      %[[SLICE_3:.*]] = xla.slice %[[CUSTOM_CALL_1]] {start_indices = [1, 0], limit_indices = [2, 8], strides = [1, 1]} : (tensor<2x8xf32>) -> tensor<1x8xf32>
// CHECK-NEXT:      %[[RESHAPE_3:.*]] = xla.reshape %[[SLICE_3]] : (tensor<1x8xf32>) -> tensor<8xf32>
// CHECK-NEXT:      %sums = xla.map %[[RESHAPE_2]], %[[RESHAPE_3]] : tensor<8xf32> to_apply (%[[ARG:.*]]: tensor<f32>, %[[ARG_1:.*]]: tensor<f32>) {
// CHECK-NEXT:        %[[ADD:.*]] = xla.add %[[ARG]], %[[ARG_1]] : tensor<f32>
// CHECK-NEXT:        xla.return %[[ADD]] : tensor<f32>
// CHECK:           func.return %sum, %sums : tensor<2x4xf32>, tensor<8xf32>
func.func @all_reduce(%x: tensor<2x4xf32>, %v: tensor<8xf32>) -> (tensor<2x4xf32>, tensor<8xf32>) {
  %sum, %sums = xla.all_reduce %x, %v {replica_groups = #xla.replica_groups<[2,2]<=[4]>, channel_id = 1, use_global_device_ids = true} : (tensor<2x4xf32>, tensor<8xf32>) -> (tensor<2x4xf32>, tensor<8xf32>) to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %s = xla.add %a, %b : tensor<f32>
    xla.return %s : tensor<f32>
  }
  func.return %sum, %sums : tensor<2x4xf32>, tensor<8xf32>
}

// -----

// xla-update-checks: CHECK @reduce_scatter filter=custom_call|xla\.(while|map|add|maximum|reshape|transpose|slice|concatenate|select)|return
// CHECK-LABEL:   func.func @reduce_scatter(%x: tensor<2x4xf32>) -> tensor<1x4xf32> {
// CHECK-NEXT:      %[[CUSTOM_CALL:.*]], %{{.*}} = xla.custom_call %x {custom_call_target = "xla.reduce_scatter", custom_call_has_side_effect = true} attributes {site = 0 : i64, dimension = 0 : i64, replica_groups = "{{[{][{]}}0,1}}"} : (tensor<2x4xf32>) -> (tensor<2x1x4xf32>, tensor<i32>)
// CHECK-NEXT:      %[[SLICE:.*]] = xla.slice %[[CUSTOM_CALL]] {start_indices = [0, 0, 0], limit_indices = [1, 1, 4], strides = [1, 1, 1]} : (tensor<2x1x4xf32>) -> tensor<1x1x4xf32>
// CHECK-NEXT:      %[[RESHAPE:.*]] = xla.reshape %[[SLICE]] : (tensor<1x1x4xf32>) -> tensor<1x4xf32>
// CHECK-NEXT:      %[[SLICE_1:.*]] = xla.slice %[[CUSTOM_CALL]] {start_indices = [1, 0, 0], limit_indices = [2, 1, 4], strides = [1, 1, 1]} : (tensor<2x1x4xf32>) -> tensor<1x1x4xf32>
// CHECK-NEXT:      %[[RESHAPE_1:.*]] = xla.reshape %[[SLICE_1]] : (tensor<1x1x4xf32>) -> tensor<1x4xf32>
// CHECK-NEXT:      %part = xla.map %[[RESHAPE]], %[[RESHAPE_1]] : tensor<1x4xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
// CHECK-NEXT:        %s = xla.maximum %a, %b : tensor<f32>
// CHECK-NEXT:        xla.return %s : tensor<f32>
// CHECK:           func.return %part : tensor<1x4xf32>
func.func @reduce_scatter(%x: tensor<2x4xf32>) -> tensor<1x4xf32> {
  %part = xla.reduce_scatter %x {dimension = 0, replica_groups = #xla.replica_groups<{{0,1}}>} : (tensor<2x4xf32>) -> tensor<1x4xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %s = xla.maximum %a, %b : tensor<f32>
    xla.return %s : tensor<f32>
  }
  func.return %part : tensor<1x4xf32>
}

// -----

// xla-update-checks: CHECK @all_to_all filter=custom_call|xla\.(while|map|add|maximum|reshape|transpose|slice|concatenate|select)|return
// CHECK-LABEL:   func.func @all_to_all(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
// CHECK-NEXT:      %exchanged = xla.custom_call %x {custom_call_target = "xla.all_to_all", custom_call_has_side_effect = true} attributes {site = 0 : i64, dimension = 0 : i64, replica_groups = "{{[{][{]}}1,0}}"} : tensor<2x4xf32>
// CHECK-NEXT:      func.return %exchanged : tensor<2x4xf32>
func.func @all_to_all(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %exchanged = xla.all_to_all %x {dimension = 0, replica_groups = #xla.replica_groups<{{1,0}}>} : tensor<2x4xf32>
  func.return %exchanged : tensor<2x4xf32>
}

// -----

// xla-update-checks: CHECK @all_to_all_of_operands filter=custom_call|xla\.(while|map|add|maximum|reshape|transpose|slice|concatenate|select)|return
// CHECK-LABEL:   func.func @all_to_all_of_operands(%x: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
// CHECK-NEXT:      %a0, %a1 = xla.custom_call %x, %x {custom_call_target = "xla.all_to_all", custom_call_has_side_effect = true} attributes {site = 0 : i64, replica_groups = "{{[{][{]}}0,1}}"} : (tensor<2x4xf32>, tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>)
// CHECK-NEXT:      func.return %a0, %a1 : tensor<2x4xf32>, tensor<2x4xf32>
func.func @all_to_all_of_operands(%x: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %a0, %a1 = xla.all_to_all %x, %x {replica_groups = #xla.replica_groups<{{0,1}}>} : (tensor<2x4xf32>, tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>)
  func.return %a0, %a1 : tensor<2x4xf32>, tensor<2x4xf32>
}

// -----

// xla-update-checks: CHECK @collective_permute filter=custom_call|xla\.(while|map|add|maximum|reshape|transpose|slice|concatenate|select)|return
// CHECK-LABEL:   func.func @collective_permute(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
// CHECK-NEXT:      %moved = xla.custom_call %x {custom_call_target = "xla.collective_permute", custom_call_has_side_effect = true} attributes {site = 0 : i64, source_target_pairs = "{{[{][{]}}0,1},{1,0}}", channel_id = 2 : i64} : tensor<2x4xf32>
// CHECK-NEXT:      func.return %moved : tensor<2x4xf32>
func.func @collective_permute(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %moved = xla.collective_permute %x {source_target_pairs = #xla.source_target_pairs<{{0,1},{1,0}}>, channel_id = 2} : tensor<2x4xf32>
  func.return %moved : tensor<2x4xf32>
}

// -----

// xla-update-checks: CHECK @collective_broadcast filter=custom_call|xla\.(while|map|add|maximum|reshape|transpose|slice|concatenate|select)|return
// CHECK-LABEL:   func.func @collective_broadcast(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
// CHECK-NEXT:      %told = xla.custom_call %x {custom_call_target = "xla.collective_broadcast", custom_call_has_side_effect = true} attributes {site = 0 : i64, replica_groups = "{{[{][{]}}1,0}}"} : tensor<2x4xf32>
// CHECK-NEXT:      func.return %told : tensor<2x4xf32>
func.func @collective_broadcast(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %told = xla.collective_broadcast %x {replica_groups = #xla.replica_groups<{{1,0}}>} : tensor<2x4xf32>
  func.return %told : tensor<2x4xf32>
}

// -----

// xla-update-checks: CHECK @ragged_all_to_all filter=custom_call|xla\.(while|map|add|maximum|reshape|transpose|slice|concatenate|select)|return
// CHECK-LABEL:   func.func @ragged_all_to_all(%k: tensor<3xi32>, %n: tensor<2xi32>) -> tensor<3xi32> {
// CHECK-NEXT:      %ragged = xla.custom_call %k, %k, %n, %n, %n, %n {custom_call_target = "xla.ragged_all_to_all", custom_call_has_side_effect = true} attributes {site = 0 : i64, replica_groups = "{{[{][{]}}0,1}}"} : (tensor<3xi32>, tensor<3xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<3xi32>
// CHECK-NEXT:      func.return %ragged : tensor<3xi32>
func.func @ragged_all_to_all(%k: tensor<3xi32>, %n: tensor<2xi32>) -> tensor<3xi32> {
  %ragged = xla.ragged_all_to_all %k, %k, %n, %n, %n, %n {replica_groups = #xla.replica_groups<{{0,1}}>} : (tensor<3xi32>, tensor<3xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<3xi32>
  func.return %ragged : tensor<3xi32>
}

// -----

// xla-update-checks: CHECK @replica_id filter=custom_call|xla\.(while|map|add|maximum|reshape|transpose|slice|concatenate|select)|return
// CHECK-LABEL:   func.func @replica_id() -> tensor<ui32> {
// CHECK-NEXT:      %replica = xla.custom_call {custom_call_target = "xla.replica_id", custom_call_has_side_effect = true} attributes {site = 0 : i64} : tensor<ui32>
// CHECK-NEXT:      func.return %replica : tensor<ui32>
func.func @replica_id() -> tensor<ui32> {
  %replica = xla.replica_id : tensor<ui32>
  func.return %replica : tensor<ui32>
}

// -----

// xla-update-checks: CHECK @partition_id filter=custom_call|xla\.(while|map|add|maximum|reshape|transpose|slice|concatenate|select)|return
// CHECK-LABEL:   func.func @partition_id() -> tensor<ui32> {
// CHECK-NEXT:      %partition = xla.custom_call {custom_call_target = "xla.partition_id", custom_call_has_side_effect = true} attributes {site = 0 : i64} : tensor<ui32>
// CHECK-NEXT:      func.return %partition : tensor<ui32>
func.func @partition_id() -> tensor<ui32> {
  %partition = xla.partition_id : tensor<ui32>
  func.return %partition : tensor<ui32>
}
