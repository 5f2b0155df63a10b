// RUN: xla-opt %s --split-input-file --verify-diagnostics | filecheck %s
// RUN: xla-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | xla-opt --split-input-file | filecheck %s

// CHECK-LABEL: @exchanges(
func.func @exchanges(%x: tensor<2x4xf32>, %k: tensor<3xi32>, %n: tensor<2xi32>) {
  // CHECK: %exchanged = xla.all_to_all %x {dimension = 0, replica_groups = #xla.replica_groups<{{[{][{]}}1,0}}>} : tensor<2x4xf32>
  %exchanged = xla.all_to_all %x {dimension = 0, replica_groups = #xla.replica_groups<{{1,0}}>} : tensor<2x4xf32>
  // Without a dimension: one operand for each member of a group.
  // CHECK: %a0, %a1 = xla.all_to_all %x, %x {replica_groups = #xla.replica_groups<{{[{][{]}}0,1}}>} : (tensor<2x4xf32>, tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>)
  %a0, %a1 = xla.all_to_all %x, %x {replica_groups = #xla.replica_groups<{{0,1}}>} : (tensor<2x4xf32>, tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>)
  // CHECK: %moved = xla.collective_permute %x {source_target_pairs = #xla.source_target_pairs<{{[{][{]}}0,1},{1,0}}>, channel_id = 2} : tensor<2x4xf32>
  %moved = xla.collective_permute %x {source_target_pairs = #xla.source_target_pairs<{{0,1},{1,0}}>, channel_id = 2} : tensor<2x4xf32>
  // CHECK: %told = xla.collective_broadcast %x {replica_groups = #xla.replica_groups<{{[{][{]}}1,0}}>} : tensor<2x4xf32>
  %told = xla.collective_broadcast %x {replica_groups = #xla.replica_groups<{{1,0}}>} : tensor<2x4xf32>
  // CHECK: %ragged = xla.ragged_all_to_all %k, %k, %n, %n, %n, %n {replica_groups = #xla.replica_groups<{{[{][{]}}0,1}}>} : (tensor<3xi32>, tensor<3xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<3xi32>
  %ragged = xla.ragged_all_to_all %k, %k, %n, %n, %n, %n {replica_groups = #xla.replica_groups<{{0,1}}>} : (tensor<3xi32>, tensor<3xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<3xi32>
  // CHECK: %replica = xla.replica_id : tensor<ui32>
  %replica = xla.replica_id : tensor<ui32>
  // CHECK: %partition = xla.partition_id : tensor<ui32>
  %partition = xla.partition_id : tensor<ui32>
  func.return
}

// -----

func.func @all_to_all_C1_1(%x: tuple<tensor<2xf32>>) {
  // expected-error @+1 {{xla.all_to_all: (C1) operand 0 is (f32[2]), not an array}}
  %0 = xla.all_to_all %x {replica_groups = #xla.replica_groups<{{0,1},{2,3}}>, dimension = 0} : tuple<tensor<2xf32>>
  func.return
}

// -----

func.func @all_to_all_C1_2(%x: tensor<2xf32>, %y: tensor<2xf32>) {
  // expected-error @+1 {{xla.all_to_all: (C1) 2 operands with a dimension}}
  %0 = xla.all_to_all %x, %y {replica_groups = #xla.replica_groups<{{0,1},{2,3}}>, dimension = 0} : tensor<2xf32>
  func.return
}

// -----

func.func @all_to_all_C1_3(%x: tensor<2xf32>, %y: tensor<3xf32>) {
  // expected-error @+1 {{xla.all_to_all: (C1) operand 1 is f32[3], operand 0 f32[2]}}
  %0 = xla.all_to_all %x, %y {replica_groups = #xla.replica_groups<{{0,1},{2,3}}>} : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
  func.return
}

// -----

func.func @all_to_all_C1_4(%x: tensor<2xf32>, %y: tensor<2xi32>) {
  // expected-error @+1 {{xla.all_to_all: (C1) operand 1 is s32[2], operand 0 f32[2]}}
  %0 = xla.all_to_all %x, %y {replica_groups = #xla.replica_groups<{{0,1},{2,3}}>} : (tensor<2xf32>, tensor<2xi32>) -> tensor<2xf32>
  func.return
}

// -----

func.func @all_to_all_C1_5() {
  // expected-error @+1 {{xla.all_to_all: (C1) there are no operands}}
  xla.all_to_all {replica_groups = #xla.replica_groups<{{0,1},{2,3}}>} : () -> ()
  func.return
}

// -----

func.func @all_to_all_C2(%x: tensor<2xf32>) {
  // expected-error @+1 {{xla.all_to_all: (C2) dimension 1 of operand 0: rank 1}}
  %0 = xla.all_to_all %x {replica_groups = #xla.replica_groups<{{0,1},{2,3}}>, dimension = 1} : tensor<2xf32>
  func.return
}

// -----

func.func @all_to_all_C3(%x: tensor<3xf32>) {
  // expected-error @+1 {{xla.all_to_all: (C3) size 3 for 2 blocks}}
  %0 = xla.all_to_all %x {replica_groups = #xla.replica_groups<{{0,1},{2,3}}>, dimension = 0} : tensor<3xf32>
  func.return
}

// -----

func.func @all_to_all_C3_beside_other_dimensions(%x: tensor<3x5xf32>) {
  // expected-error @+1 {{xla.all_to_all: (C3) size 3 for 2 blocks}}
  %0 = xla.all_to_all %x {replica_groups = #xla.replica_groups<{{0,1},{2,3}}>, dimension = 0} : tensor<3x5xf32>
  func.return
}

// -----

func.func @all_to_all_C4_1(%x: tensor<2xf32>) {
  // expected-error @+1 {{xla.all_to_all: (C4) replica groups {{0},{1,2}} differ in size}}
  %0 = xla.all_to_all %x {replica_groups = #xla.replica_groups<{{0},{1,2}}>, dimension = 0} : tensor<2xf32>
  func.return
}

// -----

func.func @all_to_all_C4_2(%x: tensor<2xf32>, %y: tensor<2xf32>, %z: tensor<2xf32>) {
  // expected-error @+1 {{xla.all_to_all: (C4) 3 operands for groups of 2}}
  %0 = xla.all_to_all %x, %y, %z {replica_groups = #xla.replica_groups<{{0,1},{2,3}}>} : tensor<2xf32>
  func.return
}

// -----

func.func @all_to_all_RG1(%x: tensor<2xf32>) {
  // expected-error @+1 {{xla.all_to_all: (RG1) replica groups {{0,3}}: 2 ids are not 0 to 1}}
  %0 = xla.all_to_all %x {replica_groups = #xla.replica_groups<{{0,3}}>, dimension = 0} : tensor<2xf32>
  func.return
}

// -----

func.func @collective_permute_C1_1(%x: tensor<2xf32>) {
  // expected-error @+1 {{xla.collective_permute: (C1) pairs {{0,1},{0,2}} repeat a source}}
  %0 = xla.collective_permute %x {source_target_pairs = #xla.source_target_pairs<{{0,1},{0,2}}>} : tensor<2xf32>
  func.return
}

// -----

func.func @collective_permute_C1_2(%x: tensor<2xf32>) {
  // expected-error @+1 {{xla.collective_permute: (C1) pairs {{0,1},{2,1}} repeat a target}}
  %0 = xla.collective_permute %x {source_target_pairs = #xla.source_target_pairs<{{0,1},{2,1}}>} : tensor<2xf32>
  func.return
}

// -----

func.func @collective_permute_C3_1(%x: tuple<tensor<2xf32>>) {
  // expected-error @+1 {{xla.collective_permute: (C3) operand 0 is (f32[2]), not an array}}
  %0 = xla.collective_permute %x {source_target_pairs = #xla.source_target_pairs<{{0,1}}>} : tuple<tensor<2xf32>>
  func.return
}

// -----

func.func @collective_permute_C3_2() {
  // expected-error @+1 {{xla.collective_permute: (C3) there are no operands}}
  xla.collective_permute {source_target_pairs = #xla.source_target_pairs<{{0,1}}>} : () -> ()
  func.return
}

// -----

func.func @collective_permute_C3_3(%x: tensor<2xf32>) {
  // expected-error @+1 {{xla.collective_permute: (C3) with slice_sizes there are inputs and as many outputs, found (f32[2])}}
  %0 = xla.collective_permute %x {source_target_pairs = #xla.source_target_pairs<{{0,1}}>, slice_sizes = "{{1}}"} : tensor<2xf32>
  func.return
}

// -----

func.func @collective_permute_C3_4(%x: tensor<2xf32>, %y: tensor<2xi32>, %o: tensor<i32>) {
  // expected-error @+1 {{xla.collective_permute: (C3) input and output 0 have element types f32 and s32}}
  %0 = xla.collective_permute %x, %y, %o, %o {source_target_pairs = #xla.source_target_pairs<{{0,1}}>, slice_sizes = "{{1}}"} : (tensor<2xf32>, tensor<2xi32>, tensor<i32>, tensor<i32>) -> tensor<2xi32>
  func.return
}

// -----

func.func @collective_permute_C3_5(%x: tensor<2xf32>, %y: tensor<2x2xf32>, %o: tensor<i32>) {
  // expected-error @+1 {{xla.collective_permute: (C3) inputs have ranks [1], outputs [2]}}
  %0 = xla.collective_permute %x, %y, %o, %o {source_target_pairs = #xla.source_target_pairs<{{0,1}}>, slice_sizes = "{{1}}"} : (tensor<2xf32>, tensor<2x2xf32>, tensor<i32>, tensor<i32>) -> tensor<2x2xf32>
  func.return
}

// -----

func.func @collective_permute_C4_1(%x: tensor<2xf32>, %y: tensor<2xf32>, %o: tensor<i64>) {
  // expected-error @+1 {{xla.collective_permute: (C4) an offset is s64[], not s32[]}}
  %0 = xla.collective_permute %x, %y, %o, %o {source_target_pairs = #xla.source_target_pairs<{{0,1}}>, slice_sizes = "{{1}}"} : (tensor<2xf32>, tensor<2xf32>, tensor<i64>, tensor<i64>) -> tensor<2xf32>
  func.return
}

// -----

func.func @collective_permute_C4_2(%x: tensor<2xf32>, %y: tensor<2xf32>, %o: tensor<i32>) {
  // expected-error @+1 {{xla.collective_permute: (C4) 1 offsets for 2 dimensions}}
  %0 = xla.collective_permute %x, %y, %o {source_target_pairs = #xla.source_target_pairs<{{0,1}}>, slice_sizes = "{{1}}"} : (tensor<2xf32>, tensor<2xf32>, tensor<i32>) -> tensor<2xf32>
  func.return
}

// -----

func.func @collective_permute_C4_3(%x: tensor<2xf32>, %y: tensor<2xf32>) {
  // expected-error @+1 {{xla.collective_permute: (C4) 0 offsets for 2 dimensions}}
  %0 = xla.collective_permute %x, %y {source_target_pairs = #xla.source_target_pairs<{{0,1}}>, slice_sizes = "{{1}}"} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return
}

// -----

func.func @collective_permute_C5_1(%x: tensor<2xf32>, %y: tensor<3xf32>, %o: tensor<i32>) {
  // expected-error @+1 {{xla.collective_permute: (C5) slice_sizes are {{1},{1}} for 1 slices}}
  %0 = xla.collective_permute %x, %y, %o, %o {source_target_pairs = #xla.source_target_pairs<{{0,1}}>, slice_sizes = "{{1},{1}}"} : (tensor<2xf32>, tensor<3xf32>, tensor<i32>, tensor<i32>) -> tensor<3xf32>
  func.return
}

// -----

func.func @collective_permute_C5_2(%x: tensor<2xf32>, %y: tensor<3xf32>, %o: tensor<i32>) {
  // expected-error @+1 {{xla.collective_permute: (C5) slices of sizes [1, 1] of f32[2] into f32[3]}}
  %0 = xla.collective_permute %x, %y, %o, %o {source_target_pairs = #xla.source_target_pairs<{{0,1}}>, slice_sizes = "{{1,1}}"} : (tensor<2xf32>, tensor<3xf32>, tensor<i32>, tensor<i32>) -> tensor<3xf32>
  func.return
}

// -----

func.func @collective_permute_C5_3(%x: tensor<2xf32>, %y: tensor<3xf32>, %o: tensor<i32>) {
  // expected-error @+1 {{xla.collective_permute: (C5) slices of sizes [3] of f32[2] into f32[3]}}
  %0 = xla.collective_permute %x, %y, %o, %o {source_target_pairs = #xla.source_target_pairs<{{0,1}}>, slice_sizes = "{{3}}"} : (tensor<2xf32>, tensor<3xf32>, tensor<i32>, tensor<i32>) -> tensor<3xf32>
  func.return
}

// -----

func.func @collective_permute_C5_4(%x: tensor<2xf32>, %y: tensor<3xf32>, %o: tensor<i32>) {
  // expected-error @+1 {{xla.collective_permute: (C5) slices of sizes [-1] of f32[2] into f32[3]}}
  %0 = xla.collective_permute %x, %y, %o, %o {source_target_pairs = #xla.source_target_pairs<{{0,1}}>, slice_sizes = "{{-1}}"} : (tensor<2xf32>, tensor<3xf32>, tensor<i32>, tensor<i32>) -> tensor<3xf32>
  func.return
}

// -----

func.func @collective_permute_C5_5(%x: tensor<2xf32>, %y: tensor<3xf32>, %o: tensor<i32>) {
  // expected-error @+1 {{xla.collective_permute: (C5) slice_sizes are one for 1 slices}}
  %0 = xla.collective_permute %x, %y, %o, %o {source_target_pairs = #xla.source_target_pairs<{{0,1}}>, slice_sizes = "one"} : (tensor<2xf32>, tensor<3xf32>, tensor<i32>, tensor<i32>) -> tensor<3xf32>
  func.return
}

// -----

func.func @collective_permute_C1_3(%x: tensor<2xf32>, %o: tensor<i32>) {
  // expected-error @+1 {{xla.collective_permute: (C1) pairs {{0,1},{0,1},{0,1}} repeat a source}}
  %0 = xla.collective_permute %x, %x, %o, %o, %o, %o {source_target_pairs = #xla.source_target_pairs<{{0,1},{0,1},{0,1}}>, slice_sizes = "{{1},{1}}"} : (tensor<2xf32>, tensor<2xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2xf32>
  func.return
}

// -----

func.func @collective_permute_RG5(%x: tensor<2xf32>) {
  // expected-error @+1 {{xla.collective_permute: (RG5) channel_id is 0}}
  %0 = xla.collective_permute %x {source_target_pairs = #xla.source_target_pairs<{{0,1}}>, channel_id = 0} : tensor<2xf32>
  func.return
}

// -----

func.func @collective_broadcast_C1(%x: !xla.token) {
  // expected-error @+1 {{xla.collective_broadcast: (C1) operand 0 is token[], not an array}}
  %0 = xla.collective_broadcast %x {replica_groups = #xla.replica_groups<{{0,1},{2,3}}>} : !xla.token
  func.return
}

// -----

func.func @collective_broadcast_C2_1(%x: tensor<2xf32>) {
  // expected-error @+1 {{xla.collective_broadcast: (C2) replica groups {{0,1},{1}} repeat an id, or are empty}}
  %0 = xla.collective_broadcast %x {replica_groups = #xla.replica_groups<{{0,1},{1}}>} : tensor<2xf32>
  func.return
}

// -----

func.func @collective_broadcast_C2_2(%x: tensor<2xf32>) {
  // expected-error @+1 {{xla.collective_broadcast: (C2) replica groups {{}} repeat an id, or are empty}}
  %0 = xla.collective_broadcast %x {replica_groups = #xla.replica_groups<{{}}>} : tensor<2xf32>
  func.return
}

// -----

func.func @collective_broadcast_C2_3(%x: tensor<2xf32>) {
  // expected-error @+1 {{xla.collective_broadcast: (C2) replica groups [2,2]<=[3]: 4 ids from dimensions [3]}}
  %0 = xla.collective_broadcast %x {replica_groups = #xla.replica_groups<[2,2]<=[3]>} : tensor<2xf32>
  func.return
}

// -----

func.func @collective_broadcast_C3_1(%x: tensor<2xf32>) {
  // expected-error @+1 {{xla.collective_broadcast: (C3) the last operand is f32[2], not s32[0]}}
  %0 = xla.collective_broadcast %x {replica_groups = #xla.replica_groups<{{0,1},{2,3}}>, has_dynamic_root = true} : tensor<2xf32>
  func.return
}

// -----

func.func @collective_broadcast_C3_2(%x: tensor<2xf32>, %y: tensor<2xi32>) {
  // expected-error @+1 {{xla.collective_broadcast: (C3) the last operand is s32[2], not s32[1]}}
  %0 = xla.collective_broadcast %x, %y {replica_groups = #xla.replica_groups<{{0,1},{2,3}}>, has_dynamic_root = true} : (tensor<2xf32>, tensor<2xi32>) -> tensor<2xf32>
  func.return
}

// -----

func.func @ragged_all_to_all_C1_1(%x: tensor<3x2xi32>, %y: tensor<4x2xf32>, %z: tensor<2xi32>, %w: tensor<2xi32>, %u: tensor<2xi32>, %v: tensor<2xi32>) {
  // expected-error @+1 {{xla.ragged_all_to_all: (C1) input and output have element types s32 and f32}}
  %0 = xla.ragged_all_to_all %x, %y, %z, %w, %u, %v {replica_groups = #xla.replica_groups<{{0,1},{2,3}}>} : (tensor<3x2xi32>, tensor<4x2xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<3x2xi32>
  func.return
}

// -----

func.func @ragged_all_to_all_C1_2(%x: tensor<3x1xf32>, %y: tensor<4x2xf32>, %z: tensor<2xi32>, %w: tensor<2xi32>, %u: tensor<2xi32>, %v: tensor<2xi32>) {
  // expected-error @+1 {{xla.ragged_all_to_all: (C1) input is f32[3,1], output f32[4,2]}}
  %0 = xla.ragged_all_to_all %x, %y, %z, %w, %u, %v {replica_groups = #xla.replica_groups<{{0,1},{2,3}}>} : (tensor<3x1xf32>, tensor<4x2xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<3x1xf32>
  func.return
}

// -----

func.func @ragged_all_to_all_C1_3(%x: tensor<f32>, %y: tensor<f32>, %z: tensor<2xi32>, %w: tensor<2xi32>, %u: tensor<2xi32>, %v: tensor<2xi32>) {
  // expected-error @+1 {{xla.ragged_all_to_all: (C1) input is f32[], output f32[]}}
  %0 = xla.ragged_all_to_all %x, %y, %z, %w, %u, %v {replica_groups = #xla.replica_groups<{{0,1},{2,3}}>} : (tensor<f32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<f32>
  func.return
}

// -----

func.func @ragged_all_to_all_C1_4(%x: tuple<>, %y: tensor<4x2xf32>, %z: tensor<2xi32>, %w: tensor<2xi32>, %u: tensor<2xi32>, %v: tensor<2xi32>) {
  // expected-error @+1 {{xla.ragged_all_to_all: (C1) input is (), not an array}}
  %0 = xla.ragged_all_to_all %x, %y, %z, %w, %u, %v {replica_groups = #xla.replica_groups<{{0,1},{2,3}}>} : (tuple<>, tensor<4x2xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tuple<>
  func.return
}

// -----

func.func @ragged_all_to_all_C2_1(%x: tensor<3x2xf32>, %y: tensor<4x2xf32>, %z: tensor<i32>, %w: tensor<i32>, %u: tensor<i32>, %v: tensor<i32>) {
  // expected-error @+1 {{xla.ragged_all_to_all: (C2) offsets and sizes are (s32[], s32[], s32[], s32[])}}
  %0 = xla.ragged_all_to_all %x, %y, %z, %w, %u, %v {replica_groups = #xla.replica_groups<{{0,1},{2,3}}>} : (tensor<3x2xf32>, tensor<4x2xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3x2xf32>
  func.return
}

// -----

func.func @ragged_all_to_all_C2_2(%x: tensor<3x2xf32>, %y: tensor<4x2xf32>, %z: tensor<2xf32>, %w: tensor<2xf32>, %u: tensor<2xf32>, %v: tensor<2xf32>) {
  // expected-error @+1 {{xla.ragged_all_to_all: (C2) input_offsets has element type f32, allowed: integer}}
  %0 = xla.ragged_all_to_all %x, %y, %z, %w, %u, %v {replica_groups = #xla.replica_groups<{{0,1},{2,3}}>} : (tensor<3x2xf32>, tensor<4x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<3x2xf32>
  func.return
}

// -----

func.func @ragged_all_to_all_C2_3(%x: tensor<3x2xf32>, %y: tensor<4x2xf32>, %z: tensor<2xi32>, %w: tensor<2xi32>, %u: tensor<2xi32>, %v: tensor<2xi64>) {
  // expected-error @+1 {{xla.ragged_all_to_all: (C2) offsets and sizes are (s32[2], s32[2], s32[2], s64[2])}}
  %0 = xla.ragged_all_to_all %x, %y, %z, %w, %u, %v {replica_groups = #xla.replica_groups<{{0,1},{2,3}}>} : (tensor<3x2xf32>, tensor<4x2xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi64>) -> tensor<3x2xf32>
  func.return
}

// -----

func.func @ragged_all_to_all_C3_1(%x: tensor<3x2xf32>, %y: tensor<4x2xf32>, %z: tensor<3xi32>, %w: tensor<3xi32>, %u: tensor<3xi32>, %v: tensor<3xi32>) {
  // expected-error @+1 {{xla.ragged_all_to_all: (C3) 3 offsets for groups of 2}}
  %0 = xla.ragged_all_to_all %x, %y, %z, %w, %u, %v {replica_groups = #xla.replica_groups<{{0,1},{2,3}}>} : (tensor<3x2xf32>, tensor<4x2xf32>, tensor<3xi32>, tensor<3xi32>, tensor<3xi32>, tensor<3xi32>) -> tensor<3x2xf32>
  func.return
}

// -----

func.func @ragged_all_to_all_C3_2(%x: tensor<3x2xf32>, %y: tensor<4x2xf32>, %z: tensor<2xi32>, %w: tensor<2xi32>, %u: tensor<2xi32>, %v: tensor<2xi32>) {
  // expected-error @+1 {{xla.ragged_all_to_all: (C3) replica groups {{0},{1,2}} differ in size}}
  %0 = xla.ragged_all_to_all %x, %y, %z, %w, %u, %v {replica_groups = #xla.replica_groups<{{0},{1,2}}>} : (tensor<3x2xf32>, tensor<4x2xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<3x2xf32>
  func.return
}

// -----

func.func @ragged_all_to_all_RG1(%x: tensor<3x2xf32>, %y: tensor<4x2xf32>, %z: tensor<2xi32>, %w: tensor<2xi32>, %u: tensor<2xi32>, %v: tensor<2xi32>) {
  // expected-error @+1 {{xla.ragged_all_to_all: (RG1) replica groups {{1,2}}: 2 ids are not 0 to 1}}
  %0 = xla.ragged_all_to_all %x, %y, %z, %w, %u, %v {replica_groups = #xla.replica_groups<{{1,2}}>} : (tensor<3x2xf32>, tensor<4x2xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<3x2xf32>
  func.return
}

// -----

module attributes {xla.replica_count = 2 : i64} {
  func.func @collective_permute_C2(%x: tensor<2xf32>) {
    // expected-error @+1 {{xla.collective_permute: (C2) pairs {{0,2}} name 2, there are 2 replicas}}
    %0 = xla.collective_permute %x {source_target_pairs = #xla.source_target_pairs<{{0,2}}>} : tensor<2xf32>
    func.return
  }
}

// -----

func.func @replica_id_Result() {
  // expected-error @+1 {{xla.replica_id: (Result) declared (s32[]), inferred (u32[])}}
  %0 = xla.replica_id : tensor<i32>
  func.return
}

// -----

func.func @partition_id_Result() {
  // expected-error @+1 {{xla.partition_id: (Result) declared (u32[1]), inferred (u32[])}}
  %0 = xla.partition_id : tensor<1xui32>
  func.return
}
