// REQUIRES: mlir-opt
// RUN: xla-opt %s -p 'native{to=buffers},xla-attach-target{multiplies-quads=true},xla-plan-schedules,convert-linalg-to-vector-loops' | mlir-opt | filecheck %s

// What is written for one kind of processor is MLIR as any other.

// CHECK: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%{{.*}}) : (vector<16xi32>, vector<64xi8>, vector<64xi8>) -> vector<16xi32>
func.func @main(%a: tensor<16x64xi8>, %b: tensor<64x32xi8>) -> tensor<16x32xi32> {
  %0 = xla.dot %a, %b {lhs_contracting_dims = [1], rhs_contracting_dims = [0]} : (tensor<16x64xi8>, tensor<64x32xi8>) -> tensor<16x32xi32>
  func.return %0 : tensor<16x32xi32>
}
