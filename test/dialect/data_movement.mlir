// RUN: xla-opt %s --split-input-file --verify-diagnostics | filecheck %s
// RUN: xla-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | xla-opt --split-input-file | filecheck %s

// CHECK-LABEL: @data_movement(
func.func @data_movement(%x: tensor<4x3xf32>, %v: tensor<3xf32>, %s: tensor<f32>) {
  // CHECK: xla.broadcast %v {dimensions = [1]} : (tensor<3xf32>) -> tensor<4x3xf32>
  %0 = xla.broadcast %v {dimensions = [1]} : (tensor<3xf32>) -> tensor<4x3xf32>
  // CHECK: xla.broadcast %s : (tensor<f32>) -> tensor<0xf32>
  %1 = xla.broadcast %s {dimensions = []} : (tensor<f32>) -> tensor<0xf32>
  // CHECK: xla.reshape %x : (tensor<4x3xf32>) -> tensor<2x6xf32>
  %2 = xla.reshape %x : (tensor<4x3xf32>) -> tensor<2x6xf32>
  // CHECK: xla.transpose %x {dimensions = [1, 0]} : (tensor<4x3xf32>) -> tensor<3x4xf32>
  %3 = xla.transpose %x {dimensions = [1, 0]} : (tensor<4x3xf32>) -> tensor<3x4xf32>
  // CHECK: xla.concatenate %x, %x {dimension = 0} : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<8x3xf32>
  %4 = xla.concatenate %x, %x {dimension = 0} : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<8x3xf32>
  // CHECK: xla.pad %v, %s {edge_padding_low = [-1], edge_padding_high = [2], interior_padding = [1]} : (tensor<3xf32>, tensor<f32>) -> tensor<6xf32>
  %5 = xla.pad %v, %s {edge_padding_low = [-1], edge_padding_high = [2], interior_padding = [1]} : (tensor<3xf32>, tensor<f32>) -> tensor<6xf32>
  // CHECK: xla.reverse %x {dimensions = [0, 1]} : tensor<4x3xf32>
  %6 = xla.reverse %x {dimensions = [0, 1]} : tensor<4x3xf32>
  // CHECK: xla.copy %x : (tensor<4x3xf32>) -> tensor<4x3xf32, #xla.layout<{0,1:T(2,2)S(1)}>>
  %7 = xla.copy %x : (tensor<4x3xf32>) -> tensor<4x3xf32, #xla.layout<{0,1:T(2,2)S(1)}>>
  // CHECK: xla.bitcast %x : (tensor<4x3xf32>) -> tensor<3x4xf32, #xla.layout<{0,1}>>
  %8 = xla.bitcast %x : (tensor<4x3xf32>) -> tensor<3x4xf32, #xla.layout<{0,1}>>
  func.return
}

// -----

func.func @broadcast_C1_1(%x: tensor<3xf32>) {
  // expected-error @+1 {{xla.broadcast: (C1) dimensions has 2 entries, not 1}}
  %0 = xla.broadcast %x {dimensions = [0, 1]} : (tensor<3xf32>) -> tensor<3x3xf32>
  func.return
}

// -----

func.func @broadcast_C1_2(%x: tensor<3xf32>) {
  // expected-error @+1 {{xla.broadcast: (C1) dimensions has 0 entries, not 1}}
  %0 = xla.broadcast %x : tensor<3xf32>
  func.return
}

// -----

func.func @broadcast_C1_3(%x: !xla.token) {
  // expected-error @+1 {{xla.broadcast: (C1) operand is token[], not an array}}
  %0 = xla.broadcast %x : (!xla.token) -> tensor<3xf32>
  func.return
}

// -----

func.func @broadcast_C3_1(%x: tensor<3xf32>) {
  // expected-error @+1 {{xla.broadcast: (C3) dimensions = [1] are not distinct dimensions of rank 1}}
  %0 = xla.broadcast %x {dimensions = [1]} : tensor<3xf32>
  func.return
}

// -----

func.func @broadcast_C3_2(%x: tensor<3xf32>) {
  // expected-error @+1 {{xla.broadcast: (C3) dimensions = [-1] are not distinct dimensions of rank 1}}
  %0 = xla.broadcast %x {dimensions = [-1]} : tensor<3xf32>
  func.return
}

// -----

func.func @broadcast_C3_3(%x: tensor<3x3xf32>) {
  // expected-error @+1 {{xla.broadcast: (C3) dimensions = [1, 1] are not distinct dimensions of rank 2}}
  %0 = xla.broadcast %x {dimensions = [1, 1]} : tensor<3x3xf32>
  func.return
}

