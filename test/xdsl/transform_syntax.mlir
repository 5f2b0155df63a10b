// RUN: xla-opt %s | xla-opt | filecheck %s
// RUN: xla-opt %s --print-op-generic | xla-opt | filecheck %s
// Operations of the transform dialect in MLIR's syntax and in generic form.

// CHECK: transform.named_sequence @tile(%{{[a-z0-9_]+}}: !transform.any_op {transform.readonly}) {
// CHECK: transform.named_sequence @is_mm(%{{[a-z0-9_]+}}: !transform.any_op {transform.readonly}) -> !transform.any_op {
// CHECK: transform.match.operation_name %{{[a-z0-9_]+}} ["linalg.matmul"] : !transform.any_op
// CHECK: transform.named_sequence @__transform_main(%{{[a-z0-9_]+}}: !transform.any_op {transform.consumed}) {
// CHECK: %{{[a-z0-9_]+}} = transform.foreach_match in %{{[a-z0-9_]+}} @is_mm -> @tile : (!transform.any_op) -> !transform.any_op
// CHECK: %{{[a-z0-9_]+}} = transform.structured.match ops{["linalg.matmul"]} in %{{[a-z0-9_]+}} : (!transform.any_op) -> !transform.any_op
// CHECK: %{{[a-z0-9_]+}} = transform.param.constant 2 : i64 -> !transform.param<i64>
// CHECK: %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} = transform.structured.tile_using_for %{{[a-z0-9_]+}} tile_sizes [%{{[a-z0-9_]+}}, 4] : (!transform.any_op, !transform.param<i64>) -> (!transform.any_op, !transform.any_op, !transform.any_op)
// CHECK: %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} = transform.structured.tile_using_forall %{{[a-z0-9_]+}} tile_sizes [1] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
// CHECK: %{{[a-z0-9_]+}} = transform.structured.generalize %{{[a-z0-9_]+}} : (!transform.any_op) -> !transform.any_op
// CHECK: %{{[a-z0-9_]+}} = transform.structured.interchange %{{[a-z0-9_]+}} iterator_interchange = [1, 0, 2] : (!transform.any_op) -> !transform.any_op
// CHECK: transform.loop.unroll %{{[a-z0-9_]+}} {factor = 2 : i64} : !transform.any_op
// CHECK: transform.annotate %{{[a-z0-9_]+}} "hello" = %{{[a-z0-9_]+}} : !transform.any_op, !transform.param<i64>
// CHECK: transform.annotate %{{[a-z0-9_]+}} "unit" : !transform.any_op
// CHECK: transform.foreach %{{[a-z0-9_]+}} : !transform.any_op {
// CHECK: transform.include @tile failures(propagate) (%{{[a-z0-9_]+}}) : (!transform.any_op) -> ()
// CHECK: %{{[a-z0-9_]+}} = transform.tune.knob<"u"> = 4 : i64 from options = [2 : i64, 4 : i64, 8 : i64] -> !transform.any_param
// CHECK: %{{[a-z0-9_]+}} = transform.merge_handles deduplicate %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} : !transform.any_op
// CHECK: %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} = transform.split_handle %{{[a-z0-9_]+}} {overflow_result = 0 : i64} : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
// CHECK: %{{[a-z0-9_]+}} = transform.cast %{{[a-z0-9_]+}} : !transform.any_op to !transform.op<"linalg.generic">
// CHECK: %{{[a-z0-9_]+}} = transform.get_parent_op %{{[a-z0-9_]+}} {deduplicate, op_name = "func.func"} : (!transform.any_op) -> !transform.any_op
// CHECK: transform.match.param.cmpi le %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} : !transform.param<i64>
// CHECK: transform.match.operation_empty %{{[a-z0-9_]+}} : !transform.any_op
// CHECK: %{{[a-z0-9_]+}} = transform.structured.promote %{{[a-z0-9_]+}} {operands_to_promote = [1 : i64]} : (!transform.any_op) -> !transform.any_op
// CHECK: %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} = transform.structured.fuse_into_containing_op %{{[a-z0-9_]+}} into %{{[a-z0-9_]+}} : (!transform.any_op, !transform.any_op) -> (!transform.any_op, !transform.any_op)
// CHECK: transform.loop.unroll_and_jam %{{[a-z0-9_]+}} {factor = 2 : i64} : !transform.any_op
// CHECK: %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} = transform.structured.tile_using_forall %{{[a-z0-9_]+}} num_threads [2, %{{[a-z0-9_]+}}] : (!transform.any_op, !transform.param<i64>) -> (!transform.any_op, !transform.any_op)
// CHECK: transform.foreach %{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} with_zip_shortest : !transform.any_op, !transform.any_op {
// CHECK: transform.structured.vectorize %{{[a-z0-9_]+}} vector_sizes [1, %{{[a-z0-9_]+}}, 4] : !transform.any_op, !transform.param<i64>

