// RUN: xla-opt %s -p xla-expand-communication --split-input-file | filecheck %s

// Tokens are gone: calls have side effects, and stay in order.
// xla-update-checks: CHECK @after_all
// CHECK-LABEL:   func.func @after_all(%x: tensor<2xf32>) -> tensor<2xf32> {
// CHECK-NEXT:      func.return %x : tensor<2xf32>
// CHECK-NEXT:    }
func.func @after_all(%x: tensor<2xf32>) -> tensor<2xf32> {
  %none = xla.after_all : !xla.token
  %order = xla.after_all %none, %none : !xla.token
  %y = xla.add_dependency %x, %order : (tensor<2xf32>, !xla.token) -> tensor<2xf32>
  func.return %y : tensor<2xf32>
}

// -----

// xla-update-checks: CHECK @infeed
// CHECK-LABEL:   func.func @infeed() -> tensor<2xf32> {
// CHECK-NEXT:      %read = xla.custom_call {custom_call_target = "xla.infeed", custom_call_has_side_effect = true} attributes {site = 0 : i64, infeed_config = "queue"} : tensor<2xf32>
// CHECK-NEXT:      func.return %read : tensor<2xf32>
// CHECK-NEXT:    }
func.func @infeed() -> tensor<2xf32> {
  %order = xla.after_all : !xla.token
  %read, %after = xla.infeed %order {infeed_config = "queue"} : (!xla.token) -> (tensor<2xf32>, !xla.token)
  func.return %read : tensor<2xf32>
}

// -----

// xla-update-checks: CHECK @outfeed
// CHECK-LABEL:   func.func @outfeed(%x: tensor<2xf32>) {
// CHECK-NEXT:      xla.custom_call %x {custom_call_target = "xla.outfeed", custom_call_has_side_effect = true} attributes {site = 0 : i64, outfeed_config = "log"} : (tensor<2xf32>) -> ()
// CHECK-NEXT:      func.return
// CHECK-NEXT:    }
func.func @outfeed(%x: tensor<2xf32>) {
  %order = xla.after_all : !xla.token
  %written = xla.outfeed %x, %order {outfeed_config = "log"} : (tensor<2xf32>, !xla.token) -> !xla.token
  func.return
}

// -----

// xla-update-checks: CHECK @send
// CHECK-LABEL:   func.func @send(%x: tensor<2xf32>) {
// CHECK-NEXT:      xla.custom_call %x {custom_call_target = "xla.send", custom_call_has_side_effect = true} attributes {site = 0 : i64, channel_id = 1 : i64} : (tensor<2xf32>) -> ()
// CHECK-NEXT:      %sending = xla.constant dense<0> : tensor<ui32>
// CHECK-NEXT:      func.return
// CHECK-NEXT:    }
func.func @send(%x: tensor<2xf32>) {
  %order = xla.after_all : !xla.token
  %sending:3 = xla.send %x, %order {channel_id = 1} : (tensor<2xf32>, !xla.token) -> (tensor<2xf32>, tensor<ui32>, !xla.token)
  %sent = xla.send_done %sending#0, %sending#1, %sending#2 {channel_id = 1} : (tensor<2xf32>, tensor<ui32>, !xla.token) -> !xla.token
  func.return
}

// -----

// xla-update-checks: CHECK @recv
// CHECK-LABEL:   func.func @recv() -> tensor<2xf32> {
// CHECK-NEXT:      %receiving = xla.custom_call {custom_call_target = "xla.recv", custom_call_has_side_effect = true} attributes {site = 0 : i64, channel_id = 1 : i64} : tensor<ui64>
// CHECK-NEXT:      %{{.*}} = xla.constant dense<0> : tensor<ui32>
// CHECK-NEXT:      %received = xla.custom_call %receiving {custom_call_target = "xla.recv_done", custom_call_has_side_effect = true} attributes {site = 1 : i64, channel_id = 1 : i64} : (tensor<ui64>) -> tensor<2xf32>
// CHECK-NEXT:      func.return %received : tensor<2xf32>
// CHECK-NEXT:    }
func.func @recv() -> tensor<2xf32> {
  %order = xla.after_all : !xla.token
  %receiving:3 = xla.recv %order {channel_id = 1} : (!xla.token) -> (tensor<2xf32>, tensor<ui32>, !xla.token)
  %received:2 = xla.recv_done %receiving#0, %receiving#1, %receiving#2 {channel_id = 1} : (tensor<2xf32>, tensor<ui32>, !xla.token) -> (tensor<2xf32>, !xla.token)
  func.return %received#0 : tensor<2xf32>
}
