// RUN: xla-opt %s | filecheck %s
// RUN: xla-opt %s | xla-opt | filecheck %s

// The custom form of every operation that is read.

// CHECK-LABEL: func.func public @elementwise
func.func public @elementwise(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>, %i: tensor<4xi32>,
                              %p: tensor<2x3xi1>, %c: tensor<5xcomplex<f32>>, %s: tensor<f32>) {
  // CHECK-NEXT: xla.add %a, %b : tensor<2x3xf32>
  %0 = stablehlo.add %a, %b : tensor<2x3xf32>
  // CHECK-NEXT: xla.shift_right_arithmetic %i, %i : tensor<4xi32>
  %1 = stablehlo.shift_right_arithmetic %i, %i : tensor<4xi32>
  // CHECK-NEXT: xla.is_finite %a : (tensor<2x3xf32>) -> tensor<2x3xi1>
  %2 = stablehlo.is_finite %a : (tensor<2x3xf32>) -> tensor<2x3xi1>
  // CHECK-NEXT: xla.abs %c : (tensor<5xcomplex<f32>>) -> tensor<5xf32>
  %3 = stablehlo.abs %c : (tensor<5xcomplex<f32>>) -> tensor<5xf32>
  // CHECK-NEXT: xla.complex %{{.*}}, %{{.*}} : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xcomplex<f32>>
  %4 = stablehlo.complex %3, %3 : tensor<5xcomplex<f32>>
  // CHECK-NEXT: xla.select %p, %a, %b : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %5 = stablehlo.select %p, %a, %b : tensor<2x3xi1>, tensor<2x3xf32>
  // CHECK-NEXT: xla.clamp %s, %a, %s : (tensor<f32>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %6 = stablehlo.clamp %s, %a, %s : (tensor<f32>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  // CHECK-NEXT: xla.compare %a, %b {direction = LT, comparison_type = FLOAT}
  %7 = stablehlo.compare LT, %a, %b, FLOAT : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  // CHECK-NEXT: xla.compare %a, %b {direction = NE} :
  %8 = stablehlo.compare NE, %a, %b : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  // CHECK-NEXT: xla.compare %a, %b {direction = GE} :
  %9 = stablehlo.compare GE, %a, %b, NOTYPE : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  // CHECK-NEXT: xla.convert %i : (tensor<4xi32>) -> tensor<4xbf16>
  %10 = stablehlo.convert %i : (tensor<4xi32>) -> tensor<4xbf16>
  // CHECK-NEXT: xla.bitcast_convert %i : (tensor<4xi32>) -> tensor<4x4xui8>
  %11 = stablehlo.bitcast_convert %i : (tensor<4xi32>) -> tensor<4x4xui8>
  // CHECK-NEXT: xla.multiply %a, %a : tensor<2x3xf32>
  %12 = chlo.square %a : tensor<2x3xf32> -> tensor<2x3xf32>
  // CHECK-NEXT: xla.erf %a : tensor<2x3xf32>
  %13 = chlo.erf %a : tensor<2x3xf32> -> tensor<2x3xf32>
  return
}

