// RUN: xla-opt %s --split-input-file --verify-diagnostics | filecheck %s
// RUN: xla-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | xla-opt --split-input-file | filecheck %s

// CHECK-LABEL: @windows(
func.func @windows(%x: tensor<4x5xf32>, %z: tensor<f32>, %s: tensor<2x3xf32>) {
  // CHECK: %dilated = xla.reduce_window %x, %z {window = #xla.window<size=2x3 stride=2x1 pad=0_1x-1_0 lhs_dilate=1x2 rhs_dilate=2x1>} : (tensor<4x5xf32>, tensor<f32>) -> tensor<2x6xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
  %dilated = xla.reduce_window %x, %z {window = #xla.window<size=2x3 stride=2x1 pad=0_1x-1_0 lhs_dilate=1x2 rhs_dilate=2x1>} : (tensor<4x5xf32>, tensor<f32>) -> tensor<2x6xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    // CHECK: %sum = xla.add %a, %b : tensor<f32>
    %sum = xla.add %a, %b : tensor<f32>
    // CHECK: xla.return %sum : tensor<f32>
    xla.return %sum : tensor<f32>
  }
  // A scalar has a window of no dimensions.
  // CHECK: %scalar = xla.reduce_window %z, %z : tensor<f32> to_apply (%{{.*}}: tensor<f32>, %{{.*}}: tensor<f32>) {
  %scalar = xla.reduce_window %z, %z : tensor<f32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    // CHECK: xla.return %{{.*}} : tensor<f32>
    xla.return %b : tensor<f32>
  }
  // CHECK: %scattered = xla.select_and_scatter %x, %s, %z {window = #xla.window<size=2x3 stride=2x1>} : (tensor<4x5xf32>, tensor<2x3xf32>, tensor<f32>) -> tensor<4x5xf32> select (%{{.*}}: tensor<f32>, %{{.*}}: tensor<f32>) {
  %scattered = xla.select_and_scatter %x, %s, %z {window = #xla.window<size=2x3 stride=2x1>} : (tensor<4x5xf32>, tensor<2x3xf32>, tensor<f32>) -> tensor<4x5xf32> select (%a: tensor<f32>, %b: tensor<f32>) {
    // CHECK: %first = xla.compare %{{.*}}, %{{.*}} {direction = GE} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %first = xla.compare %a, %b {direction = GE} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    // CHECK: xla.return %first : tensor<i1>
    xla.return %first : tensor<i1>
  // CHECK: } scatter (%{{.*}}: tensor<f32>, %{{.*}}: tensor<f32>) {
  } scatter (%a: tensor<f32>, %b: tensor<f32>) {
    // CHECK: xla.return %{{.*}} : tensor<f32>
    xla.return %b : tensor<f32>
  }
  func.return
}

// -----

