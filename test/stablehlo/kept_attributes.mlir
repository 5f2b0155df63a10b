// RUN: xla-opt %s | filecheck %s
// RUN: xla-opt %s | xla-opt | filecheck %s

// RUN: xla-opt %s -t stablehlo | xla-opt | filecheck %s

// What is not interpreted is kept, also attributes of dialects that are not known.

// CHECK: builtin.module @jit_f attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32, x.kept = [#llvm.di_file<"a" in "b">, {of = #other.thing<x<3>>}, #other<b c <1>>, #sdy<sub_axis_info(1)2>, #stablehlo<precision HIGH>], sdy.meshes = {mesh = #sdy.mesh<["x"=2]>}} {
module @jit_f attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32, x.kept = [#llvm.di_file<"a" in "b">, {of = #other.thing<x<3>>}, #other<b c <1>>, #sdy<sub_axis_info(1)2>, #stablehlo<precision HIGH>]} {
  sdy.mesh @mesh = <["x"=2]> {stablehlo.mesh = {axes = [{name = "x", size = 2 : i64}]}}
  // CHECK-NEXT: func.func public @main(%arg0: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %arg1: tensor<4xf32> {jax.buffer_donor = true, tf.aliasing_output = 0 : i32}) -> (tensor<4xf32> {jax.result_info = "result['a']"}) attributes {mhlo.layout_mode = "default"} {
  func.func public @main(%arg0: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}, %arg1: tensor<4xf32> {jax.buffer_donor = true, tf.aliasing_output = 0 : i32}) -> (tensor<4xf32> {jax.result_info = "result['a']"}) attributes {mhlo.layout_mode = "default"} {
    // CHECK-NEXT: xla.add %arg0, %arg1 attributes {mhlo.frontend_attributes = {key = "value"}, mhlo.sharding = #xla.hlo_sharding<{devices=[2]<=[2]}>} : tensor<4xf32>
    %0 = stablehlo.add %arg0, %arg1 {mhlo.frontend_attributes = {key = "value"}, mhlo.sharding = "{devices=[2]<=[2]}"} : tensor<4xf32>
    // CHECK-NEXT: xla.exponential %{{.*}} attributes {xla.result_accuracy = "{tolerance={atol=0,rtol=0.5,ulps=2}}"} : tensor<4xf32>
    %1 = stablehlo.exponential %0 {result_accuracy = #stablehlo.result_accuracy<rtol = 0.5, ulps = 2, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<4xf32>
    // CHECK-NEXT: xla.custom_call %{{.*}} {custom_call_target = "Sharding"} attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<4xf32>
    %2 = sdy.sharding_constraint %1 <@mesh, [{"x"}]> : tensor<4xf32>
    return %2 : tensor<4xf32>
  }
}
