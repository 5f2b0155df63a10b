// RUN: xla-opt %s -p xla-expand-bitcast | filecheck %s

// CHECK-LABEL: @to_column_major
// CHECK-NEXT:  %0 = xla.reshape %x : (tensor<6xf32>) -> tensor<3x2xf32>
// CHECK-NEXT:  %1 = xla.transpose %0 {dimensions = [1, 0]} : (tensor<3x2xf32>) -> tensor<2x3xf32>
func.func @to_column_major(%x: tensor<6xf32>) -> tensor<2x3xf32, #xla.layout<{0,1}>> {
  %0 = xla.bitcast %x : (tensor<6xf32>) -> tensor<2x3xf32, #xla.layout<{0,1}>>
  func.return %0 : tensor<2x3xf32, #xla.layout<{0,1}>>
}

// CHECK-LABEL: @from_column_major
// CHECK-NEXT:  %0 = xla.transpose %x {dimensions = [1, 0]}
// CHECK-NEXT:  %1 = xla.reshape %0 : (tensor<3x2xf32>) -> tensor<6xf32>
func.func @from_column_major(%x: tensor<2x3xf32, #xla.layout<{0,1}>>) -> tensor<6xf32> {
  %0 = xla.bitcast %x : (tensor<2x3xf32, #xla.layout<{0,1}>>) -> tensor<6xf32>
  func.return %0 : tensor<6xf32>
}

// The same bytes in the same order.
// CHECK-LABEL: @transposed_layout
// CHECK-NEXT:  %0 = xla.transpose %x {dimensions = [1, 0]}
// CHECK-NEXT:  func.return
func.func @transposed_layout(%x: tensor<2x3xf32, #xla.layout<{0,1}>>) -> tensor<3x2xf32> {
  %0 = xla.bitcast %x : (tensor<2x3xf32, #xla.layout<{0,1}>>) -> tensor<3x2xf32>
  func.return %0 : tensor<3x2xf32>
}

// CHECK-LABEL: @wider
// CHECK-NEXT:  %0 = xla.reshape %x : (tensor<2x4xui8>) -> tensor<4x2xui8>
// CHECK-NEXT:  %1 = xla.bitcast_convert %0 : (tensor<4x2xui8>) -> tensor<4xf16>
// CHECK-NEXT:  %2 = xla.reshape %1 : (tensor<4xf16>) -> tensor<2x2xf16>
func.func @wider(%x: tensor<2x4xui8>) -> tensor<2x2xf16> {
  %0 = xla.bitcast %x : (tensor<2x4xui8>) -> tensor<2x2xf16>
  func.return %0 : tensor<2x2xf16>
}

// CHECK-LABEL: @narrower
// CHECK-NEXT:  %0 = xla.bitcast_convert %x : (tensor<2xf32>) -> tensor<2x4xi8>
// CHECK-NEXT:  %1 = xla.reshape %0 : (tensor<2x4xi8>) -> tensor<8xi8>
func.func @narrower(%x: tensor<2xf32>) -> tensor<8xi8> {
  %0 = xla.bitcast %x : (tensor<2xf32>) -> tensor<8xi8>
  func.return %0 : tensor<8xi8>
}

// Elements of less than a byte stay single.
// CHECK-LABEL: @below_a_byte
// CHECK-NEXT:  %0 = xla.bitcast_convert %x : (tensor<4xf4E2M1FN>) -> tensor<4xui4>
// CHECK-NEXT:  %1 = xla.reshape %0 : (tensor<4xui4>) -> tensor<2x2xui4>
func.func @below_a_byte(%x: tensor<4xf4E2M1FN>) -> tensor<2x2xui4> {
  %0 = xla.bitcast %x : (tensor<4xf4E2M1FN>) -> tensor<2x2xui4>
  func.return %0 : tensor<2x2xui4>
}
