// What an iteration allocates and hands on to the next needs two places at a time: no arena has them.

// RUN: xla-opt %s --split-input-file --verify-diagnostics -p xla-plan-buffers --allow-unregistered-dialect

func.func @iteration(%x: memref<4xf32>, %n: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %r = scf.for %i = %zero to %n step %one iter_args(%carried = %x) -> (memref<4xf32>) {
    // expected-error @+1 {{its loop hands it on to the next iteration}}
    %a = memref.alloc() : memref<4xf32>
    "memref.copy"(%carried, %a) : (memref<4xf32>, memref<4xf32>) -> ()
    scf.yield %a : memref<4xf32>
  }
  return
}

// -----

// Also behind a branch, a choice and a cast.

func.func @behind_others(%x: memref<4xf32>, %n: index, %c: i1) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %r = scf.for %i = %zero to %n step %one iter_args(%carried = %x) -> (memref<4xf32>) {
    // expected-error @+1 {{its loop hands it on to the next iteration}}
    %a = memref.alloc() : memref<4xf32>
    %b = arith.select %c, %a, %x : memref<4xf32>
    %d = scf.if %c -> (memref<4xf32>) {
      scf.yield %b : memref<4xf32>
    } else {
      scf.yield %x : memref<4xf32>
    }
    scf.yield %d : memref<4xf32>
  }
  return
}

// -----

func.func @through_a_while(%x: memref<4xf32>) {
  %r = scf.while (%carried = %x) : (memref<4xf32>) -> memref<4xf32> {
    // expected-error @+1 {{its loop hands it on to the next iteration}}
    %a = memref.alloc() : memref<4xf32>
    %c = "test.condition"(%carried) : (memref<4xf32>) -> i1
    scf.condition(%c) %a : memref<4xf32>
  } do {
  ^bb0(%b: memref<4xf32>):
    scf.yield %b : memref<4xf32>
  }
  return
}

// -----

func.func @blocks(%x: memref<4xf32>, %c: i1) {
  cf.br ^bb1(%x : memref<4xf32>)
^bb1(%carried: memref<4xf32>):
  // expected-error @+1 {{its loop hands it on to the next iteration}}
  %a = memref.alloc() : memref<4xf32>
  cf.cond_br %c, ^bb1(%a : memref<4xf32>), ^bb2
^bb2:
  return
}

// -----

// Not so: a loop that keeps what it has, and memory of around it.

func.func @kept(%x: memref<4xf32>, %n: index, %c: i1) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %a = memref.alloc() : memref<4xf32>
  %r = scf.for %i = %zero to %n step %one iter_args(%carried = %a) -> (memref<4xf32>) {
    %b = memref.alloc() : memref<4xf32>
    %d = scf.if %c -> (memref<4xf32>) {
      scf.yield %b : memref<4xf32>
    } else {
      scf.yield %x : memref<4xf32>
    }
    "memref.copy"(%d, %carried) : (memref<4xf32>, memref<4xf32>) -> ()
    scf.yield %carried : memref<4xf32>
  }
  return
}
