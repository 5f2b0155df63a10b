// RUN: xla-opt %s -p xla-expand-communication --split-input-file | filecheck %s

// A computation that is no collective is done where it begins.
// xla-update-checks: CHECK @async_start
// CHECK-LABEL:   func.func @async_start(%x: tensor<2xf32>) -> tensor<2xf32> {
// CHECK-NEXT:      %negative = xla.negate %x : tensor<2xf32>
// CHECK-NEXT:      %begun = xla.constant dense<0> : tensor<i32>
// CHECK-NEXT:      func.return %negative : tensor<2xf32>
// CHECK-NEXT:    }
func.func @async_start(%x: tensor<2xf32>) -> tensor<2xf32> {
  %begun:3 = xla.async_start %x : (tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<i32>) calls (%a: tensor<2xf32>) {
    %negative = xla.negate %a : tensor<2xf32>
    xla.return %negative : tensor<2xf32>
  }
  %updated:3 = xla.async_update %begun#0, %begun#1, %begun#2 : (tensor<2xf32>, tensor<2xf32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<i32>)
  %result = xla.async_done %updated#0, %updated#1, %updated#2 : (tensor<2xf32>, tensor<2xf32>, tensor<i32>) -> tensor<2xf32>
  func.return %result : tensor<2xf32>
}

// -----

// Nobody sees a copy before it is done.
// xla-update-checks: CHECK @copy_start
// CHECK-LABEL:   func.func @copy_start(%x: tensor<2xf32>) -> tensor<2xf32> {
// CHECK-NEXT:      %copying = xla.constant dense<0> : tensor<ui32>
// CHECK-NEXT:      func.return %x : tensor<2xf32>
// CHECK-NEXT:    }
func.func @copy_start(%x: tensor<2xf32>) -> tensor<2xf32> {
  %copying:3 = xla.copy_start %x : (tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<ui32>)
  %copied = xla.copy_done %copying#0, %copying#1, %copying#2 : (tensor<2xf32>, tensor<2xf32>, tensor<ui32>) -> tensor<2xf32>
  func.return %copied : tensor<2xf32>
}

// -----

// The start gives a number for what goes on, and the end takes it.
// xla-update-checks: CHECK @all_gather_start
// CHECK-LABEL:   func.func @all_gather_start(%x: tensor<2xf32>) -> tensor<4xf32> {
// CHECK-NEXT:      %gathering = xla.custom_call %x {custom_call_target = "xla.all_gather_start", custom_call_has_side_effect = true} attributes {site = 0 : i64, dimension = 0 : i64, replica_groups = "{{[{][{]}}0,1}}"} : (tensor<2xf32>) -> tensor<ui64>
// CHECK-NEXT:      %gathered = xla.custom_call %gathering {custom_call_target = "xla.all_gather_done", custom_call_has_side_effect = true} attributes {site = 1 : i64} : (tensor<ui64>) -> tensor<4xf32>
// CHECK-NEXT:      func.return %gathered : tensor<4xf32>
// CHECK-NEXT:    }
func.func @all_gather_start(%x: tensor<2xf32>) -> tensor<4xf32> {
  %gathering:2 = xla.all_gather_start %x {dimension = 0, replica_groups = #xla.replica_groups<{{0,1}}>} : (tensor<2xf32>) -> (tensor<2xf32>, tensor<4xf32>)
  %gathered = xla.all_gather_done %gathering#0, %gathering#1 : (tensor<2xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %gathered : tensor<4xf32>
}

// -----

// xla-update-checks: CHECK @all_reduce_start filter=custom_call|xla.while|xla.map|xla.add|return
// CHECK-LABEL:   func.func @all_reduce_start(%x: tensor<2xf32>) -> tensor<2xf32> {
// CHECK-NEXT:      %reducing = xla.custom_call %x {custom_call_target = "xla.all_reduce_start", custom_call_has_side_effect = true} attributes {site = 0 : i64, replica_groups = "{{[{][{]}}0,1}}"} : (tensor<2xf32>) -> tensor<ui64>
// CHECK-NEXT:      %{{.*}}, %{{.*}} = xla.custom_call %reducing {custom_call_target = "xla.all_reduce_done", custom_call_has_side_effect = true} attributes {site = 1 : i64} : (tensor<ui64>) -> (tensor<2x2xf32>, tensor<i32>)
// CHECK:           %reduced = xla.map %{{.*}}, %{{.*}} : tensor<2xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
// CHECK-NEXT:        %sum = xla.add %a, %b : tensor<f32>
// CHECK-NEXT:        xla.return %sum : tensor<f32>
// CHECK:           func.return %reduced : tensor<2xf32>
func.func @all_reduce_start(%x: tensor<2xf32>) -> tensor<2xf32> {
  %reducing = xla.all_reduce_start %x {replica_groups = #xla.replica_groups<{{0,1}}>} : tensor<2xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %sum = xla.add %a, %b : tensor<f32>
    xla.return %sum : tensor<f32>
  }
  %reduced = xla.all_reduce_done %reducing : tensor<2xf32>
  func.return %reduced : tensor<2xf32>
}

// -----

// xla-update-checks: CHECK @collective_permute_start
// CHECK-LABEL:   func.func @collective_permute_start(%x: tensor<2xf32>) -> tensor<2xf32> {
// CHECK-NEXT:      %moving = xla.custom_call %x {custom_call_target = "xla.collective_permute_start", custom_call_has_side_effect = true} attributes {site = 0 : i64, source_target_pairs = "{{[{][{]}}0,1}}"} : (tensor<2xf32>) -> tensor<ui64>
// CHECK-NEXT:      %moved = xla.custom_call %moving {custom_call_target = "xla.collective_permute_done", custom_call_has_side_effect = true} attributes {site = 1 : i64} : (tensor<ui64>) -> tensor<2xf32>
// CHECK-NEXT:      func.return %moved : tensor<2xf32>
// CHECK-NEXT:    }
func.func @collective_permute_start(%x: tensor<2xf32>) -> tensor<2xf32> {
  %moving:2 = xla.collective_permute_start %x {source_target_pairs = #xla.source_target_pairs<{{0,1}}>} : (tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  %moved = xla.collective_permute_done %moving#0, %moving#1 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %moved : tensor<2xf32>
}
