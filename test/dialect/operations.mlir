// RUN: xla-opt %s | filecheck %s
// RUN: xla-opt %s | xla-opt | filecheck %s
// RUN: xla-opt %s --mlir-print-op-generic | xla-opt | filecheck %s

// Every operation prints as it is written here, also after a way through the generic form.

// CHECK-LABEL: func.func @creation
func.func @creation() {
  // CHECK: xla.constant dense<[1.000000e+00, 2.500000e+00]> : tensor<2xf32>
  %0 = xla.constant dense<[1.0, 2.5]> : tensor<2xf32>
  // CHECK: xla.constant dense<0xFF800000> : tensor<f32>
  %1 = xla.constant dense<0xFF800000> : tensor<f32>
  // CHECK: xla.constant dense<true> : tensor<2xi1>
  %2 = xla.constant dense<true> : tensor<2xi1>
  // CHECK: xla.constant [dense<1> : tensor<i32>, []]
  %3 = xla.constant [dense<1> : tensor<i32>, []]
  // CHECK: xla.constant dense<> : tensor<0x3xf32>
  %4 = xla.constant dense<> : tensor<0x3xf32>
  // CHECK: xla.iota {iota_dimension = 1} : tensor<2x3xui8>
  %5 = xla.iota {iota_dimension = 1} : tensor<2x3xui8>
  func.return
}

// CHECK-LABEL: func.func @unary
func.func @unary(%f: tensor<2xf32>, %i: tensor<2xi32>, %p: tensor<2xi1>, %c: tensor<2xcomplex<f32>>) {
  // CHECK: xla.abs %f : tensor<2xf32>
  %0 = xla.abs %f : tensor<2xf32>
  // CHECK: xla.abs %c : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  %1 = xla.abs %c : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  // CHECK: xla.acos %f : tensor<2xf32>
  %2 = xla.acos %f : tensor<2xf32>
  // CHECK: xla.acosh %f : tensor<2xf32>
  %3 = xla.acosh %f : tensor<2xf32>
  // CHECK: xla.asin %f : tensor<2xf32>
  %4 = xla.asin %f : tensor<2xf32>
  // CHECK: xla.asinh %f : tensor<2xf32>
  %5 = xla.asinh %f : tensor<2xf32>
  // CHECK: xla.atanh %f : tensor<2xf32>
  %6 = xla.atanh %f : tensor<2xf32>
  // CHECK: xla.cbrt %f : tensor<2xf32>
  %7 = xla.cbrt %f : tensor<2xf32>
  // CHECK: xla.ceil %f : tensor<2xf32>
  %8 = xla.ceil %f : tensor<2xf32>
  // CHECK: xla.count_leading_zeros %i : tensor<2xi32>
  %9 = xla.count_leading_zeros %i : tensor<2xi32>
  // CHECK: xla.cosine %f : tensor<2xf32>
  %10 = xla.cosine %f : tensor<2xf32>
  // CHECK: xla.cosh %f : tensor<2xf32>
  %11 = xla.cosh %f : tensor<2xf32>
  // CHECK: xla.erf %f : tensor<2xf32>
  %12 = xla.erf %f : tensor<2xf32>
  // CHECK: xla.exponential %f : tensor<2xf32>
  %13 = xla.exponential %f : tensor<2xf32>
  // CHECK: xla.exponential_minus_one %f : tensor<2xf32>
  %14 = xla.exponential_minus_one %f : tensor<2xf32>
  // CHECK: xla.floor %f : tensor<2xf32>
  %15 = xla.floor %f : tensor<2xf32>
  // CHECK: xla.imag %c : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  %16 = xla.imag %c : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  // CHECK: xla.is_finite %f : (tensor<2xf32>) -> tensor<2xi1>
  %17 = xla.is_finite %f : (tensor<2xf32>) -> tensor<2xi1>
  // CHECK: xla.log %f : tensor<2xf32>
  %18 = xla.log %f : tensor<2xf32>
  // CHECK: xla.log_plus_one %f : tensor<2xf32>
  %19 = xla.log_plus_one %f : tensor<2xf32>
  // CHECK: xla.logistic %f : tensor<2xf32>
  %20 = xla.logistic %f : tensor<2xf32>
  // CHECK: xla.negate %i : tensor<2xi32>
  %21 = xla.negate %i : tensor<2xi32>
  // CHECK: xla.not %p : tensor<2xi1>
  %22 = xla.not %p : tensor<2xi1>
  // CHECK: xla.popcnt %i : tensor<2xi32>
  %23 = xla.popcnt %i : tensor<2xi32>
  // CHECK: xla.real %c : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  %24 = xla.real %c : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  // CHECK: xla.round_nearest_afz %f : tensor<2xf32>
  %25 = xla.round_nearest_afz %f : tensor<2xf32>
  // CHECK: xla.round_nearest_even %f : tensor<2xf32>
  %26 = xla.round_nearest_even %f : tensor<2xf32>
  // CHECK: xla.rsqrt %f : tensor<2xf32>
  %27 = xla.rsqrt %f : tensor<2xf32>
  // CHECK: xla.sign %f : tensor<2xf32>
  %28 = xla.sign %f : tensor<2xf32>
  // CHECK: xla.sine %f : tensor<2xf32>
  %29 = xla.sine %f : tensor<2xf32>
  // CHECK: xla.sinh %f : tensor<2xf32>
  %30 = xla.sinh %f : tensor<2xf32>
  // CHECK: xla.sqrt %f : tensor<2xf32>
  %31 = xla.sqrt %f : tensor<2xf32>
  // CHECK: xla.tan %f : tensor<2xf32>
  %32 = xla.tan %f : tensor<2xf32>
  // CHECK: xla.tanh %f attributes {xla.metadata = "x"} : tensor<2xf32>
  %33 = xla.tanh %f attributes {xla.metadata = "x"} : tensor<2xf32>
  func.return
}

