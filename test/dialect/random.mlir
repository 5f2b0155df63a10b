// RUN: xla-opt %s --split-input-file --verify-diagnostics | filecheck %s
// RUN: xla-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | xla-opt --split-input-file | filecheck %s

// CHECK-LABEL: @random(
func.func @random(%a: tensor<f32>, %b: tensor<f32>, %state: tensor<3xui64>, %x: tensor<4xf32>, %r: tensor<4xui32>) {
  // CHECK: %uniform = xla.rng %a, %b {distribution = rng_uniform} : (tensor<f32>, tensor<f32>) -> tensor<4x2xf32>
  %uniform = xla.rng %a, %b {distribution = rng_uniform} : (tensor<f32>, tensor<f32>) -> tensor<4x2xf32>
  // CHECK: %normal = xla.rng %a, %b {distribution = rng_normal} : (tensor<f32>, tensor<f32>) -> tensor<4x2xf32>
  %normal = xla.rng %a, %b {distribution = rng_normal} : (tensor<f32>, tensor<f32>) -> tensor<4x2xf32>
  // State and bits are two results, or one tuple.
  // CHECK: %next, %bits = xla.rng_bit_generator %state {algorithm = rng_philox} : (tensor<3xui64>) -> (tensor<3xui64>, tensor<2x3xui32>)
  %next, %bits = xla.rng_bit_generator %state {algorithm = rng_philox} : (tensor<3xui64>) -> (tensor<3xui64>, tensor<2x3xui32>)
  // CHECK: %pair = xla.rng_bit_generator %state {algorithm = rng_default} : (tensor<3xui64>) -> tuple<tensor<3xui64>, tensor<5xui8>>
  %pair = xla.rng_bit_generator %state {algorithm = rng_default} : (tensor<3xui64>) -> tuple<tensor<3xui64>, tensor<5xui8>>
  // CHECK: %old = xla.rng_get_and_update_state {delta = 4} : tensor<2xui64>
  %old = xla.rng_get_and_update_state {delta = 4} : tensor<2xui64>
  // CHECK: %rounded = xla.stochastic_convert %x, %r : (tensor<4xf32>, tensor<4xui32>) -> tensor<4xbf16>
  %rounded = xla.stochastic_convert %x, %r : (tensor<4xf32>, tensor<4xui32>) -> tensor<4xbf16>
  func.return
}

// -----

func.func @rng_C1_1(%x: tensor<i32>, %y: tensor<i32>) {
  // expected-error @+1 {{xla.rng: (C1) the result has element type s32, allowed: float}}
  %0 = xla.rng %x, %y {distribution = rng_normal} : (tensor<i32>, tensor<i32>) -> tensor<4xi32>
  func.return
}

// -----

