// RUN: xla-opt %s --split-input-file -p xla-insert-reshards,xla-partition | filecheck %s
// RUN: xla-opt %s --split-input-file -p xla-insert-reshards -o /dev/null 2>&1 | filecheck %s --check-prefix=WARNING

// Matrices of a batch are independent; nothing of the rule, whose sizes are those of the whole, is left.
// CHECK-LABEL: func.func @main(%a: tensor<4x3x3xf32>, %v: tensor<3xf32>) -> tensor<4x3xf32>
// CHECK-NEXT: %[[SOLVED:.*]] = xla.custom_call %a, %v {custom_call_target = "solve"} : (tensor<4x3x3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
// CHECK-NEXT: func.return %[[SOLVED]]
module attributes {sdy.meshes = {mesh = #sdy.mesh<["x"=2]>}} {
  func.func @main(%a: tensor<8x3x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}, {}]>}, %v: tensor<3xf32>)
      -> (tensor<8x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
    %0 = xla.custom_call %a, %v {custom_call_target = "solve"} attributes {
        sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>,
        sdy.sharding_rule = #sdy.op_sharding_rule<([i, j, k], [l])->([i, m]) {i=8, j=3, k=3, l=3, m=3}, custom>
      } : (tensor<8x3x3xf32>, tensor<3xf32>) -> tensor<8x3xf32>
    func.return %0 : tensor<8x3xf32>
  }
}

// -----

// Along a reduction, each device has terms of a sum.
// CHECK-LABEL: func.func @main(%a: tensor<4x6xf32>) -> tensor<6xf32>
// CHECK-NEXT: %[[TERMS:.*]] = xla.custom_call %a {custom_call_target = "sums"} : (tensor<4x6xf32>) -> tensor<6xf32>
// CHECK-NEXT: %[[SUM:.*]] = xla.all_reduce %[[TERMS]]
// CHECK: xla.add
// CHECK: func.return %[[SUM]]
module attributes {sdy.meshes = {mesh = #sdy.mesh<["x"=2]>}} {
  func.func @main(%a: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<6xf32> {
    %0 = xla.custom_call %a {custom_call_target = "sums"} attributes {
        sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([j]) {i=8, j=6} reduction={i}, custom>
      } : (tensor<8x6xf32>) -> tensor<6xf32>
    func.return %0 : tensor<6xf32>
  }
}

// -----

// What it makes of padding nobody knows: 7 rows over 2 devices are gathered.
// WARNING: xla.custom_call at {{.*}} needs all of dimension 0 of operand 0: a device sends 96 bytes to gather it
// CHECK-LABEL: func.func @main(%a: tensor<4x6xf32>) -> tensor<4x6xf32>
// CHECK: xla.custom_call %{{.*}} {custom_call_target = "f"} : tensor<7x6xf32>
module attributes {sdy.meshes = {mesh = #sdy.mesh<["x"=2]>}} {
  func.func @main(%a: tensor<7x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
      -> (tensor<7x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
    %0 = xla.custom_call %a {custom_call_target = "f"} attributes {
        sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=7, j=6}, custom>
      } : tensor<7x6xf32>
    func.return %0 : tensor<7x6xf32>
  }
}

// -----

// A second result without the factor would be a part of what is asked for; so would one that no operand has.
// CHECK-LABEL: func.func @main(%a: tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<6xf32>)
// CHECK: xla.custom_call %{{.*}} {custom_call_target = "f"} : (tensor<8x6xf32>) -> (tensor<8x6xf32>, tensor<6xf32>)
module attributes {sdy.meshes = {mesh = #sdy.mesh<["x"=2]>}} {
  func.func @main(%a: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
      -> (tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, tensor<6xf32>) {
    %0:2 = xla.custom_call %a {custom_call_target = "f"} attributes {
        sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, k], [l]) {i=8, j=6, k=6, l=6}, custom>
      } : (tensor<8x6xf32>) -> (tensor<8x6xf32>, tensor<6xf32>)
    func.return %0#0, %0#1 : tensor<8x6xf32>, tensor<6xf32>
  }
}

// -----

// Neither along a factor that is needed whole, nor along one that elements move within.
// CHECK-LABEL: func.func @main(%a: tensor<4x6xf32>, %b: tensor<8x3xf32>)
// CHECK: xla.custom_call %{{.*}}, %{{.*}} {custom_call_target = "f"} : tensor<8x6xf32>
module attributes {sdy.meshes = {mesh = #sdy.mesh<["x"=2]>}} {
  func.func @main(
      %a: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
      %b: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}]>}) -> tensor<8x6xf32> {
    %0 = xla.custom_call %a, %b {custom_call_target = "f"} attributes {
        sdy.sharding_rule = #sdy.op_sharding_rule<([i, j], [i, j])->([i, j]) {i=8, j=6} need_replication={i} permutation={j}, custom>
      } : (tensor<8x6xf32>, tensor<8x6xf32>) -> tensor<8x6xf32>
    func.return %0 : tensor<8x6xf32>
  }
}

// -----

// A call without results, or with a token, has no partial ones.
// CHECK-LABEL: func.func @main(%a: tensor<4x6xf32>)
// CHECK: xla.custom_call %{{.*}} {custom_call_target = "log", custom_call_has_side_effect = true} : (tensor<8x6xf32>) -> ()
// CHECK: xla.custom_call %{{.*}} {custom_call_target = "tell"} : (tensor<8x6xf32>) -> !xla.token
module attributes {sdy.meshes = {mesh = #sdy.mesh<["x"=2]>}} {
  func.func @main(%a: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>})
      -> (tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
    xla.custom_call %a {custom_call_target = "log", custom_call_has_side_effect = true} : (tensor<8x6xf32>) -> ()
    %token = xla.custom_call %a {custom_call_target = "tell"} : (tensor<8x6xf32>) -> !xla.token
    func.return %a : tensor<8x6xf32>
  }
}
