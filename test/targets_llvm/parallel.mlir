// RUN: xla-opt %s -t "llvm{threads=true}" | filecheck %s
// RUN: xla-opt %s -t llvm | filecheck %s --check-prefix=ORDER

// Without threads a parallel loop is a loop.
// ORDER-NOT: @xla.threads

// CHECK: define internal void @xla.kernel(ptr noundef noalias {{.*}} %[[A:.*]], ptr noundef noalias {{.*}} %[[B:.*]], float %[[S:.*]])
// CHECK-NEXT: entry:
// CHECK-NEXT: %[[VALUES:.*]] = alloca { ptr, ptr, float, ptr }
// CHECK-NEXT: getelementptr inbounds { ptr, ptr, float, ptr }, ptr %[[VALUES]], i32 0, i32 0
// CHECK-NEXT: store ptr @xla.kernel.task
// CHECK-NEXT: getelementptr
// CHECK-NEXT: store ptr %[[A]]
// CHECK-NEXT: getelementptr
// CHECK-NEXT: store float %[[S]]
// CHECK-NEXT: getelementptr
// CHECK-NEXT: store ptr %[[B]]
// CHECK-NEXT: %[[PLACE:.*]] = load ptr, ptr @xla.threads
// CHECK-NEXT: %[[THREADS:.*]] = load i64, ptr %[[PLACE]]
// CHECK-NEXT: call void @xla_parallel_for(i64 %[[THREADS]], ptr @xla.start, ptr %[[VALUES]], i64 7)
// CHECK-NEXT: ret void

// A function without a promise about its arguments: no promise about those of the task. The number
// of iterations is computed, and a loop inside of a task is a loop. The task takes two words: its
// start is the runtime's.
// CHECK: define void @nested(ptr {{.*}} %[[A:.*]], i64 %[[N:.*]])
// CHECK: %[[DISTANCE:.*]] = sub i64 %[[N]], 2
// CHECK: sdiv
// CHECK: %[[COUNT:.*]] = call i64 @llvm.smax.i64
// CHECK: %[[PLACE:.*]] = load ptr, ptr @xla.threads
// CHECK-NEXT: %[[THREADS:.*]] = load i64, ptr %[[PLACE]]
// CHECK-NEXT: call void @xla_parallel_for(i64 %[[THREADS]], ptr @xla_start_with_words, ptr %{{.*}}, i64 %[[COUNT]])
// CHECK-NEXT: ret void

// One iteration is done at once, and so are loops that reduce.
// CHECK: define void @once(
// CHECK-NOT: call void
// CHECK: define i64 @reducing(
// CHECK-NOT: call void
// CHECK: define internal void @xla.copying(

// An entry that only calls takes its arguments from the array itself. What it calls once to start a
// loop is printed in it, and keeps the name and the promises of the function that was called.
// CHECK-NOT: @xla.main
// CHECK: define void @main(ptr noundef nonnull readonly %arguments) #3 {
// CHECK: %[[FROM:v.*]] = load ptr, ptr %slot0
// CHECK: %[[TO:v.*]] = load ptr, ptr %slot1
// CHECK: store ptr @xla.once_called.task
// CHECK: store ptr %[[TO]]
// CHECK: call void @xla_parallel_for(i64 %{{.*}}, ptr @xla_start_with_words, ptr %{{.*}}, i64 8)
// CHECK-NEXT: call void @xla.copying(ptr %[[FROM]], ptr %[[TO]])
// CHECK-NEXT: call void @xla.copying(ptr %[[TO]], ptr %[[FROM]])
// CHECK-NEXT: ret void
// CHECK-NOT: @xla.once_called(

// CHECK: @xla.threads = global ptr null
// CHECK: define internal void @xla.kernel.task(i64 %[[FIRST:.*]], i64 %[[LAST:.*]], ptr noundef noalias %[[A:.*]], float %[[S:.*]], ptr noundef noalias %[[B:.*]]) #1 {
// CHECK-NEXT: entry:
// CHECK-NEXT: %{{.*}} = alloca i8, i64 4
// CHECK-NEXT: %[[STEPS:.*]] = mul i64 %[[FIRST]], 3
// CHECK-NEXT: %[[START:.*]] = add i64 1, %[[STEPS]]
// CHECK-NEXT: mul i64 %[[LAST]], 3
// CHECK: phi i64 [ %[[START]], %entry ]
// CHECK: define internal void @xla.start(ptr %values, i64 %first, i64 %last) #3 {
// CHECK-NEXT: %task = load ptr, ptr %values
// CHECK: call void %task(i64 %first, i64 %last, ptr %v0, float %v1, ptr %v2)
// CHECK: define internal void @xla.nested.task(i64 %{{.*}}, i64 %{{.*}}, i64 %{{.*}}, ptr noundef %{{.*}}) #1 {
// CHECK-NOT: call void
// CHECK-NOT: @xla.start.1
// CHECK: define internal void @xla.around.task(i64 %{{.*}}, i64 %{{.*}}, ptr {{[^,]*}}, i64 %[[ROW:[^ ,]*]], ptr {{[^,]*}})
// CHECK: getelementptr inbounds [8 x float], ptr %{{.*}}, i64 %[[ROW]], i64
// What a task does not write is promised to be read only.
// CHECK: define internal void @xla.copying.task(i64 %{{.*}}, i64 %{{.*}}, ptr noundef noalias readonly %{{.*}}, ptr noundef noalias %{{[^ ]*}})

