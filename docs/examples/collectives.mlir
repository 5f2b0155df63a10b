func.func @all_gather() -> tensor<2xf32> {
  %x = xla.constant dense<[1.0, 2.5]> : tensor<2xf32>
  %result = xla.all_gather %x {dimension = 0, replica_groups = #xla.replica_groups<{{0}}>} : tensor<2xf32>
  // 2xf32=[1.0, 2.5]
  func.return %result : tensor<2xf32>
}

// -----

func.func @all_reduce() -> tensor<2xf32> {
  %x = xla.constant dense<[1.0, 2.5]> : tensor<2xf32>
  %result = xla.all_reduce %x : tensor<2xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %sum = xla.add %a, %b : tensor<f32>
    xla.return %sum : tensor<f32>
  }
  // 2xf32=[1.0, 2.5]
  func.return %result : tensor<2xf32>
}

// -----

func.func @reduce_scatter() -> tensor<2xf32> {
  %x = xla.constant dense<[1.0, 2.5]> : tensor<2xf32>
  %result = xla.reduce_scatter %x {dimension = 0, replica_groups = #xla.replica_groups<[1,1]<=[1]>} : tensor<2xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %sum = xla.add %a, %b : tensor<f32>
    xla.return %sum : tensor<f32>
  }
  // 2xf32=[1.0, 2.5]
  func.return %result : tensor<2xf32>
}

// -----

func.func @all_to_all() -> tensor<2xf32> {
  %x = xla.constant dense<[1.0, 2.5]> : tensor<2xf32>
  %result = xla.all_to_all %x {dimension = 0} : tensor<2xf32>
  // 2xf32=[1.0, 2.5]
  func.return %result : tensor<2xf32>
}

// -----

func.func @collective_permute() -> (tensor<2xf32>, tensor<2xf32>) {
  %x = xla.constant dense<[1.0, 2.5]> : tensor<2xf32>
  %from_itself = xla.collective_permute %x {source_target_pairs = #xla.source_target_pairs<{{0,0}}>} : tensor<2xf32>
  %from_nobody = xla.collective_permute %x {source_target_pairs = #xla.source_target_pairs<{}>} : tensor<2xf32>
  // 2xf32=[1.0, 2.5]
  // 2xf32=[0.0, 0.0]
  func.return %from_itself, %from_nobody : tensor<2xf32>, tensor<2xf32>
}

// -----

func.func @collective_broadcast() -> tensor<2xf32> {
  %x = xla.constant dense<[1.0, 2.5]> : tensor<2xf32>
  %result = xla.collective_broadcast %x {replica_groups = #xla.replica_groups<{{0}}>} : tensor<2xf32>
  // 2xf32=[1.0, 2.5]
  func.return %result : tensor<2xf32>
}

// -----

func.func @ragged_all_to_all() -> tensor<4xf32> {
  %input = xla.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %output = xla.constant dense<[5.0, 6.0, 7.0, 8.0]> : tensor<4xf32>
  %one = xla.constant dense<1> : tensor<1xi32>
  %two = xla.constant dense<2> : tensor<1xi32>
  %result = xla.ragged_all_to_all %input, %output, %one, %two, %two, %two {replica_groups = #xla.replica_groups<{{0}}>} : (tensor<3xf32>, tensor<4xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xf32>
  // 4xf32=[5.0, 6.0, 2.0, 3.0]
  func.return %result : tensor<4xf32>
}

// -----

func.func @replica_id() -> tensor<ui32> {
  %result = xla.replica_id : tensor<ui32>
  // ui32=0
  func.return %result : tensor<ui32>
}

// -----

func.func @partition_id() -> tensor<ui32> {
  %result = xla.partition_id : tensor<ui32>
  // ui32=0
  func.return %result : tensor<ui32>
}
