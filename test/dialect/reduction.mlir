// RUN: xla-opt %s --split-input-file --verify-diagnostics | filecheck %s
// RUN: xla-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | xla-opt --split-input-file | filecheck %s

// CHECK-LABEL: @reduction(
func.func @reduction(%x: tensor<4x8xf32>, %k: tensor<4x8xi32>, %f: tensor<f32>, %i: tensor<i32>) {
  // CHECK: %sums = xla.reduce %x, %f {dimensions = [1]} : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
  %sums = xla.reduce %x, %f {dimensions = [1]} : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    // CHECK: %sum = xla.add %a, %b : tensor<f32>
    %sum = xla.add %a, %b : tensor<f32>
    // CHECK: xla.return %sum : tensor<f32>
    xla.return %sum : tensor<f32>
  }
  // CHECK: %first, %last = xla.reduce %x, %k, %f, %i {dimensions = [0, 1]} : (tensor<4x8xf32>, tensor<4x8xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>) to_apply (%e: tensor<f32>, %g: tensor<i32>, %h: tensor<f32>, %j: tensor<i32>) {
  %first, %last = xla.reduce %x, %k, %f, %i {dimensions = [0, 1]} : (tensor<4x8xf32>, tensor<4x8xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>) to_apply (%e: tensor<f32>, %g: tensor<i32>, %h: tensor<f32>, %j: tensor<i32>) {
    // CHECK: xla.return %e, %j : tensor<f32>, tensor<i32>
    xla.return %e, %j : tensor<f32>, tensor<i32>
  }
  // CHECK: %all = xla.map %x, %x {dimensions = [0, 1]} : tensor<4x8xf32> to_apply (%{{.*}}: tensor<f32>, %{{.*}}: tensor<f32>) {
  %all = xla.map %x, %x {dimensions = [0, 1]} : tensor<4x8xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    // CHECK: xla.return %{{.*}} : tensor<f32>
    xla.return %b : tensor<f32>
  }
  func.return
}

// -----

func.func @reduce_C1_1() {
  // expected-error @+1 {{xla.reduce: (C1) 0 inputs and 0 init values}}
  xla.reduce {dimensions = []} : () -> () to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %0 = xla.add %a, %b : tensor<f32>
    xla.return %0 : tensor<f32>
  }
  func.return
}

// -----

