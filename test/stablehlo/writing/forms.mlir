// RUN: xla-opt %s -t stablehlo | filecheck %s

// Programs of StableHLO come out as jaxlib prints them.

// CHECK: module {
module {
  // CHECK-NEXT: func.func @f(%arg0: tensor<4xf32>, %arg1: tensor<i1>, %arg2: tensor<i32>, %arg3: tensor<f32>, %arg4: tensor<2x3xf32>, %arg5: tensor<1x8x8x3xf32>, %arg6: tensor<3x3x3x4xf32>, %arg7: tensor<4xcomplex<f32>>) -> (tensor<4xf32> {jax.result_info = "result"}) {
  func.func @f(%arg0: tensor<4xf32>, %arg1: tensor<i1>, %arg2: tensor<i32>, %arg3: tensor<f32>, %arg4: tensor<2x3xf32>, %arg5: tensor<1x8x8x3xf32>, %arg6: tensor<3x3x3x4xf32>, %arg7: tensor<4xcomplex<f32>>) -> (tensor<4xf32> {jax.result_info = "result"}) {
    // CHECK-NEXT: %cst = stablehlo.constant dense<[1.000000e+00, 1.000000e-01, 3.14159274, 0x7FC00000]> : tensor<4xf32>
    %cst = stablehlo.constant dense<[1.000000e+00, 1.000000e-01, 3.14159274, 0x7FC00000]> : tensor<4xf32>
    // CHECK-NEXT: %cst0 = stablehlo.constant dense<-0.000000e+00> : tensor<4xf32>
    %cst0 = stablehlo.constant dense<-0.000000e+00> : tensor<4xf32>
    // CHECK-NEXT: %c = stablehlo.constant dense<{{\[\[}}true, false], [false, false]]> : tensor<2x2xi1>
    %c = stablehlo.constant dense<[[true, false], [false, false]]> : tensor<2x2xi1>
    // CHECK-NEXT: %c1 = stablehlo.constant dense<[-8, 7]> : tensor<2xi4>
    %c1 = stablehlo.constant dense<[-8, 7]> : tensor<2xi4>
    // CHECK-NEXT: %cst2 = stablehlo.constant dense<[(1.000000e+00,-2.000000e+00), (0.000000e+00,0x7F800000)]> : tensor<2xcomplex<f32>>
    %cst2 = stablehlo.constant dense<[(1.000000e+00,-2.000000e+00), (0.000000e+00,0x7F800000)]> : tensor<2xcomplex<f32>>
    // CHECK-NEXT: %v0 = stablehlo.iota dim = 1 : tensor<2x3xui8>
    %v0 = stablehlo.iota dim = 1 : tensor<2x3xui8>
    // CHECK-NEXT: %v1 = stablehlo.compare LT, %arg0, %cst, TOTALORDER : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %v1 = stablehlo.compare LT, %arg0, %cst, TOTALORDER : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    // CHECK-NEXT: %v2 = stablehlo.select %v1, %arg0, %cst : tensor<4xi1>, tensor<4xf32>
    %v2 = stablehlo.select %v1, %arg0, %cst : tensor<4xi1>, tensor<4xf32>
    // CHECK-NEXT: %v3 = stablehlo.clamp %arg3, %arg0, %arg3 : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    %v3 = stablehlo.clamp %arg3, %arg0, %arg3 : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    // CHECK-NEXT: %v4 = stablehlo.complex %arg0, %arg0 : tensor<4xcomplex<f32>>
    %v4 = stablehlo.complex %arg0, %arg0 : tensor<4xcomplex<f32>>
    // CHECK-NEXT: %v5 = stablehlo.reduce_precision %arg0, format = e5m2 : tensor<4xf32>
    %v5 = stablehlo.reduce_precision %arg0, format = e5m2 : tensor<4xf32>
    // CHECK-NEXT: %v6 = chlo.erf %arg0 : tensor<4xf32> -> tensor<4xf32>
    %v6 = chlo.erf %arg0 : tensor<4xf32> -> tensor<4xf32>
    // CHECK-NEXT: %v7 = stablehlo.broadcast_in_dim %arg3, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    %v7 = stablehlo.broadcast_in_dim %arg3, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
    // CHECK-NEXT: %v8 = stablehlo.transpose %arg4, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
    %v8 = stablehlo.transpose %arg4, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
    // CHECK-NEXT: %v9 = stablehlo.pad %arg4, %arg3, low = [-1, 1], high = [2, 0], interior = [0, 2] : (tensor<2x3xf32>, tensor<f32>) -> tensor<3x8xf32>
    %v9 = stablehlo.pad %arg4, %arg3, low = [-1, 1], high = [2, 0], interior = [0, 2] : (tensor<2x3xf32>, tensor<f32>) -> tensor<3x8xf32>
    // CHECK-NEXT: %v10 = stablehlo.slice %arg4 [0:2, 0:3:2] : (tensor<2x3xf32>) -> tensor<2x2xf32>
    %v10 = stablehlo.slice %arg4 [0:2, 0:3:2] : (tensor<2x3xf32>) -> tensor<2x2xf32>
    // CHECK-NEXT: %v11 = stablehlo.reverse %arg4, dims = [0, 1] : tensor<2x3xf32>
    %v11 = stablehlo.reverse %arg4, dims = [0, 1] : tensor<2x3xf32>
    // CHECK-NEXT: %v12 = stablehlo.concatenate %arg4, %arg4, dim = 1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
    %v12 = stablehlo.concatenate %arg4, %arg4, dim = 1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
    // CHECK-NEXT: %v13 = stablehlo.dynamic_slice %arg0, %arg2, sizes = [2] : (tensor<4xf32>, tensor<i32>) -> tensor<2xf32>
    %v13 = stablehlo.dynamic_slice %arg0, %arg2, sizes = [2] : (tensor<4xf32>, tensor<i32>) -> tensor<2xf32>
    // CHECK-NEXT: %v14 = stablehlo.dynamic_update_slice %arg0, %v13, %arg2 : (tensor<4xf32>, tensor<2xf32>, tensor<i32>) -> tensor<4xf32>
    %v14 = stablehlo.dynamic_update_slice %arg0, %v13, %arg2 : (tensor<4xf32>, tensor<2xf32>, tensor<i32>) -> tensor<4xf32>
    // CHECK-NEXT: %v15 = stablehlo.dot_general %arg4, %v8, contracting_dims = [1] x [0], precision = [HIGH, DEFAULT] : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
    %v15 = stablehlo.dot_general %arg4, %v8, contracting_dims = [1] x [0], precision = [HIGH, DEFAULT] : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
    // CHECK-NEXT: %v16 = stablehlo.dot_general %arg4, %arg4, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2xf32>
    %v16 = stablehlo.dot_general %arg4, %arg4, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2xf32>
    // CHECK-NEXT: %v17 = stablehlo.convolution(%arg5, %arg6) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 1], pad = {{\[\[}}1, 1], [0, 2]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x3xf32>, tensor<3x3x3x4xf32>) -> tensor<1x4x8x4xf32>
    %v17 = stablehlo.convolution(%arg5, %arg6) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 1], pad = [[1, 1], [0, 2]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x3xf32>, tensor<3x3x3x4xf32>) -> tensor<1x4x8x4xf32>
    // CHECK-NEXT: %v18 = stablehlo.fft %arg7, type = IFFT, length = [4] : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
    %v18 = stablehlo.fft %arg7, type = IFFT, length = [4] : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
    // CHECK-NEXT: %v19 = "stablehlo.if"(%arg1) ({
    %v19 = "stablehlo.if"(%arg1) ({
      // CHECK-NEXT: stablehlo.return %arg0 : tensor<4xf32>
      stablehlo.return %arg0 : tensor<4xf32>
    // CHECK-NEXT: }, {
    }, {
      // CHECK-NEXT: stablehlo.return %cst : tensor<4xf32>
      stablehlo.return %cst : tensor<4xf32>
    // CHECK-NEXT: }) : (tensor<i1>) -> tensor<4xf32>
    }) : (tensor<i1>) -> tensor<4xf32>
    // CHECK-NEXT: %v20 = "stablehlo.case"(%arg2) ({
    %v20 = "stablehlo.case"(%arg2) ({
      // CHECK-NEXT: stablehlo.return %arg0 : tensor<4xf32>
      stablehlo.return %arg0 : tensor<4xf32>
    // CHECK-NEXT: }, {
    }, {
      // CHECK-NEXT: stablehlo.return %v19 : tensor<4xf32>
      stablehlo.return %v19 : tensor<4xf32>
    // CHECK-NEXT: }, {
    }, {
      // CHECK-NEXT: stablehlo.return %v19 : tensor<4xf32>
      stablehlo.return %v19 : tensor<4xf32>
    // CHECK-NEXT: }) : (tensor<i32>) -> tensor<4xf32>
    }) : (tensor<i32>) -> tensor<4xf32>
    // CHECK-NEXT: %v21 = stablehlo.reduce(%arg0 init: %arg3) applies stablehlo.maximum across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    %v21 = stablehlo.reduce(%arg0 init: %arg3) applies stablehlo.maximum across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    // CHECK-NEXT: %v22:2 = stablehlo.reduce(%arg0 init: %arg3), (%arg0 init: %v21) across dimensions = [0] : (tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
    %v22:2 = stablehlo.reduce(%arg0 init: %arg3), (%arg0 init: %v21) across dimensions = [0] : (tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
     // CHECK-NEXT: reducer(%arg8: tensor<f32>, %arg10: tensor<f32>) (%arg9: tensor<f32>, %arg11: tensor<f32>) {
     reducer(%arg8: tensor<f32>, %arg10: tensor<f32>) (%arg9: tensor<f32>, %arg11: tensor<f32>) {
      // CHECK-NEXT: %total = stablehlo.add %arg8, %arg10 : tensor<f32>
      %total = stablehlo.add %arg8, %arg10 : tensor<f32>
      // CHECK-NEXT: %product = stablehlo.multiply %arg9, %arg11 : tensor<f32>
      %product = stablehlo.multiply %arg9, %arg11 : tensor<f32>
      // CHECK-NEXT: stablehlo.return %total, %product : tensor<f32>, tensor<f32>
      stablehlo.return %total, %product : tensor<f32>, tensor<f32>
    // CHECK-NEXT: }
    }
    // CHECK-NEXT: %v23:2 = stablehlo.while(%iterArg = %arg2, %iterArg4 = %arg0) : tensor<i32>, tensor<4xf32> attributes {my.note = "kept"}
    %v23:2 = stablehlo.while(%iterArg = %arg2, %iterArg4 = %arg0) : tensor<i32>, tensor<4xf32> attributes {my.note = "kept"}
    // CHECK-NEXT: cond {
    cond {
      // CHECK-NEXT: %goes_on = stablehlo.compare LT, %iterArg, %arg2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %goes_on = stablehlo.compare LT, %iterArg, %arg2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      // CHECK-NEXT: stablehlo.return %goes_on : tensor<i1>
      stablehlo.return %goes_on : tensor<i1>
    // CHECK-NEXT: } do {
    } do {
      // CHECK-NEXT: %next = func.call @g(%iterArg4) : (tensor<4xf32>) -> tensor<4xf32>
      %next = func.call @g(%iterArg4) : (tensor<4xf32>) -> tensor<4xf32>
      // CHECK-NEXT: stablehlo.return %iterArg, %next : tensor<i32>, tensor<4xf32>
      stablehlo.return %iterArg, %next : tensor<i32>, tensor<4xf32>
    // CHECK-NEXT: }
    }
    // CHECK-NEXT: %v24 = "stablehlo.sort"(%v23#1) <{dimension = 0 : i64, is_stable = true}> ({
    %v24 = "stablehlo.sort"(%v23#1) <{dimension = 0 : i64, is_stable = true}> ({
    // CHECK-NEXT: ^bb0(%left: tensor<f32>, %right: tensor<f32>):
    ^bb0(%left: tensor<f32>, %right: tensor<f32>):
      // CHECK-NEXT: %before = stablehlo.compare LT, %left, %right, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %before = stablehlo.compare LT, %left, %right, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      // CHECK-NEXT: stablehlo.return %before : tensor<i1>
      stablehlo.return %before : tensor<i1>
    // CHECK-NEXT: }) : (tensor<4xf32>) -> tensor<4xf32>
    }) : (tensor<4xf32>) -> tensor<4xf32>
    // CHECK-NEXT: %v25 = "stablehlo.gather"(%arg0, %arg2) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0]>, indices_are_sorted = false, slice_sizes = array<i64: 1>}> : (tensor<4xf32>, tensor<i32>) -> tensor<f32>
    %v25 = "stablehlo.gather"(%arg0, %arg2) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0]>, indices_are_sorted = false, slice_sizes = array<i64: 1>}> : (tensor<4xf32>, tensor<i32>) -> tensor<f32>
    // CHECK-NEXT: %values, %indices = chlo.top_k(%arg0, k = 2) : tensor<4xf32> -> (tensor<2xf32>, tensor<2xi32>)
    %values, %indices = chlo.top_k(%arg0, k = 2) : tensor<4xf32> -> (tensor<2xf32>, tensor<2xi32>)
    // CHECK-NEXT: %v26:2 = stablehlo.optimization_barrier %arg0, %v19 : tensor<4xf32>, tensor<4xf32>
    %v26:2 = stablehlo.optimization_barrier %arg0, %v19 : tensor<4xf32>, tensor<4xf32>
    // CHECK-NEXT: %v27 = stablehlo.create_token : !stablehlo.token
    %v27 = stablehlo.create_token : !stablehlo.token
    // CHECK-NEXT: %v28 = stablehlo.after_all %v27, %v27 : !stablehlo.token
    %v28 = stablehlo.after_all %v27, %v27 : !stablehlo.token
    // CHECK-NEXT: %v29 = call @g(%v26#1) : (tensor<4xf32>) -> tensor<4xf32>
    %v29 = call @g(%v26#1) : (tensor<4xf32>) -> tensor<4xf32>
    // CHECK-NEXT: %v30 = stablehlo.custom_call @foo(%arg0) {api_version = 4 : i32, backend_config = {a = 1 : i32}, operand_layouts = [dense<0> : tensor<1xindex>], result_layouts = [dense<0> : tensor<1xindex>]} : (tensor<4xf32>) -> tensor<4xf32>
    %v30 = stablehlo.custom_call @foo(%arg0) {api_version = 4 : i32, backend_config = {a = 1 : i32}, operand_layouts = [dense<0> : tensor<1xindex>], result_layouts = [dense<0> : tensor<1xindex>]} : (tensor<4xf32>) -> tensor<4xf32>
    // CHECK-NEXT: %v31 = stablehlo.custom_call @"a b"(%arg0) {backend_config = "x\22y", called_computations = [@g], has_side_effect = true, output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]} : (tensor<4xf32>) -> tensor<4xf32>
    %v31 = stablehlo.custom_call @"a b"(%arg0) {backend_config = "x\22y", called_computations = [@g], has_side_effect = true, output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]} : (tensor<4xf32>) -> tensor<4xf32>
    // CHECK-NEXT: %v32 = stablehlo.composite "my.op" %arg0 {composite_attributes = {n = 1 : i32, s = "text"}, decomposition = @g, version = 1 : i32} : (tensor<4xf32>) -> tensor<4xf32>
    %v32 = stablehlo.composite "my.op" %arg0 {composite_attributes = {n = 1 : i32, s = "text"}, decomposition = @g, version = 1 : i32} : (tensor<4xf32>) -> tensor<4xf32>
    // CHECK-NEXT: %c3 = stablehlo.constant dense<4> : tensor<1xi64>
    %c3 = stablehlo.constant dense<4> : tensor<1xi64>
    // CHECK-NEXT: %v33 = stablehlo.rng %arg3, %arg3, %c3, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<4xf32>
    %v33 = stablehlo.rng %arg3, %arg3, %c3, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<4xf32>
    // CHECK-NEXT: return %v30 : tensor<4xf32>
    return %v30 : tensor<4xf32>
  // CHECK-NEXT: }
  }
  // CHECK-NEXT: func.func private @g(%arg0: tensor<4xf32>) -> tensor<4xf32> {
  func.func private @g(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    // CHECK-NEXT: return %arg0 : tensor<4xf32>
    return %arg0 : tensor<4xf32>
  // CHECK-NEXT: }
  }
// CHECK-NEXT: }
}
