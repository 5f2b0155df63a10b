// RUN: xla-opt %s -t llvm | filecheck %s

// CHECK: define void @integers(i32 %[[A:.*]], i32 %[[B:.*]], i8 %[[C:.*]])
func.func @integers(%a: i32, %b: i32, %c: i8) {
  // CHECK-NEXT: entry:
  // CHECK-NEXT: add i32 %[[A]], 7
  %seven = arith.constant 7 : i32
  %0 = arith.addi %a, %seven : i32
  // CHECK-NEXT: mul nsw nuw i32 %[[A]], %[[B]]
  %1 = arith.muli %a, %b overflow<nsw, nuw> : i32
  // CHECK-NEXT: sdiv i32 %[[A]], %[[B]]
  %2 = arith.divsi %a, %b : i32
  // CHECK-NEXT: call i32 @llvm.umax.i32(i32 %[[A]], i32 %[[B]])
  %3 = arith.maxui %a, %b : i32
  // CHECK-NEXT: %[[LESS:.*]] = icmp slt i32 %[[A]], %[[B]]
  %4 = arith.cmpi slt, %a, %b : i32
  // CHECK-NEXT: select i1 %[[LESS]], i32 %[[A]], i32 %[[B]]
  %5 = arith.select %4, %a, %b : i32
  // CHECK-NEXT: sext i8 %[[C]] to i32
  %6 = arith.extsi %c : i8 to i32
  // CHECK-NEXT: trunc i32 %[[A]] to i8
  %7 = arith.trunci %a : i32 to i8
  // CHECK-NEXT: sext i32 %[[A]] to i64
  %8 = arith.index_cast %a : i32 to index
  // CHECK-NEXT: ret void
  func.return
}

// CHECK: define void @floats(float %[[X:.*]], float %[[Y:.*]])
func.func @floats(%x: f32, %y: f32) {
  // CHECK: fadd float %[[X]], 0x3FF8000000000000
  %c = arith.constant 1.5 : f32
  %0 = arith.addf %x, %c : f32
  // CHECK-NEXT: fmul contract reassoc float %[[X]], %[[Y]]
  %1 = arith.mulf %x, %y fastmath<reassoc, contract> : f32
  // CHECK-NEXT: fdiv fast float %[[X]], %[[Y]]
  %2 = arith.divf %x, %y fastmath<fast> : f32
  // CHECK-NEXT: call nnan float @llvm.maximum.f32(float %[[X]], float %[[Y]])
  %3 = arith.maximumf %x, %y fastmath<nnan> : f32
  // CHECK-NEXT: call float @llvm.minnum.f32(float %[[X]], float %[[Y]])
  %4 = arith.minnumf %x, %y : f32
  // CHECK-NEXT: fcmp une float %[[X]], %[[Y]]
  %5 = arith.cmpf une, %x, %y : f32
  // CHECK-NEXT: fptosi float %[[X]] to i32
  %6 = arith.fptosi %x : f32 to i32
  // CHECK-NEXT: call i8 @llvm.fptoui.sat.i8.f32(float %[[X]])
  %7 = arith.fptoui %x {xla.saturating} : f32 to i8
  // CHECK-NEXT: frem float %[[X]], %[[Y]]
  %8 = arith.remf %x, %y : f32
  // CHECK-NEXT: bitcast float %[[X]] to i32
  %9 = arith.bitcast %x : f32 to i32
  // CHECK-NEXT: ret void
  func.return
}

// CHECK: define void @vectors(<8 x float> %[[V:.*]], <8 x i1> %[[M:.*]])
func.func @vectors(%v: vector<8xf32>, %m: vector<8xi1>) {
  // CHECK: %[[SUM:.*]] = fadd <8 x float> %[[V]], splat (float 0x4000000000000000)
  %two = arith.constant dense<2.0> : vector<8xf32>
  %0 = arith.addf %v, %two : vector<8xf32>
  // CHECK-NEXT: select <8 x i1> %[[M]], <8 x float> %[[V]], <8 x float> %[[SUM]]
  %1 = arith.select %m, %v, %0 : vector<8xi1>, vector<8xf32>
  // CHECK-NEXT: fptosi <8 x float> %[[V]] to <8 x i32>
  %2 = arith.fptosi %v : vector<8xf32> to vector<8xi32>
  // CHECK-NEXT: ret void
  func.return
}

// A bf16 is the upper half of an f32, to which it is rounded by hand.
// CHECK: define i16 @narrow(i16 %[[H:.*]])
func.func @narrow(%h: bf16) -> bf16 {
  // CHECK-NEXT: entry:
  // CHECK-NEXT: %[[WORD:.*]] = zext i16 %[[H]] to i32
  // CHECK-NEXT: %[[HIGH:.*]] = shl i32 %[[WORD]], 16
  // CHECK-NEXT: %[[WIDE:.*]] = bitcast i32 %[[HIGH]] to float
  // CHECK-NOT: fptrunc
  // CHECK: trunc i32 %{{.*}} to i16
  %0 = arith.extf %h : bf16 to f32
  %1 = arith.truncf %0 : f32 to bf16
  func.return %1 : bf16
}