func.func @reduce_window_C1_1() {
  // expected-error @+1 {{xla.reduce_window: (C1) 0 inputs and 0 init values}}
  %0 = xla.reduce_window {window = #xla.window<size=2x2>} : tensor<3x4xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

func.func @reduce_window_C1_2(%x: !xla.token, %y: tensor<f32>) {
  // expected-error @+1 {{xla.reduce_window: (C1) input 0 is token[], not an array}}
  %0 = xla.reduce_window %x, %y {window = #xla.window<size=2x2>} : (!xla.token, tensor<f32>) -> tensor<3x4xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

func.func @reduce_window_C1_3(%x: tensor<4x5xf32>, %y: tensor<4x6xf32>, %z: tensor<f32>, %w: tensor<f32>) {
  // expected-error @+1 {{xla.reduce_window: (C1) inputs 0 and 1 have shapes f32[4,5] and f32[4,6]}}
  %0 = xla.reduce_window %x, %y, %z, %w {window = #xla.window<size=2x2>} : (tensor<4x5xf32>, tensor<4x6xf32>, tensor<f32>, tensor<f32>) -> tensor<3x4xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

func.func @reduce_window_RC1_1(%x: tensor<4x5xf32>, %y: tensor<f32>) {
  // expected-error @+1 {{xla.reduce_window: (RC1) to_apply takes (s32[], s32[]), expected (f32[], f32[])}}
  %0 = xla.reduce_window %x, %y {window = #xla.window<size=2x2>} : (tensor<4x5xf32>, tensor<f32>) -> tensor<3x4xf32> to_apply (%a: tensor<i32>, %b: tensor<i32>) {
    %1 = xla.add %a, %b : tensor<i32>
    xla.return %1 : tensor<i32>
  }
  func.return
}

// -----

func.func @reduce_window_RC1_2(%x: tensor<4x5xf32>, %y: tensor<f32>) {
  // expected-error @+1 {{xla.reduce_window: (RC1) to_apply takes (f32[]), expected (f32[], f32[])}}
  %0 = xla.reduce_window %x, %y {window = #xla.window<size=2x2>} : (tensor<4x5xf32>, tensor<f32>) -> tensor<3x4xf32> to_apply (%a: tensor<f32>) {
    xla.return %a : tensor<f32>
  }
  func.return
}

// -----

func.func @reduce_window_RC2_1(%x: tensor<4x5xf32>, %y: tensor<f32>) {
  // expected-error @+1 {{xla.reduce_window: (RC2) to_apply returns (pred[]), expected (f32[])}}
  %0 = xla.reduce_window %x, %y {window = #xla.window<size=2x2>} : (tensor<4x5xf32>, tensor<f32>) -> tensor<3x4xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.compare %a, %b {direction = GE} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    xla.return %1 : tensor<i1>
  }
  func.return
}

// -----

func.func @reduce_window_RC2_2(%x: tensor<4x5xf32>, %y: tensor<f32>) {
  // expected-error @+1 {{xla.reduce_window: (RC2) to_apply returns (f32[], f32[]), expected (f32[])}}
  %0 = xla.reduce_window %x, %y {window = #xla.window<size=2x2>} : (tensor<4x5xf32>, tensor<f32>) -> tensor<3x4xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    xla.return %a, %b : tensor<f32>, tensor<f32>
  }
  func.return
}

// -----

func.func @reduce_window_RC2_3(%x: tensor<4x5xf32>, %y: tensor<f32>) {
  // expected-error @+1 {{xla.reduce_window: (RC2) to_apply returns ((f32[])), expected (f32[])}}
  %0 = xla.reduce_window %x, %y {window = #xla.window<size=2x2>} : (tensor<4x5xf32>, tensor<f32>) -> tensor<3x4xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.tuple %a : (tensor<f32>) -> tuple<tensor<f32>>
    xla.return %1 : tuple<tensor<f32>>
  }
  func.return
}

// -----

func.func @reduce_window_RC3_1(%x: tensor<4x5xf32>, %y: tensor<i32>) {
  // expected-error @+1 {{xla.reduce_window: (RC3) init value 0 is tensor<i32>, not a scalar of f32}}
  %0 = xla.reduce_window %x, %y {window = #xla.window<size=2x2>} : (tensor<4x5xf32>, tensor<i32>) -> tensor<3x4xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

func.func @reduce_window_RC3_2(%x: tensor<4x5xf32>, %y: tensor<1xf32>) {
  // expected-error @+1 {{xla.reduce_window: (RC3) init value 0 is tensor<1xf32>, not a scalar of f32}}
  %0 = xla.reduce_window %x, %y {window = #xla.window<size=2x2>} : (tensor<4x5xf32>, tensor<1xf32>) -> tensor<3x4xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

func.func @reduce_window_C3_1(%x: tensor<4x5xf32>, %y: tensor<f32>) {
  // expected-error @+1 {{xla.reduce_window: (C3) window has 1 dimensions, not 2}}
  %0 = xla.reduce_window %x, %y {window = #xla.window<size=2>} : (tensor<4x5xf32>, tensor<f32>) -> tensor<3x4xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

func.func @reduce_window_C3_2(%x: tensor<4x5xf32>, %y: tensor<f32>) {
  // expected-error @+1 {{xla.reduce_window: (C3) window has 3 dimensions, not 2}}
  %0 = xla.reduce_window %x, %y {window = #xla.window<size=2x2x1>} : (tensor<4x5xf32>, tensor<f32>) -> tensor<3x4xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

func.func @reduce_window_C3_3(%x: tensor<4x5xf32>, %y: tensor<f32>) {
  // expected-error @+1 {{xla.reduce_window: (C3) window has 0 dimensions, not 2}}
  %0 = xla.reduce_window %x, %y : (tensor<4x5xf32>, tensor<f32>) -> tensor<3x4xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

func.func @reduce_window_C4_1(%x: tensor<4x5xf32>, %y: tensor<f32>) {
  // expected-error @+1 {{xla.reduce_window: (C4) size of window dimension 0 is 0}}
  %0 = xla.reduce_window %x, %y {window = #xla.window<size=0x2>} : (tensor<4x5xf32>, tensor<f32>) -> tensor<3x4xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

func.func @reduce_window_C4_2(%x: tensor<4x5xf32>, %y: tensor<f32>) {
  // expected-error @+1 {{xla.reduce_window: (C4) size of window dimension 0 is -1}}
  %0 = xla.reduce_window %x, %y {window = #xla.window<size=-1x2>} : (tensor<4x5xf32>, tensor<f32>) -> tensor<3x4xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

func.func @reduce_window_C4_3(%x: tensor<4x5xf32>, %y: tensor<f32>) {
  // expected-error @+1 {{xla.reduce_window: (C4) stride of window dimension 1 is 0}}
  %0 = xla.reduce_window %x, %y {window = #xla.window<size=2x2 stride=1x0>} : (tensor<4x5xf32>, tensor<f32>) -> tensor<3x4xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

func.func @reduce_window_C4_4(%x: tensor<4x5xf32>, %y: tensor<f32>) {
  // expected-error @+1 {{xla.reduce_window: (C4) base dilation of window dimension 0 is 0}}
  %0 = xla.reduce_window %x, %y {window = #xla.window<size=2x2 lhs_dilate=0x1>} : (tensor<4x5xf32>, tensor<f32>) -> tensor<3x4xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

func.func @reduce_window_C4_5(%x: tensor<4x5xf32>, %y: tensor<f32>) {
  // expected-error @+1 {{xla.reduce_window: (C4) window dilation of window dimension 1 is -1}}
  %0 = xla.reduce_window %x, %y {window = #xla.window<size=2x2 rhs_dilate=1x-1>} : (tensor<4x5xf32>, tensor<f32>) -> tensor<3x4xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

func.func @reduce_window_C4_6(%x: tensor<4x5xf32>, %y: tensor<f32>) {
  // expected-error @+1 {{xla.reduce_window: (C4) window size=2x2 rhs_reversal=0x1 is reversed}}
  %0 = xla.reduce_window %x, %y {window = #xla.window<size=2x2 rhs_reversal=0x1>} : (tensor<4x5xf32>, tensor<f32>) -> tensor<3x4xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

func.func @select_and_scatter_C1_1(%x: tensor<4x6xf32>, %y: tensor<2x2xi32>, %z: tensor<f32>) {
  // expected-error @+1 {{xla.select_and_scatter: (C1) operand and source have element types f32 and s32}}
  %0 = xla.select_and_scatter %x, %y, %z {window = #xla.window<size=2x3 stride=2x3>} : (tensor<4x6xf32>, tensor<2x2xi32>, tensor<f32>) -> tensor<4x6xf32> select (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.compare %a, %b {direction = GE} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    xla.return %1 : tensor<i1>
  } scatter (%c: tensor<f32>, %d: tensor<f32>) {
    %2 = xla.add %c, %d : tensor<f32>
    xla.return %2 : tensor<f32>
  }
  func.return
}

// -----

func.func @select_and_scatter_C1_2(%x: tensor<4x6xf32>, %y: tensor<2x2xf32>, %z: tensor<i32>) {
  // expected-error @+1 {{xla.select_and_scatter: (C1) init value is s32[], the operand f32[4,6]}}
  %0 = xla.select_and_scatter %x, %y, %z {window = #xla.window<size=2x3 stride=2x3>} : (tensor<4x6xf32>, tensor<2x2xf32>, tensor<i32>) -> tensor<4x6xf32> select (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.compare %a, %b {direction = GE} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    xla.return %1 : tensor<i1>
  } scatter (%c: tensor<f32>, %d: tensor<f32>) {
    %2 = xla.add %c, %d : tensor<f32>
    xla.return %2 : tensor<f32>
  }
  func.return
}

// -----

func.func @select_and_scatter_C1_3(%x: tensor<4x6xf32>, %y: tensor<2x2xf32>, %z: tensor<1xf32>) {
  // expected-error @+1 {{xla.select_and_scatter: (C1) init value is f32[1], the operand f32[4,6]}}
  %0 = xla.select_and_scatter %x, %y, %z {window = #xla.window<size=2x3 stride=2x3>} : (tensor<4x6xf32>, tensor<2x2xf32>, tensor<1xf32>) -> tensor<4x6xf32> select (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.compare %a, %b {direction = GE} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    xla.return %1 : tensor<i1>
  } scatter (%c: tensor<f32>, %d: tensor<f32>) {
    %2 = xla.add %c, %d : tensor<f32>
    xla.return %2 : tensor<f32>
  }
  func.return
}

// -----

func.func @select_and_scatter_C1_4(%x: !xla.token, %y: tensor<2x2xf32>, %z: tensor<f32>) {
  // expected-error @+1 {{xla.select_and_scatter: (C1) operand is token[], not an array}}
  %0 = xla.select_and_scatter %x, %y, %z {window = #xla.window<size=2x3 stride=2x3>} : (!xla.token, tensor<2x2xf32>, tensor<f32>) -> tensor<4x6xf32> select (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.compare %a, %b {direction = GE} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    xla.return %1 : tensor<i1>
  } scatter (%c: tensor<f32>, %d: tensor<f32>) {
    %2 = xla.add %c, %d : tensor<f32>
    xla.return %2 : tensor<f32>
  }
  func.return
}

// -----

func.func @select_and_scatter_C2_1(%x: tensor<4x6xf32>, %y: tensor<2x2xf32>, %z: tensor<f32>) {
  // expected-error @+1 {{xla.select_and_scatter: (C2) select takes (s32[], s32[]), expected (f32[], f32[])}}
  %0 = xla.select_and_scatter %x, %y, %z {window = #xla.window<size=2x3 stride=2x3>} : (tensor<4x6xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x6xf32> select (%a: tensor<i32>, %b: tensor<i32>) {
    %1 = xla.compare %a, %b {direction = GE} : (tensor<i32>, tensor<i32>) -> tensor<i1>
    xla.return %1 : tensor<i1>
  } scatter (%c: tensor<f32>, %d: tensor<f32>) {
    %2 = xla.add %c, %d : tensor<f32>
    xla.return %2 : tensor<f32>
  }
  func.return
}

// -----

func.func @select_and_scatter_C2_2(%x: tensor<4x6xf32>, %y: tensor<2x2xf32>, %z: tensor<f32>) {
  // expected-error @+1 {{xla.select_and_scatter: (C2) select returns (f32[]), expected (pred[])}}
  %0 = xla.select_and_scatter %x, %y, %z {window = #xla.window<size=2x3 stride=2x3>} : (tensor<4x6xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x6xf32> select (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.add %a, %b : tensor<f32>
    xla.return %1 : tensor<f32>
  } scatter (%c: tensor<f32>, %d: tensor<f32>) {
    %2 = xla.add %c, %d : tensor<f32>
    xla.return %2 : tensor<f32>
  }
  func.return
}

// -----

func.func @select_and_scatter_C2_3(%x: tensor<4x6xf32>, %y: tensor<2x2xf32>, %z: tensor<f32>) {
  // expected-error @+1 {{xla.select_and_scatter: (C2) select takes (f32[]), expected (f32[], f32[])}}
  %0 = xla.select_and_scatter %x, %y, %z {window = #xla.window<size=2x3 stride=2x3>} : (tensor<4x6xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x6xf32> select (%a: tensor<f32>) {
    xla.return %a : tensor<f32>
  } scatter (%b: tensor<f32>, %c: tensor<f32>) {
    %1 = xla.add %b, %c : tensor<f32>
    xla.return %1 : tensor<f32>
  }
  func.return
}

// -----

func.func @select_and_scatter_RC1(%x: tensor<4x6xf32>, %y: tensor<2x2xf32>, %z: tensor<f32>) {
  // expected-error @+1 {{xla.select_and_scatter: (RC1) scatter takes (f64[], f64[]), expected (f32[], f32[])}}
  %0 = xla.select_and_scatter %x, %y, %z {window = #xla.window<size=2x3 stride=2x3>} : (tensor<4x6xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x6xf32> select (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.compare %a, %b {direction = GE} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    xla.return %1 : tensor<i1>
  } scatter (%c: tensor<f64>, %d: tensor<f64>) {
    %2 = xla.add %c, %d : tensor<f64>
    xla.return %2 : tensor<f64>
  }
  func.return
}

// -----

func.func @select_and_scatter_RC2(%x: tensor<4x6xf32>, %y: tensor<2x2xf32>, %z: tensor<f32>) {
  // expected-error @+1 {{xla.select_and_scatter: (RC2) scatter returns (pred[]), expected (f32[])}}
  %0 = xla.select_and_scatter %x, %y, %z {window = #xla.window<size=2x3 stride=2x3>} : (tensor<4x6xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x6xf32> select (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.compare %a, %b {direction = GE} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    xla.return %1 : tensor<i1>
  } scatter (%c: tensor<f32>, %d: tensor<f32>) {
    %2 = xla.compare %c, %d {direction = GE} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    xla.return %2 : tensor<i1>
  }
  func.return
}

// -----

func.func @select_and_scatter_C4_1(%x: tensor<4x6xf32>, %y: tensor<2x2xf32>, %z: tensor<f32>) {
  // expected-error @+1 {{xla.select_and_scatter: (C4) window has 1 dimensions, not 2}}
  %0 = xla.select_and_scatter %x, %y, %z {window = #xla.window<size=2>} : (tensor<4x6xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x6xf32> select (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.compare %a, %b {direction = GE} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    xla.return %1 : tensor<i1>
  } scatter (%c: tensor<f32>, %d: tensor<f32>) {
    %2 = xla.add %c, %d : tensor<f32>
    xla.return %2 : tensor<f32>
  }
  func.return
}

// -----

func.func @select_and_scatter_C4_2(%x: tensor<4x6xf32>, %y: tensor<2x2xf32>, %z: tensor<f32>) {
  // expected-error @+1 {{xla.select_and_scatter: (C4) size of window dimension 1 is 0}}
  %0 = xla.select_and_scatter %x, %y, %z {window = #xla.window<size=2x0>} : (tensor<4x6xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x6xf32> select (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.compare %a, %b {direction = GE} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    xla.return %1 : tensor<i1>
  } scatter (%c: tensor<f32>, %d: tensor<f32>) {
    %2 = xla.add %c, %d : tensor<f32>
    xla.return %2 : tensor<f32>
  }
  func.return
}

// -----

func.func @select_and_scatter_C4_3(%x: tensor<4x6xf32>, %y: tensor<2x2xf32>, %z: tensor<f32>) {
  // expected-error @+1 {{xla.select_and_scatter: (C4) stride of window dimension 0 is 0}}
  %0 = xla.select_and_scatter %x, %y, %z {window = #xla.window<size=2x3 stride=0x3>} : (tensor<4x6xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x6xf32> select (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.compare %a, %b {direction = GE} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    xla.return %1 : tensor<i1>
  } scatter (%c: tensor<f32>, %d: tensor<f32>) {
    %2 = xla.add %c, %d : tensor<f32>
    xla.return %2 : tensor<f32>
  }
  func.return
}

// -----

func.func @select_and_scatter_C4_4(%x: tensor<4x6xf32>, %y: tensor<2x2xf32>, %z: tensor<f32>) {
  // expected-error @+1 {{xla.select_and_scatter: (C4) window size=2x3 stride=2x3 lhs_dilate=2x1 has dilations}}
  %0 = xla.select_and_scatter %x, %y, %z {window = #xla.window<size=2x3 stride=2x3 lhs_dilate=2x1>} : (tensor<4x6xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x6xf32> select (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.compare %a, %b {direction = GE} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    xla.return %1 : tensor<i1>
  } scatter (%c: tensor<f32>, %d: tensor<f32>) {
    %2 = xla.add %c, %d : tensor<f32>
    xla.return %2 : tensor<f32>
  }
  func.return
}

// -----

func.func @select_and_scatter_C4_5(%x: tensor<4x6xf32>, %y: tensor<2x2xf32>, %z: tensor<f32>) {
  // expected-error @+1 {{xla.select_and_scatter: (C4) window size=2x3 stride=2x3 rhs_dilate=2x1 has dilations}}
  %0 = xla.select_and_scatter %x, %y, %z {window = #xla.window<size=2x3 stride=2x3 rhs_dilate=2x1>} : (tensor<4x6xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x6xf32> select (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.compare %a, %b {direction = GE} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    xla.return %1 : tensor<i1>
  } scatter (%c: tensor<f32>, %d: tensor<f32>) {
    %2 = xla.add %c, %d : tensor<f32>
    xla.return %2 : tensor<f32>
  }
  func.return
}

// -----

func.func @select_and_scatter_C4_6(%x: tensor<4x6xf32>, %y: tensor<2x2xf32>, %z: tensor<f32>) {
  // expected-error @+1 {{xla.select_and_scatter: (C4) window size=2x3 stride=2x3 rhs_reversal=0x1 is reversed}}
  %0 = xla.select_and_scatter %x, %y, %z {window = #xla.window<size=2x3 stride=2x3 rhs_reversal=0x1>} : (tensor<4x6xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x6xf32> select (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.compare %a, %b {direction = GE} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    xla.return %1 : tensor<i1>
  } scatter (%c: tensor<f32>, %d: tensor<f32>) {
    %2 = xla.add %c, %d : tensor<f32>
    xla.return %2 : tensor<f32>
  }
  func.return
}

// -----

func.func @select_and_scatter_C5_1(%x: tensor<4x6xf32>, %y: tensor<2x3xf32>, %z: tensor<f32>) {
  // expected-error @+1 {{xla.select_and_scatter: (C5) source has sizes [2, 3], the window [2, 2] placements}}
  %0 = xla.select_and_scatter %x, %y, %z {window = #xla.window<size=2x3 stride=2x3>} : (tensor<4x6xf32>, tensor<2x3xf32>, tensor<f32>) -> tensor<4x6xf32> select (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.compare %a, %b {direction = GE} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    xla.return %1 : tensor<i1>
  } scatter (%c: tensor<f32>, %d: tensor<f32>) {
    %2 = xla.add %c, %d : tensor<f32>
    xla.return %2 : tensor<f32>
  }
  func.return
}

// -----

func.func @select_and_scatter_C5_2(%x: tensor<4x6xf32>, %y: tensor<2xf32>, %z: tensor<f32>) {
  // expected-error @+1 {{xla.select_and_scatter: (C5) source has sizes [2], the window [2, 2] placements}}
  %0 = xla.select_and_scatter %x, %y, %z {window = #xla.window<size=2x3 stride=2x3>} : (tensor<4x6xf32>, tensor<2xf32>, tensor<f32>) -> tensor<4x6xf32> select (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.compare %a, %b {direction = GE} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    xla.return %1 : tensor<i1>
  } scatter (%c: tensor<f32>, %d: tensor<f32>) {
    %2 = xla.add %c, %d : tensor<f32>
    xla.return %2 : tensor<f32>
  }
  func.return
}
