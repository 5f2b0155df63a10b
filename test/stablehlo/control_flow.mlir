// RUN: xla-opt %s | filecheck %s --check-prefix=XLA
// RUN: xla-opt %s -t stablehlo | filecheck %s --check-prefix=STABLEHLO

// XLA-LABEL: @control_flow(
// STABLEHLO-LABEL: @control_flow(
func.func @control_flow(%x: tensor<4x8xf32>, %f: tensor<f32>, %i: tensor<i32>, %p: tensor<i1>) {
  // XLA: %count = xla.while %i : tensor<i32> condition (%n: tensor<i32>) {
  // STABLEHLO: %count = stablehlo.while(%n = %i) : tensor<i32>
  %count = stablehlo.while(%n = %i) : tensor<i32>
  cond {
    %less = stablehlo.compare LT, %n, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %less : tensor<i1>
  } do {
    stablehlo.return %n : tensor<i32>
  }
  // XLA: %either = xla.conditional %p : (tensor<i1>) -> tensor<f32> branch () {
  // STABLEHLO: %either = "stablehlo.if"(%p) ({
  %either = "stablehlo.if"(%p) ({
    stablehlo.return %f : tensor<f32>
  }, {
    stablehlo.return %f : tensor<f32>
  }) : (tensor<i1>) -> tensor<f32>
  // XLA: %negated = xla.negate %x : tensor<4x8xf32>
  // STABLEHLO: %negated = stablehlo.negate %x : tensor<4x8xf32>
  %negated = stablehlo.negate %x : tensor<4x8xf32>
  // XLA: %called = xla.call %x {to_apply = @callee} : tensor<4x8xf32>
  // STABLEHLO: %called = call @callee(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %called = call @callee(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // XLA: %same = xla.opt_barrier %x : tensor<4x8xf32>
  // STABLEHLO: %same = stablehlo.optimization_barrier %x : tensor<4x8xf32>
  %same = stablehlo.optimization_barrier %x : tensor<4x8xf32>
  // XLA: xla.while : () -> () condition () {
  // STABLEHLO: stablehlo.while()
  stablehlo.while()
  cond {
    stablehlo.return %p : tensor<i1>
  } do {
    stablehlo.return
  }
  return
}
func.func private @callee(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  return %x : tensor<4x8xf32>
}

// XLA-LABEL: @scan(
// STABLEHLO-LABEL: @scan(
func.func @scan(%x: tensor<4xf32>, %c: tensor<f32>) {
  // XLA: %sums, %total = xla.scan %x, %c {dimension = 0, num_carries = 1, is_reverse = true} : (tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<f32>) to_apply (%a: tensor<f32>, %b: tensor<f32>) {
  // STABLEHLO: %sums, %total = chlo.scan(%x) inits (%c) dimension=0 attributes {is_reverse = true} {
  %sums, %total = chlo.scan(%x) inits (%c) dimension=0 attributes {is_reverse = true} {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %sum = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %sum, %sum : tensor<f32>, tensor<f32>
  } : (tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<f32>)
  return
}
