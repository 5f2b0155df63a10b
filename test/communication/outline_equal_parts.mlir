// RUN: xla-opt %s -p xla-outline-equal-parts | filecheck %s

// Two layers, each behind a call of the process. What a layer takes of constants it has itself; what
// is used behind it, also within an operation, it returns.
func.func @main(%x: tensor<4xf32>, %v: tensor<4xf32>, %w: tensor<4xf32>, %p: tensor<i1>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %one = xla.constant dense<1.0> : tensor<f32>
  %ones = xla.broadcast %one {dimensions = array<i64>} : (tensor<f32>) -> tensor<4xf32>
  %0 = xla.custom_call %x {custom_call_target = "f", custom_call_has_side_effect = true} : (tensor<4xf32>) -> tensor<4xf32>
  %a0 = xla.add %0, %v : tensor<4xf32>
  %a1 = xla.tanh %a0 : tensor<4xf32>
  %a2 = xla.multiply %a1, %ones : tensor<4xf32>
  %a3 = xla.sine %a2 : tensor<4xf32>
  %a4 = xla.cosine %a3 : tensor<4xf32>
  %a5 = xla.exponential %a4 : tensor<4xf32>
  %a6 = xla.negate %a5 : tensor<4xf32>
  %a7 = xla.abs %a6 : tensor<4xf32>
  %1 = xla.custom_call %a7 {custom_call_target = "f", custom_call_has_side_effect = true} : (tensor<4xf32>) -> tensor<4xf32>
  %b0 = xla.add %1, %w : tensor<4xf32>
  %b1 = xla.tanh %b0 : tensor<4xf32>
  %b2 = xla.multiply %b1, %ones : tensor<4xf32>
  %b3 = xla.sine %b2 : tensor<4xf32>
  %b4 = xla.cosine %b3 : tensor<4xf32>
  %b5 = xla.exponential %b4 : tensor<4xf32>
  %b6 = xla.negate %b5 : tensor<4xf32>
  %b7 = xla.abs %b6 : tensor<4xf32>
  %2 = xla.custom_call %b7 {custom_call_target = "f", custom_call_has_side_effect = true} : (tensor<4xf32>) -> tensor<4xf32>
  // Another one: something else of it is used behind it, in a region.
  %c0 = xla.add %2, %w : tensor<4xf32>
  %c1 = xla.tanh %c0 : tensor<4xf32>
  %c2 = xla.multiply %c1, %ones : tensor<4xf32>
  %c3 = xla.sine %c2 : tensor<4xf32>
  %c4 = xla.cosine %c3 : tensor<4xf32>
  %c5 = xla.exponential %c4 : tensor<4xf32>
  %c6 = xla.negate %c5 : tensor<4xf32>
  %c7 = xla.abs %c6 : tensor<4xf32>
  %3 = xla.custom_call %c7 {custom_call_target = "f", custom_call_has_side_effect = true} : (tensor<4xf32>) -> tensor<4xf32>
  %4 = xla.conditional %p, %v, %w : (tensor<i1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    branch (%d: tensor<4xf32>) {
      xla.return %c0 : tensor<4xf32>
    } branch (%e: tensor<4xf32>) {
      xla.return %e : tensor<4xf32>
    }
  func.return %3, %4, %b7 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
// CHECK:      %ones = xla.broadcast
// CHECK-NEXT: %0 = xla.custom_call %x
// CHECK-NEXT: %a7 = func.call @part_0(%0, %v)
// CHECK-NEXT: %1 = xla.custom_call %a7
// CHECK-NEXT: %b7 = func.call @part_0(%1, %w)
// CHECK-NEXT: %2 = xla.custom_call %b7
// CHECK-NEXT: %c0 = xla.add %2, %w
// CHECK-NOT:  func.call
// CHECK:      xla.return %c0
// CHECK:      func.func private @part_0(%0: tensor<4xf32>, %1: tensor<4xf32>) -> tensor<4xf32> attributes {no_inline} {
// CHECK-NEXT:   %one = xla.constant dense<1.000000e+00>
// CHECK-NEXT:   %ones = xla.broadcast %one
// CHECK-NEXT:   %a0 = xla.add %0, %1
// CHECK:        func.return %a7
