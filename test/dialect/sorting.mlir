// RUN: xla-opt %s --split-input-file --verify-diagnostics | filecheck %s
// RUN: xla-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | xla-opt --split-input-file | filecheck %s

// CHECK-LABEL: @sorting(
func.func @sorting(%x: tensor<4x5xf32>, %i: tensor<4x5xi32>) {
  // CHECK: xla.sort %x, %i {dimension = 1, is_stable = true} : (tensor<4x5xf32>, tensor<4x5xi32>) -> (tensor<4x5xf32>, tensor<4x5xi32>) to_apply (%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>) {
  %0, %1 = xla.sort %x, %i {dimension = 1, is_stable = true} : (tensor<4x5xf32>, tensor<4x5xi32>) -> (tensor<4x5xf32>, tensor<4x5xi32>) to_apply (%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>) {
    // CHECK: xla.compare %a, %b {direction = LT, comparison_type = TOTALORDER} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %2 = xla.compare %a, %b {direction = LT, comparison_type = TOTALORDER} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    // CHECK: xla.return %{{.*}} : tensor<i1>
    xla.return %2 : tensor<i1>
  }
  // CHECK: xla.topk %x {k = 2} : (tensor<4x5xf32>) -> (tensor<4x2xf32>, tensor<4x2xi32>)
  %3, %4 = xla.topk %x {k = 2, largest = true} : (tensor<4x5xf32>) -> (tensor<4x2xf32>, tensor<4x2xi32>)
  // CHECK: xla.topk %x {k = 0, largest = false} : (tensor<4x5xf32>) -> tuple<tensor<4x0xf32>, tensor<4x0xi32>>
  %5 = xla.topk %x {k = 0, largest = false} : (tensor<4x5xf32>) -> tuple<tensor<4x0xf32>, tensor<4x0xi32>>
  func.return
}

// -----

func.func @sort_C1_1() {
  // expected-error @+1 {{xla.sort: (C1) there are no inputs}}
  %0 = xla.sort {dimension = 1} : tensor<3x4xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.compare %a, %b {direction = LT} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    xla.return %1 : tensor<i1>
  }
  func.return
}

// -----

func.func @sort_C1_2(%x: !xla.token) {
  // expected-error @+1 {{xla.sort: (C1) input 0 is token[], not an array}}
  %0 = xla.sort %x {dimension = 1} : (!xla.token) -> tensor<3x4xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.compare %a, %b {direction = LT} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    xla.return %1 : tensor<i1>
  }
  func.return
}

// -----

func.func @sort_C1_3(%x: tensor<3x4xf32>, %y: tensor<4x3xf32>) {
  // expected-error @+1 {{xla.sort: (C1) inputs 0 and 1 have shapes f32[3,4] and f32[4,3]}}
  %0 = xla.sort %x, %y {dimension = 1} : (tensor<3x4xf32>, tensor<4x3xf32>) -> tensor<3x4xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>) {
    %1 = xla.compare %a, %b {direction = LT} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    xla.return %1 : tensor<i1>
  }
  func.return
}

// -----

func.func @sort_C2_1(%x: tensor<3x4xf32>) {
  // expected-error @+1 {{xla.sort: (C2) to_apply takes (s32[], s32[]), expected (f32[], f32[])}}
  %0 = xla.sort %x {dimension = 1} : tensor<3x4xf32> to_apply (%a: tensor<i32>, %b: tensor<i32>) {
    %1 = xla.compare %a, %b {direction = LT} : (tensor<i32>, tensor<i32>) -> tensor<i1>
    xla.return %1 : tensor<i1>
  }
  func.return
}

// -----

func.func @sort_C2_2(%x: tensor<3x4xf32>) {
  // expected-error @+1 {{xla.sort: (C2) to_apply takes (f32[], f32[], f32[], f32[]), expected (f32[], f32[])}}
  %0 = xla.sort %x {dimension = 1} : tensor<3x4xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>) {
    %1 = xla.compare %a, %b {direction = LT} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    xla.return %1 : tensor<i1>
  }
  func.return
}

// -----

func.func @sort_C2_3(%x: tensor<3x4xf32>) {
  // expected-error @+1 {{xla.sort: (C2) to_apply returns (f32[]), expected (pred[])}}
  %0 = xla.sort %x {dimension = 1} : tensor<3x4xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

func.func @sort_C2_4(%x: tensor<2x2xf32>, %y: tensor<2x2xi32>) {
  // expected-error @+1 {{xla.sort: (C2) to_apply takes (s32[], s32[], f32[], f32[]), expected (f32[], f32[], s32[], s32[])}}
  %0 = xla.sort %x, %y {dimension = 1} : (tensor<2x2xf32>, tensor<2x2xi32>) -> tensor<3x4xf32> to_apply (%a: tensor<i32>, %b: tensor<i32>, %c: tensor<f32>, %d: tensor<f32>) {
    %1 = xla.compare %a, %b {direction = LT} : (tensor<i32>, tensor<i32>) -> tensor<i1>
    xla.return %1 : tensor<i1>
  }
  func.return
}

// -----

func.func @sort_C3_1(%x: tensor<3x4xf32>) {
  // expected-error @+1 {{xla.sort: (C3) dimension 2 of arrays of rank 2}}
  %0 = xla.sort %x {dimension = 2} : tensor<3x4xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.compare %a, %b {direction = LT} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    xla.return %1 : tensor<i1>
  }
  func.return
}

// -----

func.func @sort_C3_2(%x: tensor<3x4xf32>) {
  // expected-error @+1 {{xla.sort: (C3) dimension -1 of arrays of rank 2}}
  %0 = xla.sort %x {dimension = -1} : tensor<3x4xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.compare %a, %b {direction = LT} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    xla.return %1 : tensor<i1>
  }
  func.return
}

// -----

func.func @sort_C4(%x: tensor<f32>) {
  // expected-error @+1 {{xla.sort: (C4) the inputs are scalars}}
  %0 = xla.sort %x {dimension = 0} : (tensor<f32>) -> tensor<3x4xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.compare %a, %b {direction = LT} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    xla.return %1 : tensor<i1>
  }
  func.return
}

// -----

func.func @topk_C1(%x: tensor<f32>) {
  // expected-error @+1 {{xla.topk: (C1) the operand is a scalar}}
  %0 = xla.topk %x {k = 0} : tensor<f32>
  func.return
}

// -----

func.func @topk_C2_1(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{xla.topk: (C2) k is 4, the last dimension has size 3}}
  %0 = xla.topk %x {k = 4} : tensor<2x3xf32>
  func.return
}

// -----

func.func @topk_C2_2(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{xla.topk: (C2) k is -1, the last dimension has size 3}}
  %0 = xla.topk %x {k = -1} : tensor<2x3xf32>
  func.return
}

// -----

func.func @topk_C3_1(%x: tensor<3xi1>) {
  // expected-error @+1 {{xla.topk: (C3) operand has element type pred, allowed: integer or float}}
  %0 = xla.topk %x {k = 1} : tensor<3xi1>
  func.return
}

// -----

func.func @topk_C3_2(%x: tensor<3xcomplex<f32>>) {
  // expected-error @+1 {{xla.topk: (C3) operand has element type c64, allowed: integer or float}}
  %0 = xla.topk %x {k = 1} : tensor<3xcomplex<f32>>
  func.return
}

// -----

func.func @topk_C3_3(%x: !xla.token) {
  // expected-error @+1 {{xla.topk: (C3) operand is token[], not an array}}
  %0 = xla.topk %x {k = 1} : !xla.token
  func.return
}
