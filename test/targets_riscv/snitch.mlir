// RUN: xla-opt %s --split-input-file -t 'xdsl-riscv-asm{snitch=true}' | filecheck %s

// No processor or emulator here has these instructions: only the text is looked at.

// All operands are streams, and one instruction is repeated 256 times.

// CHECK-LABEL: {{^}}sum:
// CHECK: scfgwi {{.*}} # dm 31 dim 0 bound
// CHECK: scfgwi {{.*}} # dm 0 dim 0 source
// CHECK: scfgwi {{.*}} # dm 1 dim 0 source
// CHECK: scfgwi {{.*}} # dm 2 dim 0 destination
// CHECK: csrrsi zero, 1984, 1
// CHECK-NEXT: li [[N:t[0-9]+]], 255
// CHECK-NEXT: frep.o [[N]], 1, 0, 0
// CHECK-NEXT: fadd.d ft2, ft0, ft1
// CHECK-NEXT: csrrci zero, 1984, 1
// CHECK-NEXT: ret
func.func @sum(%a: memref<256xf64>, %b: memref<256xf64>, %c: memref<256xf64>) {
  linalg.generic {
    indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
    iterator_types = ["parallel"]
  } ins(%a, %b : memref<256xf64>, memref<256xf64>) outs(%c : memref<256xf64>) {
  ^bb0(%x: f64, %y: f64, %z: f64):
    %s = arith.addf %x, %y : f64
    linalg.yield %s : f64
  }
  func.return
}

// -----

// The fill before it becomes the first value; four sums at a time, products and sums fused.

// CHECK-LABEL: {{^}}matmul:
// CHECK: csrrsi zero, 1984, 1
// CHECK: li [[N:t[0-9]+]], 15
// CHECK-NEXT: frep.o [[N]], 4, 0, 0
// CHECK-NEXT: fmadd.d [[S0:f[a-z0-9]+]], ft0, ft1, [[S0]]
// CHECK-NEXT: fmadd.d [[S1:f[a-z0-9]+]], ft0, ft1, [[S1]]
// CHECK-NEXT: fmadd.d [[S2:f[a-z0-9]+]], ft0, ft1, [[S2]]
// CHECK-NEXT: fmadd.d [[S3:f[a-z0-9]+]], ft0, ft1, [[S3]]
// CHECK-NEXT: fmv.d ft2, [[S0]]
// CHECK-NEXT: fmv.d ft2, [[S1]]
func.func @matmul(%a: memref<16x16xf64>, %b: memref<16x16xf64>, %c: memref<16x16xf64>) {
  %zero = arith.constant 0.0 : f64
  linalg.fill ins(%zero : f64) outs(%c : memref<16x16xf64>)
  linalg.generic {
    indexing_maps = [
      affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>
    ],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%a, %b : memref<16x16xf64>, memref<16x16xf64>) outs(%c : memref<16x16xf64>) {
  ^bb0(%x: f64, %y: f64, %s: f64):
    %p = arith.mulf %x, %y : f64
    %t = arith.addf %s, %p : f64
    linalg.yield %t : f64
  }
  func.return
}

// -----

// The operand that only has the window's sizes is not streamed.

// CHECK-LABEL: {{^}}max_pool:
// CHECK-NOT: dm 2
// CHECK: frep.o {{t[0-9]+}}, 4, 0, 0
// CHECK-NEXT: fmax.d [[S0:f[a-z0-9]+]], [[S0]], ft0
func.func @max_pool(%a: memref<18x18xf64>, %w: memref<3x3xi1>, %c: memref<16x16xf64>) {
  %first = arith.constant 0xFFF0000000000000 : f64
  linalg.fill ins(%first : f64) outs(%c : memref<16x16xf64>)
  linalg.generic {
    indexing_maps = [
      affine_map<(i, j, k, l) -> (i + k, j + l)>, affine_map<(i, j, k, l) -> (k, l)>,
      affine_map<(i, j, k, l) -> (i, j)>
    ],
    iterator_types = ["parallel", "parallel", "reduction", "reduction"]
  } ins(%a, %w : memref<18x18xf64>, memref<3x3xi1>) outs(%c : memref<16x16xf64>) {
  ^bb0(%x: f64, %unused: i1, %m: f64):
    %t = arith.maximumf %m, %x : f64
    linalg.yield %t : f64
  }
  func.return
}
