// RUN: xla-opt %s -p 'xla-inline{everything=true}' | filecheck %s --check-prefix=INLINED
// RUN: xla-opt %s -p 'xla-inline{everything=true},xla-propagate-shardings,xla-insert-reshards,xla-reshard-to-collectives,xla-outline-equal-parts{inlined_calls=true},xla-partition' | filecheck %s

// Calls of a function that is not inlined otherwise: the first two have arrays that are split alike,
// and become one function again, the parts of whose arrays it takes. The third takes another split.
module attributes {sdy.meshes = {mesh = #sdy.mesh<["x"=2]>}} {
func.func @main(%x: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %y: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}, %z: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) -> (tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  %0 = func.call @layer(%x, %y) : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %1 = func.call @layer(%0, %y) : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %2 = func.call @layer(%z, %y) : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  func.return %1, %2 : tensor<4x8xf32>, tensor<4x8xf32>
}
func.func private @layer(%x: tensor<4x8xf32>, %y: tensor<8x8xf32>) -> tensor<4x8xf32> attributes {no_inline} {
  %0 = xla.dot %x, %y {lhs_contracting_dims = [1], rhs_contracting_dims = [0]} : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %1 = xla.tanh %0 : tensor<4x8xf32>
  func.return %1 : tensor<4x8xf32>
}
}

// INLINED:      xla.dot %x, %y {{.*}}xla.inlined_call = 1 : i64
// INLINED-NEXT: xla.tanh {{.*}}xla.inlined_call = 1 : i64
// INLINED-NEXT: xla.dot {{.*}}xla.inlined_call = 2 : i64

// CHECK:      func.func @main(%x: tensor<2x8xf32>, %y: tensor<8x8xf32>, %z: tensor<4x8xf32>) -> (tensor<2x8xf32>, tensor<4x8xf32>)
// CHECK-NEXT:   %[[a:.*]] = func.call @part_0(%x, %y) : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
// CHECK-NEXT:   %[[b:.*]] = func.call @part_0(%[[a]], %y)
// CHECK-NEXT:   %[[c:.*]] = xla.dot %z, %y
// CHECK-NOT:    xla.inlined_call
// CHECK:      func.func private @part_0(%{{.*}}: tensor<2x8xf32>, %{{.*}}: tensor<8x8xf32>) -> tensor<2x8xf32> attributes {no_inline}
// CHECK-NEXT:   xla.dot
// CHECK-NEXT:   xla.tanh
