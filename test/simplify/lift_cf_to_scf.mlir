// RUN: xla-opt %s -p lift-cf-to-scf | filecheck %s

// What one way alone leads to is a region, whatever follows comes behind.
// CHECK-LABEL: func.func @branch
// CHECK-NEXT:    %[[R:.*]] = scf.if %{{.*}} -> (tensor<4xf32>) {
// CHECK-NEXT:      %[[Y:.*]] = xla.negate
// CHECK-NEXT:      scf.yield %[[Y]]
// CHECK-NEXT:    } else {
// CHECK-NEXT:      scf.yield %x
// CHECK-NEXT:    }
// CHECK-NEXT:    %[[S:.*]] = xla.add %[[R]], %x
// CHECK-NEXT:    func.return %[[S]]
func.func @branch(%c: i1, %x: tensor<4xf32>) -> tensor<4xf32> {
  cf.cond_br %c, ^bb1, ^bb2(%x : tensor<4xf32>)
^bb1:
  %y = xla.negate %x : tensor<4xf32>
  cf.br ^bb2(%y : tensor<4xf32>)
^bb2(%z: tensor<4xf32>):
  %s = xla.add %z, %x : tensor<4xf32>
  func.return %s : tensor<4xf32>
}

// A block that is never reached is left out; what is the same on all ways needs no result.
// CHECK-LABEL: func.func @same
// CHECK-NEXT:    func.return %x
func.func @same(%c: i1, %x: tensor<4xf32>) -> tensor<4xf32> {
  cf.cond_br %c, ^bb2(%x : tensor<4xf32>), ^bb2(%x : tensor<4xf32>)
^bb1:
  cf.br ^bb1
^bb2(%z: tensor<4xf32>):
  func.return %z : tensor<4xf32>
}

// Numbers of cases have a sign.
// CHECK-LABEL: func.func @switch
// CHECK-NEXT:    %[[N:.*]] = arith.index_cast %n : i8 to index
// CHECK-NEXT:    scf.index_switch %[[N]] -> tensor<4xf32>
// CHECK-NEXT:    case -1 {
// CHECK:         case 3 {
// CHECK:         default {
func.func @switch(%n: i8, %x: tensor<4xf32>) -> tensor<4xf32> {
  cf.switch %n : i8, [
    default: ^end(%x : tensor<4xf32>),
    -1: ^negated,
    3: ^doubled
  ]
^negated:
  %y = xla.negate %x : tensor<4xf32>
  cf.br ^end(%y : tensor<4xf32>)
^doubled:
  %z = xla.add %x, %x : tensor<4xf32>
  cf.br ^end(%z : tensor<4xf32>)
^end(%r: tensor<4xf32>):
  func.return %r : tensor<4xf32>
}

// A loop hands on what is used behind it, `%n` here.
// CHECK-LABEL: func.func @loop
// CHECK:         %[[W:.*]], %[[N:.*]] = scf.while (%[[I:.*]] = %a) : (i32) -> (i32, i32) {
// CHECK-NEXT:      %[[S:.*]] = arith.addi %[[I]], %a
// CHECK-NEXT:      %[[C:.*]] = arith.cmpi slt, %[[S]], %b
// CHECK-NEXT:      scf.condition(%[[C]]) %[[S]]
// CHECK:         func.return
func.func @loop(%a: i32, %b: i32) -> i32 {
  cf.br ^head(%a : i32)
^head(%i: i32):
  %n = arith.addi %i, %a : i32
  %c = arith.cmpi slt, %n, %b : i32
  cf.cond_br %c, ^head(%n : i32), ^end
^end:
  %r = arith.muli %n, %i : i32
  func.return %r : i32
}

// A loop with two entries: a number says at which of them a round begins.
// CHECK-LABEL: func.func @entries
// CHECK:         scf.while (%{{.*}} = %{{.*}}, %{{.*}} = %a, %{{.*}} = %a) : (i1, i32, i32)
// CHECK:           scf.if
// CHECK:           scf.condition
func.func @entries(%c: i1, %a: i32) -> i32 {
  %one = arith.constant 1 : i32
  cf.cond_br %c, ^even(%a : i32), ^odd(%a : i32)
^even(%i: i32):
  %n = arith.subi %i, %one : i32
  cf.br ^odd(%n : i32)
^odd(%j: i32):
  %m = arith.divsi %j, %a : i32
  %more = arith.cmpi sgt, %m, %one : i32
  cf.cond_br %more, ^even(%m : i32), ^end
^end:
  func.return %m : i32
}

// What never ends returns anything.
// CHECK-LABEL: func.func @endless
// CHECK:         scf.while () : () -> () {
// CHECK-NEXT:      %[[T:.*]] = arith.constant true
// CHECK-NEXT:      scf.condition(%[[T]])
// CHECK:         tensor.empty() : tensor<4xf32>
func.func @endless() -> tensor<4xf32> {
  cf.br ^again
^again:
  cf.br ^again
}
