// RUN: xla-opt %s --split-input-file -p xla-bufferize | filecheck %s

// Both branches write to the result; a branch that only passes a value on copies it.

// CHECK-LABEL: func.func @branches(
// CHECK-SAME:    %c: memref<i1>, %a: memref<4xf32>, %result: memref<4xf32>)
// CHECK:         %condition = memref.load %c[] : memref<i1>
// CHECK-NEXT:    %n = scf.if %condition -> (index) {
// CHECK-NEXT:      linalg.exp ins(%a : memref<4xf32>) outs(%result : memref<4xf32>)
// CHECK-NEXT:      %c1 = arith.constant 1 : index
// CHECK-NEXT:      scf.yield %c1 : index
// CHECK-NEXT:    } else {
// CHECK-NEXT:      %c2 = arith.constant 2 : index
// CHECK-NEXT:      "memref.copy"(%a, %result)
// CHECK-NEXT:      scf.yield %c2 : index
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
func.func @branches(%c: tensor<i1>, %a: tensor<4xf32>) -> tensor<4xf32> {
  %condition = tensor.extract %c[] : tensor<i1>
  %n, %r = scf.if %condition -> (index, tensor<4xf32>) {
    %e = tensor.empty() : tensor<4xf32>
    %b = linalg.exp ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    %c1 = arith.constant 1 : index
    scf.yield %c1, %b : index, tensor<4xf32>
  } else {
    %c2 = arith.constant 2 : index
    scf.yield %c2, %a : index, tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @switch(
// CHECK:         scf.index_switch %i
// CHECK-NEXT:    case 3 {
// CHECK-NEXT:      "memref.copy"(%a, %result)
// CHECK-NEXT:      scf.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    default {
// CHECK-NEXT:      linalg.exp ins(%a : memref<4xf32>) outs(%result : memref<4xf32>)
// CHECK-NEXT:      scf.yield
func.func @switch(%i: index, %a: tensor<4xf32>) -> tensor<4xf32> {
  %r = scf.index_switch %i -> tensor<4xf32>
  case 3 {
    scf.yield %a : tensor<4xf32>
  }
  default {
    %e = tensor.empty() : tensor<4xf32>
    %b = linalg.exp ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %b : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// A carried tensor is updated in place, in the function's result; what the loop does not change
// stays where it is; scalars are carried as before.

// CHECK-LABEL: func.func @accumulate(
// CHECK-SAME:    %a: memref<4xf32>, %w: memref<9x4xf32>, %n: index, %result: memref<4xf32>)
// CHECK:         "memref.copy"(%a, %result)
// CHECK-NEXT:    %count = scf.for %i = %c0 to %n step %c1 iter_args(%k = %c0) -> (index) {
// CHECK-NEXT:      %row = memref.subview %w[%i, 0] [1, 4] [1, 1] : memref<9x4xf32> to memref<4xf32, strided<[1], offset: ?>>
// CHECK-NEXT:      linalg.generic {{.*}} ins(%row : memref<4xf32, strided<[1], offset: ?>>) outs(%result : memref<4xf32>) {
// CHECK:           %k1 = arith.addi %k, %c1
// CHECK-NEXT:      scf.yield %k1 : index
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
func.func @accumulate(%a: tensor<4xf32>, %w: tensor<9x4xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %count, %r, %same = scf.for %i = %c0 to %n step %c1 iter_args(%k = %c0, %x = %a, %v = %w) -> (index, tensor<4xf32>, tensor<9x4xf32>) {
    %row = tensor.extract_slice %v[%i, 0][1, 4][1, 1] : tensor<9x4xf32> to tensor<4xf32>
    %y = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%row : tensor<4xf32>) outs(%x : tensor<4xf32>) {
    ^bb0(%p: f32, %q: f32):
      %s = arith.addf %p, %q : f32
      linalg.yield %s : f32
    } -> tensor<4xf32>
    %k1 = arith.addi %k, %c1 : index
    scf.yield %k1, %y, %v : index, tensor<4xf32>, tensor<9x4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// Carried values that change places go through one temporary copy.

// CHECK-LABEL: func.func @swap(
// CHECK-SAME:    %a: memref<4xf32>, %b: memref<4xf32>, %n: index, %result: memref<4xf32>, %result_1: memref<4xf32>)
// CHECK:         "memref.copy"(%a, %result)
// CHECK-NEXT:    "memref.copy"(%b, %result_1)
// CHECK-NEXT:    scf.for
// CHECK-NEXT:      %[[OLD:.*]] = memref.alloc() : memref<4xf32>
// CHECK-NEXT:      "memref.copy"(%result_1, %[[OLD]])
// CHECK-NEXT:      "memref.copy"(%result, %result_1)
// CHECK-NEXT:      "memref.copy"(%[[OLD]], %result)
// CHECK-NEXT:    }
func.func @swap(%a: tensor<4xf32>, %b: tensor<4xf32>, %n: index) -> (tensor<4xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r, %s = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a, %y = %b) -> (tensor<4xf32>, tensor<4xf32>) {
    scf.yield %y, %x : tensor<4xf32>, tensor<4xf32>
  }
  return %r, %s : tensor<4xf32>, tensor<4xf32>
}

// -----

// A loop with a condition in a tensor. The counter is updated in place, as is the sequence; the
// state is computed in its own memory although it is read by the operation before.

// CHECK-LABEL: func.func @while(
// CHECK-SAME:    %n: memref<i32>, %h: memref<4xf32>, %w: memref<4xf32>, %result: memref<8x4xf32>, %result_1: memref<4xf32>)
// CHECK:         linalg.fill ins(%zero : i32) outs(%start : memref<i32>)
// CHECK-NEXT:    linalg.fill ins(%fzero : f32) outs(%result : memref<8x4xf32>)
// CHECK-NEXT:    "memref.copy"(%h, %result_1)
// CHECK-NEXT:    scf.while () : () -> () {
// CHECK-NEXT:      %p = memref.alloc() : memref<i1>
// CHECK-NEXT:      linalg.generic {{.*}} ins(%start, %n : memref<i32>, memref<i32>) outs(%p : memref<i1>) {
// CHECK:           %condition = memref.load %p[] : memref<i1>
// CHECK-NEXT:      scf.condition(%condition)
// CHECK-NEXT:    } do {
// CHECK-NEXT:      linalg.generic {{.*}} ins(%w : memref<4xf32>) outs(%result_1 : memref<4xf32>) {
// CHECK-NEXT:      ^bb0(%[[FACTOR:.*]]: f32, %[[OLD:.*]]: f32):
// CHECK-NEXT:        %{{.*}} = arith.mulf %[[OLD]], %[[FACTOR]] : f32
// CHECK:           %k = memref.load %start[] : memref<i32>
// CHECK:           %[[ROW:.*]] = memref.subview %result[%index, 0] [1, 4] [1, 1]
// CHECK-NEXT:      "memref.copy"(%result_1, %[[ROW]])
// CHECK-NEXT:      linalg.generic {{.*}} outs(%start : memref<i32>) {
// CHECK-NOT:       memref.copy
// CHECK:           scf.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
func.func @while(%n: tensor<i32>, %h: tensor<4xf32>, %w: tensor<4xf32>) -> (tensor<8x4xf32>, tensor<4xf32>) {
  %zero = arith.constant 0 : i32
  %fzero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<i32>
  %e1 = tensor.empty() : tensor<8x4xf32>
  %start = linalg.fill ins(%zero : i32) outs(%e0 : tensor<i32>) -> tensor<i32>
  %ys = linalg.fill ins(%fzero : f32) outs(%e1 : tensor<8x4xf32>) -> tensor<8x4xf32>
  %r:3 = scf.while (%i = %start, %sequence = %ys, %state = %h) : (tensor<i32>, tensor<8x4xf32>, tensor<4xf32>) -> (tensor<i32>, tensor<8x4xf32>, tensor<4xf32>) {
    %e = tensor.empty() : tensor<i1>
    %p = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []} ins(%i, %n : tensor<i32>, tensor<i32>) outs(%e : tensor<i1>) {
    ^bb0(%q: i32, %o: i32, %t: i1):
      %s = arith.cmpi slt, %q, %o : i32
      linalg.yield %s : i1
    } -> tensor<i1>
    %condition = tensor.extract %p[] : tensor<i1>
    scf.condition(%condition) %i, %sequence, %state : tensor<i32>, tensor<8x4xf32>, tensor<4xf32>
  } do {
  ^bb0(%i: tensor<i32>, %sequence: tensor<8x4xf32>, %state: tensor<4xf32>):
    %e = tensor.empty() : tensor<4xf32>
    %next = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%state, %w : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %s = arith.mulf %p, %q : f32
      linalg.yield %s : f32
    } -> tensor<4xf32>
    %k = tensor.extract %i[] : tensor<i32>
    %index = arith.index_cast %k : i32 to index
    %more = tensor.insert_slice %next into %sequence[%index, 0][1, 4][1, 1] : tensor<4xf32> into tensor<8x4xf32>
    %e2 = tensor.empty() : tensor<i32>
    %i1 = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []} ins(%i : tensor<i32>) outs(%e2 : tensor<i32>) {
    ^bb0(%q: i32, %o: i32):
      %one = arith.constant 1 : i32
      %s = arith.addi %q, %one : i32
      linalg.yield %s : i32
    } -> tensor<i32>
    scf.yield %i1, %more, %next : tensor<i32>, tensor<8x4xf32>, tensor<4xf32>
  }
  return %r#1, %r#2 : tensor<8x4xf32>, tensor<4xf32>
}

// -----

// The same initial value is carried twice: only one of them may take over its memory.

// CHECK-LABEL: func.func @carried_twice(
// CHECK:         linalg.exp ins(%a : memref<4xf32>) outs(%result : memref<4xf32>)
// CHECK-NEXT:    "memref.copy"(%result, %result_1)
// CHECK-NEXT:    scf.for
// CHECK-NEXT:      memref.store %x, %result[%i]
// CHECK-NEXT:      memref.store %x, %result_1[%c0]
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
func.func @carried_twice(%a: tensor<4xf32>, %x: f32, %n: index) -> (tensor<4xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<4xf32>
  %b = linalg.exp ins(%a : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %r, %s = scf.for %i = %c0 to %n step %c1 iter_args(%y = %b, %z = %b) -> (tensor<4xf32>, tensor<4xf32>) {
    %u = tensor.insert %x into %y[%i] : tensor<4xf32>
    %v = tensor.insert %x into %z[%c0] : tensor<4xf32>
    scf.yield %u, %v : tensor<4xf32>, tensor<4xf32>
  }
  return %r, %s : tensor<4xf32>, tensor<4xf32>
}

// -----

// A while loop hands its body something else than it carries: it has memory of its own, which is
// the result's.

// CHECK-LABEL: func.func @computed_before(
// CHECK-SAME:    %a: memref<4xf32>, %c: memref<i1>, %result: memref<4xf32>)
// CHECK:         %x = memref.alloc() : memref<4xf32>
// CHECK-NEXT:    "memref.copy"(%a, %x)
// CHECK-NEXT:    scf.while () : () -> () {
// CHECK-NEXT:      linalg.exp ins(%x : memref<4xf32>) outs(%result : memref<4xf32>)
// CHECK-NEXT:      %condition = memref.load %c[] : memref<i1>
// CHECK-NEXT:      scf.condition(%condition)
// CHECK-NEXT:    } do {
// CHECK-NEXT:      linalg.sqrt ins(%result : memref<4xf32>) outs(%x : memref<4xf32>)
// CHECK-NEXT:      scf.yield
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
func.func @computed_before(%a: tensor<4xf32>, %c: tensor<i1>) -> tensor<4xf32> {
  %r = scf.while (%x = %a) : (tensor<4xf32>) -> tensor<4xf32> {
    %e = tensor.empty() : tensor<4xf32>
    %y = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    %condition = tensor.extract %c[] : tensor<i1>
    scf.condition(%condition) %y : tensor<4xf32>
  } do {
  ^bb0(%y: tensor<4xf32>):
    %e = tensor.empty() : tensor<4xf32>
    %z = linalg.sqrt ins(%y : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %z : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// What is filled with one number is filled again rather than copied, where a loop changes it twice.

// CHECK-LABEL: func.func @filled(
// CHECK:         linalg.fill ins(%x : f32) outs(%[[FIRST:.*]] : memref<4xf32>)
// CHECK-NEXT:    %[[OTHER:.*]] = memref.alloc() : memref<4xf32>
// CHECK-NEXT:    linalg.fill ins(%x : f32) outs(%[[OTHER]] : memref<4xf32>)
// CHECK-NEXT:    scf.for
func.func @filled(%x: f32, %n: index) -> (tensor<4xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<4xf32>
  %b = linalg.fill ins(%x : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%c = %b, %d = %b) -> (tensor<4xf32>, tensor<4xf32>) {
    %f = linalg.exp ins(%c : tensor<4xf32>) outs(%c : tensor<4xf32>) -> tensor<4xf32>
    %g = linalg.sqrt ins(%d : tensor<4xf32>) outs(%d : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %f, %g : tensor<4xf32>, tensor<4xf32>
  }
  return %r#1, %r#0 : tensor<4xf32>, tensor<4xf32>
}

// -----

// A loop of one turn or none is how tensors are changed in place under a condition: without tensors
// it needs no loop.

// CHECK-LABEL: func.func @at_most_once(
// CHECK:         %i = arith.index_cast %n : i32 to index
// CHECK-NEXT:    %inside = arith.cmpi ult, %i, %c4 : index
// CHECK-NEXT:    "memref.copy"(%a, %result)
// CHECK-NEXT:    scf.if %inside {
// CHECK-NEXT:      memref.store %x, %result[%c0] : memref<4xf32>
// CHECK-NEXT:      memref.store %x, %result[%i] : memref<4xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    func.return
func.func @at_most_once(%a: tensor<4xf32>, %n: i32, %x: f32) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %i = arith.index_cast %n : i32 to index
  %inside = arith.cmpi ult, %i, %c4 : index
  %turns = arith.index_castui %inside : i1 to index
  %r = scf.for %turn = %c0 to %turns step %c1 iter_args(%t = %a) -> (tensor<4xf32>) {
    %first = tensor.insert %x into %t[%turn] : tensor<4xf32>
    %second = tensor.insert %x into %first[%i] : tensor<4xf32>
    scf.yield %second : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// One that carries a scalar stays, and so does one that starts elsewhere.

// CHECK-LABEL: func.func @carries_a_scalar(
// CHECK:         scf.for %turn = %c0 to %turns step %c1 iter_args
// CHECK:         scf.for %second_turn = %c1 to %turns step %c1 {
// CHECK:         func.return %s : f32
func.func @carries_a_scalar(%a: tensor<4xf32>, %c: i1, %x: f32) -> (tensor<4xf32>, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %turns = arith.index_castui %c : i1 to index
  %r, %s = scf.for %turn = %c0 to %turns step %c1 iter_args(%t = %a, %y = %x) -> (tensor<4xf32>, f32) {
    %u = tensor.insert %y into %t[%turn] : tensor<4xf32>
    %z = arith.addf %y, %y : f32
    scf.yield %u, %z : tensor<4xf32>, f32
  }
  %q = scf.for %second_turn = %c1 to %turns step %c1 iter_args(%t = %r) -> (tensor<4xf32>) {
    %u = tensor.insert %s into %t[%second_turn] : tensor<4xf32>
    scf.yield %u : tensor<4xf32>
  }
  return %q, %s : tensor<4xf32>, f32
}
