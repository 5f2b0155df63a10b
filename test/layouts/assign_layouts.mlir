// RUN: xla-opt %s --split-input-file -p xla-assign-layouts | filecheck %s
// RUN: xla-opt %s --split-input-file -p 'xla-assign-layouts{report=true}' -o %t 2>&1 | filecheck %s --check-prefix REPORT

// A transpose renames dimensions, where those who use it can take its result as it lies in memory.
// CHECK-LABEL: @before_product
// CHECK-NEXT:  %0 = xla.transpose %x {dimensions = [1, 0]} : (tensor<2x3xf32>) -> tensor<3x2xf32, #xla.layout<{0,1}>>
// CHECK-NEXT:  %1 = xla.slice %0
// CHECK-SAME:  : (tensor<3x2xf32, #xla.layout<{0,1}>>) -> tensor<2x2xf32, #xla.layout<{0,1}>>
// CHECK-NEXT:  %2 = xla.dot %1, %y
// CHECK-NEXT:  func.return %2 : tensor<2x5xf32>
// REPORT:      xla-assign-layouts: before: 0 bytes copied, 24 bytes transposed
// REPORT-NEXT: xla-assign-layouts: after: 0 bytes copied, 0 bytes transposed
func.func @before_product(%x: tensor<2x3xf32>, %y: tensor<2x5xf32>) -> tensor<2x5xf32> {
  %0 = xla.transpose %x {dimensions = [1, 0]} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %1 = xla.slice %0 {start_indices = [1, 0], limit_indices = [3, 2], strides = [1, 1]} : (tensor<3x2xf32>) -> tensor<2x2xf32>
  %2 = xla.dot %1, %y {lhs_contracting_dims = [1], rhs_contracting_dims = [0]} : (tensor<2x2xf32>, tensor<2x5xf32>) -> tensor<2x5xf32>
  func.return %2 : tensor<2x5xf32>
}

// -----

