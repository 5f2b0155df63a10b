// RUN: xla-opt %s --split-input-file --verify-diagnostics

// The message of a broken rule stands at the operation, with its name and the label of the rule.

func.func @element_type(%x: tensor<2xi1>) -> tensor<2xi1> {
  // expected-error @+1 {{xla.negate: (C1) operand has element type pred, allowed: integer or float or complex}}
  %y = xla.negate %x : tensor<2xi1>
  func.return %y : tensor<2xi1>
}

// -----

func.func @result(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // expected-error @+1 {{xla.transpose: (Result) declared (f32[2,3]), inferred (f32[3,2])}}
  %y = xla.transpose %x {dimensions = [1, 0]} : tensor<2x3xf32>
  func.return %y : tensor<2x3xf32>
}

// -----

func.func @property(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{xla.reverse: unknown or repeated property 'dimension' (it has: dimensions)}}
  %y = xla.reverse %x {dimension = [0]} : tensor<2xf32>
  func.return %y : tensor<2xf32>
}

// -----

func.func @word(%x: tensor<2xf32>) -> tensor<2xi1> {
  // expected-error @+1 {{'LESS' is none of EQ, NE, GE, GT, LE, LT}}
  %y = xla.compare %x, %x {direction = LESS} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  func.return %y : tensor<2xi1>
}

// -----

func.func @computation(%x: tensor<2xf32>, %i: tensor<f32>) -> tensor<f32> {
  // expected-error @+1 {{xla.reduce: (RC2) to_apply returns (), expected (f32[])}}
  %y = xla.reduce %x, %i {dimensions = [0]} : (tensor<2xf32>, tensor<f32>) -> tensor<f32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    xla.return
  }
  func.return %y : tensor<f32>
}

// -----

func.func @large(%x: tensor<f32>) {
  // expected-error @+1 {{integer does not fit into 64 bits}}
  %y = xla.broadcast %x {dimensions = [99999999999999999999]} : (tensor<f32>) -> tensor<2xf32>
  func.return
}
