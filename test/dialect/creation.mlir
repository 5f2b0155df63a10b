// RUN: xla-opt %s --split-input-file --verify-diagnostics | filecheck %s
// RUN: xla-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | xla-opt --split-input-file | filecheck %s

// CHECK-LABEL: @creation(
func.func @creation() {
  // CHECK: xla.constant dense<[1.000000e+00, 2.500000e+00]> : tensor<2xf32>
  %0 = xla.constant dense<[1.0, 2.5]> : tensor<2xf32>
  // CHECK: xla.constant dense<0xFF800000> : tensor<f32>
  %1 = xla.constant dense<0xFF800000> : tensor<f32>
  // CHECK: xla.constant dense<true> : tensor<2xi1>
  %2 = xla.constant dense<true> : tensor<2xi1>
  // CHECK: xla.constant [dense<1> : tensor<i32>, []]
  %3 = xla.constant [dense<1> : tensor<i32>, []]
  // CHECK: xla.constant dense<> : tensor<0x3xf32>
  %4 = xla.constant dense<> : tensor<0x3xf32>
  // CHECK: xla.iota {iota_dimension = 1} : tensor<2x3xui8>
  %5 = xla.iota {iota_dimension = 1} : tensor<2x3xui8>
  func.return
}

// -----

func.func @constant_C1_1() {
  // expected-error @+1 {{xla.constant: (C1) "x" is not a literal of an XLA type}}
  xla.constant "x"
  func.return
}

// -----

func.func @constant_C1_2() {
  // expected-error @+1 {{xla.constant: (C1) "x" is not a literal of an XLA type}}
  xla.constant ["x"]
  func.return
}

// -----

func.func @iota_C1() {
  // expected-error @+1 {{xla.iota: (C1) the result is (), not an array}}
  %0 = xla.iota {iota_dimension = 0} : tuple<>
  func.return
}

// -----

func.func @iota_C2_1() {
  // expected-error @+1 {{xla.iota: (C2) iota_dimension = 2 of rank 2}}
  %0 = xla.iota {iota_dimension = 2} : tensor<2x3xf32>
  func.return
}

// -----

func.func @iota_C2_2() {
  // expected-error @+1 {{xla.iota: (C2) iota_dimension = -1 of rank 2}}
  %0 = xla.iota {iota_dimension = -1} : tensor<2x3xf32>
  func.return
}

// -----

func.func @iota_C2_3() {
  // expected-error @+1 {{xla.iota: (C2) iota_dimension = 0 of rank 0}}
  %0 = xla.iota {iota_dimension = 0} : tensor<f32>
  func.return
}

// -----

func.func @iota_C3() {
  // expected-error @+1 {{xla.iota: (C3) the result has element type pred, allowed: integer or float or complex}}
  %0 = xla.iota {iota_dimension = 0} : tensor<2xi1>
  func.return
}

// -----

func.func @iota_Result() {
  // expected-error @+1 {{xla.iota: (Result) one result type has to be given, found 0}}
  xla.iota {iota_dimension = 0} : () -> ()
  func.return
}
