// RUN: xla-opt %s -t xdsl-riscv-asm | filecheck %s
// RUN: xla-opt %s -t 'xdsl-riscv-asm{rows=1}' | filecheck %s --check-prefix=PLAIN

// Two rows, four columns: one pointer for both rows of %a, one for the four columns of %b; the
// inner loop counts by one of them, and neither asks before its first iteration.

// CHECK-LABEL: {{^}}matmul:
// CHECK: {{^}}[[ROWS:loop_[0-9]+]]:
// CHECK: {{^}}[[COLUMNS:loop_[0-9]+]]:
// CHECK-NEXT: fld [[A0:[a-z0-9]+]], 0([[A:[a-z0-9]+]])
// CHECK-NEXT: fld [[A1:[a-z0-9]+]], 64([[A]])
// CHECK-NEXT: fld [[B0:[a-z0-9]+]], 0([[B:[a-z0-9]+]])
// CHECK-NEXT: fld {{[a-z0-9]+}}, 8([[B]])
// CHECK-NEXT: fld {{[a-z0-9]+}}, 16([[B]])
// CHECK-NEXT: fld {{[a-z0-9]+}}, 24([[B]])
// CHECK-NEXT: fmadd.d {{[a-z0-9]+}}, [[A0]], [[B0]], {{[a-z0-9]+}}
// CHECK-NEXT: fmadd.d {{[a-z0-9]+}}, [[A1]], [[B0]], {{[a-z0-9]+}}
// CHECK-NOT: mul
// CHECK: fsd {{[a-z0-9]+}}, 0([[C:[a-z0-9]+]])
// CHECK: fsd {{[a-z0-9]+}}, 88([[C]])
// CHECK-NEXT: addi [[C]], [[C]], 32
// CHECK-NEXT: addi [[B]], [[B]], 32
// CHECK-NEXT: bne [[B]], {{[a-z0-9]+}}, [[COLUMNS]]
// CHECK: bne {{[a-z0-9]+}}, {{[a-z0-9]+}}, [[ROWS]]
// CHECK-NEXT: ret

// PLAIN-LABEL: {{^}}matmul:
// PLAIN: {{^}}[[COLUMNS:loop_0]]:
// PLAIN: fld [[X:[a-z0-9]+]], 56({{[a-z0-9]+}})
// PLAIN-NEXT: fld [[Y:[a-z0-9]+]], 448({{[a-z0-9]+}})
// PLAIN-NEXT: fmadd.d [[SUM:[a-z0-9]+]], [[X]], [[Y]], {{[a-z0-9]+}}
// PLAIN-NEXT: fsd [[SUM]], 0([[C:[a-z0-9]+]])
// PLAIN-NEXT: addi [[C]], [[C]], 8
// PLAIN-NEXT: addi [[B:[a-z0-9]+]], [[B]], 8
// PLAIN-NEXT: bne [[B]], {{[a-z0-9]+}}, [[COLUMNS]]
func.func @matmul(%a: memref<8x8xf64>, %b: memref<8x8xf64>, %c: memref<8x8xf64>) attributes {xla.kernel} {
  %zero = arith.constant 0.0 : f64
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    scf.for %j = %c0 to %c8 step %c1 {
      %sum = scf.for %k = %c0 to %c8 step %c1 iter_args(%s = %zero) -> (f64) {
        %x = memref.load %a[%i, %k] : memref<8x8xf64>
        %y = memref.load %b[%k, %j] : memref<8x8xf64>
        %t = math.fma %x, %y, %s : f64
        scf.yield %t : f64
      }
      memref.store %sum, %c[%i, %j] : memref<8x8xf64>
    }
  }
  func.return
}

// A NaN goes through; the constant is known to be none, and is not compared.

// CHECK-LABEL: {{^}}relu:
// CHECK: fmv.d.x [[ZERO:[a-z0-9]+]], zero
// CHECK: fmax.d [[R:[a-z0-9]+]], [[X:[a-z0-9]+]], [[ZERO]]
// CHECK-NEXT: feq.d [[T:[a-z0-9]+]], [[X]], [[X]]
// CHECK-NEXT: bne [[T]], zero, [[KEPT:kept_[0-9]+]]
// CHECK-NEXT: fmv.d [[R]], [[X]]
// CHECK-NEXT: {{^}}[[KEPT]]:
// CHECK-NEXT: {{(fmax.d|fsd)}}
func.func @relu(%x: memref<1024xf64>, %y: memref<1024xf64>) attributes {xla.kernel} {
  %zero = arith.constant 0.0 : f64
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c1024 = arith.constant 1024 : index
  scf.for %i = %c0 to %c1024 step %c1 {
    %v = memref.load %x[%i] : memref<1024xf64>
    %r = arith.maximumf %v, %zero : f64
    memref.store %r, %y[%i] : memref<1024xf64>
  }
  func.return
}
