// RUN: xla-opt %s -p xla-expand-compound | filecheck %s

// What only says where its operand shall be is its operand.
// xla-update-checks: CHECK @annotation
// CHECK-LABEL:   func.func @annotation(%x: tensor<2xf32>) -> tensor<2xf32> {
// CHECK-NEXT:      func.return %x : tensor<2xf32>
// CHECK-NEXT:    }
func.func @annotation(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = xla.custom_call %x {custom_call_target = "MoveToHost"} : tensor<2xf32>
  func.return %y : tensor<2xf32>
}

// xla-assign-layouts asks for this one.
// xla-update-checks: CHECK @layout
// CHECK-LABEL:   func.func @layout(%x: tensor<2x3xf32>) -> tensor<2x3xf32, #xla.layout<{0,1}>> {
// CHECK-NEXT:      %y = xla.custom_call %x {custom_call_target = "LayoutConstraint"} : (tensor<2x3xf32>) -> tensor<2x3xf32, #xla.layout<{0,1}>>
// CHECK-NEXT:      func.return %y : tensor<2x3xf32, #xla.layout<{0,1}>>
// CHECK-NEXT:    }
func.func @layout(%x: tensor<2x3xf32>) -> tensor<2x3xf32, #xla.layout<{0,1}>> {
  %y = xla.custom_call %x {custom_call_target = "LayoutConstraint"} : (tensor<2x3xf32>) -> tensor<2x3xf32, #xla.layout<{0,1}>>
  func.return %y : tensor<2x3xf32, #xla.layout<{0,1}>>
}
