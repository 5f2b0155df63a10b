// RUN: xla-opt %s -t stablehlo | filecheck %s

// What is kept with a transfer is written with it; in `xla` it is a start and a done.

// CHECK: func.func @main
func.func @main(%x: tensor<4xf32>, %t: !stablehlo.token) -> (!stablehlo.token, tensor<4xf32>) {
  // CHECK-NEXT: %0 = "stablehlo.send"(%x, %t) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>, is_host_transfer = true}> {x.sent = 1 : i32} : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
  %0 = "stablehlo.send"(%x, %t) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>, is_host_transfer = true}> {x.sent = 1 : i32} : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
  // CHECK-NEXT: %1:2 = "stablehlo.recv"(%0) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 3>, is_host_transfer = true}> {x.received = 1 : i32} : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
  %1:2 = "stablehlo.recv"(%0) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 3>, is_host_transfer = true}> {x.received = 1 : i32} : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
  return %0, %1#0 : !stablehlo.token, tensor<4xf32>
}
