// RUN: xla-opt %s -p convert-xla-to-linalg | filecheck %s
// RUN: xla-opt %s -p convert-xla-to-linalg | xla-opt | filecheck %s
// RUN: xla-opt %s -p 'native{to=buffers}' | filecheck %s --check-prefix=BUFFERS

// A comparator of one key: the key is an unsigned integer, here with -0 made +0 and the bits of
// negative numbers inverted. Its digits are counted in one loop. For two digits, there and back,
// where each begins is summed, and the elements move; none if all have the same two digits.
// CHECK-LABEL: @by_digits
// CHECK:         %[[COUNTS:.*]] = linalg.fill {{.*}} -> tensor<4x256xi32>
// CHECK:         scf.for
// CHECK-NEXT:      %[[X:.*]] = tensor.extract %{{.*}} : tensor<1x1000xf32>
// CHECK-COUNT-4:   tensor.insert %{{.*}} into %{{.*}} : tensor<4x256xi32>
// CHECK:         scf.for {{.*}} -> (tensor<4x256xi32>, tensor<1x1000xf32>, tensor<1000xf32>)
// CHECK-COUNT-2:   scf.for {{.*}} -> (tensor<4x256xi32>, i32, i32) {
// CHECK-COUNT-2:   arith.cmpi eq, %{{.*}} : index
// CHECK:           %[[MOVED:.*]] = arith.select %{{.*}}, %{{.*}}, %{{.*}} : index
// CHECK:           scf.for %{{.*}} = %{{.*}} to %[[MOVED]] {{.*}} -> (tensor<4x256xi32>, tensor<1000xf32>)
// CHECK:           scf.for %{{.*}} = %{{.*}} to %[[MOVED]] {{.*}} -> (tensor<4x256xi32>, tensor<1x1000xf32>)
// Memory beside the result: the counts and one line. The operand is copied into the result first.
// BUFFERS-LABEL: @by_digits
// BUFFERS-SAME:    xla.arena_bytes = 8128
// BUFFERS:         @copy_kernel
// BUFFERS-NOT:     copy
// BUFFERS-NOT:     memref.store %{{.*}}, %x
// BUFFERS:         func.return
func.func @by_digits(%x: tensor<1000xf32>) -> tensor<1000xf32> {
  %r = xla.sort %x {dimension = 0 : i64} : tensor<1000xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %c = xla.compare %a, %b {direction = LT} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    xla.return %c : tensor<i1>
  }
  func.return %r : tensor<1000xf32>
}

// The keys of long lines are computed in chunks, which a vector kernel can do: the same to count
// digits and to move elements.
// CHECK-LABEL: @by_digits_in_chunks
// CHECK:         scf.for {{.*}} -> (tensor<2x256xi32>) {
// CHECK:           arith.minui %{{.*}}, %{{.*}} : index
// CHECK:           tensor.extract_slice %{{.*}}[%{{.*}}, %{{.*}}] [1, 512] [1, 1] : tensor<1x3000xi16> to tensor<512xi16>
// CHECK:           %[[KEYS:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<512xi16>)
// CHECK:           scf.for
// CHECK:             tensor.extract %[[KEYS]]
// CHECK:             tensor.insert %{{.*}} into %{{.*}} : tensor<2x256xi32>
// BUFFERS-LABEL: @by_digits_in_chunks
// BUFFERS-COUNT-3: call @[[KEYS:xori_kernel_[0-9]+]](%{{.*}}, %{{.*}}) : (memref<512xi16, strided<[1], offset: ?>>, memref<512xi16>)
// BUFFERS:         func.return
func.func @by_digits_in_chunks(%x: tensor<3000xi16>) -> tensor<3000xi16> {
  %r = xla.sort %x {dimension = 0 : i64} : tensor<3000xi16> to_apply (%a: tensor<i16>, %b: tensor<i16>) {
    %c = xla.compare %a, %b {direction = LT} : (tensor<i16>, tensor<i16>) -> tensor<i1>
    xla.return %c : tensor<i1>
  }
  func.return %r : tensor<3000xi16>
}

// Any other comparator is asked, by merges from one memory to the other and back.
// CHECK-LABEL: @by_merging
// CHECK-NOT:     linalg.fill
// CHECK:         %[[LEFT:.*]] = tensor.extract %{{.*}} : tensor<100xi32>
// CHECK:         %[[RIGHT:.*]] = tensor.extract %{{.*}} : tensor<100xi32>
// CHECK:         arith.cmpi sle, %[[RIGHT]], %[[LEFT]] : i32
// CHECK:         arith.select %{{.*}}, %[[RIGHT]], %[[LEFT]] : i32
// BUFFERS-LABEL: @by_merging
// BUFFERS:         @copy_kernel
// BUFFERS-NOT:     copy
// BUFFERS:         func.return
func.func @by_merging(%x: tensor<100xi32>) -> tensor<100xi32> {
  %r = xla.sort %x {dimension = 0 : i64} : tensor<100xi32> to_apply (%a: tensor<i32>, %b: tensor<i32>) {
    %c = xla.compare %a, %b {direction = LE} : (tensor<i32>, tensor<i32>) -> tensor<i1>
    xla.return %c : tensor<i1>
  }
  func.return %r : tensor<100xi32>
}

// What the first digit leaves of a line is sorted, so many elements at a time.
// CHECK-LABEL: @topk
// CHECK:         linalg.fill {{.*}} -> tensor<1x256xi32>
// CHECK:         arith.cmpi ult, %{{.*}} : i32
// CHECK:         scf.for {{.*}} -> (index, tensor<522xf32>, tensor<522xi32>)
// CHECK:         linalg.fill {{.*}} -> tensor<4x256xi32>
// BUFFERS-LABEL: @topk
// BUFFERS-NOT:     copy
// BUFFERS:         func.return
func.func @topk(%x: tensor<6x1000xf32>) -> (tensor<6x5xf32>, tensor<6x5xi32>) {
  %v, %i = xla.topk %x {k = 5 : i64} : (tensor<6x1000xf32>) -> (tensor<6x5xf32>, tensor<6x5xi32>)
  func.return %v, %i : tensor<6x5xf32>, tensor<6x5xi32>
}

// Of a sort whose first elements alone are used no more are sorted: so few at once that there are
// no chunks of them.
// CHECK-LABEL: @first
// CHECK:         scf.for {{.*}} -> (index, tensor<516xf32>)
// CHECK-NOT:     tensor<512x
// BUFFERS-LABEL: @first
func.func @first(%x: tensor<3000xf32>) -> tensor<2xf32> {
  %0 = xla.sort %x {dimension = 0, is_stable = true} : (tensor<3000xf32>) -> tensor<3000xf32> to_apply (%a: tensor<f32>, %b: tensor<f32>) {
    %1 = xla.compare %a, %b {direction = GT} : (tensor<f32>, tensor<f32>) -> tensor<i1>
    xla.return %1 : tensor<i1>
  }
  %2 = xla.slice %0 {start_indices = [0], limit_indices = [2], strides = [1]} : (tensor<3000xf32>) -> tensor<2xf32>
  func.return %2 : tensor<2xf32>
}
