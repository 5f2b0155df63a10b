// RUN: xla-opt %s -t stablehlo | filecheck %s

// What begins here is done here: only the whole operation has a name in StableHLO.

// CHECK-LABEL:   func.func @asynchronous(%x: tensor<2xf32>) {
// CHECK-NEXT:      %negative = stablehlo.negate %x : tensor<2xf32>
// CHECK-NEXT:      return
// CHECK-NEXT:    }
func.func @asynchronous(%x: tensor<2xf32>) {
  %begun = xla.async_start %x {async_execution_thread = "sparse"} : (tensor<2xf32>) -> tuple<tuple<tensor<2xf32>>, tensor<2xf32>, tensor<i32>> calls (%a: tensor<2xf32>) {
    %negative = xla.negate %a : tensor<2xf32>
    xla.return %negative : tensor<2xf32>
  }
  %updated = xla.async_update %begun : tuple<tuple<tensor<2xf32>>, tensor<2xf32>, tensor<i32>>
  %result = xla.async_done %updated : (tuple<tuple<tensor<2xf32>>, tensor<2xf32>, tensor<i32>>) -> tensor<2xf32>
  func.return
}

// CHECK-LABEL:   func.func @starts(%x: tensor<2xf32>) {
// CHECK-NEXT:      %gathering = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<{{\[\[}}0, 1]]> : tensor<1x2xi64>}> : (tensor<2xf32>) -> tensor<4xf32>
// CHECK-NEXT:      %reducing = "stablehlo.all_reduce"(%x) <{replica_groups = dense<> : tensor<0x0xi64>}> ({
// CHECK-NEXT:      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
// CHECK-NEXT:        %sum = stablehlo.add %a, %b : tensor<f32>
// CHECK-NEXT:        stablehlo.return %sum : tensor<f32>
// CHECK-NEXT:      }) : (tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:      %moving = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<{{\[\[}}0, 1]]> : tensor<1x2xi64>}> : (tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:      return
// CHECK-NEXT:    }
func.func @starts(%x: tensor<2xf32>) {
  %copying = xla.copy_start %x : (tensor<2xf32>) -> tuple<tensor<2xf32>, tensor<2xf32>, tensor<ui32>>
  %copied = xla.copy_done %copying : (tuple<tensor<2xf32>, tensor<2xf32>, tensor<ui32>>) -> tensor<2xf32>
  %gathering = xla.all_gather_start %x {dimension = 0, replica_groups = #xla.replica_groups<{{0,1}}>} : (tensor<2xf32>) -> tuple<tensor<2xf32>, tensor<4xf32>>
  %gathered = xla.all_gather_done %gathering : (tuple<tensor<2xf32>, tensor<4xf32>>) -> tensor<4xf32>
  %reducing = xla.all_reduce_start %x : tensor<2xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %sum = xla.add %a, %b : tensor<f32>
    xla.return %sum : tensor<f32>
  }
  %reduced = xla.all_reduce_done %reducing : tensor<2xf32>
  %moving = xla.collective_permute_start %x {source_target_pairs = #xla.source_target_pairs<{{0,1}}>} : (tensor<2xf32>) -> tuple<tensor<2xf32>, tensor<2xf32>>
  %moved = xla.collective_permute_done %moving : (tuple<tensor<2xf32>, tensor<2xf32>>) -> tensor<2xf32>
  func.return
}
