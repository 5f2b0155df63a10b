func.func @async_start() -> tensor<2xf32> {
  %x = xla.constant dense<[1.0, 2.5]> : tensor<2xf32>
  %context = xla.async_start %x : (tensor<2xf32>) -> tuple<tuple<tensor<2xf32>>, tensor<2xf32>, tensor<i32>> calls (%a: tensor<2xf32>) {
    %negative = xla.negate %a : tensor<2xf32>
    xla.return %negative : tensor<2xf32>
  }
  %result = xla.async_done %context : (tuple<tuple<tensor<2xf32>>, tensor<2xf32>, tensor<i32>>) -> tensor<2xf32>
  // 2xf32=[-1.0, -2.5]
  func.return %result : tensor<2xf32>
}

// -----

func.func @async_update() -> tensor<2xf32> {
  %x = xla.constant dense<[1.0, 2.5]> : tensor<2xf32>
  %context = xla.async_start %x : (tensor<2xf32>) -> tuple<tuple<tensor<2xf32>>, tensor<2xf32>, tensor<i32>> calls (%a: tensor<2xf32>) {
    %negative = xla.negate %a : tensor<2xf32>
    xla.return %negative : tensor<2xf32>
  }
  %same = xla.async_update %context : tuple<tuple<tensor<2xf32>>, tensor<2xf32>, tensor<i32>>
  %result = xla.async_done %same : (tuple<tuple<tensor<2xf32>>, tensor<2xf32>, tensor<i32>>) -> tensor<2xf32>
  // 2xf32=[-1.0, -2.5]
  func.return %result : tensor<2xf32>
}

// -----

func.func @async_done() -> tensor<2xf32> {
  %x = xla.constant dense<[1.0, 2.5]> : tensor<2xf32>
  %context = xla.async_start %x : (tensor<2xf32>) -> tuple<tuple<tensor<2xf32>>, tensor<2xf32>, tensor<i32>> calls (%a: tensor<2xf32>) {
    %negative = xla.negate %a : tensor<2xf32>
    xla.return %negative : tensor<2xf32>
  }
  %result = xla.async_done %context : (tuple<tuple<tensor<2xf32>>, tensor<2xf32>, tensor<i32>>) -> tensor<2xf32>
  // 2xf32=[-1.0, -2.5]
  func.return %result : tensor<2xf32>
}

// -----

func.func @copy_start() -> tensor<2xf32> {
  %x = xla.constant dense<[1.0, 2.5]> : tensor<2xf32>
  %context = xla.copy_start %x : (tensor<2xf32>) -> tuple<tensor<2xf32>, tensor<2xf32>, tensor<ui32>>
  %result = xla.copy_done %context : (tuple<tensor<2xf32>, tensor<2xf32>, tensor<ui32>>) -> tensor<2xf32>
  // 2xf32=[1.0, 2.5]
  func.return %result : tensor<2xf32>
}

// -----

func.func @copy_done() -> tensor<2xf32> {
  %x = xla.constant dense<[1.0, 2.5]> : tensor<2xf32>
  %context = xla.copy_start %x : (tensor<2xf32>) -> tuple<tensor<2xf32>, tensor<2xf32>, tensor<ui32>>
  %result = xla.copy_done %context : (tuple<tensor<2xf32>, tensor<2xf32>, tensor<ui32>>) -> tensor<2xf32>
  // 2xf32=[1.0, 2.5]
  func.return %result : tensor<2xf32>
}

// -----

func.func @all_gather_start() -> tensor<2xf32> {
  %x = xla.constant dense<[1.0, 2.5]> : tensor<2xf32>
  %context = xla.all_gather_start %x {dimension = 0, replica_groups = #xla.replica_groups<{{0}}>} : (tensor<2xf32>) -> tuple<tensor<2xf32>, tensor<2xf32>>
  %result = xla.all_gather_done %context : (tuple<tensor<2xf32>, tensor<2xf32>>) -> tensor<2xf32>
  // 2xf32=[1.0, 2.5]
  func.return %result : tensor<2xf32>
}

// -----

func.func @all_gather_done() -> tensor<2xf32> {
  %x = xla.constant dense<[1.0, 2.5]> : tensor<2xf32>
  %context = xla.all_gather_start %x {dimension = 0, replica_groups = #xla.replica_groups<{{0}}>} : (tensor<2xf32>) -> tuple<tensor<2xf32>, tensor<2xf32>>
  %result = xla.all_gather_done %context : (tuple<tensor<2xf32>, tensor<2xf32>>) -> tensor<2xf32>
  // 2xf32=[1.0, 2.5]
  func.return %result : tensor<2xf32>
}

// -----

func.func @all_reduce_start() -> tensor<2xf32> {
  %x = xla.constant dense<[1.0, 2.5]> : tensor<2xf32>
  %context = xla.all_reduce_start %x : tensor<2xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %sum = xla.add %a, %b : tensor<f32>
    xla.return %sum : tensor<f32>
  }
  %result = xla.all_reduce_done %context : tensor<2xf32>
  // 2xf32=[1.0, 2.5]
  func.return %result : tensor<2xf32>
}

// -----

func.func @all_reduce_done() -> tensor<2xf32> {
  %x = xla.constant dense<[1.0, 2.5]> : tensor<2xf32>
  %context = xla.all_reduce_start %x : tensor<2xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %sum = xla.add %a, %b : tensor<f32>
    xla.return %sum : tensor<f32>
  }
  %result = xla.all_reduce_done %context : tensor<2xf32>
  // 2xf32=[1.0, 2.5]
  func.return %result : tensor<2xf32>
}

// -----

func.func @collective_permute_start() -> tensor<2xf32> {
  %x = xla.constant dense<[1.0, 2.5]> : tensor<2xf32>
  %context = xla.collective_permute_start %x {source_target_pairs = #xla.source_target_pairs<{{0,0}}>} : (tensor<2xf32>) -> tuple<tensor<2xf32>, tensor<2xf32>>
  %result = xla.collective_permute_done %context : (tuple<tensor<2xf32>, tensor<2xf32>>) -> tensor<2xf32>
  // 2xf32=[1.0, 2.5]
  func.return %result : tensor<2xf32>
}

// -----

func.func @collective_permute_done() -> tensor<2xf32> {
  %x = xla.constant dense<[1.0, 2.5]> : tensor<2xf32>
  %context = xla.collective_permute_start %x {source_target_pairs = #xla.source_target_pairs<{{0,0}}>} : (tensor<2xf32>) -> tuple<tensor<2xf32>, tensor<2xf32>>
  %result = xla.collective_permute_done %context : (tuple<tensor<2xf32>, tensor<2xf32>>) -> tensor<2xf32>
  // 2xf32=[1.0, 2.5]
  func.return %result : tensor<2xf32>
}
