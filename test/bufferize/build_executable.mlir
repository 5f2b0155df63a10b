// REQUIRES: mlir-opt
// RUN: rm -rf %t && mkdir %t
// RUN: xla-run %s --entry arguments --output-dir %t
// RUN: xla-run %s --input @%t/arguments.0.npy --input @%t/arguments.1.npy --input @%t/arguments.2.npy --output-dir %t/expected
// RUN: %python -m xla_dialect_tools.xla_build %s -o %t/loops --mlir-opt mlir-opt --save-temps %t/temps | filecheck %s --check-prefix=STEPS
// RUN: %t/loops -o %t %t/arguments.0.npy %t/arguments.1.npy %t/arguments.2.npy | filecheck %s
// RUN: xla-run %s --input @%t/arguments.0.npy --input @%t/arguments.1.npy --input @%t/arguments.2.npy --expected-output @%t/main.0.npy --expected-output @%t/main.1.npy --expected-output @%t/main.2.npy --expected-output @%t/main.3.npy
// RUN: rm %t/main.0.npy %t/main.3.npy
// RUN: %python -m xla_dialect_tools.xla_build %s -o %t/buffers --mlir-opt mlir-opt --level buffers
// RUN: %t/buffers %t/arguments.0.npy -n 3 %t/arguments.1.npy %t/arguments.2.npy -o %t | filecheck %s --check-prefixes=CALLS,CHECK
// RUN: xla-run %s --input @%t/arguments.0.npy --input @%t/arguments.1.npy --input @%t/arguments.2.npy --expected-output @%t/main.0.npy --expected-output @%t/main.1.npy --expected-output @%t/main.2.npy --expected-output @%t/main.3.npy
// RUN: not %t/loops %t/arguments.1.npy 2>&1 | filecheck %s --check-prefix=COUNT
// RUN: not %t/loops %t/arguments.1.npy %t/arguments.1.npy %t/arguments.2.npy 2>&1 | filecheck %s --check-prefix=SHAPE
// RUN: not %t/loops %t/arguments.0.npy %t/arguments.1.npy %t/arguments.1.npy 2>&1 | filecheck %s --check-prefix=TYPE
// RUN: not %t/loops %t/arguments.0.npy %t/none.npy %t/arguments.2.npy 2>&1 | filecheck %s --check-prefix=MISSING
// RUN: not %t/loops %t/loops %t/arguments.1.npy %t/arguments.2.npy 2>&1 | filecheck %s --check-prefix=BROKEN

// A program by MLIR's own passes: loops of ours and loops of MLIR's compute what our machine code does. What is
// in column-major order, of elements that numpy does not know, without elements or donated goes in and out too.

// STEPS: mlir-opt{{.*}}convert-vector-to-llvm{{.*}}/temps/program.mlir -o {{.*}}/temps/program.llvm.mlir
// STEPS-NEXT: mlir-translate{{.*}} --mlir-to-llvmir {{.*}}/temps/program.llvm.mlir -o {{.*}}/temps/program.ll
// STEPS-NEXT: # LLVM {{.*}}/temps/program.ll to {{.*}}/temps/program.o
// STEPS-NEXT: /temps/program.driver.c {{.*}}/temps/program.o -lm

// CALLS: 3 calls, the shortest {{[0-9.]+}} us
// CHECK: main.0.npy: f32[5,7]{0,1}
// CHECK-NEXT: main.1.npy: bf16[5,7]
// CHECK-NEXT: main.2.npy: c64[0,7]
// CHECK-NEXT: main.3.npy: f32[5]

// COUNT: error: 1 files for 3 parameters; signature: main(%a: f32[5,3]{0,1}, %b: f32[3,7], %c: s8[5]) -> (f32[5,7]{0,1}, bf16[5,7], c64[0,7], f32[5])
// SHAPE: arguments.1.npy: expected f32[5,3]{0,1} for %a, found shape (3, 7)
// TYPE: arguments.1.npy: expected elements |i1 for %c, found '<f4'
// MISSING: none.npy: No such file or directory
// BROKEN: loops: no numpy file

func.func @arguments() -> (tensor<5x3xf32>, tensor<3x7xf32>, tensor<5xi8>) {
  %0 = stablehlo.iota dim = 0 : tensor<15xf32>
  %1 = stablehlo.sine %0 : tensor<15xf32>
  %2 = stablehlo.reshape %1 : (tensor<15xf32>) -> tensor<5x3xf32>
  %3 = stablehlo.iota dim = 0 : tensor<21xf32>
  %4 = stablehlo.cosine %3 : tensor<21xf32>
  %5 = stablehlo.reshape %4 : (tensor<21xf32>) -> tensor<3x7xf32>
  %6 = stablehlo.constant dense<[-128, -1, 0, 1, 127]> : tensor<5xi8>
  return %2, %5, %6 : tensor<5x3xf32>, tensor<3x7xf32>, tensor<5xi8>
}

func.func @main(%a: tensor<5x3xf32> {mhlo.layout_mode = "{0,1}"}, %b: tensor<3x7xf32>, %c: tensor<5xi8>)
    -> (tensor<5x7xf32> {mhlo.layout_mode = "{0,1}"}, tensor<5x7xbf16>, tensor<0x7xcomplex<f32>>, tensor<5xf32>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<5x3xf32>, tensor<3x7xf32>) -> tensor<5x7xf32>
  %1 = stablehlo.tanh %0 : tensor<5x7xf32>
  %2 = stablehlo.convert %1 : (tensor<5x7xf32>) -> tensor<5x7xbf16>
  %3 = stablehlo.multiply %2, %2 : tensor<5x7xbf16>
  %4 = stablehlo.complex %0, %1 : tensor<5x7xcomplex<f32>>
  %5 = stablehlo.slice %4 [5:5, 0:7] : (tensor<5x7xcomplex<f32>>) -> tensor<0x7xcomplex<f32>>
  %6 = stablehlo.convert %c : (tensor<5xi8>) -> tensor<5xf32>
  return %1, %3, %5, %6 : tensor<5x7xf32>, tensor<5x7xbf16>, tensor<0x7xcomplex<f32>>, tensor<5xf32>
}
