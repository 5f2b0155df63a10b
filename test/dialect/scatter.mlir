// RUN: xla-opt %s --split-input-file --verify-diagnostics | filecheck %s
// RUN: xla-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | xla-opt --split-input-file | filecheck %s

// CHECK-LABEL: @scatter(
func.func @scatter(%x: tensor<4x8xf32>, %j: tensor<3x1xui8>, %u: tensor<3x8xf32>) {
  // CHECK: %replaced = xla.scatter %x, %j, %u {update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1} : (tensor<4x8xf32>, tensor<3x1xui8>, tensor<3x8xf32>) -> tensor<4x8xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
  %replaced = xla.scatter %x, %j, %u {update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1} : (tensor<4x8xf32>, tensor<3x1xui8>, tensor<3x8xf32>) -> tensor<4x8xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    // CHECK: xla.return %b : tensor<f32>
    xla.return %b : tensor<f32>
  }
  func.return
}

// -----

func.func @scatter_C1_1(%x: tensor<5x1xi32>) {
  // expected-error @+1 {{xla.scatter: (C1) 0 inputs and 0 updates}}
  %0 = xla.scatter %x {update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1} : tensor<5x1xi32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

func.func @scatter_C1_2(%x: !xla.token, %y: tensor<5x1xi32>, %z: tensor<5x11xf32>) {
  // expected-error @+1 {{xla.scatter: (C1) input 0 is token[], not an array}}
  %0 = xla.scatter %x, %y, %z {update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1} : (!xla.token, tensor<5x1xi32>, tensor<5x11xf32>) -> !xla.token to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

func.func @scatter_C2_1(%x: tensor<16x11xf32>, %y: tensor<16x12xf32>, %z: tensor<5x1xi32>, %w: tensor<5x11xf32>, %u: tensor<5x11xf32>) {
  // expected-error @+1 {{xla.scatter: (C2) inputs 0 and 1 have shapes f32[16,11] and f32[16,12]}}
  %0 = xla.scatter %x, %y, %z, %w, %u {update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1} : (tensor<16x11xf32>, tensor<16x12xf32>, tensor<5x1xi32>, tensor<5x11xf32>, tensor<5x11xf32>) -> tensor<16x11xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

func.func @scatter_C2_2(%x: tensor<16x11xf32>, %y: tensor<16x11xf32>, %z: tensor<5x1xi32>, %w: tensor<5x11xf32>, %u: tensor<5x10xf32>) {
  // expected-error @+1 {{xla.scatter: (C2) updates 0 and 1 have shapes f32[5,11] and f32[5,10]}}
  %0 = xla.scatter %x, %y, %z, %w, %u {update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1} : (tensor<16x11xf32>, tensor<16x11xf32>, tensor<5x1xi32>, tensor<5x11xf32>, tensor<5x10xf32>) -> tensor<16x11xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

func.func @scatter_C3(%x: tensor<16x11xf32>, %y: tensor<5x1xi32>, %z: tensor<5x11xi32>) {
  // expected-error @+1 {{xla.scatter: (C3) input and update 0 have element types f32 and s32}}
  %0 = xla.scatter %x, %y, %z {update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1} : (tensor<16x11xf32>, tensor<5x1xi32>, tensor<5x11xi32>) -> tensor<16x11xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

func.func @scatter_RC1_1(%x: tensor<16x11xf32>, %y: tensor<5x1xi32>, %z: tensor<5x11xf32>) {
  // expected-error @+1 {{xla.scatter: (RC1) to_apply takes (s32[], s32[]), expected (f32[], f32[])}}
  %0 = xla.scatter %x, %y, %z {update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1} : (tensor<16x11xf32>, tensor<5x1xi32>, tensor<5x11xf32>) -> tensor<16x11xf32> to_apply (%a: tensor<i32>, %b: tensor<i32>) {
    %1 = xla.add %a, %b : tensor<i32>
    xla.return %1 : tensor<i32>
  }
  func.return
}

// -----

func.func @scatter_RC1_2(%x: tensor<16x11xf32>, %y: tensor<5x1xi32>, %z: tensor<5x11xf32>) {
  // expected-error @+1 {{xla.scatter: (RC1) to_apply takes (f32[]), expected (f32[], f32[])}}
  %0 = xla.scatter %x, %y, %z {update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1} : (tensor<16x11xf32>, tensor<5x1xi32>, tensor<5x11xf32>) -> tensor<16x11xf32> to_apply (%a: tensor<f32>) {
    xla.return %a : tensor<f32>
  }
  func.return
}

// -----

func.func @scatter_RC2_1(%x: tensor<16x11xf32>, %y: tensor<5x1xi32>, %z: tensor<5x11xf32>) {
  // expected-error @+1 {{xla.scatter: (RC2) to_apply returns (pred[]), expected (f32[])}}
  %0 = xla.scatter %x, %y, %z {update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1} : (tensor<16x11xf32>, tensor<5x1xi32>, tensor<5x11xf32>) -> tensor<16x11xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.compare %a, %b {direction = LT} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    xla.return %1 : tensor<i1>
  }
  func.return
}

// -----

func.func @scatter_RC2_2(%x: tensor<16x11xf32>, %y: tensor<5x1xi32>, %z: tensor<5x11xf32>) {
  // expected-error @+1 {{xla.scatter: (RC2) to_apply returns (f32[], f32[]), expected (f32[])}}
  %0 = xla.scatter %x, %y, %z {update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1} : (tensor<16x11xf32>, tensor<5x1xi32>, tensor<5x11xf32>) -> tensor<16x11xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    xla.return %a, %b : tensor<f32>, tensor<f32>
  }
  func.return
}

// -----

func.func @scatter_C5_1(%x: tensor<16x11xf32>, %y: tensor<5x1xf32>, %z: tensor<5x11xf32>) {
  // expected-error @+1 {{xla.scatter: (C5) scatter_indices has element type f32, allowed: integer}}
  %0 = xla.scatter %x, %y, %z {update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1} : (tensor<16x11xf32>, tensor<5x1xf32>, tensor<5x11xf32>) -> tensor<16x11xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

func.func @scatter_C5_2(%x: tensor<16x11xf32>, %y: tensor<5x1xi1>, %z: tensor<5x11xf32>) {
  // expected-error @+1 {{xla.scatter: (C5) scatter_indices has element type pred, allowed: integer}}
  %0 = xla.scatter %x, %y, %z {update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1} : (tensor<16x11xf32>, tensor<5x1xi1>, tensor<5x11xf32>) -> tensor<16x11xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

func.func @scatter_C6_1(%x: tensor<16x11xf32>, %y: tensor<5x1xi32>, %z: tensor<5x11xf32>) {
  // expected-error @+1 {{xla.scatter: (C6) index_vector_dim = 3 for indices of rank 2}}
  %0 = xla.scatter %x, %y, %z {update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 3} : (tensor<16x11xf32>, tensor<5x1xi32>, tensor<5x11xf32>) -> tensor<16x11xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

func.func @scatter_C6_2(%x: tensor<16x11xf32>, %y: tensor<5x1xi32>, %z: tensor<5x11xf32>) {
  // expected-error @+1 {{xla.scatter: (C6) index_vector_dim = -1 for indices of rank 2}}
  %0 = xla.scatter %x, %y, %z {update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = -1} : (tensor<16x11xf32>, tensor<5x1xi32>, tensor<5x11xf32>) -> tensor<16x11xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

func.func @scatter_C7_1(%x: tensor<16x11xf32>, %y: tensor<5x1xi32>, %z: tensor<5x5x11xf32>) {
  // expected-error @+1 {{xla.scatter: (C7) updates have rank 3, with 1 window dimensions and indices of rank 2}}
  %0 = xla.scatter %x, %y, %z {update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1} : (tensor<16x11xf32>, tensor<5x1xi32>, tensor<5x5x11xf32>) -> tensor<16x11xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

func.func @scatter_C7_2(%x: tensor<16x11xf32>, %y: tensor<5x1xi32>, %z: tensor<5xf32>) {
  // expected-error @+1 {{xla.scatter: (C7) updates have rank 1, with 1 window dimensions and indices of rank 2}}
  %0 = xla.scatter %x, %y, %z {update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1} : (tensor<16x11xf32>, tensor<5x1xi32>, tensor<5xf32>) -> tensor<16x11xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

func.func @scatter_C8_1(%x: tensor<16x11xf32>, %y: tensor<5x1xi32>, %z: tensor<5x11xf32>) {
  // expected-error @+1 {{xla.scatter: (C8) update_window_dims = [2] are not distinct dimensions of rank 2}}
  %0 = xla.scatter %x, %y, %z {update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1} : (tensor<16x11xf32>, tensor<5x1xi32>, tensor<5x11xf32>) -> tensor<16x11xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

func.func @scatter_C8_2(%x: tensor<16x11xf32>, %y: tensor<5x1xi32>, %z: tensor<5x11xf32>) {
  // expected-error @+1 {{xla.scatter: (C8) update_window_dims = [-1] are not distinct dimensions of rank 2}}
  %0 = xla.scatter %x, %y, %z {update_window_dims = [-1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1} : (tensor<16x11xf32>, tensor<5x1xi32>, tensor<5x11xf32>) -> tensor<16x11xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

func.func @scatter_C8_3(%x: tensor<16x11xf32>, %y: tensor<5x1xi32>, %z: tensor<5x1x11xf32>) {
  // expected-error @+1 {{xla.scatter: (C8) update_window_dims = [2, 1] do not ascend}}
  %0 = xla.scatter %x, %y, %z {update_window_dims = [2, 1], scatter_dims_to_operand_dims = [0], index_vector_dim = 1} : (tensor<16x11xf32>, tensor<5x1xi32>, tensor<5x1x11xf32>) -> tensor<16x11xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

func.func @scatter_C8_4(%x: tensor<16x11xf32>, %y: tensor<5x1xi32>, %z: tensor<5x1x11xf32>) {
  // expected-error @+1 {{xla.scatter: (C8) update_window_dims = [1, 1] are not distinct dimensions of rank 3}}
  %0 = xla.scatter %x, %y, %z {update_window_dims = [1, 1], scatter_dims_to_operand_dims = [0], index_vector_dim = 1} : (tensor<16x11xf32>, tensor<5x1xi32>, tensor<5x1x11xf32>) -> tensor<16x11xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

func.func @scatter_C9_1(%x: tensor<16x11xf32>, %y: tensor<5x1xi32>, %z: tensor<5x11xf32>) {
  // expected-error @+1 {{xla.scatter: (C9) inserted_window_dims = [2] are not distinct dimensions of rank 2}}
  %0 = xla.scatter %x, %y, %z {update_window_dims = [1], inserted_window_dims = [2], scatter_dims_to_operand_dims = [0], index_vector_dim = 1} : (tensor<16x11xf32>, tensor<5x1xi32>, tensor<5x11xf32>) -> tensor<16x11xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

func.func @scatter_C9_2(%x: tensor<16x11xf32>, %y: tensor<5x1xi32>, %z: tensor<5x11xf32>) {
  // expected-error @+1 {{xla.scatter: (C9) inserted_window_dims = [-1] are not distinct dimensions of rank 2}}
  %0 = xla.scatter %x, %y, %z {update_window_dims = [1], inserted_window_dims = [-1], scatter_dims_to_operand_dims = [0], index_vector_dim = 1} : (tensor<16x11xf32>, tensor<5x1xi32>, tensor<5x11xf32>) -> tensor<16x11xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

func.func @scatter_C9_3(%x: tensor<16x11xf32>, %y: tensor<5x1xi32>, %z: tensor<5xf32>) {
  // expected-error @+1 {{xla.scatter: (C9) inserted_window_dims = [1, 0] do not ascend}}
  %0 = xla.scatter %x, %y, %z {update_window_dims = [], inserted_window_dims = [1, 0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1} : (tensor<16x11xf32>, tensor<5x1xi32>, tensor<5xf32>) -> tensor<16x11xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

func.func @scatter_C10_1(%x: tensor<16x11xf32>, %y: tensor<5x1xi32>, %z: tensor<5x11xf32>) {
  // expected-error @+1 {{xla.scatter: (C10) 1 window, 0 inserted and 0 batching dimensions for inputs of rank 2}}
  %0 = xla.scatter %x, %y, %z {update_window_dims = [1], scatter_dims_to_operand_dims = [0], index_vector_dim = 1} : (tensor<16x11xf32>, tensor<5x1xi32>, tensor<5x11xf32>) -> tensor<16x11xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

func.func @scatter_C10_2(%x: tensor<16x11xf32>, %y: tensor<5x1xi32>, %z: tensor<5x11xf32>) {
  // expected-error @+1 {{xla.scatter: (C10) 1 window, 2 inserted and 0 batching dimensions for inputs of rank 2}}
  %0 = xla.scatter %x, %y, %z {update_window_dims = [1], inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0], index_vector_dim = 1} : (tensor<16x11xf32>, tensor<5x1xi32>, tensor<5x11xf32>) -> tensor<16x11xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

func.func @scatter_C11_1(%x: tensor<16x11xf32>, %y: tensor<5x1xi32>, %z: tensor<5x11xf32>) {
  // expected-error @+1 {{xla.scatter: (C11) scatter_dims_to_operand_dims has 0 entries, not 1}}
  %0 = xla.scatter %x, %y, %z {update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [], index_vector_dim = 1} : (tensor<16x11xf32>, tensor<5x1xi32>, tensor<5x11xf32>) -> tensor<16x11xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

func.func @scatter_C11_2(%x: tensor<16x11xf32>, %y: tensor<5x1xi32>, %z: tensor<5x11xf32>) {
  // expected-error @+1 {{xla.scatter: (C11) scatter_dims_to_operand_dims = [2] are not distinct dimensions of rank 2}}
  %0 = xla.scatter %x, %y, %z {update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [2], index_vector_dim = 1} : (tensor<16x11xf32>, tensor<5x1xi32>, tensor<5x11xf32>) -> tensor<16x11xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

func.func @scatter_C11_3(%x: tensor<16x11xf32>, %y: tensor<5x2xi32>, %z: tensor<5x11xf32>) {
  // expected-error @+1 {{xla.scatter: (C11) scatter_dims_to_operand_dims = [0, 0] are not distinct dimensions of rank 2}}
  %0 = xla.scatter %x, %y, %z {update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0, 0], index_vector_dim = 1} : (tensor<16x11xf32>, tensor<5x2xi32>, tensor<5x11xf32>) -> tensor<16x11xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

func.func @scatter_C12(%x: tensor<16x11xf32>, %y: tensor<5x1xi32>, %z: tensor<5x12xf32>) {
  // expected-error @+1 {{xla.scatter: (C12) windows of sizes [12] in inputs with window sizes [11]}}
  %0 = xla.scatter %x, %y, %z {update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1} : (tensor<16x11xf32>, tensor<5x1xi32>, tensor<5x12xf32>) -> tensor<16x11xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

func.func @scatter_C13(%x: tensor<16x11xf32>, %y: tensor<5x1xi32>, %z: tensor<6x11xf32>) {
  // expected-error @+1 {{xla.scatter: (C13) scatter sizes of the updates are [6], of the indices [5]}}
  %0 = xla.scatter %x, %y, %z {update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1} : (tensor<16x11xf32>, tensor<5x1xi32>, tensor<6x11xf32>) -> tensor<16x11xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

func.func @scatter_C14_1(%x: tensor<2x3xf32>, %y: tensor<3x1xi32>, %z: tensor<3xf32>) {
  // expected-error @+1 {{xla.scatter: (C14) batching sizes are [2] and [3]}}
  %0 = xla.scatter %x, %y, %z {update_window_dims = [], inserted_window_dims = [1], scatter_dims_to_operand_dims = [1], index_vector_dim = 1, input_batching_dims = [0], scatter_indices_batching_dims = [0]} : (tensor<2x3xf32>, tensor<3x1xi32>, tensor<3xf32>) -> tensor<2x3xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

func.func @scatter_C14_2(%x: tensor<2x3xf32>, %y: tensor<2x1xi32>, %z: tensor<2xf32>) {
  // expected-error @+1 {{xla.scatter: (C14) batching sizes are [2] and []}}
  %0 = xla.scatter %x, %y, %z {update_window_dims = [], inserted_window_dims = [1], scatter_dims_to_operand_dims = [1], index_vector_dim = 1, input_batching_dims = [0]} : (tensor<2x3xf32>, tensor<2x1xi32>, tensor<2xf32>) -> tensor<2x3xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

func.func @scatter_C14_3(%x: tensor<2x3xf32>, %y: tensor<2x1xi32>, %z: tensor<2xf32>) {
  // expected-error @+1 {{xla.scatter: (C14) scatter_indices_batching_dims = [2] are not distinct dimensions of rank 2}}
  %0 = xla.scatter %x, %y, %z {update_window_dims = [], inserted_window_dims = [1], scatter_dims_to_operand_dims = [1], index_vector_dim = 1, input_batching_dims = [0], scatter_indices_batching_dims = [2]} : (tensor<2x3xf32>, tensor<2x1xi32>, tensor<2xf32>) -> tensor<2x3xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

func.func @scatter_C14_4(%x: tensor<1x3xf32>, %y: tensor<2x1xi32>, %z: tensor<2xf32>) {
  // expected-error @+1 {{xla.scatter: (C14) index_vector_dim 1 is a batching dimension}}
  %0 = xla.scatter %x, %y, %z {update_window_dims = [], inserted_window_dims = [1], scatter_dims_to_operand_dims = [1], index_vector_dim = 1, input_batching_dims = [0], scatter_indices_batching_dims = [1]} : (tensor<1x3xf32>, tensor<2x1xi32>, tensor<2xf32>) -> tensor<1x3xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

func.func @scatter_C14_5(%x: tensor<2x3xf32>, %y: tensor<2x1xi32>, %z: tensor<2xf32>) {
  // expected-error @+1 {{xla.scatter: (C14) input_batching_dims = [0] are inserted, collapsed or indexed}}
  %0 = xla.scatter %x, %y, %z {update_window_dims = [], inserted_window_dims = [1], scatter_dims_to_operand_dims = [0], index_vector_dim = 1, input_batching_dims = [0], scatter_indices_batching_dims = [0]} : (tensor<2x3xf32>, tensor<2x1xi32>, tensor<2xf32>) -> tensor<2x3xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

func.func @scatter_C14_6(%x: tensor<2x3xf32>, %y: tensor<2x1xi32>, %z: tensor<2xf32>) {
  // expected-error @+1 {{xla.scatter: (C14) input_batching_dims = [0] are inserted, collapsed or indexed}}
  %0 = xla.scatter %x, %y, %z {update_window_dims = [], inserted_window_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 1, input_batching_dims = [0], scatter_indices_batching_dims = [0]} : (tensor<2x3xf32>, tensor<2x1xi32>, tensor<2xf32>) -> tensor<2x3xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

func.func @scatter_C14_7(%x: tensor<2x3xf32>, %y: tensor<2x1xi32>, %z: tensor<2xf32>) {
  // expected-error @+1 {{xla.scatter: (C14) input_batching_dims = [2] are not distinct dimensions of rank 2}}
  %0 = xla.scatter %x, %y, %z {update_window_dims = [], inserted_window_dims = [1], scatter_dims_to_operand_dims = [1], index_vector_dim = 1, input_batching_dims = [2], scatter_indices_batching_dims = [0]} : (tensor<2x3xf32>, tensor<2x1xi32>, tensor<2xf32>) -> tensor<2x3xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

func.func @scatter_Result(%x: tensor<16x11xf32>, %y: tensor<5x1xi32>, %z: tensor<5x11xf32>) {
  // expected-error @+1 {{xla.scatter: (Result) declared (f32[16,12]), inferred (f32[16,11])}}
  %0 = xla.scatter %x, %y, %z {update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1} : (tensor<16x11xf32>, tensor<5x1xi32>, tensor<5x11xf32>) -> tensor<16x12xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}