// -----

func.func @broadcast_C4_1(%x: tensor<3xf32>) {
  // expected-error @+1 {{xla.broadcast: (C4) operand sizes [3] map to [4]}}
  %0 = xla.broadcast %x {dimensions = [1]} : (tensor<3xf32>) -> tensor<3x4xf32>
  func.return
}

// -----

func.func @broadcast_C4_2(%x: tensor<1xf32>) {
  // expected-error @+1 {{xla.broadcast: (C4) operand sizes [1] map to [4]}}
  %0 = xla.broadcast %x {dimensions = [0]} : (tensor<1xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @broadcast_C4_beside_other_dimensions(%x: tensor<3x5xf32>) {
  // expected-error @+1 {{xla.broadcast: (C4) operand sizes [3, 5] map to [4, 5]}}
  %0 = xla.broadcast %x {dimensions = [1, 0]} : (tensor<3x5xf32>) -> tensor<5x4xf32>
  func.return
}

// -----

func.func @broadcast_Result(%x: tensor<3xf32>) {
  // expected-error @+1 {{xla.broadcast: (Result) operand and result have element types f32 and s32}}
  %0 = xla.broadcast %x {dimensions = [0]} : (tensor<3xf32>) -> tensor<3xi32>
  func.return
}

// -----

func.func @reshape_C1(%x: !xla.token) {
  // expected-error @+1 {{xla.reshape: (C1) operand is token[], not an array}}
  %0 = xla.reshape %x : (!xla.token) -> tensor<f32>
  func.return
}

// -----

func.func @reshape_C2_1(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{xla.reshape: (C2) 6 elements of [2, 3] become 5 of [5]}}
  %0 = xla.reshape %x : (tensor<2x3xf32>) -> tensor<5xf32>
  func.return
}

// -----

func.func @reshape_C2_2(%x: tensor<f32>) {
  // expected-error @+1 {{xla.reshape: (C2) 1 elements of [] become 0 of [0]}}
  %0 = xla.reshape %x : (tensor<f32>) -> tensor<0xf32>
  func.return
}

// -----

func.func @reshape_C2_3(%x: tensor<0x3xf32>) {
  // expected-error @+1 {{xla.reshape: (C2) 0 elements of [0, 3] become 3 of [3]}}
  %0 = xla.reshape %x : (tensor<0x3xf32>) -> tensor<3xf32>
  func.return
}

// -----

func.func @reshape_Result(%x: tensor<6xf32>) {
  // expected-error @+1 {{xla.reshape: (Result) operand and result have element types f32 and s32}}
  %0 = xla.reshape %x : (tensor<6xf32>) -> tensor<6xi32>
  func.return
}

// -----

func.func @reshape_C2_4(%x: tensor<?xf32, #xla.layout<{0}, bounds = [6]>>) {
  // expected-error @+1 {{xla.reshape: (C2) sizes [<=6] are dynamic, [6] are not}}
  %0 = xla.reshape %x : (tensor<?xf32, #xla.layout<{0}, bounds = [6]>>) -> tensor<6xf32>
  func.return
}

// -----

func.func @transpose_C1_1(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{xla.transpose: (C1) [0] is no permutation of 2 dimensions}}
  %0 = xla.transpose %x {dimensions = [0]} : tensor<2x3xf32>
  func.return
}

// -----

func.func @transpose_C1_2(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{xla.transpose: (C1) [0, 0] is no permutation of 2 dimensions}}
  %0 = xla.transpose %x {dimensions = [0, 0]} : tensor<2x3xf32>
  func.return
}

// -----

func.func @transpose_C1_3(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{xla.transpose: (C1) [0, 2] is no permutation of 2 dimensions}}
  %0 = xla.transpose %x {dimensions = [0, 2]} : tensor<2x3xf32>
  func.return
}

// -----

func.func @transpose_C1_4(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{xla.transpose: (C1) [-1, 0] is no permutation of 2 dimensions}}
  %0 = xla.transpose %x {dimensions = [-1, 0]} : tensor<2x3xf32>
  func.return
}

// -----

func.func @transpose_C1_5(%x: tensor<f32>) {
  // expected-error @+1 {{xla.transpose: (C1) [0] is no permutation of 0 dimensions}}
  %0 = xla.transpose %x {dimensions = [0]} : tensor<f32>
  func.return
}

// -----

