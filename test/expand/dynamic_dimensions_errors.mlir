// RUN: xla-opt %s -p xla-expand-dynamic-dimensions --split-input-file --verify-diagnostics

#vector = #xla.layout<{0}, bounds = [8]>
func.func @call(%x: tensor<?xf32, #vector>) -> tensor<?xf32, #vector> {
  // expected-error@+1 {{arrays of dynamic sizes are not compiled here}}
  %y = xla.custom_call %x {custom_call_target = "f"} : (tensor<?xf32, #vector>) -> tensor<?xf32, #vector>
  func.return %y : tensor<?xf32, #vector>
}

// -----

#vector = #xla.layout<{0}, bounds = [8]>
func.func @largest(%x: tensor<?xf32, #vector>) -> (tensor<2xf32>, tensor<2xi32>) {
  // expected-error@+1 {{dimension 0 of operand 0 cannot be dynamic: it may have fewer than k elements}}
  %y:2 = xla.topk %x {k = 2} : (tensor<?xf32, #vector>) -> (tensor<2xf32>, tensor<2xi32>)
  func.return %y#0, %y#1 : tensor<2xf32>, tensor<2xi32>
}
