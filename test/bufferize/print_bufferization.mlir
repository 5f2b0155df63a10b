// RUN: xla-opt %s -p xla-bufferize --print-bufferization --split-input-file 2>&1 >/dev/null | filecheck %s
// RUN: xla-opt %s -p xla-bufferize --split-input-file | filecheck %s --check-prefix IR
// RUN: not xla-opt %s -p canonicalize --print-bufferization 2>&1 | filecheck %s --check-prefix ABSENT

// What is decided for each operand, and for each copy the use that forces it.

// ABSENT: --print-bufferization is for pipelines with the pass xla-bufferize

// CHECK: print_bufferization.mlir:14:1: remark: @later has 3 operands in place and 2 that are copied
// CHECK: print_bufferization.mlir:16:3: remark: operand 1 (%b) of tensor.insert_slice is copied, memref<8xf32>: its memory is used later: operand 0 (%b) of linalg.sqrt at {{.*}}:18:3
// CHECK: print_bufferization.mlir:16:3: remark: operand 0 (%s) of tensor.insert_slice is copied, memref<2xf32>: it is not computed in this block
// CHECK: print_bufferization.mlir:17:3: remark: operand 1 (%c) of tensor.insert is in place
// CHECK: print_bufferization.mlir:19:3: remark: operand 0 (%d) of func.return is in place
func.func @later(%s: tensor<2xf32>, %i: index, %x: f32, %e: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %b = linalg.exp ins(%e : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %c = tensor.insert_slice %s into %b[0] [2] [1] : tensor<2xf32> into tensor<8xf32>
  %d = tensor.insert %x into %c[%i] : tensor<8xf32>
  %f = linalg.sqrt ins(%b : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  func.return %d, %f : tensor<8xf32>, tensor<8xf32>
}

// -----

// A view is copied where its source is changed while the view is used.

// CHECK: remark: operand 0 (%b) of tensor.extract_slice is copied, memref<8xf32>: its memory is changed while the view is used: tensor.insert at {{.*}}:30:3
func.func @view(%i: index, %x: f32, %e: tensor<8xf32>) -> (tensor<8xf32>, tensor<2xf32>) {
  %b = linalg.exp ins(%e : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %v = tensor.extract_slice %b[2] [2] [1] : tensor<8xf32> to tensor<2xf32>
  %d = tensor.insert %x into %b[%i] : tensor<8xf32>
  func.return %d, %v : tensor<8xf32>, tensor<2xf32>
}

// -----

// A loop uses what is defined outside of it again in its next iteration.

// CHECK: remark: operand 1 (%b) of tensor.insert is copied, memref<8xf32>: its memory is used later: operand 1 (%b) of tensor.insert at {{.*}}:44:5 in the next iteration
func.func @loop(%n: index, %x: f32, %e: tensor<8xf32>) -> tensor<8xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %b = linalg.exp ins(%e : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %r = scf.for %i = %zero to %n step %one iter_args(%y = %e) -> (tensor<8xf32>) {
    %c = tensor.insert %x into %b[%i] : tensor<8xf32>
    scf.yield %c : tensor<8xf32>
  }
  func.return %r : tensor<8xf32>
}

// -----

// An attribute as MLIR's has an operand copied that could be in place.

// CHECK: remark: operand 1 (%b) of tensor.insert is copied, memref<8xf32>: __inplace_operands_attr__ forbids that it is in place
// IR-LABEL: func.func @forced
// IR: "memref.copy"(%b, %result) : (memref<8xf32>, memref<8xf32>) -> ()
// IR-NEXT: memref.store %x, %result[%i] : memref<8xf32>
func.func @forced(%i: index, %x: f32, %e: tensor<8xf32>) -> tensor<8xf32> {
  %b = linalg.exp ins(%e : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %d = tensor.insert %x into %b[%i] {__inplace_operands_attr__ = ["none", "false", "none"]} : tensor<8xf32>
  func.return %d : tensor<8xf32>
}
