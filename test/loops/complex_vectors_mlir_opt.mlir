// REQUIRES: mlir-opt
// RUN: xla-opt %S/complex_vectors.mlir -p 'native{to=loops}' | mlir-opt | filecheck %s

// CHECK: builtin.unrealized_conversion_cast
