// REQUIRES: mlir-opt
// RUN: xla-opt %S/extended_dialects.mlir | mlir-opt --mlir-print-op-generic | xla-opt | filecheck %S/extended_dialects.mlir
