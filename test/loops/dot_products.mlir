// RUN: xla-opt %s -p convert-linalg-to-vector-loops | filecheck %s
// RUN: xla-opt %s -p convert-linalg-to-vector-loops | xla-opt -f mlir - | filecheck %s
// RUN: xla-opt %s -p convert-linalg-to-vector-loops -t 'x86-asm{cpu=cooperlake features="+avx512vnni,+avx512bf16"}' | filecheck %s --check-prefix=ASM
// RUN: xla-opt %s -p convert-linalg-to-vector-loops -t riscv-asm | filecheck %s --check-prefix=RISCV
// RUN: xla-opt %s -p "xla-attach-target{multiplies-quads=true multiplies-bfloats=true flushes-subnormals=true},xla-plan-schedules" | filecheck %s --check-prefix=TEXT

// Four products of bytes, or two of bf16, are added by one instruction of x86; loops with them run
// on processors without it, too.

#left = affine_map<(m, n, k) -> (m, k)>
#right = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>

// Signed bytes of both factors: those of the left one have their sign bits flipped, and sums start
// from minus what that adds to them, which the packed columns tell.
// CHECK-LABEL: func.func @signed
// CHECK-DAG:     %[[FLIP:.*]] = arith.constant -2139062144 : i32
// CHECK-DAG:     %[[FLIPS:.*]] = arith.constant dense<-2139062144> : vector<16xi32>
// CHECK-DAG:     %[[PANEL:.*]] = memref.alloca() {alignment = 64 : i64} : memref<{{.*}}xi32>
// CHECK-DAG:     %[[EXCESS:.*]] = memref.alloca() {alignment = 64 : i64} : memref<16xi32>
// CHECK:         vector.store %{{.*}}, %[[PANEL]]
// CHECK:         %[[Q:.*]] = vector.load %[[PANEL]]
// CHECK-DAG:     %[[U:.*]] = vector.bitcast %[[FLIPS]] : vector<16xi32> to vector<64xi8>
// CHECK-DAG:     %[[S:.*]] = vector.bitcast %[[Q]] : vector<16xi32> to vector<64xi8>
// CHECK:         llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%{{.*}}, %[[U]], %[[S]]) : (vector<16xi32>, vector<64xi8>, vector<64xi8>) -> vector<16xi32>
// CHECK:         vector.store %{{.*}}, %[[EXCESS]]
// CHECK:         %[[E:.*]] = vector.load %[[EXCESS]]
// CHECK:         arith.subi %{{.*}}, %[[E]] : vector<16xi32>
// CHECK:         arith.xori %{{.*}}, %[[FLIP]] : i32
// CHECK:         llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"
// ASM-LABEL: signed:
// ASM:         vpdpbusd {{.*}}zmm
// RISCV-LABEL: signed:
// RISCV:         mul
// TEXT-LABEL: func.func @signed
// TEXT: quads = d2, loops = [pack rhs {loops = [d2, d1 by 16], vector = d1 x 16}, d1 by 16, d0 by 2, d2], vector = d1 x 16
func.func @signed(%a: memref<8x16xi8>, %b: memref<16x16xi8>, %c: memref<8x16xi32>) {
  linalg.generic {indexing_maps = [#left, #right, #out],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<8x16xi8>, memref<16x16xi8>) outs(%c : memref<8x16xi32>)
      attrs = {schedule.nest = #schedule.nest<quads = d2, loops = [pack rhs {loops = [d2, d1 by 16], vector = d1 x 16}, d1 by 16, d0 by 2, d2], vector = d1 x 16>} {
  ^bb0(%x: i8, %y: i8, %sum: i32):
    %0 = arith.extsi %x : i8 to i32
    %1 = arith.extsi %y : i8 to i32
    %2 = arith.muli %0, %1 : i32
    %3 = arith.addi %sum, %2 : i32
    linalg.yield %3 : i32
  }
  func.return
}

// Unsigned numbers times signed ones: nothing is flipped, and the columns are the signed operand.
// CHECK-LABEL: func.func @mixed
// CHECK-NOT:     arith.xori
// CHECK-NOT:     arith.subi
// CHECK:         llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.256"(%{{.*}}) : (vector<8xi32>, vector<32xi8>, vector<32xi8>) -> vector<8xi32>
// CHECK-NOT:     arith.subi
// CHECK:         func.return
// ASM-LABEL: mixed:
// ASM:         vpdpbusd {{.*}}ymm
func.func @mixed(%a: memref<8x16xi8>, %b: memref<16x8xi8>, %c: memref<8x8xi32>) {
  linalg.generic {indexing_maps = [#left, #right, #out],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<8x16xi8>, memref<16x8xi8>) outs(%c : memref<8x8xi32>)
      attrs = {schedule.nest = #schedule.nest<quads = d2, loops = [pack rhs {loops = [d2, d1 by 8], vector = d1 x 8}, d0, d1 by 8, d2], vector = d1 x 8>} {
  ^bb0(%x: i8, %y: i8, %sum: i32):
    %0 = arith.extui %x : i8 to i32
    %1 = arith.extsi %y : i8 to i32
    %2 = arith.muli %0, %1 : i32
    %3 = arith.addi %sum, %2 : i32
    linalg.yield %3 : i32
  }
  func.return
}

// Two multiply-adds of bf16; vectors of five lanes are filled up to eight.
// CHECK-LABEL: func.func @bfloats
// CHECK:         vector.shuffle
// CHECK:         llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.256"(%{{.*}}) : (vector<8xf32>, vector<16xbf16>, vector<16xbf16>) -> vector<8xf32>
// ASM-LABEL: bfloats:
// ASM:         vdpbf16ps {{.*}}ymm
// RISCV-LABEL: bfloats:
// RISCV:         fma
// TEXT-LABEL: func.func @bfloats
// TEXT: pairs = d2, loops = [d0, d1 by 5, d2], vector = d1 x 5
func.func @bfloats(%a: memref<8x16xbf16>, %b: memref<16x5xbf16>, %c: memref<8x5xf32>) {
  linalg.generic {indexing_maps = [#left, #right, #out],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<8x16xbf16>, memref<16x5xbf16>) outs(%c : memref<8x5xf32>)
      attrs = {schedule.nest = #schedule.nest<pairs = d2, loops = [d0, d1 by 5, d2], vector = d1 x 5>} {
  ^bb0(%x: bf16, %y: bf16, %sum: f32):
    %0 = arith.extf %x : bf16 to f32
    %1 = arith.extf %y : bf16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %sum, %2 : f32
    linalg.yield %3 : f32
  }
  func.return
}

// Without a schedule, the planner takes them where it is told that there are such instructions.
// TEXT-LABEL: func.func @planned
// TEXT: quads = d2, loops = [pack rhs
// TEXT-SAME: odd = {
func.func @planned(%a: memref<16x67xi8>, %b: memref<67x32xi8>, %c: memref<16x32xi32>) {
  linalg.generic {indexing_maps = [#left, #right, #out],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<16x67xi8>, memref<67x32xi8>) outs(%c : memref<16x32xi32>) {
  ^bb0(%x: i8, %y: i8, %sum: i32):
    %0 = arith.extsi %x : i8 to i32
    %1 = arith.extsi %y : i8 to i32
    %2 = arith.muli %0, %1 : i32
    %3 = arith.addi %sum, %2 : i32
    linalg.yield %3 : i32
  }
  func.return
}
