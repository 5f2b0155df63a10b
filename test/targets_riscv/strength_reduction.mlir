// RUN: xla-opt %s -p riscv-scf-strength-reduction | filecheck %s

// Two pointers; the loop counts by the first. The constants are in the loads and stores.

// CHECK-LABEL: @copy
// CHECK: [[END:%.+]] = riscv.addi [[FROM:%.+]], 160
// CHECK: [[TO:%.+]] = riscv.mv %to :
// CHECK: riscv_scf.for [[P:%.+]] : !riscv.reg = [[FROM]] : !riscv.reg to [[END]] : !riscv.reg step 16 : si12 iter_args([[Q:%.+]] = [[TO]])
// CHECK-NEXT: [[X:%.+]] = riscv.fld [[P]], 8
// CHECK-NEXT: riscv.fsd [[Q]], [[X]], 0
// CHECK-NEXT: [[NEXT:%.+]] = riscv.addi [[Q]], 8
// CHECK-NEXT: riscv_scf.yield [[NEXT]]
// CHECK-NEXT: } {executes}
riscv_func.func @copy(%a: !riscv.reg<a0>, %b: !riscv.reg<a1>) {
  %from = riscv.mv %a : (!riscv.reg<a0>) -> !riscv.reg
  %to = riscv.mv %b : (!riscv.reg<a1>) -> !riscv.reg
  %c0 = rv32.li 0 : !riscv.reg
  %c8 = rv32.li 8 : !riscv.reg
  %c10 = rv32.li 10 : !riscv.reg
  riscv_scf.for %i : !riscv.reg = %c0 : !riscv.reg to %c10 : !riscv.reg step 1 : si12 {
    %0 = riscv.mul %i, %c8 : (!riscv.reg, !riscv.reg) -> !riscv.reg
    %1 = riscv.add %0, %0 : (!riscv.reg, !riscv.reg) -> !riscv.reg
    %2 = riscv.add %from, %1 : (!riscv.reg, !riscv.reg) -> !riscv.reg
    %3 = riscv.addi %2, 8 : (!riscv.reg) -> !riscv.reg
    %x = riscv.fld %3, 0 : (!riscv.reg) -> !riscv.freg
    %4 = riscv.add %to, %0 : (!riscv.reg, !riscv.reg) -> !riscv.reg
    riscv.fsd %4, %x, 0 : (!riscv.reg, !riscv.freg) -> ()
  }
  riscv_func.return
}

// The load of %b is done once, before the loop; the second load of what is stored to stays.

// CHECK-LABEL: @loads
// CHECK: [[W:%.+]] = riscv.fld {{.*}}, 24
// CHECK: riscv_scf.for
// CHECK-NEXT: [[X:%.+]] = riscv.fld [[P:%.+]], 0
// CHECK-NEXT: [[Y:%.+]] = riscv.fmul.d [[X]], [[W]]
// CHECK-NEXT: riscv.fsd [[P]], [[Y]], 0
// CHECK-NEXT: [[Z:%.+]] = riscv.fld [[P]], 0
// CHECK-NEXT: [[V:%.+]] = riscv.fadd.d [[Z]], [[W]]
// CHECK-NEXT: riscv.fsd [[P]], [[V]], 0
// CHECK-NEXT: } {executes}
riscv_func.func @loads(%a: !riscv.reg<a0>, %b: !riscv.reg<a1>) {
  %x = riscv.mv %a : (!riscv.reg<a0>) -> !riscv.reg
  %w = riscv.mv %b : (!riscv.reg<a1>) -> !riscv.reg
  %c0 = rv32.li 0 : !riscv.reg
  %c8 = rv32.li 8 : !riscv.reg
  %c10 = rv32.li 10 : !riscv.reg
  riscv_scf.for %i : !riscv.reg = %c0 : !riscv.reg to %c10 : !riscv.reg step 1 : si12 {
    %0 = riscv.mul %i, %c8 : (!riscv.reg, !riscv.reg) -> !riscv.reg
    %1 = riscv.add %x, %0 : (!riscv.reg, !riscv.reg) -> !riscv.reg
    %2 = riscv.fld %1, 0 : (!riscv.reg) -> !riscv.freg
    %3 = riscv.fld %w, 24 : (!riscv.reg) -> !riscv.freg
    %4 = riscv.fmul.d %2, %3 : (!riscv.freg, !riscv.freg) -> !riscv.freg
    riscv.fsd %1, %4, 0 : (!riscv.reg, !riscv.freg) -> ()
    %5 = riscv.fld %1, 0 : (!riscv.reg) -> !riscv.freg
    %6 = riscv.fld %w, 24 : (!riscv.reg) -> !riscv.freg
    %7 = riscv.fadd.d %5, %6 : (!riscv.freg, !riscv.freg) -> !riscv.freg
    riscv.fsd %1, %7, 0 : (!riscv.reg, !riscv.freg) -> ()
  }
  riscv_func.return
}

// A constant that no instruction holds is made of two, outside.

// CHECK-LABEL: @far
// CHECK: [[HIGH:%.+]] = riscv.lui 2
// CHECK: [[STEP:%.+]] = riscv.addi [[HIGH]], -192
// CHECK: riscv_scf.for
// CHECK: riscv.add %{{.*}}, [[STEP]]
riscv_func.func @far(%a: !riscv.reg<a0>, %v: !riscv.freg<fa0>) {
  %x = riscv.mv %a : (!riscv.reg<a0>) -> !riscv.reg
  %c0 = rv32.li 0 : !riscv.reg
  %c8000 = rv32.li 8000 : !riscv.reg
  %c10 = rv32.li 10 : !riscv.reg
  riscv_scf.for %i : !riscv.reg = %c0 : !riscv.reg to %c10 : !riscv.reg step 1 : si12 {
    %0 = riscv.mul %i, %c8000 : (!riscv.reg, !riscv.reg) -> !riscv.reg
    %1 = riscv.add %x, %0 : (!riscv.reg, !riscv.reg) -> !riscv.reg
    riscv.fsd %1, %v, 0 : (!riscv.reg, !riscv.freg<fa0>) -> ()
  }
  riscv_func.return
}
