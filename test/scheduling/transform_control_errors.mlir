// RUN: xla-opt %s -p transform-interpreter --split-input-file --verify-diagnostics
// RUN: not xla-opt %s -p 'transform-interpreter{entry_point=start}' 2>&1 | filecheck %s --check-prefix=ENTRY
// RUN: not xla-opt %s -p 'transform-interpreter{script="/no/such.mlir"}' 2>&1 | filecheck %s --check-prefix=FILE
// RUN: not xla-opt %s -p 'transform-interpreter{knobs="width"}' 2>&1 | filecheck %s --check-prefix=KNOB
// ENTRY: transform-interpreter: there is no transform.named_sequence @start
// FILE: transform-interpreter: /no/such.mlir: error: No such file or directory
// KNOB: transform-interpreter: a knob is set by name=option, not width

// Steps of control that cannot be done, and options that are wrong.

// expected-error@+9 {{transform.structured.match: it is matched in one operation; the handle has 2}}
module attributes {transform.with_named_sequence} {
  func.func @main(%x: f32, %a: memref<8xf32>) {
    linalg.fill ins(%x : f32) outs(%a : memref<8xf32>)
    linalg.fill ins(%x : f32) outs(%a : memref<8xf32>)
    func.return
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %0 = transform.structured.match ops{["linalg.fill"]} in %root : (!transform.any_op) -> !transform.any_op
    %1 = transform.structured.match ops{["func.func"]} in %0 : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

// expected-error-re@+9 {{transform.match.operation_name: linalg.fill at {{.*}}control_errors.mlir:{{[0-9]+}}:5: it is none of linalg.copy}}
module attributes {transform.with_named_sequence} {
  func.func @main(%x: f32, %a: memref<8xf32>) {
    linalg.fill ins(%x : f32) outs(%a : memref<8xf32>)
    linalg.fill ins(%x : f32) outs(%a : memref<8xf32>)
    func.return
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %0 = transform.structured.match ops{["linalg.fill"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.match.operation_name %0 ["linalg.copy"] : !transform.any_op
    transform.yield
  }
}

// -----

// expected-error-re@+9 {{transform.match.operation_empty: linalg.fill at {{.*}}control_errors.mlir:{{[0-9]+}}:5: the handle is not empty}}
module attributes {transform.with_named_sequence} {
  func.func @main(%x: f32, %a: memref<8xf32>) {
    linalg.fill ins(%x : f32) outs(%a : memref<8xf32>)
    linalg.fill ins(%x : f32) outs(%a : memref<8xf32>)
    func.return
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %0 = transform.structured.match ops{["linalg.fill"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.match.operation_empty %0 : !transform.any_op
    transform.yield
  }
}

// -----

// expected-error@+10 {{transform.match.param.cmpi: parameter 2 : i64: is not gt 2}}
module attributes {transform.with_named_sequence} {
  func.func @main(%x: f32, %a: memref<8xf32>) {
    linalg.fill ins(%x : f32) outs(%a : memref<8xf32>)
    linalg.fill ins(%x : f32) outs(%a : memref<8xf32>)
    func.return
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %0 = transform.structured.match ops{["linalg.fill"]} in %root : (!transform.any_op) -> !transform.any_op
    %p = transform.param.constant 2 : i64 -> !transform.param<i64>
    transform.match.param.cmpi gt %p, %p : !transform.param<i64>
    transform.yield
  }
}

// -----

// expected-error@+10 {{transform.match.param.cmpi: parameters that are compared are integers}}
module attributes {transform.with_named_sequence} {
  func.func @main(%x: f32, %a: memref<8xf32>) {
    linalg.fill ins(%x : f32) outs(%a : memref<8xf32>)
    linalg.fill ins(%x : f32) outs(%a : memref<8xf32>)
    func.return
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %0 = transform.structured.match ops{["linalg.fill"]} in %root : (!transform.any_op) -> !transform.any_op
    %p = transform.param.constant "two" -> !transform.any_param
    transform.match.param.cmpi eq %p, %p : !transform.any_param
    transform.yield
  }
}

// -----

// expected-error-re@+9 {{transform.cast: linalg.fill at {{.*}}control_errors.mlir:{{[0-9]+}}:5: it is no linalg.copy}}
module attributes {transform.with_named_sequence} {
  func.func @main(%x: f32, %a: memref<8xf32>) {
    linalg.fill ins(%x : f32) outs(%a : memref<8xf32>)
    linalg.fill ins(%x : f32) outs(%a : memref<8xf32>)
    func.return
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %0 = transform.structured.match ops{["linalg.fill"]} in %root : (!transform.any_op) -> !transform.any_op
    %1 = transform.cast %0 : !transform.any_op to !transform.op<"linalg.copy">
    transform.yield
  }
}

// -----

// expected-error-re@+9 {{transform.get_parent_op: linalg.fill at {{.*}}control_errors.mlir:{{[0-9]+}}:5: nothing around it is what is asked for}}
module attributes {transform.with_named_sequence} {
  func.func @main(%x: f32, %a: memref<8xf32>) {
    linalg.fill ins(%x : f32) outs(%a : memref<8xf32>)
    linalg.fill ins(%x : f32) outs(%a : memref<8xf32>)
    func.return
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %0 = transform.structured.match ops{["linalg.fill"]} in %root : (!transform.any_op) -> !transform.any_op
    %1 = transform.get_parent_op %0 {op_name = "scf.for"} : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

// expected-error-re@+9 {{transform.split_handle: linalg.fill at {{.*}}control_errors.mlir:{{[0-9]+}}:5: the handle has 2 operations, to be split in 3}}
module attributes {transform.with_named_sequence} {
  func.func @main(%x: f32, %a: memref<8xf32>) {
    linalg.fill ins(%x : f32) outs(%a : memref<8xf32>)
    linalg.fill ins(%x : f32) outs(%a : memref<8xf32>)
    func.return
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %0 = transform.structured.match ops{["linalg.fill"]} in %root : (!transform.any_op) -> !transform.any_op
    %1:3 = transform.split_handle %0 : (!transform.any_op) -> (!transform.any_op, !transform.any_op, !transform.any_op)
    transform.yield
  }
}

// -----

// expected-error@+9 {{transform.tune.knob: nothing is selected for "width"; the option knobs can: width=...}}
module attributes {transform.with_named_sequence} {
  func.func @main(%x: f32, %a: memref<8xf32>) {
    linalg.fill ins(%x : f32) outs(%a : memref<8xf32>)
    linalg.fill ins(%x : f32) outs(%a : memref<8xf32>)
    func.return
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %0 = transform.structured.match ops{["linalg.fill"]} in %root : (!transform.any_op) -> !transform.any_op
    %w = transform.tune.knob<"width"> options = [4, 8] -> !transform.any_param
    transform.yield
  }
}

// -----

// expected-error@+9 {{transform.include: there is no transform.named_sequence @nowhere}}
module attributes {transform.with_named_sequence} {
  func.func @main(%x: f32, %a: memref<8xf32>) {
    linalg.fill ins(%x : f32) outs(%a : memref<8xf32>)
    linalg.fill ins(%x : f32) outs(%a : memref<8xf32>)
    func.return
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %0 = transform.structured.match ops{["linalg.fill"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.include @nowhere failures(propagate) (%0) : (!transform.any_op) -> ()
    transform.yield
  }
}

// -----

// expected-error@+8 {{transform.include: @again includes itself}}
module attributes {transform.with_named_sequence} {
  func.func @main(%x: f32, %a: memref<8xf32>) {
    linalg.fill ins(%x : f32) outs(%a : memref<8xf32>)
    linalg.fill ins(%x : f32) outs(%a : memref<8xf32>)
    func.return
  }
  transform.named_sequence @again(%op: !transform.any_op {transform.readonly}) {
    transform.include @again failures(propagate) (%op) : (!transform.any_op) -> ()
    transform.yield
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %0 = transform.structured.match ops{["linalg.fill"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.include @again failures(propagate) (%0) : (!transform.any_op) -> ()
    transform.yield
  }
}

// -----

// expected-error@+12 {{transform.include: @two has 2 arguments; given 1}}
module attributes {transform.with_named_sequence} {
  func.func @main(%x: f32, %a: memref<8xf32>) {
    linalg.fill ins(%x : f32) outs(%a : memref<8xf32>)
    linalg.fill ins(%x : f32) outs(%a : memref<8xf32>)
    func.return
  }
  transform.named_sequence @two(%a: !transform.any_op {transform.readonly}, %b: !transform.any_op {transform.readonly}) {
    transform.yield
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %0 = transform.structured.match ops{["linalg.fill"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.include @two failures(propagate) (%0) : (!transform.any_op) -> ()
    transform.yield
  }
}

// -----

// expected-error@+9 {{transform.foreach: handles that go side by side have [2, 1] operations}}
module attributes {transform.with_named_sequence} {
  func.func @main(%x: f32, %a: memref<8xf32>) {
    linalg.fill ins(%x : f32) outs(%a : memref<8xf32>)
    linalg.fill ins(%x : f32) outs(%a : memref<8xf32>)
    func.return
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %0 = transform.structured.match ops{["linalg.fill"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.foreach %0, %root : !transform.any_op, !transform.any_op {
    ^bb0(%one: !transform.any_op, %other: !transform.any_op):
      transform.yield
    }
    transform.yield
  }
}

// -----

// expected-error-re@+10 {{transform.apply_registered_pass: func.func at {{.*}}control_errors.mlir:{{[0-9]+}}:3: pass xla-plan-schedules runs on builtin.module}}
module attributes {transform.with_named_sequence} {
  func.func @main(%x: f32, %a: memref<8xf32>) {
    linalg.fill ins(%x : f32) outs(%a : memref<8xf32>)
    linalg.fill ins(%x : f32) outs(%a : memref<8xf32>)
    func.return
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %0 = transform.structured.match ops{["linalg.fill"]} in %root : (!transform.any_op) -> !transform.any_op
    %f = transform.get_parent_op %0 {deduplicate} : (!transform.any_op) -> !transform.any_op
    %1 = transform.apply_registered_pass "xla-plan-schedules" to %f : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

// expected-error@+9 {{transform.apply_registered_pass: there is no pass 'xla-plan'}}
module attributes {transform.with_named_sequence} {
  func.func @main(%x: f32, %a: memref<8xf32>) {
    linalg.fill ins(%x : f32) outs(%a : memref<8xf32>)
    linalg.fill ins(%x : f32) outs(%a : memref<8xf32>)
    func.return
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %0 = transform.structured.match ops{["linalg.fill"]} in %root : (!transform.any_op) -> !transform.any_op
    %1 = transform.apply_registered_pass "xla-plan" to %root : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

// expected-error@+9 {{transform.apply_registered_pass: pass xla-plan-schedules: }}
module attributes {transform.with_named_sequence} {
  func.func @main(%x: f32, %a: memref<8xf32>) {
    linalg.fill ins(%x : f32) outs(%a : memref<8xf32>)
    linalg.fill ins(%x : f32) outs(%a : memref<8xf32>)
    func.return
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %0 = transform.structured.match ops{["linalg.fill"]} in %root : (!transform.any_op) -> !transform.any_op
    %1 = transform.apply_registered_pass "xla-plan-schedules" with options = {bits = 4 : i64} to %root : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

// expected-error-re@+10 {{transform.structured.match: %root stands for what transform.apply_registered_pass at {{.*}} has consumed}}
module attributes {transform.with_named_sequence} {
  func.func @main(%x: f32, %a: memref<8xf32>) {
    linalg.fill ins(%x : f32) outs(%a : memref<8xf32>)
    linalg.fill ins(%x : f32) outs(%a : memref<8xf32>)
    func.return
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %0 = transform.structured.match ops{["linalg.fill"]} in %root : (!transform.any_op) -> !transform.any_op
    %1 = transform.apply_registered_pass "xla-plan-schedules" to %root : (!transform.any_op) -> !transform.any_op
    %2 = transform.structured.match ops{["func.func"]} in %root : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

// expected-error-re@+10 {{transform.structured.vectorize: linalg.fill at {{.*}}control_errors.mlir:{{[0-9]+}}:5: the handle stands for this operation twice}}
module attributes {transform.with_named_sequence} {
  func.func @main(%x: f32, %a: memref<8xf32>) {
    linalg.fill ins(%x : f32) outs(%a : memref<8xf32>)
    linalg.fill ins(%x : f32) outs(%a : memref<8xf32>)
    func.return
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %0 = transform.structured.match ops{["linalg.fill"]} in %root : (!transform.any_op) -> !transform.any_op
    %1 = transform.merge_handles %0, %0 : !transform.any_op
    transform.structured.vectorize %1 : !transform.any_op
    transform.yield
  }
}

// -----

// expected-error@+9 {{transform.select: this step is not supported}}
module attributes {transform.with_named_sequence} {
  func.func @main(%x: f32, %a: memref<8xf32>) {
    linalg.fill ins(%x : f32) outs(%a : memref<8xf32>)
    linalg.fill ins(%x : f32) outs(%a : memref<8xf32>)
    func.return
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %0 = transform.structured.match ops{["linalg.fill"]} in %root : (!transform.any_op) -> !transform.any_op
    %1 = "transform.select"(%0) <{op_name = "linalg.fill"}> : (!transform.any_op) -> !transform.any_op
    transform.yield
  }
}

// -----

// expected-error@+9 {{transform.foreach: 1 results; the step has 0}}
module attributes {transform.with_named_sequence} {
  func.func @main(%x: f32, %a: memref<8xf32>) {
    linalg.fill ins(%x : f32) outs(%a : memref<8xf32>)
    linalg.fill ins(%x : f32) outs(%a : memref<8xf32>)
    func.return
  }
  transform.named_sequence @__transform_main(%root: !transform.any_op {transform.readonly}) {
    %0 = transform.structured.match ops{["linalg.fill"]} in %root : (!transform.any_op) -> !transform.any_op
    %1 = transform.foreach %0 : !transform.any_op -> !transform.any_op {
    ^bb0(%each: !transform.any_op):
      transform.yield
    }
    transform.yield
  }
}
