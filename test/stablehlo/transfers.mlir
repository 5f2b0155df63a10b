// RUN: xla-opt %s | filecheck %s --check-prefix=XLA
// RUN: xla-opt %s -t stablehlo | filecheck %s --check-prefix=STABLEHLO

// XLA-LABEL: @transfers(
// STABLEHLO-LABEL: @transfers(
func.func @transfers(%x: tensor<2xf32>) {
  // XLA: %none = xla.after_all : !xla.token
  // STABLEHLO: %none = stablehlo.create_token : !stablehlo.token
  %none = stablehlo.create_token : !stablehlo.token
  // XLA: %order = xla.after_all %none, %none : !xla.token
  // STABLEHLO: %order = stablehlo.after_all %none, %none : !stablehlo.token
  %order = stablehlo.after_all %none, %none : !stablehlo.token
  // XLA: xla.tuple %x, %order : (tensor<2xf32>, !xla.token) -> tuple<tensor<2xf32>, !xla.token>
  // XLA: xla.opt_barrier %{{.*}} : tuple<tensor<2xf32>, !xla.token>
  // XLA: %y = xla.get_tuple_element %{{.*}} {index = 0} : (tuple<tensor<2xf32>, !xla.token>) -> tensor<2xf32>
  // XLA: %{{.*}} = xla.get_tuple_element %{{.*}} {index = 1} : (tuple<tensor<2xf32>, !xla.token>) -> !xla.token
  // STABLEHLO: %y:2 = stablehlo.optimization_barrier %x, %order : tensor<2xf32>, !stablehlo.token
  %y:2 = stablehlo.optimization_barrier %x, %order : tensor<2xf32>, !stablehlo.token
  // XLA: %read, %{{.*}} = xla.infeed %order {infeed_config = "queue"} attributes {xla.layout = {{[[][[]}}0 : i64]]} : (!xla.token) -> (tensor<2xf32>, !xla.token)
  // STABLEHLO: %read:2 = "stablehlo.infeed"(%order) <{infeed_config = "queue", layout = {{[[][[]}}0]]}> : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
  %read:2 = "stablehlo.infeed"(%order) <{infeed_config = "queue", layout = [[0]]}> : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
  // XLA: %written = xla.outfeed %x, %order {outfeed_config = "log"} : (tensor<2xf32>, !xla.token) -> !xla.token
  // STABLEHLO: %written = "stablehlo.outfeed"(%x, %order) <{outfeed_config = "log"}> : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
  %written = "stablehlo.outfeed"(%x, %order) <{outfeed_config = "log"}> : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
  // XLA: xla.send %x, %order {channel_id = 1, is_host_transfer = true} : (tensor<2xf32>, !xla.token) -> (tensor<2xf32>, tensor<ui32>, !xla.token)
  // XLA: xla.send_done %{{.*}}, %{{.*}}, %{{.*}} {channel_id = 1, is_host_transfer = true} : (tensor<2xf32>, tensor<ui32>, !xla.token) -> !xla.token
  // STABLEHLO: "stablehlo.send"(%x, %order) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>, is_host_transfer = true}> : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
  %0 = "stablehlo.send"(%x, %order) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>, is_host_transfer = true}> : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
  // XLA: xla.recv %order {channel_id = 2} : (!xla.token) -> (tensor<2xf32>, tensor<ui32>, !xla.token)
  // XLA: %received, %{{.*}} = xla.recv_done %{{.*}}, %{{.*}}, %{{.*}} {channel_id = 2} : (tensor<2xf32>, tensor<ui32>, !xla.token) -> (tensor<2xf32>, !xla.token)
  // STABLEHLO: %received:2 = "stablehlo.recv"(%order) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>}> : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
  %received:2 = "stablehlo.recv"(%order) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>}> : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
  return
}
