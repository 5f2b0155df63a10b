// REQUIRES: mlir-opt
// RUN: xla-opt %S/scatter.mlir -p 'native{to=tensors}' | mlir-opt | filecheck %s
// RUN: xla-opt %S/scatter.mlir -p 'native{to=buffers}' | mlir-opt | filecheck %s
// RUN: xla-opt %S/scatter.mlir -p 'native{to=loops}' | mlir-opt | filecheck %s

// CHECK: func.func @elements
// CHECK: func.func @rows
