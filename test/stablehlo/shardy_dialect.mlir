// RUN: xdsl-opt %s | filecheck %s
// RUN: xdsl-opt %s --print-op-generic | xdsl-opt | filecheck %s

// A tool that knows nothing of us reads, verifies and prints Shardy with our universe.

// CHECK: sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @mesh = <["x"=2, "y"=4]>
// CHECK: func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x8xf32> {
  // CHECK-NEXT: %0 = sdy.all_slice [{}, {"y":(1)2}] %a out_sharding=<@mesh, [{"x"}, {"y":(1)2}]> {note} : tensor<8x8xf32>
  %0 = sdy.all_slice [{}, {"y":(1)2}] %a out_sharding=<@mesh, [{"x"}, {"y":(1)2}]> {note} : tensor<8x8xf32>
  // CHECK-NEXT: %1 = sdy.propagation_barrier %0 allowed_direction=FORWARD : tensor<8x8xf32>
  %1 = sdy.propagation_barrier %0 allowed_direction=FORWARD : tensor<8x8xf32>
  // CHECK-NEXT: sdy.sharding_group %1 group_id=3 : tensor<8x8xf32>
  sdy.sharding_group %1 group_id=3 : tensor<8x8xf32>
  // CHECK-NEXT: %2 = sdy.manual_computation(%1) in_shardings=[<@mesh, [{"x"}, {?}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%b: tensor<4x8xf32>) {
  %2 = sdy.manual_computation(%1) in_shardings=[<@mesh, [{"x"}, {?}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%b: tensor<4x8xf32>) {
    // CHECK-NEXT: sdy.return %b : tensor<4x8xf32>
    sdy.return %b : tensor<4x8xf32>
  // CHECK-NEXT: } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  // CHECK-NEXT: %3 = sdy.named_computation<"f">(%2) out_shardings=[<@mesh, [{"x"}, {}]>] (%c: tensor<8x8xf32>) {
  %3 = sdy.named_computation<"f">(%2) out_shardings=[<@mesh, [{"x"}, {}]>] (%c: tensor<8x8xf32>) {
    sdy.return %c : tensor<8x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  // CHECK: %4 = sdy.data_flow_edge %3 sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  %4 = sdy.data_flow_edge %3 sharding=<@mesh, [{"x"}, {}]> : tensor<8x8xf32>
  func.return %4 : tensor<8x8xf32>
}