// CHECK-LABEL: func.func @binary
func.func @binary(%f: tensor<2xf32>, %i: tensor<2xi32>) {
  // CHECK: xla.add %f, %f : tensor<2xf32>
  %0 = xla.add %f, %f : tensor<2xf32>
  // CHECK: xla.subtract %f, %f : tensor<2xf32>
  %1 = xla.subtract %f, %f : tensor<2xf32>
  // CHECK: xla.multiply %f, %f : tensor<2xf32>
  %2 = xla.multiply %f, %f : tensor<2xf32>
  // CHECK: xla.divide %f, %f : tensor<2xf32>
  %3 = xla.divide %f, %f : tensor<2xf32>
  // CHECK: xla.power %f, %f : tensor<2xf32>
  %4 = xla.power %f, %f : tensor<2xf32>
  // CHECK: xla.remainder %f, %f : tensor<2xf32>
  %5 = xla.remainder %f, %f : tensor<2xf32>
  // CHECK: xla.maximum %f, %f : tensor<2xf32>
  %6 = xla.maximum %f, %f : tensor<2xf32>
  // CHECK: xla.minimum %f, %f : tensor<2xf32>
  %7 = xla.minimum %f, %f : tensor<2xf32>
  // CHECK: xla.and %i, %i : tensor<2xi32>
  %8 = xla.and %i, %i : tensor<2xi32>
  // CHECK: xla.or %i, %i : tensor<2xi32>
  %9 = xla.or %i, %i : tensor<2xi32>
  // CHECK: xla.xor %i, %i : tensor<2xi32>
  %10 = xla.xor %i, %i : tensor<2xi32>
  // CHECK: xla.mulhi %i, %i : tensor<2xi32>
  %11 = xla.mulhi %i, %i : tensor<2xi32>
  // CHECK: xla.shift_left %i, %i : tensor<2xi32>
  %12 = xla.shift_left %i, %i : tensor<2xi32>
  // CHECK: xla.shift_right_arithmetic %i, %i : tensor<2xi32>
  %13 = xla.shift_right_arithmetic %i, %i : tensor<2xi32>
  // CHECK: xla.shift_right_logical %i, %i : tensor<2xi32>
  %14 = xla.shift_right_logical %i, %i : tensor<2xi32>
  // CHECK: xla.atan2 %f, %f : tensor<2xf32>
  %15 = xla.atan2 %f, %f : tensor<2xf32>
  // CHECK: xla.complex %f, %f : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xcomplex<f32>>
  %16 = xla.complex %f, %f : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xcomplex<f32>>
  // CHECK: xla.compare %f, %f {direction = LT} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  %17 = xla.compare %f, %f {direction = LT} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  // CHECK: xla.compare %f, %f {direction = EQ, comparison_type = TOTALORDER} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  %18 = xla.compare %f, %f {direction = EQ, comparison_type = TOTALORDER} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  func.return
}

