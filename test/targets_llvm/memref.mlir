// RUN: xla-opt %s -t llvm{inline_constants=false} | filecheck %s
// RUN: xla-opt %s -t llvm | filecheck %s --check-prefix=INLINE

// Small constants stand in the text. Large ones are behind a pointer, unless all are wanted inline.
// CHECK: @small = internal unnamed_addr constant [4 x i8] c"\01\00\01\01", align 64
"memref.global"() <{sym_name = "small", sym_visibility = "private", constant, type = memref<4xi1>, initial_value = dense<[true, false, true, true]> : tensor<4xi1>}> : () -> ()
// CHECK-NEXT: @large.ptr = global ptr null, align 8
// INLINE: @large = internal unnamed_addr constant [8000 x i8] c"{{.*}}", align 64
"memref.global"() <{sym_name = "large", sym_visibility = "private", constant, type = memref<2000xf32>, initial_value = dense<1.0> : tensor<2000xf32>}> : () -> ()
// CHECK-NEXT: @scratch = internal global [32 x i8] zeroinitializer, align 64
"memref.global"() <{sym_name = "scratch", sym_visibility = "private", type = memref<8xf32>, initial_value}> : () -> ()

// CHECK: define void @addresses(ptr noundef dereferenceable(512) %[[X:[^,]*]], ptr noundef readonly dereferenceable(12) %[[P:[^,]*]], i64 %[[I:[^,]*]], i64 %[[J:[^,]*]])
func.func @addresses(%x: memref<2x8x8xf32>, %p: memref<12xi1>, %i: index, %j: index) {
  %c0 = arith.constant 0 : index
  // CHECK: %[[AT:.*]] = getelementptr inbounds [8 x [8 x float]], ptr %[[X]], i64 0, i64 %[[I]], i64 %[[J]]
  // CHECK-NEXT: %[[A:.*]] = load float, ptr %[[AT]], align 4
  %a = memref.load %x[%c0, %i, %j] : memref<2x8x8xf32>
  // CHECK-NEXT: %[[V:.*]] = getelementptr inbounds [8 x [8 x float]], ptr %[[X]], i64 0, i64 1, i64 %[[I]]
  %v = memref.subview %x[0, 1, %i] [2, 4, 1] [1, 2, 1] : memref<2x8x8xf32> to memref<2x4xf32, strided<[64, 16], offset: ?>>
  // CHECK-NEXT: %[[TO:.*]] = getelementptr inbounds [4 x [16 x float]], ptr %[[V]], i64 0, i64 %[[J]]
  // CHECK-NEXT: store float %[[A]], ptr %[[TO]], align 4
  memref.store %a, %v[%c0, %j] : memref<2x4xf32, strided<[64, 16], offset: ?>>
  // CHECK: %[[BYTE:.*]] = load i8, ptr %{{.*}}, align 1
  // CHECK-NEXT: icmp ne i8 %[[BYTE]], 0
  %b = memref.load %p[%i] : memref<12xi1>
  func.return
}

// Addresses a known distance apart come from one, in each block and for a loop that starts at 0.
// CHECK: define void @known_distances(ptr {{.*}} %[[X:[^,]*]], i64 %[[N:[^,]*]])
func.func @known_distances(%x: memref<2x8x8xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c6 = arith.constant 6 : index
  // CHECK: %[[I:.*]] = phi i64 [ 0, %entry ]
  scf.for %i = %c0 to %c6 step %c1 {
    // CHECK-NEXT: %[[J:.*]] = add i64 %[[I]], 1
    %j = arith.addi %i, %c1 : index
    // CHECK-NEXT: %[[BASE:.*]] = getelementptr inbounds [8 x [8 x float]], ptr %[[X]], i64 0, i64 %[[I]], i64 0
    // CHECK-NEXT: %[[A:.*]] = getelementptr inbounds float, ptr %[[BASE]], i64 75
    // CHECK-NEXT: load float, ptr %[[A]], align 4
    %a = memref.load %x[%c1, %j, %c3] : memref<2x8x8xf32>
    // CHECK-NEXT: store float %{{.*}}, ptr %[[BASE]], align 4
    memref.store %a, %x[%c0, %i, %c0] : memref<2x8x8xf32>
    // CHECK: phi i64 [ %[[N]],
    scf.for %k = %n to %c6 step %c1 {
      // CHECK-NEXT: %[[L:.*]] = add i64 %{{.*}}, 3
      %l = arith.addi %k, %c3 : index
      // CHECK-NEXT: %[[OWN:.*]] = getelementptr inbounds [8 x [8 x float]], ptr %[[X]], i64 0, i64 %[[I]], i64 %[[L]]
      // CHECK-NEXT: %[[B:.*]] = getelementptr inbounds float, ptr %[[OWN]], i64 8
      // CHECK-NEXT: load float, ptr %[[B]], align 4
      %b = memref.load %x[%c0, %j, %l] : memref<2x8x8xf32>
      // CHECK-NEXT: store float %{{.*}}, ptr %[[OWN]], align 4
      memref.store %b, %x[%c0, %i, %l] : memref<2x8x8xf32>
    }
  }
  func.return
}

