// RUN: xla-opt %s -p riscv-scf-legalize-yields | filecheck %s
// RUN: xla-opt %s -p 'riscv-scf-legalize-yields,riscv-allocate-registers,convert-executed-loops-to-riscv-cf,riscv-remove-redundant-moves,rv-expand-pseudo' -t xdsl-riscv-asm | filecheck %s --check-prefix=ASM

// The two exchange their values: each is read before either is written.

// CHECK-LABEL: @exchange
// CHECK: riscv_scf.for {{.*}} iter_args([[X:%.+]] = %{{.*}}, [[Y:%.+]] = %{{.*}})
// CHECK-NEXT: [[OLD_Y:%.+]] = riscv.mv [[Y]]
// CHECK-NEXT: [[OLD_X:%.+]] = riscv.mv [[X]]
// CHECK-NEXT: [[NEW_X:%.+]] = riscv.mv [[OLD_Y]]
// CHECK-NEXT: [[NEW_Y:%.+]] = riscv.mv [[OLD_X]]
// CHECK-NEXT: riscv_scf.yield [[NEW_X]], [[NEW_Y]]

// ASM-LABEL: {{^}}exchange:
// ASM: {{^}}loop_0:
// ASM-NEXT: mv [[A:[a-z0-9]+]], [[Y:[a-z0-9]+]]
// ASM-NEXT: mv [[B:[a-z0-9]+]], [[X:[a-z0-9]+]]
// ASM-NEXT: mv [[X]], [[A]]
// ASM-NEXT: mv [[Y]], [[B]]
// ASM-NEXT: addi [[I:[a-z0-9]+]], [[I]], 1
// ASM-NEXT: bne [[I]], {{[a-z0-9]+}}, loop_0
riscv_func.func @exchange(%a: !riscv.reg<a0>, %b: !riscv.reg<a1>) -> !riscv.reg<a0> {
  %c0 = rv32.li 0 : !riscv.reg
  %c3 = rv32.li 3 : !riscv.reg
  %p = riscv.mv %a : (!riscv.reg<a0>) -> !riscv.reg
  %q = riscv.mv %b : (!riscv.reg<a1>) -> !riscv.reg
  %r, %s = riscv_scf.for %i : !riscv.reg = %c0 : !riscv.reg to %c3 : !riscv.reg step 1 : si12 iter_args(%x = %p, %y = %q) -> (!riscv.reg, !riscv.reg) {
    riscv_scf.yield %y, %x : !riscv.reg, !riscv.reg
  } {executes}
  %result = riscv.sub %r, %s : (!riscv.reg, !riscv.reg) -> !riscv.reg<a0>
  riscv_func.return %result : !riscv.reg<a0>
}

// What is added is read after the sum is there: the sum has to wait.

// CHECK-LABEL: @late_use
// CHECK: riscv_scf.for {{.*}} iter_args([[X:%.+]] = %{{.*}})
// CHECK-NEXT: [[SUM:%.+]] = riscv.addi [[X]], 8
// CHECK-NEXT: riscv.fsd [[X]]
// CHECK-NEXT: [[COPY:%.+]] = riscv.mv [[SUM]]
// CHECK-NEXT: [[NEXT:%.+]] = riscv.mv [[COPY]]
// CHECK-NEXT: riscv_scf.yield [[NEXT]]
riscv_func.func @late_use(%a: !riscv.reg<a0>, %v: !riscv.freg<fa0>) {
  %c0 = rv32.li 0 : !riscv.reg
  %c3 = rv32.li 3 : !riscv.reg
  %p = riscv.mv %a : (!riscv.reg<a0>) -> !riscv.reg
  %r = riscv_scf.for %i : !riscv.reg = %c0 : !riscv.reg to %c3 : !riscv.reg step 1 : si12 iter_args(%x = %p) -> (!riscv.reg) {
    %sum = riscv.addi %x, 8 : (!riscv.reg) -> !riscv.reg
    riscv.fsd %x, %v, 0 : (!riscv.reg, !riscv.freg<fa0>) -> ()
    riscv_scf.yield %sum : !riscv.reg
  } {executes}
  riscv_func.return
}
