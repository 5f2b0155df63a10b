// RUN: xla-opt %s -p convert-loops-to-rv64 | filecheck %s

// The bits of a float go through an integer register: a zero keeps its sign.

// CHECK-LABEL: @constants
// CHECK: [[BITS:%.+]] = rv64.li -9223372036854775808
// CHECK-NEXT: riscv.custom_assembly_instruction [[BITS]] {instruction_name = "fmv.d.x"}
// CHECK: rv64.get_register : !riscv.reg<zero>
// CHECK: rv64.li -2147483648
// CHECK-NEXT: riscv.fmv.w.x
// CHECK: rv64.li 9218868437227405312
func.func @constants() -> (f64, f64, f32, f64) {
  %a = arith.constant -0.0 : f64
  %b = arith.constant 0.0 : f64
  %c = arith.constant -0.0 : f32
  %d = arith.constant 0x7FF0000000000000 : f64
  func.return %a, %b, %c, %d : f64, f64, f32, f64
}

// CHECK-LABEL: @maximum
// CHECK: [[M:%.+]] = riscv.fmax.s [[X:%.+]], [[Y:%.+]] :
// CHECK: [[XN:%.+]] = riscv.custom_assembly_instruction [[X1:%.+]], [[X1]] {instruction_name = "feq.s"}
// CHECK: [[M1:%.+]] = rv_pseudo.move_if_zero [[XN]], [[M]], [[X1]]
// CHECK: [[YN:%.+]] = riscv.custom_assembly_instruction [[Y1:%.+]], [[Y1]] {instruction_name = "feq.s"}
// CHECK: rv_pseudo.move_if_zero [[YN]], [[M1]], [[Y1]]
func.func @maximum(%x: f32, %y: f32) -> f32 {
  %m = arith.maximumf %x, %y : f32
  func.return %m : f32
}

// CHECK-LABEL: @maxnum
// CHECK: riscv.fmax.d
// CHECK-NOT: feq
func.func @maxnum(%x: f64, %y: f64) -> f64 {
  %m = arith.maxnumf %x, %y : f64
  func.return %m : f64
}

// A signed "at most" exchanges its operands and negates: xDSL 0.74 only negates.

// CHECK-LABEL: @at_most
// CHECK: [[A:%.+]] = builtin.unrealized_conversion_cast %a
// CHECK: [[B:%.+]] = builtin.unrealized_conversion_cast %b
// CHECK: [[LESS:%.+]] = riscv.slt [[B]], [[A]]
// CHECK: riscv.xori [[LESS]], 1
func.func @at_most(%a: index, %b: index) -> i1 {
  %r = arith.cmpi sle, %a, %b : index
  func.return %r : i1
}

// CHECK-LABEL: @less
// CHECK: instruction_name = "flt.d"
func.func @less(%a: f64, %b: f64) -> i1 {
  %r = arith.cmpf olt, %a, %b : f64
  func.return %r : i1
}
