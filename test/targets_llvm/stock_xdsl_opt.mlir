// RUN: xdsl-opt %s -t xla-llvm | filecheck %s
// RUN: xdsl-opt %s -t xla-x86-asm | filecheck %s --check-prefix=ASM

// CHECK: define float @twice(float %[[X:.*]])
// CHECK: fadd float %[[X]], %[[X]]
// ASM: twice:
func.func @twice(%x: f32) -> f32 {
  %y = arith.addf %x, %x : f32
  func.return %y : f32
}