// CHECK-LABEL: func.func @ternary_and_conversion
func.func @ternary_and_conversion(%f: tensor<2xf32>, %s: tensor<f32>, %p: tensor<2xi1>) {
  // CHECK: xla.clamp %s, %f, %f : (tensor<f32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %0 = xla.clamp %s, %f, %f : (tensor<f32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  // CHECK: xla.select %p, %f, %f : (tensor<2xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = xla.select %p, %f, %f : (tensor<2xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  // CHECK: xla.convert %f : (tensor<2xf32>) -> tensor<2xf8E4M3FN>
  %2 = xla.convert %f : (tensor<2xf32>) -> tensor<2xf8E4M3FN>
  // CHECK: xla.bitcast_convert %f : (tensor<2xf32>) -> tensor<2x2xui16>
  %3 = xla.bitcast_convert %f : (tensor<2xf32>) -> tensor<2x2xui16>
  func.return
}

// CHECK-LABEL: func.func @data_movement
func.func @data_movement(%x: tensor<4x3xf32>, %v: tensor<3xf32>, %s: tensor<f32>, %i: tensor<i32>, %u: tensor<2x1xf32>) {
  // CHECK: xla.broadcast %v {dimensions = [1]} : (tensor<3xf32>) -> tensor<4x3xf32>
  %0 = xla.broadcast %v {dimensions = [1]} : (tensor<3xf32>) -> tensor<4x3xf32>
  // CHECK: xla.broadcast %s {{.*}}: (tensor<f32>) -> tensor<0xf32>
  %1 = xla.broadcast %s {dimensions = []} : (tensor<f32>) -> tensor<0xf32>
  // CHECK: xla.reshape %x : (tensor<4x3xf32>) -> tensor<2x6xf32>
  %2 = xla.reshape %x : (tensor<4x3xf32>) -> tensor<2x6xf32>
  // CHECK: xla.transpose %x {dimensions = [1, 0]} : (tensor<4x3xf32>) -> tensor<3x4xf32>
  %3 = xla.transpose %x {dimensions = [1, 0]} : (tensor<4x3xf32>) -> tensor<3x4xf32>
  // CHECK: xla.slice %x {start_indices = [0, 1], limit_indices = [4, 3], strides = [2, 1]} : (tensor<4x3xf32>) -> tensor<2x2xf32>
  %4 = xla.slice %x {start_indices = [0, 1], limit_indices = [4, 3], strides = [2, 1]} : (tensor<4x3xf32>) -> tensor<2x2xf32>
  // CHECK: xla.concatenate %x, %x {dimension = 0} : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<8x3xf32>
  %5 = xla.concatenate %x, %x {dimension = 0} : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<8x3xf32>
  // CHECK: xla.pad %v, %s {edge_padding_low = [-1], edge_padding_high = [2], interior_padding = [1]} : (tensor<3xf32>, tensor<f32>) -> tensor<6xf32>
  %6 = xla.pad %v, %s {edge_padding_low = [-1], edge_padding_high = [2], interior_padding = [1]} : (tensor<3xf32>, tensor<f32>) -> tensor<6xf32>
  // CHECK: xla.reverse %x {dimensions = [0, 1]} : tensor<4x3xf32>
  %7 = xla.reverse %x {dimensions = [0, 1]} : tensor<4x3xf32>
  // CHECK: xla.dynamic_slice %x, %i, %i {dynamic_slice_sizes = [2, 1]} : (tensor<4x3xf32>, tensor<i32>, tensor<i32>) -> tensor<2x1xf32>
  %8 = xla.dynamic_slice %x, %i, %i {dynamic_slice_sizes = [2, 1]} : (tensor<4x3xf32>, tensor<i32>, tensor<i32>) -> tensor<2x1xf32>
  // CHECK: xla.dynamic_update_slice %x, %u, %i, %i : (tensor<4x3xf32>, tensor<2x1xf32>, tensor<i32>, tensor<i32>) -> tensor<4x3xf32>
  %9 = xla.dynamic_update_slice %x, %u, %i, %i : (tensor<4x3xf32>, tensor<2x1xf32>, tensor<i32>, tensor<i32>) -> tensor<4x3xf32>
  // CHECK: xla.copy %x : (tensor<4x3xf32>) -> tensor<4x3xf32, #xla.layout<{0,1:T(2,2)S(1)}>>
  %10 = xla.copy %x : (tensor<4x3xf32>) -> tensor<4x3xf32, #xla.layout<{0,1:T(2,2)S(1)}>>
  // CHECK: xla.bitcast %x : (tensor<4x3xf32>) -> tensor<3x4xf32, #xla.layout<{0,1}>>
  %11 = xla.bitcast %x : (tensor<4x3xf32>) -> tensor<3x4xf32, #xla.layout<{0,1}>>
  func.return
}

