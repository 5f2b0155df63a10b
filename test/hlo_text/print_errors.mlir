// RUN: xla-opt %s --split-input-file -t hlo --verify-diagnostics

// What HLO text cannot say.

func.func @foreign_operation(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{HLO text has no operation arith.addf}}
  %0 = arith.addf %x, %x : tensor<4xf32>
  func.return %0 : tensor<4xf32>
}

// -----

// expected-error @+1 {{tensor<4xi7> is no type of HLO}}
func.func @foreign_type(%x: tensor<4xi7>) -> tensor<4xi7> {
  func.return %x : tensor<4xi7>
}

// -----

module {
  // expected-error @+1 {{HLO text has no builtin.module beside computations}}
  module {
  }
}

// -----

func.func @older_padding(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{padded_dimensions}}
  %0 = xla.copy %x : (tensor<2xf32>) -> tensor<2xf32, #xla.layout<{0}, padded_dimensions = [4]>>
  func.return %x : tensor<2xf32>
}

// -----

func.func @captured_value(%x: tensor<2xf32>, %y: tensor<f32>) -> tensor<f32> {
  %0 = xla.reduce %x, %y {dimensions = [0]} : (tensor<2xf32>, tensor<f32>) -> tensor<f32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    // expected-error @+1 {{uses a value of func.func around its computation, which HLO cannot express}}
    xla.return %y : tensor<f32>
  }
  func.return %0 : tensor<f32>
}

// -----

func.func private @no_body(tensor<f32>) -> tensor<f32>
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  // expected-error @+1 {{xla.call: there is no function @no_body with a body}}
  %0 = xla.call %x {to_apply = @no_body} : tensor<f32>
  func.return %0 : tensor<f32>
}

// -----

// expected-error @+1 {{HLO text needs one entry: @main, or one function; found @f, @g}}
module {
  func.func @f() {
    func.return
  }
  func.func @g() {
    func.return
  }
}

// -----

// expected-error @+1 {{HLO text needs one entry: @main, or one function; found none}}
module {
}
