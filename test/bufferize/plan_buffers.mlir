// RUN: xla-opt %s --split-input-file -p xla-plan-buffers | filecheck %s

// Two of three buffers are live at any time: the third takes the place of the first. What is in
// the result needs no place, nor does i1 need less than a byte.

// CHECK-LABEL: func.func @chain(
// CHECK-SAME:    %a: memref<40xi1>, %result: memref<40xi1>, %arena: memref<128xi8>) attributes {xla.arena_bytes = 128 : i64, xla.max_live_bytes = 128 : i64} {
// CHECK-NEXT:    %[[O1:.*]] = arith.constant 0 : index
// CHECK-NEXT:    %b = memref.view %arena[%[[O1]]][] : memref<128xi8> to memref<40xi1>
// CHECK-NEXT:    "memref.copy"(%a, %b)
// CHECK-NEXT:    %[[O2:.*]] = arith.constant 64 : index
// CHECK-NEXT:    %c = memref.view %arena[%[[O2]]][] : memref<128xi8> to memref<40xi1>
// CHECK-NEXT:    "memref.copy"(%b, %c)
// CHECK-NEXT:    %[[O3:.*]] = arith.constant 0 : index
// CHECK-NEXT:    %d = memref.view %arena[%[[O3]]][] : memref<128xi8> to memref<40xi1>
// CHECK-NEXT:    "memref.copy"(%c, %d)
// CHECK-NEXT:    "memref.copy"(%d, %result)
// CHECK-NEXT:    func.return
func.func @chain(%a: memref<40xi1>, %result: memref<40xi1>) {
  %b = memref.alloc() : memref<40xi1>
  "memref.copy"(%a, %b) : (memref<40xi1>, memref<40xi1>) -> ()
  %c = memref.alloc() : memref<40xi1>
  "memref.copy"(%b, %c) : (memref<40xi1>, memref<40xi1>) -> ()
  %d = memref.alloc() : memref<40xi1>
  "memref.copy"(%c, %d) : (memref<40xi1>, memref<40xi1>) -> ()
  "memref.copy"(%d, %result) : (memref<40xi1>, memref<40xi1>) -> ()
  memref.dealloc %d : memref<40xi1>
  return
}

// -----

// In an entry the result is a place as well, for what is needed last before it is written: %c, which
// leaves one place for %b and %d. It is none for %e, which is used after it; %other
// has strides.

// CHECK-LABEL: func.func @in_result(
// CHECK-SAME:    %arena: memref<128xi8>) attributes {xla.entry, xla.arena_bytes = 128 : i64, xla.max_live_bytes = 128 : i64} {
// CHECK:         "memref.copy"(%a, %b)
// CHECK-NEXT:    "memref.copy"(%b, %result)
// CHECK:         "memref.copy"(%result, %d)
// CHECK:         "memref.copy"(%d, %e)
// CHECK-NEXT:    "memref.copy"(%d, %result)
// CHECK-NEXT:    "memref.copy"(%e, %other)
func.func @in_result(%a: memref<40xi1>, %result: memref<40xi1>, %other: memref<40xi1, strided<[2]>>) attributes {xla.entry} {
  %b = memref.alloc() : memref<40xi1>
  "memref.copy"(%a, %b) : (memref<40xi1>, memref<40xi1>) -> ()
  %c = memref.alloc() : memref<40xi1>
  "memref.copy"(%b, %c) : (memref<40xi1>, memref<40xi1>) -> ()
  %d = memref.alloc() : memref<40xi1>
  "memref.copy"(%c, %d) : (memref<40xi1>, memref<40xi1>) -> ()
  memref.dealloc %c : memref<40xi1>
  %e = memref.alloc() : memref<40xi1>
  "memref.copy"(%d, %e) : (memref<40xi1>, memref<40xi1>) -> ()
  "memref.copy"(%d, %result) : (memref<40xi1>, memref<40xi1>) -> ()
  "memref.copy"(%e, %other) : (memref<40xi1>, memref<40xi1, strided<[2]>>) -> ()
  return
}

// -----

// A smaller buffer can be in a result too, seen in its own shape; one of another element type not. The
// larger %c is there rather than the later %d, for that leaves less to the arena.

// CHECK-LABEL: func.func @of_other_shape(
// CHECK-SAME:    %arena: memref<64xi8>) attributes {xla.entry, xla.arena_bytes = 64 : i64, xla.max_live_bytes = 64 : i64} {
// CHECK-NEXT:    %c = memref.reinterpret_cast %result to offset: [0], sizes: [30, 5], strides: [5, 1] : memref<160xi8> to memref<30x5xi8>
// CHECK-NEXT:    linalg.fill ins(%x : i8) outs(%c : memref<30x5xi8>)
// CHECK:         %d = memref.view %arena
// CHECK:         %e = memref.view %arena
func.func @of_other_shape(%x: i8, %y: i32, %result: memref<160xi8>) attributes {xla.entry} {
  %c = memref.alloc() : memref<30x5xi8>
  linalg.fill ins(%x : i8) outs(%c : memref<30x5xi8>)
  %d = memref.alloc() : memref<40xi8>
  %part = memref.subview %c[0, 0] [8, 5] [1, 1] : memref<30x5xi8> to memref<8x5xi8>
  %flat = memref.collapse_shape %part [[0, 1]] : memref<8x5xi8> into memref<40xi8>
  "memref.copy"(%flat, %d) : (memref<40xi8>, memref<40xi8>) -> ()
  %e = memref.alloc() : memref<16xi32>
  linalg.fill ins(%y : i32) outs(%e : memref<16xi32>)
  linalg.fill ins(%x : i8) outs(%result : memref<160xi8>)
  return
}

