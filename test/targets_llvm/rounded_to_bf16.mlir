// RUN: xla-opt %s -t llvm | filecheck %s

// A NaN that is computed of numbers of bf16 has none of the bits that rounding takes off.
// CHECK-LABEL: define void @computed(
// CHECK:         fadd float
// CHECK-NOT:     fcmp uno
// CHECK:         ret void
func.func @computed(%x: bf16, %y: bf16) {
  %a = arith.extf %x : bf16 to f32
  %b = arith.extf %y : bf16 to f32
  %c = arith.constant 0.5 : f32
  %d = arith.mulf %a, %c : f32
  %e = arith.addf %d, %b : f32
  %f = arith.truncf %e : f32 to bf16
  func.return
}

// What may have them: a NaN of f32, or of f16; and one that is passed on as it is may be signalling.
// CHECK-LABEL: define void @given(
// CHECK:         fcmp uno
// CHECK:         fcmp uno
// CHECK:         fcmp uno
func.func @given(%x: f32, %y: f16, %z: bf16) {
  %a = arith.addf %x, %x : f32
  %b = arith.truncf %a : f32 to bf16
  %c = arith.extf %y : f16 to f32
  %d = arith.addf %c, %c : f32
  %e = arith.truncf %d : f32 to bf16
  %f = arith.extf %z : bf16 to f32
  %g = arith.negf %f : f32
  %h = arith.truncf %g : f32 to bf16
  func.return
}

// A constant NaN may have them too; the usual one has not.
// CHECK-LABEL: define void @constants(
// CHECK-COUNT-2: fcmp uno
// CHECK-NOT:     fcmp uno
// CHECK:         ret void
func.func @constants(%x: bf16, %y: vector<2xbf16>) {
  %a = arith.extf %x : bf16 to f32
  %b = arith.constant 0x7FFFFFFF : f32
  %c = arith.addf %a, %b : f32
  %d = arith.truncf %c : f32 to bf16
  %e = arith.extf %y : vector<2xbf16> to vector<2xf32>
  %f = arith.constant dense<[1.0, 0x7FFFE000]> : vector<2xf32>
  %g = arith.addf %e, %f : vector<2xf32>
  %h = arith.truncf %g : vector<2xf32> to vector<2xbf16>
  %i = arith.constant 0x7FC00000 : f32
  %j = arith.addf %a, %i : f32
  %k = arith.truncf %j : f32 to bf16
  func.return
}