func.func @rng_C1_2(%x: tensor<1xf32>, %y: tensor<f32>) {
  // expected-error @+1 {{xla.rng: (C1) a is f32[1], not a scalar of the element type of f32[4]}}
  %0 = xla.rng %x, %y {distribution = rng_normal} : (tensor<1xf32>, tensor<f32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @rng_C1_3(%x: tensor<f32>, %y: tensor<i32>) {
  // expected-error @+1 {{xla.rng: (C1) b is s32[], not a scalar of the element type of f32[4]}}
  %0 = xla.rng %x, %y {distribution = rng_normal} : (tensor<f32>, tensor<i32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @rng_C1_4(%x: tensor<complex<f32>>, %y: tensor<complex<f32>>) {
  // expected-error @+1 {{xla.rng: (C1) the result has element type c64, allowed: integer or float or pred}}
  %0 = xla.rng %x, %y {distribution = rng_uniform} : (tensor<complex<f32>>, tensor<complex<f32>>) -> tensor<4xcomplex<f32>>
  func.return
}

// -----

func.func @rng_C1_5(%x: tensor<f32>, %y: tensor<2xf32>) {
  // expected-error @+1 {{xla.rng: (C1) b is f32[2], not a scalar of the element type of f32[4]}}
  %0 = xla.rng %x, %y {distribution = rng_uniform} : (tensor<f32>, tensor<2xf32>) -> tensor<4xf32>
  func.return
}

// -----

func.func @rng_C1_6(%x: tensor<i32>, %y: tensor<i32>) {
  // expected-error @+1 {{xla.rng: (C1) a is s32[], not a scalar of the element type of u32[4]}}
  %0 = xla.rng %x, %y {distribution = rng_uniform} : (tensor<i32>, tensor<i32>) -> tensor<4xui32>
  func.return
}

// -----

func.func @rng_bit_generator_C1_1(%x: tensor<2xi1>) {
  // expected-error @+1 {{xla.rng_bit_generator: (C1) initial_state has element type pred, allowed: integer or float}}
  %0, %1 = xla.rng_bit_generator %x {algorithm = rng_default} : (tensor<2xi1>) -> (tensor<2xi1>, tensor<4xui32>)
  func.return
}

// -----

func.func @rng_bit_generator_C1_2(%x: tuple<>) {
  // expected-error @+1 {{xla.rng_bit_generator: (C1) initial_state is (), not an array}}
  %0, %1 = xla.rng_bit_generator %x {algorithm = rng_three_fry} : (tuple<>) -> (tuple<>, tensor<4xui32>)
  func.return
}

// -----

func.func @rng_bit_generator_C2_1(%x: tensor<2xui64>) {
  // expected-error @+1 {{xla.rng_bit_generator: (C2) the result has element type f32, allowed: integer}}
  %0, %1 = xla.rng_bit_generator %x {algorithm = rng_default} : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xf32>)
  func.return
}

// -----

func.func @rng_bit_generator_C2_2(%x: tensor<2xui64>) {
  // expected-error @+1 {{xla.rng_bit_generator: (C2) the result has elements of 1 bit}}
  %0, %1 = xla.rng_bit_generator %x {algorithm = rng_default} : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui1>)
  func.return
}

// -----

func.func @rng_bit_generator_C2_3(%x: tensor<2xui64>) {
  // expected-error @+1 {{xla.rng_bit_generator: (C2) the result has element type pred, allowed: integer}}
  %0, %1 = xla.rng_bit_generator %x {algorithm = rng_default} : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xi1>)
  func.return
}

// -----

func.func @rng_bit_generator_Result_1(%x: tensor<2xui64>) {
  // expected-error @+1 {{xla.rng_bit_generator: (Result) declared (), not a state and bits}}
  xla.rng_bit_generator %x {algorithm = rng_default} : (tensor<2xui64>) -> ()
  func.return
}

// -----

func.func @rng_bit_generator_Result_2(%x: tensor<2xui64>) {
  // expected-error @+1 {{xla.rng_bit_generator: (Result) declared (u64[2], u32[4], u32[4]), not a state and bits}}
  %0, %1, %2 = xla.rng_bit_generator %x {algorithm = rng_default} : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>, tensor<4xui32>)
  func.return
}

// -----

func.func @stochastic_convert_C1(%x: tensor<4xi32>, %y: tensor<4xui32>) {
  // expected-error @+1 {{xla.stochastic_convert: (C1) operand has element type s32, allowed: float}}
  %0 = xla.stochastic_convert %x, %y : (tensor<4xi32>, tensor<4xui32>) -> tensor<4xi8>
  func.return
}

// -----

func.func @stochastic_convert_C2_1(%x: tensor<4xf32>, %y: tensor<4xi32>) {
  // expected-error @+1 {{xla.stochastic_convert: (C2) random has element type s32, allowed: unsigned integer}}
  %0 = xla.stochastic_convert %x, %y : (tensor<4xf32>, tensor<4xi32>) -> tensor<4xi8>
  func.return
}

// -----

func.func @stochastic_convert_C2_2(%x: tensor<4xf32>, %y: tensor<4xui16>) {
  // expected-error @+1 {{xla.stochastic_convert: (C2) operand has 32 bits, random 16}}
  %0 = xla.stochastic_convert %x, %y : (tensor<4xf32>, tensor<4xui16>) -> tensor<4xi8>
  func.return
}

// -----

func.func @stochastic_convert_C2_3(%x: tensor<4xf32>, %y: tensor<5xui32>) {
  // expected-error @+1 {{xla.stochastic_convert: (C2) operand and random have shapes f32[4] and u32[5]}}
  %0 = xla.stochastic_convert %x, %y : (tensor<4xf32>, tensor<5xui32>) -> tensor<4xi8>
  func.return
}

// -----

func.func @stochastic_convert_C3(%x: tensor<4xf32>, %y: tensor<4xui32>) {
  // expected-error @+1 {{xla.stochastic_convert: (C3) the result has element type pred, allowed: integer or float}}
  %0 = xla.stochastic_convert %x, %y : (tensor<4xf32>, tensor<4xui32>) -> tensor<4xi1>
  func.return
}

// -----

func.func @stochastic_convert_Result(%x: tensor<4xf32>, %y: tensor<4xui32>) {
  // expected-error @+1 {{xla.stochastic_convert: (Result) declared (s8[5]), inferred (s8[4])}}
  %0 = xla.stochastic_convert %x, %y : (tensor<4xf32>, tensor<4xui32>) -> tensor<5xi8>
  func.return
}

// -----

func.func @rng_get_and_update_state_Result() {
  // expected-error @+1 {{xla.rng_get_and_update_state: (Result) declared (s64[2]), inferred (u64[2])}}
  %0 = xla.rng_get_and_update_state {delta = 1} : tensor<2xi64>
  func.return
}
