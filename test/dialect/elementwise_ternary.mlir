// RUN: xla-opt %s --split-input-file --verify-diagnostics | filecheck %s
// RUN: xla-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | xla-opt --split-input-file | filecheck %s

// CHECK-LABEL: @ternary(
func.func @ternary(%x: tensor<2xf32>, %y: tensor<2xf32>, %low: tensor<f32>, %p: tensor<2xi1>, %q: tensor<i1>) {
  // Bounds are scalars or as large as the operand; so is a predicate.
  // CHECK: %clamped = xla.clamp %low, %x, %y : (tensor<f32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %clamped = xla.clamp %low, %x, %y : (tensor<f32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  // CHECK: %chosen = xla.select %p, %x, %y : (tensor<2xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %chosen = xla.select %p, %x, %y : (tensor<2xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  // CHECK: %one_of_two = xla.select %q, %x, %y : (tensor<i1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %one_of_two = xla.select %q, %x, %y : (tensor<i1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return
}

// -----

func.func @clamp_C1_1(%x: tensor<complex<f32>>, %y: tensor<2xcomplex<f32>>, %z: tensor<complex<f32>>) {
  // expected-error @+1 {{xla.clamp: (C1) operand has element type c64, allowed: integer or float or pred}}
  %0 = xla.clamp %x, %y, %z : (tensor<complex<f32>>, tensor<2xcomplex<f32>>, tensor<complex<f32>>) -> tensor<complex<f32>>
  func.return
}

// -----

func.func @clamp_C1_2(%x: tensor<f64>, %y: tensor<2xf32>, %z: tensor<f32>) {
  // expected-error @+1 {{xla.clamp: (C1) min and operand have element types f64 and f32}}
  %0 = xla.clamp %x, %y, %z : (tensor<f64>, tensor<2xf32>, tensor<f32>) -> tensor<f64>
  func.return
}

// -----

func.func @clamp_C1_3(%x: tensor<f32>, %y: tensor<2xf32>, %z: tensor<2xf64>) {
  // expected-error @+1 {{xla.clamp: (C1) max and operand have element types f64 and f32}}
  %0 = xla.clamp %x, %y, %z : (tensor<f32>, tensor<2xf32>, tensor<2xf64>) -> tensor<f32>
  func.return
}

// -----

func.func @clamp_C2_1(%x: tensor<3xf32>, %y: tensor<2xf32>, %z: tensor<f32>) {
  // expected-error @+1 {{xla.clamp: (C2) min and operand have shapes f32[3] and f32[2]}}
  %0 = xla.clamp %x, %y, %z : (tensor<3xf32>, tensor<2xf32>, tensor<f32>) -> tensor<3xf32>
  func.return
}

// -----

func.func @clamp_C2_2(%x: tensor<f32>, %y: tensor<2xf32>, %z: tensor<1xf32>) {
  // expected-error @+1 {{xla.clamp: (C2) max and operand have shapes f32[1] and f32[2]}}
  %0 = xla.clamp %x, %y, %z : (tensor<f32>, tensor<2xf32>, tensor<1xf32>) -> tensor<f32>
  func.return
}

// -----

func.func @clamp_C2_3(%x: tensor<2xf32>, %y: tensor<f32>, %z: tensor<f32>) {
  // expected-error @+1 {{xla.clamp: (C2) min and operand have shapes f32[2] and f32[]}}
  %0 = xla.clamp %x, %y, %z : (tensor<2xf32>, tensor<f32>, tensor<f32>) -> tensor<2xf32>
  func.return
}

// -----

func.func @select_C1(%x: tensor<2xi8>, %y: tensor<2xf32>, %z: tensor<2xf32>) {
  // expected-error @+1 {{xla.select: (C1) pred has element type s8, allowed: pred}}
  %0 = xla.select %x, %y, %z : (tensor<2xi8>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xi8>
  func.return
}

// -----

func.func @select_C2_1(%x: tensor<2xi1>, %y: tensor<2xf32>, %z: tensor<3xf32>) {
  // expected-error @+1 {{xla.select: (C2) on_true and on_false have shapes f32[2] and f32[3]}}
  %0 = xla.select %x, %y, %z : (tensor<2xi1>, tensor<2xf32>, tensor<3xf32>) -> tensor<2xi1>
  func.return
}

// -----

func.func @select_C2_2(%x: tensor<2xi1>, %y: tensor<2xf32>, %z: tensor<2xf64>) {
  // expected-error @+1 {{xla.select: (C2) on_true and on_false have element types f32 and f64}}
  %0 = xla.select %x, %y, %z : (tensor<2xi1>, tensor<2xf32>, tensor<2xf64>) -> tensor<2xi1>
  func.return
}

// -----

func.func @select_C3_1(%x: tensor<3xi1>, %y: tensor<2xf32>, %z: tensor<2xf32>) {
  // expected-error @+1 {{xla.select: (C3) pred and on_true have shapes pred[3] and f32[2]}}
  %0 = xla.select %x, %y, %z : (tensor<3xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<3xi1>
  func.return
}

// -----

func.func @select_C3_2(%x: tensor<1xi1>, %y: tensor<f32>, %z: tensor<f32>) {
  // expected-error @+1 {{xla.select: (C3) pred and on_true have shapes pred[1] and f32[]}}
  %0 = xla.select %x, %y, %z : (tensor<1xi1>, tensor<f32>, tensor<f32>) -> tensor<1xi1>
  func.return
}
