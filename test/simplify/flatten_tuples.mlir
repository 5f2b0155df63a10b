// RUN: xla-opt %s -p xla-flatten-tuples --split-input-file | filecheck %s

// Signatures, nested and empty tuples; attributes go to every leaf.
func.func @main(%x: tuple<tensor<f32>, tuple<tensor<i32>, tuple<>>> {a.b}, %y: tensor<ui8>)
    -> tuple<tuple<tensor<i32>, tuple<>>, tensor<f32>> {
  %0 = xla.get_tuple_element %x {index = 0}
    : (tuple<tensor<f32>, tuple<tensor<i32>, tuple<>>>) -> tensor<f32>
  %1 = xla.get_tuple_element %x {index = 1}
    : (tuple<tensor<f32>, tuple<tensor<i32>, tuple<>>>) -> tuple<tensor<i32>, tuple<>>
  %2 = xla.tuple %1, %0
    : (tuple<tensor<i32>, tuple<>>, tensor<f32>) -> tuple<tuple<tensor<i32>, tuple<>>, tensor<f32>>
  func.return %2 : tuple<tuple<tensor<i32>, tuple<>>, tensor<f32>>
}

// CHECK:      func.func @main(%0: tensor<f32> {a.b}, %1: tensor<i32> {a.b}, %y: tensor<ui8>)
// CHECK-SAME:   -> (tensor<i32>, tensor<f32>) {
// CHECK-NEXT:   func.return %1, %0 : tensor<i32>, tensor<f32>

// -----

// Loops, branches, calls, barriers and constants in flat form.
func.func private @pair(%x: tuple<tensor<f32>>) -> tuple<tensor<f32>, tensor<f32>> {
  %0 = xla.get_tuple_element %x {index = 0} : (tuple<tensor<f32>>) -> tensor<f32>
  %1 = xla.tuple %0, %0 : (tensor<f32>, tensor<f32>) -> tuple<tensor<f32>, tensor<f32>>
  func.return %1 : tuple<tensor<f32>, tensor<f32>>
}
func.func @main(%p: tensor<i1>) -> tuple<tensor<f32>, tensor<f32>> {
  %0 = xla.constant [dense<1.0> : tensor<f32>, []]
  %1 = xla.get_tuple_element %0 {index = 0} : (tuple<tensor<f32>, tuple<>>) -> tensor<f32>
  %2 = xla.tuple %1 : (tensor<f32>) -> tuple<tensor<f32>>
  %3 = xla.call %2 {to_apply = @pair} : (tuple<tensor<f32>>) -> tuple<tensor<f32>, tensor<f32>>
  %4 = xla.opt_barrier %3 : tuple<tensor<f32>, tensor<f32>>
  %5 = xla.while %4 : tuple<tensor<f32>, tensor<f32>>
    condition (%a: tuple<tensor<f32>, tensor<f32>>) {
      xla.return %p : tensor<i1>
    } body (%b: tuple<tensor<f32>, tensor<f32>>) {
      %6 = xla.conditional %p, %b, %b : (tensor<i1>, tuple<tensor<f32>, tensor<f32>>, tuple<tensor<f32>, tensor<f32>>) -> tuple<tensor<f32>, tensor<f32>>
        branch (%c: tuple<tensor<f32>, tensor<f32>>) {
          xla.return %c : tuple<tensor<f32>, tensor<f32>>
        } branch (%d: tuple<tensor<f32>, tensor<f32>>) {
          %7 = xla.get_tuple_element %d {index = 1} : (tuple<tensor<f32>, tensor<f32>>) -> tensor<f32>
          %8 = xla.tuple %7, %7 : (tensor<f32>, tensor<f32>) -> tuple<tensor<f32>, tensor<f32>>
          xla.return %8 : tuple<tensor<f32>, tensor<f32>>
        }
      xla.return %6 : tuple<tensor<f32>, tensor<f32>>
    }
  func.return %5 : tuple<tensor<f32>, tensor<f32>>
}