func.func @transpose_C1_6(%x: !xla.token) {
  // expected-error @+1 {{xla.transpose: (C1) operand is token[], not an array}}
  %0 = xla.transpose %x {dimensions = []} : !xla.token
  func.return
}

// -----

func.func @transpose_Properties_1(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{xla.transpose: (Properties) dimensions is missing}}
  %0 = xla.transpose %x : tensor<2x3xf32>
  func.return
}

// -----

func.func @transpose_Properties_2(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{xla.transpose: (Properties) dimensions: "x" should be of base attribute array}}
  %0 = xla.transpose %x {dimensions = "x"} : tensor<2x3xf32>
  func.return
}

// -----

func.func @transpose_Properties_3(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{xla.transpose: (Properties) dimensions: 1 : i64 should be of base attribute array}}
  %0 = xla.transpose %x {dimensions = 1} : tensor<2x3xf32>
  func.return
}

// -----

func.func @transpose_Properties_4(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{xla.transpose: unknown or repeated property 'axis' (it has: dimensions)}}
  %0 = xla.transpose %x {dimensions = [1, 0], axis = [1, 0]} : tensor<2x3xf32>
  func.return
}

// -----

func.func @concatenate_C1() {
  // expected-error @+1 {{xla.concatenate: (C1) there are no operands}}
  xla.concatenate {dimension = 0} : () -> ()
  func.return
}

// -----

func.func @concatenate_C2_1(%x: tensor<2xf32>, %y: tensor<2xi32>) {
  // expected-error @+1 {{xla.concatenate: (C2) operands 0 and 1 have element types f32 and s32}}
  %0 = xla.concatenate %x, %y {dimension = 0} : (tensor<2xf32>, tensor<2xi32>) -> tensor<2xf32>
  func.return
}

// -----

func.func @concatenate_C2_2(%x: tensor<2xf32>, %y: tensor<2x1xf32>) {
  // expected-error @+1 {{xla.concatenate: (C2) operand 1 has rank 2, not 1}}
  %0 = xla.concatenate %x, %y {dimension = 0} : (tensor<2xf32>, tensor<2x1xf32>) -> tensor<2xf32>
  func.return
}

// -----

func.func @concatenate_C3_1(%x: tensor<2xf32>, %y: tensor<2xf32>) {
  // expected-error @+1 {{xla.concatenate: (C3) dimension 1 of rank 1}}
  %0 = xla.concatenate %x, %y {dimension = 1} : tensor<2xf32>
  func.return
}

// -----

func.func @concatenate_C3_2(%x: tensor<2xf32>) {
  // expected-error @+1 {{xla.concatenate: (C3) dimension -1 of rank 1}}
  %0 = xla.concatenate %x {dimension = -1} : tensor<2xf32>
  func.return
}

// -----

func.func @concatenate_C3_3(%x: tensor<f32>, %y: tensor<f32>) {
  // expected-error @+1 {{xla.concatenate: (C3) dimension 0 of rank 0}}
  %0 = xla.concatenate %x, %y {dimension = 0} : tensor<f32>
  func.return
}

// -----

