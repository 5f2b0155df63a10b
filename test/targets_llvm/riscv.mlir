// RUN: xla-opt %s -t riscv-asm | filecheck %s --check-prefix=GC
// RUN: xla-opt %s -t 'riscv-asm{features="+v"}' | filecheck %s --check-prefix=V128
// RUN: xla-opt %s -t 'riscv-asm{features=+v,+zvl256b}' | filecheck %s --check-prefix=V256
// RUN: xla-opt %s -t riscv-object -o %t.o && %python -c "print(open('%t.o', 'rb').read(20).hex())" | filecheck %s --check-prefix=RISCV-ELF
// RUN: xla-opt %s -t x86-object -o %t.o && %python -c "print(open('%t.o', 'rb').read(20).hex())" | filecheck %s --check-prefix=X86-ELF
// RUN: xdsl-opt %s -t xla-riscv-asm | filecheck %s --check-prefix=GC

// Code that is no text goes to a file, and only to one.
// RUN: not xla-opt %s -t riscv-object 2>&1 | filecheck %s --check-prefix=NO-TEXT
// RUN: not xla-opt %s -t x86-object --split-input-file -o %t.o 2>&1 | filecheck %s --check-prefix=NO-TEXT
// NO-TEXT: target '{{riscv|x86}}-object': it is no text: one program goes to a file, -o FILE

// RUN: not xla-opt %s -t 'riscv-asm{features=+v,+nothing}' 2>&1 | filecheck %s --check-prefix=FEATURE
// RUN: not xla-opt %s -t 'riscv-asm{vectors=+v}' 2>&1 | filecheck %s --check-prefix=OPTION
// RUN: not xla-opt %s -t 'riscv-asm{features=+v' 2>&1 | filecheck %s --check-prefix=SPELLING
// RUN: not xla-opt %s -t riscv-assembly 2>&1 | filecheck %s --check-prefix=NAME
// NAME: error: there is no target 'riscv-assembly'; did you mean riscv-asm
// FEATURE: error: riscv64-unknown-linux-gnu features=+m,+a,+f,+d,+c,+v,+nothing: '+nothing' is not a recognized feature
// OPTION: error: target riscv-asm: there is no option 'vectors' (it has: cpu, features)
// SPELLING: error: target 'riscv-asm{features=+v': Error parsing

// Class 64, little-endian; a relocatable file; machine 243 is RISC-V, 62 x86-64.
// RISCV-ELF: {{^}}7f454c460201{{.*}}0100f300{{$}}
// X86-ELF: {{^}}7f454c460201{{.*}}01003e00{{$}}

// GC: .attribute 5, "rv64i{{[^"]*}}_m{{[^"]*}}_a{{[^"]*}}_f{{[^"]*}}_d{{[^"]*}}_c
// GC-NOT: vset
// GC: main:
// GC-NOT: vset
// GC: fmadd.s

// V128: main:
// V128: vsetivli zero, 8, e32, m2
// V128: vfmacc.vv

// V256: main:
// V256: vsetivli zero, 8, e32, m1
// V256: vfmacc.vv
func.func @main(%x: memref<8xf32>, %y: memref<8xf32>) attributes {xla.entry} {
  %c0 = arith.constant 0 : index
  %v = vector.load %x[%c0] : memref<8xf32>, vector<8xf32>
  %w = vector.load %y[%c0] : memref<8xf32>, vector<8xf32>
  %s = vector.fma %v, %v, %w : vector<8xf32>
  vector.store %s, %y[%c0] : memref<8xf32>, vector<8xf32>
  func.return
}
