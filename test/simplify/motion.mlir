// RUN: xla-opt %s -p xla-simplify --split-input-file | filecheck %s

// Transposes of all operands become one of the result.

// CHECK-LABEL: @two_transposes
// CHECK-NEXT:  %[[S:.*]] = xla.add %x, %y : tensor<2x3xf32>
// CHECK-NEXT:  %[[T:.*]] = xla.transpose %[[S]] {dimensions = [1, 0]} : (tensor<2x3xf32>) -> tensor<3x2xf32>
// CHECK-NEXT:  func.return %[[T]]
func.func @two_transposes(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<3x2xf32> {
  %0 = xla.transpose %x {dimensions = [1, 0]} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %1 = xla.transpose %y {dimensions = [1, 0]} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %2 = xla.add %0, %1 : tensor<3x2xf32>
  func.return %2 : tensor<3x2xf32>
}

// -----

// One transpose alone has nothing to gain, whichever side it stands on.

// CHECK-LABEL: @one_transpose
// CHECK-NEXT:  %[[T:.*]] = xla.transpose %x
// CHECK-NEXT:  %[[E:.*]] = xla.exponential %[[T]]
// CHECK-NEXT:  %[[U:.*]] = xla.transpose %[[E]] {dimensions = [0, 2, 1]}
// CHECK-NEXT:  %[[F:.*]] = xla.exponential %y
// CHECK-NEXT:  %[[V:.*]] = xla.transpose %[[F]] {dimensions = [1, 0]}
// CHECK-NEXT:  func.return %[[E]], %[[U]], %[[V]]
func.func @one_transpose(%x: tensor<2x3x4xf32>, %y: tensor<2x3xf32>) -> (tensor<3x2x4xf32>, tensor<3x4x2xf32>, tensor<3x2xf32>) {
  %0 = xla.transpose %x {dimensions = [1, 0, 2]} : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
  %1 = xla.exponential %0 : tensor<3x2x4xf32>
  %2 = xla.transpose %1 {dimensions = [0, 2, 1]} : (tensor<3x2x4xf32>) -> tensor<3x4x2xf32>
  %3 = xla.exponential %y : tensor<2x3xf32>
  %4 = xla.transpose %3 {dimensions = [1, 0]} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  func.return %1, %2, %4 : tensor<3x2x4xf32>, tensor<3x4x2xf32>, tensor<3x2xf32>
}

// -----

// A narrower result is cheaper to transpose; a transpose that others need too stays.

// CHECK-LABEL: @narrower
// CHECK-NEXT:  %[[C:.*]] = xla.convert %x : (tensor<2x3xf32>) -> tensor<2x3xbf16>
// CHECK-NEXT:  %[[T:.*]] = xla.transpose %[[C]] {dimensions = [1, 0]} : (tensor<2x3xbf16>) -> tensor<3x2xbf16>
// CHECK-NEXT:  %[[U:.*]] = xla.transpose %y
// CHECK-NEXT:  %[[D:.*]] = xla.convert %[[U]] : (tensor<3x2xf32>) -> tensor<3x2xbf16>
// CHECK-NEXT:  func.return %[[T]], %[[U]], %[[D]]
func.func @narrower(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (tensor<3x2xbf16>, tensor<3x2xf32>, tensor<3x2xbf16>) {
  %0 = xla.transpose %x {dimensions = [1, 0]} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %1 = xla.convert %0 : (tensor<3x2xf32>) -> tensor<3x2xbf16>
  %2 = xla.transpose %y {dimensions = [1, 0]} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %3 = xla.convert %2 : (tensor<3x2xf32>) -> tensor<3x2xbf16>
  func.return %1, %2, %3 : tensor<3x2xbf16>, tensor<3x2xf32>, tensor<3x2xbf16>
}

// -----

// A transpose meets one behind elementwise operations, and a splat is one in any order.

// CHECK-LABEL: @meeting
// CHECK:       %[[TWO:.*]] = xla.constant dense<2.{{.*}}> : tensor<2x3x4xf32>
// CHECK-NEXT:  %[[M:.*]] = xla.multiply %x, %[[TWO]] : tensor<2x3x4xf32>
// CHECK-NEXT:  %[[N:.*]] = xla.negate %[[M]] : tensor<2x3x4xf32>
// CHECK-NEXT:  %[[T:.*]] = xla.transpose %y {dimensions = [2, 0, 1]} : (tensor<3x4x2xf32>) -> tensor<2x3x4xf32>
// CHECK-NEXT:  %[[A:.*]] = xla.add %[[N]], %[[T]] : tensor<2x3x4xf32>
// CHECK-NEXT:  func.return %[[A]]
func.func @meeting(%x: tensor<2x3x4xf32>, %y: tensor<3x4x2xf32>) -> tensor<2x3x4xf32> {
  %0 = xla.transpose %x {dimensions = [1, 2, 0]} : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
  %1 = xla.constant dense<2.0> : tensor<3x4x2xf32>
  %2 = xla.multiply %0, %1 : tensor<3x4x2xf32>
  %3 = xla.negate %2 : tensor<3x4x2xf32>
  %4 = xla.add %3, %y : tensor<3x4x2xf32>
  %5 = xla.transpose %4 {dimensions = [2, 0, 1]} : (tensor<3x4x2xf32>) -> tensor<2x3x4xf32>
  func.return %5 : tensor<2x3x4xf32>
}

// -----

// Two other operands would have to be transposed for the one that need not be.

// CHECK-LABEL: @not_worth_it
// CHECK:       %[[C:.*]] = xla.clamp
// CHECK-NEXT:  %[[T:.*]] = xla.transpose %[[C]] {dimensions = [1, 0]}
// CHECK-NEXT:  func.return %[[T]]
func.func @not_worth_it(%x: tensor<2x3xf32>, %y: tensor<3x2xf32>, %z: tensor<3x2xf32>) -> tensor<2x3xf32> {
  %0 = xla.transpose %x {dimensions = [1, 0]} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %1 = xla.clamp %y, %0, %z : tensor<3x2xf32>
  %2 = xla.transpose %1 {dimensions = [1, 0]} : (tensor<3x2xf32>) -> tensor<2x3xf32>
  func.return %2 : tensor<2x3xf32>
}

// -----

// What is the same along a new dimension is computed once: broadcasts of scalars and of splats are
// broadcasts of any kind, scalars that go everywhere stay scalars.

// CHECK-LABEL: @broadcasts
// CHECK:       %[[ONE:.*]] = xla.constant dense<1.{{.*}}> : tensor<3xf32>
// CHECK-NEXT:  %[[A:.*]] = xla.add %x, %[[ONE]] : tensor<3xf32>
// CHECK-NEXT:  %[[S:.*]] = xla.broadcast %s : (tensor<f32>) -> tensor<3xf32>
// CHECK-NEXT:  %[[M:.*]] = xla.maximum %[[A]], %[[S]] : tensor<3xf32>
// CHECK-NEXT:  %[[C:.*]] = xla.clamp %s, %[[M]], %s : (tensor<f32>, tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
// CHECK-NEXT:  %[[B:.*]] = xla.broadcast %[[C]] {dimensions = [1]} : (tensor<3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:  func.return %[[B]]
func.func @broadcasts(%x: tensor<3xf32>, %s: tensor<f32>) -> tensor<2x3xf32> {
  %0 = xla.broadcast %x {dimensions = [1]} : (tensor<3xf32>) -> tensor<2x3xf32>
  %1 = xla.constant dense<1.0> : tensor<2x3xf32>
  %2 = xla.add %0, %1 : tensor<2x3xf32>
  %3 = xla.broadcast %s {dimensions = []} : (tensor<f32>) -> tensor<2x3xf32>
  %4 = xla.maximum %2, %3 : tensor<2x3xf32>
  %5 = xla.clamp %s, %4, %s : (tensor<f32>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  func.return %5 : tensor<2x3xf32>
}

// -----

// Along different dimensions there is nothing in common.

// CHECK-LABEL: @different_broadcasts
// CHECK:       %[[A:.*]] = xla.add {{.*}} : tensor<3x3xf32>
// CHECK-NEXT:  func.return %[[A]]
func.func @different_broadcasts(%x: tensor<3xf32>, %y: tensor<3xf32>) -> tensor<3x3xf32> {
  %0 = xla.broadcast %x {dimensions = [0]} : (tensor<3xf32>) -> tensor<3x3xf32>
  %1 = xla.broadcast %y {dimensions = [1]} : (tensor<3xf32>) -> tensor<3x3xf32>
  %2 = xla.add %0, %1 : tensor<3x3xf32>
  func.return %2 : tensor<3x3xf32>
}

// -----

// What is cut off is not computed, unless somebody else needs it.

// CHECK-LABEL: @slices
// CHECK-DAG:   %[[X:.*]] = xla.slice %x {start_indices = [2], limit_indices = [8], strides = [3]} : (tensor<8xf32>) -> tensor<2xf32>
// CHECK-DAG:   %[[Y:.*]] = xla.slice %y {start_indices = [2], limit_indices = [8], strides = [3]} : (tensor<8xi1>) -> tensor<2xi1>
// CHECK-DAG:   %[[Z:.*]] = xla.constant dense<0.{{.*}}> : tensor<2xf32>
// CHECK:       %[[S:.*]] = xla.select %[[Y]], %[[X]], %[[Z]] : (tensor<2xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT:  %[[E:.*]] = xla.exponential %[[S]] : tensor<2xf32>
// CHECK-NEXT:  %[[L:.*]] = xla.log %x : tensor<8xf32>
// CHECK-NEXT:  %[[M:.*]] = xla.slice %[[L]]
// CHECK-NEXT:  func.return %[[E]], %[[M]], %[[L]]
func.func @slices(%x: tensor<8xf32>, %y: tensor<8xi1>) -> (tensor<2xf32>, tensor<2xf32>, tensor<8xf32>) {
  %z = xla.constant dense<0.0> : tensor<8xf32>
  %0 = xla.select %y, %x, %z : (tensor<8xi1>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %1 = xla.exponential %0 : tensor<8xf32>
  %2 = xla.slice %1 {start_indices = [2], limit_indices = [8], strides = [3]} : (tensor<8xf32>) -> tensor<2xf32>
  %3 = xla.log %x : tensor<8xf32>
  %4 = xla.slice %3 {start_indices = [2], limit_indices = [8], strides = [3]} : (tensor<8xf32>) -> tensor<2xf32>
  func.return %2, %4, %3 : tensor<2xf32>, tensor<2xf32>, tensor<8xf32>
}

// -----

// Layouts are what somebody asked for, and no computation moves across a barrier.

// CHECK-LABEL: @stay
// CHECK-COUNT-2: xla.transpose
// CHECK:       xla.add
// CHECK:       xla.opt_barrier
// CHECK-NEXT:  xla.transpose
func.func @stay(%x: tensor<2x3xf32, #xla.layout<{0,1}>>, %y: tensor<2x3xf32>) -> (tensor<3x2xf32>, tensor<2x3xf32>) {
  %0 = xla.transpose %x {dimensions = [1, 0]} : (tensor<2x3xf32, #xla.layout<{0,1}>>) -> tensor<3x2xf32, #xla.layout<{0,1}>>
  %1 = xla.transpose %y {dimensions = [1, 0]} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %2 = xla.add %0, %1 : (tensor<3x2xf32, #xla.layout<{0,1}>>, tensor<3x2xf32>) -> tensor<3x2xf32>
  %3 = xla.opt_barrier %1 : tensor<3x2xf32>
  %4 = xla.transpose %3 {dimensions = [1, 0]} : (tensor<3x2xf32>) -> tensor<2x3xf32>
  func.return %2, %4 : tensor<3x2xf32>, tensor<2x3xf32>
}
