// REQUIRES: mlir-opt
// RUN: xla-opt %S/bufferize_functions.mlir --split-input-file -p xla-bufferize | mlir-opt --split-input-file | filecheck %s
// RUN: xla-opt %S/bufferize_in_place.mlir --split-input-file -p xla-bufferize,xla-outline-kernels,xla-plan-buffers | mlir-opt --split-input-file | filecheck %s
// RUN: xla-opt %S/bufferize_control_flow.mlir --split-input-file -p xla-bufferize,xla-outline-kernels,xla-plan-buffers | mlir-opt --split-input-file | filecheck %s
// RUN: xla-opt %S/plan_buffers.mlir --split-input-file -p xla-outline-kernels,xla-plan-buffers | mlir-opt --split-input-file | filecheck %s

// mlir-opt reads and verifies what the passes print.

// CHECK: func.func
