// REQUIRES: mlir-opt
// RUN: xla-opt %programs/transformer_block.hlo -p 'native{to=tensors}' | mlir-opt-22 | filecheck %s
// RUN: xla-opt %programs/lstm.hlo -p 'native{to=tensors}' | mlir-opt-22 | filecheck %s
// RUN: xla-opt %programs/argmax.hlo -p 'native{to=tensors}' | mlir-opt-22 | filecheck %s

// CHECK: @main
// CHECK: linalg.generic
