// RUN: xla-opt %s -t 'llvm{features="+avx512f,+avx512vl"}' | filecheck %s
// RUN: xla-opt %s -p 'xla-attach-target{scales_by_powers=true},expand-math' | filecheck %s --check-prefix=LOOPS

// LOOPS-LABEL: func.func @f
// LOOPS:         math.exp %x : f32
// LOOPS-NEXT:    math.exp %v : vector<16xf32>

// CHECK-LABEL: define void @f(
// CHECK:         %[[S:.*]] = insertelement <4 x float> poison, float %{{.*}}, i32 0
// CHECK:         call <4 x float> @llvm.x86.avx512.mask.scalef.ps.128(<4 x float> %[[S]], <4 x float> %{{.*}}, <4 x float> zeroinitializer, i8 -1)
// CHECK:         %[[N:.*]] = fsub <16 x float>
// CHECK:         call <16 x float> @llvm.x86.avx512.mask.scalef.ps.512(<16 x float> %{{.*}}, <16 x float> %[[N]], <16 x float> zeroinitializer, i16 -1, i32 4)
func.func @f(%x: f32, %v: vector<16xf32>) {
  %0 = math.exp %x : f32
  %1 = math.exp %v : vector<16xf32>
  func.return
}
