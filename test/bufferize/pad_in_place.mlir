// RUN: xla-opt %s -p 'native{to=buffers}' | filecheck %s

// What is padded is computed in its place; only what is around it is filled in.
// CHECK-LABEL: @main
// CHECK:         %[[INSIDE:.*]] = memref.subview %result[0, 1, 1, 0] [8, 56, 56, 64] [1, 1, 1, 1]
// CHECK:         func.call @absf_kernel_0(%x, %{{.*}})
// CHECK:         memref.subview %result[0, 0, 0, 0] [8, 1, 58, 64] [1, 1, 1, 1]
// CHECK:         func.call @fill_kernel_1(
// CHECK:         memref.subview %result[0, 57, 0, 0] [8, 1, 58, 64] [1, 1, 1, 1]
// CHECK:         func.call @fill_kernel_1(
// CHECK:         memref.subview %result[0, 1, 0, 0] [8, 56, 1, 64] [1, 1, 1, 1]
// CHECK:         func.call @fill_kernel_2(
// CHECK:         memref.subview %result[0, 1, 57, 0] [8, 56, 1, 64] [1, 1, 1, 1]
// CHECK:         func.call @fill_kernel_2(
// CHECK-NOT:     copy
// CHECK:         func.return
func.func @main(%x: tensor<8x56x56x64xf32>, %z: tensor<f32>) -> tensor<8x58x58x64xf32> {
  %0 = xla.abs %x : tensor<8x56x56x64xf32>
  %1 = xla.pad %0, %z {
      edge_padding_low = array<i64: 0, 1, 1, 0>, edge_padding_high = array<i64: 0, 1, 1, 0>,
      interior_padding = array<i64: 0, 0, 0, 0>
    } : (tensor<8x56x56x64xf32>, tensor<f32>) -> tensor<8x58x58x64xf32>
  func.return %1 : tensor<8x58x58x64xf32>
}

// What is somewhere already is copied with what is around it, in one loop nest.
// CHECK-LABEL: @copied
// CHECK-NEXT:    func.call @gather_select_kernel_{{[0-9]+}}(%result, %x)
// CHECK-NEXT:    func.return
func.func @copied(%x: tensor<8x56x56x64xf32>) -> tensor<8x58x58x64xf32> {
  %z = xla.constant dense<0.0> : tensor<f32>
  %0 = xla.pad %x, %z {
      edge_padding_low = array<i64: 0, 1, 1, 0>, edge_padding_high = array<i64: 0, 1, 1, 0>,
      interior_padding = array<i64: 0, 0, 0, 0>
    } : (tensor<8x56x56x64xf32>, tensor<f32>) -> tensor<8x58x58x64xf32>
  func.return %0 : tensor<8x58x58x64xf32>
}

// A large sum, and what is computed from it element by element, are in the place of the second.
// CHECK-LABEL: @summed
// CHECK:         %[[INSIDE:.*]] = memref.subview %result[1, 0] [512, 256] [1, 1]
// CHECK:         func.call @contraction_kernel_{{[0-9]+}}(%x, %y, %{{.*}})
// CHECK-NEXT:    "memref.cast"(%[[INSIDE]])
// CHECK-NEXT:    func.call @absf_kernel_{{[0-9]+}}(%{{[^,]*}}) :
// CHECK-NOT:     copy
// CHECK:         func.return
func.func @summed(%x: tensor<512x64xf32>, %y: tensor<64x256xf32>) -> tensor<514x256xf32> {
  %z = xla.constant dense<0.0> : tensor<f32>
  %0 = xla.dot %x, %y {lhs_contracting_dims = [1], rhs_contracting_dims = [0]}
    : (tensor<512x64xf32>, tensor<64x256xf32>) -> tensor<512x256xf32>
  %1 = xla.abs %0 : tensor<512x256xf32>
  %2 = xla.pad %1, %z {
      edge_padding_low = array<i64: 1, 0>, edge_padding_high = array<i64: 1, 0>,
      interior_padding = array<i64: 0, 0>
    } : (tensor<512x256xf32>, tensor<f32>) -> tensor<514x256xf32>
  func.return %2 : tensor<514x256xf32>
}
