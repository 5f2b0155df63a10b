// REQUIRES: mlir-opt
// RUN: xla-opt %programs/transformer_block.hlo -p 'native{to=tensors}' | mlir-opt-22 | filecheck %s
// RUN: xla-opt %programs/lstm.hlo -p 'native{to=tensors}' | mlir-opt-22 | filecheck %s
// RUN: xla-opt %programs/argmax.hlo -p 'native{to=tensors}' | mlir-opt-22 | filecheck %s
// RUN: xla-opt %S/plan_fusion.mlir -p linalg-plan-fusion | mlir-opt-22 | filecheck %s --check-prefix=PLAN

// CHECK: @main
// CHECK: linalg.generic

// PLAN: linalg.generic {{.*}} {fusion.group = 0 : i64
// PLAN: linalg.generic {{.*}} {fusion.inline