// -----

// A view keeps its buffer alive, and a loop what is used in it but comes from outside; what is
// allocated inside only needs room while an iteration uses it.

// CHECK-LABEL: func.func @loop(
// CHECK-SAME:    %arena: memref<256xi8>) attributes {xla.entry, xla.arena_bytes = 256 : i64, xla.max_live_bytes = 256 : i64} {
// CHECK:         %outside = memref.view %arena[%{{.*}}][] : memref<256xi8> to memref<2x16xf32>
// CHECK:         scf.for
// CHECK:           %[[O1:.*]] = arith.constant 128 : index
// CHECK-NEXT:      %inside = memref.view %arena[%[[O1]]][]
// CHECK:           %[[O2:.*]] = arith.constant 192 : index
// CHECK-NEXT:      %second = memref.view %arena[%[[O2]]][]
// CHECK:           %[[O3:.*]] = arith.constant 128 : index
// CHECK-NEXT:      %third = memref.view %arena[%[[O3]]][]
func.func @loop(%a: memref<2x16xf32>, %n: index, %result: memref<16xf32>) attributes {xla.entry} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %outside = memref.alloc() : memref<2x16xf32>
  "memref.copy"(%a, %outside) : (memref<2x16xf32>, memref<2x16xf32>) -> ()
  %row = memref.subview %outside[1, 0] [1, 16] [1, 1] : memref<2x16xf32> to memref<16xf32, strided<[1], offset: 16>>
  scf.for %i = %c0 to %n step %c1 {
    %inside = memref.alloc() : memref<16xf32>
    "memref.copy"(%row, %inside) : (memref<16xf32, strided<[1], offset: 16>>, memref<16xf32>) -> ()
    %second = memref.alloc() : memref<16xf32>
    "memref.copy"(%inside, %second) : (memref<16xf32>, memref<16xf32>) -> ()
    %third = memref.alloc() : memref<16xf32>
    "memref.copy"(%second, %third) : (memref<16xf32>, memref<16xf32>) -> ()
    "memref.copy"(%third, %result) : (memref<16xf32>, memref<16xf32>) -> ()
  }
  return
}

// -----

// A function that needs memory gets a part of its caller's arena; an entry has one in any case.

// CHECK-LABEL: func.func private @callee(
// CHECK-SAME:    %a: memref<20xf64>, %arena: memref<192xi8>) attributes {xla.arena_bytes = 192 : i64, xla.max_live_bytes = 192 : i64}
func.func private @callee(%a: memref<20xf64>) {
  %b = memref.alloc() : memref<20xf64>
  "memref.copy"(%a, %b) : (memref<20xf64>, memref<20xf64>) -> ()
  return
}

// CHECK-LABEL: func.func private @frugal(%a: memref<20xf64>) {
func.func private @frugal(%a: memref<20xf64>) {
  return
}

// CHECK-LABEL: func.func @caller(
// CHECK-SAME:    %a: memref<20xf64>, %arena: memref<384xi8>) attributes {xla.entry, xla.arena_bytes = 384 : i64, xla.max_live_bytes = 384 : i64} {
// CHECK:         %b = memref.view %arena
// CHECK:         %[[PART:.*]] = memref.view %arena[%{{.*}}][] : memref<384xi8> to memref<192xi8>
// CHECK-NEXT:    func.call @callee(%b, %[[PART]]) : (memref<20xf64>, memref<192xi8>) -> ()
// CHECK-NEXT:    func.call @frugal(%b) : (memref<20xf64>) -> ()
func.func @caller(%a: memref<20xf64>) attributes {xla.entry} {
  %b = memref.alloc() : memref<20xf64>
  "memref.copy"(%a, %b) : (memref<20xf64>, memref<20xf64>) -> ()
  call @callee(%b) : (memref<20xf64>) -> ()
  call @frugal(%b) : (memref<20xf64>) -> ()
  return
}

// CHECK-LABEL: func.func @nothing(
// CHECK-SAME:    %arena: memref<0xi8>) attributes {xla.entry, xla.arena_bytes = 0 : i64, xla.max_live_bytes = 0 : i64} {
func.func @nothing() attributes {xla.entry} {
  return
}

// -----

// Iterations that may run at the same time have a part of the arena each, and %d is where %b was: in
// a result, or in what is in use elsewhere in the loop, is none of them.

