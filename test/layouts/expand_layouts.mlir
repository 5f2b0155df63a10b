// RUN: xla-opt %s --split-input-file -p xla-expand-layouts | filecheck %s
// RUN: xla-opt %s --split-input-file -p 'native{to=tensors},xla-bufferize' | filecheck %s --check-prefix BUFFERS

// Permutations are strides of parameters and results; inside, dimensions are in memory order.
// CHECK-LABEL: @column_major
// CHECK-SAME:  (%x: tensor<2x3xf32> {bufferization.buffer_layout = strided<[1, 2]>})
// CHECK-SAME:  -> (tensor<2x3xf32> {bufferization.buffer_layout = strided<[1, 2]>}, tensor<3xf32>)
// CHECK-NEXT:  %0 = xla.transpose %x {dimensions = [1, 0]} : (tensor<2x3xf32>) -> tensor<3x2xf32>
// CHECK:       %1 = xla.negate %0 : tensor<3x2xf32>
// CHECK:       xla.reduce %1, %zero {dimensions = [1]} : (tensor<3x2xf32>, tensor<f32>) -> tensor<3xf32>
// CHECK:       %[[R:.*]] = xla.transpose %1 {dimensions = [1, 0]} : (tensor<3x2xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:  func.return %[[R]], %

// The memrefs have the strides; computations go through views in the order of the memory.
// BUFFERS-LABEL: @column_major
// BUFFERS-SAME:  (%x: memref<2x3xf32, strided<[1, 2]>>, %result: memref<2x3xf32, strided<[1, 2]>>
// BUFFERS:       linalg.generic
// BUFFERS-SAME:  ins(%{{.*}} : memref<3x2xf32>) outs(%result_1 : memref<3xf32>)
// BUFFERS:       %[[X:.*]] = memref.reinterpret_cast %x to offset: [0], sizes: [3, 2], strides: [2, 1] : memref<2x3xf32, strided<[1, 2]>> to memref<3x2xf32>
// BUFFERS:       %[[R:.*]] = memref.reinterpret_cast %result to offset: [0], sizes: [3, 2], strides: [2, 1] : memref<2x3xf32, strided<[1, 2]>> to memref<3x2xf32>
// BUFFERS-NEXT:  linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>]
// BUFFERS-SAME:  ins(%[[X]] : memref<3x2xf32>) outs(%[[R]] : memref<3x2xf32>)
func.func @column_major(%x: tensor<2x3xf32, #xla.layout<{0,1}>>) -> (tensor<2x3xf32, #xla.layout<{0,1}>>, tensor<3xf32>) {
  %zero = xla.constant dense<0.0> : tensor<f32>
  %0 = xla.negate %x : tensor<2x3xf32, #xla.layout<{0,1}>>
  %1 = xla.reduce %0, %zero {dimensions = [0]} : (tensor<2x3xf32, #xla.layout<{0,1}>>, tensor<f32>) -> tensor<3xf32>
         to_apply (%a: tensor<f32>, %b: tensor<f32>) {
           %c = xla.add %a, %b : tensor<f32>
           xla.return %c : tensor<f32>
         }
  func.return %0, %1 : tensor<2x3xf32, #xla.layout<{0,1}>>, tensor<3xf32>
}

// -----

// The strides of the older form, whose dimensions are wider in memory.
// CHECK-LABEL: @padded
// CHECK-SAME:  (%x: tensor<2x3xf32> {bufferization.buffer_layout = strided<[1, 4]>})
// CHECK-SAME:  -> (tensor<2x3xf32> {bufferization.buffer_layout = strided<[5, 1]>})
// BUFFERS-LABEL: @padded
// BUFFERS-SAME:  (%x: memref<2x3xf32, strided<[1, 4]>>, %result: memref<2x3xf32, strided<[5, 1]>>)
func.func @padded(%x: tensor<2x3xf32, #xla.layout<{0,1}, padded_dimensions = [4, 3]>>) -> tensor<2x3xf32, #xla.layout<{1,0}, padded_dimensions = [4, 5]>> {
  %0 = xla.negate %x : (tensor<2x3xf32, #xla.layout<{0,1}, padded_dimensions = [4, 3]>>) -> tensor<2x3xf32>
  %1 = xla.copy %0 : (tensor<2x3xf32>) -> tensor<2x3xf32, #xla.layout<{1,0}, padded_dimensions = [4, 5]>>
  func.return %1 : tensor<2x3xf32, #xla.layout<{1,0}, padded_dimensions = [4, 5]>>
}

// -----

// Elementwise operations are computed on tiles; others are not.
// CHECK-LABEL: @tiled(
// CHECK-SAME:  %x: tensor<2x3x2x2xf32> {xla.array = "f32[3,5]{1,0:T(2,2)}"})
// CHECK-SAME:  -> (tensor<2x3x2x2xf32> {xla.array = "f32[3,5]{1,0:T(2,2)}"}, tensor<5xf32>)
// CHECK-NEXT:  %[[P:.*]] = xla.transpose %x {dimensions = [0, 2, 1, 3]} : (tensor<2x3x2x2xf32>) -> tensor<2x2x3x2xf32>
// CHECK-NEXT:  %[[M:.*]] = xla.reshape %[[P]] : (tensor<2x2x3x2xf32>) -> tensor<4x6xf32>
// CHECK-NEXT:  %[[X:.*]] = xla.slice %[[M]] {start_indices = [0, 0], limit_indices = [3, 5], strides = [1, 1]} : (tensor<4x6xf32>) -> tensor<3x5xf32>
// CHECK-NEXT:  %[[Y:.*]] = xla.negate %x : tensor<2x3x2x2xf32>
// CHECK:       xla.slice %[[X]]
// CHECK:       func.return %[[Y]]
// BUFFERS-LABEL: @tiled(
// BUFFERS-SAME:  %x: memref<2x3x2x2xf32> {xla.array = "f32[3,5]{1,0:T(2,2)}"}, %result: memref<2x3x2x2xf32> {xla.array = "f32[3,5]{1,0:T(2,2)}"}
func.func @tiled(%x: tensor<3x5xf32, #xla.layout<{1,0:T(2,2)}>>) -> (tensor<3x5xf32, #xla.layout<{1,0:T(2,2)}>>, tensor<5xf32>) {
  %0 = xla.negate %x : tensor<3x5xf32, #xla.layout<{1,0:T(2,2)}>>
  %1 = xla.slice %x {start_indices = [1, 0], limit_indices = [2, 5], strides = [1, 1]} : (tensor<3x5xf32, #xla.layout<{1,0:T(2,2)}>>) -> tensor<1x5xf32>
  %2 = xla.reshape %1 : (tensor<1x5xf32>) -> tensor<5xf32>
  func.return %0, %2 : tensor<3x5xf32, #xla.layout<{1,0:T(2,2)}>>, tensor<5xf32>
}

// -----

// A transpose that only renames strides is nothing but a view.
// CHECK-LABEL: @renamed
// CHECK-NEXT:  %0 = xla.transpose %x {dimensions = [1, 0]}
// CHECK-NEXT:  %1 = xla.slice %0 {start_indices = [0, 1], limit_indices = [6, 3], strides = [1, 1]} : (tensor<6x4xf32>) -> tensor<6x2xf32>
// BUFFERS-LABEL: @renamed
// BUFFERS-NEXT:  %[[T:.*]] = memref.reinterpret_cast %x to offset: [0], sizes: [6, 4], strides: [4, 1] : memref<4x6xf32, strided<[1, 4]>> to memref<6x4xf32>
// BUFFERS-NEXT:  memref.subview %[[T]][0, 1] [6, 2] [1, 1]
// BUFFERS-NOT:   linalg.generic
// BUFFERS:       func.return
func.func @renamed(%x: tensor<4x6xf32, #xla.layout<{0,1}>>) -> tensor<6x2xf32> {
  %0 = xla.transpose %x {dimensions = [1, 0]} : (tensor<4x6xf32, #xla.layout<{0,1}>>) -> tensor<6x4xf32>
  %1 = xla.slice %0 {start_indices = [0, 1], limit_indices = [6, 3], strides = [1, 1]} : (tensor<6x4xf32>) -> tensor<6x2xf32>
  func.return %1 : tensor<6x2xf32>
}

// -----

// Parts are computed where they belong in the permuted result.
// CHECK-LABEL: @concatenated
// BUFFERS-LABEL: @concatenated
// BUFFERS:       %[[R:.*]] = memref.reinterpret_cast %result to offset: [0], sizes: [6, 6], strides: [6, 1] : memref<6x6xf32, strided<[1, 6]>> to memref<6x6xf32>
// BUFFERS:       %[[PART:.*]] = memref.subview %[[R]][0, 4] [6, 2] [1, 1]
// BUFFERS:       linalg.generic
// BUFFERS-SAME:  outs(%[[PART]] : memref<6x2xf32, strided<[6, 1], offset: 4>>)
// BUFFERS-NOT:   linalg.generic
// BUFFERS:       func.return
func.func @concatenated(%x: tensor<4x6xf32, #xla.layout<{0,1}>>, %y: tensor<2x6xf32>) -> tensor<6x6xf32, #xla.layout<{0,1}>> {
  %0 = xla.exponential %y : (tensor<2x6xf32>) -> tensor<2x6xf32, #xla.layout<{0,1}>>
  %1 = xla.concatenate %x, %0 {dimension = 0} : (tensor<4x6xf32, #xla.layout<{0,1}>>, tensor<2x6xf32, #xla.layout<{0,1}>>) -> tensor<6x6xf32, #xla.layout<{0,1}>>
  func.return %1 : tensor<6x6xf32, #xla.layout<{0,1}>>
}

// -----

// A product is written in any order.
// CHECK-LABEL: @product
// CHECK:       xla.dot %{{.*}}, %y {lhs_contracting_dims = [0], rhs_contracting_dims = [0]} : (tensor<6x4xf32>, tensor<6x3xf32>) -> tensor<4x3xf32>
// BUFFERS-LABEL: @product
// BUFFERS:       linalg.generic
// BUFFERS-SAME:  ins(%y, %{{.*}} : memref<6x3xf32>, memref<6x4xf32>) outs(%{{.*}} : memref<3x4xf32>)
func.func @product(%x: tensor<4x6xf32, #xla.layout<{0,1}>>, %y: tensor<6x3xf32>) -> tensor<4x3xf32, #xla.layout<{0,1}>> {
  %0 = xla.dot %x, %y {lhs_contracting_dims = [1], rhs_contracting_dims = [0]} : (tensor<4x6xf32, #xla.layout<{0,1}>>, tensor<6x3xf32>) -> tensor<4x3xf32, #xla.layout<{0,1}>>
  func.return %0 : tensor<4x3xf32, #xla.layout<{0,1}>>
}

// -----

// Loops carry arrays in memory order.
// CHECK-LABEL: @loop
// CHECK:       xla.while %{{.*}} : tensor<3x2xf32> condition (%c: tensor<3x2xf32>)
// CHECK:       body (%b: tensor<3x2xf32>)
// BUFFERS-LABEL: @loop
// BUFFERS:       %[[C:.*]] = memref.reinterpret_cast %result to offset: [0], sizes: [3, 2], strides: [2, 1] : memref<2x3xf32, strided<[1, 2]>> to memref<3x2xf32>
// BUFFERS:       scf.while
// BUFFERS:       outs(%[[C]] : memref<3x2xf32>)
func.func @loop(%x: tensor<2x3xf32, #xla.layout<{0,1}>>) -> tensor<2x3xf32, #xla.layout<{0,1}>> {
  %0 = xla.while %x : tensor<2x3xf32, #xla.layout<{0,1}>>
    condition (%c: tensor<2x3xf32, #xla.layout<{0,1}>>) {
      %1 = xla.slice %c {start_indices = [1, 2], limit_indices = [2, 3], strides = [1, 1]} : (tensor<2x3xf32, #xla.layout<{0,1}>>) -> tensor<1x1xf32>
      %2 = xla.reshape %1 : (tensor<1x1xf32>) -> tensor<f32>
      %3 = xla.constant dense<100.0> : tensor<f32>
      %4 = xla.compare %2, %3 {direction = LT} : (tensor<f32>, tensor<f32>) -> tensor<i1>
      xla.return %4 : tensor<i1>
    }
    body (%b: tensor<2x3xf32, #xla.layout<{0,1}>>) {
      %1 = xla.add %b, %b : tensor<2x3xf32, #xla.layout<{0,1}>>
      xla.return %1 : tensor<2x3xf32, #xla.layout<{0,1}>>
    }
  func.return %0 : tensor<2x3xf32, #xla.layout<{0,1}>>
}

// -----

// Memory spaces, packed elements and padding of the tail change no place.
// CHECK-LABEL: @ignored(%x: tensor<2x3xi4>) -> tensor<2x3xi4> {
// CHECK-NEXT:  %0 = xla.negate %x : tensor<2x3xi4>
// BUFFERS-LABEL: @ignored(%x: memref<2x3xi4>, %result: memref<2x3xi4>)
func.func @ignored(%x: tensor<2x3xi4, #xla.layout<{1,0:L(16)E(4)S(1)}>>) -> tensor<2x3xi4, #xla.layout<{1,0:E(4)}>> {
  %0 = xla.negate %x : (tensor<2x3xi4, #xla.layout<{1,0:L(16)E(4)S(1)}>>) -> tensor<2x3xi4, #xla.layout<{1,0:E(4)}>>
  func.return %0 : tensor<2x3xi4, #xla.layout<{1,0:E(4)}>>
}

// -----

// What numbers dimensions, windows too, follows the dimensions into memory order.
// CHECK-LABEL: @numbered
// CHECK:       xla.reduce_window %{{.*}}, %i {window = #xla.window<size=1x1x2 stride=1x1x2>} : (tensor<2x4x6xf32>, tensor<f32>) -> tensor<2x4x3xf32>
// CHECK:       xla.sort %{{.*}} {dimension = 1} : tensor<2x4x3xf32>
func.func @numbered(%x: tensor<2x6x4xf32, #xla.layout<{1,2,0}>>, %i: tensor<f32>) -> tensor<2x3x4xf32, #xla.layout<{1,2,0}>> {
  %0 = xla.reduce_window %x, %i {window = #xla.window<size=1x2x1 stride=1x2x1>} : (tensor<2x6x4xf32, #xla.layout<{1,2,0}>>, tensor<f32>) -> tensor<2x3x4xf32, #xla.layout<{1,2,0}>> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %m = xla.maximum %a, %b : tensor<f32>
    xla.return %m : tensor<f32>
  }
  %1 = xla.sort %0 {dimension = 2} : tensor<2x3x4xf32, #xla.layout<{1,2,0}>> to_apply (%c: tensor<f32>, %d: tensor<f32>) {
    %l = xla.compare %c, %d {direction = LT} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    xla.return %l : tensor<i1>
  }
  func.return %1 : tensor<2x3x4xf32, #xla.layout<{1,2,0}>>
}

// -----

// Batches may be in any order; matrices are those of the last two dimensions.
// CHECK-LABEL: @batches
// CHECK:       xla.cholesky %{{.*}} {lower = true} : tensor<3x2x4x4xf32>
// CHECK:       xla.cholesky %y {lower = true} : tensor<2x4x4xf32>
func.func @batches(%x: tensor<2x3x4x4xf32, #xla.layout<{3,2,0,1}>>, %y: tensor<2x4x4xf32, #xla.layout<{1,2,0}>>) -> (tensor<2x3x4x4xf32, #xla.layout<{3,2,0,1}>>, tensor<2x4x4xf32, #xla.layout<{1,2,0}>>) {
  %0 = xla.cholesky %x {lower = true} : tensor<2x3x4x4xf32, #xla.layout<{3,2,0,1}>>
  %1 = xla.cholesky %y {lower = true} : tensor<2x4x4xf32, #xla.layout<{1,2,0}>>
  func.return %0, %1 : tensor<2x3x4x4xf32, #xla.layout<{3,2,0,1}>>, tensor<2x4x4xf32, #xla.layout<{1,2,0}>>
}

// -----

// Tokens have no order; what goes with one keeps its own.
// CHECK-LABEL: @dependency
// CHECK:       xla.add_dependency %t, %t : !xla.token
// CHECK:       xla.add_dependency %{{.*}}, %u : (tensor<3x2xf32>, !xla.token) -> tensor<3x2xf32>
func.func @dependency(%x: tensor<2x3xf32, #xla.layout<{0,1}>>) -> tensor<2x3xf32, #xla.layout<{0,1}>> {
  %t = xla.after_all : () -> !xla.token
  %u = xla.add_dependency %t, %t : !xla.token
  %y = xla.add_dependency %x, %u : (tensor<2x3xf32, #xla.layout<{0,1}>>, !xla.token) -> tensor<2x3xf32, #xla.layout<{0,1}>>
  func.return %y : tensor<2x3xf32, #xla.layout<{0,1}>>
}
