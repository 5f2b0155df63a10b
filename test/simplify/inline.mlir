// RUN: xla-opt %s -p xla-inline --split-input-file | filecheck %s

// A private function is gone with its last call; calls in regions are inlined too.
func.func private @square(%x: tensor<f32>) -> tensor<f32> {
  %0 = xla.multiply %x, %x : tensor<f32>
  func.return %0 : tensor<f32>
}
func.func private @fourth(%x: tensor<f32>) -> tensor<f32> {
  %0 = xla.call %x {to_apply = @square} : tensor<f32>
  %1 = xla.call %0 {to_apply = @square} : tensor<f32>
  func.return %1 : tensor<f32>
}
func.func @main(%x: tensor<f32>, %p: tensor<i1>) -> tensor<f32> {
  %0 = xla.conditional %p, %x, %x : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
    branch (%a: tensor<f32>) {
      %1 = xla.call %a {to_apply = @fourth} : tensor<f32>
      xla.return %1 : tensor<f32>
    } branch (%b: tensor<f32>) {
      xla.return %b : tensor<f32>
    }
  func.return %0 : tensor<f32>
}

// CHECK:      builtin.module {
// CHECK-NEXT:   func.func @main(%x: tensor<f32>, %p: tensor<i1>) -> tensor<f32> {
// CHECK-NEXT:     xla.conditional %p, %x, %x
// CHECK-SAME:       branch (%a: tensor<f32>) {
// CHECK-NEXT:         %x_1 = xla.multiply %a, %a : tensor<f32>
// CHECK-NEXT:         %1 = xla.multiply %x_1, %x_1 : tensor<f32>
// CHECK-NEXT:         xla.return %1 : tensor<f32>
// CHECK-NEXT:       } branch (%b: tensor<f32>) {
// CHECK-NEXT:         xla.return %b : tensor<f32>
// CHECK-NEXT:       }
// CHECK-NEXT:     func.return %0 : tensor<f32>

// -----

// Fusions, nested ones too, and calls of func; a public function stays, an external one is still called.
func.func private @external(tensor<f32>) -> tensor<f32>
func.func @public(%x: tensor<f32>) -> tensor<f32> {
  %0 = xla.negate %x : tensor<f32>
  func.return %0 : tensor<f32>
}
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = xla.fusion %x {kind = kLoop} : tensor<f32> calls (%a: tensor<f32>) {
    %1 = xla.call %a {to_apply = @public} : tensor<f32>
    %2 = xla.fusion %1 {kind = kLoop} : tensor<f32> calls (%b: tensor<f32>) {
      %3 = xla.abs %b : tensor<f32>
      xla.return %3 : tensor<f32>
    }
    xla.return %2 : tensor<f32>
  }
  %4 = xla.call %0 {to_apply = @external} : tensor<f32>
  %5 = func.call @public(%4) : (tensor<f32>) -> tensor<f32>
  func.return %5 : tensor<f32>
}

// CHECK:       func.func private @external(tensor<f32>) -> tensor<f32>
// CHECK-NEXT:  func.func @public(%x: tensor<f32>) -> tensor<f32> {
// CHECK-NEXT:    xla.negate
// CHECK:       func.func @main(%x: tensor<f32>) -> tensor<f32> {
// CHECK-NEXT:    %b = xla.negate %x : tensor<f32>
// CHECK-NEXT:    %0 = xla.abs %b : tensor<f32>
// CHECK-NEXT:    %x_1 = xla.call %0 {to_apply = @external} : tensor<f32>
// CHECK-NEXT:    %1 = xla.negate %x_1 : tensor<f32>
// CHECK-NEXT:    func.return %1 : tensor<f32>

// -----

// Where caller and computation differ in layout the value is copied: it matters to a bitcast.
func.func @main(%x: tensor<2x3xf32>) -> tensor<6xf32> {
  %0 = xla.fusion %x {kind = kLoop} : (tensor<2x3xf32>) -> tensor<6xf32>
      calls (%a: tensor<2x3xf32, #xla.layout<{0,1}>>) {
    %1 = xla.bitcast %a : (tensor<2x3xf32, #xla.layout<{0,1}>>) -> tensor<6xf32>
    xla.return %1 : tensor<6xf32>
  }
  func.return %0 : tensor<6xf32>
}

// CHECK:       %a = xla.copy %x : (tensor<2x3xf32>) -> tensor<2x3xf32, #xla.layout<{0,1}>>
// CHECK-NEXT:  %0 = xla.bitcast %a : (tensor<2x3xf32, #xla.layout<{0,1}>>) -> tensor<6xf32>

// -----

// What is not to be inlined is called, unless its sizes are not known before it is.
func.func private @kept(%x: tensor<f32>) -> tensor<f32> attributes {no_inline} {
  %0 = xla.negate %x : tensor<f32>
  func.return %0 : tensor<f32>
}
func.func private @bounded(%x: tensor<?xf32, #xla.layout<{0}, bounds = [3]>>) -> tensor<?xf32, #xla.layout<{0}, bounds = [3]>> attributes {no_inline} {
  %0 = xla.abs %x : tensor<?xf32, #xla.layout<{0}, bounds = [3]>>
  func.return %0 : tensor<?xf32, #xla.layout<{0}, bounds = [3]>>
}
func.func @main(%x: tensor<f32>, %y: tensor<?xf32, #xla.layout<{0}, bounds = [3]>>) -> (tensor<f32>, tensor<?xf32, #xla.layout<{0}, bounds = [3]>>) {
  %0 = func.call @kept(%x) : (tensor<f32>) -> tensor<f32>
  %1 = func.call @bounded(%y) : (tensor<?xf32, #xla.layout<{0}, bounds = [3]>>) -> tensor<?xf32, #xla.layout<{0}, bounds = [3]>>
  func.return %0, %1 : tensor<f32>, tensor<?xf32, #xla.layout<{0}, bounds = [3]>>
}

// CHECK:       func.func private @kept(%x: tensor<f32>) -> tensor<f32> attributes {no_inline} {
// CHECK-NOT:   @bounded
// CHECK:       func.func @main(
// CHECK-NEXT:    %0 = func.call @kept(%x) : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT:    %1 = xla.abs %y
