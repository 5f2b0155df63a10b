// REQUIRES: mlir-opt
// RUN: xla-opt %S/transform_syntax.mlir | mlir-opt | xla-opt | filecheck %S/transform_syntax.mlir
// RUN: xla-opt %S/transform_syntax.mlir --print-op-generic | mlir-opt --mlir-print-op-generic | xla-opt | filecheck %S/transform_syntax.mlir

// MLIR reads the operations of the transform dialect as we print them, and the other way round.
