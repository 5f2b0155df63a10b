// REQUIRES: mlir-opt
// RUN: xla-opt %S/windows.mlir -p 'native{to=tensors}' | mlir-opt | filecheck %s
// RUN: xla-opt %S/windows.mlir -p 'native{to=buffers}' | mlir-opt | filecheck %s
// RUN: xla-opt %S/windows.mlir -p 'native{to=loops}' | mlir-opt | filecheck %s

// CHECK: func.func @convolution
// CHECK: func.func @maximum
// CHECK: func.func @any_computation
// CHECK: func.func @running
// CHECK: func.func @select_and_scatter
