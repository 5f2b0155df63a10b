// RUN: xla-opt %s -t stablehlo | filecheck %s

// What is kept with a transfer is written with it; in `xla` it is a start and a done.

// CHECK: func.func @main
func.func @main(%x: tensor<4xf32>, %t: !stablehlo.token) -> (!stablehlo.token, tensor<4xf32>) {
  // CHECK-NEXT: %0 = "stablehlo.send"(%x, %t) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>, is_host_transfer = true}> {x.sent = 1 : i32} : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
  %0 = "stablehlo.send"(%x, %t) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>, is_host_transfer = true}> {x.sent = 1 : i32} : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
  // CHECK-NEXT: %1:2 = "stablehlo.recv"(%0) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 3>, is_host_transfer = true}> {x.received = 1 : i32} : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
  %1:2 = "stablehlo.recv"(%0) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 3>, is_host_transfer = true}> {x.received = 1 : i32} : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
  // XLA keeps pairs with the frontend attributes.
  // CHECK-NEXT: %2 = "stablehlo.send"(%x, %0) <{channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>}> {mhlo.frontend_attributes = {_xla_send_recv_source_target_pairs = "{{[{][{]0,1[}],[{]1,2[}][}]}}", a = "b"}, x.sent = 1 : i32} : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
  %2 = "stablehlo.send"(%x, %0) <{channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>, source_target_pairs = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>}> {mhlo.frontend_attributes = {a = "b"}, x.sent = 1 : i32} : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
  return %2, %1#0 : !stablehlo.token, tensor<4xf32>
}