// CHECK-LABEL: func.func @data_movement
func.func @data_movement(%a: tensor<2x3xf32>, %b: tensor<2x5xf32>, %v: tensor<3xf32>,
                         %s: tensor<f32>, %i: tensor<i32>) {
  // CHECK-NEXT: xla.reshape %a : (tensor<2x3xf32>) -> tensor<6xf32>
  %0 = stablehlo.reshape %a : (tensor<2x3xf32>) -> tensor<6xf32>
  // CHECK-NEXT: xla.broadcast %v {dimensions = [1]} : (tensor<3xf32>) -> tensor<2x3xf32>
  %1 = stablehlo.broadcast_in_dim %v, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: xla.broadcast %a {dimensions = [2, 3]} : (tensor<2x3xf32>) -> tensor<4x1x2x3xf32>
  %2 = stablehlo.broadcast %a, sizes = [4, 1] : (tensor<2x3xf32>) -> tensor<4x1x2x3xf32>
  // CHECK-NEXT: xla.transpose %a {dimensions = [1, 0]} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %3 = stablehlo.transpose %a, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  // CHECK-NEXT: xla.reverse %a {dimensions = [0, 1]} : tensor<2x3xf32>
  %4 = stablehlo.reverse %a, dims = [0, 1] : tensor<2x3xf32>
  // CHECK-NEXT: xla.slice %b {start_indices = [0, 1], limit_indices = [2, 5], strides = [1, 2]}
  %5 = stablehlo.slice %b [0:2, 1:5:2] : (tensor<2x5xf32>) -> tensor<2x2xf32>
  // CHECK-NEXT: xla.slice %s {start_indices = [], limit_indices = [], strides = []} : tensor<f32>
  %6 = stablehlo.slice %s [] : (tensor<f32>) -> tensor<f32>
  // CHECK-NEXT: xla.concatenate %a, %b {dimension = 1}
  %7 = stablehlo.concatenate %a, %b, dim = 1 : (tensor<2x3xf32>, tensor<2x5xf32>) -> tensor<2x8xf32>
  // CHECK-NEXT: xla.pad %a, %s {edge_padding_low = [-1, 1], edge_padding_high = [2, 0], interior_padding = [0, 2]}
  %8 = stablehlo.pad %a, %s, low = [-1, 1], high = [2, 0], interior = [0, 2] : (tensor<2x3xf32>, tensor<f32>) -> tensor<3x8xf32>
  // CHECK-NEXT: xla.dynamic_slice %a, %i, %i {dynamic_slice_sizes = [1, 2]}
  %9 = stablehlo.dynamic_slice %a, %i, %i, sizes = [1, 2] : (tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
  // CHECK-NEXT: xla.dynamic_update_slice %a, %{{.*}}, %i, %i
  %10 = stablehlo.dynamic_update_slice %a, %9, %i, %i : (tensor<2x3xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
  // CHECK-NEXT: xla.iota {iota_dimension = 1} : tensor<2x3xui8>
  %11 = stablehlo.iota dim = 1 : tensor<2x3xui8>
  return
}

// `xla.broadcast` stretches no dimension of size 1: they are dropped before.
// CHECK-LABEL: func.func @stretched
func.func @stretched(%a: tensor<1x3x1xf32>, %b: tensor<1xf32>) {
  // CHECK-NEXT: %[[R:.*]] = xla.reshape %a : (tensor<1x3x1xf32>) -> tensor<3x1xf32>
  // CHECK-NEXT: xla.broadcast %[[R]] {dimensions = [2, 3]} : (tensor<3x1xf32>) -> tensor<4x5x3x1xf32>
  %0 = stablehlo.broadcast_in_dim %a, dims = [1, 2, 3] : (tensor<1x3x1xf32>) -> tensor<4x5x3x1xf32>
  // CHECK-NEXT: %[[S:.*]] = xla.reshape %b : (tensor<1xf32>) -> tensor<f32>
  // CHECK-NEXT: xla.broadcast %[[S]] {{.*}}: (tensor<f32>) -> tensor<0xf32>
  %1 = stablehlo.broadcast_in_dim %b, dims = [0] : (tensor<1xf32>) -> tensor<0xf32>
  // CHECK-NEXT: xla.broadcast %b {dimensions = [1]} : (tensor<1xf32>) -> tensor<2x1xf32>
  %2 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<1xf32>) -> tensor<2x1xf32>
  return
}

// CHECK-LABEL: func.func @contractions
func.func @contractions(%a: tensor<2x3x4xf32>, %b: tensor<2x4x5xf32>, %v: tensor<4xf32>) {
  // CHECK-NEXT: xla.dot %a, %b {lhs_batch_dims = [0], lhs_contracting_dims = [2], rhs_batch_dims = [0], rhs_contracting_dims = [1]} : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
  // CHECK-NEXT: xla.dot %v, %v {{.*}}attributes {xla.operand_precision = "{highest,default}"}
  %1 = stablehlo.dot_general %v, %v, contracting_dims = [0] x [0], precision = [HIGHEST, DEFAULT] : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  // CHECK-NEXT: xla.dot %v, %v {{.*}}attributes {xla.algorithm = "dot_bf16_bf16_f32_x3"}
  %2 = stablehlo.dot_general %v, %v, contracting_dims = [0] x [0], algorithm = <lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 3, allow_imprecise_accumulation = false> : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  // CHECK-NEXT: xla.dot %v, %v : (tensor<4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  %3 = stablehlo.dot_general %v, %v, contracting_dims = [] x [] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  // CHECK-NEXT: xla.dot %v, %v {lhs_contracting_dims = [0], rhs_contracting_dims = [0]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  %4 = stablehlo.dot %v, %v : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  return
}

// CHECK-LABEL: func.func @reductions
func.func @reductions(%a: tensor<4x5xf32>, %n: tensor<4x5xi32>, %x: tensor<f32>, %i: tensor<i32>) {
  // CHECK-NEXT: xla.reduce %a, %x {dimensions = [1]} {{.*}} to_apply (%[[A:.*]]: tensor<f32>, %[[B:.*]]: tensor<f32>) {
  // CHECK-NEXT:   %[[C:.*]] = xla.maximum %[[A]], %[[B]] : tensor<f32>
  // CHECK-NEXT:   xla.return %[[C]] : tensor<f32>
  // CHECK-NEXT: }
  %0 = stablehlo.reduce(%a init: %x) applies stablehlo.maximum across dimensions = [1] : (tensor<4x5xf32>, tensor<f32>) -> tensor<4xf32>
  // CHECK-NEXT: %{{.*}}, %{{.*}} = xla.reduce %a, %n, %x, %i {dimensions = [0, 1]} {{.*}} to_apply (%[[V:.*]]: tensor<f32>, %[[W:.*]]: tensor<i32>, %[[X:.*]]: tensor<f32>, %[[Y:.*]]: tensor<i32>) {
  // CHECK-NEXT:   %[[P:.*]] = xla.add %[[V]], %[[X]] : tensor<f32>
  // CHECK-NEXT:   %[[Q:.*]] = xla.minimum %[[W]], %[[Y]] : tensor<i32>
  // CHECK-NEXT:   xla.return %[[P]], %[[Q]] : tensor<f32>, tensor<i32>
  // CHECK-NEXT: }
  %1:2 = stablehlo.reduce(%a init: %x), (%n init: %i) across dimensions = [0, 1] : (tensor<4x5xf32>, tensor<4x5xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)
   reducer(%v: tensor<f32>, %x1: tensor<f32>) (%w: tensor<i32>, %y: tensor<i32>)  {
    %2 = stablehlo.add %v, %x1 : tensor<f32>
    %3 = stablehlo.minimum %w, %y : tensor<i32>
    stablehlo.return %2, %3 : tensor<f32>, tensor<i32>
  }
  return
}

// CHECK-LABEL: func.func @control_flow
func.func @control_flow(%x: tensor<4xf32>, %y: tensor<f32>) -> (tensor<4xf32>, tensor<f32>) {
  // CHECK: xla.while %{{.*}}, %x : (tensor<i32>, tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>) condition (%[[I:.*]]: tensor<i32>, %{{.*}}: tensor<4xf32>) {
  // CHECK:   xla.compare %[[I]]
  // CHECK:   xla.return %{{.*}} : tensor<i1>
  // CHECK: } body (%[[J:.*]]: tensor<i32>, %[[Z:.*]]: tensor<4xf32>) {
  // CHECK:   xla.add %[[J]]
  // CHECK:   xla.call %[[Z]] {to_apply = @callee} : tensor<4xf32>
  // CHECK:   xla.return
  // CHECK: }
  %c = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%iterArg = %c, %iterArg_0 = %x) : tensor<i32>, tensor<4xf32>
  cond {
    %c_1 = stablehlo.constant dense<3> : tensor<i32>
    %2 = stablehlo.compare  LT, %iterArg, %c_1,  SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  } do {
    %c_1 = stablehlo.constant dense<1> : tensor<i32>
    %2 = stablehlo.add %iterArg, %c_1 : tensor<i32>
    %3 = func.call @callee(%iterArg_0) : (tensor<4xf32>) -> tensor<4xf32>
    stablehlo.return %2, %3 : tensor<i32>, tensor<4xf32>
  }
  // CHECK-NEXT: %[[T:.*]] = xla.tuple %x, %y
  // CHECK-NEXT: %[[O:.*]] = xla.opt_barrier %[[T]] : tuple<tensor<4xf32>, tensor<f32>>
  // CHECK-NEXT: xla.get_tuple_element %[[O]] {index = 0}
  // CHECK-NEXT: xla.get_tuple_element %[[O]] {index = 1}
  %1:2 = stablehlo.optimization_barrier %x, %y : tensor<4xf32>, tensor<f32>
  // CHECK-NEXT: xla.opt_barrier %y : tensor<f32>
  %4 = stablehlo.optimization_barrier %y : tensor<f32>
  // CHECK-NEXT: %[[U:.*]] = xla.tuple %x, %y
  %5 = stablehlo.tuple %x, %y : tuple<tensor<4xf32>, tensor<f32>>
  // CHECK-NEXT: xla.get_tuple_element %[[U]] {index = 1}
  %6 = stablehlo.get_tuple_element %5[1] : (tuple<tensor<4xf32>, tensor<f32>>) -> tensor<f32>
  return %0#1, %1#1 : tensor<4xf32>, tensor<f32>
}

// CHECK-LABEL: func.func private @callee
func.func private @callee(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
