// RUN: xla-opt %s --split-input-file --verify-diagnostics | filecheck %s
// RUN: xla-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | xla-opt --split-input-file | filecheck %s

// CHECK-LABEL: @tuples(
func.func @tuples(%x: tensor<2xf32>, %t: !xla.token) {
  // CHECK: %pair = xla.tuple %x, %t : (tensor<2xf32>, !xla.token) -> tuple<tensor<2xf32>, !xla.token>
  %pair = xla.tuple %x, %t : (tensor<2xf32>, !xla.token) -> tuple<tensor<2xf32>, !xla.token>
  // CHECK: %element = xla.get_tuple_element %pair {index = 1} : (tuple<tensor<2xf32>, !xla.token>) -> !xla.token
  %element = xla.get_tuple_element %pair {index = 1} : (tuple<tensor<2xf32>, !xla.token>) -> !xla.token
  // CHECK: %none = xla.tuple : tuple<>
  %none = xla.tuple : tuple<>
  func.return
}

// -----

func.func @get_tuple_element_C1(%x: tensor<2xf32>) {
  // expected-error @+1 {{xla.get_tuple_element: (C1) operand is f32[2], not a tuple}}
  %0 = xla.get_tuple_element %x {index = 0} : tensor<2xf32>
  func.return
}

// -----

func.func @get_tuple_element_C2_1(%x: tuple<tensor<i32>>) {
  // expected-error @+1 {{xla.get_tuple_element: (C2) index 1 of 1 elements}}
  %0 = xla.get_tuple_element %x {index = 1} : (tuple<tensor<i32>>) -> tensor<i32>
  func.return
}

// -----

func.func @get_tuple_element_C2_2(%x: tuple<tensor<i32>>) {
  // expected-error @+1 {{xla.get_tuple_element: (C2) index -1 of 1 elements}}
  %0 = xla.get_tuple_element %x {index = -1} : (tuple<tensor<i32>>) -> tensor<i32>
  func.return
}

// -----

func.func @get_tuple_element_C2_3(%x: tuple<>) {
  // expected-error @+1 {{xla.get_tuple_element: (C2) index 0 of 0 elements}}
  %0 = xla.get_tuple_element %x {index = 0} : (tuple<>) -> tensor<i32>
  func.return
}

// -----

func.func @tuple_Result(%x: tensor<2xf32>, %y: tensor<i32>) {
  // expected-error @+1 {{xla.tuple: (Result) declared ((s32[], f32[2])), inferred ((f32[2], s32[]))}}
  %0 = xla.tuple %x, %y : (tensor<2xf32>, tensor<i32>) -> tuple<tensor<i32>, tensor<2xf32>>
  func.return
}
