// RUN: xla-opt %s --split-input-file --verify-diagnostics

module attributes {sdy.meshes = {mesh = #sdy.mesh<["x"=2, "y"=2]>}} {
  // expected-error @+1 {{parameter 0: sharding <@mesh, [{"x"}, {"x"}]>: (SH4) axis "x" is used twice}}
  func.func @twice(%a: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"x"}]>}) -> tensor<4x8xf32> {
    func.return %a : tensor<4x8xf32>
  }
}

// -----

module attributes {sdy.meshes = {mesh = #sdy.mesh<["x"=2, "y"=2]>}} {
  // expected-error @+1 {{result 0: sharding <@other, [{"x"}]>: (SH2) there is no mesh @other}}
  func.func @unknown(%a: tensor<4xf32>) -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@other, [{"x"}]>}) {
    func.return %a : tensor<4xf32>
  }
}

// -----

module attributes {sdy.meshes = {mesh = #sdy.mesh<["x"=2, "y"=2]>}} {
  func.func @rank(%a: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @+1 {{result 0: sharding <@mesh, [{"x"}, {}]>: (SH7) has 2 dimensions for an array of rank 1}}
    %0 = xla.negate %a attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<4xf32>
    func.return %0 : tensor<4xf32>
  }
}

// -----

module attributes {sdy.meshes = {mesh = #sdy.mesh<["x"=2, "y"=2]>}} {
  func.func @count(%a: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @+1 {{(SH9) has 2 shardings for 1 results}}
    %0 = xla.negate %a attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>, <@mesh, [{}]>]>} : tensor<4xf32>
    func.return %0 : tensor<4xf32>
  }
}

// -----

module attributes {sdy.meshes = {mesh = #sdy.mesh<["x"=4]>}} {
  func.func @parts(%a: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @+1 {{(SH3) sub-axis "x":(1)3: 1 times 3 does not divide 4}}
    %0 = xla.negate %a attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x":(1)3}]>]>} : tensor<4xf32>
    func.return %0 : tensor<4xf32>
  }
}

// -----

// expected-error @+1 {{(SH1) mesh ["x"=2, "x"=2]: axis 'x' is named twice}}
module attributes {sdy.meshes = {mesh = #sdy.mesh<["x"=2, "x"=2]>}} {
}

// -----

module {
  func.func @rule(%a: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error @+1 {{its sharding rule ([i])->([i]) {i=4} reduction={i}: (SH27) reduction: a result has factor i}}
    %0 = xla.negate %a attributes {sdy.sharding_rule = #sdy.op_sharding_rule<([i])->([i]) {i=4} reduction={i}>} : tensor<4xf32>
    func.return %0 : tensor<4xf32>
  }
}

// -----

module {
  // expected-error @+1 {{parameter 0: (SH9) sdy.sharding is 3 : i32, not a sharding}}
  func.func @type(%a: tensor<4xf32> {sdy.sharding = 3 : i32}) -> tensor<4xf32> {
    func.return %a : tensor<4xf32>
  }
}
