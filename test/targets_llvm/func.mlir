// RUN: xla-opt %s -t llvm{triple=x86_64-unknown-linux-gnu} | filecheck %s
// RUN: xla-opt %s -t x86-asm{cpu=skylake-avx512} | filecheck %s --check-prefix=ASM

// An entry that only calls is exported with an array of pointers; the kernels are internal. A small
// kernel with one caller is inlined.
// CHECK: define void @main(ptr noundef nonnull readonly %arguments) #0 {
// CHECK: %[[X:.*]] = load ptr, ptr %{{.*}}, align 8, !nonnull
// CHECK: %[[Y:.*]] = load ptr, ptr %{{.*}}, align 8, !nonnull
// CHECK: call void @xla.kernel(ptr %[[X]], ptr %[[Y]])
// CHECK: define internal void @xla.kernel(ptr noundef noalias readonly align 64 dereferenceable(32) %{{.*}}, ptr noundef noalias dereferenceable(32) %{{.*}}) #2 {
// CHECK: define internal void @xla.twice(ptr {{.*}}) #1 {
// CHECK: define internal { float, i1 } @xla.pair(float %{{.*}}, i1 %{{.*}}) #0 {
// What accesses memory itself is told that arguments do not overlap: a function of its own.
// CHECK: define internal void @xla.storing(ptr noundef noalias dereferenceable(32) %{{.*}}) #0 {
// CHECK: define void @storing(ptr noundef nonnull readonly %arguments) #3 {
// CHECK: call void @xla.storing(ptr %{{.*}})
// CHECK: declare float @sinf(float)
// CHECK: attributes #0 = { nounwind }
// CHECK: attributes #1 = { noinline nounwind }
// CHECK: attributes #2 = { alwaysinline nounwind }
// CHECK: attributes #3 = { noinline optnone nounwind }

// ASM: .globl main
// ASM-NOT: .globl
// ASM: main:
func.func @main(%x: memref<8xf32>, %y: memref<8xf32>) attributes {xla.entry} {
  func.call @kernel(%x, %y) : (memref<8xf32>, memref<8xf32>) -> ()
  func.call @twice(%x) : (memref<8xf32>) -> ()
  func.call @twice(%y) : (memref<8xf32>) -> ()
  func.return
}

func.func private @kernel(%x: memref<8xf32> {llvm.align = 64 : i64}, %y: memref<8xf32>) attributes {xla.kernel} {
  %c0 = arith.constant 0 : index
  %yes = arith.constant true
  %v = memref.load %x[%c0] : memref<8xf32>
  %w, %p = func.call @pair(%v, %yes) : (f32, i1) -> (f32, i1)
  %s = func.call @sinf(%w) : (f32) -> f32
  memref.store %s, %y[%c0] : memref<8xf32>
  func.return
}

func.func private @twice(%x: memref<8xf32>) attributes {xla.kernel} {
  %c0 = arith.constant 0 : index
  %v = memref.load %x[%c0] : memref<8xf32>
  memref.store %v, %x[%c0] : memref<8xf32>
  func.return
}

func.func private @pair(%v: f32, %p: i1) -> (f32, i1) {
  func.return %v, %p : f32, i1
}

func.func @storing(%x: memref<8xf32>) attributes {xla.entry} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  memref.store %zero, %x[%c0] : memref<8xf32>
  func.return
}

func.func private @sinf(f32) -> f32
