// RUN: xla-run %s --all-functions --backend reference

// From send to recv over a channel, and from send to the host.

func.func @worked() {
  %x = xla.constant dense<[1.0, 2.5]> : tensor<2xf32>
  %token = xla.after_all : !xla.token
  %ready = xla.recv %token {channel_id = 1} : (!xla.token) -> tuple<tensor<2xf32>, tensor<ui32>, !xla.token>
  %sent = xla.send %x, %token {channel_id = 1} : (tensor<2xf32>, !xla.token) -> tuple<tensor<2xf32>, tensor<ui32>, !xla.token>
  %done = xla.send_done %sent {channel_id = 1} : (tuple<tensor<2xf32>, tensor<ui32>, !xla.token>) -> !xla.token
  %received = xla.recv_done %ready {channel_id = 1} : (tuple<tensor<2xf32>, tensor<ui32>, !xla.token>) -> tuple<tensor<2xf32>, !xla.token>
  %0 = xla.get_tuple_element %received {index = 0} : (tuple<tensor<2xf32>, !xla.token>) -> tensor<2xf32>
  check.expect_eq_const %0, dense<[1.0, 2.5]> : tensor<2xf32>
  func.return
}

func.func @to_the_host() -> tensor<2xf32> {
  %x = xla.constant dense<[1.0, 2.5]> : tensor<2xf32>
  %token = xla.after_all : !xla.token
  %sent = xla.send %x, %token {channel_id = 1, is_host_transfer = true} : (tensor<2xf32>, !xla.token) -> tuple<tensor<2xf32>, tensor<ui32>, !xla.token>
  %done = xla.send_done %sent {channel_id = 1, is_host_transfer = true} : (tuple<tensor<2xf32>, tensor<ui32>, !xla.token>) -> !xla.token
  %0 = xla.add_dependency %x, %done : (tensor<2xf32>, !xla.token) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}