// A multiple of such a counter is in bounds as well where its sum with a number is; a negative one is not.
// CHECK: define void @multiples(ptr {{.*}} %[[X:[^)]*]])
func.func @multiples(%x: memref<8x3xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %minus = arith.constant -1 : index
  // CHECK: %[[I:.*]] = phi i64 [ 0, %entry ]
  scf.for %i = %c0 to %c2 step %c1 {
    // CHECK-NEXT: %[[M:.*]] = mul i64 %[[I]], 3
    // CHECK-NEXT: add i64 %[[M]], 1
    // CHECK-NEXT: %[[BASE:.*]] = getelementptr inbounds [3 x float], ptr %[[X]], i64 %[[M]], i64 0
    // CHECK-NEXT: %[[A:.*]] = getelementptr inbounds float, ptr %[[BASE]], i64 3
    // CHECK-NEXT: load float, ptr %[[A]], align 4
    %m = arith.muli %i, %c3 : index
    %n = arith.addi %m, %c1 : index
    %a = memref.load %x[%n, %c0] : memref<8x3xf32>
    // CHECK-NEXT: mul i64 %[[I]], -1
    // CHECK-NEXT: %[[J:.*]] = add i64 %{{.*}}, 3
    // CHECK-NEXT: getelementptr inbounds [3 x float], ptr %[[X]], i64 %[[J]], i64 0
    %back = arith.muli %i, %minus : index
    %j = arith.addi %back, %c3 : index
    memref.store %a, %x[%j, %c0] : memref<8x3xf32>
  }
  func.return
}

// Strides known at run time are arguments after the pointer: two sizes, then two strides.
// CHECK: define void @strides(ptr noundef readonly %[[X:[^,]*]], i64 %{{[^,]*}}, i64 %{{[^,]*}}, i64 %[[S:[^,]*]], i64 %[[T:[^,]*]], i64 %[[I:[^,]*]])
func.func @strides(%x: memref<?x?xf32, strided<[?, ?], offset: ?>>, %i: index) {
  // CHECK: %[[ROW:.*]] = mul i64 %[[I]], %[[S]]
  // CHECK-NEXT: %[[COLUMN:.*]] = mul i64 %[[I]], %[[T]]
  // CHECK-NEXT: %[[SUM:.*]] = add i64 %[[ROW]], %[[COLUMN]]
  // CHECK-NEXT: getelementptr inbounds float, ptr %[[X]], i64 %[[SUM]]
  %a = memref.load %x[%i, %i] : memref<?x?xf32, strided<[?, ?], offset: ?>>
  func.return
}

// Dense rows are copied at once; the rows, which are apart, in a loop.
// CHECK: define void @copy(ptr noundef readonly dereferenceable(236) %[[X:[^,]*]], ptr noundef dereferenceable(128) %[[Y:[^,]*]])
func.func @copy(%x: memref<4x8xf32, strided<[17, 1]>>, %y: memref<4x8xf32>) {
  // CHECK: %[[ROW:.*]] = phi i64
  // CHECK: %[[FROM:.*]] = getelementptr inbounds [17 x float], ptr %[[X]], i64 %[[ROW]], i64 0
  // CHECK: %[[TO:.*]] = getelementptr inbounds [8 x float], ptr %[[Y]], i64 %[[ROW]], i64 0
  // CHECK-NEXT: call void @llvm.memcpy.p0.p0.i64(ptr align 4 %[[TO]], ptr align 4 %[[FROM]], i64 32, i1 false)
  "memref.copy"(%x, %y) : (memref<4x8xf32, strided<[17, 1]>>, memref<4x8xf32>) -> ()
  func.return
}

// CHECK: define void @temporaries
func.func @temporaries(%arena: memref<256xi8>) {
  // The stack slot stands at the start of the function.
  // CHECK-NEXT: entry:
  // CHECK-NEXT: alloca i8, i64 16, align 64
  %c64 = arith.constant 64 : index
  // CHECK-NEXT: getelementptr inbounds i8, ptr %{{.*}}, i64 64
  %v = memref.view %arena[%c64][] : memref<256xi8> to memref<4x8xf32>
  // CHECK-NEXT: %[[A:.*]] = call align 64 ptr @aligned_alloc(i64 64, i64 128)
  %a = memref.alloc() : memref<3x5xf64>
  // CHECK-NEXT: call void @free(ptr %[[A]])
  memref.dealloc %a : memref<3x5xf64>
  %s = memref.alloca() : memref<4xf32>
  // CHECK-NEXT: load ptr, ptr @large.ptr, align 8, !invariant.load ![[EMPTY:[0-9]+]], !nonnull ![[EMPTY]], !align ![[LINE:[0-9]+]]
  %g = memref.get_global @large : memref<2000xf32>
  // CHECK-NEXT: ret void
  func.return
}

// CHECK: declare noalias ptr @aligned_alloc(i64 allocalign, i64)
// CHECK: declare void @free(ptr)
// CHECK: ![[EMPTY]] = !{}
// CHECK: ![[LINE]] = !{i64 64}
