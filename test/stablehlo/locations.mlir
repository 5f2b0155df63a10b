// RUN: xla-opt %s --print-debuginfo | filecheck %s

// Locations that the text gives are kept; aliases may be defined after their use, and ranges are
// reduced to their start. Everything else is located in the text.

#loc = loc(unknown)
#loc1 = loc("x")
module @jit_f {
  // CHECK: func.func public @main
  func.func public @main(%arg0: tensor<4xf32> loc("x")) -> tensor<4xf32> {
    // CHECK-NEXT: xla.sine %arg0 : tensor<4xf32> loc("jit(f)/sin"(callsite("f"("f.py":19:38) at "f.py":20:2)))
    %0 = stablehlo.sine %arg0 : tensor<4xf32> loc(#loc5)
    // CHECK-NEXT: xla.cosine %0 : tensor<4xf32> loc("{{.*}}locations.mlir":14:10)
    %1 = stablehlo.cosine %0 : tensor<4xf32>
    // CHECK-NEXT: xla.negate %1 : tensor<4xf32> loc(fused<"why">["a", "f.py":1:2])
    %2 = stablehlo.negate %1 : tensor<4xf32> loc(fused<"why">["a", "f.py":1:2 to 3:4])
    return %2 : tensor<4xf32> loc(#loc)
  } loc(#loc)

  // What a part of a program computes has locations of its own, in it and around it.
  // CHECK: func.func @parts
  sdy.mesh @mesh = <["x"=2]>
  func.func @parts(%x: tensor<4xf32> loc("x")) -> tensor<4xf32> {
    // CHECK: GlobalToLocalShape{{.*}} loc("around")
    // CHECK-NEXT: xla.tanh {{.*}} loc("inside")
    // CHECK-NEXT: LocalToGlobalShape{{.*}} loc("around")
    %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%part: tensor<2xf32> loc("part"("f.py":3:4))) {
      %1 = stablehlo.tanh %part : tensor<2xf32> loc("inside")
      sdy.return %1 : tensor<2xf32> loc("end")
    } : (tensor<4xf32>) -> tensor<4xf32> loc("around")
    return %0 : tensor<4xf32> loc(#loc)
  } loc(#loc)
} loc(#loc)
#loc2 = loc("f.py":19:38 to :48)
#loc3 = loc("f"(#loc2))
#loc4 = loc(callsite(#loc3 at "f.py":20:2))
#loc5 = loc("jit(f)/sin"(#loc4))
