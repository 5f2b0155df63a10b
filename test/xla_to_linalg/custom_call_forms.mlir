// RUN: xla-opt %s -p convert-xla-to-linalg --split-input-file | filecheck %s

// xla-update-checks: CHECK @custom_call
// CHECK-LABEL:   func.func @custom_call(%x: tensor<2xf32>) -> tensor<2xf32> {
// CHECK-NEXT:      %y = func.call @custom_call_negate_fast(%x) : (tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:      func.return %y : tensor<2xf32>
// CHECK-NEXT:    }
func.func @custom_call(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = xla.custom_call %x {custom_call_target = "negate_fast"} : tensor<2xf32>
  func.return %y : tensor<2xf32>
}

// -----

// xla-update-checks: CHECK @custom_call_several
// CHECK-LABEL:   func.func @custom_call_several(%x: tensor<2xf32>, %y: tensor<2xf32>) -> (tensor<2xf32>, tensor<3xi32>) {
// CHECK-NEXT:      %z, %w = func.call @custom_call_two(%x, %y) : (tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<3xi32>)
// CHECK-NEXT:      func.return %z, %w : tensor<2xf32>, tensor<3xi32>
// CHECK-NEXT:    }
func.func @custom_call_several(%x: tensor<2xf32>, %y: tensor<2xf32>) -> (tensor<2xf32>, tensor<3xi32>) {
  %z, %w = xla.custom_call %x, %y {custom_call_target = "two", custom_call_has_side_effect = true, api_version = API_VERSION_STATUS_RETURNING} : (tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<3xi32>)
  func.return %z, %w : tensor<2xf32>, tensor<3xi32>
}

// -----

// xla-update-checks: CHECK @custom_call_nothing
// CHECK-LABEL:   func.func @custom_call_nothing() {
// CHECK-NEXT:      func.call @custom_call_nothing_1() : () -> ()
// CHECK-NEXT:      func.return
// CHECK-NEXT:    }
func.func @custom_call_nothing() {
  xla.custom_call {custom_call_target = "nothing", custom_call_has_side_effect = true} : () -> ()
  func.return
}
