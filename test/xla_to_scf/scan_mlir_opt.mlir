// REQUIRES: mlir-opt
// RUN: xla-opt %S/scan.mlir -p 'native{to=tensors}' | mlir-opt | filecheck %s
// RUN: xla-opt %S/scan.mlir -p 'native{to=loops}' | mlir-opt | filecheck %s

// CHECK: func.func @backwards
