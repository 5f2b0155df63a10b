// RUN: xla-opt %s -t 'llvm{features="+avx512f,+avx512vl"}' | filecheck %s
// RUN: xla-opt %s -t 'llvm{cpu=haswell}' | filecheck %s --check-prefix=OTHER
// RUN: xla-opt %s -p 'xla-attach-target{estimates_roots=true},expand-math' | filecheck %s --check-prefix=LOOPS

// LOOPS-LABEL: func.func @f
// LOOPS:         math.rsqrt %x : f32
// LOOPS-NEXT:    math.rsqrt %v : vector<16xf32>
// LOOPS:         math.sqrt %w : vector<8xf64>
// LOOPS-NEXT:    arith.divf

// CHECK-LABEL: define void @f(
// CHECK:         %[[S:.*]] = insertelement <4 x float> poison, float %{{.*}}, i32 0
// CHECK-NEXT:    %[[T:.*]] = call <4 x float> @llvm.x86.avx512.rsqrt14.ps.128(<4 x float> %[[S]], <4 x float> zeroinitializer, i8 -1)
// CHECK-NEXT:    extractelement <4 x float> %[[T]], i32 0
// CHECK:         %[[ROOT:.*]] = call <16 x float> @llvm.x86.avx512.rsqrt14.ps.512(<16 x float> %[[V:.*]], <16 x float> zeroinitializer, i16 -1)
// CHECK-NEXT:    %[[PRODUCT:.*]] = fmul <16 x float> %[[V]], %[[ROOT]]
// CHECK:         %[[LAST:.*]] = fcmp uno
// CHECK-NEXT:    select <16 x i1> %[[LAST]], <16 x float> %[[ROOT]], <16 x float>
// CHECK:         call <8 x double> @llvm.sqrt
// CHECK-NEXT:    fdiv <8 x double>

// OTHER-NOT:     rsqrt14
// OTHER:         %[[SQRT:.*]] = call <16 x float> @llvm.sqrt.v16f32
// OTHER-NEXT:    fdiv <16 x float> {{.*}}, %[[SQRT]]
func.func @f(%x: f32, %v: vector<16xf32>, %w: vector<8xf64>) {
  %0 = math.rsqrt %x : f32
  %1 = math.rsqrt %v : vector<16xf32>
  %2 = math.rsqrt %w : vector<8xf64>
  func.return
}
