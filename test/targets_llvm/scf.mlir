// RUN: xla-opt %s -t llvm | filecheck %s

// A loop known to run tests at its end only. Its variable is frozen: addresses are scaled indices.
// CHECK: define void @counted(ptr {{[^%]*}} %[[X:.*]])
func.func @counted(%x: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  // CHECK-NEXT: entry:
  // CHECK-NEXT: br label %[[LOOP:.*]]
  // CHECK-NEXT: [[LOOP]]:
  // CHECK-NEXT: %[[I:.*]] = phi i64 [ 0, %entry ], [ %[[NEXT:.*]], %[[LOOP]] ]
  // CHECK-NEXT: %[[SUM:.*]] = phi float [ 0x0000000000000000, %entry ], [ %[[MORE:.*]], %[[LOOP]] ]
  %s = scf.for %i = %c0 to %c8 step %c1 iter_args(%a = %zero) -> (f32) {
    %e = memref.load %x[%i] : memref<8xf32>
    // CHECK: %[[MORE]] = fadd float %[[SUM]]
    %b = arith.addf %a, %e : f32
    scf.yield %b : f32
  }
  // CHECK-NEXT: %[[STEP:.*]] = add nsw i64 %[[I]], 1
  // CHECK-NEXT: %[[NEXT]] = freeze i64 %[[STEP]]
  // CHECK-NEXT: %[[AGAIN:.*]] = icmp ne i64 %[[NEXT]], 8
  // CHECK-NEXT: br i1 %[[AGAIN]], label %[[LOOP]], label %[[DONE:.*]]
  // CHECK-NEXT: [[DONE]]:
  // CHECK-NEXT: getelementptr inbounds float
  // CHECK-NEXT: store float %[[MORE]]
  memref.store %s, %x[%c1] : memref<8xf32>
  func.return
}

// One that may not run is tested before.
// CHECK: define i64 @uncounted(i64 %[[N:.*]])
func.func @uncounted(%n: index) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // CHECK-NEXT: entry:
  // CHECK-NEXT: %[[RUNS:.*]] = icmp slt i64 0, %[[N]]
  // CHECK-NEXT: br i1 %[[RUNS]], label %[[LOOP:.*]], label %[[DONE:.*]]
  // CHECK: %[[V:.*]] = mul i64
  // CHECK: br i1 %{{.*}}, label %[[LOOP]], label %[[DONE]]
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%a = %c1) -> (index) {
    %b = arith.muli %a, %i : index
    scf.yield %b : index
  }
  // CHECK-NEXT: [[DONE]]:
  // CHECK-NEXT: phi i64 [ 1, %entry ], [ %[[V]], %[[LOOP]] ]
  func.return %s : index
}

// A loop that runs once is no loop, and one that never runs is nothing.
// CHECK: define void @once_and_never(ptr
func.func @once_and_never(%x: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  // CHECK-NEXT: entry:
  // CHECK-NEXT: %[[AT:.*]] = getelementptr inbounds float, ptr %{{.*}}, i64 2
  // CHECK-NEXT: store float 0x0000000000000000, ptr %[[AT]]
  scf.for %i = %c2 to %c3 step %c2 {
    memref.store %zero, %x[%i] : memref<8xf32>
  }
  scf.for %i = %c3 to %c0 step %c2 {
    memref.store %zero, %x[%i] : memref<8xf32>
  }
  // CHECK-NEXT: ret void
  func.return
}

// CHECK: define i64 @branches(i1 %[[C:.*]], i64 %[[N:.*]])
func.func @branches(%c: i1, %n: index) -> index {
  // CHECK: br i1 %[[C]], label %[[THEN:.*]], label %[[ELSE:.*]]
  // CHECK-NEXT: [[THEN]]:
  // CHECK-NEXT: %[[TWICE:.*]] = add i64 %[[N]], %[[N]]
  // CHECK-NEXT: br label %[[END:.*]]
  // CHECK-NEXT: [[ELSE]]:
  // CHECK-NEXT: br label %[[END]]
  // CHECK-NEXT: [[END]]:
  // CHECK-NEXT: %[[V:.*]] = phi i64 [ %[[TWICE]], %[[THEN]] ], [ %[[N]], %[[ELSE]] ]
  %v = scf.if %c -> (index) {
    %t = arith.addi %n, %n : index
    scf.yield %t : index
  } else {
    scf.yield %n : index
  }
  // CHECK-NEXT: switch i64 %[[V]], label %[[DEFAULT:.*]] [ i64 3, label %[[CASE:.*]] ]
  // CHECK: phi i64 [ %[[N]], %[[DEFAULT]] ], [ %[[V]], %[[CASE]] ]
  %w = scf.index_switch %v -> index
  case 3 {
    scf.yield %v : index
  }
  default {
    scf.yield %n : index
  }
  func.return %w : index
}

// CHECK: define i64 @while(i64 %[[N:.*]])
func.func @while(%n: i64) -> i64 {
  %zero = arith.constant 0 : i64
  // CHECK: br label %[[HEAD:.*]]
  // CHECK-NEXT: [[HEAD]]:
  // CHECK-NEXT: %[[A:.*]] = phi i64 [ %[[N]], %entry ], [ %[[NEXT:.*]], %[[BODY:.*]] ]
  // CHECK-NEXT: %[[C:.*]] = icmp sgt i64 %[[A]], 0
  // CHECK-NEXT: br i1 %[[C]], label %[[BODY]], label %[[DONE:.*]]
  // CHECK-NEXT: [[BODY]]:
  // CHECK-NEXT: %[[NEXT]] = sub i64 %[[A]], %[[A]]
  // CHECK-NEXT: br label %[[HEAD]]
  // CHECK-NEXT: [[DONE]]:
  // CHECK-NEXT: ret i64 %[[A]]
  %r = scf.while (%a = %n) : (i64) -> i64 {
    %c = arith.cmpi sgt, %a, %zero : i64
    scf.condition(%c) %a : i64
  } do {
  ^bb0(%a: i64):
    %b = arith.subi %a, %a : i64
    scf.yield %b : i64
  }
  func.return %r : i64
}