func.func @reduce_C1_2(%x: !xla.token, %y: tensor<f32>) {
  // expected-error @+1 {{xla.reduce: (C1) input 0 is token[], not an array}}
  %0 = xla.reduce %x, %y {dimensions = []} : (!xla.token, tensor<f32>) -> !xla.token to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

func.func @reduce_C2(%x: tensor<2xf32>, %y: tensor<3xf32>, %z: tensor<f32>, %w: tensor<f32>) {
  // expected-error @+1 {{xla.reduce: (C2) inputs 0 and 1 have shapes f32[2] and f32[3]}}
  %0 = xla.reduce %x, %y, %z, %w {dimensions = [0]} : (tensor<2xf32>, tensor<3xf32>, tensor<f32>, tensor<f32>) -> tensor<2xf32> to_apply () {
    xla.return
  }
  func.return
}

// -----

func.func @reduce_C2_beside_other_dimensions(%x: tensor<2x5xf32>, %y: tensor<3x5xf32>, %z: tensor<f32>, %w: tensor<f32>) {
  // expected-error @+1 {{xla.reduce: (C2) inputs 0 and 1 have shapes f32[2,5] and f32[3,5]}}
  %0 = xla.reduce %x, %y, %z, %w {dimensions = [0]} : (tensor<2x5xf32>, tensor<3x5xf32>, tensor<f32>, tensor<f32>) -> tensor<2x5xf32> to_apply () {
    xla.return
  }
  func.return
}

// -----

func.func @reduce_C4_1(%x: tensor<2xf32>, %y: tensor<f32>) {
  // expected-error @+1 {{xla.reduce: (C4) dimensions = [1] are not distinct dimensions of rank 1}}
  %0 = xla.reduce %x, %y {dimensions = [1]} : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

func.func @reduce_C4_2(%x: tensor<2xf32>, %y: tensor<f32>) {
  // expected-error @+1 {{xla.reduce: (C4) dimensions = [0, 0] are not distinct dimensions of rank 1}}
  %0 = xla.reduce %x, %y {dimensions = [0, 0]} : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

func.func @reduce_C4_3(%x: tensor<2xf32>, %y: tensor<f32>) {
  // expected-error @+1 {{xla.reduce: (C4) dimensions = [-1] are not distinct dimensions of rank 1}}
  %0 = xla.reduce %x, %y {dimensions = [-1]} : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

func.func @reduce_RC1_1(%x: tensor<2xf32>, %y: tensor<f32>) {
  // expected-error @+1 {{xla.reduce: (RC1) to_apply takes (f32[]), expected (f32[], f32[])}}
  %0 = xla.reduce %x, %y {dimensions = [0]} : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32> to_apply (%a: tensor<f32>) {
    xla.return %a : tensor<f32>
  }
  func.return
}

// -----

func.func @reduce_RC1_2(%x: tensor<2xf32>, %y: tensor<f32>) {
  // expected-error @+1 {{xla.reduce: (RC1) to_apply takes (f64[], f64[]), expected (f32[], f32[])}}
  %0 = xla.reduce %x, %y {dimensions = [0]} : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32> to_apply (%a: tensor<f64>, %b: tensor<f64>) {
    %1 = xla.add %a, %b : tensor<f64>
    xla.return %1 : tensor<f64>
  }
  func.return
}

// -----

func.func @reduce_RC1_3(%x: tensor<2xf32>, %y: tensor<f32>) {
  // expected-error @+1 {{xla.reduce: (RC1) to_apply takes (f32[1], f32[1]), expected (f32[], f32[])}}
  %0 = xla.reduce %x, %y {dimensions = [0]} : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32> to_apply (%a: tensor<1xf32>, %b: tensor<1xf32>) {
    xla.return %a, %b : tensor<1xf32>, tensor<1xf32>
  }
  func.return
}

// -----

func.func @reduce_RC1_4(%x: tensor<2xf32>, %y: tensor<f32>) {
  // expected-error @+1 {{xla.reduce: (RC1) to_apply ends with nothing, not with xla.return}}
  %0 = xla.reduce %x, %y {dimensions = [0]} : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32> to_apply () {
  }
  func.return
}

// -----

func.func @reduce_RC1_5(%x: tensor<2xf32>, %y: tensor<f32>) {
  // expected-error @+1 {{xla.reduce: (RC1) to_apply is not one block}}
  %0 = xla.reduce %x, %y {dimensions = [0]} : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  ^bb1:
    xla.return
  }
  func.return
}

// -----

func.func @reduce_RC2_1(%x: tensor<2xf32>, %y: tensor<f32>) {
  // expected-error @+1 {{xla.reduce: (RC2) to_apply returns (f32[], f32[]), expected (f32[])}}
  %0 = xla.reduce %x, %y {dimensions = [0]} : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    xla.return %a, %b : tensor<f32>, tensor<f32>
  }
  func.return
}

// -----

func.func @reduce_RC2_2(%x: tensor<2xf32>, %y: tensor<f32>) {
  // expected-error @+1 {{xla.reduce: (RC2) to_apply returns (pred[]), expected (f32[])}}
  %0 = xla.reduce %x, %y {dimensions = [0]} : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.compare %a, %a {direction = GT} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    xla.return %1 : tensor<i1>
  }
  func.return
}

// -----

func.func @reduce_RC2_3(%x: tensor<2xf32>, %y: tensor<f32>) {
  // expected-error @+1 {{xla.reduce: (RC2) to_apply returns ((f32[])), expected (f32[])}}
  %0 = xla.reduce %x, %y {dimensions = [0]} : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.tuple %a : (tensor<f32>) -> tuple<tensor<f32>>
    xla.return %1 : tuple<tensor<f32>>
  }
  func.return
}

// -----