// CHECK-NOT:  tuple
// CHECK:      func.func private @pair(%0: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
// CHECK-NEXT:   func.return %0, %0 : tensor<f32>, tensor<f32>
// CHECK:      func.func @main(%p: tensor<i1>) -> (tensor<f32>, tensor<f32>) {
// CHECK-NEXT:   %0 = xla.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT:   %1, %2 = xla.call %0 {to_apply = @pair} : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
// CHECK-NEXT:   %3 = xla.opt_barrier %1 : tensor<f32>
// CHECK-NEXT:   %4 = xla.opt_barrier %2 : tensor<f32>
// CHECK-NEXT:   %5, %6 = xla.while %3, %4 : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
// CHECK-SAME:     condition (%7: tensor<f32>, %8: tensor<f32>) {
// CHECK-NEXT:       xla.return %p : tensor<i1>
// CHECK-NEXT:     } body (%9: tensor<f32>, %10: tensor<f32>) {
// CHECK-NEXT:       %11, %12 = xla.conditional %p, %9, %10, %9, %10
// CHECK-SAME:         branch (%13: tensor<f32>, %14: tensor<f32>) {
// CHECK-NEXT:           xla.return %13, %14 : tensor<f32>, tensor<f32>
// CHECK-NEXT:         } branch (%15: tensor<f32>, %16: tensor<f32>) {
// CHECK-NEXT:           xla.return %16, %16 : tensor<f32>, tensor<f32>
// CHECK-NEXT:         }
// CHECK-NEXT:       xla.return %11, %12 : tensor<f32>, tensor<f32>
// CHECK-NEXT:     }
// CHECK-NEXT:   func.return %5, %6 : tensor<f32>, tensor<f32>

// -----

// An empty tuple is nothing; a variadic reduction gives its results one by one.
func.func @main(%x: tensor<4xf32>, %y: tensor<f32>, %e: tuple<>) -> tuple<> {
  %0 = xla.reduce %x, %x, %y, %y {dimensions = [0]} : (tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>) -> tuple<tensor<f32>, tensor<f32>>
    to_apply (%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>) {
      %1 = xla.tuple %a, %b : (tensor<f32>, tensor<f32>) -> tuple<tensor<f32>, tensor<f32>>
      xla.return %1 : tuple<tensor<f32>, tensor<f32>>
    }
  func.return %e : tuple<>
}

// CHECK:      func.func @main(%x: tensor<4xf32>, %y: tensor<f32>) {
// CHECK-NEXT:   %0, %1 = xla.reduce %x, %x, %y, %y {dimensions = [0]}
// CHECK-SAME:     -> (tensor<f32>, tensor<f32>) to_apply
// CHECK-NEXT:     xla.return %a, %b : tensor<f32>, tensor<f32>
// CHECK-NEXT:   }
// CHECK-NEXT:   func.return

// -----

// The results that parameters name are counted among leaves.
func.func @main(%x: tensor<4xf32> {tf.aliasing_output = 1 : i32}, %y: tensor<f32>) -> (tuple<tensor<f32>, tensor<f32>>, tensor<4xf32>) {
  %0 = xla.tuple %y, %y : (tensor<f32>, tensor<f32>) -> tuple<tensor<f32>, tensor<f32>>
  func.return %0, %x : tuple<tensor<f32>, tensor<f32>>, tensor<4xf32>
}

// CHECK: func.func @main(%x: tensor<4xf32> {tf.aliasing_output = 2 : i32}, %y: tensor<f32>)

// -----

// An element in another layout than what is put into the tuple, or taken out of it, is a copy.
func.func @main(%x: tensor<2x3xf32>, %y: tensor<2x3xf32, #xla.layout<{0,1}>>)
    -> (tensor<2x3xf32, #xla.layout<{0,1}>>, tensor<2x3xf32, #xla.layout<{0,1}>>) {
  %0 = "xla.tuple"(%x, %y) : (tensor<2x3xf32>, tensor<2x3xf32, #xla.layout<{0,1}>>) -> tuple<tensor<2x3xf32, #xla.layout<{0,1}>>, tensor<2x3xf32>>
  %1 = "xla.get_tuple_element"(%0) {index = 0 : i64} : (tuple<tensor<2x3xf32, #xla.layout<{0,1}>>, tensor<2x3xf32>>) -> tensor<2x3xf32, #xla.layout<{0,1}>>
  %2 = "xla.get_tuple_element"(%0) {index = 1 : i64} : (tuple<tensor<2x3xf32, #xla.layout<{0,1}>>, tensor<2x3xf32>>) -> tensor<2x3xf32, #xla.layout<{0,1}>>
  func.return %1, %2 : tensor<2x3xf32, #xla.layout<{0,1}>>, tensor<2x3xf32, #xla.layout<{0,1}>>
}

// CHECK:      func.func @main
// CHECK-NEXT:   %0 = xla.copy %x : (tensor<2x3xf32>) -> tensor<2x3xf32, #xla.layout<{0,1}>>
// CHECK-NEXT:   %1 = xla.copy %y : (tensor<2x3xf32, #xla.layout<{0,1}>>) -> tensor<2x3xf32>
// CHECK-NEXT:   %2 = xla.copy %1 : (tensor<2x3xf32>) -> tensor<2x3xf32, #xla.layout<{0,1}>>
// CHECK-NEXT:   func.return %0, %2
