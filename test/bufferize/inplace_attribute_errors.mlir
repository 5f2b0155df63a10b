// RUN: xla-opt %s -p xla-bufferize --split-input-file --parsing-diagnostics | filecheck %s

// An operand that has to be in place may need a copy; and the attribute has MLIR's form.

// CHECK: tensor.insert: 1, {{.*}}:8:3 (operand 1 cannot be in place: its memory is only read)
// CHECK: tensor.insert: 3, {{.*}}:16:3 (__inplace_operands_attr__ is not one of "true", "false", "none" for each operand), {{.*}}:17:3 ({{.*}}), {{.*}}:18:3
func.func @argument(%i: index, %x: f32, %a: tensor<8xf32>) -> tensor<8xf32> {
  %d = tensor.insert %x into %a[%i] {__inplace_operands_attr__ = ["none", "true", "none"]} : tensor<8xf32>
  func.return %d : tensor<8xf32>
}

// -----


func.func @malformed(%i: index, %x: f32, %a: tensor<8xf32>) -> tensor<8xf32> {
  %b = tensor.insert %x into %a[%i] {__inplace_operands_attr__ = ["true"]} : tensor<8xf32>
  %c = tensor.insert %x into %b[%i] {__inplace_operands_attr__ = true} : tensor<8xf32>
  %d = tensor.insert %x into %c[%i] {__inplace_operands_attr__ = ["none", "maybe", "none"]} : tensor<8xf32>
  func.return %d : tensor<8xf32>
}
