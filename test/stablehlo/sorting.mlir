// RUN: xla-opt %s | filecheck %s --check-prefix=XLA
// RUN: xla-opt %s -t stablehlo | filecheck %s --check-prefix=STABLEHLO

// XLA-LABEL: @sorting(
// STABLEHLO-LABEL: @sorting(
func.func @sorting(%x: tensor<4x5xf32>, %i: tensor<4x5xi32>) {
  // XLA: xla.sort %x, %i {dimension = 1, is_stable = true} : (tensor<4x5xf32>, tensor<4x5xi32>) -> (tensor<4x5xf32>, tensor<4x5xi32>) to_apply (%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>) {
  // STABLEHLO: "stablehlo.sort"(%x, %i) <{dimension = 1 : i64, is_stable = true}> ({
  %0:2 = "stablehlo.sort"(%x, %i) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
    %1 = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<4x5xf32>, tensor<4x5xi32>) -> (tensor<4x5xf32>, tensor<4x5xi32>)
  // XLA: xla.topk %x {k = 2} : (tensor<4x5xf32>) -> (tensor<4x2xf32>, tensor<4x2xi32>)
  // STABLEHLO: chlo.top_k(%x, k = 2) : tensor<4x5xf32> -> (tensor<4x2xf32>, tensor<4x2xi32>)
  %2:2 = chlo.top_k(%x, k = 2) : tensor<4x5xf32> -> (tensor<4x2xf32>, tensor<4x2xi32>)
  // XLA: xla.negate %x : tensor<4x5xf32>
  // STABLEHLO: stablehlo.negate %x : tensor<4x5xf32>
  %3 = stablehlo.negate %x : tensor<4x5xf32>
  // XLA: xla.topk %{{.*}} {k = 0} : (tensor<4x5xf32>) -> (tensor<4x0xf32>, tensor<4x0xi32>)
  // STABLEHLO: chlo.top_k(%{{.*}}, k = 0) : tensor<4x5xf32> -> (tensor<4x0xf32>, tensor<4x0xi32>)
  %4:2 = chlo.top_k(%3, k = 0) : tensor<4x5xf32> -> (tensor<4x0xf32>, tensor<4x0xi32>)
  // XLA: xla.negate %{{.*}} : tensor<4x0xf32>
  // STABLEHLO: stablehlo.negate %{{.*}}#0 : tensor<4x0xf32>
  %5 = stablehlo.negate %4#0 : tensor<4x0xf32>
  return
}