module attributes {transform.with_named_sequence} {
  func.func @main(%a: memref<4x8xf32>, %b: memref<8x16xf32>, %c: memref<4x16xf32>) {
    linalg.matmul ins(%a, %b : memref<4x8xf32>, memref<8x16xf32>) outs(%c : memref<4x16xf32>)
    return
  }
  transform.named_sequence @tile(%op: !transform.any_op {transform.readonly}) {
    transform.yield
  }
  transform.named_sequence @is_mm(%op: !transform.any_op {transform.readonly}) -> !transform.any_op {
    transform.match.operation_name %op ["linalg.matmul"] : !transform.any_op
    transform.yield %op : !transform.any_op
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.consumed}) {
    %r = transform.foreach_match in %root @is_mm -> @tile : (!transform.any_op) -> !transform.any_op
    %0 = transform.structured.match ops{["linalg.matmul"]} in %r : (!transform.any_op) -> !transform.any_op
    %p = transform.param.constant 2 : i64 -> !transform.param<i64>
    %1, %l:2 = transform.structured.tile_using_for %0 tile_sizes [%p, 4] : (!transform.any_op, !transform.param<i64>) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    %2, %f = transform.structured.tile_using_forall %1 tile_sizes [1]  : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %g = transform.structured.generalize %2 : (!transform.any_op) -> !transform.any_op
    %i = transform.structured.interchange %g iterator_interchange = [1, 0, 2] : (!transform.any_op) -> !transform.any_op
    transform.loop.unroll %l#1 {factor = 2} : !transform.any_op
    transform.annotate %i "hello" = %p : !transform.any_op, !transform.param<i64>
    transform.annotate %i "unit" : !transform.any_op
    transform.foreach %i : !transform.any_op {
    ^bb0(%x: !transform.any_op):
      transform.include @tile failures(propagate) (%x) : (!transform.any_op) -> ()
      %k = transform.tune.knob<"u"> = 4 from options = [2, 4, 8] -> !transform.any_param
    }
    %m = transform.merge_handles deduplicate %i, %i : !transform.any_op
    %s:2 = transform.split_handle %m {overflow_result = 0 : i64} : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %c = transform.cast %m : !transform.any_op to !transform.op<"linalg.generic">
    %t = transform.get_parent_op %m {deduplicate, op_name = "func.func"} : (!transform.any_op) -> !transform.any_op
    transform.match.param.cmpi le %p, %p : !transform.param<i64>
    transform.match.operation_empty %m : !transform.any_op
    %n = transform.structured.promote %m {operands_to_promote = [1]} : (!transform.any_op) -> !transform.any_op
    %v, %w = transform.structured.fuse_into_containing_op %t into %t : (!transform.any_op, !transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.loop.unroll_and_jam %w {factor = 2 : i64} : !transform.any_op
    %y, %z = transform.structured.tile_using_forall %w num_threads [2, %p] : (!transform.any_op, !transform.param<i64>) -> (!transform.any_op, !transform.any_op)
    transform.foreach %y, %z with_zip_shortest : !transform.any_op, !transform.any_op {
    ^bb0(%d: !transform.any_op, %e: !transform.any_op):
    }
    transform.structured.vectorize %i vector_sizes [1, %p, 4] : !transform.any_op, !transform.param<i64>
    transform.yield
  }
}
