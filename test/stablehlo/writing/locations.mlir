// RUN: xla-opt %s -t 'stablehlo{debug_info=true}' | filecheck %s
// RUN: xla-opt %s -t stablehlo | filecheck %s --check-prefix=PLAIN

// Locations are printed where they are asked for; what has none is where it stands in the text.

// CHECK-LABEL: func.func public @main
// PLAIN-LABEL: func.func public @main
func.func public @main(%x: tensor<4xf32>, %z: tensor<f32>) -> tensor<f32> {
  // CHECK-NEXT: %0 = stablehlo.sine %x : tensor<4xf32> loc("jit(f)/sin"(callsite("f"("f.py":19:38) at "f.py":20:2)))
  // PLAIN-NEXT: %0 = stablehlo.sine %x : tensor<4xf32>{{$}}
  %0 = stablehlo.sine %x : tensor<4xf32> loc("jit(f)/sin"(callsite("f"("f.py":19:38) at "f.py":20:2)))
  // CHECK-NEXT: %1 = stablehlo.cosine %0 : tensor<4xf32> loc("{{.*}}locations.mlir":13:8)
  %1 = stablehlo.cosine %0 : tensor<4xf32>
  // CHECK-NEXT: %2 = "stablehlo.sort"(%1) <{dimension = 0 : i64, is_stable = false}> ({
  // CHECK:      }) : (tensor<4xf32>) -> tensor<4xf32> loc("outside")
  %2 = "stablehlo.sort"(%1) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %3 = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1> loc("inside")
    stablehlo.return %3 : tensor<i1>
  }) : (tensor<4xf32>) -> tensor<4xf32> loc("outside")
  // CHECK-NEXT: stablehlo.reduce{{.*}} loc(fused<"why">["a", "f.py":1:2])
  %4 = stablehlo.reduce(%2 init: %z) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32> loc(fused<"why">["a", "f.py":1:2])
  return %4 : tensor<f32>
}
