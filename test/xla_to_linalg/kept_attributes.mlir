// RUN: xla-opt %s | filecheck %s --check-prefix=XLA
// RUN: xla-opt %s -p convert-xla-to-linalg | filecheck %s

// What importers keep stays at the xla level, and says nothing to the levels below.
// XLA:   builtin.module @m attributes {xla.is_scheduled, mhlo.num_replicas = 1 : i32, my.note = "kept"} {
// XLA:     func.func @main(%x: tensor<2xf32> {xla.position = 3 : i64, my.argument}, %y: tensor<2xf32> {xla.metadata = {op_name = "y"}}) -> (tensor<2xf32> {jax.result_info = "r"}) attributes {xla.computation = "main.5"} {
// CHECK: builtin.module @m attributes {my.note = "kept"} {
// CHECK:   func.func @main(%x: tensor<2xf32> {my.argument}, %y: tensor<2xf32>) -> tensor<2xf32> {
builtin.module @m attributes {xla.is_scheduled, mhlo.num_replicas = 1 : i32, my.note = "kept"} {
  func.func @main(%x: tensor<2xf32> {xla.position = 3 : i64, my.argument}, %y: tensor<2xf32> {xla.metadata = {op_name = "y"}}) -> (tensor<2xf32> {jax.result_info = "r"}) attributes {xla.computation = "main.5"} {
    %0 = xla.add %x, %y attributes {xla.metadata = {op_name = "sum"}} : tensor<2xf32>
    func.return %0 : tensor<2xf32>
  }
}