func.func private @kernel(%a: memref<21xf32>, %b: memref<21xf32>, %s: f32) attributes {xla.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c21 = arith.constant 21 : index
  "scf.parallel"(%c1, %c21, %c3) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
  ^bb0(%i: index):
    %own = memref.alloca() : memref<1xf32>
    %x = memref.load %a[%i] : memref<21xf32>
    %y = arith.addf %x, %s : f32
    memref.store %y, %own[%c0] : memref<1xf32>
    %z = memref.load %own[%c0] : memref<1xf32>
    memref.store %z, %b[%i] : memref<21xf32>
    scf.reduce
  }) : (index, index, index) -> ()
  func.return
}

func.func @nested(%a: memref<8x8xindex>, %n: index) {
  %c2 = arith.constant 2 : index
  %c1 = arith.constant 1 : index
  "scf.parallel"(%c2, %c1, %n, %n, %c1, %c2) <{operandSegmentSizes = array<i32: 2, 2, 2, 0>}> ({
  ^bb0(%i: index, %j: index):
    "scf.parallel"(%c1, %n, %c1) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
    ^bb0(%k: index):
      %0 = arith.addi %j, %k : index
      memref.store %0, %a[%i, %k] : memref<8x8xindex>
      scf.reduce
    }) : (index, index, index) -> ()
    scf.reduce
  }) : (index, index, index, index, index, index) -> ()
  func.return
}

// A task gets a sum from outside, and not its terms.
func.func @around(%a: memref<8x8xf32>, %b: memref<8xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %row = arith.addi %c0, %n : index
  "scf.parallel"(%c0, %c8, %c1) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
  ^bb0(%i: index):
    %x = memref.load %a[%row, %i] : memref<8x8xf32>
    memref.store %x, %b[%i] : memref<8xf32>
    scf.reduce
  }) : (index, index, index) -> ()
  func.return
}

func.func @once(%a: memref<8xindex>) {
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  "scf.parallel"(%c2, %c3, %c2) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
  ^bb0(%i: index):
    memref.store %i, %a[%i] : memref<8xindex>
    scf.reduce
  }) : (index, index, index) -> ()
  func.return
}

func.func @reducing(%n: index) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %sum = "scf.parallel"(%c0, %n, %c1, %c0) <{operandSegmentSizes = array<i32: 1, 1, 1, 1>}> ({
  ^bb0(%i: index):
    scf.reduce(%i : index) {
    ^bb0(%x: index, %y: index):
      %0 = arith.addi %x, %y : index
      scf.reduce.return %0 : index
    }
  }) : (index, index, index, index) -> index
  func.return %sum : index
}

func.func private @copying(%a: memref<8xf32>, %b: memref<8xf32>) attributes {xla.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  "scf.parallel"(%c0, %c8, %c1) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
  ^bb0(%i: index):
    %x = memref.load %a[%i] : memref<8xf32>
    memref.store %x, %b[%i] : memref<8xf32>
    scf.reduce
  }) : (index, index, index) -> ()
  func.return
}

func.func @main(%a: memref<8xf32>, %b: memref<8xf32>) attributes {xla.entry} {
  func.call @once_called(%b) : (memref<8xf32>) -> ()
  func.call @copying(%a, %b) : (memref<8xf32>, memref<8xf32>) -> ()
  func.call @copying(%b, %a) : (memref<8xf32>, memref<8xf32>) -> ()
  func.return
}

func.func private @once_called(%a: memref<8xf32>) attributes {xla.kernel} {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  "scf.parallel"(%c0, %c8, %c1) <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> ({
  ^bb0(%i: index):
    memref.store %zero, %a[%i] : memref<8xf32>
    scf.reduce
  }) : (index, index, index) -> ()
  func.return
}
