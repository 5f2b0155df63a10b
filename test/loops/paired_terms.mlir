// RUN: xla-opt %s -p "xla-plan-schedules,convert-linalg-to-vector-loops" | filecheck %s
// RUN: xla-opt %s -p "xla-plan-schedules,convert-linalg-to-vector-loops" | xla-opt -f mlir - | filecheck %s
// RUN: xla-opt %s -p "xla-plan-schedules,convert-linalg-to-vector-loops" -t x86-asm{cpu=cascadelake} | filecheck %s --check-prefix=VNNI
// RUN: xla-opt %s -p "xla-plan-schedules{vector-bits=256},convert-linalg-to-vector-loops" -t x86-asm{cpu=haswell} | filecheck %s --check-prefix=AVX2
// RUN: xla-opt %s -p "xla-attach-target{multiplies-pairs=false},xla-plan-schedules,convert-linalg-to-vector-loops" | filecheck %s --check-prefix=SINGLE

#left = affine_map<(m, n, k) -> (m, k)>
#right = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>

// Two terms go into the halves of 32-bit numbers. Those of the columns are packed first; those of a
// row are put together where they are needed. What adds the products of halves is one instruction.
// CHECK-LABEL: func.func @bytes
// CHECK:         %[[S:.*]] = memref.alloca() {alignment = 64 : i64} : memref<32x32xi32>
// CHECK:         %[[EVEN:.*]] = vector.load %b[%{{.*}}] : memref<64x32xi8>, vector<16xi8>
// CHECK:         %[[ODD:.*]] = vector.load %b[%{{.*}}] : memref<64x32xi8>, vector<16xi8>
// CHECK:         %[[HALVES:.*]] = vector.shuffle %{{.*}} [0, 16, 1, 17, {{.*}}] : vector<16xi16>, vector<16xi16>
// CHECK-NEXT:    %[[WORDS:.*]] = vector.bitcast %[[HALVES]] : vector<32xi16> to vector<16xi32>
// CHECK-NEXT:    vector.store %[[WORDS]], %[[S]]
// CHECK:         scf.for
// CHECK:           %[[Q:.*]] = vector.load %[[S]]
// CHECK:           %[[P:.*]] = vector.broadcast %{{.*}} : i32 to vector<16xi32>
// CHECK:           %[[P16:.*]] = vector.bitcast %[[P]] : vector<16xi32> to vector<32xi16>
// CHECK-NEXT:      %[[P32:.*]] = arith.extsi %[[P16]] : vector<32xi16> to vector<32xi32>
// CHECK-NEXT:      %[[Q16:.*]] = vector.bitcast %[[Q]] : vector<16xi32> to vector<32xi16>
// CHECK-NEXT:      %[[Q32:.*]] = arith.extsi %[[Q16]] : vector<32xi16> to vector<32xi32>
// CHECK-NEXT:      %[[M:.*]] = arith.muli %[[P32]], %[[Q32]] : vector<32xi32>
// CHECK-NEXT:      %[[M0:.*]] = vector.shuffle %[[M]], %[[M]] [0, 2, 4,
// CHECK-NEXT:      %[[M1:.*]] = vector.shuffle %[[M]], %[[M]] [1, 3, 5,
// CHECK-NEXT:      %[[SUM:.*]] = arith.addi %[[M0]], %[[M1]] : vector<16xi32>
// CHECK-NEXT:      arith.addi %{{.*}}, %[[SUM]] : vector<16xi32>
// VNNI-LABEL: bytes:
// VNNI:         vpdpwssd {{.*}}zmm
// AVX2-LABEL: bytes:
// AVX2:         vpmaddwd {{.*}}ymm
// AVX2:         vpaddd {{.*}}ymm
// SINGLE-LABEL: func.func @bytes
// SINGLE:         %[[B:.*]] = vector.load %{{.*}} : memref<64x32xi8>, vector<16xi8>
// SINGLE:         arith.extsi %[[B]] : vector<16xi8> to vector<16xi32>
// SINGLE:         arith.muli %{{.*}} : vector<16xi32>
// SINGLE:         arith.addi %{{.*}} : vector<16xi32>
func.func @bytes(%a: memref<16x64xi8>, %b: memref<64x32xi8>, %c: memref<16x32xi32>) {
  linalg.generic {indexing_maps = [#left, #right, #out],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<16x64xi8>, memref<64x32xi8>) outs(%c : memref<16x32xi32>) {
  ^bb0(%x: i8, %y: i8, %sum: i32):
    %0 = arith.extsi %x : i8 to i32
    %1 = arith.extsi %y : i8 to i32
    %2 = arith.muli %0, %1 : i32
    %3 = arith.addi %sum, %2 : i32
    linalg.yield %3 : i32
  }
  func.return
}

// Of an odd number of terms, the last one is added by itself.
// CHECK-LABEL: func.func @odd_terms
// CHECK:         arith.muli %{{.*}} : vector<32xi32>
// CHECK:         memref.load %a[%{{.*}}, %c64] : memref<16x65xi16>
// CHECK:         arith.muli %{{.*}} : vector<16xi32>
// CHECK-NEXT:    arith.addi %{{.*}} : vector<16xi32>
func.func @odd_terms(%a: memref<16x65xi16>, %b: memref<65x32xi16>, %c: memref<16x32xi32>) {
  linalg.generic {indexing_maps = [#left, #right, #out],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<16x65xi16>, memref<65x32xi16>) outs(%c : memref<16x32xi32>) {
  ^bb0(%x: i16, %y: i16, %sum: i32):
    %0 = arith.extsi %x : i16 to i32
    %1 = arith.extsi %y : i16 to i32
    %2 = arith.muli %0, %1 : i32
    %3 = arith.addi %sum, %2 : i32
    linalg.yield %3 : i32
  }
  func.return
}

// 16 bits without a sign do not fit half of a number with one.
// CHECK-LABEL: func.func @no_halves
// CHECK-NOT:     vector.bitcast
// CHECK:         arith.muli %{{.*}} : vector<16xi32>
func.func @no_halves(%a: memref<16x64xi16>, %b: memref<64x32xi16>, %c: memref<16x32xi32>) {
  linalg.generic {indexing_maps = [#left, #right, #out],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<16x64xi16>, memref<64x32xi16>) outs(%c : memref<16x32xi32>) {
  ^bb0(%x: i16, %y: i16, %sum: i32):
    %0 = arith.extui %x : i16 to i32
    %1 = arith.extui %y : i16 to i32
    %2 = arith.muli %0, %1 : i32
    %3 = arith.addi %sum, %2 : i32
    linalg.yield %3 : i32
  }
  func.return
}
