// RUN: xla-opt %s -p convert-xla-to-scf | filecheck %s

// What the body returns as it got it is not carried.
// CHECK-LABEL: @loop
// CHECK-NEXT:  %0 = scf.while (%a = %init) : (tensor<i32>) -> tensor<i32> {
// CHECK-NEXT:    %1 = xla.compare %a, %limit {direction = LT}
// CHECK-NEXT:    %2 = tensor.extract %1[] : tensor<i1>
// CHECK-NEXT:    scf.condition(%2) %a : tensor<i32>
// CHECK-NEXT:  } do {
// CHECK-NEXT:  ^bb0(%b: tensor<i32>):
// CHECK-NEXT:    %3 = xla.add %b, %limit : tensor<i32>
// CHECK-NEXT:    scf.yield %3 : tensor<i32>
// CHECK-NEXT:  }
// CHECK-NEXT:  func.return %0, %limit : tensor<i32>, tensor<i32>
func.func @loop(%init: tensor<i32>, %limit: tensor<i32>) -> (tensor<i32>, tensor<i32>) {
  %0, %1 = xla.while %init, %limit : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    condition (%a: tensor<i32>, %l: tensor<i32>) {
      %2 = xla.compare %a, %l {direction = LT} : (tensor<i32>, tensor<i32>) -> tensor<i1>
      xla.return %2 : tensor<i1>
    } body (%b: tensor<i32>, %l: tensor<i32>) {
      %3 = xla.add %b, %l : tensor<i32>
      xla.return %3, %l : tensor<i32>, tensor<i32>
    }
  func.return %0, %1 : tensor<i32>, tensor<i32>
}

// CHECK-LABEL: @two_branches
// CHECK-NEXT:  %0 = tensor.extract %p[] : tensor<i1>
// CHECK-NEXT:  %1 = scf.if %0 -> (tensor<f32>) {
// CHECK-NEXT:    %2 = xla.negate %x : tensor<f32>
// CHECK-NEXT:    scf.yield %2 : tensor<f32>
// CHECK-NEXT:  } else {
// CHECK-NEXT:    scf.yield %y : tensor<f32>
// CHECK-NEXT:  }
func.func @two_branches(%p: tensor<i1>, %x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %0 = xla.conditional %p, %x, %y : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
    branch (%a: tensor<f32>) {
      %1 = xla.negate %a : tensor<f32>
      xla.return %1 : tensor<f32>
    } branch (%b: tensor<f32>) {
      xla.return %b : tensor<f32>
    }
  func.return %0 : tensor<f32>
}

// The last branch is the default.
// CHECK-LABEL: @three_branches
// CHECK-NEXT:  %0 = tensor.extract %i[] : tensor<i32>
// CHECK-NEXT:  %1 = arith.index_cast %0 : i32 to index
// CHECK-NEXT:  %2 = scf.index_switch %1 -> tensor<f32>
// CHECK-NEXT:  case 0 {
// CHECK-NEXT:    scf.yield %x : tensor<f32>
// CHECK-NEXT:  }
// CHECK-NEXT:  case 1 {
// CHECK-NEXT:    scf.yield %y : tensor<f32>
// CHECK-NEXT:  }
// CHECK-NEXT:  default {
// CHECK-NEXT:    %3 = xla.negate %x : tensor<f32>
// CHECK-NEXT:    scf.yield %3 : tensor<f32>
// CHECK-NEXT:  }
func.func @three_branches(%i: tensor<i32>, %x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %0 = xla.conditional %i, %x, %y, %x
      : (tensor<i32>, tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
    branch (%a: tensor<f32>) {
      xla.return %a : tensor<f32>
    } branch (%b: tensor<f32>) {
      xla.return %b : tensor<f32>
    } branch (%c: tensor<f32>) {
      %1 = xla.negate %c : tensor<f32>
      xla.return %1 : tensor<f32>
    }
  func.return %0 : tensor<f32>
}
