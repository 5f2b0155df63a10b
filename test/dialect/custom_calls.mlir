// RUN: xla-opt %s --split-input-file --verify-diagnostics | filecheck %s
// RUN: xla-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | xla-opt --split-input-file | filecheck %s

// CHECK-LABEL: @custom_calls(
func.func @custom_calls(%x: tensor<2xf32>) {
  // CHECK: %y = xla.custom_call %x {custom_call_target = "negate_fast"} : tensor<2xf32>
  %y = xla.custom_call %x {custom_call_target = "negate_fast"} : tensor<2xf32>
  // CHECK: %z, %w = xla.custom_call %x, %y {custom_call_target = "two", custom_call_has_side_effect = true, api_version = API_VERSION_STATUS_RETURNING} : (tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<3xi32>)
  %z, %w = xla.custom_call %x, %y {custom_call_target = "two", custom_call_has_side_effect = true, api_version = API_VERSION_STATUS_RETURNING} : (tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<3xi32>)
  // CHECK: xla.custom_call {custom_call_target = "nothing", custom_call_has_side_effect = true} : () -> ()
  xla.custom_call {custom_call_target = "nothing", custom_call_has_side_effect = true} : () -> ()
  func.return
}

// -----

func.func @custom_call_C1() {
  // expected-error @+1 {{xla.custom_call: (C1) the target is empty}}
  xla.custom_call {custom_call_target = ""} : () -> ()
  func.return
}

// -----

func.func @custom_call_Properties(%x: tensor<2xf32>) {
  // expected-error @+1 {{xla.custom_call: unknown or repeated property 'target' (it has: custom_call_target, custom_call_has_side_effect, api_version)}}
  %0 = xla.custom_call %x {target = "f"} : tensor<2xf32>
  func.return
}
