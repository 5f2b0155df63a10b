// RUN: xla-opt %s -p xla-expand-mixed-precision | filecheck %s

// CHECK-LABEL:   func.func @one_operand(%a: tensor<5xf32>) -> tensor<5xbf16> {
// CHECK-NEXT:      %[[COPY:.*]] = xla.copy %a : tensor<5xf32>
// CHECK-NEXT:      %c = xla.convert %[[COPY]] : (tensor<5xf32>) -> tensor<5xbf16>
// CHECK-NEXT:      func.return %c : tensor<5xbf16>
func.func @one_operand(%a: tensor<5xf32>) -> tensor<5xbf16> {
  %c = xla.copy %a : (tensor<5xf32>) -> tensor<5xbf16>
  func.return %c : tensor<5xbf16>
}

// The result is the highest one.
// CHECK-LABEL:   func.func @result(%b: tensor<bf16>) -> tensor<5xf32> {
// CHECK-NEXT:      %[[WIDE:.*]] = xla.convert %b : (tensor<bf16>) -> tensor<f32>
// CHECK-NEXT:      %d = xla.broadcast %[[WIDE]] : (tensor<f32>) -> tensor<5xf32>
func.func @result(%b: tensor<bf16>) -> tensor<5xf32> {
  %d = xla.broadcast %b : (tensor<bf16>) -> tensor<5xf32>
  func.return %d : tensor<5xf32>
}

// What is of one precision stays, and what hands values on or converts them.
// CHECK-LABEL:   func.func @others(
// CHECK-NEXT:      %s = xla.add %a, %a : tensor<5xf32>
// CHECK-NEXT:      %n = xla.convert %s : (tensor<5xf32>) -> tensor<5xbf16>
// CHECK-NEXT:      func.return %n : tensor<5xbf16>
func.func @others(%a: tensor<5xf32>) -> tensor<5xbf16> {
  %s = xla.add %a, %a : tensor<5xf32>
  %n = xla.convert %s : (tensor<5xf32>) -> tensor<5xbf16>
  func.return %n : tensor<5xbf16>
}