func.func @concatenate_C4(%x: tensor<2x3xf32>, %y: tensor<2x4xf32>) {
  // expected-error @+1 {{xla.concatenate: (C4) operand 1 has sizes [2, 4], operand 0 [2, 3]}}
  %0 = xla.concatenate %x, %y {dimension = 0} : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

func.func @pad_C1_1(%x: tensor<2xf32>, %y: tensor<i32>) {
  // expected-error @+1 {{xla.pad: (C1) padding value is tensor<i32>, not a scalar of f32}}
  %0 = xla.pad %x, %y {edge_padding_low = [0], edge_padding_high = [0], interior_padding = [0]} : (tensor<2xf32>, tensor<i32>) -> tensor<2xf32>
  func.return
}

// -----

func.func @pad_C1_2(%x: tensor<2xf32>, %y: tensor<1xf32>) {
  // expected-error @+1 {{xla.pad: (C1) padding value is tensor<1xf32>, not a scalar of f32}}
  %0 = xla.pad %x, %y {edge_padding_low = [0], edge_padding_high = [0], interior_padding = [0]} : (tensor<2xf32>, tensor<1xf32>) -> tensor<2xf32>
  func.return
}

// -----

func.func @pad_C2_1(%x: tensor<2xf32>, %y: tensor<f32>) {
  // expected-error @+1 {{xla.pad: (C2) edge_padding_low has 0 entries, not 1}}
  %0 = xla.pad %x, %y {edge_padding_low = [], edge_padding_high = [0], interior_padding = [0]} : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  func.return
}

// -----

func.func @pad_C2_2(%x: tensor<2xf32>, %y: tensor<f32>) {
  // expected-error @+1 {{xla.pad: (C2) edge_padding_high has 2 entries, not 1}}
  %0 = xla.pad %x, %y {edge_padding_low = [0], edge_padding_high = [0, 0], interior_padding = [0]} : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  func.return
}

// -----

func.func @pad_C2_3(%x: tensor<2xf32>, %y: tensor<f32>) {
  // expected-error @+1 {{xla.pad: (C2) interior_padding has 0 entries, not 1}}
  %0 = xla.pad %x, %y {edge_padding_low = [0], edge_padding_high = [0], interior_padding = []} : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  func.return
}

// -----

func.func @pad_C3(%x: tensor<2xf32>, %y: tensor<f32>) {
  // expected-error @+1 {{xla.pad: (C3) interior padding is [-1]}}
  %0 = xla.pad %x, %y {edge_padding_low = [0], edge_padding_high = [0], interior_padding = [-1]} : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  func.return
}

// -----

func.func @pad_C4_1(%x: tensor<2xf32>, %y: tensor<f32>) {
  // expected-error @+1 {{xla.pad: (C4) result sizes are [-1]}}
  %0 = xla.pad %x, %y {edge_padding_low = [-1], edge_padding_high = [-2], interior_padding = [0]} : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  func.return
}

// -----

func.func @pad_C4_2(%x: tensor<0xf32>, %y: tensor<f32>) {
  // expected-error @+1 {{xla.pad: (C4) result sizes are [-1]}}
  %0 = xla.pad %x, %y {edge_padding_low = [0], edge_padding_high = [-1], interior_padding = [3]} : (tensor<0xf32>, tensor<f32>) -> tensor<0xf32>
  func.return
}

// -----

func.func @pad_C4_beside_other_dimensions(%x: tensor<2x5xf32>, %y: tensor<f32>) {
  // expected-error @+1 {{xla.pad: (C4) result sizes are [-1, 5]}}
  %0 = xla.pad %x, %y {edge_padding_low = [-1, 0], edge_padding_high = [-2, 0], interior_padding = [0, 0]} : (tensor<2x5xf32>, tensor<f32>) -> tensor<2x5xf32>
  func.return
}

// -----

func.func @reverse_C1_1(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{xla.reverse: (C1) dimensions = [2] are not distinct dimensions of rank 2}}
  %0 = xla.reverse %x {dimensions = [2]} : tensor<2x3xf32>
  func.return
}

// -----

func.func @reverse_C1_2(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{xla.reverse: (C1) dimensions = [-1] are not distinct dimensions of rank 2}}
  %0 = xla.reverse %x {dimensions = [-1]} : tensor<2x3xf32>
  func.return
}

// -----

func.func @reverse_C1_3(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{xla.reverse: (C1) dimensions = [0, 0] are not distinct dimensions of rank 2}}
  %0 = xla.reverse %x {dimensions = [0, 0]} : tensor<2x3xf32>
  func.return
}

// -----

func.func @copy_C1(%x: !xla.token) {
  // expected-error @+1 {{xla.copy: (C1) operand is token[], not an array}}
  %0 = xla.copy %x : !xla.token
  func.return
}

// -----

func.func @bitcast_C1(%x: !xla.token) {
  // expected-error @+1 {{xla.bitcast: (C1) operand is token[], not an array}}
  %0 = xla.bitcast %x : (!xla.token) -> tensor<2xf32>
  func.return
}

// -----

func.func @bitcast_C2_1(%x: tensor<2xf32>) {
  // expected-error @+1 {{xla.bitcast: (C2) 8 bytes become 12}}
  %0 = xla.bitcast %x : (tensor<2xf32>) -> tensor<3xf32>
  func.return
}

// -----

func.func @bitcast_C2_2(%x: tensor<2xi4>) {
  // expected-error @+1 {{xla.bitcast: (C2) 2 bytes become 1}}
  %0 = xla.bitcast %x : (tensor<2xi4>) -> tensor<1xi8>
  func.return
}

// -----

func.func @bitcast_Result(%x: tensor<2xf32>) {
  // expected-error @+1 {{xla.bitcast: (Result) the result is token[], not an array}}
  %0 = xla.bitcast %x : (tensor<2xf32>) -> !xla.token
  func.return
}
