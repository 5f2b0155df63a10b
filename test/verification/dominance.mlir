// Functions of several blocks: a value is visible where its block dominates.

// RUN: xla-opt %s --split-input-file --verify-diagnostics | filecheck %s
// RUN: xla-opt %s --split-input-file --verify-diagnostics --print-op-generic | filecheck %s --check-prefix=GENERIC

// Values of the entry are visible in all blocks, those of the head in what follows it.
// CHECK-LABEL: @loop
// CHECK: cf.cond_br %{{.*}}, ^{{.*}}, ^{{.*}}
// GENERIC: "cf.cond_br"
func.func @loop(%n: i32) -> i32 {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  cf.br ^head(%zero : i32)
^head(%i: i32):
  %go = arith.cmpi slt, %i, %n : i32
  cf.cond_br %go, ^body, ^done
^body:
  %next = arith.addi %i, %one : i32
  cf.br ^head(%next : i32)
^done:
  %last = arith.subi %i, %one : i32
  func.return %last : i32
}

// -----

// The order of the text does not count, and regions see what dominates the block that they stand in.
// CHECK-LABEL: @backwards
func.func @backwards(%c: i1) -> i32 {
  cf.br ^first
^second:
  %r = scf.if %c -> (i32) {
    scf.yield %x : i32
  } else {
    %y = arith.addi %x, %x : i32
    scf.yield %y : i32
  }
  func.return %r : i32
^first:
  %x = arith.constant 2 : i32
  cf.br ^second
}

// -----

// In a block that is never reached every value may be used.
// CHECK-LABEL: @unreached
func.func @unreached() -> i32 {
  %x = arith.constant 2 : i32
  func.return %x : i32
^never:
  %y = arith.addi %x, %z : i32
  cf.br ^nor
^nor:
  %z = arith.constant 1 : i32
  func.return %z : i32
}

// -----

func.func @one_side_only(%c: i1) -> i32 {
  cf.cond_br %c, ^left, ^right
^left:
  %x = arith.constant 2 : i32
  cf.br ^end
^right:
  cf.br ^end
^end:
  // expected-error @+1 {{func.return: operand %x is used before it is defined}}
  func.return %x : i32
}

// -----

func.func @after_its_use(%c: i1) -> i32 {
  cf.br ^end
^end:
  // expected-error @+1 {{arith.addi: operand %y is used before it is defined}}
  %x = arith.addi %y, %y : i32
  %y = arith.constant 2 : i32
  func.return %x : i32
}

// -----

func.func @by_itself(%x: f32, %n: index) -> f32 {
  // expected-error @+1 {{scf.for: operand of type f32 is used before it is defined}}
  %r = scf.for %i = %n to %n step %n iter_args(%a = %a) -> (f32) {
    scf.yield %a : f32
  }
  func.return %r : f32
}