func.func @reduce_RC3_1(%x: tensor<2xf32>, %y: tensor<f64>) {
  // expected-error @+1 {{xla.reduce: (RC3) init value 0 is tensor<f64>, not a scalar of f32}}
  %0 = xla.reduce %x, %y {dimensions = [0]} : (tensor<2xf32>, tensor<f64>) -> tensor<2xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

func.func @reduce_RC3_2(%x: tensor<2xf32>, %y: tensor<1xf32>) {
  // expected-error @+1 {{xla.reduce: (RC3) init value 0 is tensor<1xf32>, not a scalar of f32}}
  %0 = xla.reduce %x, %y {dimensions = [0]} : (tensor<2xf32>, tensor<1xf32>) -> tensor<2xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

func.func @reduce_Operands(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{xla.reduce: (Operands) found 1, taken are (inputs..., init_values...) with lists of one length}}
  %0 = xla.reduce %x {dimensions = [1, 0]} : tensor<2x3xf32>
  func.return
}

// -----

func.func @reduce_Regions(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{xla.reduce: (Regions) found 0, taken are (to_apply)}}
  %0 = xla.reduce %x, %x {dimensions = [1, 0]} : tensor<2x3xf32>
  func.return
}

// -----

func.func @map_C1_1() {
  // expected-error @+1 {{xla.map: (C1) there are no inputs}}
  xla.map : () -> () to_apply () {
    xla.return
  }
  func.return
}

// -----

func.func @map_C1_2(%x: tuple<>) {
  // expected-error @+1 {{xla.map: (C1) input 0 is (), not an array}}
  %0 = xla.map %x : tuple<> to_apply (%a: tensor<f32>) {
    xla.return %a : tensor<f32>
  }
  func.return
}

// -----

func.func @map_C1_3(%x: tensor<2xf32>, %y: tensor<3xf32>) {
  // expected-error @+1 {{xla.map: (C1) inputs 0 and 1 have shapes f32[2] and f32[3]}}
  %0 = xla.map %x, %y : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

func.func @map_C1_beside_other_dimensions(%x: tensor<2x5xf32>, %y: tensor<3x5xf32>) {
  // expected-error @+1 {{xla.map: (C1) inputs 0 and 1 have shapes f32[2,5] and f32[3,5]}}
  %0 = xla.map %x, %y : (tensor<2x5xf32>, tensor<3x5xf32>) -> tensor<2x5xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

func.func @map_C2_1(%x: tensor<2xf32>) {
  // expected-error @+1 {{xla.map: (C2) to_apply takes (f32[], f32[]), expected (f32[])}}
  %0 = xla.map %x : tensor<2xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

func.func @map_C2_2(%x: tensor<2xf32>, %y: tensor<2xi32>) {
  // expected-error @+1 {{xla.map: (C2) to_apply takes (f32[], f32[]), expected (f32[], s32[])}}
  %0 = xla.map %x, %y : (tensor<2xf32>, tensor<2xi32>) -> tensor<2xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

func.func @map_C2_3(%x: tensor<2xf32>) {
  // expected-error @+1 {{xla.map: (C2) to_apply returns (f32[2]), not one scalar}}
  %0 = xla.map %x : tensor<2xf32> to_apply (%a: tensor<2xf32>) {
    xla.return %a : tensor<2xf32>
  }
  func.return
}

// -----

func.func @map_C2_4(%x: tensor<2xf32>, %y: tensor<2xf32>) {
  // expected-error @+1 {{xla.map: (C2) to_apply returns (f32[], f32[]), not one scalar}}
  %0 = xla.map %x, %y : tensor<2xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    xla.return %a, %b : tensor<f32>, tensor<f32>
  }
  func.return
}

// -----

func.func @map_C2_5(%x: tensor<2xf32>) {
  // expected-error @+1 {{xla.map: (C2) to_apply returns (f32[1]), not one scalar}}
  %0 = xla.map %x : tensor<2xf32> to_apply (%a: tensor<f32>) {
    %1 = xla.constant dense<1.000000e+00> : tensor<1xf32>
    xla.return %1 : tensor<1xf32>
  }
  func.return
}

// -----

func.func @map_C3_1(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) {
  // expected-error @+1 {{xla.map: (C3) dimensions are (0,) for arrays of rank 2}}
  %0 = xla.map %x, %y {dimensions = [0]} : tensor<2x3xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

func.func @map_C3_2(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) {
  // expected-error @+1 {{xla.map: (C3) dimensions are (1, 0) for arrays of rank 2}}
  %0 = xla.map %x, %y {dimensions = [1, 0]} : tensor<2x3xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

func.func @map_C3_3(%x: tensor<f32>, %y: tensor<f32>) {
  // expected-error @+1 {{xla.map: (C3) dimensions are (0,) for arrays of rank 0}}
  %0 = xla.map %x, %y {dimensions = [0]} : tensor<f32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}