// CHECK-LABEL: func.func @shared(
// CHECK-SAME:    %arena: memref<1088xi8>) attributes {xla.entry, xla.arena_bytes = 1088 : i64, xla.max_live_bytes = 1088 : i64} {
// CHECK:         %before = memref.view %arena[%{{.*}}][] : memref<1088xi8> to memref<40xi8>
// CHECK:         scf.for %i =
// CHECK-NEXT:      %[[START:.*]] = arith.constant 64 : index
// CHECK-NEXT:      %[[STEP:.*]] = arith.constant 256 : index
// CHECK-NEXT:      %[[BY:.*]] = arith.muli %i, %[[STEP]] : index
// CHECK-NEXT:      %[[AT:.*]] = arith.addi %[[START]], %[[BY]] : index
// CHECK-NEXT:      %part = memref.view %arena[%[[AT]]][] : memref<1088xi8> to memref<256xi8>
// CHECK-NEXT:      memref.subview %a
// CHECK-NEXT:      %[[B:.*]] = arith.constant 0 : index
// CHECK-NEXT:      %b = memref.view %part[%[[B]]][] : memref<256xi8> to memref<100xi8>
// CHECK:           %[[C:.*]] = arith.constant 128 : index
// CHECK-NEXT:      %c = memref.view %part[%[[C]]][] : memref<256xi8> to memref<100xi8>
// CHECK:           %[[D:.*]] = arith.constant 0 : index
// CHECK-NEXT:      %d = memref.view %part[%[[D]]][] : memref<256xi8> to memref<100xi8>
// CHECK:         } {xla.independent_microseconds = 500 : i64}
func.func @shared(%a: memref<4x100xi8>, %first: memref<40xi8>, %result: memref<4x100xi8>) attributes {xla.entry} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %four = arith.constant 4 : index
  %before = memref.alloc() : memref<40xi8>
  "memref.copy"(%first, %before) : (memref<40xi8>, memref<40xi8>) -> ()
  scf.for %i = %zero to %four step %one {
    %row = memref.subview %a[%i, 0] [1, 100] [1, 1] : memref<4x100xi8> to memref<100xi8, strided<[1], offset: ?>>
    %b = memref.alloc() : memref<100xi8>
    "memref.copy"(%row, %b) : (memref<100xi8, strided<[1], offset: ?>>, memref<100xi8>) -> ()
    %c = memref.alloc() : memref<100xi8>
    "memref.copy"(%b, %c) : (memref<100xi8>, memref<100xi8>) -> ()
    %d = memref.alloc() : memref<100xi8>
    "memref.copy"(%c, %d) : (memref<100xi8>, memref<100xi8>) -> ()
    %there = memref.subview %result[%i, 0] [1, 100] [1, 1] : memref<4x100xi8> to memref<100xi8, strided<[1], offset: ?>>
    "memref.copy"(%d, %there) : (memref<100xi8>, memref<100xi8, strided<[1], offset: ?>>) -> ()
  } {xla.independent_microseconds = 500 : i64}
  "memref.copy"(%before, %first) : (memref<40xi8>, memref<40xi8>) -> ()
  return
}

// -----

// Nobody knows how many there are: the promise is taken back.

// CHECK-LABEL: func.func @unknown(
// CHECK-SAME:    %arena: memref<128xi8>)
// CHECK:         memref.view
// CHECK-NOT:     xla.independent_microseconds
func.func @unknown(%n: index, %a: memref<100xi8>) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  scf.for %i = %zero to %n step %one {
    %b = memref.alloc() : memref<100xi8>
    "memref.copy"(%a, %b) : (memref<100xi8>, memref<100xi8>) -> ()
  } {xla.independent_microseconds = 500 : i64}
  return
}

// -----

// In a function of several blocks each buffer has a place of its own. %c is one at a time: its loop
// keeps none for the next iteration.

// CHECK-LABEL: func.func @blocks(
// CHECK-SAME:    %arena: memref<192xi8>) attributes {xla.arena_bytes = 192 : i64, xla.max_live_bytes = 192 : i64} {
// CHECK:         %a = memref.view %arena[%{{.*}}][] : memref<192xi8> to memref<4xf32>
// CHECK:         %b = memref.view %arena[%{{.*}}][] : memref<192xi8> to memref<4xf32>
// CHECK:       ^{{.*}}(%carried: memref<4xf32>):
// CHECK:         %c = memref.view %arena[%{{.*}}][] : memref<192xi8> to memref<4xf32>
func.func @blocks(%x: memref<4xf32>, %condition: i1) {
  %a = memref.alloc() : memref<4xf32>
  "memref.copy"(%x, %a) : (memref<4xf32>, memref<4xf32>) -> ()
  %b = memref.alloc() : memref<4xf32>
  cf.br ^bb1(%b : memref<4xf32>)
^bb1(%carried: memref<4xf32>):
  %c = memref.alloc() : memref<4xf32>
  "memref.copy"(%carried, %c) : (memref<4xf32>, memref<4xf32>) -> ()
  cf.cond_br %condition, ^bb1(%carried : memref<4xf32>), ^bb2
^bb2:
  return
}
