// RUN: xla-opt %s -p transform-interpreter,test-transform-dialect-erase-schedule --split-input-file | filecheck %s

// Steps that find, group and annotate operations, and run others: `mark` says what a handle is.

// Each filter by itself: names, an interface, attributes, types of operands.
// CHECK-LABEL: func.func @filters
// CHECK: arith.constant {on_float, on_two} 0.000000e+00 : f32
// CHECK-NEXT: linalg.fill {on_name, linalg_op, typed}
// CHECK-NEXT: linalg.copy {label = "second", linalg_op, on_label} ins
// CHECK-NEXT: memref.copy
// CHECK-NOT: on_nothing
module attributes {transform.with_named_sequence} {
  func.func @filters(%a: memref<8xf32>, %b: memref<8xf32>) {
    %zero = arith.constant 0.0 : f32
    linalg.fill ins(%zero : f32) outs(%a : memref<8xf32>)
    linalg.copy {label = "second"} ins(%a : memref<8xf32>) outs(%b : memref<8xf32>)
    "memref.copy"(%a, %b) : (memref<8xf32>, memref<8xf32>) -> ()
    func.return
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %f = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    %0 = transform.structured.match ops{["linalg.fill"]} in %f : (!transform.any_op) -> !transform.any_op
    transform.annotate %0 "on_name" : !transform.any_op
    %1 = transform.structured.match interface{LinalgOp} in %f : (!transform.any_op) -> !transform.any_op
    transform.annotate %1 "linalg_op" : !transform.any_op
    %2 = transform.structured.match attributes {label = "second"} in %f : (!transform.any_op) -> !transform.any_op
    transform.annotate %2 "on_label" : !transform.any_op
    %3 = transform.structured.match ops{["arith.constant"]} filter_result_type = f32 in %f : (!transform.any_op) -> !transform.any_op
    transform.annotate %3 "on_float" : !transform.any_op
    %4 = transform.structured.match filter_operand_types = [f32, memref<8xf32>] in %f : (!transform.any_op) -> !transform.any_op
    transform.annotate %4 "typed" : !transform.any_op
    %5 = transform.structured.match ops{[]} in %f : (!transform.any_op) -> !transform.any_op
    transform.match.operation_empty %5 : !transform.any_op
    transform.annotate %5 "on_nothing" : !transform.any_op
    %6 = transform.structured.match ops{["arith.constant", "arith.addf"]} in %f : (!transform.any_op) -> !transform.any_op
    transform.annotate %6 "on_two" : !transform.any_op
    transform.yield
  }
}

// -----

// The first matcher that takes an operation has its action included; the second sequence fails for
// what is no copy, which is not a failure of the script.
// CHECK-LABEL: func.func @actions
// CHECK: linalg.fill {number = 1 : i64}
// CHECK: linalg.copy {number = 2 : i64} ins
// CHECK-NOT: number
module attributes {transform.with_named_sequence} {
  func.func @actions(%x: f32, %a: memref<8xf32>, %b: memref<8xf32>) {
    linalg.fill ins(%x : f32) outs(%a : memref<8xf32>)
    linalg.copy ins(%a : memref<8xf32>) outs(%b : memref<8xf32>)
    func.return
  }
  transform.named_sequence @is_fill(%op: !transform.any_op {transform.readonly}) -> !transform.any_op {
    transform.match.operation_name %op ["linalg.fill"] : !transform.any_op
    transform.yield %op : !transform.any_op
  }
  transform.named_sequence @is_copy(%op: !transform.any_op {transform.readonly}) -> !transform.any_op {
    transform.match.operation_name %op ["linalg.fill", "linalg.copy"] : !transform.any_op
    transform.yield %op : !transform.any_op
  }
  transform.named_sequence @first(%op: !transform.any_op {transform.readonly}) {
    %one = transform.param.constant 1 : i64 -> !transform.param<i64>
    transform.annotate %op "number" = %one : !transform.any_op, !transform.param<i64>
    transform.yield
  }
  transform.named_sequence @second(%op: !transform.any_op {transform.readonly}) {
    %two = transform.param.constant 2 : i64 -> !transform.param<i64>
    transform.annotate %op "number" = %two : !transform.any_op, !transform.param<i64>
    transform.yield
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.consumed}) {
    %updated = transform.foreach_match in %root @is_fill -> @first, @is_copy -> @second : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

// Handles taken apart and put together; the body of foreach sees one operation at a time; a failure
// that is suppressed leaves the rest to run, one that is compared is none.
// CHECK-LABEL: func.func @groups
// CHECK-SAME: parent
// CHECK: linalg.fill {left, each, tried} ins
// CHECK: linalg.fill {both, each, tried} ins
// CHECK: linalg.fill {both, each, tried} ins
module attributes {transform.with_named_sequence} {
  func.func @groups(%x: f32, %a: memref<8xf32>) {
    linalg.fill ins(%x : f32) outs(%a : memref<8xf32>)
    linalg.fill ins(%x : f32) outs(%a : memref<8xf32>)
    linalg.fill ins(%x : f32) outs(%a : memref<8xf32>)
    func.return
  }
  transform.named_sequence @try(%op: !transform.any_op {transform.readonly}) {
    transform.annotate %op "tried" : !transform.any_op
    transform.match.operation_name %op ["linalg.copy"] : !transform.any_op
    transform.annotate %op "taken" : !transform.any_op
    transform.yield
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %fills = transform.structured.match ops{["linalg.fill"]} in %root : (!transform.any_op) -> !transform.any_op
    %a, %rest = transform.split_handle %fills {overflow_result = 1 : i64} : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.annotate %a "left" : !transform.any_op
    %b, %c = transform.split_handle %rest : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    %both = transform.merge_handles deduplicate %b, %c, %b : !transform.any_op
    transform.annotate %both "both" : !transform.any_op
    %parent = transform.get_parent_op %fills {deduplicate, op_name = "func.func"} : (!transform.any_op) -> !transform.any_op
    transform.annotate %parent "parent" : !transform.any_op
    %again = transform.foreach %fills : !transform.any_op -> !transform.any_op {
    ^bb0(%one: !transform.any_op):
      %cast = transform.cast %one : !transform.any_op to !transform.op<"linalg.fill">
      transform.annotate %one "each" : !transform.any_op
      transform.yield %one : !transform.any_op
    }
    transform.include @try failures(suppress) (%again) : (!transform.any_op) -> ()
    %two = transform.param.constant 2 : i64 -> !transform.param<i64>
    %three = transform.param.constant 3 : i64 -> !transform.param<i64>
    transform.match.param.cmpi lt %two, %three : !transform.param<i64>
    transform.yield
  }
}

// -----

// A pass with options of its own; the handle to the module is the one it returns.
// CHECK-LABEL: func.func @passes
// CHECK: linalg.fill {schedule.nest = #schedule.nest<loops = [d0 by 4], vector = d0 x 4>, after}
module attributes {transform.with_named_sequence} {
  func.func @passes(%x: f32, %a: memref<64xf32>) {
    linalg.fill ins(%x : f32) outs(%a : memref<64xf32>)
    func.return
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.consumed}) {
    %planned = transform.apply_registered_pass "xla-plan-schedules" with options = {vector_bits = 128 : i64} to %root : (!transform.any_op) -> !transform.any_op
    %fill = transform.structured.match ops{["linalg.fill"]} in %planned : (!transform.any_op) -> !transform.any_op
    transform.annotate %fill "after" : !transform.any_op
    transform.yield
  }
}
