// RUN: xla-opt %s --split-input-file --verify-diagnostics | filecheck %s
// RUN: xla-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | xla-opt --split-input-file | filecheck %s

// CHECK-LABEL: @collectives(
func.func @collectives(%x: tensor<2x4xf32>, %v: tensor<8xf32>) {
  // CHECK: %gathered = xla.all_gather %x {dimension = 1, replica_groups = #xla.replica_groups<{{[{][{]}}0,1},{2,3}}>} : (tensor<2x4xf32>) -> tensor<2x8xf32>
  %gathered = xla.all_gather %x {dimension = 1, replica_groups = #xla.replica_groups<{{0,1},{2,3}}>} : (tensor<2x4xf32>) -> tensor<2x8xf32>
  // CHECK: %sum, %sums = xla.all_reduce %x, %v {replica_groups = #xla.replica_groups<[2,2]<=[4]>, channel_id = 1, use_global_device_ids = true} : (tensor<2x4xf32>, tensor<8xf32>) -> (tensor<2x4xf32>, tensor<8xf32>) to_apply (%a: tensor<f32>, %b: tensor<f32>) {
  %sum, %sums = xla.all_reduce %x, %v {replica_groups = #xla.replica_groups<[2,2]<=[4]>, channel_id = 1, use_global_device_ids = true} : (tensor<2x4xf32>, tensor<8xf32>) -> (tensor<2x4xf32>, tensor<8xf32>) to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    // CHECK: %s = xla.add %a, %b : tensor<f32>
    %s = xla.add %a, %b : tensor<f32>
    // CHECK: xla.return %s : tensor<f32>
    xla.return %s : tensor<f32>
  }
  // CHECK: %part = xla.reduce_scatter %x {dimension = 0, replica_groups = #xla.replica_groups<{{[{][{]}}0,1}}>} : (tensor<2x4xf32>) -> tensor<1x4xf32> to_apply (%{{.*}}: tensor<f32>, %{{.*}}: tensor<f32>) {
  %part = xla.reduce_scatter %x {dimension = 0, replica_groups = #xla.replica_groups<{{0,1}}>} : (tensor<2x4xf32>) -> tensor<1x4xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    // CHECK: %{{.*}} = xla.maximum %{{.*}}, %{{.*}} : tensor<f32>
    %s = xla.maximum %a, %b : tensor<f32>
    // CHECK: xla.return %{{.*}} : tensor<f32>
    xla.return %s : tensor<f32>
  }
  func.return
}

// -----

func.func @all_gather_C1_1(%x: tuple<tensor<2xf32>>) {
  // expected-error @+1 {{xla.all_gather: (C1) operand 0 is (f32[2]), not an array}}
  %0 = xla.all_gather %x {dimension = 0, replica_groups = #xla.replica_groups<{{0,1},{2,3}}>} : tuple<tensor<2xf32>>
  func.return
}

// -----

func.func @all_gather_C1_2() {
  // expected-error @+1 {{xla.all_gather: (C1) there are no operands}}
  xla.all_gather {dimension = 0, replica_groups = #xla.replica_groups<{{0,1},{2,3}}>} : () -> ()
  func.return
}

// -----

func.func @all_gather_C2_1(%x: tensor<2xf32>) {
  // expected-error @+1 {{xla.all_gather: (C2) dimension 1 of operand 0: rank 1}}
  %0 = xla.all_gather %x {dimension = 1, replica_groups = #xla.replica_groups<{{0,1},{2,3}}>} : tensor<2xf32>
  func.return
}

// -----

func.func @all_gather_C2_2(%x: tensor<2xf32>) {
  // expected-error @+1 {{xla.all_gather: (C2) dimension -1 of operand 0: rank 1}}
  %0 = xla.all_gather %x {dimension = -1, replica_groups = #xla.replica_groups<{{0,1},{2,3}}>} : tensor<2xf32>
  func.return
}

// -----

func.func @all_gather_C2_3(%x: tensor<f32>) {
  // expected-error @+1 {{xla.all_gather: (C2) dimension 0 of operand 0: rank 0}}
  %0 = xla.all_gather %x {dimension = 0, replica_groups = #xla.replica_groups<{{0,1},{2,3}}>} : tensor<f32>
  func.return
}

// -----

func.func @all_gather_C2_4(%x: tensor<2x3xf32>, %y: tensor<2xf32>) {
  // expected-error @+1 {{xla.all_gather: (C2) dimension 1 of operand 1: rank 1}}
  %0 = xla.all_gather %x, %y {dimension = 1, replica_groups = #xla.replica_groups<{{0,1},{2,3}}>} : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

func.func @all_gather_C3_1(%x: tensor<2xf32>) {
  // expected-error @+1 {{xla.all_gather: (C3) shard_count is 3, groups have size 2}}
  %0 = xla.all_gather %x {dimension = 0, replica_groups = #xla.replica_groups<{{0,1},{2,3}}>} : (tensor<2xf32>) -> tensor<6xf32>
  func.return
}

// -----

func.func @all_gather_C3_2(%x: tensor<2xf32>) {
  // expected-error @+1 {{xla.all_gather: (C3) size 5 is no multiple of 2}}
  %0 = xla.all_gather %x {dimension = 0, replica_groups = #xla.replica_groups<{{0,1},{2,3}}>} : (tensor<2xf32>) -> tensor<5xf32>
  func.return
}

// -----

func.func @all_gather_C3_3(%x: tensor<2xf32>) {
  // expected-error @+1 {{xla.all_gather: (C3) shard_count is 0, groups have size 1}}
  %0 = xla.all_gather %x {dimension = 0} : (tensor<2xf32>) -> tensor<0xf32>
  func.return
}

// -----

func.func @all_gather_C3_4(%x: tensor<2xf32>) {
  // expected-error @+1 {{xla.all_gather: (C3) shard_count is 3, groups have size 2}}
  %0 = xla.all_gather %x {dimension = 0, replica_groups = #xla.replica_groups<{{0,1},{2,3}}>, channel_id = 1} : (tensor<2xf32>) -> tensor<6xf32>
  func.return
}

// -----

func.func @all_gather_C3_5(%x: tensor<2xf32>, %y: tensor<3xf32>) {
  // expected-error @+1 {{xla.all_gather: (C3) operands have [2, 3] shards}}
  %0, %1 = xla.all_gather %x, %y {dimension = 0} : (tensor<2xf32>, tensor<3xf32>) -> (tensor<4xf32>, tensor<9xf32>)
  func.return
}

// -----

func.func @all_gather_C3_beside_other_dimensions(%x: tensor<2x5xf32>) {
  // expected-error @+1 {{xla.all_gather: (C3) shard_count is 3, groups have size 2}}
  %0 = xla.all_gather %x {dimension = 0, replica_groups = #xla.replica_groups<{{0,1},{2,3}}>} : (tensor<2x5xf32>) -> tensor<6x5xf32>
  func.return
}

// -----

func.func @all_gather_C4(%x: tensor<2xf32>) {
  // expected-error @+1 {{xla.all_gather: (C4) replica groups {{0},{1,2}} differ in size}}
  %0 = xla.all_gather %x {dimension = 0, replica_groups = #xla.replica_groups<{{0},{1,2}}>} : tensor<2xf32>
  func.return
}

// -----

func.func @all_gather_RG1_1(%x: tensor<2xf32>) {
  // expected-error @+1 {{xla.all_gather: (RG1) replica groups {{0,0},{1,2}}: 4 ids are not 0 to 3}}
  %0 = xla.all_gather %x {dimension = 0, replica_groups = #xla.replica_groups<{{0,0},{1,2}}>} : tensor<2xf32>
  func.return
}

// -----

func.func @all_gather_RG1_2(%x: tensor<2xf32>) {
  // expected-error @+1 {{xla.all_gather: (RG1) replica groups {{},{0}}: a group is empty}}
  %0 = xla.all_gather %x {dimension = 0, replica_groups = #xla.replica_groups<{{},{0}}>} : tensor<2xf32>
  func.return
}

// -----

func.func @all_gather_RG1_3(%x: tensor<2xf32>) {
  // expected-error @+1 {{xla.all_gather: (RG1) replica groups [2,2]<=[3]: 4 ids from dimensions [3]}}
  %0 = xla.all_gather %x {dimension = 0, replica_groups = #xla.replica_groups<[2,2]<=[3]>} : tensor<2xf32>
  func.return
}

// -----

func.func @all_gather_RG5_1(%x: tensor<2xf32>) {
  // expected-error @+1 {{xla.all_gather: (RG5) channel_id is 0}}
  %0 = xla.all_gather %x {dimension = 0, replica_groups = #xla.replica_groups<{{0,1},{2,3}}>, channel_id = 0} : tensor<2xf32>
  func.return
}

// -----

func.func @all_gather_RG5_2(%x: tensor<2xf32>) {
  // expected-error @+1 {{xla.all_gather: (RG5) use_global_device_ids without channel_id}}
  %0 = xla.all_gather %x {dimension = 0, replica_groups = #xla.replica_groups<{{0,1},{2,3}}>, use_global_device_ids = true} : tensor<2xf32>
  func.return
}

// -----

func.func @all_gather_RG5_3(%x: tensor<2xf32>) {
  // expected-error @+1 {{xla.all_gather: (RG5) use_global_device_ids without replica groups}}
  %0 = xla.all_gather %x {dimension = 0, channel_id = 1, use_global_device_ids = true} : (tensor<2xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @all_gather_Result_1(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{xla.all_gather: (Result) declared (f32[4,4]), inferred (f32[4,3])}}
  %0 = xla.all_gather %x {dimension = 0, replica_groups = #xla.replica_groups<{{0,1},{2,3}}>} : (tensor<2x3xf32>) -> tensor<4x4xf32>
  func.return
}

// -----

func.func @all_gather_Result_2(%x: tensor<0xf32>) {
  // expected-error @+1 {{xla.all_gather: (Result) declared (f32[5]), inferred (f32[0])}}
  %0 = xla.all_gather %x {dimension = 0} : (tensor<0xf32>) -> tensor<5xf32>
  func.return
}

// -----

func.func @all_reduce_C1_1() {
  // expected-error @+1 {{xla.all_reduce: (C1) there are no operands}}
  xla.all_reduce {replica_groups = #xla.replica_groups<{{0,1},{2,3}}>} : () -> () to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %0 = xla.add %a, %b : tensor<f32>
    xla.return %0 : tensor<f32>
  }
  func.return
}

// -----

func.func @all_reduce_C1_2(%x: tuple<tensor<2xf32>>) {
  // expected-error @+1 {{xla.all_reduce: (C1) operand 0 is (f32[2]), not an array}}
  %0 = xla.all_reduce %x {replica_groups = #xla.replica_groups<{{0,1},{2,3}}>} : tuple<tensor<2xf32>> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

func.func @all_reduce_C1_3(%x: !xla.token) {
  // expected-error @+1 {{xla.all_reduce: (C1) operand 0 is token[], not an array}}
  %0 = xla.all_reduce %x {replica_groups = #xla.replica_groups<{{0,1},{2,3}}>} : !xla.token to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

func.func @all_reduce_RG1(%x: tensor<2xf32>) {
  // expected-error @+1 {{xla.all_reduce: (RG1) replica groups {{0,1},{1}}: 3 ids are not 0 to 2}}
  %0 = xla.all_reduce %x {replica_groups = #xla.replica_groups<{{0,1},{1}}>} : tensor<2xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

func.func @all_reduce_C3(%x: tensor<2xf32>, %y: tensor<2xi32>) {
  // expected-error @+1 {{xla.all_reduce: (C3) operands 0 and 1 have element types f32 and s32}}
  %0 = xla.all_reduce %x, %y {replica_groups = #xla.replica_groups<{{0,1},{2,3}}>} : (tensor<2xf32>, tensor<2xi32>) -> tensor<2xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

func.func @all_reduce_RC1_1(%x: tensor<2xi32>) {
  // expected-error @+1 {{xla.all_reduce: (RC1) to_apply takes (f32[], f32[]), expected (s32[], s32[])}}
  %0 = xla.all_reduce %x {replica_groups = #xla.replica_groups<{{0,1},{2,3}}>} : tensor<2xi32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

func.func @all_reduce_RC1_2(%x: tensor<2xf32>) {
  // expected-error @+1 {{xla.all_reduce: (RC1) to_apply takes (f32[]), expected (f32[], f32[])}}
  %0 = xla.all_reduce %x {replica_groups = #xla.replica_groups<{{0,1},{2,3}}>} : tensor<2xf32> to_apply (%a: tensor<f32>) {
    xla.return %a : tensor<f32>
  }
  func.return
}

// -----

func.func @all_reduce_RC2(%x: tensor<2xf32>) {
  // expected-error @+1 {{xla.all_reduce: (RC2) to_apply returns (f32[], f32[]), expected (f32[])}}
  %0 = xla.all_reduce %x {replica_groups = #xla.replica_groups<{{0,1},{2,3}}>} : tensor<2xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    xla.return %a, %b : tensor<f32>, tensor<f32>
  }
  func.return
}

// -----

func.func @all_reduce_RG5(%x: tensor<2xf32>) {
  // expected-error @+1 {{xla.all_reduce: (RG5) channel_id is -1}}
  %0 = xla.all_reduce %x {replica_groups = #xla.replica_groups<{{0,1},{2,3}}>, channel_id = -1} : tensor<2xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

func.func @reduce_scatter_C1_1() {
  // expected-error @+1 {{xla.reduce_scatter: (C1) there are no operands}}
  xla.reduce_scatter {dimension = 0, replica_groups = #xla.replica_groups<{{0,1},{2,3}}>} : () -> () to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %0 = xla.add %a, %b : tensor<f32>
    xla.return %0 : tensor<f32>
  }
  func.return
}

// -----

func.func @reduce_scatter_C1_2(%x: tuple<>) {
  // expected-error @+1 {{xla.reduce_scatter: (C1) operand 0 is (), not an array}}
  %0 = xla.reduce_scatter %x {dimension = 0, replica_groups = #xla.replica_groups<{{0,1},{2,3}}>} : tuple<> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

func.func @reduce_scatter_C3_1(%x: tensor<2xf32>, %y: tensor<2xi32>) {
  // expected-error @+1 {{xla.reduce_scatter: (C3) operands 0 and 1 have element types f32 and s32}}
  %0 = xla.reduce_scatter %x, %y {dimension = 0, replica_groups = #xla.replica_groups<{{0,1},{2,3}}>} : (tensor<2xf32>, tensor<2xi32>) -> tensor<2xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

func.func @reduce_scatter_RC1(%x: tensor<2xi32>) {
  // expected-error @+1 {{xla.reduce_scatter: (RC1) to_apply takes (f32[], f32[]), expected (s32[], s32[])}}
  %0 = xla.reduce_scatter %x {dimension = 0, replica_groups = #xla.replica_groups<{{0,1},{2,3}}>} : tensor<2xi32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

func.func @reduce_scatter_RC2(%x: tensor<2xf32>) {
  // expected-error @+1 {{xla.reduce_scatter: (RC2) to_apply returns (f32[], f32[]), expected (f32[])}}
  %0 = xla.reduce_scatter %x {dimension = 0, replica_groups = #xla.replica_groups<{{0,1},{2,3}}>} : tensor<2xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    xla.return %a, %b : tensor<f32>, tensor<f32>
  }
  func.return
}

// -----

func.func @reduce_scatter_C2(%x: tensor<2xf32>) {
  // expected-error @+1 {{xla.reduce_scatter: (C2) dimension 1 of operand 0: rank 1}}
  %0 = xla.reduce_scatter %x {dimension = 1, replica_groups = #xla.replica_groups<{{0,1},{2,3}}>} : tensor<2xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

func.func @reduce_scatter_C3_2(%x: tensor<6xf32>) {
  // expected-error @+1 {{xla.reduce_scatter: (C3) shard_count is 3, groups have size 2}}
  %0 = xla.reduce_scatter %x {dimension = 0, replica_groups = #xla.replica_groups<{{0,1},{2,3}}>} : (tensor<6xf32>) -> tensor<2xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

func.func @reduce_scatter_C3_3(%x: tensor<6xf32>) {
  // expected-error @+1 {{xla.reduce_scatter: (C3) size 6 is no multiple of 4}}
  %0 = xla.reduce_scatter %x {dimension = 0} : (tensor<6xf32>) -> tensor<4xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

func.func @reduce_scatter_C4(%x: tensor<6xf32>) {
  // expected-error @+1 {{xla.reduce_scatter: (C4) replica groups {{0},{1,2}} differ in size}}
  %0 = xla.reduce_scatter %x {dimension = 0, replica_groups = #xla.replica_groups<{{0},{1,2}}>} : tensor<6xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

func.func @reduce_scatter_C5(%x: tensor<5xf32>) {
  // expected-error @+1 {{xla.reduce_scatter: (C5) size 5 for 2 shards}}
  %0 = xla.reduce_scatter %x {dimension = 0, replica_groups = #xla.replica_groups<{{0,1},{2,3}}>} : tensor<5xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

func.func @reduce_scatter_C5_beside_other_dimensions(%x: tensor<5x6xf32>) {
  // expected-error @+1 {{xla.reduce_scatter: (C5) size 5 for 2 shards}}
  %0 = xla.reduce_scatter %x {dimension = 0, replica_groups = #xla.replica_groups<{{0,1},{2,3}}>} : tensor<5x6xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

func.func @reduce_scatter_RG1(%x: tensor<2xf32>) {
  // expected-error @+1 {{xla.reduce_scatter: (RG1) replica groups {{0,2}}: 2 ids are not 0 to 1}}
  %0 = xla.reduce_scatter %x {dimension = 0, replica_groups = #xla.replica_groups<{{0,2}}>} : tensor<2xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

module attributes {xla.replica_count = 4 : i64} {
  func.func @all_gather_RG1_replicas(%x: tensor<2xf32>) {
    // expected-error @+1 {{xla.all_gather: (RG1) 2 ids in replica groups {{0,1}}, there are 4 replicas}}
    %0 = xla.all_gather %x {dimension = 0, replica_groups = #xla.replica_groups<{{0,1}}>} : (tensor<2xf32>) -> tensor<4xf32>
    func.return
  }
}