// The layouts of parameters and results stay; elementwise operations in between take theirs.
// CHECK-LABEL: @between
// CHECK-NEXT:  %0 = xla.negate %x : tensor<2x3xf32, #xla.layout<{0,1}>>
// CHECK-NEXT:  %1 = xla.exponential %0 : tensor<2x3xf32, #xla.layout<{0,1}>>
// CHECK:       func.return
// REPORT:      xla-assign-layouts: before: 48 bytes copied, 0 bytes transposed
// REPORT-NEXT: xla-assign-layouts: after: 0 bytes copied, 0 bytes transposed
func.func @between(%x: tensor<2x3xf32, #xla.layout<{0,1}>>) -> tensor<2x3xf32, #xla.layout<{0,1}>> {
  %0 = xla.negate %x : (tensor<2x3xf32, #xla.layout<{0,1}>>) -> tensor<2x3xf32>
  %1 = xla.exponential %0 : tensor<2x3xf32>
  %2 = xla.copy %1 : (tensor<2x3xf32>) -> tensor<2x3xf32, #xla.layout<{0,1}>>
  func.return %2 : tensor<2x3xf32, #xla.layout<{0,1}>>
}

// -----

// Where two layouts meet, there is a copy.
// CHECK-LABEL: @meeting
// CHECK-NEXT:  %0 = xla.copy %y : (tensor<2x3xf32, #xla.layout<{0,1}>>) -> tensor<2x3xf32>
// CHECK-NEXT:  %1 = xla.add %x, %0 : tensor<2x3xf32>
// REPORT:      xla-assign-layouts: before: 24 bytes copied, 0 bytes transposed
// REPORT-NEXT: xla-assign-layouts: after: 24 bytes copied, 0 bytes transposed
func.func @meeting(%x: tensor<2x3xf32>, %y: tensor<2x3xf32, #xla.layout<{0,1}>>) -> tensor<2x3xf32> {
  %0 = xla.add %x, %y : (tensor<2x3xf32>, tensor<2x3xf32, #xla.layout<{0,1}>>) -> tensor<2x3xf32>
  func.return %0 : tensor<2x3xf32>
}

// -----

// A layout that is written for an instruction stays, also the default one.
// CHECK-LABEL: @written
// CHECK-NEXT:  %[[X:.*]] = xla.copy %x
// CHECK-NEXT:  %[[N:.*]] = xla.negate %[[X]] : (tensor<2x3xf32>) -> tensor<2x3xf32, #xla.layout<{1,0}>>
// CHECK-NEXT:  %{{.*}} = xla.copy %[[N]] : (tensor<2x3xf32, #xla.layout<{1,0}>>) -> tensor<2x3xf32, #xla.layout<{0,1}>>
// REPORT:      xla-assign-layouts: before: 48 bytes copied
// REPORT-NEXT: xla-assign-layouts: after: 48 bytes copied
func.func @written(%x: tensor<2x3xf32, #xla.layout<{0,1}>>) -> tensor<2x3xf32, #xla.layout<{0,1}>> {
  %0 = xla.negate %x : (tensor<2x3xf32, #xla.layout<{0,1}>>) -> tensor<2x3xf32, #xla.layout<{1,0}>>
  %1 = xla.copy %0 : (tensor<2x3xf32, #xla.layout<{1,0}>>) -> tensor<2x3xf32, #xla.layout<{0,1}>>
  func.return %1 : tensor<2x3xf32, #xla.layout<{0,1}>>
}

// -----

// What a loop carries gets the layout of what it starts from, if that spares copies.
// CHECK-LABEL: @loop
// CHECK:       xla.while %x : tensor<2x3xf32, #xla.layout<{0,1}>>
// CHECK-SAME:  condition (%c: tensor<2x3xf32, #xla.layout<{0,1}>>)
// CHECK:       xla.add %b, %b : tensor<2x3xf32, #xla.layout<{0,1}>>
// CHECK-NOT:   xla.copy
// REPORT:      xla-assign-layouts: before: 24 bytes copied
// REPORT-NEXT: xla-assign-layouts: after: 0 bytes copied
func.func @loop(%x: tensor<2x3xf32, #xla.layout<{0,1}>>, %n: tensor<i1>) -> tensor<3xf32> {
  %zero = xla.constant dense<0.0> : tensor<f32>
  %0 = xla.while %x : (tensor<2x3xf32, #xla.layout<{0,1}>>) -> tensor<2x3xf32>
    condition (%c: tensor<2x3xf32>) {
      xla.return %n : tensor<i1>
    }
    body (%b: tensor<2x3xf32>) {
      %1 = xla.add %b, %b : tensor<2x3xf32>
      xla.return %1 : tensor<2x3xf32>
    }
  %2 = xla.reduce %0, %zero {dimensions = [0]} : (tensor<2x3xf32>, tensor<f32>) -> tensor<3xf32>
         to_apply (%p: tensor<f32>, %q: tensor<f32>) {
           %3 = xla.add %p, %q : tensor<f32>
           xla.return %3 : tensor<f32>
         }
  func.return %2 : tensor<3xf32>
}

// -----

// The product of a transpose is written as the transpose has it: the transpose renames.
// CHECK-LABEL: @behind_product
// CHECK-NEXT:  %0 = xla.dot %x, %y {{.*}} -> tensor<2x5xf32, #xla.layout<{0,1}>>
// CHECK-NEXT:  %1 = xla.transpose %0 {dimensions = [1, 0]} : (tensor<2x5xf32, #xla.layout<{0,1}>>) -> tensor<5x2xf32>
// REPORT:      xla-assign-layouts: before: 0 bytes copied, 40 bytes transposed
// REPORT-NEXT: xla-assign-layouts: after: 0 bytes copied, 0 bytes transposed
func.func @behind_product(%x: tensor<2x3xf32>, %y: tensor<3x5xf32>) -> tensor<5x2xf32> {
  %0 = xla.dot %x, %y {lhs_contracting_dims = [1], rhs_contracting_dims = [0]} : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2x5xf32>
  %1 = xla.transpose %0 {dimensions = [1, 0]} : (tensor<2x5xf32>) -> tensor<5x2xf32>
  func.return %1 : tensor<5x2xf32>
}

// -----

// JAX's layout constraints are copies to the layout that they ask for.
// CHECK-LABEL: @constraint
// CHECK-NEXT:  %{{.*}} = xla.copy %x : (tensor<2x3xf32>) -> tensor<2x3xf32, #xla.layout<{0,1}>>
// CHECK-NEXT:  %{{.*}} = xla.copy %x : (tensor<2x3xf32>) -> tensor<2x3xf32, #xla.layout<{0,1}>>
// CHECK-NOT:   xla.custom_call
func.func @constraint(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = xla.custom_call %x {custom_call_target = "LayoutConstraint"} attributes {xla.result_layouts = [dense<[0, 1]> : tensor<2xindex>]} : tensor<2x3xf32>
  %1 = xla.custom_call %x {custom_call_target = "LayoutConstraint"} : (tensor<2x3xf32>) -> tensor<2x3xf32, #xla.layout<{0,1}>>
  %2 = xla.copy %1 : (tensor<2x3xf32, #xla.layout<{0,1}>>) -> tensor<2x3xf32>
  %3 = xla.copy %0 : tensor<2x3xf32>
  func.return %2, %3 : tensor<2x3xf32>, tensor<2x3xf32>
}

// -----

// A transpose whose result comes to nothing else than another movement stays: it fuses.
// CHECK-LABEL: @no_gain
// CHECK-NEXT:  %0 = xla.transpose %x {dimensions = [1, 0]} : (tensor<2x3xf32>) -> tensor<3x2xf32>
// CHECK-NEXT:  %1 = xla.slice %0
// CHECK-SAME:  : (tensor<3x2xf32>) -> tensor<2x2xf32>
// CHECK-NEXT:  func.return %1
func.func @no_gain(%x: tensor<2x3xf32>) -> tensor<2x2xf32> {
  %0 = xla.transpose %x {dimensions = [1, 0]} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %1 = xla.slice %0 {start_indices = [1, 0], limit_indices = [3, 2], strides = [1, 1]} : (tensor<3x2xf32>) -> tensor<2x2xf32>
  func.return %1 : tensor<2x2xf32>
}

// -----

// A fusion that was not inlined computes in the layout of what goes into it and comes out.
// CHECK-LABEL: @fusion
// CHECK:       xla.fusion %x : tensor<2x3xf32, #xla.layout<{0,1}>> calls (%p: tensor<2x3xf32, #xla.layout<{0,1}>>) {
// CHECK-NEXT:  xla.negate %p : tensor<2x3xf32, #xla.layout<{0,1}>>
// REPORT:      xla-assign-layouts: before: 24 bytes copied
// REPORT-NEXT: xla-assign-layouts: after: 0 bytes copied
func.func @fusion(%x: tensor<2x3xf32, #xla.layout<{0,1}>>) -> tensor<2x3xf32, #xla.layout<{0,1}>> {
  %0 = xla.fusion %x : (tensor<2x3xf32, #xla.layout<{0,1}>>) -> tensor<2x3xf32> calls (%p: tensor<2x3xf32>) {
    %1 = xla.negate %p : tensor<2x3xf32>
    xla.return %1 : tensor<2x3xf32>
  }
  %2 = xla.copy %0 : (tensor<2x3xf32>) -> tensor<2x3xf32, #xla.layout<{0,1}>>
  func.return %2 : tensor<2x3xf32, #xla.layout<{0,1}>>
}
