// REQUIRES: mlir-opt
// RUN: xla-opt %S/sorting.mlir -p 'native{to=tensors}' | mlir-opt | filecheck %s
// RUN: xla-opt %S/sorting.mlir -p 'native{to=buffers}' | mlir-opt | filecheck %s
// RUN: xla-opt %S/sorting.mlir -p 'native{to=loops}' | mlir-opt | filecheck %s

// CHECK: func.func @by_digits
// CHECK: func.func @by_merging
// CHECK: func.func @topk
