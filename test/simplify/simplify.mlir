// RUN: xla-opt %s -p xla-simplify --split-input-file | filecheck %s

// What does nothing goes, and what only it needed.
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %c = xla.constant dense<1.0> : tensor<f32>
  %one = xla.broadcast %c : (tensor<f32>) -> tensor<2x3xf32>
  %0 = xla.transpose %x {dimensions = [1, 0]} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %1 = xla.transpose %0 {dimensions = [1, 0]} : (tensor<3x2xf32>) -> tensor<2x3xf32>
  %2 = xla.multiply %1, %one : tensor<2x3xf32>
  %3 = xla.negate %2 : tensor<2x3xf32>
  func.return %3 : tensor<2x3xf32>
}

// CHECK:      func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
// CHECK-NEXT:   %0 = xla.negate %x : tensor<2x3xf32>
// CHECK-NEXT:   func.return %0 : tensor<2x3xf32>

// -----

// Constants are computed: small ones element by element, large ones of one number as such.
func.func @main() -> (tensor<4xi32>, tensor<1000000xf32>, tensor<0x7xf32>) {
  %i = xla.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %0 = xla.multiply %i, %i : tensor<4xi32>
  %1 = xla.reverse %0 {dimensions = [0]} : (tensor<4xi32>) -> tensor<4xi32>
  %two = xla.constant dense<2.0> : tensor<1000000xf32>
  %2 = xla.multiply %two, %two : tensor<1000000xf32>
  %empty = xla.iota {iota_dimension = 0} : tensor<0x7xf32>
  %3 = xla.tanh %empty : tensor<0x7xf32>
  func.return %1, %2, %3 : tensor<4xi32>, tensor<1000000xf32>, tensor<0x7xf32>
}

// CHECK:      func.func @main()
// CHECK-NEXT:   %0 = xla.constant dense<[16, 9, 4, 1]> : tensor<4xi32>
// CHECK-NEXT:   %1 = xla.constant dense<4.000000e+00> : tensor<1000000xf32>
// CHECK-NEXT:   %2 = xla.constant dense<> : tensor<0x7xf32>
// CHECK-NEXT:   func.return %0, %1, %2

// -----

// Equal operations are merged, computations included; effects and barriers stay.
func.func @main(%x: tensor<8xf32>, %t: !xla.token) -> (tensor<f32>, tensor<f32>, tensor<8xf32>) {
  %z = xla.constant dense<0.0> : tensor<f32>
  %0 = xla.reduce %x, %z {dimensions = [0]} : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
    to_apply (%a: tensor<f32>, %b: tensor<f32>) {
      %s = xla.add %a, %b : tensor<f32>
      xla.return %s : tensor<f32>
    }
  %1 = xla.reduce %x, %z {dimensions = [0]} : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
    to_apply (%a: tensor<f32>, %b: tensor<f32>) {
      %s = xla.add %a, %b : tensor<f32>
      xla.return %s : tensor<f32>
    }
  %2 = xla.custom_call %x {custom_call_target = "log", custom_call_has_side_effect = true} : (tensor<8xf32>) -> tensor<f32>
  %3 = xla.opt_barrier %x : tensor<8xf32>
  func.return %0, %1, %3 : tensor<f32>, tensor<f32>, tensor<8xf32>
}

// CHECK:      %z = xla.constant
// CHECK-NEXT: %0 = xla.reduce %x, %z
// CHECK-NOT:  xla.reduce
// CHECK:      xla.custom_call
// CHECK-NEXT: %[[BARRIER:.*]] = xla.opt_barrier %x
// CHECK-NEXT: func.return %0, %0, %[[BARRIER]]

// -----

// Whatever computes each element from those in its place makes a splat of splats, of any size.
func.func @main() -> (tensor<300x300xf32>, tensor<300x300xf32, #xla.layout<{0,1}>>) {
  %one = xla.constant dense<1.0> : tensor<f32>
  %x = xla.broadcast %one {dimensions = []} : (tensor<f32>) -> tensor<300x300xf32>
  %0 = xla.map %x, %x : (tensor<300x300xf32>, tensor<300x300xf32>) -> tensor<300x300xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %sum = xla.add %a, %b : tensor<f32>
    xla.return %sum : tensor<f32>
  }
  %1 = xla.copy %x : (tensor<300x300xf32>) -> tensor<300x300xf32, #xla.layout<{0,1}>>
  func.return %0, %1 : tensor<300x300xf32>, tensor<300x300xf32, #xla.layout<{0,1}>>
}

// CHECK:      func.func @main
// CHECK-NEXT:   %0 = xla.constant dense<2.000000e+00> : tensor<300x300xf32>
// CHECK-NEXT:   %1 = xla.constant dense<1.000000e+00> : tensor<300x300xf32, #xla.layout<{0,1}>>
// CHECK-NEXT:   func.return %0, %1

// -----

// A layout is a part of the type: a copy that changes it stays.
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32, #xla.layout<{0,1}>> {
  %0 = xla.copy %x : tensor<2x3xf32>
  %1 = xla.copy %0 : (tensor<2x3xf32>) -> tensor<2x3xf32, #xla.layout<{0,1}>>
  func.return %1 : tensor<2x3xf32, #xla.layout<{0,1}>>
}

// CHECK:      func.func @main
// CHECK-NEXT:   %0 = xla.copy %x : (tensor<2x3xf32>) -> tensor<2x3xf32, #xla.layout<{0,1}>>
// CHECK-NEXT:   func.return %0

// -----

// What another operation names as its predecessor stays where it is.
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %first = xla.copy %x : tensor<2xf32>
  %second = xla.negate %x attributes {xla.control_predecessors = "{%first}"} : tensor<2xf32>
  func.return %second : tensor<2xf32>
}

// CHECK:      %first = xla.copy %x
// CHECK-NEXT: %second = xla.negate %x

// -----

// What says how its results are split over devices is kept, and equal to none.
builtin.module attributes {sdy.meshes = {mesh = #sdy.mesh<["d"=2]>}} {
  func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
    %0 = xla.negate %x attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"d"}]>]>} : tensor<2xf32>
    %1 = xla.copy %0 attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} : tensor<2xf32>
    %2 = xla.negate %x attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} : tensor<2xf32>
    func.return %1, %2 : tensor<2xf32>, tensor<2xf32>
  }
}

// CHECK:      %0 = xla.negate %x attributes
// CHECK-NEXT: %1 = xla.copy %0
// CHECK-NEXT: %2 = xla.negate %x attributes
// CHECK-NEXT: func.return %1, %2

// -----

// The size of what is folded is bounded.
func.func @main() -> tensor<100000xi32> {
  %0 = xla.constant dense<1> : tensor<i32>
  %1 = xla.iota {iota_dimension = 0} : tensor<100000xi32>
  %2 = xla.negate %1 : tensor<100000xi32>
  func.return %2 : tensor<100000xi32>
}

// CHECK:      func.func @main
// CHECK-NEXT:   %0 = xla.iota
// CHECK-NEXT:   %1 = xla.negate %0
