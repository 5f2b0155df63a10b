// RUN: xla-opt %s | filecheck %s
// RUN: xla-opt %s | xla-opt | filecheck %s

// Generic forms: properties in `<{...}>`, as MLIR prints them now, or in `{...}`, as it did before.

// CHECK: builtin.module @m attributes {mhlo.num_partitions = 1 : i32} {
"builtin.module"() <{sym_name = "m"}> ({
  // CHECK-NEXT: func.func public @main(%a: tensor<4x5xf32>, %i: tensor<3x1xi32>, %p: tensor<i1>, %n: tensor<i32>, %s: tensor<f32>) -> tensor<4x5xf32> {
  "func.func"() <{arg_attrs = [{}, {}, {}, {}, {}], function_type = (tensor<4x5xf32>, tensor<3x1xi32>, tensor<i1>, tensor<i32>, tensor<f32>) -> tensor<4x5xf32>, res_attrs = [{}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%a: tensor<4x5xf32>, %i: tensor<3x1xi32>, %p: tensor<i1>, %n: tensor<i32>, %s: tensor<f32>):
    // CHECK-NEXT: xla.add %a, %a : tensor<4x5xf32>
    %0 = "stablehlo.add"(%a, %a) : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
    // CHECK-NEXT: xla.compare %a, %a {direction = GT, comparison_type = FLOAT}
    %1 = "stablehlo.compare"(%a, %a) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x5xi1>
    // CHECK-NEXT: xla.compare %a, %a {direction = LE}
    %2 = "stablehlo.compare"(%a, %a) {comparison_direction = #stablehlo<comparison_direction LE>} : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x5xi1>
    // CHECK-NEXT: xla.transpose %a {dimensions = [1, 0]}
    %3 = "stablehlo.transpose"(%a) <{permutation = array<i64: 1, 0>}> : (tensor<4x5xf32>) -> tensor<5x4xf32>
    // CHECK-NEXT: xla.transpose %a {dimensions = [1, 0]}
    %4 = "stablehlo.transpose"(%a) {permutation = dense<[1, 0]> : tensor<2xi64>} : (tensor<4x5xf32>) -> tensor<5x4xf32>
    // CHECK-NEXT: xla.slice %a {start_indices = [0, 0], limit_indices = [4, 4], strides = [1, 1]}
    %5 = "stablehlo.slice"(%a) {start_indices = dense<0> : tensor<2xi64>, limit_indices = dense<4> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} : (tensor<4x5xf32>) -> tensor<4x4xf32>
    // CHECK-NEXT: xla.gather %a, %i {offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1, slice_sizes = [1, 5], indices_are_sorted = true}
    %6 = "stablehlo.gather"(%a, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = true, slice_sizes = array<i64: 1, 5>}> : (tensor<4x5xf32>, tensor<3x1xi32>) -> tensor<3x5xf32>
    // CHECK-NEXT: xla.dot %a, %{{.*}} {lhs_contracting_dims = [1], rhs_contracting_dims = [0]}
    %7 = "stablehlo.dot_general"(%a, %3) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<4x5xf32>, tensor<5x4xf32>) -> tensor<4x4xf32>
    // CHECK-NEXT: xla.reduce %a, %s {dimensions = [0]} {{.*}} to_apply
    %8 = "stablehlo.reduce"(%a, %s) <{dimensions = array<i64: 0>}> ({
    ^bb0(%u: tensor<f32>, %v: tensor<f32>):
      // CHECK-NEXT: xla.add
      %w = "stablehlo.add"(%u, %v) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%w) : (tensor<f32>) -> ()
    }) : (tensor<4x5xf32>, tensor<f32>) -> tensor<5xf32>
    // CHECK: xla.conditional %p : (tensor<i1>) -> (tensor<f32>, tensor<4x5xf32>) branch () {
    // CHECK-NEXT: xla.return %s, %a : tensor<f32>, tensor<4x5xf32>
    // CHECK-NEXT: } branch () {
    %9:2 = "stablehlo.if"(%p) ({
      "stablehlo.return"(%s, %a) : (tensor<f32>, tensor<4x5xf32>) -> ()
    }, {
      %x = "stablehlo.negate"(%s) : (tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%x, %a) : (tensor<f32>, tensor<4x5xf32>) -> ()
    }) : (tensor<i1>) -> (tensor<f32>, tensor<4x5xf32>)
    // CHECK: xla.conditional %n : (tensor<i32>) -> tensor<f32> branch () {
    %10 = "stablehlo.case"(%n) ({
      stablehlo.return %s : tensor<f32>
    }) : (tensor<i32>) -> tensor<f32>
    // CHECK: xla.while %n, %a
    %11:2 = "stablehlo.while"(%n, %a) ({
    ^bb0(%k: tensor<i32>, %l: tensor<4x5xf32>):
      "stablehlo.return"(%p) : (tensor<i1>) -> ()
    }, {
    ^bb0(%k: tensor<i32>, %l: tensor<4x5xf32>):
      "stablehlo.return"(%k, %l) : (tensor<i32>, tensor<4x5xf32>) -> ()
    }) : (tensor<i32>, tensor<4x5xf32>) -> (tensor<i32>, tensor<4x5xf32>)
    // CHECK: xla.call %{{.*}} {to_apply = @twice} : tensor<4x5xf32>
    %12 = "func.call"(%11#1) <{callee = @twice}> : (tensor<4x5xf32>) -> tensor<4x5xf32>
    "func.return"(%12) : (tensor<4x5xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x5xf32>) -> tensor<4x5xf32>, sym_name = "twice", sym_visibility = "private"}> ({
  ^bb0(%a: tensor<4x5xf32>):
    %0 = "stablehlo.add"(%a, %a) : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
    "func.return"(%0) : (tensor<4x5xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32} : () -> ()
