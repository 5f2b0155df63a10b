// RUN: xla-opt %s -t llvm | filecheck %s
// RUN: xla-opt %s -t llvm{triple=riscv64-unknown-linux-gnu} | filecheck %s --check-prefix=RISCV

// RISCV: target triple = "riscv64-unknown-linux-gnu"

// CHECK: define void @f(<4 x float> %[[X:.*]], i32 %[[N:.*]])
func.func @f(%x: vector<4xf32>, %n: i32) {
  // CHECK: call <4 x float> @llvm.sqrt.v4f32(<4 x float> %[[X]])
  %0 = math.sqrt %x : vector<4xf32>
  // CHECK-NEXT: call contract <4 x float> @llvm.fma.v4f32(<4 x float> %[[X]], <4 x float> %[[X]], <4 x float> %[[X]])
  %1 = math.fma %x, %x, %x fastmath<contract> : vector<4xf32>
  // CHECK-NEXT: call <4 x float> @llvm.roundeven.v4f32(<4 x float> %[[X]])
  %2 = math.roundeven %x : vector<4xf32>
  // CHECK-NEXT: call <4 x float> @llvm.fabs.v4f32(<4 x float> %[[X]])
  %3 = math.absf %x : vector<4xf32>
  // CHECK-NEXT: call i32 @llvm.ctlz.i32(i32 %[[N]], i1 false)
  %4 = math.ctlz %n : i32
  // CHECK-NEXT: call i32 @llvm.ctpop.i32(i32 %[[N]])
  %5 = math.ctpop %n : i32
  func.return
}
