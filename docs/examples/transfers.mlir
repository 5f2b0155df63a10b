func.func @after_all() -> tensor<2xf32> {
  %x = xla.constant dense<[1.0, 2.5]> : tensor<2xf32>
  %first = xla.after_all : !xla.token
  %token = xla.after_all %first, %first : !xla.token
  %result = xla.add_dependency %x, %token : (tensor<2xf32>, !xla.token) -> tensor<2xf32>
  // 2xf32=[1.0, 2.5]
  func.return %result : tensor<2xf32>
}

// -----

func.func @add_dependency() -> tensor<2xf32> {
  %x = xla.constant dense<[1.0, 2.5]> : tensor<2xf32>
  %first = xla.after_all : !xla.token
  %token = xla.after_all %first, %first : !xla.token
  %result = xla.add_dependency %x, %token : (tensor<2xf32>, !xla.token) -> tensor<2xf32>
  // 2xf32=[1.0, 2.5]
  func.return %result : tensor<2xf32>
}

// -----

func.func @infeed() -> tensor<2xf32> {
  %x = xla.constant dense<[1.0, 2.5]> : tensor<2xf32>
  %token = xla.after_all : !xla.token
  %read = xla.infeed %token : (!xla.token) -> tuple<tuple<>, !xla.token>
  %after = xla.get_tuple_element %read {index = 1} : (tuple<tuple<>, !xla.token>) -> !xla.token
  %result = xla.add_dependency %x, %after : (tensor<2xf32>, !xla.token) -> tensor<2xf32>
  // 2xf32=[1.0, 2.5]
  func.return %result : tensor<2xf32>
}

// -----

func.func @outfeed() -> tensor<2xf32> {
  %x = xla.constant dense<[1.0, 2.5]> : tensor<2xf32>
  %token = xla.after_all : !xla.token
  %written = xla.outfeed %x, %token {outfeed_config = "log"} : (tensor<2xf32>, !xla.token) -> !xla.token
  %result = xla.add_dependency %x, %written : (tensor<2xf32>, !xla.token) -> tensor<2xf32>
  // 2xf32=[1.0, 2.5]
  func.return %result : tensor<2xf32>
}

// -----

func.func @send() -> tensor<2xf32> {
  %x = xla.constant dense<[1.0, 2.5]> : tensor<2xf32>
  %token = xla.after_all : !xla.token
  %sent = xla.send %x, %token {channel_id = 1, is_host_transfer = true} : (tensor<2xf32>, !xla.token) -> tuple<tensor<2xf32>, tensor<ui32>, !xla.token>
  %done = xla.send_done %sent {channel_id = 1, is_host_transfer = true} : (tuple<tensor<2xf32>, tensor<ui32>, !xla.token>) -> !xla.token
  %result = xla.add_dependency %x, %done : (tensor<2xf32>, !xla.token) -> tensor<2xf32>
  // 2xf32=[1.0, 2.5]
  func.return %result : tensor<2xf32>
}

// -----

func.func @send_done() -> tensor<2xf32> {
  %x = xla.constant dense<[1.0, 2.5]> : tensor<2xf32>
  %token = xla.after_all : !xla.token
  %sent = xla.send %x, %token {channel_id = 1, is_host_transfer = true} : (tensor<2xf32>, !xla.token) -> tuple<tensor<2xf32>, tensor<ui32>, !xla.token>
  %done = xla.send_done %sent {channel_id = 1, is_host_transfer = true} : (tuple<tensor<2xf32>, tensor<ui32>, !xla.token>) -> !xla.token
  %result = xla.add_dependency %x, %done : (tensor<2xf32>, !xla.token) -> tensor<2xf32>
  // 2xf32=[1.0, 2.5]
  func.return %result : tensor<2xf32>
}

// -----

func.func @recv() -> tensor<2xf32> {
  %x = xla.constant dense<[1.0, 2.5]> : tensor<2xf32>
  %token = xla.after_all : !xla.token
  %ready = xla.recv %token {channel_id = 1} : (!xla.token) -> tuple<tensor<2xf32>, tensor<ui32>, !xla.token>
  %sent = xla.send %x, %token {channel_id = 1} : (tensor<2xf32>, !xla.token) -> tuple<tensor<2xf32>, tensor<ui32>, !xla.token>
  %done = xla.send_done %sent {channel_id = 1} : (tuple<tensor<2xf32>, tensor<ui32>, !xla.token>) -> !xla.token
  %received = xla.recv_done %ready {channel_id = 1} : (tuple<tensor<2xf32>, tensor<ui32>, !xla.token>) -> tuple<tensor<2xf32>, !xla.token>
  %result = xla.get_tuple_element %received {index = 0} : (tuple<tensor<2xf32>, !xla.token>) -> tensor<2xf32>
  // 2xf32=[1.0, 2.5]
  func.return %result : tensor<2xf32>
}

// -----

func.func @recv_done() -> tensor<2xf32> {
  %x = xla.constant dense<[1.0, 2.5]> : tensor<2xf32>
  %token = xla.after_all : !xla.token
  %ready = xla.recv %token {channel_id = 1} : (!xla.token) -> tuple<tensor<2xf32>, tensor<ui32>, !xla.token>
  %sent = xla.send %x, %token {channel_id = 1} : (tensor<2xf32>, !xla.token) -> tuple<tensor<2xf32>, tensor<ui32>, !xla.token>
  %done = xla.send_done %sent {channel_id = 1} : (tuple<tensor<2xf32>, tensor<ui32>, !xla.token>) -> !xla.token
  %received = xla.recv_done %ready {channel_id = 1} : (tuple<tensor<2xf32>, tensor<ui32>, !xla.token>) -> tuple<tensor<2xf32>, !xla.token>
  %result = xla.get_tuple_element %received {index = 0} : (tuple<tensor<2xf32>, !xla.token>) -> tensor<2xf32>
  // 2xf32=[1.0, 2.5]
  func.return %result : tensor<2xf32>
}