// CHECK-LABEL: func.func @computations
func.func @computations(%x: tensor<4x8xf32>, %k: tensor<4x8xi32>, %f: tensor<f32>, %i: tensor<i32>, %p: tensor<i1>) {
  // CHECK:      xla.reduce %x, %f {dimensions = [1]} : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
  // CHECK-NEXT:   %{{.*}} = xla.add %a, %b : tensor<f32>
  // CHECK-NEXT:   xla.return %{{.*}} : tensor<f32>
  // CHECK-NEXT: }
  %0 = xla.reduce %x, %f {dimensions = [1]} : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %sum = xla.add %a, %b : tensor<f32>
    xla.return %sum : tensor<f32>
  }
  // CHECK:      xla.reduce %x, %k, %f, %i {dimensions = [0, 1]} : (tensor<4x8xf32>, tensor<4x8xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>) to_apply (%e: tensor<f32>, %g: tensor<i32>, %h: tensor<f32>, %j: tensor<i32>) {
  // CHECK-NEXT:   xla.return %e, %j : tensor<f32>, tensor<i32>
  // CHECK-NEXT: }
  %1, %2 = xla.reduce %x, %k, %f, %i {dimensions = [0, 1]} : (tensor<4x8xf32>, tensor<4x8xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>) to_apply (%e: tensor<f32>, %g: tensor<i32>, %h: tensor<f32>, %j: tensor<i32>) {
    xla.return %e, %j : tensor<f32>, tensor<i32>
  }
  // CHECK:      xla.while %i : tensor<i32> condition (%n: tensor<i32>) {
  // CHECK-NEXT:   %{{.*}} = xla.compare %n, %n {direction = LT} : (tensor<i32>, tensor<i32>) -> tensor<i1>
  // CHECK-NEXT:   xla.return %{{.*}} : tensor<i1>
  // CHECK-NEXT: } body (%m: tensor<i32>) {
  // CHECK-NEXT:   xla.return %m : tensor<i32>
  // CHECK-NEXT: }
  %3 = xla.while %i : tensor<i32> condition (%n: tensor<i32>) {
    %less = xla.compare %n, %n {direction = LT} : (tensor<i32>, tensor<i32>) -> tensor<i1>
    xla.return %less : tensor<i1>
  } body (%m: tensor<i32>) {
    xla.return %m : tensor<i32>
  }
  // CHECK:      xla.conditional %p, %f : (tensor<i1>, tensor<f32>) -> tensor<f32> branch (%q: tensor<f32>) {
  // CHECK-NEXT:   xla.return %q : tensor<f32>
  // CHECK-NEXT: } branch () {
  // CHECK-NEXT:   xla.return %f : tensor<f32>
  // CHECK-NEXT: }
  %4 = xla.conditional %p, %f : (tensor<i1>, tensor<f32>) -> tensor<f32> branch (%q: tensor<f32>) {
    xla.return %q : tensor<f32>
  } branch () {
    xla.return %f : tensor<f32>
  }
  // CHECK:      xla.fusion %x {kind = kLoop} : tensor<4x8xf32> calls (%r: tensor<4x8xf32>) {
  // CHECK-NEXT:   %{{.*}} = xla.negate %r : tensor<4x8xf32>
  // CHECK-NEXT:   xla.return %{{.*}} : tensor<4x8xf32>
  // CHECK-NEXT: }
  %5 = xla.fusion %x {kind = kLoop} : tensor<4x8xf32> calls (%r: tensor<4x8xf32>) {
    %negated = xla.negate %r : tensor<4x8xf32>
    xla.return %negated : tensor<4x8xf32>
  }
  // CHECK: xla.call %x {to_apply = @callee} : tensor<4x8xf32>
  %6 = xla.call %x {to_apply = @callee} : tensor<4x8xf32>
  // CHECK: xla.call %x {to_apply = @callee, is_composite = true} : tensor<4x8xf32>
  %7 = xla.call %x {to_apply = @callee, is_composite = true} : tensor<4x8xf32>
  // CHECK: xla.opt_barrier %x : tensor<4x8xf32>
  %8 = xla.opt_barrier %x : tensor<4x8xf32>
  // CHECK: xla.while : () -> () condition () {
  xla.while : () -> () condition () {
    xla.return %p : tensor<i1>
  // CHECK: } body () {
  // CHECK-NEXT: xla.return{{$}}
  } body () {
    xla.return
  }
  func.return
}

