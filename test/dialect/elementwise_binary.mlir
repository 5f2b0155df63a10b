// RUN: xla-opt %s --split-input-file --verify-diagnostics | filecheck %s
// RUN: xla-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | xla-opt --split-input-file | filecheck %s

// CHECK-LABEL: @binary(
func.func @binary(%f: tensor<2xf32>, %g: tensor<2xf32>, %i: tensor<2xi32>, %j: tensor<2xi32>) {
  // CHECK: xla.add %f, %g : tensor<2xf32>
  %0 = xla.add %f, %g : tensor<2xf32>
  // CHECK: xla.subtract %f, %g : tensor<2xf32>
  %1 = xla.subtract %f, %g : tensor<2xf32>
  // CHECK: xla.multiply %f, %g : tensor<2xf32>
  %2 = xla.multiply %f, %g : tensor<2xf32>
  // CHECK: xla.divide %f, %g : tensor<2xf32>
  %3 = xla.divide %f, %g : tensor<2xf32>
  // CHECK: xla.power %f, %g : tensor<2xf32>
  %4 = xla.power %f, %g : tensor<2xf32>
  // CHECK: xla.remainder %f, %g : tensor<2xf32>
  %5 = xla.remainder %f, %g : tensor<2xf32>
  // CHECK: xla.maximum %f, %g : tensor<2xf32>
  %6 = xla.maximum %f, %g : tensor<2xf32>
  // CHECK: xla.minimum %f, %g : tensor<2xf32>
  %7 = xla.minimum %f, %g : tensor<2xf32>
  // CHECK: xla.and %i, %j : tensor<2xi32>
  %8 = xla.and %i, %j : tensor<2xi32>
  // CHECK: xla.or %i, %j : tensor<2xi32>
  %9 = xla.or %i, %j : tensor<2xi32>
  // CHECK: xla.xor %i, %j : tensor<2xi32>
  %10 = xla.xor %i, %j : tensor<2xi32>
  // CHECK: xla.mulhi %i, %j : tensor<2xi32>
  %11 = xla.mulhi %i, %j : tensor<2xi32>
  // CHECK: xla.shift_left %i, %j : tensor<2xi32>
  %12 = xla.shift_left %i, %j : tensor<2xi32>
  // CHECK: xla.shift_right_arithmetic %i, %j : tensor<2xi32>
  %13 = xla.shift_right_arithmetic %i, %j : tensor<2xi32>
  // CHECK: xla.shift_right_logical %i, %j : tensor<2xi32>
  %14 = xla.shift_right_logical %i, %j : tensor<2xi32>
  // CHECK: xla.atan2 %f, %g : tensor<2xf32>
  %15 = xla.atan2 %f, %g : tensor<2xf32>
  // CHECK: xla.complex %f, %g : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xcomplex<f32>>
  %16 = xla.complex %f, %g : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xcomplex<f32>>
  // CHECK: xla.compare %f, %g {direction = LT} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  %17 = xla.compare %f, %g {direction = LT} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  // CHECK: xla.compare %f, %g {direction = EQ, comparison_type = TOTALORDER} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  %18 = xla.compare %f, %g {direction = EQ, comparison_type = TOTALORDER} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  func.return
}

// -----

func.func @add_C1_types(%x: tensor<2x3xf32>, %y: tensor<2x3xi32>) {
  // expected-error @+1 {{xla.add: (C1) lhs and rhs have element types f32 and s32}}
  %0 = xla.add %x, %y : (tensor<2x3xf32>, tensor<2x3xi32>) -> tensor<2x3xf32>
  func.return
}

// -----

func.func @add_C2(%x: tensor<2x3xf32>, %y: tensor<1x3xf32>) {
  // expected-error @+1 {{xla.add: (C2) lhs and rhs have shapes f32[2,3] and f32[1,3]}}
  %0 = xla.add %x, %y : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

func.func @add_Operands_1(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{xla.add: (Operands) found 1, taken are (lhs, rhs)}}
  %0 = xla.add %x : tensor<2x3xf32>
  func.return
}

// -----

func.func @add_Operands_2() {
  // expected-error @+1 {{xla.add: (Operands) found 0, taken are (lhs, rhs)}}
  %0 = xla.add : tensor<2x3xf32>
  func.return
}

// -----

func.func @add_Operands_3(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{xla.add: (Operands) found 3, taken are (lhs, rhs)}}
  %0 = xla.add %x, %x, %x : tensor<2x3xf32>
  func.return
}

// -----

func.func @add_Result_1(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{xla.add: (Result) declared (), inferred (f32[2,3])}}
  xla.add %x, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> ()
  func.return
}

