// RUN: xla-opt %s -p riscv-repeat-constants | filecheck %s
// RUN: xla-opt %s -p 'riscv-repeat-constants{inside=true}' | filecheck %s --check-prefix=INSIDE

// Before each of the two loops, or where it is used; one that nothing uses is gone.

// CHECK-LABEL: @steps
// CHECK-NOT: rv64.li 7
// CHECK: [[FIRST:%.+]] = rv32.li 136
// CHECK-NEXT: riscv_scf.for
// CHECK-NEXT: riscv.add %{{.+}}, [[FIRST]]
// CHECK: [[SECOND:%.+]] = rv32.li 136
// CHECK-NEXT: riscv_scf.for
// CHECK-NEXT: riscv.add %{{.+}}, [[SECOND]]

// INSIDE-LABEL: @steps
// INSIDE: riscv_scf.for
// INSIDE-NEXT: [[FIRST:%.+]] = rv32.li 136
// INSIDE-NEXT: riscv.add %{{.+}}, [[FIRST]]
// INSIDE: riscv_scf.for
// INSIDE-NEXT: [[SECOND:%.+]] = rv32.li 136
// INSIDE-NEXT: riscv.add %{{.+}}, [[SECOND]]
riscv_func.func @steps(%a: !riscv.reg<a0>, %b: !riscv.reg<a1>) {
  %step = rv32.li 136 : !riscv.reg
  %unused = rv64.li 7 : !riscv.reg
  riscv_scf.for %i : !riscv.reg = %a : !riscv.reg<a0> to %b : !riscv.reg<a1> step 1 : si12 {
    %0 = riscv.add %i, %step : (!riscv.reg, !riscv.reg) -> !riscv.reg
    riscv.sw %0, %0, 0 : (!riscv.reg, !riscv.reg) -> ()
  }
  riscv_scf.for %i : !riscv.reg = %a : !riscv.reg<a0> to %b : !riscv.reg<a1> step 1 : si12 {
    %0 = riscv.add %i, %step : (!riscv.reg, !riscv.reg) -> !riscv.reg
    riscv.sw %0, %0, 0 : (!riscv.reg, !riscv.reg) -> ()
  }
  riscv_func.return
}