func.func @callee(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  func.return %x : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @contraction_and_gather
func.func @contraction_and_gather(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %i: tensor<5x1xi32>) {
  // CHECK: xla.dot %x, %y {lhs_contracting_dims = [1], rhs_contracting_dims = [1]} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32>
  %0 = xla.dot %x, %y {lhs_contracting_dims = [1], rhs_contracting_dims = [1]} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x4xf32>
  // CHECK: xla.dot %x, %y {lhs_batch_dims = [0], lhs_contracting_dims = [1], rhs_batch_dims = [0], rhs_contracting_dims = [1]} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4xf64>
  %1 = xla.dot %x, %y {lhs_batch_dims = [0], lhs_contracting_dims = [1], rhs_batch_dims = [0], rhs_contracting_dims = [1]} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4xf64>
  // CHECK: xla.gather %x, %i {offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1, slice_sizes = [1, 8]} : (tensor<4x8xf32>, tensor<5x1xi32>) -> tensor<5x8xf32>
  %2 = xla.gather %x, %i {offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1, slice_sizes = [1, 8]} : (tensor<4x8xf32>, tensor<5x1xi32>) -> tensor<5x8xf32>
  // CHECK: xla.gather %x, %i {offset_dims = [0, 1], start_index_map = [1], index_vector_dim = 1, slice_sizes = [2, 3], indices_are_sorted = true} : (tensor<4x8xf32>, tensor<5x1xi32>) -> tensor<2x3x5xf32>
  %3 = xla.gather %x, %i {offset_dims = [0, 1], start_index_map = [1], index_vector_dim = 1, slice_sizes = [2, 3], indices_are_sorted = true} : (tensor<4x8xf32>, tensor<5x1xi32>) -> tensor<2x3x5xf32>
  func.return
}

// CHECK-LABEL: func.func @tuples
func.func @tuples(%x: tensor<2xf32>, %t: !xla.token) {
  // CHECK: %[[PAIR:.*]] = xla.tuple %x, %t : (tensor<2xf32>, !xla.token) -> tuple<tensor<2xf32>, !xla.token>
  %pair = xla.tuple %x, %t : (tensor<2xf32>, !xla.token) -> tuple<tensor<2xf32>, !xla.token>
  // CHECK: xla.get_tuple_element %[[PAIR]] {index = 1} : (tuple<tensor<2xf32>, !xla.token>) -> !xla.token
  %token = xla.get_tuple_element %pair {index = 1} : (tuple<tensor<2xf32>, !xla.token>) -> !xla.token
  // CHECK: xla.tuple : tuple<>
  %none = xla.tuple : tuple<>
  func.return
}
