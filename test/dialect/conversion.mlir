// RUN: xla-opt %s --split-input-file --verify-diagnostics | filecheck %s
// RUN: xla-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | xla-opt --split-input-file | filecheck %s

// CHECK-LABEL: @conversion(
func.func @conversion(%x: tensor<2xf32>, %bytes: tensor<2x4xui8>) {
  // CHECK: %narrow = xla.convert %x : (tensor<2xf32>) -> tensor<2xf8E4M3FN>
  %narrow = xla.convert %x : (tensor<2xf32>) -> tensor<2xf8E4M3FN>
  // A narrower element type adds a last dimension, a wider one takes it away.
  // CHECK: %halves = xla.bitcast_convert %x : (tensor<2xf32>) -> tensor<2x2xui16>
  %halves = xla.bitcast_convert %x : (tensor<2xf32>) -> tensor<2x2xui16>
  // CHECK: %words = xla.bitcast_convert %bytes : (tensor<2x4xui8>) -> tensor<2xi32>
  %words = xla.bitcast_convert %bytes : (tensor<2x4xui8>) -> tensor<2xi32>
  // CHECK: %same = xla.bitcast_convert %x : (tensor<2xf32>) -> tensor<2xi32>
  %same = xla.bitcast_convert %x : (tensor<2xf32>) -> tensor<2xi32>
  // CHECK: %rounded = xla.reduce_precision %x {exponent_bits = 5, mantissa_bits = 2} : tensor<2xf32>
  %rounded = xla.reduce_precision %x {exponent_bits = 5, mantissa_bits = 2} : tensor<2xf32>
  func.return
}

// -----

func.func @convert_C1_1(%x: !xla.token) {
  // expected-error @+1 {{xla.convert: (C1) operand is token[], not an array}}
  %0 = xla.convert %x : (!xla.token) -> tensor<2xi32>
  func.return
}

// -----

func.func @convert_C1_2(%x: tensor<2xf32>) {
  // expected-error @+1 {{xla.convert: (C1) the result has element type index, allowed: integer or float or complex or pred}}
  %0 = xla.convert %x : (tensor<2xf32>) -> tensor<2xindex>
  func.return
}

// -----

func.func @convert_C2_1(%x: tensor<2xf32>) {
  // expected-error @+1 {{xla.convert: (C2) operand and result have shapes f32[2] and s32[3]}}
  %0 = xla.convert %x : (tensor<2xf32>) -> tensor<3xi32>
  func.return
}

// -----

func.func @convert_C2_2(%x: tensor<2xf32>) {
  // expected-error @+1 {{xla.convert: (C2) operand and result have shapes f32[2] and s32[2,1]}}
  %0 = xla.convert %x : (tensor<2xf32>) -> tensor<2x1xi32>
  func.return
}

// -----

func.func @bitcast_convert_C1_1(%x: !xla.token) {
  // expected-error @+1 {{xla.bitcast_convert: (C1) operand is token[], not an array}}
  %0 = xla.bitcast_convert %x : (!xla.token) -> tensor<ui16>
  func.return
}

// -----

func.func @bitcast_convert_C1_2(%x: tensor<2xi64>) {
  // expected-error @+1 {{xla.bitcast_convert: (C1) the result has element type index, allowed: integer or float or complex or pred}}
  %0 = xla.bitcast_convert %x : (tensor<2xi64>) -> tensor<2xindex>
  func.return
}

// -----

func.func @bitcast_convert_C3_1(%x: tensor<ui8>) {
  // expected-error @+1 {{xla.bitcast_convert: (C3) last dimension of [] should be 2}}
  %0 = xla.bitcast_convert %x : (tensor<ui8>) -> tensor<ui16>
  func.return
}

// -----

func.func @bitcast_convert_C3_2(%x: tensor<4xui8>) {
  // expected-error @+1 {{xla.bitcast_convert: (C3) last dimension of [4] should be 2}}
  %0 = xla.bitcast_convert %x : (tensor<4xui8>) -> tensor<2xui16>
  func.return
}

// -----

func.func @bitcast_convert_C3_3(%x: tensor<2x4xui8>) {
  // expected-error @+1 {{xla.bitcast_convert: (C3) last dimension of [2, 4] should be 8}}
  %0 = xla.bitcast_convert %x : (tensor<2x4xui8>) -> tensor<2xui64>
  func.return
}

// -----

func.func @bitcast_convert_C4_1(%x: tensor<2xcomplex<f32>>) {
  // expected-error @+1 {{xla.bitcast_convert: (C4) c64 to f64}}
  %0 = xla.bitcast_convert %x : (tensor<2xcomplex<f32>>) -> tensor<2xf64>
  func.return
}

// -----

func.func @bitcast_convert_C4_2(%x: tensor<2xui64>) {
  // expected-error @+1 {{xla.bitcast_convert: (C4) u64 to c64}}
  %0 = xla.bitcast_convert %x : (tensor<2xui64>) -> tensor<2xcomplex<f32>>
  func.return
}

// -----

func.func @bitcast_convert_Result_1(%x: tensor<2xf32>) {
  // expected-error @+1 {{xla.bitcast_convert: (Result) declared (s32[3]), inferred (s32[2])}}
  %0 = xla.bitcast_convert %x : (tensor<2xf32>) -> tensor<3xi32>
  func.return
}

// -----

func.func @bitcast_convert_Result_2(%x: tensor<2xf32>) {
  // expected-error @+1 {{xla.bitcast_convert: (Result) declared (u16[2]), inferred (u16[2,2])}}
  %0 = xla.bitcast_convert %x : (tensor<2xf32>) -> tensor<2xui16>
  func.return
}

// -----

func.func @reduce_precision_C1_1(%x: tensor<2xi32>) {
  // expected-error @+1 {{xla.reduce_precision: (C1) operand has element type s32, allowed: float}}
  %0 = xla.reduce_precision %x {exponent_bits = 5, mantissa_bits = 2} : tensor<2xi32>
  func.return
}

// -----

func.func @reduce_precision_C1_2(%x: tensor<2xcomplex<f32>>) {
  // expected-error @+1 {{xla.reduce_precision: (C1) operand has element type c64, allowed: float}}
  %0 = xla.reduce_precision %x {exponent_bits = 5, mantissa_bits = 2} : tensor<2xcomplex<f32>>
  func.return
}

// -----

func.func @reduce_precision_C1_3(%x: !xla.token) {
  // expected-error @+1 {{xla.reduce_precision: (C1) operand is token[], not an array}}
  %0 = xla.reduce_precision %x {exponent_bits = 5, mantissa_bits = 2} : !xla.token
  func.return
}

// -----

func.func @reduce_precision_C2(%x: tensor<2xf32>) {
  // expected-error @+1 {{xla.reduce_precision: (C2) exponent_bits is 0}}
  %0 = xla.reduce_precision %x {exponent_bits = 0, mantissa_bits = 2} : tensor<2xf32>
  func.return
}

// -----

func.func @reduce_precision_C3(%x: tensor<2xf32>) {
  // expected-error @+1 {{xla.reduce_precision: (C3) mantissa_bits is -1}}
  %0 = xla.reduce_precision %x {exponent_bits = 5, mantissa_bits = -1} : tensor<2xf32>
  func.return
}