// -----

func.func @add_Result_2(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{xla.add: (Result) declared (f32[2,3], f32[2,3]), inferred (f32[2,3])}}
  %0, %1 = xla.add %x, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
  func.return
}

// -----

func.func @add_Properties(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{xla.add: unknown or repeated property 'axis' (it has: none)}}
  %0 = xla.add %x, %x {axis = "x"} : tensor<2x3xf32>
  func.return
}

// -----

func.func @subtract_C1(%x: tensor<2xi1>) {
  // expected-error @+1 {{xla.subtract: (C1) lhs has element type pred, allowed: integer or float or complex}}
  %0 = xla.subtract %x, %x : tensor<2xi1>
  func.return
}

// -----

func.func @subtract_C1_types(%x: tensor<2x3xf32>, %y: tensor<2x3xi32>) {
  // expected-error @+1 {{xla.subtract: (C1) lhs and rhs have element types f32 and s32}}
  %0 = xla.subtract %x, %y : (tensor<2x3xf32>, tensor<2x3xi32>) -> tensor<2x3xf32>
  func.return
}

// -----

func.func @subtract_C2(%x: tensor<2x3xf32>, %y: tensor<1x3xf32>) {
  // expected-error @+1 {{xla.subtract: (C2) lhs and rhs have shapes f32[2,3] and f32[1,3]}}
  %0 = xla.subtract %x, %y : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

func.func @multiply_C1_types(%x: tensor<2x3xf32>, %y: tensor<2x3xi32>) {
  // expected-error @+1 {{xla.multiply: (C1) lhs and rhs have element types f32 and s32}}
  %0 = xla.multiply %x, %y : (tensor<2x3xf32>, tensor<2x3xi32>) -> tensor<2x3xf32>
  func.return
}

// -----

func.func @multiply_C2(%x: tensor<2x3xf32>, %y: tensor<1x3xf32>) {
  // expected-error @+1 {{xla.multiply: (C2) lhs and rhs have shapes f32[2,3] and f32[1,3]}}
  %0 = xla.multiply %x, %y : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

func.func @divide_C1(%x: tensor<2xi1>) {
  // expected-error @+1 {{xla.divide: (C1) lhs has element type pred, allowed: integer or float or complex}}
  %0 = xla.divide %x, %x : tensor<2xi1>
  func.return
}

// -----

func.func @divide_C1_types(%x: tensor<2x3xf32>, %y: tensor<2x3xi32>) {
  // expected-error @+1 {{xla.divide: (C1) lhs and rhs have element types f32 and s32}}
  %0 = xla.divide %x, %y : (tensor<2x3xf32>, tensor<2x3xi32>) -> tensor<2x3xf32>
  func.return
}

// -----

func.func @divide_C2(%x: tensor<2x3xf32>, %y: tensor<1x3xf32>) {
  // expected-error @+1 {{xla.divide: (C2) lhs and rhs have shapes f32[2,3] and f32[1,3]}}
  %0 = xla.divide %x, %y : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

func.func @power_C1(%x: tensor<2xi1>) {
  // expected-error @+1 {{xla.power: (C1) lhs has element type pred, allowed: integer or float or complex}}
  %0 = xla.power %x, %x : tensor<2xi1>
  func.return
}

// -----

func.func @power_C1_types(%x: tensor<2x3xf32>, %y: tensor<2x3xi32>) {
  // expected-error @+1 {{xla.power: (C1) lhs and rhs have element types f32 and s32}}
  %0 = xla.power %x, %y : (tensor<2x3xf32>, tensor<2x3xi32>) -> tensor<2x3xf32>
  func.return
}

// -----

func.func @power_C2(%x: tensor<2x3xf32>, %y: tensor<1x3xf32>) {
  // expected-error @+1 {{xla.power: (C2) lhs and rhs have shapes f32[2,3] and f32[1,3]}}
  %0 = xla.power %x, %y : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

func.func @remainder_C1(%x: tensor<2xi1>) {
  // expected-error @+1 {{xla.remainder: (C1) lhs has element type pred, allowed: integer or float}}
  %0 = xla.remainder %x, %x : tensor<2xi1>
  func.return
}

// -----

func.func @remainder_C1_types(%x: tensor<2x3xf32>, %y: tensor<2x3xi32>) {
  // expected-error @+1 {{xla.remainder: (C1) lhs and rhs have element types f32 and s32}}
  %0 = xla.remainder %x, %y : (tensor<2x3xf32>, tensor<2x3xi32>) -> tensor<2x3xf32>
  func.return
}

// -----

func.func @remainder_C2(%x: tensor<2x3xf32>, %y: tensor<1x3xf32>) {
  // expected-error @+1 {{xla.remainder: (C2) lhs and rhs have shapes f32[2,3] and f32[1,3]}}
  %0 = xla.remainder %x, %y : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

func.func @maximum_C1(%x: tensor<2xcomplex<f32>>) {
  // expected-error @+1 {{xla.maximum: (C1) lhs has element type c64, allowed: integer or float or pred}}
  %0 = xla.maximum %x, %x : tensor<2xcomplex<f32>>
  func.return
}

// -----

func.func @maximum_C1_types(%x: tensor<2x3xf32>, %y: tensor<2x3xi32>) {
  // expected-error @+1 {{xla.maximum: (C1) lhs and rhs have element types f32 and s32}}
  %0 = xla.maximum %x, %y : (tensor<2x3xf32>, tensor<2x3xi32>) -> tensor<2x3xf32>
  func.return
}

// -----

func.func @maximum_C2(%x: tensor<2x3xf32>, %y: tensor<1x3xf32>) {
  // expected-error @+1 {{xla.maximum: (C2) lhs and rhs have shapes f32[2,3] and f32[1,3]}}
  %0 = xla.maximum %x, %y : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

func.func @minimum_C1(%x: tensor<2xcomplex<f32>>) {
  // expected-error @+1 {{xla.minimum: (C1) lhs has element type c64, allowed: integer or float or pred}}
  %0 = xla.minimum %x, %x : tensor<2xcomplex<f32>>
  func.return
}

// -----

func.func @minimum_C1_types(%x: tensor<2x3xf32>, %y: tensor<2x3xi32>) {
  // expected-error @+1 {{xla.minimum: (C1) lhs and rhs have element types f32 and s32}}
  %0 = xla.minimum %x, %y : (tensor<2x3xf32>, tensor<2x3xi32>) -> tensor<2x3xf32>
  func.return
}

// -----

func.func @minimum_C2(%x: tensor<2x3xf32>, %y: tensor<1x3xf32>) {
  // expected-error @+1 {{xla.minimum: (C2) lhs and rhs have shapes f32[2,3] and f32[1,3]}}
  %0 = xla.minimum %x, %y : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

func.func @and_C1(%x: tensor<2xf32>) {
  // expected-error @+1 {{xla.and: (C1) lhs has element type f32, allowed: integer or pred}}
  %0 = xla.and %x, %x : tensor<2xf32>
  func.return
}

// -----

func.func @and_C1_types(%x: tensor<2x3xi32>, %y: tensor<2x3xui32>) {
  // expected-error @+1 {{xla.and: (C1) lhs and rhs have element types s32 and u32}}
  %0 = xla.and %x, %y : (tensor<2x3xi32>, tensor<2x3xui32>) -> tensor<2x3xi32>
  func.return
}

// -----

func.func @and_C2(%x: tensor<2x3xi32>, %y: tensor<1x3xi32>) {
  // expected-error @+1 {{xla.and: (C2) lhs and rhs have shapes s32[2,3] and s32[1,3]}}
  %0 = xla.and %x, %y : (tensor<2x3xi32>, tensor<1x3xi32>) -> tensor<2x3xi32>
  func.return
}

// -----

func.func @or_C1(%x: tensor<2xf32>) {
  // expected-error @+1 {{xla.or: (C1) lhs has element type f32, allowed: integer or pred}}
  %0 = xla.or %x, %x : tensor<2xf32>
  func.return
}

// -----

func.func @or_C1_types(%x: tensor<2x3xi32>, %y: tensor<2x3xui32>) {
  // expected-error @+1 {{xla.or: (C1) lhs and rhs have element types s32 and u32}}
  %0 = xla.or %x, %y : (tensor<2x3xi32>, tensor<2x3xui32>) -> tensor<2x3xi32>
  func.return
}

// -----

func.func @or_C2(%x: tensor<2x3xi32>, %y: tensor<1x3xi32>) {
  // expected-error @+1 {{xla.or: (C2) lhs and rhs have shapes s32[2,3] and s32[1,3]}}
  %0 = xla.or %x, %y : (tensor<2x3xi32>, tensor<1x3xi32>) -> tensor<2x3xi32>
  func.return
}

// -----

func.func @xor_C1(%x: tensor<2xf32>) {
  // expected-error @+1 {{xla.xor: (C1) lhs has element type f32, allowed: integer or pred}}
  %0 = xla.xor %x, %x : tensor<2xf32>
  func.return
}

// -----

func.func @xor_C1_types(%x: tensor<2x3xi32>, %y: tensor<2x3xui32>) {
  // expected-error @+1 {{xla.xor: (C1) lhs and rhs have element types s32 and u32}}
  %0 = xla.xor %x, %y : (tensor<2x3xi32>, tensor<2x3xui32>) -> tensor<2x3xi32>
  func.return
}

// -----

func.func @xor_C2(%x: tensor<2x3xi32>, %y: tensor<1x3xi32>) {
  // expected-error @+1 {{xla.xor: (C2) lhs and rhs have shapes s32[2,3] and s32[1,3]}}
  %0 = xla.xor %x, %y : (tensor<2x3xi32>, tensor<1x3xi32>) -> tensor<2x3xi32>
  func.return
}

// -----

func.func @mulhi_C1(%x: tensor<2xi1>) {
  // expected-error @+1 {{xla.mulhi: (C1) lhs has element type pred, allowed: integer}}
  %0 = xla.mulhi %x, %x : tensor<2xi1>
  func.return
}

// -----

func.func @mulhi_C1_types(%x: tensor<2x3xi32>, %y: tensor<2x3xui32>) {
  // expected-error @+1 {{xla.mulhi: (C1) lhs and rhs have element types s32 and u32}}
  %0 = xla.mulhi %x, %y : (tensor<2x3xi32>, tensor<2x3xui32>) -> tensor<2x3xi32>
  func.return
}

// -----

func.func @mulhi_C2(%x: tensor<2x3xi32>, %y: tensor<1x3xi32>) {
  // expected-error @+1 {{xla.mulhi: (C2) lhs and rhs have shapes s32[2,3] and s32[1,3]}}
  %0 = xla.mulhi %x, %y : (tensor<2x3xi32>, tensor<1x3xi32>) -> tensor<2x3xi32>
  func.return
}

// -----

func.func @shift_left_C1(%x: tensor<2xi1>) {
  // expected-error @+1 {{xla.shift_left: (C1) lhs has element type pred, allowed: integer}}
  %0 = xla.shift_left %x, %x : tensor<2xi1>
  func.return
}

// -----

func.func @shift_left_C1_types(%x: tensor<2x3xi32>, %y: tensor<2x3xui32>) {
  // expected-error @+1 {{xla.shift_left: (C1) lhs and rhs have element types s32 and u32}}
  %0 = xla.shift_left %x, %y : (tensor<2x3xi32>, tensor<2x3xui32>) -> tensor<2x3xi32>
  func.return
}

// -----

func.func @shift_left_C2(%x: tensor<2x3xi32>, %y: tensor<1x3xi32>) {
  // expected-error @+1 {{xla.shift_left: (C2) lhs and rhs have shapes s32[2,3] and s32[1,3]}}
  %0 = xla.shift_left %x, %y : (tensor<2x3xi32>, tensor<1x3xi32>) -> tensor<2x3xi32>
  func.return
}

// -----

func.func @shift_right_arithmetic_C1(%x: tensor<2xi1>) {
  // expected-error @+1 {{xla.shift_right_arithmetic: (C1) lhs has element type pred, allowed: integer}}
  %0 = xla.shift_right_arithmetic %x, %x : tensor<2xi1>
  func.return
}

// -----

func.func @shift_right_arithmetic_C1_types(%x: tensor<2x3xi32>, %y: tensor<2x3xui32>) {
  // expected-error @+1 {{xla.shift_right_arithmetic: (C1) lhs and rhs have element types s32 and u32}}
  %0 = xla.shift_right_arithmetic %x, %y : (tensor<2x3xi32>, tensor<2x3xui32>) -> tensor<2x3xi32>
  func.return
}

// -----

func.func @shift_right_arithmetic_C2(%x: tensor<2x3xi32>, %y: tensor<1x3xi32>) {
  // expected-error @+1 {{xla.shift_right_arithmetic: (C2) lhs and rhs have shapes s32[2,3] and s32[1,3]}}
  %0 = xla.shift_right_arithmetic %x, %y : (tensor<2x3xi32>, tensor<1x3xi32>) -> tensor<2x3xi32>
  func.return
}

// -----

func.func @shift_right_logical_C1(%x: tensor<2xi1>) {
  // expected-error @+1 {{xla.shift_right_logical: (C1) lhs has element type pred, allowed: integer}}
  %0 = xla.shift_right_logical %x, %x : tensor<2xi1>
  func.return
}

// -----

func.func @shift_right_logical_C1_types(%x: tensor<2x3xi32>, %y: tensor<2x3xui32>) {
  // expected-error @+1 {{xla.shift_right_logical: (C1) lhs and rhs have element types s32 and u32}}
  %0 = xla.shift_right_logical %x, %y : (tensor<2x3xi32>, tensor<2x3xui32>) -> tensor<2x3xi32>
  func.return
}

// -----

func.func @shift_right_logical_C2(%x: tensor<2x3xi32>, %y: tensor<1x3xi32>) {
  // expected-error @+1 {{xla.shift_right_logical: (C2) lhs and rhs have shapes s32[2,3] and s32[1,3]}}
  %0 = xla.shift_right_logical %x, %y : (tensor<2x3xi32>, tensor<1x3xi32>) -> tensor<2x3xi32>
  func.return
}

// -----

func.func @atan2_C1(%x: tensor<2xi1>) {
  // expected-error @+1 {{xla.atan2: (C1) lhs has element type pred, allowed: float or complex}}
  %0 = xla.atan2 %x, %x : tensor<2xi1>
  func.return
}

// -----

func.func @atan2_C1_types(%x: tensor<2x3xf32>, %y: tensor<2x3xcomplex<f32>>) {
  // expected-error @+1 {{xla.atan2: (C1) lhs and rhs have element types f32 and c64}}
  %0 = xla.atan2 %x, %y : (tensor<2x3xf32>, tensor<2x3xcomplex<f32>>) -> tensor<2x3xf32>
  func.return
}

// -----

func.func @atan2_C2(%x: tensor<2x3xf32>, %y: tensor<1x3xf32>) {
  // expected-error @+1 {{xla.atan2: (C2) lhs and rhs have shapes f32[2,3] and f32[1,3]}}
  %0 = xla.atan2 %x, %y : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  func.return
}

// -----

func.func @complex_C1_1(%x: tensor<2xf16>, %y: tensor<2xf16>) {
  // expected-error @+1 {{xla.complex: (C1) components are f16}}
  %0 = xla.complex %x, %y : tensor<2xf16>
  func.return
}

// -----

func.func @complex_C1_2(%x: tensor<2xf32>, %y: tensor<2xf64>) {
  // expected-error @+1 {{xla.complex: (C1) lhs and rhs have element types f32 and f64}}
  %0 = xla.complex %x, %y : (tensor<2xf32>, tensor<2xf64>) -> tensor<2xf32>
  func.return
}

// -----

func.func @complex_C2(%x: tensor<2xf32>, %y: tensor<3xf32>) {
  // expected-error @+1 {{xla.complex: (C2) lhs and rhs have shapes f32[2] and f32[3]}}
  %0 = xla.complex %x, %y : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
  func.return
}

// -----

func.func @complex_C2_beside_other_dimensions(%x: tensor<2x5xf32>, %y: tensor<3x5xf32>) {
  // expected-error @+1 {{xla.complex: (C2) lhs and rhs have shapes f32[2,5] and f32[3,5]}}
  %0 = xla.complex %x, %y : (tensor<2x5xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  func.return
}

// -----

func.func @compare_C1(%x: tensor<2xf32>, %y: tensor<2xi32>) {
  // expected-error @+1 {{xla.compare: (C1) lhs and rhs have element types f32 and s32}}
  %0 = xla.compare %x, %y {direction = LT} : (tensor<2xf32>, tensor<2xi32>) -> tensor<2xf32>
  func.return
}

// -----

func.func @compare_C2_1(%x: tensor<2xf32>, %y: tensor<3xf32>) {
  // expected-error @+1 {{xla.compare: (C2) lhs and rhs have shapes f32[2] and f32[3]}}
  %0 = xla.compare %x, %y {direction = LT} : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
  func.return
}

// -----

func.func @compare_C2_2(%x: tensor<2xf32>, %y: tensor<f32>) {
  // expected-error @+1 {{xla.compare: (C2) lhs and rhs have shapes f32[2] and f32[]}}
  %0 = xla.compare %x, %y {direction = LT} : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  func.return
}

// -----

func.func @compare_C5(%x: tensor<2xcomplex<f32>>, %y: tensor<2xcomplex<f32>>) {
  // expected-error @+1 {{xla.compare: (C5) LT of complex values}}
  %0 = xla.compare %x, %y {direction = LT} : tensor<2xcomplex<f32>>
  func.return
}

// -----

func.func @compare_C6(%x: tensor<2xi32>, %y: tensor<2xi32>) {
  // expected-error @+1 {{xla.compare: (C6) comparison type TOTALORDER of i32}}
  %0 = xla.compare %x, %y {direction = LT, comparison_type = TOTALORDER} : tensor<2xi32>
  func.return
}
