// RUN: xla-opt %s | filecheck %s --check-prefix=XLA
// RUN: xla-opt %s -t stablehlo | filecheck %s --check-prefix=STABLEHLO

// XLA-LABEL: @custom_calls(
// STABLEHLO-LABEL: @custom_calls(
func.func @custom_calls(%x: tensor<2xf32>) {
  // XLA: %y = xla.custom_call %x {custom_call_target = "negate_fast"} : tensor<2xf32>
  // STABLEHLO: %y = stablehlo.custom_call @negate_fast(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %y = stablehlo.custom_call @negate_fast(%x) : (tensor<2xf32>) -> tensor<2xf32>
  // XLA: %z, %w = xla.custom_call %x, %y {custom_call_target = "two", custom_call_has_side_effect = true, api_version = API_VERSION_STATUS_RETURNING} : (tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<3xi32>)
  // STABLEHLO: %z, %w = stablehlo.custom_call @two(%x, %y) {api_version = 2 : i32, has_side_effect = true} : (tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<3xi32>)
  %z, %w = stablehlo.custom_call @two(%x, %y) {api_version = 2 : i32, has_side_effect = true} : (tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<3xi32>)
  // XLA: xla.custom_call {custom_call_target = "nothing", custom_call_has_side_effect = true} : () -> ()
  // STABLEHLO: stablehlo.custom_call @nothing() {has_side_effect = true} : () -> ()
  stablehlo.custom_call @nothing() {has_side_effect = true} : () -> ()
  return
}
